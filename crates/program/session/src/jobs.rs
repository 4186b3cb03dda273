//! The jobs, each from its target to its stored record.

pub(crate) mod anatomy;
pub(crate) mod endure;
pub(crate) mod integrity;
pub(crate) mod measure;
pub(crate) mod power_cut;
pub(crate) mod prepare;
pub(crate) mod probe;
pub(crate) mod since;
pub(crate) mod verify;
pub(crate) mod watch;
pub(crate) mod writers;
