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
