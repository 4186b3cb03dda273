//! Seeds that the site issued.

use cardmark_share::{SEED_DAYS, SeedState};
use sqlx::AnyConnection;

use crate::database::sql::{Columns as _, Result, row, run, values};

/// Time from the issue of a seed to the arrival of its record, at most.
pub(crate) const SEED_LIFE_MS: i64 = SEED_DAYS * 86_400_000;

/// Issues a seed; returns false if it was issued before.
pub(crate) async fn issue(connection: &mut AnyConnection, seed: &str, at_ms: i64) -> Result<bool> {
    let text = "insert into seeds (seed, issued_ms) values ($1, $2) on conflict do nothing";
    Ok(run(connection, text, values![seed, at_ms]).await? > 0)
}

/// State of a seed for a record that arrives now.
pub(crate) async fn state(
    connection: &mut AnyConnection,
    seed: &str,
    now_ms: i64,
) -> Result<SeedState> {
    let text = "select issued_ms from seeds where seed = $1";
    let Some(row) = row(connection, text, values![seed]).await? else {
        return Ok(SeedState::Foreign);
    };
    let issued_ms = row.integer(0)?;
    Ok(if is_used(connection, seed).await? {
        SeedState::Used
    } else if now_ms.saturating_sub(issued_ms) > SEED_LIFE_MS {
        SeedState::Expired
    } else {
        SeedState::Fresh
    })
}

async fn is_used(connection: &mut AnyConnection, seed: &str) -> Result<bool> {
    let text = "select id from records where used_seed = $1 limit 1";
    Ok(row(connection, text, values![seed]).await?.is_some())
}

/// Lets a record use a seed.
pub(crate) async fn take(connection: &mut AnyConnection, id: uuid::Uuid, seed: &str) -> Result<()> {
    let text = "update records set used_seed = $1 where id = $2";
    run(connection, text, values![seed, id]).await?;
    Ok(())
}

/// Deletes a seed that was issued before a time and that no record uses.
pub(crate) async fn forget(
    connection: &mut AnyConnection,
    seed: &str,
    before_ms: i64,
) -> Result<u64> {
    if is_used(connection, seed).await? {
        return Ok(0);
    }
    let text = "delete from seeds where seed = $1 and issued_ms < $2";
    run(connection, text, values![seed, before_ms]).await
}
