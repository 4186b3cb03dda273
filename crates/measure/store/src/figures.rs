//! One metric of all records, and the subjects of their runs.

use std::collections::BTreeMap;

use cardmark_core::{Quantity, Subject};
use rusqlite::{Error, Row};

use crate::damage::{self, Variant, collect, finite, refuse};
use crate::heads::{Head, heads};
use crate::{Store, StoreError};

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
    /// Returns the subjects of all runs by the run's id.
    ///
    /// # Errors
    /// If the store fails, or a row is damaged.
    pub fn subjects(&mut self) -> Result<BTreeMap<String, Subject>, StoreError> {
        let heads = self.read(heads)?;
        Ok(heads.into_iter().map(subject).collect())
    }

    /// Returns one metric of all records that have it, in the order of run ids. Excludes figures
    /// that a cache may have answered for, and those of a device that is not known.
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

fn subject(mut head: Head) -> (String, Subject) {
    let mut label = |key| head.labels.remove(key);
    let subject = Subject {
        product: label("product"),
        setting: label("setting"),
        publication: label("publication"),
        card: label("sample").or(head.card),
        model: head.model,
        board: head.board,
        origin: head.origin,
        context: head.context,
    };
    (head.run, subject)
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
