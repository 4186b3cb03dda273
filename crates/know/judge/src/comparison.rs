//! Comparison of two sides of runs: which sides can be compared, and what of them.

use std::collections::{BTreeMap, BTreeSet};

use cardmark_catalog::class_of;
use cardmark_core::{Context, ContextRow, OriginKind, Record, context_rows, name_of, told};
use cardmark_stats::{
    Claim, Difference, Products, StallDifference, cards_count, claim_of, compare_with_stalls,
    pairs, stall_pairs,
};

use crate::spread::{known_pairs, known_spread};
use crate::unknown::unknown_storage;

/// Results of a comparison.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Numbers of runs and cards of each side.
    pub counts: [Counts; 2],
    /// Claim that these numbers of runs and cards support.
    pub claim: Claim,
    /// The metrics that both sides have.
    pub differences: Vec<Difference>,
    /// Stalls of both sides.
    pub stalls: Vec<StallDifference>,
    /// The context of both sides.
    pub context: Vec<ContextRow>,
    /// Products that are on one side only, and were left out.
    pub left_out: Vec<String>,
}

/// Numbers of runs and physical cards of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Runs.
    pub runs: usize,
    /// Physical cards.
    pub cards: usize,
}

/// Reason for which two sides cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotComparable {
    /// The run with this id is on both sides.
    OnBothSides(String),
    /// Runs of a known device and of storage that is not known: the id of one, and what it was measured through.
    UnknownStorage {
        /// Id of the run.
        id: String,
        /// Reason why its figures are not those of a device.
        reason: String,
    },
    /// A side is a mixture of products that the other does not have: its mean would depend on which of them
    /// happened to be measured.
    Mixtures {
        /// Products on both sides.
        common: Vec<String>,
    },
    /// A name that should be allowed to differ, but is not part of the context.
    UnknownContext {
        /// The name.
        name: String,
        /// Names of the context.
        known: Vec<String>,
    },
    /// Circumstances that must match, do not, and were not allowed to differ.
    Differ(Vec<ContextRow>),
    /// None of the wanted metrics is on both sides.
    NoMetric,
}

/// Compares the other side with the base. Of the context, the names in `across` may differ. `metrics` restricts
/// the comparison, unless it is empty.
///
/// # Errors
/// If the sides cannot be compared.
pub fn compare_sides(
    sides: &[Vec<&Record>; 2],
    metrics: &[String],
    across: &[String],
) -> Result<Compared, NotComparable> {
    let [base, other] = sides;
    let products = Products::of(base, other);
    check_sides(sides, &products)?;
    let context = context_rows(sides);
    check_context(&context, across)?;
    let is_wanted = |id: &String| metrics.is_empty() || metrics.contains(id);
    let mut pairs = pairs(base, other);
    pairs.retain(|pair| is_wanted(&pair.metric));
    for pair in &mut pairs {
        pair.class = class_of(&pair.metric).unwrap_or_default();
        pair.known = known_spread(&pair.metric, pair.quantity);
        pair.repeats = known_pairs(&pair.metric, pair.quantity);
    }
    if pairs.is_empty() && !metrics.is_empty() {
        return Err(NotComparable::NoMetric);
    }
    let (mut stalls, mut left_out) = (Vec::new(), Vec::new());
    if products.are_matched() {
        // Counts of several products are no counts of one process.
        left_out = products.one.into_iter().collect();
    } else {
        stalls = stall_pairs(base, other);
        stalls.retain(|pair| is_wanted(&pair.metric));
    }
    let (differences, stalls) = compare_with_stalls(&pairs, &stalls);
    Ok(Compared {
        counts: sides.clone().map(|side| counts(side, &left_out)),
        claim: claim_of(&pairs),
        differences,
        stalls,
        context,
        left_out,
    })
}

/// Runs of two sides under the same circumstances.
#[derive(Clone, Debug, PartialEq)]
pub struct CommonPlace<'a> {
    /// Board, setting and publication, as far as known.
    pub name: String,
    /// The runs of each side.
    pub sides: [Vec<&'a Record>; 2],
}

/// Returns the runs of both sides that were measured in the same place: on one board, in one setting of one
/// publication, with the same reader, bus and suite. If there is none, on the same board; empty if they
/// have no board in common either. Runs of storage that is not known are left out.
pub fn common_places<'a>(sides: [&'a [Record]; 2]) -> Vec<CommonPlace<'a>> {
    let exact = common(sides, |record| {
        let context = Context::of(record).must;
        let part = |name: &&str| context.get(*name).cloned().unwrap_or_default();
        let mut key = vec![name_of(&record.origin.kind)];
        key.extend(SAME_IN_A_PLACE.iter().map(part));
        let label = |name: &str| record.labels.get(name).cloned().unwrap_or_default();
        key.extend([label("setting"), label("publication")]);
        key.extend(board(record));
        Some(key)
    });
    if !exact.is_empty() {
        return exact;
    }
    common(sides, |record| {
        let is_simulated = record.origin.kind == OriginKind::Simulated;
        Some(vec![is_simulated.to_string(), board(record)?])
    })
}

/// Names of the context that are the same in one place.
const SAME_IN_A_PLACE: [&str; 4] = ["suite", "reader", "bus", "command_queue"];

fn board(record: &Record) -> Option<String> {
    record.board.as_ref()?.model.clone()
}

