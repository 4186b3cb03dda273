//! The store: what a site calls.

mod desk;
mod dumping;
mod moderators_queue;
mod products;
mod rebuild;
mod search;

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use sqlx::AnyPool;
use sqlx::any::AnyRow;
use sqlx::pool::PoolConnection;
use uuid::Uuid;

use crate::database::address::{self, Opened};
use crate::database::sql::{Columns as _, Result, row, rows, signed, values};
use crate::decisions::types::Switch;
use crate::decisions::{Cache, Decisions};
use crate::queue::Queue;
use crate::queue::work::{Outcome, Work};
use crate::tables::record::{self, storable, storable_text};
use crate::tables::seeds::SEED_LIFE_MS;
use crate::tables::submitters;
use crate::types::{
    Amended, Amendment, Counts, Found, Incoming, Loaded, Put, Removed, SiteStoreError,
    StoredDocument, Withdrawn,
};
use crate::writes::reweigh::Reweigh;

/// Time after which an unused bucket is full: a day.
const LIMIT_LIFE_MS: i64 = 86_400_000;
/// Rows that are purged at a time.
const PURGED_TOGETHER: i64 = 200;

/// Database of a results site. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SiteStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    queue: Queue,
    main: AnyPool,
    lists: AnyPool,
    decisions: Cache,
}

impl SiteStore {
    /// Opens a database: `sqlite:FILE`, which is created if it is not there, or `postgres://…`.
    ///
    /// # Errors
    /// If the address is of no known kind, another store has the file open, the database fails, or its tables cannot be
    /// brought up to date.
    pub async fn open(address: &str) -> Result<Self> {
        Self::open_with_replica(address, None).await
    }

    /// Opens a database, and a replica that lists are read from.
    ///
    /// # Errors
    /// See [`Self::open`].
    pub async fn open_with_replica(address: &str, replica: Option<&str>) -> Result<Self> {
        Self::start(address::open(address).await?, replica).await
    }

    /// Opens a database beside a process that uses it, to change accounts or to withdraw runs.
    ///
    /// # Errors
    /// See [`Self::open`].
    pub async fn open_beside(address: &str) -> Result<Self> {
        Self::start(address::open_beside(address).await?, None).await
    }

