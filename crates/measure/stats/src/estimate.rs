//! Estimates from samples: histogram, percentiles, intervals, tests.

pub(crate) mod buckets;
pub(crate) mod countable;
pub(crate) mod distribution;
pub(crate) mod histogram;
pub(crate) mod holm;
pub(crate) mod interval;
pub(crate) mod median;
pub(crate) mod needed;
pub(crate) mod outcome;
pub(crate) mod outlying;
pub(crate) mod percentile;
pub(crate) mod poisson;
pub(crate) mod serial;
pub(crate) mod shift;
pub(crate) mod stored;

/// Level of all computed intervals. A run looks at its intervals up to three times (`Suite::looks`), and the
/// first one that is narrow enough ends the measurement, which favours intervals that are narrow by chance.
/// 96 % at each look leaves about 95 % for the final interval (ADR 0001). With looks at 6, 12 and 24 normal
/// trials and a goal of 3 % it is 94.1 % in the worst case, where trials differ by 5 %, and up to 96.1 %
/// elsewhere (50,000 simulated runs each; the tests repeat it at a smaller scale).
pub const LEVEL: f64 = 0.96;

/// Level as which ranges are displayed.
pub const SHOWN_LEVEL: f64 = 0.95;

/// Minimum number of whole trials for an interval from the differences between trials.
pub const LEAST_TRIALS: usize = 3;
