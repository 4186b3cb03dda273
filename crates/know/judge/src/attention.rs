//! Cards that need attention, the worst first, for whoever keeps many boards.
//!
//! A card that lost data, lied about its size or failed keeps that reason until a later test of the same card covers it
//! and finds nothing ([`grave`]). Rates count as of the last run that has them ([`rates`]).

mod cards;
mod grave;
mod rates;

use std::cmp::Ordering;

use cardmark_core::{CAPACITY_RULE, FindingKind, Quantity, Record, StorageKind};
use serde::Serialize;

pub use cards::{CardRuns, NamedBy, cards_of};

use crate::suitability::Fit;

/// What to do with a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// It cannot be relied on, or is far too slow for its use.
    Replace,
    /// It works, but near a limit, or worse than before or than others.
    Watch,
}

/// Reason to look at a card; the variants stand in the order of gravity.
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
        /// What a test of integrity called it; absent if a run read back what it had written.
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

/// A card that needs attention.
#[derive(Clone, Debug, PartialEq)]
pub struct Attention<'a> {
    /// The card with its runs.
    pub card: CardRuns<'a>,
    /// What to do.
    pub advice: Advice,
    /// The reasons, the worst first; at least one.
    pub grounds: Vec<Ground<'a>>,
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
    fn rank(&self) -> u8 {
        match self {
            Self::Fake { .. } => 0,
            Self::LostData { .. } => 1,
            Self::MayLoseOnPowerCut => 2,
            Self::ReadOnly => 3,
            Self::WornOut => 4,
            Self::Failing { .. } => 5,
            Self::FarBelowProduct(_) => 6,
            Self::Falling { .. } => 7,
            Self::TooSlow(_) => 8,
            Self::Wearing { .. } => 9,
            Self::AtTheLimit(_) => 10,
            Self::FailsClaim { .. } => 11,
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

    fn worst_first(&self, other: &Self) -> Ordering {
        let order = (self.advice(), self.rank()).cmp(&(other.advice(), other.rank()));
        order.then(self.share().total_cmp(&other.share()))
    }
}

impl<'a> Attention<'a> {
    /// Returns the worst reason; `None` cannot happen for what [`attention`] returns.
    #[must_use]
    pub fn worst(&self) -> Option<&Ground<'a>> {
        self.grounds.first()
    }

    /// Returns whether it does not keep data, or fails, apart from its speed.
    #[must_use]
    pub fn is_unsound(&self) -> bool {
        let mut reasons = self.grounds.iter().map(|ground| &ground.reason);
        reasons.any(|reason| {
            reason.advice() == Advice::Replace && !matches!(reason, Reason::TooSlow(_))
        })
    }

    fn of(card: &CardRuns<'a>, mut grounds: Vec<Ground<'a>>) -> Option<Self> {
        grounds.sort_by(|one, other| one.reason.worst_first(&other.reason));
        let advice = grounds.iter().map(|ground| ground.reason.advice()).min()?;
        Some(Self {
            card: card.clone(),
            advice,
            grounds,
        })
    }

    fn worst_first(&self, other: &Self) -> Ordering {
        let reasons = self.worst().zip(other.worst());
        let by_reason = reasons.map_or(Ordering::Equal, |(one, other)| {
            one.reason.worst_first(&other.reason)
        });
        by_reason.then_with(|| self.card.order().cmp(&other.card.order()))
    }
}

/// Returns the cards that need attention, the worst first: those to replace, then those to watch, each by the gravity of its
/// worst reason. A card without a row is not shown to be sound: only what was tested is known.
#[must_use]
pub fn attention<'a>(cards: &[CardRuns<'a>]) -> Vec<Attention<'a>> {
    let peers = rates::Peers::of(cards);
    let falling = rates::falling(cards);
    let rows = cards.iter().zip(falling).enumerate();
    let mut found: Vec<Attention<'a>> = rows
        .filter_map(|(index, (card, falling))| {
            let mut grounds = grave::grounds(card);
            grounds.extend(rates::slow(card));
            grounds.extend(peers.far_below(index, card));
            grounds.extend(falling);
            Attention::of(card, grounds)
        })
        .collect();
    found.sort_by(Attention::worst_first);
    found
}
