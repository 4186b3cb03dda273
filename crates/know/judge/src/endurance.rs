//! Cards that were written over and over until an error: own ones, and those of others.
//!
//! Cards of one product differ by a factor of 5 and more, so their results are kept apart: there is no mean.

use std::collections::{BTreeMap, BTreeSet};

use cardmark_catalog::{BrandKind, Cycles, EnduranceSample, product_name, split_capacity};
use cardmark_core::{IntegrityTest, OriginKind, Record};
use serde::Serialize;

use crate::durable::is_called;
use crate::unknown::unknown_storage;

/// Cards of one product that were written as a whole, again and again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tested {
    /// Name of the product.
    pub product: String,
    /// Capacity, bytes: on the label, or that of the device.
    pub capacity_bytes: u64,
    /// Whole cycles of each card before its first error: cards with an error first, ascending; then those without.
    pub first_errors: Vec<Cycles>,
    /// Years in which they were made, as far as known.
    pub made: Vec<String>,
    /// Sources of the results; none: own tests.
    pub sources: Vec<String>,
    /// Last day on which a source was read; `None`: own tests.
    pub checked_on: Option<String>,
}

impl Tested {
    /// Returns the cycles that its median card is known to have taken; of two, the one with less. The minimum would put a product behind
    /// others because more of its cards were tested.
    #[must_use]
    pub fn median(&self) -> u64 {
        let mut cycles: Vec<u64> = self.first_errors.iter().map(|one| one.at_least).collect();
        cycles.sort_unstable();
        let middle = cycles.len().saturating_sub(1) / 2;
        cycles.get(middle).copied().unwrap_or(0)
    }

    fn order(&mut self) {
        let key = |cycles: &Cycles| (cycles.at_most.is_none(), cycles.at_least, cycles.at_most);
        self.first_errors.sort_by_key(key);
    }
}

/// Returns the cards that others tested, by product, for one capacity on the label or for all: first the product whose median
/// card took the most. Cards under a false name are left out, because they are not of that maker.
#[must_use]
pub fn tested_by_others(samples: &[EnduranceSample], capacity_bytes: Option<u64>) -> Vec<Tested> {
    let mut seen = BTreeSet::new();
    let mut products = BTreeMap::<(u64, String), Vec<&EnduranceSample>>::new();
    for sample in samples {
        let is_of_size = capacity_bytes.is_none_or(|bytes| sample.capacity_bytes == bytes);
        let is_known = sample.brand != BrandKind::KnockOff && sample.first_error.is_some();
        if is_of_size && is_known && seen.insert((&sample.product, sample.sample)) {
            let key = (sample.capacity_bytes, sample.name());
            products.entry(key).or_default().push(sample);
        }
    }
    let tested = products
        .into_iter()
        .map(|((capacity_bytes, product), cards)| {
            let all = |of: fn(&EnduranceSample) -> Option<&str>| -> Vec<String> {
                let texts: BTreeSet<&str> = cards.iter().filter_map(|card| of(card)).collect();
                texts.into_iter().map(str::to_owned).collect()
            };
            let mut tested = Tested {
                product,
                capacity_bytes,
                first_errors: cards.iter().filter_map(|card| card.first_error).collect(),
                made: all(|card| card.made.as_deref()?.get(..4)),
                sources: all(|card| Some(&card.source)),
                checked_on: cards.iter().map(|card| card.checked_on.clone()).max(),
            };
            tested.order();
            tested
        });
    in_order(tested.collect())
}

/// Returns the cards of two sides that others tested at one capacity: that in the names, or else the first one of both. `None` unless each name
/// is that of one tested product.
#[must_use]
pub fn tested_pair(samples: &[EnduranceSample], names: [&str; 2]) -> Option<[Tested; 2]> {
    let tested = tested_by_others(samples, None);
    let named = names.map(|name| split_capacity(name).1);
    let of = |name: &str, bytes: u64| {
        let mut found = tested
            .iter()
            .filter(|one| one.capacity_bytes == bytes && is_called(&one.product, None, name));
        let first = found.next()?;
        found.next().is_none().then(|| first.clone())
    };
    let capacities: BTreeSet<u64> = tested.iter().map(|one| one.capacity_bytes).collect();
    let mut fitting = capacities
        .into_iter()
        .filter(|bytes| named.iter().flatten().all(|named| named == bytes));
    fitting.find_map(|bytes| {
        let [base, other] = names.map(|name| of(name, bytes));
        let pair = [base?, other?];
        (pair[0] != pair[1]).then_some(pair)
    })
}

