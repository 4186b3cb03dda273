//! Cards that need attention, the worst first, for whoever keeps many boards.
//!
//! A card that lost data, lied about its size or failed keeps that reason until a later test of the same card covers it
//! and finds nothing ([`grave`]). Rates count as of the last run that has them ([`rates`]). A card that is no longer in use
//! needs none.

mod cards;
mod grave;
mod rates;
mod reasons;

use std::cmp::Ordering;

pub use cards::{CardRuns, NamedBy, cards_of};
pub(crate) use cards::{HOST, board_model, label, natural};
pub use reasons::{Advice, Ground, Outlier, Reason, Shortfall};

/// A card that needs attention.
#[derive(Clone, Debug, PartialEq)]
pub struct Attention<'a> {
    /// The card with its runs.
    pub card: CardRuns<'a>,
    /// Action for the owner.
    pub advice: Advice,
    /// The reasons, the worst first; at least one.
    pub grounds: Vec<Ground<'a>>,
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
        let by_advice = self.advice.cmp(&other.advice);
        by_advice
            .then(by_reason)
            .then_with(|| self.card.order().cmp(&other.card.order()))
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
        .filter(|(_, (card, _))| !card.is_retired)
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
