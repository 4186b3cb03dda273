//! One metric of all records, and the subjects of their runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use cardmark_core::{OriginKind, Quantity};
use rusqlite::{Error, Row};

use crate::damage::{self, Variant, collect, finite, refuse};
use crate::heads::{Head, heads};
use crate::{Store, StoreError};

/// Subject of a run: card, board and conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredSubject {
    /// Id of the run.
    pub run: String,
    /// Origin of the record.
    pub origin: OriginKind,
    /// Model of the computer.
    pub board: Option<String>,
    /// Model of the first device, as it reports itself.
    pub model: Option<String>,
    /// Id of the physical card.
    pub card: Option<String>,
    /// Label `product`.
    pub product: Option<String>,
    /// Label `sample`.
    pub sample: Option<String>,
    /// Label `setting`.
    pub setting: Option<String>,
    /// Conditions that must match before two runs are compared. Runs with equal conditions share it.
    pub context: Arc<BTreeMap<String, String>>,
}

impl From<Head> for StoredSubject {
    fn from(mut head: Head) -> Self {
        let mut label = |key| head.labels.remove(key);
        Self {
            product: label("product"),
            sample: label("sample"),
            setting: label("setting"),
            run: head.run,
            origin: head.origin,
            board: head.board,
            model: head.model,
            card: head.card,
            context: head.context,
        }
    }
}

/// A metric of one record.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredFigure {
    /// Id of the run.
    pub run: String,
    /// Quantity of the value.
    pub quantity: Quantity,
    /// Value in the unit of the quantity.
    pub value: f64,
}

impl Store {
    /// Returns the subjects of all runs in the order of storing.
    ///
    /// # Errors
    /// If the store fails, or a row is damaged.
    pub fn subjects(&mut self) -> Result<Vec<StoredSubject>, StoreError> {
        let heads = self.read(heads)?;
        Ok(heads.into_iter().map(StoredSubject::from).collect())
    }

    /// Returns one metric of all records that have it, in the order of run ids. Excludes figures
    /// that a cache may have answered for.
    ///
    /// # Errors
    /// If the store fails, or a row is damaged.
    pub fn figures(&mut self, metric: &str) -> Result<Vec<StoredFigure>, StoreError> {
        self.read(|connection| {
            refuse(connection, damage::METRICS)?;
            let figures = collect(
                connection,
                "SELECT record_id, quantity, value, is_voided FROM metrics WHERE id = ?1 \
                 ORDER BY is_voided, record_id",
                [metric],
                "a figure is not readable",
                figure,
            )?;
            Ok(figures.into_iter().flatten().collect())
        })
    }
}

fn figure(row: &Row<'_>) -> Result<Option<StoredFigure>, Error> {
    let figure = StoredFigure {
        run: row.get(0)?,
        quantity: row.get::<_, Variant<_>>(1)?.0,
        value: finite(row, 2)?,
    };
    match row.get(3)? {
        0 => Ok(Some(figure)),
        1 => Ok(None),
        other => Err(Error::IntegralValueOutOfRange(3, other)),
    }
}
