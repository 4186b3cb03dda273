//! One metric of all records, with what is needed to place it among others.

use std::collections::BTreeMap;
use std::sync::Arc;

use cardmark_core::{OriginKind, Quantity};
use sqlx::query_scalar;

use crate::database::explain;
use crate::rows::variant;
use crate::{Store, StoreError};

/// What a run was of.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSubject {
    /// Id of the run.
    pub run: String,
    /// How the record came to be, where known to this version.
    pub origin: Option<OriginKind>,
    /// The computer.
    pub board: Option<String>,
    /// The device as it calls itself.
    pub model: Option<String>,
    /// Id of the physical card.
    pub card: Option<String>,
    /// The label `product` as it stands.
    pub product: Option<String>,
    /// The label `sample` as it stands.
    pub sample: Option<String>,
    /// The label `setting` as it stands.
    pub setting: Option<String>,
    /// What must match where figures are compared. Runs that are alike share it.
    pub context: Arc<BTreeMap<String, String>>,
}

/// A metric of one record.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredFigure {
    /// Id of the run.
    pub run: String,
    /// What the value is.
    pub quantity: Quantity,
    /// The value, in the quantity's unit, to fifteen digits.
    pub value: f64,
}

/// One array for all rows: ten thousand rows one by one take several times as long to come over.
const SUBJECTS: &str = "SELECT json_group_array(json_array(record_id, origin_kind, board, model, card, \
     (SELECT value FROM labels WHERE record_id = h.record_id AND key = 'product'), \
     (SELECT value FROM labels WHERE record_id = h.record_id AND key = 'sample'), \
     (SELECT value FROM labels WHERE record_id = h.record_id AND key = 'setting'), context)) \
     FROM (SELECT * FROM heads ORDER BY sequence) h";

type SubjectRow = (
    String,
    String,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<String>,
);

const FIGURES: &str = "SELECT json_group_array(json_array(record_id, quantity, value)) \
     FROM metrics WHERE id = ? AND is_voided = 0";

impl Store {
    /// What all runs were of, in the order of storing.
    ///
    /// # Errors
    /// When the store refuses.
    pub fn subjects(&mut self) -> Result<Vec<StoredSubject>, StoreError> {
        let reading = query_scalar(SUBJECTS).fetch_one(&mut self.connection);
        let text: String = self
            .runtime
            .block_on(reading)
            .map_err(explain(&self.path))?;
        let rows: Vec<SubjectRow> = serde_json::from_str(&text).unwrap_or_default();
        let mut contexts = BTreeMap::new();
        Ok(rows
            .into_iter()
            .map(|row| subject(row, &mut contexts))
            .collect())
    }

    /// The metric of that id of all records that have it, in the order of the runs' ids. Left out
    /// are those of a quantity that this version does not know, and those that are not the device's.
    ///
    /// # Errors
    /// When the store refuses.
    pub fn figures(&mut self, metric: &str) -> Result<Vec<StoredFigure>, StoreError> {
        let reading = query_scalar(FIGURES)
            .bind(metric)
            .fetch_one(&mut self.connection);
        let text: String = self
            .runtime
            .block_on(reading)
            .map_err(explain(&self.path))?;
        let rows: Vec<(String, String, f64)> = serde_json::from_str(&text).unwrap_or_default();
        let figure = |(run, quantity, value)| {
            Some(StoredFigure {
                run,
                quantity: variant(quantity)?,
                value,
            })
        };
        Ok(rows.into_iter().filter_map(figure).collect())
    }
}

fn subject(
    row: SubjectRow,
    contexts: &mut BTreeMap<String, Arc<BTreeMap<String, String>>>,
) -> StoredSubject {
    let (run, origin, board, model, card, product, sample, setting, context) = row;
    let context = context.unwrap_or_default();
    let context = contexts
        .entry(context)
        .or_insert_with_key(|text| Arc::new(serde_json::from_str(text).unwrap_or_default()));
    StoredSubject {
        run,
        origin: variant(origin),
        board,
        model,
        card,
        product,
        sample,
        setting,
        context: Arc::clone(context),
    }
}