/// Returns the own tests of real cards whose product is known, in the same order. A card without an error counts as one that
/// took at least its cycles.
#[must_use]
pub fn endured(records: &[Record]) -> Vec<Tested> {
    let mut products = BTreeMap::<String, Tested>::new();
    for record in records {
        let is_real =
            record.origin.kind != OriginKind::Simulated && unknown_storage(record).is_none();
        let Some(product) = record.labels.get("product").filter(|_| is_real) else {
            continue;
        };
        let Some(test) = test(record, product_name(product)) else {
            continue;
        };
        match products.get_mut(&test.product) {
            Some(known) => {
                known.first_errors.extend(test.first_errors);
                known.capacity_bytes = known.capacity_bytes.min(test.capacity_bytes);
            }
            None => _ = products.insert(test.product.clone(), test),
        }
    }
    products.values_mut().for_each(Tested::order);
    in_order(products.into_values().collect())
}

fn in_order(mut tested: Vec<Tested>) -> Vec<Tested> {
    tested.sort_by(|a, b| {
        let by_name = || (&a.product, a.capacity_bytes).cmp(&(&b.product, b.capacity_bytes));
        b.median().cmp(&a.median()).then_with(by_name)
    });
    tested
}

fn test(record: &Record, product: String) -> Option<Tested> {
    let integrity = record.integrity.as_ref()?;
    let is_endurance = integrity.test == IntegrityTest::Endure;
    let cycles_count = integrity.cycles_count.filter(|_| is_endurance)?;
    // The cycle of the first bad block is not a good one.
    let bad = integrity
        .milestones
        .iter()
        .map(|one| one.cycles_count)
        .min();
    let first_error = match bad {
        Some(cycle) => {
            let whole = u64::from(cycle.saturating_sub(1));
            Cycles {
                at_least: whole,
                at_most: Some(whole),
            }
        }
        None => Cycles {
            at_least: u64::from(cycles_count),
            at_most: None,
        },
    };
    Some(Tested {
        product,
        capacity_bytes: integrity.size_bytes,
        first_errors: vec![first_error],
        made: Vec::new(),
        sources: Vec::new(),
        checked_on: None,
    })
}

#[cfg(test)]
mod tests {
    use cardmark_catalog::endurance_samples;
    use cardmark_core::{Integrity, Milestone, Origin, run_id_from_bytes};

    use super::*;

    const GB: u64 = 1_000_000_000;

    fn record(product: &str, cycles_count: u32, first_bad: Option<u32>) -> Record {
        let id = run_id_from_bytes([0; 16]);
        let mut record = Record::new(id, Origin::of(OriginKind::Measured));
        record
            .labels
            .insert("product".to_owned(), product.to_owned());
        let milestone = |cycles_count| Milestone {
            bad_ratio: 0.0,
            cycles_count,
            written_bytes: 0,
        };
        record.integrity = Some(Integrity {
            cycles_count: Some(cycles_count),
            milestones: first_bad.map(milestone).into_iter().collect(),
            ..integrity()
        });
        record
    }

    fn integrity() -> Integrity {
        let text = r#"{"test":"endure","kind":"confirmed","size_bytes":32000000000,"real_bytes":32000000000}"#;
        serde_json::from_str(text).unwrap()
    }

    /// Least and most cycles of each card.
    type Ranges = Vec<(u64, Option<u64>)>;

