//! Queries of pages.

use std::future::Future;
use std::sync::Arc;

use cardmark_core::Record;
use cardmark_judge::{Day, Figure};
use cardmark_share::Problem;
use uuid::Uuid;

use crate::views::board::BoardsPage;
use crate::views::product::{ProductEntry, ProductView, ProductsPage, ProductsQuery};
use crate::views::ranking::{Contexts, RankingView};
use crate::views::search::{SearchPage, SearchQuery};

/// Queries of pages. A cursor is what the page before returned as `next`.
pub trait Queries: Sync {
    /// Reason for which a query or a page has no answer.
    type Error: From<Problem> + Send;

    /// Returns whether the runs are those of one computer, for its owner: nothing was received, shared or moderated.
    fn is_personal(&self) -> bool {
        false
    }

    /// The present day: what was sold within a year before it counts as sold.
    fn today(&self) -> Day;

    /// Number of runs.
    fn runs_count(&self) -> impl Future<Output = Result<u64, Self::Error>> + Send;

    /// Runs that meet all conditions, the last arrivals first.
    fn search(
        &self,
        query: SearchQuery,
    ) -> impl Future<Output = Result<SearchPage, Self::Error>> + Send;

    /// The record of a run with everything derived.
    fn record(&self, id: Uuid) -> impl Future<Output = Result<Record, Self::Error>> + Send;

    /// Products with runs, by name.
    fn products(
        &self,
        query: ProductsQuery,
    ) -> impl Future<Output = Result<ProductsPage, Self::Error>> + Send;

    /// Products with runs, by their keys.
    fn products_of(
        &self,
        keys: Vec<String>,
    ) -> impl Future<Output = Result<Vec<ProductEntry>, Self::Error>> + Send;

    /// A product by key or name.
    fn product(
        &self,
        name: &str,
        cursor: Option<&str>,
    ) -> impl Future<Output = Result<ProductView, Self::Error>> + Send;

    /// Boards with runs.
    fn boards(
        &self,
        cursor: Option<String>,
        limit: u32,
    ) -> impl Future<Output = Result<BoardsPage, Self::Error>> + Send;

    /// Circumstances under which products are ranked by a metric, those with the most products first.
    fn contexts(
        &self,
        metric: &str,
        cursor: Option<&str>,
        limit: u32,
    ) -> impl Future<Output = Result<Contexts, Self::Error>> + Send;

    /// Products ranked by a metric under the same circumstances, the best first.
    fn ranking(
        &self,
        metric: &str,
        context: i64,
        cursor: Option<&str>,
        limit: u32,
    ) -> impl Future<Output = Result<RankingView, Self::Error>> + Send;

    /// Figures from which products are recommended, as [`crate::shared::all_figures`] finds them.
    fn figures(&self) -> impl Future<Output = Result<Arc<Vec<Figure>>, Self::Error>> + Send;

    /// Runs work that takes more than a moment, where it delays no other query.
    fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = Result<T, Self::Error>> + Send {
        async { Ok(work()) }
    }
}

/// An error with this status; `kind` is the last part of its path.
pub(crate) fn problem(status: u16, kind: &str, title: &str, detail: impl Into<String>) -> Problem {
    Problem {
        kind: format!("/problems/{kind}"),
        title: title.to_owned(),
        status,
        detail: detail.into(),
        errors: Vec::new(),
    }
}

/// A request that means nothing.
pub fn bad_request(detail: impl Into<String>) -> Problem {
    problem(
        400,
        "bad-request",
        "The request cannot be understood",
        detail,
    )
}

/// A cursor that no page returned.
pub fn wrong_cursor() -> Problem {
    bad_request("cursor is not one that this site handed out")
}

/// An address with nothing at it.
pub fn not_found(title: &str, detail: impl Into<String>) -> Problem {
    problem(404, "unknown-path", title, detail)
}
