//! Pages of runs, comparisons, badges and previews. Those that take long to draw are kept.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use cardmark_pages::pages::compare::ComparePageQuery;
use cardmark_pages::pages::pictures::{Content, of_product, of_run};
use cardmark_pages::pages::{compare, compare_products, run, runs};
use cardmark_pages::views::search::SearchQuery;
use cardmark_pages::{Queries, addresses};

use crate::clock::this_minute;
use crate::http::page::{PageRefusal, reply, shown};
use crate::http::parameters::{Key, Parameters, RunId, plain};
use crate::http::problem::Refusal;
use crate::http::reply::Reply;
use crate::queries::documents;
use crate::queries::runs::{Sides, head, listed, run_of, stored};
use crate::state::Site;

/// A badge brings its own style. Nothing else may be loaded or run, should it be opened by itself.
const OF_BADGE: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'");

pub(super) async fn runs(
    State(site): State<Arc<Site>>,
    query: Result<Parameters<SearchQuery>, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let page = runs::runs(&*site, query?.0).await?;
    Ok(shown(&page, &headers))
}

pub(super) async fn run(
    State(site): State<Arc<Site>>,
    id: Result<RunId, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let RunId(id) = id?;
    let head = head(&site, id).await?;
    let origin = site.origin(&headers);
    let make = async {
        let page = run::run(&*site, run_of(head.clone()), origin.clone()).await?;
        site.work(move || reply(&page)).await
    };
    let path = addresses::run(id);
    let answer = site.replies.get(&path, &(&head, &origin), make).await?;
    Ok(answer.answer(&headers))
}

pub(super) async fn compare(
    State(site): State<Arc<Site>>,
    query: Result<Parameters<ComparePageQuery>, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let Parameters(query) = query?;
    if query.is_incomplete() {
        return Ok(shown(&compare::begin(&query), &headers));
    }
    for (name, text) in [
        ("base", &query.base),
        ("other", &query.other),
        ("across", &query.across),
    ] {
        plain(name, text.clone())?;
    }
    if !query.is_of_runs() {
        let make = async {
            let page = compare_products::compare_products(&*site, query.clone()).await?;
            site.work(move || reply(&page)).await
        };
        let sources = (&query, this_minute());
        let answer = site.replies.get("/compare of products", &sources, make);
        return Ok(answer.await?.answer(&headers));
    }
    let sides = Sides::of(&site, query.sides()?).await?;
    let make = async {
        let page = compare::compare(&*site, query.clone()).await?;
        site.work(move || reply(&page)).await
    };
    let (path, sources) = (sides.path("/compare"), (&query, &sides));
    let answer = site.replies.get(&path, &sources, make).await?;
    Ok(answer.answer(&headers))
}

/// Form of a picture.
#[derive(Clone, Copy)]
enum Form {
    Badge,
    Preview,
}

impl Form {
    fn path(self, of: &str) -> String {
        match self {
            Self::Badge => addresses::badge(of),
            Self::Preview => addresses::preview(of),
        }
    }

    fn draw(self, content: Content) -> Result<Reply, Refusal> {
        Ok(match self {
            Self::Badge => Reply::new("image/svg+xml", content.badge()),
            Self::Preview => {
                let png = content.preview().ok_or_else(Refusal::failed)?;
                Reply::new("image/png", png)
            }
        })
    }

    fn answer(self, reply: &Reply, headers: &HeaderMap) -> Response {
        let mut response = reply.answer(headers);
        if matches!(self, Self::Badge) {
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_SECURITY_POLICY, OF_BADGE);
        }
        response
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
    run_picture(&site, id?, Form::Badge, &headers).await
}

pub(super) async fn run_preview(
    site: State<Arc<Site>>,
    id: Result<RunId, Refusal>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    run_picture(&site, id?, Form::Preview, &headers).await
}

async fn product(
    site: &Site,
    Key(name): Key,
    form: Form,
    headers: &HeaderMap,
) -> Result<Response, Refusal> {
    let name = site.moved(&name).await?.unwrap_or(name);
    let view = Queries::product(site, &name, None).await?;
    let path = form.path(&addresses::product(&view.entry.key));
    let make = async {
        let content = of_product(&view);
        site.readers.run(move || form.draw(content)).await?
    };
    let answer = site.replies.get(&path, &view, make).await?;
    Ok(form.answer(&answer, headers))
}

async fn run_picture(
    site: &Site,
    RunId(id): RunId,
    form: Form,
    headers: &HeaderMap,
) -> Result<Response, Refusal> {
    let head = head(site, id).await?;
    let make = async {
        let stored = stored(site, id).await?;
        let run = listed(head.clone());
        let draw = move || form.draw(of_run(&run, &documents::record(&stored.packed)?));
        site.readers.run(draw).await?
    };
    let path = form.path(&addresses::run(id));
    let answer = site.replies.get(&path, &head, make).await?;
    Ok(form.answer(&answer, headers))
}
