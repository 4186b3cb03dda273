//! Products that suit a use.

use std::collections::BTreeMap;

use cardmark_judge::Suitability;

use crate::views::product::SummaryView;

/// Products under the same circumstances, those that suit best first.
#[derive(Debug)]
pub struct Suited {
    /// The circumstances.
    pub context: BTreeMap<String, String>,
    /// The products.
    pub products: Vec<SuitedProduct>,
}

/// A product with all key figures of a use.
#[derive(Debug)]
pub struct SuitedProduct {
    /// Key.
    pub key: String,
    /// Name.
    pub name: String,
    /// How well it suits the use.
    pub suitability: Suitability,
    /// The figure that limits it.
    pub limiting: SummaryView,
}

/// Answers by use; uses without ranked products are absent.
pub type ByUse = BTreeMap<&'static str, Suited>;
