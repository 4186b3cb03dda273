//! Figures of publications: beside shared ones, never mixed with them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::http::HeaderMap;
use axum::response::Response;
use cardmark_catalog::{metric_quantities, publications};
use cardmark_core::Quantity;
use cardmark_judge::ordered_metrics;
use cardmark_share::Extract;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answers::json;
use crate::described::Read;
use crate::kept::Kept;
use crate::parameters::Parameters;
use crate::problem::Refusal;

/// A published figure.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct PublishedFigure {
    /// Id of the publication in the catalogue.
    pub(crate) publication: String,
    /// Key of the product.
    pub(crate) product: String,
    /// Name of the product.
    pub(crate) product_name: String,
    /// Board.
    pub(crate) board: Option<String>,
    /// Setting, in the words of the publication.
    pub(crate) setting: Option<String>,
    /// Metric.
    pub(crate) metric: String,
    /// Quantity.
    #[schema(value_type = String)]
    pub(crate) quantity: Quantity,
    /// Value.
    pub(crate) value: f64,
}

static QUANTITIES: LazyLock<BTreeMap<String, Quantity>> = LazyLock::new(metric_quantities);

/// The quantity of a metric; a count if it is unknown.
pub(crate) fn quantity(metric: &str) -> Quantity {
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
pub(crate) fn of_product(key: &str) -> Vec<PublishedFigure> {
    FIGURES.get(key).cloned().unwrap_or_default()
}

/// No parameters.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// All published figures.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Published {
    /// By product.
    figures: Vec<PublishedFigure>,
}

/// Lists the figures of publications that the catalogue has.
#[utoipa::path(
    get, path = "/api/v1/published", tag = "read",
    responses(
        (status = 200, description = "All figures", body = Published),
        Read,
    )
)]
pub(crate) async fn published(
    _: Parameters<Nothing>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    static ANSWER: LazyLock<Option<Kept>> = LazyLock::new(|| {
        let figures = FIGURES.values().flatten().cloned().collect();
        json(&Published { figures }).ok()
    });
    let answer = ANSWER.as_ref().ok_or_else(Refusal::failed)?;
    Ok(answer.answer(&headers))
}
