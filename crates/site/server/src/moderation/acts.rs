//! Acts of moderators, read.

use axum::http::StatusCode;
use cardmark_site_store::Act;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::http::parameters::{Key, limit, page_of, wrong_cursor};
use crate::http::problem::Refusal;
use crate::state::Site;

/// A page of acts.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ActsQuery {
    /// `next` of the page before.
    #[param(pattern = "^[0-9]{1,18}$")]
    cursor: Option<String>,
    /// Entries of a page, 1 to 100; 20.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
}

/// The acts of a page, and the cursor of the next one.
pub(crate) async fn page(
    site: &Site,
    query: ActsQuery,
) -> Result<(Vec<Act>, Option<String>), Refusal> {
    let limit = limit(query.limit)?;
    let before = query.cursor.map(|text| text.parse::<i64>());
    let before = before.transpose().map_err(|_| wrong_cursor())?;
    let acts = site.store.acts(before, limit + 1).await?;
    Ok(page_of(acts, limit, |act| act.number.to_string()))
}

/// The act with this number.
pub(crate) async fn found(site: &Site, number: Result<Key, Refusal>) -> Result<Act, Refusal> {
    let number = number.ok().and_then(|Key(number)| number.parse().ok());
    let act = match number {
        Some(number) => site.store.act(number).await?,
        None => None,
    };
    act.ok_or_else(|| {
        let detail = "there is no act with this number";
        Refusal::new(StatusCode::NOT_FOUND, "unknown-act", "No such act", detail)
    })
}
