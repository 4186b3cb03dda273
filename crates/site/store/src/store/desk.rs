//! Methods of the store for moderation.

use sqlx::any::AnyRow;
use uuid::Uuid;

use crate::database::sql::{Columns as _, Result, row, rows, values};
use crate::decisions::deed_of;
use crate::decisions::types::{
    Account, Act, Answered, Moderated, NewAct, OwnersAnswer, PasswordHash,
};
use crate::queue::work::{Outcome, Work};
use crate::store::SiteStore;
use crate::types::{Bucket, Limit, SiteStoreError};
use crate::writes::access::Access;
use crate::writes::answers::NewAnswer;
use crate::writes::apply::next_step;

/// Time after which a session ends: 12 hours.
const SESSION_MS: i64 = 12 * 3_600_000;
/// Time after which an unused session ends: an hour.
const IDLE_MS: i64 = 3_600_000;
/// Time after which the use of a session is noted again: a minute.
const NOTED_MS: i64 = 60_000;

/// Columns of an [`Act`], in the order in which [`act_of`] reads them.
const ACT: &str = "a.number, a.at_ms, a.account, a.deed, a.reason, \
    (select u.number from acts u where u.undoes = a.number), \
    (select count(*) from tasks t where t.act = a.number)";

const ACCOUNT: &str = "name, password, salt, memory_kib, passes, totp, created_ms";

impl SiteStore {
    /// Records an act. [`Self::apply`] applies it to the records that are there; those that arrive later follow it at once.
    ///
    /// # Errors
    /// If too many writes wait, or the database fails.
    pub async fn moderate(&self, act: NewAct) -> Result<Moderated> {
        match self.write(Work::Act(Box::new(act))).await? {
            Outcome::Moderated(moderated) => Ok(moderated),
            _ => Err(SiteStoreError::Damaged("an act had another outcome")),
        }
    }

    /// Lists acts, the last first. `before` is the number of the last one shown.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn acts(&self, before: Option<i64>, limit: u32) -> Result<Vec<Act>> {
        let text =
            format!("select {ACT} from acts a where a.number < $1 order by a.number desc limit $2");
        let values = values![before.unwrap_or(i64::MAX), i64::from(limit)];
        let found = rows(&mut *self.main().await?, text, values).await?;
        found.iter().map(act_of).collect()
    }

    /// Finds an act.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn act(&self, number: i64) -> Result<Option<Act>> {
        let text = format!("select {ACT} from acts a where a.number = $1");
        let found = row(&mut *self.main().await?, text, values![number]).await?;
        found.as_ref().map(act_of).transpose()
    }

    /// Applies an act to all records that are there.
    ///
    /// # Errors
    /// If the database fails. What is left is applied by the next call.
    pub async fn apply(&self, act: i64) -> Result<()> {
        while self.apply_some(Some(act)).await? {}
        Ok(())
    }

    /// Applies all acts that are not applied yet.
    ///
    /// # Errors
    /// See [`Self::apply`].
    pub async fn apply_all(&self) -> Result<()> {
        while self.apply_some(None).await? {}
        Ok(())
    }

    /// Applies an act, or the first one, to a few records; returns false if nothing was left.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn apply_some(&self, act: Option<i64>) -> Result<bool> {
        let step = next_step(&mut *self.main().await?, act).await?;
        let Some(step) = step else { return Ok(false) };
        match self.write_patiently(Work::Decide(step)).await? {
            Outcome::Done(_) => Ok(true),
            _ => Err(SiteStoreError::Damaged("a decision had another outcome")),
        }
    }

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
        let text = "select s.account, s.created_ms, s.used_ms from sessions s join accounts a on a.name = s.account \
                    where s.hash = $1";
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

fn act_of(row: &AnyRow) -> Result<Act> {
    Ok(Act {
        number: row.integer(0)?,
        at_ms: row.integer(1)?,
        account: row.text(2)?,
        deed: deed_of(&row.text(3)?)?,
        reason: row.text(4)?,
        undone_by: row.integer_or_none(5)?,
        is_applied: row.integer(6)? == 0,
    })
}

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
