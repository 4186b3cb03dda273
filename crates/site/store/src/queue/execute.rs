//! Executing writes together.

use sqlx::AnyConnection;

use crate::database::address::Kind;
use crate::database::locks::{Locks, take_decisions};
use crate::database::sql::{Result, run};
use crate::decisions::{Cache, Decisions};
use crate::queue::work::{Outcome, Work};
use crate::tables::batch::Batch;
use crate::tables::record::{Stored, stored};

/// Executes writes in one transaction. One that fails does not undo the others.
pub(crate) async fn execute(
    connection: &mut AnyConnection,
    kind: Kind,
    cache: &Cache,
    works: Vec<Work>,
) -> Result<Vec<Result<Outcome>>> {
    let begin = match kind {
        Kind::Sqlite => "begin immediate",
        Kind::Postgres => "begin",
    };
    run(connection, begin, vec![]).await?;
    let mut batch = Batch::new(connection, kind);
    let done = all(&mut batch, cache, works).await;
    let end = if done.is_ok() { "commit" } else { "rollback" };
    run(batch.connection, end, vec![]).await?;
    done
}

async fn all(
    batch: &mut Batch<'_>,
    cache: &Cache,
    works: Vec<Work>,
) -> Result<Vec<Result<Outcome>>> {
    if works.iter().any(Work::follows_decisions) {
        if batch.kind() == Kind::Postgres {
            let is_alone = works.iter().any(|work| matches!(work, Work::Act(_)));
            take_decisions(batch.connection, is_alone).await?;
        }
        let decisions = cache.read(batch.connection).await?;
        batch.decide_by(decisions);
    }
    if batch.kind() == Kind::Postgres {
        lock(batch, &works).await?;
    }
    let mut outcomes = Vec::with_capacity(works.len());
    for work in works {
        outcomes.push(one(batch, work).await?);
    }
    batch.finish().await?;
    Ok(outcomes)
}

/// Locks everything that the writes read or change. Records keep their products once their ids are locked.
async fn lock(batch: &mut Batch<'_>, works: &[Work]) -> Result<()> {
    let mut ids = Locks::default();
    let mut others = Locks::default();
    let decisions = batch.decisions();
    for work in works {
        work.lock(&decisions, &mut ids, &mut others);
    }
    ids.take(batch.connection).await?;
    for id in works.iter().flat_map(Work::changed_records) {
        if let Some(stored) = stored(batch.connection, *id).await? {
            lock_record(&decisions, &stored, &mut others);
        }
    }
    others.take(batch.connection).await
}

/// Adds locks of all places in which a record counts or is to count.
fn lock_record(decisions: &Decisions, stored: &Stored, others: &mut Locks) {
    let product = decisions.product(&stored.subject());
    others.add_some("product", product.map(|product| product.key));
    others.add_some("product", stored.placed.product.as_ref());
    others.add_some("board", stored.head.board.as_ref());
    others.add_some("submitter", stored.head.tag);
}

/// The outer error is one of the connection.
async fn one(batch: &mut Batch<'_>, work: Work) -> Result<Result<Outcome>> {
    // All but submissions read the rows of new records.
    if !matches!(work, Work::Put(_)) {
        batch.insert_rows().await?;
    }
    run(batch.connection, "savepoint work", vec![]).await?;
    let effects = batch.begin();
    let outcome = work.execute(batch).await;
    if outcome.is_err() {
        batch.undo(effects);
        run(batch.connection, "rollback to savepoint work", vec![]).await?;
    }
    run(batch.connection, "release savepoint work", vec![]).await?;
    Ok(outcome)
}
