//! Figures far from those of other cards of the product.

use crate::check::{Check, CheckName, CheckOutcome};
use crate::summary::Summary;
use crate::voice::OLDER_DAYS;

/// Older submitters below which nothing is called far: new ones could move the range to their own figures.
const LEAST_SUBMITTERS: u64 = 10;
/// A figure is far if it lies outside the middle half of all figures by more than this many times the width of that
/// half, in logarithms (J. Tukey, *Exploratory Data Analysis*, 1977: "far out").
const FAR: f64 = 3.0;
/// Narrowest width that is taken for a product: a factor of 1.1.
const LEAST_WIDTH: f64 = 0.095;

/// Marks figures that are far from those of other cards. The best and the worst card are the interesting ones, and a fake
/// is far by nature: nothing is hidden.
pub fn product_range<'a>(figures: impl IntoIterator<Item = (&'a str, f64, &'a Summary)>) -> Check {
    let name = CheckName::ProductRange;
    let (mut far, mut known) = (Vec::new(), false);
    for (metric, value, summary) in figures {
        if summary.older().count < LEAST_SUBMITTERS || value <= 0.0 {
            continue;
        }
        let summary = summary.without_new();
        known = true;
        let quantile = |share| libm::log(summary.quantile(share).unwrap_or(value));
        let (low, high) = (quantile(0.25), quantile(0.75));
        let width = (high - low).max(LEAST_WIDTH) * FAR;
        let logarithm = libm::log(value);
        if logarithm < low - width || logarithm > high + width {
            far.push(metric);
        }
    }
    match (known, far.as_slice()) {
        (false, _) => {
            let reason = format!(
                "fewer than {LEAST_SUBMITTERS} people sent runs of the product more than {OLDER_DAYS} days ago"
            );
            Check::of(name, CheckOutcome::CannotTell, reason)
        }
        (true, []) => Check::passed(name),
        (true, far) => {
            let reason = format!("far from other cards of the product: {}", far.join(", "));
            Check::of(name, CheckOutcome::Marked, reason)
        }
    }
}