    async fn start(mut opened: Opened, replica: Option<&str>) -> Result<Self> {
        let lists = match replica {
            Some(replica) => address::open_replica(replica).await?,
            None => opened.pool.clone(),
        };
        let decisions = Cache::default();
        let inner = Inner {
            queue: Queue::start(&mut opened, &decisions),
            main: opened.pool,
            lists,
            decisions,
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Executes the writes that wait, and closes the database.
    pub async fn close(&self) {
        self.inner.queue.close().await;
        self.inner.main.close().await;
        self.inner.lists.close().await;
    }

    /// Stores a submission.
    ///
    /// # Errors
    /// If too many writes wait, or the database fails.
    pub async fn put(&self, incoming: Incoming) -> Result<Put> {
        let incoming = Incoming {
            extract: storable(incoming.extract),
            ..incoming
        };
        match self.write(Work::Put(Box::new(incoming))).await? {
            Outcome::Put(put) => Ok(put),
            _ => Err(other_outcome()),
        }
    }

    /// Stores records in one transaction. Their ids have to be new, and their checks are stored as they are. Nothing is charged to
    /// limits, no seed is used, and no summary counts them before [`Self::rebuild_summaries`].
    ///
    /// # Errors
    /// If an id is there already, or the database fails.
    pub async fn load<L: Into<Loaded>>(&self, records: Vec<L>) -> Result<()> {
        let storable = |record: L| {
            let mut loaded: Loaded = record.into();
            loaded.incoming.extract = storable(loaded.incoming.extract);
            loaded
        };
        let records = records.into_iter().map(storable).collect();
        self.write_patiently(Work::Load(records)).await?;
        Ok(())
    }

    /// Replaces the owner's statement on a record.
    ///
    /// # Errors
    /// If too many writes wait, or the database fails.
    pub async fn amend(
        &self,
        id: Uuid,
        token_hash: [u8; 32],
        amendment: Amendment,
    ) -> Result<Amended> {
        let mut extract = storable(amendment.extract);
        extract.id = id;
        let amendment = Box::new(Amendment {
            extract,
            ..amendment
        });
        let work = Work::Amend {
            id,
            token_hash,
            amendment,
        };
        match self.write(work).await? {
            Outcome::Amended(amended) => Ok(amended),
            _ => Err(other_outcome()),
        }
    }

    /// Deletes all of a record but its id and the time.
    ///
    /// # Errors
    /// If too many writes wait, or the database fails.
    pub async fn withdraw(&self, id: Uuid, token_hash: [u8; 32]) -> Result<Withdrawn> {
        let work = Work::Withdraw {
            id,
            token_hash,
            at_ms: now_ms(),
        };
        match self.write(work).await? {
            Outcome::Withdrawn(withdrawn) => Ok(withdrawn),
            _ => Err(other_outcome()),
        }
    }

    /// Withdraws a record for the operator, as its owner would with the token.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn remove(&self, id: Uuid) -> Result<Removed> {
        let at_ms = now_ms();
        match self.write_patiently(Work::Remove { id, at_ms }).await? {
            Outcome::Removed(removed) => Ok(removed),
            _ => Err(other_outcome()),
        }
    }

    /// Adds a seed to those that the site issued; returns false if it is among them.
    ///
    /// # Errors
    /// If too many writes wait, or the database fails.
    pub async fn issue_seed(&self, seed: &str, at_ms: i64) -> Result<bool> {
        let seed = storable_text(seed);
        match self.write(Work::IssueSeed { seed, at_ms }).await? {
            Outcome::Done(is_new) => Ok(is_new),
            _ => Err(other_outcome()),
        }
    }

    /// Deletes buckets unused for a day, sessions that ended, and seeds past their life that no record uses. Returns the number of
    /// deletions.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn purge(&self, now_ms: i64) -> Result<u64> {
        let mut count = 0;
        let before_ms = now_ms.saturating_sub(LIMIT_LIFE_MS);
        let text = "select key from limits where at_ms < $1 and key > $2 order by key limit $3";
        let mut after = Vec::new();
        loop {
            let values = values![before_ms, &after, PURGED_TOGETHER];
            let found = rows(&mut *self.main().await?, text, values).await?;
            for row in &found {
                after = row.bytes(0)?;
                let key = after.clone();
                count += self.forget(Work::ForgetLimit { key, before_ms }).await?;
            }
            if signed(found.len() as u64) < PURGED_TOGETHER {
                break;
            }
        }
        count += self.purge_sessions(now_ms).await?;
        Ok(count
            + self
                .purge_seeds(now_ms.saturating_sub(SEED_LIFE_MS))
                .await?)
    }

