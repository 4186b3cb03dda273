//! Accounts and sessions of moderators.

use sqlx::any::AnyRow;

use crate::batch::Batch;
use crate::limits::charge;
use crate::moderation::types::{Account, PasswordHash};
use crate::sql::{Columns as _, Result, row, rows, run, values};
use crate::store::SiteStore;
use crate::types::{Bucket, Limit, SiteStoreError};
use crate::work::{Outcome, Work};

/// Time after which a session ends: 12 hours.
const SESSION_MS: i64 = 12 * 3_600_000;
/// Time after which an unused session ends: an hour.
const IDLE_MS: i64 = 3_600_000;
/// Time after which the use of a session is noted again: a minute.
const NOTED_MS: i64 = 60_000;

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

impl SiteStore {
    async fn access(&self, access: Access) -> Result<bool> {
        match self.write_patiently(Work::Access(access)).await? {
            Outcome::Done(is_done) => Ok(is_done),
            _ => Err(SiteStoreError::Damaged("an access had another outcome")),
        }
    }

    /// Adds an account; returns false if there is one of this name.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn add_account(&self, account: Account) -> Result<bool> {
        self.access(Access::Add(Box::new(account))).await
    }

    /// Removes an account and ends its sessions; returns false if there is none of this name. Its acts stay.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn remove_account(&self, name: &str) -> Result<bool> {
        self.access(Access::Remove(name.to_owned())).await
    }

    /// All accounts, by name.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn accounts(&self) -> Result<Vec<Account>> {
        let text = format!("select {ACCOUNT} from accounts order by name");
        let found = rows(&mut *self.main().await?, text, vec![]).await?;
        found.iter().map(account_of).collect()
    }

    /// Finds an account.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn account(&self, name: &str) -> Result<Option<Account>> {
        let text = format!("select {ACCOUNT} from accounts where name = $1");
        let found = row(&mut *self.main().await?, text, values![name]).await?;
        found.as_ref().map(account_of).transpose()
    }

    /// Uses up a step of one-time codes; returns false if it, or a later one, was used before.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn take_step(&self, account: &str, step: i64) -> Result<bool> {
        let account = account.to_owned();
        self.access(Access::TakeStep { account, step }).await
    }

    /// Begins a session of an account under the SHA-256 of its token; returns false if the account is gone.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn begin_session(&self, hash: [u8; 32], account: &str, at_ms: i64) -> Result<bool> {
        let account = account.to_owned();
        self.access(Access::Begin {
            hash,
            account,
            at_ms,
        })
        .await
    }

    /// The account of a session that has not ended by now, and notes its use. A session ends after 12 hours, or after an hour
    /// without use.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn session(&self, hash: [u8; 32], now_ms: i64) -> Result<Option<String>> {
        let text = "select account, created_ms, used_ms from sessions where hash = $1";
        let found = row(&mut *self.main().await?, text, values![&hash]).await?;
        let Some(found) = found else { return Ok(None) };
        let (created_ms, used_ms) = (found.integer(1)?, found.integer(2)?);
        if now_ms - created_ms >= SESSION_MS || now_ms - used_ms >= IDLE_MS {
            return Ok(None);
        }
        if now_ms - used_ms >= NOTED_MS {
            let at_ms = now_ms;
            self.access(Access::Use { hash, at_ms }).await?;
        }
        found.text(0).map(Some)
    }

    /// Ends a session; returns false if there is none.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn end_session(&self, hash: [u8; 32]) -> Result<bool> {
        self.access(Access::End(hash)).await
    }

    /// Takes a token from each bucket, or none from any if one is empty.
    ///
    /// # Errors
    /// If too many writes wait, or the database fails.
    pub async fn charge(&self, limits: Vec<Bucket>, at_ms: i64) -> Result<Option<Limit>> {
        match self.write(Work::Charge { limits, at_ms }).await? {
            Outcome::Charged(limit) => Ok(limit),
            _ => Err(SiteStoreError::Damaged("a charge had another outcome")),
        }
    }

    /// Deletes sessions that have ended.
    pub(crate) async fn purge_sessions(&self, now_ms: i64) -> Result<u64> {
        let before_ms = now_ms.saturating_sub(SESSION_MS);
        self.access(Access::EndBefore(before_ms))
            .await
            .map(u64::from)
    }
}

const ACCOUNT: &str = "name, password, salt, memory_kib, passes, totp, created_ms";

fn account_of(row: &AnyRow) -> Result<Account> {
    let count = |column| {
        let count = row.integer(column)?;
        u32::try_from(count).map_err(|_| SiteStoreError::Damaged("an account cannot be read"))
    };
    Ok(Account {
        name: row.text(0)?,
        password: PasswordHash {
            hash: row.fixed(1)?,
            salt: row.fixed(2)?,
            memory_kib: count(3)?,
            passes: count(4)?,
        },
        totp: row.bytes(5)?,
        created_ms: row.integer(6)?,
    })
}