fn common<'a>(
    sides: [&'a [Record]; 2],
    key: impl Fn(&Record) -> Option<Vec<String>>,
) -> Vec<CommonPlace<'a>> {
    let [base, other] = sides.map(|side| {
        let mut places = BTreeMap::<Vec<String>, Vec<&Record>>::new();
        for record in side {
            let is_known = unknown_storage(record).is_none();
            if let Some(key) = key(record).filter(|_| is_known) {
                places.entry(key).or_default().push(record);
            }
        }
        places
    });
    let pair = |(key, base): (Vec<String>, Vec<&'a Record>)| {
        let other = other.get(&key)?.clone();
        let name = place_name(base.iter().chain(&other).copied());
        let sides = [base, other];
        Some(CommonPlace { name, sides })
    };
    base.into_iter().filter_map(pair).collect()
}

/// Returns the board, setting, bus and publication that all these runs share.
fn place_name<'a>(records: impl Iterator<Item = &'a Record>) -> String {
    let records: Vec<&Record> = records.collect();
    let shared = |part: &dyn Fn(&Record) -> Option<String>| {
        let all: BTreeSet<Option<String>> = records.iter().map(|record| part(record)).collect();
        let first = all.first().cloned().flatten();
        first.filter(|_| all.len() == 1)
    };
    let label = |name: &'static str| move |record: &Record| record.labels.get(name).cloned();
    let bus = |record: &Record| told(&Context::of(record).must, "bus");
    let parts = [
        shared(&board),
        shared(&label("setting")),
        shared(&bus),
        shared(&label("publication")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(", ")
}

fn check_sides(sides: &[Vec<&Record>; 2], products: &Products) -> Result<(), NotComparable> {
    let is_on_both = |record: &&&Record| sides[1].iter().any(|other| other.id == record.id);
    if let Some(record) = sides[0].iter().find(is_on_both) {
        return Err(NotComparable::OnBothSides(record.id.to_string()));
    }
    let mut all = sides.iter().flatten();
    let hidden = all.find_map(|record| Some((record, unknown_storage(record)?)));
    let is_known = |record: &&Record| unknown_storage(record).is_none();
    if let Some((record, unknown)) = hidden
        && sides.iter().flatten().any(is_known)
    {
        return Err(NotComparable::UnknownStorage {
            id: record.id.to_string(),
            reason: unknown.reason(),
        });
    }
    if products.are_several && !products.are_matched() {
        let common = products.both.iter().cloned().collect();
        return Err(NotComparable::Mixtures { common });
    }
    Ok(())
}

fn check_context(context: &[ContextRow], across: &[String]) -> Result<(), NotComparable> {
    let is_known = |name: &&String| context.iter().any(|row| row.name == **name);
    if let Some(name) = across.iter().find(|name| !is_known(name)) {
        return Err(NotComparable::UnknownContext {
            name: name.clone(),
            known: context.iter().map(|row| row.name.clone()).collect(),
        });
    }
    let is_refused =
        |row: &&ContextRow| row.must_match && row.differs() && !across.contains(&row.name);
    let differing: Vec<ContextRow> = context.iter().filter(is_refused).cloned().collect();
    match differing.is_empty() {
        true => Ok(()),
        false => Err(NotComparable::Differ(differing)),
    }
}

fn counts(mut side: Vec<&Record>, left_out: &[String]) -> Counts {
    side.retain(|record| {
        let product = record.labels.get("product");
        product.is_none_or(|product| !left_out.contains(product))
    });
    Counts {
        runs: side.len(),
        cards: cards_count(&side),
    }
}

#[cfg(test)]
mod tests {
    use cardmark_catalog::publications;

    use super::*;

    fn of(product: &str) -> Vec<Record> {
        let all = publications()
            .iter()
            .flat_map(|publication| publication.records());
        all.filter(|record| record.labels["product"] == product)
            .collect()
    }

    fn names(one: &[Record], other: &[Record]) -> Vec<(String, [usize; 2])> {
        let places = common_places([one, other]).into_iter();
        places
            .map(|place| (place.name, place.sides.map(|side| side.len())))
            .collect()
    }

    #[test]
    fn products_meet_in_the_settings_of_one_publication() {
        let places = names(&of("Samsung Evo+ 32 GB"), &of("SanDisk Extreme 16 GB"));
        let expected = [
            "Raspberry Pi 4 Model B, pi4, geerling-a2",
            "Raspberry Pi 2 Model B, pi2, geerling-dramble",
            "Raspberry Pi 3 Model B, pi3, geerling-dramble",
            "Raspberry Pi 3 Model B, pi3-oc100, bus overclocked to 100 MHz, geerling-dramble",
        ];
        let mut found: Vec<&str> = places.iter().map(|(name, _)| name.as_str()).collect();
        found.sort_unstable();
        let mut sorted = expected.to_vec();
        sorted.sort_unstable();
        assert_eq!(found, sorted);
        assert!(
            places.iter().all(|(_, counts)| *counts == [1, 1]),
            "{places:?}"
        );
    }

    #[test]
    fn without_a_common_setting_the_board_is_shared_or_nothing() {
        let evo = of("Samsung Evo+ 16 GB");
        let on_pi4 = names(&evo, &of("Samsung Pro Endurance 32 GB"));
        assert_eq!(on_pi4, [("Raspberry Pi 4 Model B".to_owned(), [1, 1])]);
        assert!(names(&evo, &of("SanDisk Extreme 64 GB")).is_empty());
    }
}
