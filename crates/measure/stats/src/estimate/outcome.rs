//! Conclusion of a comparison.

use serde::Serialize;

use crate::estimate::distribution::{student_t, two_sided};

/// Level of the intervals.
pub const COMPARISON_LEVEL: f64 = 0.95;
/// Ratios whose interval lies within this distance of 1 count as equal.
pub const SAME_RATIO: f64 = 0.10;

/// Conclusion from the interval of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// The other side's value is higher.
    Higher,
    /// The other side's value is lower.
    Lower,
    /// No difference was found, and the metric's own 95 % interval excludes one of more than 10 %.
    Same,
    /// No difference was found, and none is excluded; also if a side has one run.
    Undecided,
}

impl Conclusion {
    /// Returns the conclusion; `is_same`: the interval excludes a difference of more than 10 %.
    pub(crate) fn of(is_found: bool, is_higher: bool, is_same: bool) -> Self {
        match (is_found, is_higher) {
            (true, true) => Self::Higher,
            (true, false) => Self::Lower,
            (false, _) if is_same => Self::Same,
            (false, _) => Self::Undecided,
        }
    }
}

/// True if a difference of this corrected probability counts as found.
pub(crate) fn is_found(adjusted_p_value: f64) -> bool {
    adjusted_p_value < 1.0 - COMPARISON_LEVEL
}

/// Returns the two-sided probability of such a difference, or a larger one, if there is none, and the half-width
/// of its interval.
pub(crate) fn tested(difference: f64, error: f64, degrees: u32) -> (f64, f64) {
    let p_value = if error > 0.0 {
        two_sided(difference / error, degrees)
    } else {
        f64::from(difference == 0.0)
    };
    (p_value, student_t(COMPARISON_LEVEL, degrees) * error)
}
