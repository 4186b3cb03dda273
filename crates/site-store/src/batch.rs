//! Writes that are committed together.

use sqlx::AnyConnection;
use uuid::Uuid;

use crate::address::Kind;
use crate::locks::{Locks, take_changes};
use crate::record::stored;
use crate::sql::{Columns as _, Result, insert, row, run, values};
use crate::summaries::Summaries;
use crate::types::{ChangeKind, SiteStoreError};
use crate::work::{Outcome, Work};

/// A transaction under way.
pub(crate) struct Batch<'c> {
    pub(crate) connection: &'c mut AnyConnection,
    kind: Kind,
    pub(crate) summaries: Summaries,
    effects: Effects,
}

/// What is written at the end.
#[derive(Clone, Debug, Default)]
struct Effects {
    changes: Vec<(Uuid, ChangeKind, i64)>,
    records: i64,
    quarantined: i64,
    withdrawn: i64,
}

/// Executes writes in one transaction. One that fails does not undo the others.
pub(crate) async fn execute(
    connection: &mut AnyConnection,
    kind: Kind,
    works: Vec<Work>,
) -> Result<Vec<Result<Outcome>>> {
    let begin = match kind {
        Kind::Sqlite => "begin immediate",
        Kind::Postgres => "begin",
    };
    run(connection, begin, vec![]).await?;
    let mut batch = Batch {
        connection,
        kind,
        summaries: Summaries::default(),
        effects: Effects::default(),
    };
    let done = batch.all(works).await;
    let end = if done.is_ok() { "commit" } else { "rollback" };
    run(connection, end, vec![]).await?;
    done
}

impl Batch<'_> {
    async fn all(&mut self, works: Vec<Work>) -> Result<Vec<Result<Outcome>>> {
        if self.kind == Kind::Postgres {
            self.lock(&works).await?;
        }
        let mut outcomes = Vec::with_capacity(works.len());
        for work in works {
            outcomes.push(self.one(work).await?);
        }
        self.finish().await?;
        Ok(outcomes)
    }

    /// Locks everything that the writes read or change. Records keep their products once their ids are locked.
    async fn lock(&mut self, works: &[Work]) -> Result<()> {
        let mut ids = Locks::default();
        let mut others = Locks::default();
        for work in works {
            work.lock(&mut ids, &mut others);
        }
        ids.take(self.connection).await?;
        for id in works.iter().filter_map(Work::changed_record) {
            if let Some(stored) = stored(self.connection, id).await? {
                others.add_some("product", stored.placed.product);
                others.add_some("board", stored.placed.board);
            }
        }
        others.take(self.connection).await
    }

    /// The outer error is one of the connection.
    async fn one(&mut self, work: Work) -> Result<Result<Outcome>> {
        run(self.connection, "savepoint work", vec![]).await?;
        let effects = self.effects.clone();
        self.summaries.begin();
        let outcome = work.execute(self).await;
        if outcome.is_err() {
            self.effects = effects;
            self.summaries.undo();
            run(self.connection, "rollback to savepoint work", vec![]).await?;
        }
        run(self.connection, "release savepoint work", vec![]).await?;
        Ok(outcome)
    }

    pub(crate) fn changed(&mut self, id: Uuid, kind: ChangeKind, at_ms: i64) {
        self.effects.changes.push((id, kind, at_ms));
    }

    /// Counts a record, or with -1 counts it no longer.
    pub(crate) fn count(&mut self, is_quarantined: bool, times: i64) {
        self.effects.records += times;
        self.effects.quarantined += if is_quarantined { times } else { 0 };
    }

    pub(crate) fn count_withdrawn(&mut self) {
        self.effects.withdrawn += 1;
    }

    /// Excludes other transactions from totals and boards, and forgets what is to be added to totals.
    pub(crate) async fn lock_totals(&mut self) -> Result<()> {
        if self.kind == Kind::Postgres {
            let text = "lock table boards in exclusive mode";
            run(self.connection, text, vec![]).await?;
            take_changes(self.connection).await?;
        }
        let changes = std::mem::take(&mut self.effects.changes);
        self.effects = Effects {
            changes,
            ..Effects::default()
        };
        Ok(())
    }

    async fn finish(&mut self) -> Result<()> {
        self.summaries.write(self.connection).await?;
        let effects = std::mem::take(&mut self.effects);
        let totals = [
            ("records", effects.records),
            ("quarantined", effects.quarantined),
            ("withdrawn", effects.withdrawn),
        ];
        let is_quiet = totals.iter().all(|(_, count)| *count == 0);
        if is_quiet && effects.changes.is_empty() {
            return Ok(());
        }
        if self.kind == Kind::Postgres {
            take_changes(self.connection).await?;
        }
        for (name, count) in totals {
            if count != 0 {
                add_to_total(self.connection, name, count).await?;
            }
        }
        self.write_changes(effects.changes).await
    }

    async fn write_changes(&mut self, changes: Vec<(Uuid, ChangeKind, i64)>) -> Result<()> {
        let Ok(count) = i64::try_from(changes.len()) else {
            return Ok(());
        };
        let last = add_to_total(self.connection, "changes", count).await?;
        let sequences = last - count + 1..=last;
        let rows = sequences
            .zip(changes)
            .map(|(sequence, (id, kind, at_ms))| values![sequence, id, kind_number(kind), at_ms]);
        let into = "changes (sequence, id, kind, at_ms)";
        insert(self.connection, into, "", rows.collect()).await
    }
}

/// Returns the new total.
async fn add_to_total(connection: &mut AnyConnection, name: &str, count: i64) -> Result<i64> {
    let text = "insert into totals (name, count) values ($1, $2) \
                on conflict (name) do update set count = totals.count + excluded.count returning count";
    let row = row(connection, text, values![name, count]).await?;
    row.ok_or(SiteStoreError::Damaged("a total has no row"))?
        .integer(0)
}

fn kind_number(kind: ChangeKind) -> i64 {
    match kind {
        ChangeKind::Arrived => 0,
        ChangeKind::Amended => 1,
        ChangeKind::Withdrawn => 2,
    }
}
