//! Comparison of two sides of runs: which sides can be compared, and what of them.

mod places;
mod rates;

use std::collections::BTreeMap;

use cardmark_catalog::class_of;
use cardmark_core::{ContextRow, Record, context_rows};
use cardmark_stats::{
    Claim, Difference, Products, StallDifference, cards_count, claim_of, compare_with_stalls,
    pairs, stall_pairs, stalled_ratio,
};

pub(crate) use places::state_of_queue;

pub use places::{CommonPlace, Queues, common_places};
pub use rates::{KeyRates, RateContrast, RateVerdict, key_rates, outcome_of};

use crate::spread::{known_pairs, known_spread};
use crate::unknown::unknown_storage;

/// Ratio of a rate with its stalls to that between them below which an answer distinguishes the two.
const STALLED_RATIO: f64 = 0.98;

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
    /// Metrics that are compared by the rate between stalls, where that is higher: the rate with stalls relative to it, of both
    /// sides.
    pub with_stalls: BTreeMap<String, [f64; 2]>,
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
    /// No run of a side has a figure of speed, such as tests of capacity.
    NoFigures {
        /// The side, 0 or 1.
        index: usize,
    },
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
    let sides = sides.each_ref().map(|side| compared_runs(side, &left_out));
    Ok(Compared {
        counts: sides.each_ref().map(|side| Counts {
            runs: side.len(),
            cards: cards_count(side),
        }),
        claim: claim_of(&pairs),
        with_stalls: with_stalls(&sides, &differences),
        differences,
        stalls,
        context,
        left_out,
    })
}

fn with_stalls(
    sides: &[Vec<&Record>; 2],
    differences: &[Difference],
) -> BTreeMap<String, [f64; 2]> {
    let mean = |side: &Vec<&Record>, id: &str| {
        let metrics = side.iter().filter_map(|record| record.metric(id));
        let logarithms: Vec<f64> = metrics.map(|one| libm::log(stalled_ratio(one))).collect();
        libm::exp(logarithms.iter().sum::<f64>() / logarithms.len() as f64)
    };
    let both = |difference: &Difference| {
        let id = &difference.metric;
        (id.clone(), sides.each_ref().map(|side| mean(side, id)))
    };
    let is_lower = |(_, ratios): &(String, [f64; 2])| ratios.iter().any(|one| *one < STALLED_RATIO);
    differences.iter().map(both).filter(is_lower).collect()
}

/// Compares both sides of a place. Of the context, the names in `across` may differ, and the use of the command queues where it is
/// as installed.
///
/// # Errors
/// If the sides cannot be compared.
pub fn compare_in(
    place: &CommonPlace<'_>,
    metrics: &[String],
    across: &[String],
) -> Result<Compared, NotComparable> {
    // As installed the queue of one side may be on, and that of the other off.
    let mut across = across.to_vec();
    if matches!(place.queues, Queues::AsInstalled([base, other]) if base != other) {
        across.push("command_queue".to_owned());
    }
    compare_sides(&place.sides, metrics, &across)
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
    let has_none = |side: &Vec<&Record>| side.iter().all(|record| record.metrics.is_empty());
    if let Some(index) = sides.iter().position(has_none) {
        return Err(NotComparable::NoFigures { index });
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

/// The runs of a side without those of products that are left out.
fn compared_runs<'a>(side: &[&'a Record], left_out: &[String]) -> Vec<&'a Record> {
    let is_compared = |record: &&&Record| {
        let product = record.labels.get("product");
        product.is_none_or(|product| !left_out.contains(product))
    };
    side.iter().filter(is_compared).copied().collect()
}
