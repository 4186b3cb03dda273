//! Figures of publications: beside shared ones, never mixed with them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use cardmark_catalog::{find_products, metric_quantities, products, publications};
use cardmark_core::{Quantity, Record};
use cardmark_judge::{derive_again, ordered_metrics};
use cardmark_share::{Extract, product_key};
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

/// All published runs by key of product.
static RECORDS: LazyLock<BTreeMap<String, Vec<Record>>> = LazyLock::new(|| {
    let mut by_product = BTreeMap::<String, Vec<Record>>::new();
    for mut record in publications().iter().flat_map(|one| one.records()) {
        let _ = derive_again(&mut record);
        if let Some(key) = record.labels.get("product").map(|name| product_key(name)) {
            by_product.entry(key).or_default().push(record);
        }
    }
    by_product
});

/// All published runs.
pub fn all_records() -> &'static [Record] {
    static ALL: LazyLock<Vec<Record>> =
        LazyLock::new(|| RECORDS.values().flatten().cloned().collect());
    &ALL
}

/// Published runs of a product.
pub fn records_of(key: &str) -> &'static [Record] {
    RECORDS.get(key).map_or(&[], Vec::as_slice)
}

/// A product of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownProduct {
    /// Key of the product.
    pub key: String,
    /// Its name.
    pub name: String,
    /// Number of published figures.
    pub figures_count: usize,
}

impl KnownProduct {
    /// Place in the list of products, which is in the order of their names.
    pub fn place(&self) -> (String, &str) {
        (self.name.to_lowercase(), &self.key)
    }
}

/// Returns the products of the catalogue that a search means, or, without one, those with published figures, in the order of their
/// names.
pub fn known_products(text: Option<&str>) -> Vec<KnownProduct> {
    let text = text.map(str::trim).filter(|text| !text.is_empty());
    let found = match text {
        Some(text) => find_products(text),
        None => products().iter().collect(),
    };
    let known = found.into_iter().map(|row| KnownProduct {
        key: row.id.clone(),
        name: row.name(),
        figures_count: figures_count(&row.id),
    });
    let mut known: Vec<KnownProduct> = known
        .filter(|one| text.is_some() || one.figures_count > 0)
        .collect();
    known.sort_by(|one, next| one.place().cmp(&next.place()));
    known
}

/// Number of published figures of a product.
pub fn figures_count(key: &str) -> usize {
    FIGURES.get(key).map_or(0, Vec::len)
}

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
