//! Reasons to look at a card, and their gravity.

use std::cmp::Ordering;

use cardmark_core::{CAPACITY_RULE, FindingKind, Quantity, Record, StorageKind};
use serde::Serialize;

use crate::suitability::Fit;

/// Action for the owner of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// It cannot be relied on, or is far too slow for its use.
    Replace,
    /// It works, but near a limit, or worse than before or than others.
    Watch,
}

/// Reason to look at a card; the variants stand in the order of gravity, with a size below that on the label behind a fake.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum Reason {
    /// It holds less than it reports.
    Fake {
        /// Bytes that keep data, if known.
        real_bytes: Option<u64>,
        /// Bytes that it reports, if known.
        size_bytes: Option<u64>,
    },
    /// It lost or changed data.
    LostData {
        /// Result of the test of integrity; absent if a run read back what it had written.
        found: Option<StorageKind>,
    },
    /// Synced writes were as fast as others: it may confirm writes before it has stored them.
    MayLoseOnPowerCut,
    /// It accepts no writes.
    ReadOnly,
    /// It ignores writes, or reports that its life is over.
    WornOut,
    /// It failed during a run.
    Failing {
        /// The failure.
        finding: FindingKind,
    },
    /// A rate far below that of other cards like it, on the same board.
    FarBelowProduct(Outlier),
    /// A rate has fallen.
    Falling {
        /// The metric.
        metric: String,
        /// Change: −0.31 for a decrease of 31 %.
        change_ratio: f64,
        /// First day of the lower level, days since 1970-01-01 (UTC); absent if it fell slowly.
        since_days: Option<f64>,
    },
    /// A rate that its use needs is too low.
    TooSlow(Shortfall),
    /// It reports that most of its life is used.
    Wearing {
        /// Share of its rated life that is used, percent.
        used_percent: u32,
    },
    /// A rate that its use needs may be too low.
    AtTheLimit(Shortfall),
    /// It misses a class or another promise on its label, or the test of another tool.
    FailsClaim {
        /// The class or test.
        rule: String,
    },
}

/// A rate below that of other cards of a product.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outlier {
    /// The metric.
    pub metric: String,
    /// Quantity of the rates.
    pub quantity: Quantity,
    /// Rate of this card.
    pub value: f64,
    /// Median rate of the others.
    pub usual: f64,
    /// Number of the others.
    pub others_count: usize,
}

/// A rate below, or near, what a use needs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shortfall {
    /// Id of the use.
    #[serde(rename = "use")]
    pub use_id: String,
    /// Degree of suitability.
    pub fit: Fit,
    /// The operations in plain words, such as `random writes`.
    pub plain: String,
    /// Quantity of the rates.
    pub quantity: Quantity,
    /// The measured rate.
    pub value: f64,
    /// The rate that is asked for: that of the class, if there is one.
    pub asked: f64,
    /// The class that asks for it, such as `A1`.
    pub class: Option<String>,
}

/// A reason, with the run that shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Ground<'a> {
    /// The reason.
    pub reason: Reason,
    /// The run that shows it: the last one, if there are several.
    pub run: &'a Record,
}

impl Reason {
    /// Returns what this reason alone calls for.
    #[must_use]
    pub fn advice(&self) -> Advice {
        match self {
            Self::Fake { .. }
            | Self::LostData { .. }
            | Self::MayLoseOnPowerCut
            | Self::ReadOnly
            | Self::WornOut
            | Self::Failing { .. } => Advice::Replace,
            Self::TooSlow(shortfall) if shortfall.fit == Fit::Poor => Advice::Replace,
            Self::FailsClaim { rule } if rule == CAPACITY_RULE => Advice::Replace,
            Self::FarBelowProduct(_)
            | Self::Falling { .. }
            | Self::TooSlow(_)
            | Self::Wearing { .. }
            | Self::AtTheLimit(_)
            | Self::FailsClaim { .. } => Advice::Watch,
        }
    }

    /// Returns its place in the order of gravity.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Fake { .. } => 0,
            Self::FailsClaim { rule } if rule == CAPACITY_RULE => 1,
            Self::LostData { .. } => 2,
            Self::MayLoseOnPowerCut => 3,
            Self::ReadOnly => 4,
            Self::WornOut => 5,
            Self::Failing { .. } => 6,
            Self::FarBelowProduct(_) => 7,
            Self::Falling { .. } => 8,
            Self::TooSlow(_) => 9,
            Self::Wearing { .. } => 10,
            Self::AtTheLimit(_) => 11,
            Self::FailsClaim { .. } => 12,
        }
    }

    /// Returns how much is left of what it should be; the smallest is the worst.
    fn share(&self) -> f64 {
        match self {
            Self::FarBelowProduct(outlier) => outlier.value / outlier.usual,
            Self::Falling { change_ratio, .. } => 1.0 + change_ratio,
            Self::TooSlow(shortfall) | Self::AtTheLimit(shortfall) => {
                shortfall.value / shortfall.asked
            }
            _ => 1.0,
        }
    }

    pub(super) fn worst_first(&self, other: &Self) -> Ordering {
        let order = self.rank().cmp(&other.rank());
        order.then(self.share().total_cmp(&other.share()))
    }
}
