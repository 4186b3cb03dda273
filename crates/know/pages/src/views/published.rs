//! Figures of publications: beside shared ones, never mixed with them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use cardmark_catalog::{metric_quantities, publications};
use cardmark_core::Quantity;
use cardmark_judge::ordered_metrics;
use cardmark_share::Extract;
use serde::Serialize;

/// A published figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PublishedFigure {
    /// Id of the publication in the catalogue.
    pub publication: String,
    /// Key of the product.
    pub product: String,
    /// Name of the product.
    pub product_name: String,
    /// Board.
    pub board: Option<String>,
    /// Setting, in the words of the publication.
    pub setting: Option<String>,
    /// Metric.
    pub metric: String,
    /// Quantity.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub quantity: Quantity,
    /// Value.
    pub value: f64,
}

static QUANTITIES: LazyLock<BTreeMap<String, Quantity>> = LazyLock::new(metric_quantities);

/// The quantity of a metric; a count if it is unknown.
pub fn quantity(metric: &str) -> Quantity {
    QUANTITIES.get(metric).copied().unwrap_or(Quantity::Count)
}

/// All published figures by key of product.
static FIGURES: LazyLock<BTreeMap<String, Vec<PublishedFigure>>> = LazyLock::new(|| {
    let mut by_product = BTreeMap::<String, Vec<PublishedFigure>>::new();
    for publication in publications() {
        for record in publication.records() {
            let extract = Extract::of(&record);
            let Some(key) = extract.product_key() else {
                continue;
            };
            let figure = |metric: &cardmark_core::Metric| PublishedFigure {
                publication: publication.id.clone(),
                product: key.clone(),
                product_name: extract.product_name.clone().unwrap_or_default(),
                board: extract.board.clone(),
                setting: record.labels.get("setting").cloned(),
                metric: metric.id.clone(),
                quantity: metric.quantity,
                value: metric.value,
            };
            let figures = ordered_metrics(&record).into_iter().map(figure);
            by_product.entry(key.clone()).or_default().extend(figures);
        }
    }
    by_product
});

/// Published figures of a product.
pub fn of_product(key: &str) -> Vec<PublishedFigure> {
    FIGURES.get(key).cloned().unwrap_or_default()
}

/// All published figures.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Published {
    /// By product.
    pub figures: Vec<PublishedFigure>,
}

impl Published {
    /// The figures of all publications.
    pub fn all() -> Self {
        Self {
            figures: FIGURES.values().flatten().cloned().collect(),
        }
    }
}
