//! Executing writes together.

use sqlx::AnyConnection;

use crate::address::Kind;
use crate::batch::Batch;
use crate::locks::Locks;
use crate::record::stored;
use crate::sql::{Result, run};
use crate::work::{Outcome, Work};

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
    let mut batch = Batch::new(connection, kind);
    let done = all(&mut batch, works).await;
    let end = if done.is_ok() { "commit" } else { "rollback" };
    run(batch.connection, end, vec![]).await?;
    done
}

async fn all(batch: &mut Batch<'_>, works: Vec<Work>) -> Result<Vec<Result<Outcome>>> {
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
    for work in works {
        work.lock(&mut ids, &mut others);
    }
    ids.take(batch.connection).await?;
    for id in works.iter().filter_map(Work::changed_record) {
        if let Some(stored) = stored(batch.connection, id).await? {
            others.add_some("product", stored.placed.product);
            others.add_some("board", stored.placed.board);
        }
    }
    others.take(batch.connection).await
}

/// The outer error is one of the connection.
async fn one(batch: &mut Batch<'_>, work: Work) -> Result<Result<Outcome>> {
    run(batch.connection, "savepoint work", vec![]).await?;
    let effects = batch.effects();
    batch.summaries.begin();
    let outcome = work.execute(batch).await;
    if outcome.is_err() {
        batch.restore(effects);
        batch.summaries.undo();
        run(batch.connection, "rollback to savepoint work", vec![]).await?;
    }
    run(batch.connection, "release savepoint work", vec![]).await?;
    Ok(outcome)
}
