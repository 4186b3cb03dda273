//! Seeds for runs that are proven later than the seed.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cardmark_share::{IssuedSeed, SEED_DAYS};
use cardmark_site_data::day_of;
use uuid::Uuid;

use crate::api::responses::Written;
use crate::clock::now_ms;
use crate::http::peer::Block;
use crate::http::problem::Refusal;
use crate::state::Site;

const MS_PER_DAY: i64 = 86_400_000;
/// Attempts to draw a seed that was not issued before.
const ATTEMPTS: usize = 4;

/// Issues a seed for one run, valid for seven days.
#[utoipa::path(
    post, path = "/api/v1/seeds", tag = "submit",
    responses(
        (status = 201, description = "A seed", body = IssuedSeed),
        Written,
    )
)]
pub(crate) async fn issue(
    State(site): State<Arc<Site>>,
    Block(block): Block,
) -> Result<(StatusCode, Json<IssuedSeed>), Refusal> {
    site.seeds
        .take(block, Instant::now())
        .map_err(Refusal::limited)?;
    let at_ms = now_ms();
    for _ in 0..ATTEMPTS {
        // The first 32 bits of a UUID of version 4 are random.
        let [high, low] =
            [Uuid::new_v4(), Uuid::new_v4()].map(|random| (random.as_u128() >> 96) as u32);
        let seed = format!("{high:08x}{low:08x}");
        if site.store.issue_seed(&seed, at_ms).await? {
            let valid_until = day_of(at_ms + SEED_DAYS * MS_PER_DAY);
            return Ok((StatusCode::CREATED, Json(IssuedSeed { seed, valid_until })));
        }
    }
    Err(Refusal::failed())
}
