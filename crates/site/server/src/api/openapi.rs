//! Description of the API, and the texts beside it.

use std::sync::LazyLock;

use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Value, json};
use utoipa::OpenApi;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};

use crate::api::{
    acts, compare, lists, owners_answer, products, published, rankings, records, seeds, submit,
};
use crate::error::SiteError;
use crate::http::parameters::Key;
use crate::http::problem::Refusal;
use crate::http::reply::{Reply, json_answer};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "cardmark site",
        description = "Measurements of memory cards. Fields and paths are only added within a version.",
        version = "1",
    ),
    paths(
        submit::submit, records::record, records::document, records::state, records::amend, records::withdraw,
        lists::search, products::products, products::product, lists::boards, rankings::contexts, rankings::ranking, lists::changes,
        owners_answer::answer, acts::acts, acts::act, lists::checks, compare::compare, compare::rank, published::published, seeds::issue,
    ),
    modifiers(&EditToken),
)]
struct Description;

struct EditToken;

impl utoipa::Modify for EditToken {
    fn modify(&self, description: &mut utoipa::openapi::OpenApi) {
        let mut scheme = Http::new(HttpAuthScheme::Bearer);
        scheme.description = Some(
            "Edit token of the run: 64 hexadecimal digits that follow from the store's secret"
                .to_owned(),
        );
        let components = description.components.get_or_insert_default();
        components.add_security_scheme("edit_token", SecurityScheme::Http(scheme));
    }
}

/// The description of the API (OpenAPI), indented.
///
/// # Errors
/// If it cannot be written as JSON.
pub fn openapi_json() -> Result<String, SiteError> {
    let mut description = Description::openapi();
    description.info.license = Some(utoipa::openapi::License::new("CC0-1.0 (data)"));
    Ok(description.to_pretty_json()?)
}

pub(crate) async fn openapi(headers: HeaderMap) -> Result<Response, Refusal> {
    static KEPT: LazyLock<Option<Reply>> = LazyLock::new(|| {
        let text = openapi_json().ok()?;
        Some(Reply::new("application/json", text))
    });
    let reply = KEPT.as_ref().ok_or_else(Refusal::failed)?;
    Ok(reply.answer(&headers))
}

pub(crate) async fn index(headers: HeaderMap) -> Response {
    let index = json!({
        "site": "cardmark",
        "api": "/api/v1/openapi.json",
        "record_schema": "/schema/record-1.json",
        "statement_schema": "/schema/statement-1.json",
        "checks": "/api/v1/checks",
        "data_licence": "CC0-1.0",
    });
    json_answer(&headers, &index)
}

/// The schemas of the documents.
pub(crate) async fn schema(Key(name): Key, headers: HeaderMap) -> Result<Response, Refusal> {
    let text = match name.as_str() {
        "record-1.json" => RECORD_SCHEMA,
        "statement-1.json" => STATEMENT_SCHEMA,
        _ => {
            let detail = "there is /schema/record-1.json and /schema/statement-1.json";
            let not_found = axum::http::StatusCode::NOT_FOUND;
            return Err(Refusal::new(
                not_found,
                "unknown-path",
                "Nothing here",
                detail,
            ));
        }
    };
    Ok(Reply::new("application/schema+json", text).answer(&headers))
}

const RECORD_SCHEMA: &str = include_str!("../../../../../schema/record-1.json");
const STATEMENT_SCHEMA: &str = include_str!("../../../../../schema/statement-1.json");

/// The address of a problem's kind: where its answers are explained.
pub(crate) async fn problem(Key(kind): Key, headers: HeaderMap) -> Response {
    let explained: Value =
        json!({ "kind": kind.chars().take(40).collect::<String>(), "api": "/api/v1/openapi.json" });
    json_answer(&headers, &explained)
}
