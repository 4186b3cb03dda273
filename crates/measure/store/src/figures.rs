//! One metric of all records, and the subjects of their runs.

use std::collections::{BTreeMap, BTreeSet};

use cardmark_core::{Quantity, Subject};
use rusqlite::{Error, Row, params_from_iter};

use crate::damage::{self, Variant, collect, finite, finite_or_none, refuse};
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
    /// Half width of its interval, relative to the middle; `None` without an interval.
    pub half_width_ratio: Option<f64>,
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
                "SELECT record_id, quantity, value, is_voided, half_width FROM metrics WHERE id = ?1 \
                 ORDER BY is_voided, record_id",
                [metric],
                "a figure is not readable",
                figure,
            )?;
            Ok(figures.into_iter().flatten().collect())
        })
    }

    /// Returns these metrics of all records that have them, each with its id, in the order of run ids. Excludes the same figures
    /// as [`Store::figures`].
    ///
    /// # Errors
    /// If the store fails, or a row is damaged.
    pub fn figures_of(
        &mut self,
        metrics: &BTreeSet<&str>,
    ) -> Result<Vec<(String, StoredFigure)>, StoreError> {
        self.read(|connection| {
            refuse(connection, damage::METRICS)?;
            let places = vec!["?"; metrics.len()].join(", ");
            let sql = format!(
                "SELECT record_id, quantity, value, is_voided, half_width, id FROM metrics WHERE id IN ({places})"
            );
            let with_id = |row: &Row<'_>| Ok(figure(row)?.zip(row.get::<_, Option<String>>(5)?));
            let ids = params_from_iter(metrics);
            let found = collect(connection, &sql, ids, "a figure is not readable", with_id)?;
            let mut figures: Vec<(String, StoredFigure)> = found
                .into_iter()
                .flatten()
                .map(|(figure, id)| (id, figure))
                .collect();
            figures.sort_by(|a, b| a.1.run.cmp(&b.1.run));
            Ok(figures)
        })
    }

    /// Returns the year in which each run began, by the run's id, as far as known.
    ///
    /// # Errors
    /// If the store fails, or a row is damaged.
    pub fn years(&mut self) -> Result<BTreeMap<String, u16>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT id, substr(started_at, 1, 4) FROM records";
            let year = |row: &Row<'_>| {
                let year: Option<String> = row.get(1)?;
                Ok((row.get(0)?, year.and_then(|year| year.parse().ok())))
            };
            let years = collect(connection, sql, [], "its start is not readable", year)?;
            let known = years
                .into_iter()
                .filter_map(|(run, year)| Some((run, year?)));
            Ok(known.collect())
        })
    }

    /// Returns the values of a label, by the run's id.
    ///
    /// # Errors
    /// If the store fails, or a row is damaged.
    pub fn labelled(&mut self, key: &str) -> Result<BTreeMap<String, String>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT record_id, value FROM labels WHERE key = ?1";
            let label = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let found = collect(connection, sql, [key], "a label is not readable", label)?;
            Ok(found.into_iter().collect())
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
        half_width_ratio: finite_or_none(row, 4)?,
    };
    match row.get(3)? {
        0 => Ok(Some(figure)),
        1 => Ok(None),
        other => Err(Error::IntegralValueOutOfRange(3, other)),
    }
}
