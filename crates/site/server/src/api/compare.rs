//! Comparisons and places: the program's own answers, over records of the site.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use cardmark_catalog::publications;
use cardmark_core::Record;
use cardmark_judge::{Field, FieldFilter, ranked_metrics};
use cardmark_pages::pages::compare::{compared_sides, ids_of, records};
use cardmark_report::comparison_json;
use cardmark_share::Problem;
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;

use crate::api::responses::{Asked, OfRun, Read};
use crate::http::parameters::{Parameters, RunId};
use crate::http::problem::Refusal;
use crate::http::reply::json;
use crate::queries::runs::{Sides, derived_record, head};
use crate::state::Site;

/// Two sides.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct CompareQuery {
    /// Ids of the runs of the base, up to eight, separated by commas.
    #[param(
        pattern = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(,[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}){0,7}$"
    )]
    pub(crate) base: String,
    /// Ids of the runs of the other side.
    #[param(
        pattern = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(,[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}){0,7}$"
    )]
    pub(crate) other: String,
    /// Metrics, separated by commas; all.
    metrics: Option<String>,
    /// Names of the context that may differ, separated by commas.
    across: Option<String>,
}

/// Compares two sides, as `cardmark compare --json` does.
#[utoipa::path(
    get, path = "/api/v1/compare", tag = "read", params(CompareQuery),
    responses(
        (status = 200, description = "The comparison", body = Value),
        (status = 404, description = "A run is unknown", body = Problem, content_type = "application/problem+json"),
        (status = 410, description = "A run was withdrawn", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "The sides cannot be compared", body = Problem, content_type = "application/problem+json"),
        Asked, Read,
    )
)]
pub(crate) async fn compare(
    State(site): State<Arc<Site>>,
    Parameters(query): Parameters<CompareQuery>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let ids = [ids_of(&query.base)?, ids_of(&query.other)?];
    let sides = Sides::of(&site, ids).await?;
    let make = async {
        let [base, other] = &sides.ids;
        let base = records(&*site, base).await?;
        let other = records(&*site, other).await?;
        let query = query.clone();
        let compare = move || compared(&query, &base, &other);
        json(&site.readers.run(compare).await??)
    };
    let path = sides.path("/api/v1/compare");
    let answer = site.replies.get(&path, &(&query, &sides), make).await?;
    Ok(answer.answer(&headers))
}

/// Compares the records of both sides.
pub(crate) fn compared(
    query: &CompareQuery,
    base: &[Record],
    other: &[Record],
) -> Result<Value, Problem> {
    let names = |text: Option<&String>| -> Vec<String> {
        let parts = text.map(|text| text.split(',')).into_iter().flatten();
        parts.map(str::to_owned).collect()
    };
    let (metrics, across) = (names(query.metrics.as_ref()), names(query.across.as_ref()));
    let sides = [base.iter().collect(), other.iter().collect()];
    let compared = compared_sides(&sides, &metrics, &across)?;
    Ok(comparison_json(
        [&query.base, &query.other],
        &sides,
        &compared,
        &across,
    ))
}

/// Places of a run among published results, metric by metric, in the form of `cardmark rank --json`.
#[utoipa::path(
    get, path = "/api/v1/records/{id}/rank", tag = "read",
    params(("id" = Uuid, Path, description = "Id of the run")),
    responses(
        (status = 200, description = "The places", body = Value),
        OfRun, Read,
    )
)]
pub(crate) async fn rank(
    State(site): State<Arc<Site>>,
    RunId(id): RunId,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let head = head(&site, id).await?;
    let make = async {
        let record = derived_record(&site, id).await?;
        let places = site.readers.run(move || places(&record)).await?;
        json(&places)
    };
    let path = format!("/api/v1/records/{id}/rank");
    let answer = site.replies.get(&path, &head, make).await?;
    Ok(answer.answer(&headers))
}

fn places(record: &Record) -> Value {
    let filter = FieldFilter::default();
    let published: Vec<Record> = publications()
        .iter()
        .flat_map(|one| one.records())
        .collect();
    let rankings = ranked_metrics(record).into_iter().filter_map(|metric| {
        let mut field = Field::new(&metric.id, Some(record), &filter);
        published.iter().for_each(|other| field.add_record(other));
        field.ranking()
    });
    serde_json::json!(rankings.collect::<Vec<_>>())
}
