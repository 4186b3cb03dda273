//! Kinds of writes.

use uuid::Uuid;

use crate::batch::Batch;
use crate::locks::Locks;
use crate::packs::{PackWork, Placed};
use crate::sql::{Result, run, values};
use crate::types::{Amended, Amendment, Incoming, Put, Rederived, Withdrawn};
use crate::{change, load, products, put, seeds, totals};

/// A write.
#[derive(Debug)]
pub(crate) enum Work {
    Put(Box<Incoming>),
    /// Many new records, without summaries.
    Load(Vec<Incoming>),
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
        derived: Box<Rederived>,
    },
    RebuildProducts(Vec<String>),
    RebuildTotals,
    Packs(PackWork),
}

/// Result of a write.
#[derive(Debug)]
pub(crate) enum Outcome {
    Put(Put),
    Amended(Amended),
    Withdrawn(Withdrawn),
    Placed(Placed),
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
            Self::Packs(work) => work.execute(batch).await,
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
            Self::Rederive { id, derived } => change::rederive(batch, id, *derived).await,
            Self::Load(records) => {
                load::load(batch, &records).await?;
                Ok(true)
            }
            Self::RebuildProducts(keys) => {
                for product in keys {
                    products::rebuild(batch, &product).await?;
                }
                Ok(true)
            }
            Self::RebuildTotals => {
                totals::rebuild(batch).await?;
                Ok(true)
            }
            Self::Put(_) | Self::Amend { .. } | Self::Withdraw { .. } | Self::Packs(_) => Ok(false),
        }
    }

    /// Returns whether it needs a transaction of its own. `RebuildTotals` locks the table of boards: two that had changed a board
    /// before would wait for each other forever.
    pub(crate) fn is_alone(&self) -> bool {
        matches!(self, Self::RebuildTotals)
    }

    /// The stored record that it changes.
    pub(crate) fn changed_record(&self) -> Option<Uuid> {
        match self {
            Self::Amend { id, .. } | Self::Withdraw { id, .. } | Self::Rederive { id, .. } => {
                Some(*id)
            }
            _ => None,
        }
    }

    /// Adds locks of all that it reads or changes, but for those of the present product of a stored record.
    pub(crate) fn lock(&self, ids: &mut Locks, others: &mut Locks) {
        if let Some(id) = self.changed_record() {
            ids.add_id(id.as_bytes());
        }
        let extract = match self {
            Self::Put(incoming) => {
                ids.add_id(incoming.extract.id.as_bytes());
                for bucket in &incoming.limits {
                    others.add("limit", bucket.key);
                }
                Some(&incoming.extract)
            }
            Self::Load(records) => {
                for incoming in records {
                    ids.add_id(incoming.extract.id.as_bytes());
                }
                None
            }
            Self::Amend { amendment, .. } => {
                for bucket in &amendment.limits {
                    others.add("limit", bucket.key);
                }
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
            Self::Packs(work) => {
                work.lock(ids, others);
                None
            }
            Self::Withdraw { .. } | Self::RebuildTotals => None,
        };
        if let Some(extract) = extract {
            others.add_some("product", extract.product_key());
            others.add_some("board", extract.board.as_ref());
            others.add_some("evidence", extract.evidence.as_ref());
            others.add_some("seed", extract.seed.as_ref());
        }
    }
}
