//! From trials to the figures and findings of a record.

pub(crate) mod accounting;
pub(crate) mod course_figures;
pub(crate) mod course_findings;
pub(crate) mod derive;
pub(crate) mod figures;
pub(crate) mod growing;
pub(crate) mod metrics;
pub(crate) mod noticed;
pub(crate) mod parts;
pub(crate) mod print;
pub(crate) mod refresh;
pub(crate) mod windows;
