//! Pages that are drawn from queries: first page, products, rankings, boards, publications, feed.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use cardmark_catalog::publications as known_publications;
use cardmark_pages::pages::choice::{self, ChoicePageQuery};
use cardmark_pages::pages::ranking::{RankingPage, RankingPageQuery};
use cardmark_pages::pages::{boards, circumstances, feed, home, product, published, ranking};
use cardmark_pages::views::product::ProductsQuery;
use cardmark_pages::{addresses, not_found};
use serde::Deserialize;

use crate::http::page::{PageRefusal, reply, shown};
use crate::http::parameters::{Key, Parameters};
use crate::http::problem::Refusal;
use crate::http::reply::Reply;
use crate::state::Site;

pub(super) async fn home(
    State(site): State<Arc<Site>>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let page = home::home(&*site, &site.origin(&headers)).await?;
    Ok(shown(&page, &headers))
}

/// Leads from the form for a card to the page of a use.
pub(super) async fn wanted(
    query: Result<Parameters<ChoicePageQuery>, Refusal>,
) -> Result<Redirect, PageRefusal> {
    Ok(Redirect::temporary(&query?.0.address()?))
}

pub(super) async fn recommended(
    State(site): State<Arc<Site>>,
    key: Result<Key, Refusal>,
    query: Result<Parameters<ChoicePageQuery>, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let page = choice::recommended(&*site, &key?.0, &query?.0).await?;
    Ok(shown(&page, &headers))
}

pub(super) async fn products(
    State(site): State<Arc<Site>>,
    query: Result<Parameters<ProductsQuery>, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let page = product::products(&*site, query?.0).await?;
    Ok(shown(&page, &headers))
}

/// Place in a list of a page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlaceQuery {
    pub(super) cursor: Option<String>,
}

pub(super) async fn product(
    State(site): State<Arc<Site>>,
    key: Result<Key, Refusal>,
    query: Result<Parameters<PlaceQuery>, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let (Key(name), Parameters(query)) = (key?, query?);
    if let Some(key) = site.moved(&name).await? {
        return Ok(Redirect::temporary(&addresses::product(&key)).into_response());
    }
    let origin = site.origin(&headers);
    let page = product::product(&*site, &name, query.cursor.as_deref(), &origin).await?;
    Ok(shown(&page, &headers))
}

pub(super) async fn ranking(
    State(site): State<Arc<Site>>,
    query: Result<Parameters<RankingPageQuery>, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    Ok(match ranking::ranking(&*site, &query?.0).await? {
        RankingPage::Here(page) => shown(&page, &headers),
        RankingPage::First(address) => Redirect::temporary(&address).into_response(),
    })
}

/// A metric, and a place in the list of its circumstances.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CircumstancesQuery {
    metric: String,
    cursor: Option<String>,
}

pub(super) async fn circumstances(
    State(site): State<Arc<Site>>,
    query: Result<Parameters<CircumstancesQuery>, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let Parameters(query) = query?;
    let cursor = query.cursor.as_deref();
    let page = circumstances::circumstances(&*site, &query.metric, cursor).await?;
    Ok(shown(&page, &headers))
}

pub(super) async fn boards(
    State(site): State<Arc<Site>>,
    query: Result<Parameters<PlaceQuery>, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let page = boards::boards(&*site, query?.0.cursor).await?;
    Ok(shown(&page, &headers))
}

pub(super) async fn board(
    State(site): State<Arc<Site>>,
    key: Result<Key, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let page = boards::board(&*site, key?.0).await?;
    Ok(shown(&page, &headers))
}

pub(super) async fn publications(headers: HeaderMap) -> Response {
    static PAGE: LazyLock<Reply> = LazyLock::new(|| reply(&published::list()));
    PAGE.answer(&headers)
}

pub(super) async fn publication(
    key: Result<Key, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    /// They never change while the process runs.
    static PAGES: LazyLock<BTreeMap<&'static str, Reply>> = LazyLock::new(|| {
        let all = known_publications().iter();
        all.map(|one| (one.id.as_str(), reply(&published::publication(one))))
            .collect()
    });
    let page = PAGES.get(key?.0.as_str()).ok_or_else(|| {
        let detail = "/published lists the publications that there are";
        not_found("No such publication", detail)
    })?;
    Ok(page.answer(&headers))
}

pub(super) async fn feed(
    State(site): State<Arc<Site>>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let feed = feed::feed(&*site, site.origin(&headers)).await?;
    let kind = "application/atom+xml; charset=utf-8";
    Ok(Reply::new(kind, feed).answer(&headers))
}
