//! Writes that are committed together.

use std::collections::BTreeMap;
use std::sync::Arc;

use sqlx::AnyConnection;
use uuid::Uuid;

use crate::database::address::Kind;
use crate::database::locks::take_changes;
use crate::database::sql::{Columns as _, Result, insert, row, run, values};
use crate::decisions::Decisions;
use crate::tables::numbers::{Numbers, change_product, write_boards};
use crate::tables::record::Rows;
use crate::tables::summaries::Summaries;
use crate::types::{ChangeKind, SiteStoreError};

/// A transaction under way.
pub(crate) struct Batch<'c> {
    pub(crate) connection: &'c mut AnyConnection,
    kind: Kind,
    decisions: Arc<Decisions>,
    pub(crate) summaries: Summaries,
    effects: Effects,
    /// Rows of new records that no submission reads.
    rows: Rows,
    /// Those of the present write.
    new_rows: Rows,
}

/// Numbers that change at the end: one that many writes of the transaction change is written once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effects {
    changes: Vec<(Uuid, ChangeKind, i64)>,
    boards: BTreeMap<String, i64>,
    products: BTreeMap<String, Numbers>,
    records: i64,
    quarantined: i64,
    withdrawn: i64,
}

impl<'c> Batch<'c> {
    pub(crate) fn new(connection: &'c mut AnyConnection, kind: Kind) -> Self {
        Self {
            connection,
            kind,
            decisions: Arc::default(),
            summaries: Summaries::default(),
            effects: Effects::default(),
            rows: Rows::default(),
            new_rows: Rows::default(),
        }
    }

    /// Decisions on records, as they were when the transaction began.
    pub(crate) fn decisions(&self) -> Arc<Decisions> {
        Arc::clone(&self.decisions)
    }

    pub(crate) fn decide_by(&mut self, decisions: Arc<Decisions>) {
        self.decisions = decisions;
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Begins the next write: what the last one did stays. Returns a copy of the effects so far, for [`Batch::undo`].
    pub(crate) fn begin(&mut self) -> Effects {
        self.summaries.begin();
        self.rows.append(&mut self.new_rows);
        self.effects.clone()
    }

    /// Undoes the present write, which failed.
    pub(crate) fn undo(&mut self, effects: Effects) {
        self.summaries.undo();
        self.new_rows = Rows::default();
        self.effects = effects;
    }

    /// Rows of new records, which are inserted later. Submissions read only those of `records`, and insert them at once.
    pub(crate) fn new_rows(&mut self) -> (&mut Rows, &mut AnyConnection) {
        (&mut self.new_rows, self.connection)
    }

    /// Inserts the rows of new records.
    pub(crate) async fn insert_rows(&mut self) -> Result<()> {
        self.rows.append(&mut self.new_rows);
        std::mem::take(&mut self.rows).insert(self.connection).await
    }

    pub(crate) fn changed(&mut self, id: Uuid, kind: ChangeKind, at_ms: i64) {
        self.effects.changes.push((id, kind, at_ms));
    }

    /// Counts a record, or with -1 counts it no longer.
    pub(crate) fn count(&mut self, is_quarantined: bool, times: i64) {
        self.effects.records += times;
        self.effects.quarantined += if is_quarantined { times } else { 0 };
    }

    pub(crate) fn count_board(&mut self, board: &str, times: i64) {
        *self.effects.boards.entry(board.to_owned()).or_default() += times;
    }

    pub(crate) fn change_product(&mut self, product: &str, change: &Numbers) {
        let numbers = self.effects.products.entry(product.to_owned());
        numbers.or_default().add(change);
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

    pub(crate) async fn finish(&mut self) -> Result<()> {
        self.insert_rows().await?;
        self.summaries.write(self.connection).await?;
        let effects = std::mem::take(&mut self.effects);
        write_boards(self.connection, effects.boards).await?;
        for (product, numbers) in &effects.products {
            change_product(self.connection, product, numbers).await?;
        }
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

pub(crate) fn kind_number(kind: ChangeKind) -> i64 {
    match kind {
        ChangeKind::Arrived => 0,
        ChangeKind::Amended => 1,
        ChangeKind::Withdrawn => 2,
    }
}
