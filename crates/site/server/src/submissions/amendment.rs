//! A new statement of an owner.

use axum::http::StatusCode;
use cardmark_core::{documents_of, parse_statement, visible};
use cardmark_share::{derive, read_submission};
use cardmark_site_data::day_of;
use cardmark_site_store::{Amendment, Bucket, Head, StoredDocument};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::clock::now_ms;
use crate::http::problem::Refusal;
use crate::queries::documents::unpack;
use crate::submissions::incoming::pack;

/// The document with a new statement, and what follows from it.
pub(crate) fn amendment(
    id: Uuid,
    stored: &StoredDocument,
    statement: &str,
    head: &Head,
    limits: Vec<Bucket>,
) -> Result<Amendment, Refusal> {
    let not_one = |detail: String| {
        let title = "The document is not a statement on this run";
        Refusal::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "not-a-statement",
            title,
            detail,
        )
    };
    let parsed = parse_statement(statement).map_err(|error| not_one(error.to_string()))?;
    if parsed.record_id != id {
        return Err(not_one("it is on another run".to_owned()));
    }
    let text = unpack(&stored.packed)?;
    let (record, _) = documents_of(&text);
    let line = serde_json::from_str::<Box<serde_json::value::RawValue>>(statement)
        .map_err(|error| not_one(error.to_string()))?;
    let document = format!("{record}\n{}\n", visible(&one_line(line.get())));
    let submission =
        read_submission(&document).map_err(|error| Refusal::not_a_submission(&error, &document))?;
    let derivation = derive(&submission, &day_of(head.received_ms));
    Ok(Amendment {
        packed: pack(&document)?,
        digest: Sha256::digest(document.as_bytes()).into(),
        revision: parsed.revision,
        extract: derivation.extract,
        checks: derivation.checks,
        at_ms: now_ms(),
        limits,
        newcomers: None,
    })
}

/// JSON holds line feeds only between its tokens.
fn one_line(json: &str) -> String {
    json.replace(['\n', '\r'], " ")
}
