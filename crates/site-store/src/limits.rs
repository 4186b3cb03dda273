//! Token buckets.

use sqlx::AnyConnection;

use crate::sql::{Columns as _, Result, insert, row, values};
use crate::types::{Bucket, Limit};

const MS_PER_HOUR: f64 = 3_600_000.0;
const S_PER_HOUR: f64 = 3_600.0;
/// Longest time that a refused submitter is asked to wait: a day, seconds.
const MOST_WAIT_S: f64 = 86_400.0;

/// Takes a token from each bucket, or none from any if one is empty.
pub(crate) async fn charge(
    connection: &mut AnyConnection,
    buckets: &[Bucket],
    now_ms: i64,
) -> Result<Option<Limit>> {
    let mut rows = Vec::new();
    let mut wait_s: Option<f64> = None;
    for bucket in buckets {
        let (tokens, at_ms) = level(connection, bucket, now_ms).await?;
        if tokens < 1.0 {
            let needed = (1.0 - tokens) / bucket.per_hour * S_PER_HOUR;
            wait_s = Some(wait_s.unwrap_or(0.0).max(needed));
        }
        rows.push(values![&bucket.key, tokens - 1.0, at_ms]);
    }
    if let Some(wait_s) = wait_s {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "in range"
        )]
        let retry_after_s = wait_s.ceil().clamp(1.0, MOST_WAIT_S) as u64;
        return Ok(Some(Limit { retry_after_s }));
    }
    let change = "on conflict (key) do update set tokens = excluded.tokens, at_ms = excluded.at_ms";
    insert(connection, "limits (key, tokens, at_ms)", change, rows).await?;
    Ok(None)
}

/// Tokens of a bucket now, and the time that this is true of. Clocks of instances differ: time never runs back.
async fn level(connection: &mut AnyConnection, bucket: &Bucket, now_ms: i64) -> Result<(f64, i64)> {
    let text = "select tokens, at_ms from limits where key = $1";
    let Some(row) = row(connection, text, values![&bucket.key]).await? else {
        return Ok((bucket.most, now_ms));
    };
    let then_ms = row.integer(1)?;
    let passed_ms = now_ms.saturating_sub(then_ms).max(0);
    let gained = passed_ms as f64 / MS_PER_HOUR * bucket.per_hour;
    let tokens = (row.real(0)? + gained).min(bucket.most);
    Ok((tokens, then_ms.max(now_ms)))
}
