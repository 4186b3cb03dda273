//! Products that were written over and over: how much they took.

use std::collections::BTreeMap;

use cardmark_catalog::product_name;
use cardmark_core::{IntegrityTest, OriginKind, Record};
use serde::Serialize;

use crate::unknown::unknown_storage;

/// Endurance tests of a product.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Endured {
    /// Name of the product.
    pub product: String,
    /// Number of tests.
    pub runs_count: usize,
    /// Amount written to the card that took the most, bytes.
    pub most_written_bytes: u64,
    /// Size of that card, bytes.
    pub size_bytes: u64,
    /// Amount written when the first bad block appeared, bytes: of the card that failed first. `None` if none failed.
    pub first_bad_bytes: Option<u64>,
}

/// Returns the endurance tests of real cards whose product is known, by name.
pub fn endured(records: &[Record]) -> Vec<Endured> {
    let mut products = BTreeMap::<String, Endured>::new();
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
            Some(known) => known.add(&test),
            None => _ = products.insert(test.product.clone(), test),
        }
    }
    products.into_values().collect()
}

impl Endured {
    fn add(&mut self, test: &Self) {
        self.runs_count += test.runs_count;
        if test.most_written_bytes > self.most_written_bytes {
            self.most_written_bytes = test.most_written_bytes;
            self.size_bytes = test.size_bytes;
        }
        let both = [self.first_bad_bytes, test.first_bad_bytes];
        self.first_bad_bytes = both.into_iter().flatten().min();
    }
}

fn test(record: &Record, product: String) -> Option<Endured> {
    let integrity = record.integrity.as_ref()?;
    let is_endurance = integrity.test == IntegrityTest::Endure;
    let cycles_count = integrity.cycles_count.filter(|_| is_endurance)?;
    let milestones = integrity.milestones.iter();
    Some(Endured {
        product,
        runs_count: 1,
        most_written_bytes: u64::from(cycles_count) * integrity.size_bytes,
        size_bytes: integrity.size_bytes,
        first_bad_bytes: milestones.map(|milestone| milestone.written_bytes).min(),
    })
}

#[cfg(test)]
mod tests {
    use cardmark_core::{Integrity, Milestone, Origin, run_id_from_bytes};

    use super::*;

    const GB: u64 = 1_000_000_000;

    fn record(product: &str, cycles_count: u32, first_bad: Option<u64>) -> Record {
        let id = run_id_from_bytes([0; 16]);
        let mut record = Record::new(id, Origin::of(OriginKind::Measured));
        record
            .labels
            .insert("product".to_owned(), product.to_owned());
        let milestone = |written_bytes| Milestone {
            bad_ratio: 0.0,
            cycles_count,
            written_bytes,
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

    #[test]
    fn the_card_that_failed_first_and_the_one_that_took_most_count() {
        let records = [
            record("A", 10, None),
            record("A", 40, Some(900 * GB)),
            record("A", 30, Some(500 * GB)),
            record("B", 3, None),
        ];
        let found = endured(&records);
        let told: Vec<_> = found
            .iter()
            .map(|one| {
                (
                    one.product.as_str(),
                    one.runs_count,
                    one.most_written_bytes,
                    one.first_bad_bytes,
                )
            })
            .collect();
        let expected = [
            ("A", 3, 40 * 32 * GB, Some(500 * GB)),
            ("B", 1, 3 * 32 * GB, None),
        ];
        assert_eq!(told, expected);
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
}