    fn ranges(tested: &[Tested]) -> Vec<(&str, Ranges)> {
        let cycles = |one: &Tested| {
            let all = one.first_errors.iter();
            all.map(|cycles| (cycles.at_least, cycles.at_most))
                .collect()
        };
        let tested = tested.iter();
        tested
            .map(|one| (one.product.as_str(), cycles(one)))
            .collect()
    }

    #[test]
    fn each_own_card_counts_by_itself() {
        let records = [
            record("B", 3, None),
            record("A", 10, None),
            record("A", 40, Some(30)),
            record("A", 30, Some(17)),
        ];
        let found = endured(&records);
        let expected = [
            ("A", vec![(16, Some(16)), (29, Some(29)), (10, None)]),
            ("B", vec![(3, None)]),
        ];
        assert_eq!(ranges(&found), expected);
        assert_eq!(found[0].capacity_bytes, 32 * GB);
        assert_eq!(found[0].median(), 16);
    }

    #[test]
    fn simulated_cards_other_tests_and_nameless_cards_do_not_count() {
        let mut simulated = record("A", 10, None);
        simulated.origin = Origin::of(OriginKind::Simulated);
        let mut nameless = record("A", 10, None);
        nameless.labels.clear();
        let mut probe = record("A", 10, None);
        let integrity = probe.integrity.as_mut().unwrap();
        integrity.test = IntegrityTest::Probe;
        assert_eq!(endured(&[simulated, nameless, probe]), []);
    }

    #[test]
    fn two_names_find_their_tests_at_one_capacity() {
        let products = |names: [&str; 2]| {
            let pair = tested_pair(endurance_samples(), names)?;
            Some(pair.map(|one| one.product))
        };
        let expected = ["Samsung EVO Plus 32 GB", "SanDisk Ultra 32 GB"].map(str::to_owned);
        for names in [
            ["Samsung EVO Plus 32 GB", "SanDisk Ultra 32 GB"],
            ["samsung evo plus", "sandisk ultra"],
        ] {
            assert_eq!(products(names), Some(expected.clone()), "{names:?}");
        }
        let elite = products(["Silicon Power Elite", "WD Purple"]).unwrap();
        assert_eq!(elite[0], "SP Elite 32 GB");
        for names in [
            ["Samsung EVO+", "SanDisk Ultra"],
            ["Samsung EVO Plus 64 GB", "SanDisk Ultra"],
            ["Samsung EVO Plus 32 GB", "SanDisk Ultra 64 GB"],
            ["SanDisk Ultra", "SanDisk Ultra"],
            ["Hiksemi", "Samsung PRO Endurance"],
        ] {
            assert_eq!(products(names), None, "{names:?}");
        }
    }

    /// Cards that still worked stand behind those with an error.
    #[test]
    fn cards_of_others_are_listed_one_by_one() {
        let tested = tested_by_others(endurance_samples(), Some(32 * GB));
        let of = |product: &str| {
            let mut all = ranges(&tested).into_iter();
            all.find(|(name, _)| *name == product).unwrap().1
        };
        let plus = [(1415, Some(1415)), (13_876, None), (17_222, None)];
        assert_eq!(of("Samsung EVO Plus 32 GB"), plus);
        let ultra = [(395, Some(395)), (1583, Some(1583)), (1905, Some(1905))];
        assert_eq!(of("SanDisk Ultra 32 GB"), ultra);
        assert_eq!(of("WD Purple 32 GB"), [(1366, Some(1366))]);
        assert!(tested.is_sorted_by_key(|one| std::cmp::Reverse(one.median())));
        // Two of its three cards still worked: it is not behind a product with two cards.
        assert_eq!(tested[0].product, "Samsung EVO Plus 32 GB");
        assert_eq!(tested[0].median(), 13_876);
        assert_eq!(tested.len(), 8, "{tested:?}");
        assert!(tested.iter().all(|one| !one.product.contains("Sony")));
        let all = tested_by_others(endurance_samples(), None);
        let cards: usize = all.iter().map(|one| one.first_errors.len()).sum();
        assert_eq!((all.len(), cards), (13, 32));
        assert_eq!(tested_by_others(endurance_samples(), Some(128 * GB)), []);
    }
}
