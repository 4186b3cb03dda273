//! Comparisons and places: the program's own answers, over records of the site.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cardmark_catalog::publications;
use cardmark_core::Record;
use cardmark_judge::{Compared, Field, FieldFilter, NotComparable, compare_sides, ranked_metrics};
use cardmark_report::comparison_json;
use cardmark_share::Problem;
use cardmark_site_store::Head;
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;
use uuid::Uuid;

use crate::answers::json;
use crate::described::{Asked, OfRun, Read};
use crate::parameters::{Parameters, RunId};
use crate::problem::Refusal;
use crate::records::{derived_record, head};
use crate::state::Site;

/// Most runs of a side.
const MOST_RUNS: usize = 8;

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
    let sides = Sides::of(&site, &query.base, &query.other).await?;
    let sources = (&query, &sides);
    let make = async {
        let (base, other) = sides.records(&site).await?;
        let query = query.clone();
        let compare = move || compared(&query, &base, &other);
        json(&site.readers.run(compare).await??)
    };
    let path = sides.path("/api/v1/compare");
    let answer = site.answers.get(&path, &sources, make).await?;
    Ok(answer.answer(&headers))
}

/// Heads of the runs of both sides: what a comparison follows from.
#[derive(Debug)]
pub(crate) struct Sides([Vec<Head>; 2]);

impl Sides {
    pub(crate) async fn of(site: &Site, base: &str, other: &str) -> Result<Self, Refusal> {
        let mut sides = [Vec::new(), Vec::new()];
        for (side, text) in sides.iter_mut().zip([base, other]) {
            for id in ids(text)? {
                side.push(head(site, id).await?);
            }
        }
        Ok(Self(sides))
    }

    /// The address under which a comparison is kept, with the ids of all runs.
    pub(crate) fn path(&self, of: &str) -> String {
        let ids = self.0.iter().flatten().map(|head| head.id.to_string());
        format!("{of} {}", ids.collect::<Vec<_>>().join(" "))
    }

    /// The records of both sides, derived again.
    pub(crate) async fn records(&self, site: &Site) -> Result<(Vec<Record>, Vec<Record>), Refusal> {
        let mut records = [Vec::new(), Vec::new()];
        for (side, heads) in records.iter_mut().zip(&self.0) {
            for head in heads {
                side.push(derived_record(site, head.id).await?);
            }
        }
        let [base, other] = records;
        Ok((base, other))
    }
}

/// Compares the records of both sides.
pub(crate) fn compared(
    query: &CompareQuery,
    base: &[Record],
    other: &[Record],
) -> Result<Value, Refusal> {
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

/// Compares two sides, with an answer for the reasons not to.
pub(crate) fn compared_sides(
    sides: &[Vec<&Record>; 2],
    metrics: &[String],
    across: &[String],
) -> Result<Compared, Refusal> {
    compare_sides(sides, metrics, across).map_err(refusal)
}

/// Reads the ids of a side.
pub(crate) fn ids(side: &str) -> Result<Vec<Uuid>, Refusal> {
    let ids: Vec<&str> = side.split(',').collect();
    if ids.len() > MOST_RUNS {
        return Err(Refusal::bad_request(format!(
            "a side has at most {MOST_RUNS} runs"
        )));
    }
    let wrong = |_| Refusal::bad_request("a side is a list of ids of runs");
    let ids = ids.into_iter().map(|id| id.parse().map_err(wrong));
    ids.collect()
}

fn refusal(reason: NotComparable) -> Refusal {
    let detail = match reason {
        NotComparable::OnBothSides(run) => format!("run {run} is on both sides"),
        NotComparable::UnknownStorage { id, reason } => format!("run {id}: {reason}"),
        NotComparable::Mixtures { .. } => {
            "a side is a mixture of products that the other does not have".to_owned()
        }
        NotComparable::UnknownContext { name, known } => {
            format!(
                "`{name}` is not part of the context; there is: {}",
                known.join(", ")
            )
        }
        NotComparable::Differ(rows) => {
            let names: Vec<String> = rows.into_iter().map(|row| row.name).collect();
            format!(
                "circumstances differ: {}; `across` lists those that may",
                names.join(", ")
            )
        }
        NotComparable::NoMetric => "none of the metrics is on both sides".to_owned(),
    };
    Refusal::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "not-comparable",
        "The sides cannot be compared",
        detail,
    )
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
    let answer = site.answers.get(&path, &head, make).await?;
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
