//! Pages, and errors as pages.

use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use cardmark_pages::frame::{Frame, Page, Section, sentence};
use cardmark_pages::not_found;
use cardmark_pages::pages::product;
use cardmark_report::document::Block;
use cardmark_share::Problem;
use cardmark_site_store::SiteStoreError;

use crate::http::problem::Refusal;
use crate::http::reply::Reply;

const HTML: &str = "text/html; charset=utf-8";

fn html(page: &Page) -> String {
    page.html(Frame::Site)
}

/// The page as an answer that can be given many times.
pub(crate) fn reply(page: &Page) -> Reply {
    Reply::new(HTML, html(page))
}

/// The page, which caches of others may keep for a minute.
pub(crate) fn shown(page: &Page, headers: &HeaderMap) -> Response {
    reply(page).answer(headers)
}

/// The page as the answer to something that was sent, or to one person: it is kept nowhere.
pub(crate) fn shown_once(page: &Page) -> Response {
    html_once(html(page))
}

/// [`shown_once`], of a page in HTML.
pub(crate) fn html_once(page: String) -> Response {
    let headers = [("content-type", HTML), ("cache-control", "no-store")];
    (StatusCode::OK, headers, page).into_response()
}

/// An error as a page.
pub(crate) struct PageRefusal(Refusal);

impl From<Refusal> for PageRefusal {
    fn from(refusal: Refusal) -> Self {
        Self(refusal)
    }
}

impl From<Problem> for PageRefusal {
    fn from(problem: Problem) -> Self {
        Self(problem.into())
    }
}

impl From<SiteStoreError> for PageRefusal {
    fn from(error: SiteStoreError) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for PageRefusal {
    fn into_response(self) -> Response {
        let problem = self.0.problem();
        let blocks = vec![Block::Text(sentence(&problem.detail))];
        let mut page = Page::new(problem.title.clone(), problem.title.clone(), blocks);
        if problem.status == 404 {
            page = page.section(search_instead());
        }
        let page = html(&page);
        let mut response = self.0.into_response();
        *response.body_mut() = page.into();
        let headers = response.headers_mut();
        headers.remove("content-length");
        headers.insert("content-type", HeaderValue::from_static(HTML));
        response
    }
}

/// Where to find what an address did not lead to.
fn search_instead() -> Section {
    Section::new("Look for a card", Vec::new())
        .link("All products", "/products")
        .link("All boards", "/boards")
        .link("Which card to buy", "/")
        .form(product::search(None))
}

/// There is nothing at this address.
pub(crate) fn no_page() -> Refusal {
    not_found("Nothing here", "there is nothing at this address").into()
}
