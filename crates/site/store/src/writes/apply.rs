//! Applying acts to the records that are there, a few in each transaction.
//!
//! Each act has tasks: places in which records are whose standing it may change, each read from the last arrival to the
//! first. A task knows the last record that was read, so that a process that was killed goes on there. Records are decided
//! on by all acts in force, not by that of the task: the order in which tasks are done does not matter.

use cardmark_share::{TAG_BYTES, from_hexadecimal};
use sqlx::AnyConnection;
use uuid::Uuid;

use crate::database::sql::{Columns as _, Result, Value, row, rows, run, values};
use crate::tables::batch::Batch;
use crate::tables::counting;
use crate::tables::facets::Facet;
use crate::tables::record::{self, Stored};
use crate::types::SiteStoreError;

/// Records of a transaction.
const TOGETHER: usize = 16;

/// Records of a task, from one place in its order to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) act: i64,
    pub(crate) place: String,
    from: (i64, Vec<u8>),
    /// `None` at the end.
    to: Option<(i64, Vec<u8>)>,
    pub(crate) ids: Vec<Uuid>,
}

/// Decides on the records of a step again; returns false if another process did so before.
pub(crate) async fn step(batch: &mut Batch<'_>, step: &Step) -> Result<bool> {
    let text = "select received_ms, record from tasks where act = $1 and place = $2";
    let task = row(batch.connection, text, values![step.act, &step.place]).await?;
    let at = task.map(|row| Ok::<_, SiteStoreError>((row.integer(0)?, row.bytes(1)?)));
    if at.transpose()?.as_ref() != Some(&step.from) {
        return Ok(false);
    }
    for id in &step.ids {
        if let Some(stored) = record::stored(batch.connection, *id).await? {
            decide(batch, stored).await?;
        }
    }
    let key = values![step.act, &step.place];
    match &step.to {
        Some((received_ms, id)) => {
            let text =
                "update tasks set received_ms = $3, record = $4 where act = $1 and place = $2";
            let at = values![*received_ms, id];
            run(batch.connection, text, [key, at].concat()).await?;
        }
        None => {
            let text = "delete from tasks where act = $1 and place = $2";
            run(batch.connection, text, key).await?;
        }
    }
    Ok(true)
}

/// Brings state and product of a record up to date.
async fn decide(batch: &mut Batch<'_>, stored: Stored) -> Result<()> {
    let standing = batch
        .decisions()
        .standing(&stored.subject(), &stored.head.checks);
    if standing == stored.standing {
        return Ok(());
    }
    let before = stored.placed.clone();
    let placed = record::stand(batch.connection, stored, standing).await?;
    if placed != before {
        counting::remove(batch, &before).await?;
        counting::add(batch, &placed).await?;
    }
    Ok(())
}

pub(crate) async fn next_step(
    connection: &mut AnyConnection,
    act: Option<i64>,
) -> Result<Option<Step>> {
    let (least, most) = act.map_or((i64::MIN, i64::MAX), |act| (act, act));
    let text = "select act, place, received_ms, record from tasks where act >= $1 and act <= $2 \
                order by act, place limit 1";
    let Some(task) = row(connection, text, values![least, most]).await? else {
        return Ok(None);
    };
    let (place, from) = (task.text(1)?, (task.integer(2)?, task.bytes(3)?));
    let found = match place.strip_prefix("record:") {
        Some(id) => vec![(0, id.parse().map_err(|_| damaged())?)],
        None => next_records(connection, &place, &from).await?,
    };
    let is_last = place.starts_with("record:") || found.len() < TOGETHER;
    let last = found.last().filter(|_| !is_last);
    Ok(Some(Step {
        act: task.integer(0)?,
        from,
        to: last.map(|(received_ms, id)| (*received_ms, id.as_bytes().to_vec())),
        ids: found.into_iter().map(|(_, id)| id).collect(),
        place,
    }))
}

async fn next_records(
    connection: &mut AnyConnection,
    place: &str,
    from: &(i64, Vec<u8>),
) -> Result<Vec<(i64, Uuid)>> {
    let (table, column, value) = index(place).ok_or_else(damaged)?;
    let text = format!(
        "select received_ms, id from {table} where {column} = $1 and (received_ms, id) < ($2, $3) \
         order by received_ms desc, id desc limit {TOGETHER}"
    );
    let values = vec![value, from.0.into(), from.1.clone().into()];
    let found = rows(connection, text, values).await?;
    found
        .iter()
        .map(|row| Ok((row.integer(0)?, row.uuid(1)?)))
        .collect()
}

/// Table, column and value of the index that lists the records of a place.
fn index(place: &str) -> Option<(&'static str, &'static str, Value)> {
    let (kind, name) = place.split_once(':')?;
    Some(match kind {
        "tag" => {
            let tag: [u8; TAG_BYTES] = from_hexadecimal(name)?;
            ("records", "tag", tag.to_vec().into())
        }
        "product" => {
            let facet = Facet {
                is_simulated: false,
                product: Some(name),
                board: None,
                suite: None,
            };
            ("facets", "facet", facet.key().into())
        }
        "switch" => {
            let act: i64 = name.parse().ok()?;
            ("records", "quarantined_by", act.into())
        }
        _ => return None,
    })
}

fn damaged() -> SiteStoreError {
    SiteStoreError::Damaged("a task cannot be read")
}
