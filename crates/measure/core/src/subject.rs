//! Object and circumstances of a run, for comparisons with other runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Context, OriginKind, Record};

/// Object and circumstances of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Subject {
    /// Product, by the label `product`.
    pub product: Option<String>,
    /// Model that the first device reports, otherwise the source of the record.
    pub model: Option<String>,
    /// The computer, if known.
    pub board: Option<String>,
    /// The label `setting`: any other change in the setup, in the user's own words.
    pub setting: Option<String>,
    /// Origin of the figures.
    pub origin: OriginKind,
    /// Their publication.
    pub publication: Option<String>,
    /// Id of the physical card, if known: the label `sample`, otherwise what the device reports.
    pub card: Option<String>,
    /// Values that must match if figures are compared. Identical contexts may be shared between runs.
    pub context: Arc<BTreeMap<String, String>>,
}

impl Subject {
    /// Returns the subject of a record.
    pub fn of(record: &Record) -> Self {
        let device = record.devices.first();
        let label = |key: &str| record.labels.get(key).cloned();
        let model = device.and_then(|device| device.model.clone());
        Self {
            product: label("product"),
            model: model.or_else(|| record.origin.source.clone()),
            board: record.board.as_ref().and_then(|board| board.model.clone()),
            setting: label("setting"),
            origin: record.origin.kind,
            publication: label("publication"),
            card: label("sample").or_else(|| device?.card_id().map(str::to_owned)),
            context: Arc::new(Context::of(record).must),
        }
    }

    /// Returns the product if known, otherwise the model; of own runs without either, `your run`.
    pub fn name(&self) -> &str {
        let name = self.product.as_deref().or(self.model.as_deref());
        name.unwrap_or(match self.origin {
            OriginKind::Measured => "your run",
            _ => "unknown",
        })
    }
}
