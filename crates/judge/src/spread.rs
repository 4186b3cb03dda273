//! Published spreads of metric classes, for comparisons.

use cardmark_catalog::spread_of;
use cardmark_core::Quantity;
use cardmark_stats::KnownSpread;

/// Returns the published spread between runs of one card for the metric's class.
#[must_use]
pub fn known_spread(metric: &str, quantity: Quantity) -> Option<KnownSpread> {
    spread_of(metric, quantity).map(|spread| KnownSpread {
        pooled: spread.pooled,
        degrees: spread.degrees,
        typical: spread.typical,
        typical_degrees: spread.typical_degrees,
    })
}
