//! Kinds of writes.

use cardmark_share::{Area, Extract};
use uuid::Uuid;

use crate::database::locks::Locks;
use crate::database::sql::{Result, run, values};
use crate::decisions::types::{Answered, Moderated, NewAct};
use crate::decisions::{Decisions, Subject};
use crate::tables::batch::Batch;
use crate::tables::counting;
use crate::tables::record::own;
use crate::tables::seeds;
use crate::tables::totals;
use crate::types::{
    Amended, Amendment, Bucket, Incoming, Limit, Loaded, Put, Rederived, Removed, Withdrawn,
};
use crate::writes::access::{self, Access};
use crate::writes::acts;
use crate::writes::answers::{self, NewAnswer};
use crate::writes::apply::{self, Step};
use crate::writes::change;
use crate::writes::load;
use crate::writes::put;
use crate::writes::reweigh::{Reweigh, reweigh};

/// A write.
#[derive(Debug)]
pub(crate) enum Work {
    Put(Box<Incoming>),
    /// Many new records, without summaries.
    Load(Vec<Loaded>),
    /// Acts of another site, under their numbers.
    LoadActs(Vec<NewAct>),
    /// Withdrawals of records that are not there, with their times.
    LoadTombstones(Vec<(Uuid, i64)>),
    Amend {
        id: Uuid,
        token_hash: [u8; 32],
        amendment: Box<Amendment>,
    },
    Withdraw {
        id: Uuid,
        token_hash: [u8; 32],
        at_ms: i64,
    },
    /// Withdraws a record for the operator.
    Remove {
        id: Uuid,
        at_ms: i64,
    },
    IssueSeed {
        seed: String,
        at_ms: i64,
    },
    /// Deletes a seed that was issued before a time, and is not used.
    ForgetSeed {
        seed: String,
        before_ms: i64,
    },
    /// Deletes a bucket that was not touched since a time.
    ForgetLimit {
        key: Vec<u8>,
        before_ms: i64,
    },
    Rederive {
        id: Uuid,
        /// SHA-256 of the document.
        digest: [u8; 32],
        derived: Box<Rederived>,
    },
    RebuildProducts(Vec<String>),
    RebuildTotals,
    /// Records an act of a moderator.
    Act(Box<NewAct>),
    /// Applies an act to a few records.
    Decide(Step),
    /// Stores an owner's answer.
    Answer(Box<NewAnswer>),
    /// Changes accounts or sessions.
    Access(Access),
    /// Gives the figures of a submitter its present voice.
    Reweigh(Reweigh),
    /// Takes a token from each bucket.
    Charge {
        limits: Vec<Bucket>,
        at_ms: i64,
    },
}

/// Result of a write.
#[derive(Debug)]
pub(crate) enum Outcome {
    Put(Put),
    Amended(Amended),
    Withdrawn(Withdrawn),
    Removed(Removed),
    Moderated(Moderated),
    Answered(Answered),
    Charged(Option<Limit>),
    /// True if it changed anything.
    Done(bool),
}

impl Work {
    pub(crate) async fn execute(self, batch: &mut Batch<'_>) -> Result<Outcome> {
        match self {
            Self::Put(incoming) => put::put(batch, *incoming).await.map(Outcome::Put),
            Self::Amend {
                id,
                token_hash,
                amendment,
            } => {
                let amended = change::amend(batch, id, token_hash, *amendment).await;
                amended.map(Outcome::Amended)
            }
            Self::Withdraw {
                id,
                token_hash,
                at_ms,
            } => {
                let withdrawn = change::withdraw(batch, id, token_hash, at_ms).await;
                withdrawn.map(Outcome::Withdrawn)
            }
            Self::Remove { id, at_ms } => {
                change::remove(batch, id, at_ms).await.map(Outcome::Removed)
            }
            Self::Act(act) => acts::record(batch, *act).await.map(Outcome::Moderated),
            Self::Answer(new) => answers::answer(batch, *new).await.map(Outcome::Answered),
            Self::Charge { limits, at_ms } => {
                let charged = access::charged(batch, &limits, at_ms).await;
                charged.map(Outcome::Charged)
            }
            other => other.execute_other(batch).await.map(Outcome::Done),
        }
    }

    async fn execute_other(self, batch: &mut Batch<'_>) -> Result<bool> {
        match self {
            Self::IssueSeed { seed, at_ms } => seeds::issue(batch.connection, &seed, at_ms).await,
            Self::ForgetSeed { seed, before_ms } => {
                let count = seeds::forget(batch.connection, &seed, before_ms).await?;
                Ok(count > 0)
            }
            Self::ForgetLimit { key, before_ms } => {
                let text = "delete from limits where key = $1 and at_ms < $2";
                Ok(run(batch.connection, text, values![key, before_ms]).await? > 0)
            }
            Self::Rederive {
                id,
                digest,
                derived,
            } => change::rederive(batch, id, digest, *derived).await,
            Self::Load(records) => {
                load::load(batch, &records).await?;
                Ok(true)
            }
            Self::LoadActs(acts) => {
                acts::load(batch, &acts).await?;
                Ok(true)
            }
            Self::LoadTombstones(tombstones) => {
                load::load_tombstones(batch, tombstones).await?;
                Ok(true)
            }
            Self::RebuildProducts(keys) => {
                for product in keys {
                    counting::rebuild(batch, &product).await?;
                }
                Ok(true)
            }
            Self::RebuildTotals => {
                totals::rebuild(batch).await?;
                Ok(true)
            }
            Self::Decide(step) => apply::step(batch, &step).await,
            Self::Access(access) => access.execute(batch).await,
            Self::Reweigh(work) => reweigh(batch, &work).await,
            Self::Put(_)
            | Self::Amend { .. }
            | Self::Withdraw { .. }
            | Self::Remove { .. }
            | Self::Act(_)
            | Self::Answer(_)
            | Self::Charge { .. } => Ok(false),
        }
    }

