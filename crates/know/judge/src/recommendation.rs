//! Products that suit a use on a board, in the order in which they can be recommended.
//!
//! Figures of one product in one place are combined: for each card the mean of its runs, for the product the mean of its
//! cards, all geometric. Each need of the use is met by the nearest figure: measured on the board, by another method that may
//! stand for it, on a board with an equal slot, estimated from another board, or promised on the label ([`Basis`]). A product
//! suits if the low end of each rate that decides is enough. Those known to be sold come first, then recent ones, then the
//! others by the year of their test; speed decides among the rest, and only between figures of one method.

mod asked;
mod choice;
mod evidence;
pub(crate) mod met;
mod sold;

use std::collections::BTreeMap;

use cardmark_catalog::{ProductKind, Use};
use serde::Serialize;

use crate::price::Price;

pub(crate) use evidence::is_overclocked;

pub use asked::AskedBoard;
pub use choice::{Beside, BestValue, Candidate, Choice, Grade, Lack, LeftOut, SoldLine, recommend};
pub use evidence::{Figure, metrics_of_use, published_figures};
pub use met::{Basis, Met};
pub use sold::{Day, Sold, Tier, tier};

/// A question for products.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The use.
    pub wanted: &'static Use,
    /// Name of the board, or a part of it; absent: any board.
    pub board: Option<String>,
    /// Further wishes.
    pub wish: Wish,
    /// The day on which it is asked: what was sold within a year before it counts as sold.
    pub today: Day,
}

/// Wishes in addition to use and board.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wish {
    /// Minimum capacity.
    pub capacity_bytes: Option<u64>,
    /// Maximum price.
    pub budget: Option<Price>,
    /// Prices of products by name.
    pub prices: BTreeMap<String, Price>,
    /// Kinds of products; absent: those of the use, or else microSD cards; empty: all.
    pub kinds: Option<Vec<ProductKind>>,
    /// True if the cheapest of those that suit is asked for.
    pub is_by_value: bool,
}

impl Question {
    /// Returns a question without further wishes.
    #[must_use]
    pub fn new(wanted: &'static Use, board: Option<&str>, today: Day) -> Self {
        Self {
            wanted,
            board: board.map(str::to_owned),
            wish: Wish::default(),
            today,
        }
    }

    /// Returns the kinds of products that are asked for; none: all.
    #[must_use]
    pub fn kinds(&self) -> Vec<ProductKind> {
        let usual = || match self.wanted.kinds.is_empty() {
            true => vec![ProductKind::Microsd],
            false => self.wanted.kinds.clone(),
        };
        self.wish.kinds.clone().unwrap_or_else(usual)
    }
}

/// Slots of all boards that a product suits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Band {
    /// Rate of the slowest slot, bytes per second.
    pub slot_bytes_per_s: u64,
    /// True if no known slot is slower.
    pub is_any: bool,
}

#[cfg(test)]
mod tests;
