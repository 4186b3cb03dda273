//! Damaged rows. Skipping one would make an answer incomplete, so reading ends with an error that
//! names the run.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, Type, ValueRef};
use rusqlite::{Connection, Error, OptionalExtension, Params, Row};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::failure::Failure;

/// A query for the id of the first run whose damage no row shows, and a description of the damage.
type Check = (&'static str, &'static str);

/// Records without a head.
pub(crate) const HEADS: Check = (
    "its head is missing",
    "SELECT id FROM records \
     WHERE NOT EXISTS (SELECT 1 FROM heads WHERE record_id = records.id) LIMIT 1",
);

/// Labels without a record.
pub(crate) const LABELS: Check = (
    "a label belongs to no run",
    "SELECT record_id FROM labels \
     WHERE NOT EXISTS (SELECT 1 FROM records WHERE id = labels.record_id) LIMIT 1",
);

/// Ids of metrics that are not text. They sort after all text.
pub(crate) const METRICS: Check = (
    "the id of a figure is not readable",
    "SELECT record_id FROM metrics WHERE id >= x'' LIMIT 1",
);

/// Returns an error if the check finds a damaged row.
pub(crate) fn refuse(connection: &Connection, (what, sql): Check) -> Result<(), Failure> {
    let mut statement = connection.prepare_cached(sql)?;
    match statement.query_row([], |row| Ok(run_of(row))).optional()? {
        Some(run) => Err(Failure::Damaged { run, what }),
        None => Ok(()),
    }
}

/// Decodes all rows of a query whose first column is the id of a run.
///
/// # Errors
/// If SQLite refuses. A row that cannot be decoded is damaged: `what` describes it.
pub(crate) fn collect<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    what: &'static str,
    mut decode: impl FnMut(&Row<'_>) -> Result<T, Error>,
) -> Result<Vec<T>, Failure> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(parameters)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let run = |_| Failure::Damaged {
            run: run_of(row),
            what,
        };
        found.push(decode(row).map_err(run)?);
    }
    Ok(found)
}

/// Returns the first column as text. The id itself may be damaged.
pub(crate) fn run_of(row: &Row<'_>) -> String {
    match row.get_ref(0) {
        Ok(ValueRef::Text(id) | ValueRef::Blob(id)) => String::from_utf8_lossy(id).into_owned(),
        _ => "of unknown id".to_owned(),
    }
}

/// An enum variant, stored under its name in JSON.
pub(crate) struct Variant<T>(pub(crate) T);

impl<T: DeserializeOwned> FromSql for Variant<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let name = Value::from(value.as_str()?);
        let variant = serde_json::from_value(name);
        variant.map(Self).map_err(FromSqlError::other)
    }
}

/// Reads a figure, which must be finite.
pub(crate) fn finite(row: &Row<'_>, index: usize) -> Result<f64, Error> {
    let cause = || Error::FromSqlConversionFailure(index, Type::Real, "not finite".into());
    let figure: f64 = row.get(index)?;
    figure.is_finite().then_some(figure).ok_or_else(cause)
}

/// Reads a figure that may be absent.
pub(crate) fn finite_or_none(row: &Row<'_>, index: usize) -> Result<Option<f64>, Error> {
    match row.get_ref(index)? {
        ValueRef::Null => Ok(None),
        _ => finite(row, index).map(Some),
    }
}
