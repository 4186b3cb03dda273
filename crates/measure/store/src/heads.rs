//! Columns of all records at once, without their documents.

use std::collections::BTreeMap;
use std::sync::Arc;

use cardmark_core::{OriginKind, Record};
use rusqlite::types::Type;
use rusqlite::{Connection, Error, Row};

use crate::damage::{self, Variant, collect, refuse};
use crate::failure::Failure;

const LABEL_DAMAGE: &str = "a label is not readable";

/// Labels of a record, by name.
pub type Labels = BTreeMap<String, String>;
type Context = BTreeMap<String, String>;

/// A row of `heads` without the head itself, which is long.
pub(crate) struct Head {
    pub(crate) run: String,
    pub(crate) suite: Option<String>,
    pub(crate) origin: OriginKind,
    pub(crate) board: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) card: Option<String>,
    pub(crate) context: Arc<Context>,
    /// Labels as they stand.
    pub(crate) labels: Labels,
}

/// Returns the heads of all records in the order of storing.
pub(crate) fn heads(connection: &Connection) -> Result<Vec<Head>, Failure> {
    refuse(connection, damage::HEADS)?;
    let mut contexts = BTreeMap::new();
    let mut heads = collect(
        connection,
        "SELECT record_id, suite, origin_kind, board, model, card, context \
         FROM heads ORDER BY sequence",
        [],
        "its head is not readable",
        |row| head(row, &mut contexts),
    )?;
    let mut labels = labels(connection)?;
    for head in &mut heads {
        head.labels = labels.remove(&head.run).unwrap_or_default();
    }
    Ok(heads)
}

fn head(row: &Row<'_>, contexts: &mut BTreeMap<String, Arc<Context>>) -> Result<Head, Error> {
    let text: String = row.get(6)?;
    // Most runs share a few contexts.
    let context = match contexts.get(&text) {
        Some(known) => Arc::clone(known),
        None => {
            let parsed = serde_json::from_str(&text)
                .map_err(|error| Error::FromSqlConversionFailure(6, Type::Text, error.into()))?;
            Arc::clone(contexts.entry(text).or_insert(Arc::new(parsed)))
        }
    };
    Ok(Head {
        run: row.get(0)?,
        suite: row.get(1)?,
        origin: row.get::<_, Variant<_>>(2)?.0,
        board: row.get(3)?,
        model: row.get(4)?,
        card: row.get(5)?,
        context,
        labels: Labels::new(),
    })
}

/// Returns the briefs of all records in the order of storing, with the labels as they stand. The store wrote them: no limits of
/// documents are checked.
pub(crate) fn briefs(connection: &Connection) -> Result<Vec<Record>, Failure> {
    refuse(connection, damage::HEADS)?;
    let mut labels = labels(connection)?;
    collect(
        connection,
        "SELECT record_id, brief FROM heads ORDER BY sequence",
        [],
        "its brief is not readable",
        |row| {
            let run: String = row.get(0)?;
            let refuse = |cause: Box<dyn std::error::Error + Send + Sync>| {
                Error::FromSqlConversionFailure(1, Type::Text, cause)
            };
            let text = row.get_ref(1)?.as_str()?;
            let mut record: Record =
                serde_json::from_str(text).map_err(|error| refuse(error.into()))?;
            if record.id.to_string() != run {
                return Err(refuse("of another run".into()));
            }
            record.labels = labels.remove(&run).unwrap_or_default();
            Ok(record)
        },
    )
}

/// Returns the labels of all records by run.
fn labels(connection: &Connection) -> Result<BTreeMap<String, Labels>, Failure> {
    refuse(connection, damage::LABELS)?;
    let mut labels: BTreeMap<String, Labels> = BTreeMap::new();
    collect(
        connection,
        "SELECT record_id, key, value FROM labels",
        [],
        LABEL_DAMAGE,
        |row| {
            let of_run = labels.entry(row.get(0)?).or_default();
            of_run.insert(row.get(1)?, row.get(2)?);
            Ok(())
        },
    )?;
    Ok(labels)
}

/// Returns the labels of one record.
pub(crate) fn labels_of(connection: &Connection, run: &str) -> Result<Labels, Failure> {
    let labels = collect(
        connection,
        "SELECT record_id, key, value FROM labels WHERE record_id = ?1",
        [run],
        LABEL_DAMAGE,
        |row| Ok((row.get(1)?, row.get(2)?)),
    )?;
    Ok(labels.into_iter().collect())
}