    /// Gives submitters whose age or activity changed since their voice was decided on their present one. Returns the number of
    /// submitters that were looked at.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn reweigh(&self, now_ms: i64) -> Result<u64> {
        let mut count = 0;
        loop {
            let mut connection = self.main().await?;
            let due = submitters::due(&mut connection, now_ms, PURGED_TOGETHER).await?;
            let found = due.len();
            let mut works = Vec::with_capacity(found);
            for tag in due {
                let places = submitters::places(&mut connection, &tag).await?;
                let products = places.into_iter().map(|(product, _)| product).collect();
                works.push(Reweigh {
                    tag,
                    products,
                    now_ms,
                });
            }
            drop(connection);
            let mut is_stuck = true;
            for work in works {
                let is_done = self.forget(Work::Reweigh(work)).await? > 0;
                count += u64::from(is_done);
                is_stuck &= !is_done;
            }
            // One that got another product meanwhile is looked at again.
            if signed(found as u64) < PURGED_TOGETHER || is_stuck {
                return Ok(count);
            }
        }
    }

    async fn purge_seeds(&self, before_ms: i64) -> Result<u64> {
        let mut count = 0;
        let text = "select s.seed from seeds s where s.issued_ms < $1 and s.seed > $2 \
                    and not exists (select 1 from records r where r.used_seed = s.seed) \
                    order by s.seed limit $3";
        let mut after = String::new();
        loop {
            let values = values![before_ms, &after, PURGED_TOGETHER];
            let found = rows(&mut *self.main().await?, text, values).await?;
            for row in &found {
                after = row.text(0)?;
                let seed = after.clone();
                count += self.forget(Work::ForgetSeed { seed, before_ms }).await?;
            }
            if signed(found.len() as u64) < PURGED_TOGETHER {
                return Ok(count);
            }
        }
    }

    async fn forget(&self, work: Work) -> Result<u64> {
        match self.write_patiently(work).await? {
            Outcome::Done(is_done) => Ok(u64::from(is_done)),
            _ => Err(other_outcome()),
        }
    }

    /// Finds a record.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn find(&self, id: Uuid) -> Result<Found> {
        let mut connection = self.main().await?;
        if let Some(stored) = record::stored(&mut connection, id).await? {
            return Ok(Found::Here(Box::new(stored.head)));
        }
        let at_ms = record::tombstone(&mut connection, id).await?;
        Ok(at_ms.map_or(Found::Unknown, |at_ms| Found::Withdrawn { at_ms }))
    }

    /// Reads the bytes of a record.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn document(&self, id: Uuid) -> Result<Option<StoredDocument>> {
        let text = "select packed, digest from bodies where id = $1";
        let found = row(&mut *self.main().await?, text, values![id]).await?;
        let document = |row: AnyRow| {
            Ok(StoredDocument {
                packed: row.bytes(0)?,
                digest: row.fixed(1)?,
            })
        };
        found.map(document).transpose()
    }

    /// Returns whether the hash is that of the record's edit token.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn is_token(&self, id: Uuid, token_hash: [u8; 32]) -> Result<bool> {
        let stored = record::stored(&mut *self.main().await?, id).await?;
        Ok(stored.is_some_and(|stored| stored.token_hash == Some(token_hash)))
    }

    /// Counts records and waiting writes.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn counts(&self) -> Result<Counts> {
        let text = "select name, count from totals";
        let mut counts = Counts {
            waiting_writes: self.inner.queue.waiting_count() as u64,
            ..Counts::default()
        };
        for row in rows(&mut *self.main().await?, text, vec![]).await? {
            match row.text(0)?.as_str() {
                "records" => counts.records = row.count(1)?,
                "quarantined" => counts.quarantined = row.count(1)?,
                "withdrawn" => counts.withdrawn = row.count(1)?,
                _ => {}
            }
        }
        Ok(counts)
    }

    /// Returns whether the database answers and writes are executed.
    pub async fn is_ready(&self) -> bool {
        let answers = async {
            let mut connection = self.main().await?;
            rows(&mut connection, "select 1", vec![]).await
        };
        self.inner.queue.is_open() && answers.await.is_ok()
    }

    pub(crate) async fn main(&self) -> Result<PoolConnection<sqlx::Any>> {
        Ok(self.inner.main.acquire().await?)
    }

    /// A connection for lists: of the replica, if there is one.
    pub(crate) async fn lists(&self) -> Result<PoolConnection<sqlx::Any>> {
        Ok(self.inner.lists.acquire().await?)
    }

    /// Decisions that follow from all acts.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn decisions(&self) -> Result<Arc<Decisions>> {
        self.inner.decisions.read(&mut *self.main().await?).await
    }

    /// Returns whether the site takes nothing in at present. Asks the database only if it did not when it last did.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn is_read_only(&self) -> Result<bool> {
        let is_on = |decisions: &Decisions| decisions.switched_on(Switch::ReadOnly).is_some();
        Ok(is_on(&self.inner.decisions.last_read()) && is_on(&*self.decisions().await?))
    }

    pub(crate) async fn write(&self, work: Work) -> Result<Outcome> {
        self.inner.queue.write(work).await
    }

    pub(crate) async fn write_patiently(&self, work: Work) -> Result<Outcome> {
        self.inner.queue.write_patiently(work).await
    }
}

fn other_outcome() -> SiteStoreError {
    SiteStoreError::Damaged("a write had the outcome of another")
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}
