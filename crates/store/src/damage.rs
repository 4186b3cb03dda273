//! Damaged rows. An answer that leaves one out would be shorter than the truth, so reading ends
//! with an error that names the run.

use sqlx::query_scalar;
use sqlx::sqlite::SqliteConnection;
use thiserror::Error;

use crate::database::explain;
use crate::{Store, StoreError};

/// A row that differs from any that could have been stored. Travels inside [`sqlx::Error::Decode`].
#[derive(Debug, Error)]
#[error("run {run}: {what}")]
pub(crate) struct Damage {
    /// Id of the run, as far as it can be read.
    pub(crate) run: String,
    /// Part that is damaged.
    pub(crate) what: &'static str,
}

/// The error for a damaged row of a run.
pub(crate) fn damaged(run: &str, what: &'static str) -> sqlx::Error {
    sqlx::Error::Decode(Box::new(Damage {
        run: run.to_owned(),
        what,
    }))
}

/// A query for the first damaged row, and the part it checks.
type Check = (&'static str, &'static str);

/// Rows of `heads`, and records without one.
const HEADS: [Check; 2] = [
    (
        "its head is not readable",
        "SELECT CAST(record_id AS BLOB) FROM heads AS h WHERE typeof(record_id) <> 'text' \
         OR origin_kind NOT IN ('measured', 'simulated', 'imported', 'published') \
         OR typeof(started_at) NOT IN ('text', 'null') \
         OR typeof(suite) NOT IN ('text', 'null') OR typeof(board) NOT IN ('text', 'null') \
         OR typeof(model) NOT IN ('text', 'null') OR typeof(card) NOT IN ('text', 'null') \
         OR typeof(context) NOT IN ('text', 'null') OR typeof(head) <> 'text' \
         OR sequence IS NOT (SELECT sequence FROM records WHERE id = h.record_id) LIMIT 1",
    ),
    (
        "its head is missing",
        "SELECT CAST(id AS BLOB) FROM records \
         WHERE NOT EXISTS (SELECT 1 FROM heads WHERE record_id = records.id) LIMIT 1",
    ),
];

const LABELS: Check = (
    "a label is not readable",
    "SELECT CAST(record_id AS BLOB) FROM labels WHERE typeof(key) <> 'text' \
     OR typeof(value) <> 'text' OR typeof(record_id) <> 'text' \
     OR NOT EXISTS (SELECT 1 FROM records WHERE id = labels.record_id) LIMIT 1",
);

/// Ids of metrics that are no text sort behind all others.
const METRIC_IDS: Check = (
    "the id of a figure is not readable",
    "SELECT CAST(record_id AS BLOB) FROM metrics WHERE id >= x'' LIMIT 1",
);

/// Figures of one metric.
const FIGURES: Check = (
    "a figure is not readable",
    "SELECT CAST(record_id AS BLOB) FROM metrics WHERE id = ? AND (typeof(quantity) <> 'text' \
     OR typeof(value) <> 'real' OR abs(value) > 1.7976931348623157e308 \
     OR typeof(record_id) <> 'text' OR is_voided NOT IN (0, 1)) LIMIT 1",
);

/// The records stored last.
const RECENT: Check = (
    "its row is not readable",
    "SELECT CAST(id AS BLOB) FROM (SELECT id, started_at, suite, suite_version, target_kind, \
     origin_kind FROM records ORDER BY sequence DESC LIMIT ?) WHERE typeof(id) <> 'text' \
     OR typeof(started_at) NOT IN ('text', 'null') OR typeof(suite) NOT IN ('text', 'null') \
     OR typeof(suite_version) NOT IN ('integer', 'null') \
     OR typeof(target_kind) NOT IN ('text', 'null') OR typeof(origin_kind) <> 'text' LIMIT 1",
);

/// Figures of the records stored last.
const RECENT_FIGURES: Check = (
    "a figure is not readable",
    "SELECT CAST(record_id AS BLOB) FROM metrics WHERE (typeof(id) <> 'text' \
     OR typeof(quantity) <> 'text' OR typeof(value) <> 'real' \
     OR abs(value) > 1.7976931348623157e308) \
     AND record_id IN (SELECT id FROM records ORDER BY sequence DESC LIMIT ?) LIMIT 1",
);

