//! What runs say together: ratios, rankings, histories.

pub(crate) mod again;
pub(crate) mod agreement;
pub(crate) mod compare;
pub(crate) mod history;
pub(crate) mod ranking;
pub(crate) mod sides;
pub(crate) mod stall_rates;
pub(crate) mod ties;
