//! Answers of owners to a quarantine.

use uuid::Uuid;

use crate::batch::Batch;
use crate::limits::charge;
use crate::moderation::types::{Answered, OwnersAnswer, Switch};
use crate::record;
use crate::sql::{Columns as _, Result, insert, row, values};
use crate::store::SiteStore;
use crate::types::{Bucket, SiteStoreError, State};
use crate::work::{Outcome, Work};

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

impl SiteStore {
    /// Stores the answer of an owner to a quarantine, instead of an earlier one. It is deleted with the record.
    ///
    /// # Errors
    /// If too many writes wait, or the database fails.
    pub async fn answer(
        &self,
        id: Uuid,
        token_hash: [u8; 32],
        answer: OwnersAnswer,
        limits: Vec<Bucket>,
    ) -> Result<Answered> {
        let new = NewAnswer {
            id,
            token_hash,
            answer,
            limits,
        };
        match self.write(Work::Answer(Box::new(new))).await? {
            Outcome::Answered(answered) => Ok(answered),
            _ => Err(SiteStoreError::Damaged("an answer had another outcome")),
        }
    }

    /// The answer of the owner of a record.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn answer_of(&self, id: Uuid) -> Result<Option<OwnersAnswer>> {
        let text = "select answer, at_ms from answers where id = $1";
        let found = row(&mut *self.main().await?, text, values![id]).await?;
        found
            .map(|row| {
                Ok(OwnersAnswer {
                    text: row.text(0)?,
                    at_ms: row.integer(1)?,
                })
            })
            .transpose()
    }
}
