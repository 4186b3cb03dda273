//! One record.

pub(crate) mod again;
pub(crate) mod anatomy;
pub(crate) mod answer;
pub(crate) mod block_sizes;
pub(crate) mod findings;
pub(crate) mod identity;
pub(crate) mod integrity;
pub(crate) mod power_cut;
pub(crate) mod prepared;
pub(crate) mod reading;
pub(crate) mod shading;
pub(crate) mod stalls;
pub(crate) mod stops;
pub(crate) mod summary;
pub(crate) mod usable;
pub(crate) mod workloads;
