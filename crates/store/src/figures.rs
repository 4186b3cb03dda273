//! One metric of all records, with the data needed to rank it among others.

use std::collections::BTreeMap;
use std::sync::Arc;

use cardmark_core::{OriginKind, Quantity};
use serde::de::DeserializeOwned;
use sqlx::query_scalar;

use crate::damage::damaged;
use crate::database::explain;
use crate::rows::variant;
use crate::{Store, StoreError};

/// Subject of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSubject {
    /// Id of the run.
    pub run: String,
    /// Kind of source of the record.
    pub origin: OriginKind,
    /// The computer.
    pub board: Option<String>,
    /// The device as it calls itself.
    pub model: Option<String>,
    /// Id of the physical card.
    pub card: Option<String>,
    /// The current label `product`.
    pub product: Option<String>,
    /// The current label `sample`.
    pub sample: Option<String>,
    /// The current label `setting`.
    pub setting: Option<String>,
    /// Values that must match before figures are compared. Runs that are alike share it.
    pub context: Arc<BTreeMap<String, String>>,
}

/// A metric of one record.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredFigure {
    /// Id of the run.
    pub run: String,
    /// Quantity of the value.
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
    /// Returns the subjects of all runs, in the order of storing.
    ///
    /// # Errors
    /// If the store fails, or a row is damaged.
    pub fn subjects(&mut self) -> Result<Vec<StoredSubject>, StoreError> {
        self.check_heads()?;
        let reading = query_scalar(SUBJECTS).fetch_one(&mut self.connection);
        let text: String = self
            .runtime
            .block_on(reading)
            .map_err(explain(&self.path))?;
        let rows: Vec<SubjectRow> = decode(&text).map_err(explain(&self.path))?;
        let mut contexts = BTreeMap::new();
        rows.into_iter()
            .map(|row| subject(row, &mut contexts))
            .collect::<Result<_, _>>()
            .map_err(explain(&self.path))
    }

    /// The metric of that id of all records that have it, in the order of the runs' ids. Left out
    /// are those that are not the device's.
    ///
    /// # Errors
    /// If the store fails, or a row is damaged.
    pub fn figures(&mut self, metric: &str) -> Result<Vec<StoredFigure>, StoreError> {
        self.check_figures(metric)?;
        let reading = query_scalar(FIGURES)
            .bind(metric)
            .fetch_one(&mut self.connection);
        let text: String = self
            .runtime
            .block_on(reading)
            .map_err(explain(&self.path))?;
        let rows: Vec<(String, String, f64)> = decode(&text).map_err(explain(&self.path))?;
        let figure = |(run, quantity, value): (String, String, f64)| {
            let quantity = variant(quantity)
                .ok_or_else(|| damaged(&run, "the quantity of a figure is unknown"))?;
            Ok(StoredFigure {
                run,
                quantity,
                value,
            })
        };
        rows.into_iter()
            .map(figure)
            .collect::<Result<_, _>>()
            .map_err(explain(&self.path))
    }
}

fn subject(
    row: SubjectRow,
    contexts: &mut BTreeMap<String, Arc<BTreeMap<String, String>>>,
) -> Result<StoredSubject, sqlx::Error> {
    let (run, origin, board, model, card, product, sample, setting, context) = row;
    // Runs of before the context have none.
    let text = context.unwrap_or_else(|| "{}".to_owned());
    let context = match contexts.get(&text) {
        Some(known) => Arc::clone(known),
        None => {
            let parsed = serde_json::from_str(&text)
                .map_err(|_| damaged(&run, "its context is not readable"))?;
            let parsed = Arc::new(parsed);
            contexts.insert(text, Arc::clone(&parsed));
            parsed
        }
    };
    let origin = variant(origin).ok_or_else(|| damaged(&run, "its origin is unknown"))?;
    Ok(StoredSubject {
        run,
        origin,
        board,
        model,
        card,
        product,
        sample,
        setting,
        context,
    })
}

fn decode<T: DeserializeOwned>(text: &str) -> Result<T, sqlx::Error> {
    serde_json::from_str(text).map_err(|error| sqlx::Error::Decode(Box::new(error)))
}
