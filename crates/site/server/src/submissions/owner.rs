//! The owner of a run, who holds its edit token.

use axum::http::{HeaderMap, header};
use cardmark_share::hash_of_token_text;
use cardmark_site_store::Head;
use uuid::Uuid;

use crate::http::problem::Refusal;
use crate::queries::runs::head;
use crate::state::Site;

/// The head of a run whose token has this hash.
pub(crate) async fn permitted(site: &Site, id: Uuid, token: [u8; 32]) -> Result<Head, Refusal> {
    let head = head(site, id).await?;
    match site.store.is_token(id, token).await? {
        true => Ok(head),
        false => Err(Refusal::forbidden()),
    }
}

/// The hash of the token in `Authorization: Bearer`.
pub(crate) fn token_hash(headers: &HeaderMap) -> Result<[u8; 32], Refusal> {
    let value = headers
        .get(header::AUTHORIZATION)
        .ok_or_else(Refusal::no_token)?;
    let (scheme, token) = value
        .to_str()
        .ok()
        .and_then(|text| text.split_once(' '))
        .ok_or_else(Refusal::no_token)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(Refusal::no_token());
    }
    hash_of_token_text(token.trim()).ok_or_else(Refusal::forbidden)
}
