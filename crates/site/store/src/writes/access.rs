//! Accounts and sessions of moderators.

use crate::database::sql::{Result, run, values};
use crate::decisions::types::Account;
use crate::tables::batch::Batch;
use crate::tables::limits::charge;
use crate::types::{Bucket, Limit};

/// A change of accounts or sessions.
#[derive(Clone, Debug)]
pub(crate) enum Access {
    Add(Box<Account>),
    /// With all sessions.
    Remove(String),
    /// Uses up a step of one-time codes, and those before it.
    TakeStep {
        account: String,
        step: i64,
    },
    Begin {
        hash: [u8; 32],
        account: String,
        at_ms: i64,
    },
    Use {
        hash: [u8; 32],
        at_ms: i64,
    },
    End([u8; 32]),
    /// Ends all sessions that began before a time.
    EndBefore(i64),
}

impl Access {
    /// Returns whether it changed anything.
    pub(crate) async fn execute(self, batch: &mut Batch<'_>) -> Result<bool> {
        let connection = &mut *batch.connection;
        let (text, values) = match self {
            Self::Add(account) => (
                "insert into accounts (name, password, salt, memory_kib, passes, totp, totp_step, created_ms) \
                 values ($1, $2, $3, $4, $5, $6, 0, $7) on conflict do nothing",
                values![
                    account.name,
                    &account.password.hash,
                    &account.password.salt,
                    i64::from(account.password.memory_kib),
                    i64::from(account.password.passes),
                    account.totp,
                    account.created_ms,
                ],
            ),
            Self::Remove(name) => {
                let text = "delete from sessions where account = $1";
                run(connection, text, values![&name]).await?;
                ("delete from accounts where name = $1", values![name])
            }
            Self::TakeStep { account, step } => (
                "update accounts set totp_step = $2 where name = $1 and totp_step < $2",
                values![account, step],
            ),
            Self::Begin {
                hash,
                account,
                at_ms,
            } => (
                "insert into sessions (hash, account, created_ms, used_ms) \
                 select $1, name, $3, $3 from accounts where name = $2",
                values![&hash, account, at_ms],
            ),
            Self::Use { hash, at_ms } => (
                "update sessions set used_ms = $2 where hash = $1 and used_ms < $2",
                values![&hash, at_ms],
            ),
            Self::End(hash) => ("delete from sessions where hash = $1", values![&hash]),
            Self::EndBefore(before_ms) => (
                "delete from sessions where created_ms < $1",
                values![before_ms],
            ),
        };
        Ok(run(connection, text, values).await? > 0)
    }
}

/// Takes a token from each bucket.
pub(crate) async fn charged(
    batch: &mut Batch<'_>,
    limits: &[Bucket],
    at_ms: i64,
) -> Result<Option<Limit>> {
    charge(batch.connection, limits, at_ms).await
}
