//! Rankings in one metric under the same circumstances.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use cardmark_report::document::Block;
use cardmark_report::workload_name;
use cardmark_site_store::RankedContext;
use serde::Deserialize;

use super::figures::OFFERED;
use super::frame::{Field, Form, Page, PageRefusal};
use super::{addresses, figures};
use crate::lists::places;
use crate::parameters::{Parameters, plain};
use crate::problem::Refusal;
use crate::state::Site;

/// Places of a page.
const PLACES: u32 = 50;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Query {
    metric: Option<String>,
    context: Option<String>,
}

pub(super) async fn ranking(
    State(site): State<Arc<Site>>,
    query: Result<Parameters<Query>, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let Parameters(query) = query?;
    let metric = query.metric.filter(|metric| !metric.is_empty());
    let metric = plain("metric", metric.unwrap_or_else(|| OFFERED[0].to_owned()))?;
    let contexts = site.contexts.of(&site.store, &metric).await?;
    // The form sends the context of the metric before too.
    let chosen = query
        .context
        .as_deref()
        .and_then(|text| text.parse::<i64>().ok());
    let chosen = contexts
        .iter()
        .find(|offered| Some(offered.key) == chosen)
        .or(contexts.first());
    let title = format!("Ranking: {}", workload_name(&metric));
    let about = "Products ranked by measured figures under the same circumstances.";
    let Some(RankedContext { key, context, .. }) = chosen else {
        let text = "No product has shared figures in this metric yet.".to_owned();
        let page = Page::new(title, about, vec![Block::Text(text)]);
        return Ok(page.form(form(&metric, None, &[])).answer(&headers));
    };
    let places = places(&site, &metric, *key, PLACES).await?;
    let mut blocks = vec![Block::Text(format!("{}.", figures::circumstances(context)))];
    if places.is_empty() {
        blocks.push(Block::Text(
            "No product has three submitters here yet.".to_owned(),
        ));
    } else {
        if figures::quantity(&metric).is_rate() {
            let bars = places.iter().map(|one| (one.name.clone(), &one.summary));
            blocks.push(Block::Chart(figures::bars(&title, &metric, bars)));
        }
        let rows = places.iter().enumerate().map(|(index, one)| {
            let name = format!("{}. {}", index + 1, one.name);
            (name, Some(addresses::product(&one.key)), &one.summary)
        });
        blocks.push(figures::table("Best first".to_owned(), rows));
        blocks.push(Block::Text(OVERLAP.to_owned()));
    }
    let key = key.to_string();
    let page = Page::new(title, about, blocks)
        .form(form(&metric, Some(&key), &contexts))
        .link(
            "As data",
            format!("/api/v1{}", addresses::ranking(&metric, &key)),
        );
    Ok(page.answer(&headers))
}

const OVERLAP: &str = "Products whose intervals overlap can have their places in either order.";

fn form(metric: &str, context: Option<&str>, contexts: &[RankedContext]) -> Form {
    let mut offered: Vec<&str> = OFFERED.to_vec();
    if !offered.contains(&metric) {
        offered.push(metric);
    }
    let metrics = offered
        .iter()
        .map(|id| ((*id).to_owned(), workload_name(id).to_owned()));
    let mut fields = vec![Field::choice(
        "metric",
        "Metric",
        Some(metric),
        metrics.collect(),
    )];
    if !contexts.is_empty() {
        let choice = |offered: &RankedContext| {
            let name = figures::circumstances(&offered.context);
            let name = format!("{name} ({})", offered.products_count);
            (offered.key.to_string(), name)
        };
        let choices = contexts.iter().map(choice).collect();
        fields.push(Field::choice(
            "context",
            "Circumstances (products)",
            context,
            choices,
        ));
    }
    Form::asking("/rankings", "Show", fields)
}
