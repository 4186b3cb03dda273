//! Withdrawal in a browser, with the phrase of an uploaded run.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cardmark_report::document::Block;
use cardmark_share::Secrets;
use cardmark_site_store::Withdrawn;
use serde::Deserialize;
use uuid::Uuid;

use super::frame::{Field, FieldKind, Form, Page, PageRefusal};
use super::parts::Parts;
use crate::parameters::{Parameters, optional};
use crate::peer::Block as AddressBlock;
use crate::problem::Refusal;
use crate::state::Site;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    id: Option<String>,
}

pub(super) async fn form(
    query: Result<Parameters<Query>, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let Parameters(query) = query?;
    let id = optional("id", query.id)?;
    let blocks = vec![
        Block::Text("A run that was sent by the program is amended and withdrawn by the program:".to_owned()),
        Block::Command("cardmark submit --withdraw RUN".to_owned()),
        Block::Text(
            "One that was uploaded here is withdrawn with its phrase. Its bytes and everything derived from them are deleted; its id and the time stay. \
             Copies that others made by now remain. A run with a failed check counts nowhere; if you think that a check is wrong, write to the operator."
                .to_owned(),
        ),
    ];
    let page = Page::new("Your submission", "Withdraw a run.", blocks).last(Form::sending(
        "/submission",
        "Withdraw",
        vec![
            Field::text("id", "Id of the run", id.as_deref()),
            Field::of(FieldKind::Secret, "phrase", "Its phrase"),
        ],
    ));
    Ok(page.answer(&headers))
}

pub(super) async fn change(
    State(site): State<Arc<Site>>,
    AddressBlock(block): AddressBlock,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, PageRefusal> {
    // Guesses of a phrase cost what reading costs.
    site.reads
        .take(block, std::time::Instant::now())
        .map_err(Refusal::limited)?;
    let mut parts = Parts::receive(&site, block, &headers, body).await?;
    let id = parts.line("id")?.and_then(|id| id.parse::<Uuid>().ok());
    let id = id.ok_or_else(Refusal::unknown_run)?;
    let phrase = parts.text("phrase")?;
    let phrase = phrase.ok_or_else(|| Refusal::bad_request("there is no phrase"))?;
    let token = Secrets::of_phrase(&phrase).phrase_token(id).hash();
    match site.store.withdraw(id, token).await? {
        Withdrawn::Now => {
            site.answers.forget(&id.to_string());
            let blocks = vec![Block::Text("The run was withdrawn.".to_owned())];
            Ok(Page::new("Withdrawn", "A withdrawn run.", blocks).answer_once(StatusCode::OK))
        }
        Withdrawn::Forbidden => {
            let detail = "the phrase is not that of this run";
            let title = "The phrase does not fit";
            Err(Refusal::new(StatusCode::FORBIDDEN, "wrong-token", title, detail).into())
        }
        Withdrawn::Unknown => Err(Refusal::unknown_run().into()),
    }
}
