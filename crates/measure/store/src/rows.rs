//! Writes a record and its extracts.

use cardmark_core::{
    Context, DeviceInfo, FindingKind, Metric, RateParts, Record, evidence_digest, name_of,
    record_to_json,
};
use rusqlite::{Connection, params};

use crate::failure::Failure;
use crate::{DocumentError, StoreError};

/// Effect of an insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// The record is new.
    New,
    /// The same record was stored before.
    Known,
    /// It replaced the record of a simulated run that had ended early.
    Replaced,
}

/// Converts to SQLite's integers, which end at 2⁶³ - 1. Devices and lists are smaller.
pub(crate) fn integer(value: impl TryInto<i64>) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}

/// Writes a record and its extracts as the one stored last. Replaces the record of the same id,
/// whose labels stay.
pub(crate) fn put(
    connection: &Connection,
    record: &Record,
    document: &[u8],
    stored_at: i64,
) -> Result<(), Failure> {
    let id = record.id.to_string();
    let suite = record.suite.as_ref();
    let mut statement = connection.prepare_cached(
        "INSERT INTO records (id, started_at, stored_at, suite, suite_version, target_kind, \
         origin_kind, metrics_count, document) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
         ON CONFLICT (id) DO UPDATE SET sequence = (SELECT max(sequence) + 1 FROM records), \
         started_at = excluded.started_at, stored_at = excluded.stored_at, \
         suite = excluded.suite, suite_version = excluded.suite_version, \
         target_kind = excluded.target_kind, origin_kind = excluded.origin_kind, \
         metrics_count = excluded.metrics_count, document = excluded.document",
    )?;
    statement.execute(params![
        id,
        record.started_at,
        stored_at,
        suite.map(|suite| &suite.name),
        suite.map(|suite| suite.version),
        record.target.as_ref().map(|target| name_of(&target.kind)),
        name_of(&record.origin.kind),
        integer(record.metrics.len()),
        document,
    ])?;
    put_head(connection, &id, record)?;
    put_metrics(connection, &id, record)
}

fn put_head(connection: &Connection, id: &str, record: &Record) -> Result<(), Failure> {
    let evidence = evidence_digest(record);
    let head = Record {
        workloads: Vec::new(),
        trials: Vec::new(),
        sensors: Vec::new(),
        ..record.clone()
    };
    let refuse = |error| StoreError::Document {
        id: id.to_owned(),
        source: DocumentError::Encode(error),
    };
    let context = serde_json::to_string(&Context::of(record).must).map_err(refuse)?;
    let brief = record_to_json(&brief(head.clone())).map_err(refuse)?;
    let head = record_to_json(&head).map_err(refuse)?;
    let device = record.devices.first();
    connection.execute("DELETE FROM heads WHERE record_id = ?1", [id])?;
    let mut statement = connection.prepare_cached(
        "INSERT INTO heads (sequence, record_id, suite, origin_kind, board, model, card, context, \
         brief, head, evidence) SELECT sequence, id, suite, origin_kind, ?2, ?3, ?4, ?5, ?6, ?7, ?8 \
         FROM records WHERE id = ?1",
    )?;
    statement.execute(params![
        id,
        record.board.as_ref().and_then(|board| board.model.as_ref()),
        device.and_then(|device| device.model.as_ref()),
        device.and_then(DeviceInfo::card_id),
        context,
        brief,
        head,
        evidence,
    ])?;
    Ok(())
}

/// A head without its map of the surface and with its rates alone, with value, interval, units and warnings.
fn brief(head: Record) -> Record {
    let brief = |metric: Metric| Metric {
        trials: Vec::new(),
        parts: metric.parts.map(|parts| RateParts {
            body: parts.body,
            ..RateParts::default()
        }),
        round_rates: None,
        ..metric
    };
    let metrics = head.metrics.into_iter();
    let rates = metrics.filter(|metric| metric.quantity.is_rate());
    Record {
        metrics: rates.map(brief).collect(),
        surface: Vec::new(),
        ..head
    }
}

fn put_metrics(connection: &Connection, id: &str, record: &Record) -> Result<(), Failure> {
    let mut findings = record.findings.iter();
    let is_unknown = findings.any(|finding| finding.kind == FindingKind::UnknownDevice);
    connection.execute("DELETE FROM metrics WHERE record_id = ?1", [id])?;
    let mut statement = connection.prepare_cached(
        "INSERT INTO metrics (record_id, position, id, quantity, value, half_width, is_voided) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (position, metric) in (0_i64..).zip(&record.metrics) {
        statement.execute(params![
            id,
            position,
            metric.id,
            name_of(&metric.quantity),
            metric.value,
            metric.half_width_ratio(),
            is_unknown || metric.voided_by().is_some(),
        ])?;
    }
    Ok(())
}

/// Sets a label or, without a value, removes it.
pub(crate) fn put_label(
    connection: &Connection,
    id: &str,
    key: &str,
    value: Option<&str>,
    now: i64,
) -> Result<(), Failure> {
    let Some(value) = value else {
        let sql = "DELETE FROM labels WHERE record_id = ?1 AND key = ?2";
        connection.execute(sql, [id, key])?;
        return Ok(());
    };
    let mut statement = connection.prepare_cached(
        "INSERT INTO labels (record_id, key, value, set_at) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (record_id, key) DO UPDATE SET value = excluded.value, set_at = excluded.set_at",
    )?;
    statement.execute(params![id, key, value, now])?;
    Ok(())
}

/// Returns the id of the first metric with a figure that is not finite.
pub(crate) fn not_finite(record: &Record) -> Option<&str> {
    let broken = |metric: &&Metric| {
        let optional = [
            metric.low,
            metric.high,
            metric.rate_bytes_per_s,
            metric.rate_low_bytes_per_s,
            metric.rate_high_bytes_per_s,
            metric.operations_per_s,
            metric.operations_low_per_s,
            metric.operations_high_per_s,
        ];
        !metric.value.is_finite()
            || optional
                .into_iter()
                .flatten()
                .any(|figure| !figure.is_finite())
    };
    record
        .metrics
        .iter()
        .find(broken)
        .map(|metric| metric.id.as_str())
}
