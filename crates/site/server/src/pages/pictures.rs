//! Badges and previews of products and runs, for other pages.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use cardmark_core::Record;
use cardmark_judge::ordered_metrics;
use cardmark_report::chart::{Badge, Preview};
use cardmark_report::text::{count_of, value};
use cardmark_report::{run_title, workload_name};
use cardmark_site_store::{Head, State as RunState};

use super::{addresses, figures};
use crate::derived;
use crate::kept::Kept;
use crate::lists::{ProductQuery, ProductView, SummaryView, moved, product_view};
use crate::parameters::{Key, RunId};
use crate::problem::Refusal;
use crate::records::{head, stored};
use crate::state::Site;

/// Rows of a preview.
const ROWS: usize = 6;
/// A badge brings its own style. Nothing else may be loaded or run, should it be opened by itself.
const OF_BADGE: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'");

/// Form of a picture.
#[derive(Clone, Copy)]
enum Form {
    Badge,
    Preview,
}

/// Content of both forms.
struct Content {
    title: String,
    subtitle: String,
    /// Names and figures; the first one is on the badge.
    rows: Vec<(String, String)>,
    /// Text of the badge in place of the first figure.
    instead: Option<String>,
}

impl Content {
    fn drawn(self, form: Form) -> Result<Kept, Refusal> {
        match form {
            Form::Badge => {
                let first = self.rows.first();
                let first = first.map(|(name, figure)| format!("{name}: {figure}"));
                let text = self.instead.or(first);
                let badge = Badge {
                    title: self.title,
                    text: text.unwrap_or_else(|| "no figures yet".to_owned()),
                };
                Ok(Kept::new("image/svg+xml", badge.svg()))
            }
            Form::Preview => {
                let preview = Preview {
                    title: self.title,
                    subtitle: self.subtitle,
                    rows: self.rows,
                    footer: "cardmark: measured memory cards, CC0 1.0".to_owned(),
                };
                let png = preview.png().ok_or_else(Refusal::failed)?;
                Ok(Kept::new("image/png", png))
            }
        }
    }
}

pub(super) async fn product_badge(
    site: State<Arc<Site>>,
    key: Result<Key, Refusal>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    product(&site, key?, Form::Badge, &headers).await
}

pub(super) async fn product_preview(
    site: State<Arc<Site>>,
    key: Result<Key, Refusal>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    product(&site, key?, Form::Preview, &headers).await
}

pub(super) async fn run_badge(
    site: State<Arc<Site>>,
    id: Result<RunId, Refusal>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    run(&site, id?, Form::Badge, &headers).await
}

pub(super) async fn run_preview(
    site: State<Arc<Site>>,
    id: Result<RunId, Refusal>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    run(&site, id?, Form::Preview, &headers).await
}

async fn product(
    site: &Site,
    Key(name): Key,
    form: Form,
    headers: &HeaderMap,
) -> Result<Response, Refusal> {
    let name = moved(site, &name).await?.unwrap_or(name);
    let view = product_view(site, &name, &ProductQuery::default()).await?;
    let path = form.path(&addresses::product(&view.entry.key));
    let make = async {
        let content = of_product(&view);
        site.readers.run(move || content.drawn(form)).await?
    };
    let answer = site.answers.get(&path, &view, make).await?;
    Ok(form.answer(&answer, headers))
}

async fn run(
    site: &Site,
    RunId(id): RunId,
    form: Form,
    headers: &HeaderMap,
) -> Result<Response, Refusal> {
    let head = head(site, id).await?;
    let make = async {
        let stored = stored(site, id).await?;
        let head = head.clone();
        let draw = move || of_run(&head, &derived::record(&stored.packed)?).drawn(form);
        site.readers.run(draw).await?
    };
    let path = form.path(&addresses::run(id));
    let answer = site.answers.get(&path, &head, make).await?;
    Ok(form.answer(&answer, headers))
}

impl Form {
    fn path(self, of: &str) -> String {
        match self {
            Self::Badge => addresses::badge(of),
            Self::Preview => addresses::preview(of),
        }
    }

    fn answer(self, kept: &Kept, headers: &HeaderMap) -> Response {
        let mut response = kept.answer(headers);
        if matches!(self, Self::Badge) {
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_SECURITY_POLICY, OF_BADGE);
        }
        response
    }
}

/// Medians in the context with the most cards.
fn of_product(view: &ProductView) -> Content {
    let mut contexts = BTreeMap::<&BTreeMap<String, String>, Vec<&SummaryView>>::new();
    for summary in &view.summaries {
        contexts.entry(&summary.context).or_default().push(summary);
    }
    let cards = |rows: &[&SummaryView]| rows.iter().map(|row| row.cards_count).max();
    let most = contexts.into_iter().max_by_key(|(_, rows)| cards(rows));
    let (subtitle, rows) = most.map_or_else(
        || ("No shared figures yet".to_owned(), Vec::new()),
        |(context, rows)| (figures::circumstances(context), rows),
    );
    let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let row = |summary: &SummaryView| {
        let count = count_of(number(summary.cards_count), "card", "cards");
        let figure = value(
            &summary.metric,
            figures::quantity(&summary.metric),
            summary.median,
        );
        let name = workload_name(&summary.metric).to_owned();
        (name, format!("{figure}, {count}"))
    };
    let rows = figures::offered_first(rows, |summary| summary.metric.as_str());
    Content {
        title: view.entry.name.clone(),
        subtitle,
        rows: rows.into_iter().take(ROWS).map(row).collect(),
        instead: None,
    }
}

fn of_run(head: &Head, record: &Record) -> Content {
    let metrics = figures::offered_first(ordered_metrics(record), |metric| metric.id.as_str());
    let rows = metrics.into_iter().take(ROWS).map(|metric| {
        let figure = value(&metric.id, metric.quantity, metric.value);
        (workload_name(&metric.id).to_owned(), figure)
    });
    let instead = match (head.state, head.decided_by) {
        (RunState::Quarantined, None) => Some("quarantined: a check failed".to_owned()),
        (RunState::Quarantined, Some(_)) => Some("quarantined by a moderator".to_owned()),
        (RunState::Shared | RunState::Withdrawn, _) => None,
    };
    let parts = [head.board.clone(), instead.clone()];
    let subtitle: Vec<String> = parts.into_iter().flatten().collect();
    Content {
        title: head
            .product_name
            .clone()
            .unwrap_or_else(|| run_title(record)),
        subtitle: subtitle.join("; "),
        rows: rows.collect(),
        instead,
    }
}
