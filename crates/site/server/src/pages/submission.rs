//! Withdrawal, and an answer to a quarantine, in a browser, with the phrase of an uploaded run.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cardmark_pages::frame::{Field, FieldKind, Form, Page, Section};
use cardmark_report::document::Block;
use cardmark_share::Secrets;
use cardmark_site_store::Withdrawn;
use serde::Deserialize;
use uuid::Uuid;

use crate::http::page::{PageRefusal, shown, shown_once};
use crate::http::parameters::{Parameters, optional};
use crate::http::peer::Block as AddressBlock;
use crate::http::problem::Refusal;
use crate::pages::parts::Parts;
use crate::state::Site;
use crate::submissions::incoming::limits;
use crate::submissions::owners_answer::store_answer;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SubmissionQuery {
    id: Option<String>,
}

pub(super) async fn form(
    State(site): State<Arc<Site>>,
    query: Result<Parameters<SubmissionQuery>, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let Parameters(query) = query?;
    let id = optional("id", query.id)?;
    // A command is copied: it has no text of whoever made the link.
    let run = id.as_deref().and_then(|id| id.parse::<Uuid>().ok());
    let run = run.map_or_else(|| "RUN".to_owned(), |id| id.to_string());
    let blocks = vec![
        Block::Text(
            "A run that was sent by the program is amended and withdrawn by the program, which also answers to a quarantine (--answer TEXT):"
                .to_owned(),
        ),
        Block::Command(format!(
            "cardmark submit --withdraw {run} --server {}",
            site.origin(&headers)
        )),
        Block::Text("One that was uploaded here has a phrase instead.".to_owned()),
    ];
    let page = Page::new(
        "Your submission",
        "Withdraw a run, or answer to a quarantine.",
        blocks,
    );
    let page = page
        .section(withdrawal(id.as_deref()))
        .section(answer_form(id.as_deref()));
    Ok(shown(&page, &headers))
}

fn owner(id: Option<&str>) -> Vec<Field> {
    vec![
        Field::text("id", "Id of the run", id),
        Field::of(FieldKind::Secret, "phrase", "Its phrase"),
    ]
}

fn withdrawal(id: Option<&str>) -> Section {
    let text = "Its bytes and everything derived from them are deleted; its id and the time stay. Copies that others made by now remain.";
    let form = Form::sending("/submission", "Withdraw", owner(id));
    Section::new("Withdraw a run", vec![Block::Text(text.to_owned())]).form(form)
}

fn answer_form(id: Option<&str>) -> Section {
    let text = "A run with a failed check counts nowhere. If you think that a check is wrong, give the reason: only moderators see it, beside the checks.";
    let mut fields = owner(id);
    fields.push(Field::of(
        FieldKind::Lines,
        "answer",
        "Answer, up to 2,000 characters",
    ));
    let form = Form::sending("/submission/answer", "Send the answer", fields);
    Section::new("Answer to a quarantine", vec![Block::Text(text.to_owned())]).form(form)
}

pub(super) async fn change(
    State(site): State<Arc<Site>>,
    AddressBlock(block): AddressBlock,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, PageRefusal> {
    let (id, token, _) = received(&site, block, &headers, body).await?;
    match site.store.withdraw(id, token).await? {
        Withdrawn::Now => {
            site.replies.forget(&id.to_string());
            let blocks = vec![Block::Text("The run was withdrawn.".to_owned())];
            Ok(shown_once(&Page::new(
                "Withdrawn",
                "A withdrawn run.",
                blocks,
            )))
        }
        Withdrawn::Forbidden => Err(wrong_phrase().into()),
        Withdrawn::Unknown => Err(Refusal::unknown_run().into()),
    }
}

pub(super) async fn answer(
    State(site): State<Arc<Site>>,
    AddressBlock(block): AddressBlock,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, PageRefusal> {
    let (id, token, mut parts) = received(&site, block, &headers, body).await?;
    if !site.store.is_token(id, token).await? {
        return Err(wrong_phrase().into());
    }
    let text = parts.text("answer")?.unwrap_or_default();
    store_answer(&site, id, token, &text, limits(&site, block, None)).await?;
    let blocks = vec![Block::Text("Moderators see the answer now.".to_owned())];
    Ok(shown_once(&Page::new(
        "Answered",
        "An answer to a quarantine.",
        blocks,
    )))
}

/// The run of a form, the hash of its token, and the other fields.
async fn received(
    site: &Arc<Site>,
    block: [u8; 16],
    headers: &HeaderMap,
    body: Body,
) -> Result<(Uuid, [u8; 32], Parts), Refusal> {
    // Guesses of a phrase cost what reading costs.
    site.requests
        .reads
        .take(block, std::time::Instant::now())
        .map_err(Refusal::limited)?;
    let mut parts = Parts::receive(site, block, headers, body).await?;
    let id = parts.line("id")?.and_then(|id| id.parse::<Uuid>().ok());
    let id = id.ok_or_else(Refusal::unknown_run)?;
    let phrase = parts.text("phrase")?;
    let phrase = phrase.ok_or_else(|| Refusal::bad_request("there is no phrase"))?;
    let token = Secrets::of_phrase(&phrase).phrase_token(id).hash();
    Ok((id, token, parts))
}

fn wrong_phrase() -> Refusal {
    let detail = "the phrase is not that of this run";
    let title = "The phrase does not fit";
    Refusal::new(StatusCode::FORBIDDEN, "wrong-token", title, detail)
}