    /// Returns whether it needs a transaction of its own. `RebuildTotals` locks the table of boards: two that had changed a board
    /// before would wait for each other forever. An act decides on what others of its transaction would have read.
    /// A rebuilt product forgets what others of its transaction are still to write.
    pub(crate) fn is_alone(&self) -> bool {
        matches!(
            self,
            Self::RebuildProducts(_) | Self::RebuildTotals | Self::Act(_) | Self::LoadActs(_)
        )
    }

    /// Returns whether it depends on decisions of moderators.
    pub(crate) fn follows_decisions(&self) -> bool {
        matches!(
            self,
            Self::Put(_)
                | Self::Load(_)
                | Self::Amend { .. }
                | Self::Rederive { .. }
                | Self::Act(_)
                | Self::LoadActs(_)
                | Self::Decide(_)
                | Self::Answer(_)
        )
    }

    /// The stored records that it changes.
    pub(crate) fn changed_records(&self) -> &[Uuid] {
        match self {
            Self::Amend { id, .. }
            | Self::Withdraw { id, .. }
            | Self::Remove { id, .. }
            | Self::Rederive { id, .. } => std::slice::from_ref(id),
            Self::Answer(new) => std::slice::from_ref(&new.id),
            Self::Decide(step) => &step.ids,
            _ => &[],
        }
    }

    /// Adds locks of all that it reads or changes, but for those of the present places of stored records.
    pub(crate) fn lock(&self, decisions: &Decisions, ids: &mut Locks, others: &mut Locks) {
        for id in self.changed_records() {
            ids.add_id(id.as_bytes());
        }
        let extract = match self {
            Self::Put(incoming) => {
                ids.add_id(incoming.extract.id.as_bytes());
                add_limits(others, incoming.limits.iter().chain(&incoming.newcomers));
                others.add_some("submitter", incoming.tag);
                Some(&incoming.extract)
            }
            Self::Load(records) => {
                for loaded in records {
                    ids.add_id(loaded.incoming.extract.id.as_bytes());
                }
                None
            }
            Self::LoadTombstones(tombstones) => {
                for (id, _) in tombstones {
                    ids.add_id(id.as_bytes());
                }
                None
            }
            Self::Amend { amendment, .. } => {
                add_limits(others, amendment.limits.iter().chain(&amendment.newcomers));
                Some(&amendment.extract)
            }
            Self::Rederive { derived, .. } => Some(&derived.extract),
            Self::IssueSeed { seed, .. } | Self::ForgetSeed { seed, .. } => {
                others.add("seed", seed);
                None
            }
            Self::ForgetLimit { key, .. } => {
                others.add("limit", key);
                None
            }
            Self::RebuildProducts(keys) => {
                for product in keys {
                    others.add("product", product);
                }
                None
            }
            Self::Answer(new) => {
                add_limits(others, &new.limits);
                None
            }
            Self::Charge { limits, .. } => {
                add_limits(others, limits);
                None
            }
            Self::Reweigh(work) => {
                others.add("submitter", work.tag);
                for product in &work.products {
                    others.add("product", product);
                }
                None
            }
            Self::Decide(step) => {
                others.add("task", format!("{} {}", step.act, step.place));
                None
            }
            Self::Withdraw { .. }
            | Self::Remove { .. }
            | Self::RebuildTotals
            | Self::Act(_)
            | Self::LoadActs(_)
            | Self::Access(_) => None,
        };
        if let Some(extract) = extract {
            others.add_some("product", product_of(decisions, extract));
            others.add_some("board", extract.board.as_ref());
            others.add_some("evidence", extract.evidence.as_ref());
            others.add_some("seed", extract.seed.as_ref());
        }
    }
}

fn add_limits<'a>(locks: &mut Locks, buckets: impl IntoIterator<Item = &'a Bucket>) {
    for bucket in buckets {
        locks.add("limit", bucket.key);
    }
}

/// Key of the product under which a record is to count.
fn product_of(decisions: &Decisions, extract: &Extract) -> Option<String> {
    let named = own(extract);
    let subject = Subject {
        id: extract.id,
        tag: None,
        quarantined_by: None,
        own: named.as_ref(),
        model: extract.model.as_deref(),
        is_simulated: extract.area == Area::Simulated,
    };
    decisions.product(&subject).map(|product| product.key)
}
