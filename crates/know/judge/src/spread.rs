//! Published spreads of metric classes, for comparisons.

use cardmark_catalog::{Deviation, elsewhere_of, repeat_pairs_of, spread_of};
use cardmark_core::{Metric, Quantity};
use cardmark_stats::{
    Again, KnownDeviation, KnownElsewhere, KnownPairs, KnownSpread, again, again_with_stalls,
};

/// Returns the published spread between runs of one card for the metric's class.
pub fn known_spread(metric: &str, quantity: Quantity) -> Option<KnownSpread> {
    spread_of(metric, quantity).map(|spread| KnownSpread {
        pooled: spread.pooled,
        degrees: spread.degrees,
        typical: spread.typical,
        typical_degrees: spread.typical_degrees,
    })
}

/// Returns the published differences between cards of one product, and between boards, for the metric's class.
pub fn known_elsewhere(metric: &str, quantity: Quantity) -> Option<KnownElsewhere> {
    let known = |of: Deviation| KnownDeviation {
        deviation: of.deviation,
        degrees: of.degrees,
    };
    elsewhere_of(metric, quantity).map(|found| KnownElsewhere {
        sample: known(found.sample),
        board: known(found.board),
    })
}

/// Returns the published differences between two repeats for the metric's class.
pub(crate) fn known_pairs(metric: &str, quantity: Quantity) -> Option<KnownPairs> {
    repeat_pairs_of(metric, quantity).map(|pairs| KnownPairs {
        p90: pairs.p90,
        p99: pairs.p99,
    })
}

/// Returns the range of the next run's figure after these comparable runs of one card. `metric` is that of the last run.
pub fn measured_again(metric: &Metric, values: &[f64]) -> Option<Again> {
    let range = again(values, known_spread(&metric.id, metric.quantity))?;
    Some(again_with_stalls(range, metric))
}
