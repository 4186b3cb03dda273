//! Extracts of a record and the rows they make.

use cardmark_core::{Context, Metric, Record, record_to_json};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::query;
use sqlx::sqlite::SqliteConnection;

/// The name of a variant, as records spell it.
pub(crate) fn name(value: impl Serialize) -> Option<String> {
    match serde_json::to_value(value) {
        Ok(Value::String(name)) => Some(name),
        _ => None,
    }
}

/// The variant of that name, when this version knows it.
pub(crate) fn variant<T: DeserializeOwned>(name: String) -> Option<T> {
    serde_json::from_value(Value::String(name)).ok()
}

/// Writes a record and its extracts. To be called within a transaction.
pub(crate) async fn insert(
    connection: &mut SqliteConnection,
    record: &Record,
    document: &str,
    now: i64,
) -> Result<(), sqlx::Error> {
    let id = record.id.to_string();
    query(
        "INSERT INTO records (id, started_at, stored_at, suite, suite_version, target_kind, \
         origin_kind, document) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(&id)
    .bind(&record.started_at)
    .bind(now)
    .bind(record.suite.as_ref().map(|suite| &suite.name))
    .bind(record.suite.as_ref().map(|suite| suite.version))
    .bind(record.target.as_ref().and_then(|target| name(target.kind)))
    .bind(name(record.origin.kind))
    .bind(document)
    .execute(&mut *connection)
    .await?;
    insert_head(connection, &id, record).await?;
    insert_metrics(connection, &id, &record.metrics).await?;
    for (key, value) in &record.labels {
        set_label(connection, &id, key, value, now).await?;
    }
    Ok(())
}

/// Inserts the data that queries over many records need; the record of that id must exist.
async fn insert_head(
    connection: &mut SqliteConnection,
    id: &str,
    record: &Record,
) -> Result<(), sqlx::Error> {
    let head = Record {
        trials: Vec::new(),
        sensors: Vec::new(),
        ..record.clone()
    };
    let context = serde_json::to_string(&Context::of(record).must).map_err(unwritable)?;
    let head = record_to_json(&head).map_err(unwritable)?;
    let device = record.devices.first();
    query(
        "INSERT INTO heads (sequence, record_id, started_at, suite, origin_kind, board, model, card, \
         context, head) SELECT sequence, id, started_at, suite, origin_kind, ?, ?, ?, ?, ? \
         FROM records WHERE id = ?",
    )
    .bind(record.board.as_ref().and_then(|board| board.model.clone()))
    .bind(device.and_then(|device| device.model.clone()))
    .bind(device.and_then(|device| device.sample_id.clone()))
    .bind(context)
    .bind(head)
    .bind(id)
    .execute(connection)
    .await?;
    Ok(())
}

fn unwritable(error: serde_json::Error) -> sqlx::Error {
    sqlx::Error::Encode(Box::new(error))
}

/// Puts a record in the place of the one of the same id, as the one stored last. Labels stay: id
/// and labels of a simulated run belong together, so that those of both records are the same.
/// To be called within a transaction.
pub(crate) async fn replace(
    connection: &mut SqliteConnection,
    record: &Record,
    document: &str,
    now: i64,
) -> Result<(), sqlx::Error> {
    let id = record.id.to_string();
    query(
        "UPDATE records SET sequence = (SELECT max(sequence) + 1 FROM records), started_at = ?, \
         stored_at = ?, suite = ?, suite_version = ?, target_kind = ?, origin_kind = ?, \
         document = ? WHERE id = ?",
    )
    .bind(&record.started_at)
    .bind(now)
    .bind(record.suite.as_ref().map(|suite| &suite.name))
    .bind(record.suite.as_ref().map(|suite| suite.version))
    .bind(record.target.as_ref().and_then(|target| name(target.kind)))
    .bind(name(record.origin.kind))
    .bind(document)
    .bind(&id)
    .execute(&mut *connection)
    .await?;
    for extract in [
        "DELETE FROM metrics WHERE record_id = ?",
        "DELETE FROM heads WHERE record_id = ?",
    ] {
        query(extract).bind(&id).execute(&mut *connection).await?;
    }
    insert_head(connection, &id, record).await?;
    insert_metrics(connection, &id, &record.metrics).await
}

async fn insert_metrics(
    connection: &mut SqliteConnection,
    record_id: &str,
    metrics: &[Metric],
) -> Result<(), sqlx::Error> {
    for (position, metric) in (0_i64..).zip(metrics) {
        insert_metric(connection, record_id, position, metric).await?;
    }
    Ok(())
}

async fn insert_metric(
    connection: &mut SqliteConnection,
    record_id: &str,
    position: i64,
    metric: &Metric,
) -> Result<(), sqlx::Error> {
    query(
        "INSERT INTO metrics (record_id, position, id, quantity, value, low, high, is_voided) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(record_id)
    .bind(position)
    .bind(&metric.id)
    .bind(name(metric.quantity))
    .bind(metric.value)
    .bind(metric.low)
    .bind(metric.high)
    .bind(metric.voided_by().is_some())
    .execute(connection)
    .await?;
    Ok(())
}

/// Sets a label, over an earlier value.
pub(crate) async fn set_label(
    connection: &mut SqliteConnection,
    record_id: &str,
    key: &str,
    value: &str,
    now: i64,
) -> Result<(), sqlx::Error> {
    query(
        "INSERT INTO labels (record_id, key, value, set_at) VALUES (?, ?, ?, ?) \
         ON CONFLICT (record_id, key) DO UPDATE SET value = excluded.value, set_at = excluded.set_at",
    )
    .bind(record_id)
    .bind(key)
    .bind(value)
    .bind(now)
    .execute(connection)
    .await?;
    Ok(())
}

/// Takes a label away.
pub(crate) async fn remove_label(
    connection: &mut SqliteConnection,
    record_id: &str,
    key: &str,
) -> Result<(), sqlx::Error> {
    query("DELETE FROM labels WHERE record_id = ? AND key = ?")
        .bind(record_id)
        .bind(key)
        .execute(connection)
        .await?;
    Ok(())
}

/// The first metric whose figures are not finite.
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
