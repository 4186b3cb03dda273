//! Several records: comparisons, rankings, histories, lists, surveys.

pub(crate) mod agreement;
pub(crate) mod attention;
pub(crate) mod avoid;
pub(crate) mod circumstances;
pub(crate) mod comparison;
pub(crate) mod csv;
pub(crate) mod durable;
pub(crate) mod facts;
pub(crate) mod fleet;
pub(crate) mod history;
pub(crate) mod list;
pub(crate) mod ranking;
pub(crate) mod recommendation;
pub(crate) mod shifts;
pub(crate) mod survey;
