//! Answers of owners to a quarantine.

use uuid::Uuid;

use crate::database::sql::{Result, insert, values};
use crate::decisions::types::{Answered, OwnersAnswer, Switch};
use crate::tables::batch::Batch;
use crate::tables::limits::charge;
use crate::tables::record;
use crate::types::{Bucket, State};

/// An answer that is to be stored.
#[derive(Clone, Debug)]
pub(crate) struct NewAnswer {
    pub(crate) id: Uuid,
    pub(crate) token_hash: [u8; 32],
    pub(crate) answer: OwnersAnswer,
    pub(crate) limits: Vec<Bucket>,
}

pub(crate) async fn answer(batch: &mut Batch<'_>, new: NewAnswer) -> Result<Answered> {
    let Some(stored) = record::stored(batch.connection, new.id).await? else {
        let tombstone = record::tombstone(batch.connection, new.id).await?;
        return Ok(tombstone.map_or(Answered::Unknown, |_| Answered::Gone));
    };
    if stored.token_hash != Some(new.token_hash) {
        return Ok(Answered::Forbidden);
    }
    if batch.decisions().switched_on(Switch::ReadOnly).is_some() {
        return Ok(Answered::ReadOnly);
    }
    if stored.head.state != State::Quarantined {
        return Ok(Answered::NotQuarantined);
    }
    let at_ms = new.answer.at_ms;
    if let Some(limit) = charge(batch.connection, &new.limits, at_ms).await? {
        return Ok(Answered::Limited(limit));
    }
    let change = "on conflict (id) do update set answer = excluded.answer, at_ms = excluded.at_ms";
    let row = values![new.id, new.answer.text, at_ms];
    insert(
        batch.connection,
        "answers (id, answer, at_ms)",
        change,
        vec![row],
    )
    .await?;
    Ok(Answered::Now(Box::new(stored.head)))
}
