//! Products and the figures of their cards.

use std::collections::BTreeMap;

use cardmark_share::{LEAST_SUBMITTERS, Summary};
use serde::{Deserialize, Serialize};

use crate::views::published::PublishedFigure;

/// A page of a list by name.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct ProductsQuery {
    /// Parts of the name in their order.
    #[cfg_attr(feature = "openapi", param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"))]
    pub q: Option<String>,
    /// `next` of the page before.
    #[cfg_attr(feature = "openapi", param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"))]
    pub cursor: Option<String>,
    /// Entries of a page, 1 to 100; 20.
    #[cfg_attr(feature = "openapi", param(minimum = 1, maximum = 100))]
    pub limit: Option<u32>,
}

/// A product with shared runs.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProductEntry {
    /// Key on this site: the catalogue's id, or `~` and the name.
    pub key: String,
    /// Name.
    pub name: String,
    /// Runs that count.
    pub runs_count: u64,
    /// Cards, as far as known.
    pub cards_count: u64,
    /// Cards that failed a test of their capacity.
    pub fakes_count: u64,
}

/// A page of products.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProductsPage {
    /// The products, by key.
    pub products: Vec<ProductEntry>,
    /// Cursor of the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Figures of the cards of a product in one metric under the same circumstances.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SummaryView {
    /// The metric.
    pub metric: String,
    /// Circumstances that are the same for all cards.
    pub context: BTreeMap<String, String>,
    /// Cards that count: at most five of each submitter.
    pub cards_count: u64,
    /// Their submitters, each with one voice: the median of its cards.
    pub submitters_count: u64,
    /// True from three submitters on: only then the product is ranked.
    pub is_ranked: bool,
    /// Median of the submitters; of each card the median of its runs counts.
    pub median: f64,
    /// Lower end of the 95 % interval of the median, from six submitters on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Lower quartile of the submitters.
    pub lower_quartile: f64,
    /// Upper quartile.
    pub upper_quartile: f64,
    /// The submitters by their figures.
    #[serde(skip)]
    pub submitters: Summary,
}

impl SummaryView {
    /// Figures of cards under these circumstances; `None` for a summary without any card.
    pub fn of(
        metric: String,
        context: BTreeMap<String, String>,
        submitters: Summary,
        cards_count: u64,
    ) -> Option<Self> {
        let (median, interval) = submitters.median()?;
        let submitters_count = submitters.count();
        Some(Self {
            is_ranked: submitters_count >= LEAST_SUBMITTERS,
            cards_count,
            submitters_count,
            median,
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            lower_quartile: submitters.quantile(0.25)?,
            upper_quartile: submitters.quantile(0.75)?,
            metric,
            context,
            submitters,
        })
    }
}

/// A product: shared runs, and beside them, never mixed, published figures.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProductView {
    /// Key, name and counts.
    #[serde(flatten)]
    pub entry: ProductEntry,
    /// Number of the act of a moderator that confirms the name; absent if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_by: Option<i64>,
    /// Promises on the package, from the catalogue.
    pub claims: Vec<String>,
    /// Figures of shared runs, those of most submitters first: at most 200.
    pub summaries: Vec<SummaryView>,
    /// Cursor of further ones; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Figures of publications.
    pub published: Vec<PublishedFigure>,
}