/// Records stored last with more or fewer figures than their heads. If a head is not readable, only
/// gaps in the positions (0, 1, …) show.
const RECENT_COUNTS: Check = (
    "a figure is missing or added",
    "SELECT CAST(id AS BLOB) FROM (SELECT id FROM records ORDER BY sequence DESC LIMIT ?) AS r \
     WHERE (SELECT count(*) FROM metrics WHERE record_id = r.id) <> coalesce( \
     (SELECT CASE WHEN typeof(head) = 'text' AND json_valid(head) \
     THEN coalesce(json_array_length(head, '$.metrics'), 0) END FROM heads WHERE record_id = r.id), \
     (SELECT max(position) + 1 FROM metrics WHERE record_id = r.id), 0) LIMIT 1",
);

/// Labels of one run.
const LABELS_OF: Check = (
    "a label is not readable",
    "SELECT CAST(record_id AS BLOB) FROM labels WHERE record_id = ? \
     AND (typeof(key) <> 'text' OR typeof(value) <> 'text') LIMIT 1",
);

/// Heads whose JSON cannot be parsed; slow, so only for naming the run after a query failed.
const JSON: Check = (
    "its head is not readable",
    "SELECT CAST(record_id AS BLOB) FROM heads \
     WHERE NOT coalesce(json_valid(head), 0) OR NOT coalesce(json_valid(context), 1) LIMIT 1",
);

impl Store {
    /// Refuses damaged heads and labels.
    pub(crate) fn check_heads(&mut self) -> Result<(), StoreError> {
        for check in [HEADS[0], HEADS[1], LABELS] {
            let finding = async { first(&mut self.connection, check).await };
            self.runtime
                .block_on(finding)
                .map_err(explain(&self.path))?;
        }
        Ok(())
    }

    /// Refuses damaged figures of a metric.
    pub(crate) fn check_figures(&mut self, metric: &str) -> Result<(), StoreError> {
        let finding = async {
            first(&mut self.connection, METRIC_IDS).await?;
            let (what, sql) = FIGURES;
            let finding = query_scalar(sql).bind(metric);
            refuse(finding.fetch_optional(&mut self.connection).await?, what)
        };
        self.runtime.block_on(finding).map_err(explain(&self.path))
    }

    /// Refuses damaged labels of a run.
    pub(crate) fn check_labels(&mut self, run: &str) -> Result<(), StoreError> {
        let (what, sql) = LABELS_OF;
        let finding = async {
            let finding = query_scalar(sql).bind(run);
            refuse(finding.fetch_optional(&mut self.connection).await?, what)
        };
        self.runtime.block_on(finding).map_err(explain(&self.path))
    }

    /// Adds the name of the run to an error of a query that looks into heads.
    pub(crate) fn explain_head(&mut self, error: sqlx::Error) -> StoreError {
        let finding = async { first(&mut self.connection, JSON).await };
        let cause = match self.runtime.block_on(finding) {
            Err(found @ sqlx::Error::Decode(_)) => found,
            _ => error,
        };
        explain(&self.path)(cause)
    }
}

/// Refuses damaged rows of the records stored last.
pub(crate) async fn check_recent(
    connection: &mut SqliteConnection,
    limit: u32,
) -> Result<(), sqlx::Error> {
    for (what, sql) in [RECENT, RECENT_FIGURES, RECENT_COUNTS] {
        let finding = query_scalar(sql).bind(limit);
        refuse(finding.fetch_optional(&mut *connection).await?, what)?;
    }
    first(connection, LABELS).await
}

async fn first(connection: &mut SqliteConnection, check: Check) -> Result<(), sqlx::Error> {
    let (what, sql) = check;
    refuse(query_scalar(sql).fetch_optional(connection).await?, what)
}

fn refuse(run: Option<Vec<u8>>, what: &'static str) -> Result<(), sqlx::Error> {
    match run {
        // The id itself may be damaged.
        Some(run) => Err(damaged(&String::from_utf8_lossy(&run), what)),
        None => Ok(()),
    }
}
