//! Sources of the facts of a row, and what a source states of the shops.

use serde::{Deserialize, Serialize};

/// State of a product in the shops, as far as a source states it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Availability {
    /// It is made and sold.
    Sold,
    /// It is no longer made.
    Discontinued,
    /// No source states it.
    #[default]
    Unknown,
}

impl Availability {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sold => "sold",
            Self::Discontinued => "discontinued",
            Self::Unknown => "unknown",
        }
    }
}

/// A fact of a row that has a source of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// Year of the first sale.
    Year,
    /// The maker's numbers.
    ModelNumbers,
    /// State in the shops.
    Availability,
    /// When it was last seen in shops.
    KnownSold,
    /// The line that replaced it.
    Successor,
    /// Its command queue.
    CommandQueue,
    /// Month until which the maker has promised to make it.
    ProductionUntil,
    /// Promises on the package.
    Claims,
    /// Content of the registers.
    Registers,
    /// Revision codes of a board.
    RevisionCodes,
}

/// Source of some facts of a row.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FactSource {
    /// The facts.
    pub of: Vec<Fact>,
    /// The source.
    pub source: String,
}
