//! Many records at once, without their trials: those that fulfil some conditions.

use std::collections::BTreeMap;

use cardmark_core::Record;
use sqlx::sqlite::SqliteConnection;
use sqlx::{QueryBuilder, Sqlite};

use crate::store::parse;
use crate::{Store, StoreError};

/// Subjects of a condition in addition to labels, with their columns.
const NAMES: [(&str, &str); 9] = [
    ("suite", "heads.suite"),
    ("origin", "heads.origin_kind"),
    ("source", "json_extract(heads.head, '$.origin.source')"),
    ("board", "heads.board"),
    ("model", "heads.model"),
    ("card", "heads.card"),
    (
        "prepared",
        "json_extract(heads.head, '$.devices[0].prepared.fill')",
    ),
    (
        "command_queue",
        "json_extract(heads.context, '$.command_queue')",
    ),
    ("bus", "json_extract(heads.context, '$.bus')"),
];

/// Size of the first device, bytes.
const SIZE: &str = "json_extract(heads.head, '$.devices[0].size_bytes')";

/// A record must have this value under this name: one of `suite`, `origin`, `source`, `board`,
/// `model`, `card`, `prepared`, `command_queue`, `bus`, `capacity` (bytes, as on the label:
/// [`has_capacity`]), or else a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

/// The sizes, bytes, from least to most, of devices that are sold with that capacity: a card of 64 GB has
/// 59 to 65 GB.
fn sizes_sold_as(capacity_bytes: u64) -> (u64, u64) {
    let twentieth = capacity_bytes / 20;
    (capacity_bytes - 2 * twentieth, capacity_bytes + twentieth)
}

/// Returns whether a device of that size is sold with that capacity.
#[must_use]
pub fn has_capacity(size_bytes: u64, capacity_bytes: u64) -> bool {
    let (least, most) = sizes_sold_as(capacity_bytes);
    (least..=most).contains(&size_bytes)
}

impl Store {
    /// Returns the records that fulfil all conditions, in the order of storing, with their current labels, and
    /// without trials and readings.
    ///
    /// # Errors
    /// If the store fails, or a document cannot be read.
    pub fn select(&mut self, conditions: &[Condition]) -> Result<Vec<Record>, StoreError> {
        self.check_heads()?;
        let connection = &mut self.connection;
        let selecting = async {
            let heads = heads(connection, conditions).await?;
            let labels = labels(connection, conditions).await?;
            Ok((heads, labels))
        };
        let (heads, labels) = match self.runtime.block_on(selecting) {
            Ok(found) => found,
            Err(error) => return Err(self.explain_head(error)),
        };
        let mut records: Vec<Record> = heads
            .iter()
            .map(|(id, head)| parse(id, head))
            .collect::<Result<_, _>>()?;
        let mut places = BTreeMap::new();
        for (index, record) in records.iter_mut().enumerate() {
            record.labels.clear();
            places.insert(record.id.to_string(), index);
        }
        for (id, key, value) in labels {
            if let Some(record) = places.get(&id).and_then(|index| records.get_mut(*index)) {
                record.labels.insert(key, value);
            }
        }
        Ok(records)
    }
}

async fn heads(
    connection: &mut SqliteConnection,
    conditions: &[Condition],
) -> Result<Vec<(String, String)>, sqlx::Error> {
    let mut query = QueryBuilder::<Sqlite>::new("SELECT record_id, head FROM heads");
    add(&mut query, conditions);
    query.push(" ORDER BY sequence");
    query.build_query_as().fetch_all(connection).await
}

async fn labels(
    connection: &mut SqliteConnection,
    conditions: &[Condition],
) -> Result<Vec<(String, String, String)>, sqlx::Error> {
    let mut query = QueryBuilder::<Sqlite>::new(
        "SELECT record_id, key, value FROM labels WHERE record_id IN (SELECT record_id FROM heads",
    );
    add(&mut query, conditions);
    query.push(")");
    query.build_query_as().fetch_all(connection).await
}

/// `WHERE …`, or nothing without conditions.
fn add(query: &mut QueryBuilder<Sqlite>, conditions: &[Condition]) {
    for (index, condition) in conditions.iter().enumerate() {
        query.push(if index == 0 { " WHERE " } else { " AND " });
        let known = NAMES.iter().find(|(name, _)| *name == condition.name);
        if condition.name == "capacity" {
            let (least, most) = sizes_sold_as(condition.value.parse().unwrap_or(0));
            query
                .push(SIZE)
                .push(" BETWEEN ")
                .push_bind(least.cast_signed());
            query.push(" AND ").push_bind(most.cast_signed());
        } else if let Some((_, expression)) = known {
            query
                .push(expression)
                .push(" = ")
                .push_bind(condition.value.clone());
        } else {
            query
                .push("EXISTS (SELECT 1 FROM labels l WHERE l.record_id = heads.record_id AND l.key = ")
                .push_bind(condition.name.clone());
            query
                .push(" AND l.value = ")
                .push_bind(condition.value.clone());
            query.push(")");
        }
    }
}
