//! Rankings.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::views::product::SummaryView;

/// Contexts of a metric that pages offer.
pub const MOST_CONTEXTS: u32 = 30;

/// Circumstances under which a metric was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ContextEntry {
    /// Key, for `/api/v1/rankings`.
    #[serde(serialize_with = "as_text")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub key: i64,
    /// The circumstances.
    pub context: BTreeMap<String, String>,
    /// Ranked products.
    pub products_count: u64,
}

/// A page of the contexts of a metric.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Contexts {
    /// Those with the most products first.
    pub contexts: Vec<ContextEntry>,
    /// Cursor of the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A place in a ranking.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RankedEntry {
    /// Key of the product.
    pub key: String,
    /// Its name.
    pub name: String,
    /// Its figures.
    #[serde(flatten)]
    pub summary: SummaryView,
    /// Order in the ranking: smaller is better.
    #[serde(skip)]
    pub place: f64,
}

/// A page of a ranking.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RankingView {
    /// Products with at least three submitters, the best first.
    pub places: Vec<RankedEntry>,
    /// Cursor of the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

fn as_text<S: Serializer>(key: &i64, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(key)
}
