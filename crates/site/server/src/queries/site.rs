//! The queries of pages, answered by the database.

use std::sync::Arc;

use axum::http::StatusCode;
use cardmark_catalog::products as known_products;
use cardmark_core::Record;
use cardmark_judge::{Day, Figure};
use cardmark_pages::Queries;
use cardmark_pages::shared::all_figures;
use cardmark_pages::views::board::{BoardEntry, BoardsPage};
use cardmark_pages::views::product::{ProductEntry, ProductView, ProductsPage, ProductsQuery};
use cardmark_pages::views::published::of_product;
use cardmark_pages::views::ranking::{Contexts, RankedEntry, RankingView};
use cardmark_pages::views::search::{SearchPage, SearchQuery};
use cardmark_share::product_key;
use cardmark_site_store::{RankedContext, Search};
use uuid::Uuid;

use crate::clock::now_ms;
use crate::http::parameters::{cursor_text, limit, optional, page_of, plain};
use crate::http::problem::Refusal;
use crate::queries::lists::{
    self, conditions, context_cursor, cursor_of, ranking_place, summary_place,
};
use crate::queries::runs::{derived_record, listed};
use crate::state::Site;

/// Summaries of a product in one answer.
const SUMMARIES: u32 = 200;

impl Site {
    /// Key of the product under which the runs of another name count; `None` if they count under their own.
    pub(crate) async fn moved(&self, name: &str) -> Result<Option<String>, Refusal> {
        let decisions = self.store.decisions().await?;
        Ok(decisions.moved(&product_key(name)).map(str::to_owned))
    }
}

impl Queries for Site {
    type Error = Refusal;

    fn today(&self) -> Day {
        Day::at_s(now_ms().div_euclid(1000)).unwrap_or_default()
    }

    async fn runs_count(&self) -> Result<u64, Refusal> {
        Ok(self.store.counts().await?.records)
    }

    async fn search(&self, query: SearchQuery) -> Result<SearchPage, Refusal> {
        let search = in_place(self, conditions(query)?).await?;
        let page = self.store.search(&search).await?;
        Ok(SearchPage {
            records: page.heads.into_iter().map(listed).collect(),
            next: page.next.map(cursor_text),
        })
    }

    async fn record(&self, id: Uuid) -> Result<Record, Refusal> {
        derived_record(self, id).await
    }

    async fn products(&self, query: ProductsQuery) -> Result<ProductsPage, Refusal> {
        let (limit, after) = (limit(query.limit)?, optional("cursor", query.cursor)?);
        let text = optional("q", query.q)?.unwrap_or_default();
        let rows = self
            .store
            .products(&text, after.as_deref(), limit + 1)
            .await?;
        let (rows, next) = page_of(rows, limit, |row| row.key.clone());
        let products = rows.into_iter().map(lists::product).collect();
        Ok(ProductsPage { products, next })
    }

    async fn products_of(&self, keys: Vec<String>) -> Result<Vec<ProductEntry>, Refusal> {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let rows = self.store.products_of(&keys).await?;
        Ok(rows.into_iter().map(lists::product).collect())
    }

    async fn product(&self, name: &str, cursor: Option<&str>) -> Result<ProductView, Refusal> {
        let key = product_key(name);
        let after = cursor.map(summary_place).transpose()?;
        let known = known_products().iter().find(|row| row.id == key);
        let found = self.store.product(&key, after.as_ref(), SUMMARIES + 1);
        let (entry, rows) = match (found.await?, known) {
            (Some((row, summaries)), _) => (lists::product(row), summaries),
            (None, Some(known)) => {
                let entry = ProductEntry {
                    key: key.clone(),
                    name: known.name(),
                    ..ProductEntry::default()
                };
                (entry, Vec::new())
            }
            (None, None) => return Err(unknown_product()),
        };
        let (rows, next) = page_of(rows, SUMMARIES, cursor_of);
        let decisions = self.store.decisions().await?;
        Ok(ProductView {
            accepted_by: decisions.accepted(&key),
            entry,
            claims: known.map(|known| known.claims.clone()).unwrap_or_default(),
            summaries: rows.into_iter().filter_map(lists::summary).collect(),
            next,
            published: of_product(&key),
        })
    }

    async fn boards(&self, cursor: Option<String>, limit: u32) -> Result<BoardsPage, Refusal> {
        let after = optional("cursor", cursor)?;
        let rows = self.store.boards(after.as_deref(), limit + 1).await?;
        let (rows, next) = page_of(rows, limit, |row| row.0.clone());
        let board = |(model, runs_count)| BoardEntry { model, runs_count };
        let boards = rows.into_iter().map(board).collect();
        Ok(BoardsPage { boards, next })
    }

    async fn contexts(
        &self,
        metric: &str,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<Contexts, Refusal> {
        let metric = plain("metric", metric.to_owned())?;
        let after = cursor.map(context_cursor).transpose()?;
        let found = self.contexts.page(&self.store, &metric, after, limit + 1);
        let cursor = |last: &RankedContext| format!("{}.{}", last.products_count, last.key);
        let (found, next) = page_of(found.await?.to_vec(), limit, cursor);
        let contexts = found.into_iter().map(lists::context).collect();
        Ok(Contexts { contexts, next })
    }

    async fn ranking(
        &self,
        metric: &str,
        context: i64,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<RankingView, Refusal> {
        let metric = plain("metric", metric.to_owned())?;
        let after = cursor.map(ranking_place).transpose()?;
        let rows = self.store.ranking(&metric, context, after, limit + 1);
        let cursor = |last: &RankedEntry| format!("{:016x}.{}", last.place.to_bits(), last.key);
        let rows = rows.await?.into_iter().filter_map(lists::ranked).collect();
        let (places, next) = page_of(rows, limit, cursor);
        Ok(RankingView { places, next })
    }

    async fn figures(&self) -> Result<Arc<Vec<Figure>>, Refusal> {
        self.figures.get(all_figures(self)).await
    }

    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        self.readers.run(work).await
    }
}

fn unknown_product() -> Refusal {
    let detail = "no run of a product of this name was shared, and the catalogue does not have it";
    Refusal::new(
        StatusCode::NOT_FOUND,
        "unknown-product",
        "No such product",
        detail,
    )
}

/// The search, for the product under which the runs of the one that was asked for count.
async fn in_place(site: &Site, search: Search) -> Result<Search, Refusal> {
    let moved = match &search.product {
        // Acts move no simulated run.
        Some(product) if !search.is_simulated => site.moved(product).await?,
        _ => None,
    };
    Ok(Search {
        product: moved.or(search.product),
        ..search
    })
}
