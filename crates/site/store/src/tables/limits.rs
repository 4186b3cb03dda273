//! Token buckets.

use std::collections::BTreeMap;

use sqlx::AnyConnection;

use crate::database::sql::{Columns as _, Result, insert, rows_of, values};
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
    let keys: Vec<[u8; 16]> = buckets.iter().map(|bucket| bucket.key).collect();
    let text = "select key, tokens, at_ms from limits where key in";
    let mut known = BTreeMap::new();
    for row in rows_of(connection, text, &keys).await? {
        known.insert(row.fixed(0)?, (row.real(1)?, row.integer(2)?));
    }
    let mut rows = Vec::new();
    let mut wait_s: Option<f64> = None;
    for bucket in buckets {
        let (tokens, at_ms) = match known.get(&bucket.key) {
            Some(then) => level(bucket, *then, now_ms),
            None => (bucket.most, now_ms),
        };
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
fn level(bucket: &Bucket, (tokens, then_ms): (f64, i64), now_ms: i64) -> (f64, i64) {
    let passed_ms = now_ms.saturating_sub(then_ms).max(0);
    let gained = passed_ms as f64 / MS_PER_HOUR * bucket.per_hour;
    ((tokens + gained).min(bucket.most), then_ms.max(now_ms))
}
