//! Own runs, and the queries of pages over them.

mod library;
mod runs;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use cardmark_catalog::{Product, products as known_products};
use cardmark_core::Record;
use cardmark_judge::{Day, Figure, derive_again};
use cardmark_pages::shared::published;
use cardmark_pages::views::board::{BoardEntry, BoardsPage};
use cardmark_pages::views::product::{ProductEntry, ProductView, ProductsPage, ProductsQuery};
use cardmark_pages::views::published::of_product;
use cardmark_pages::views::ranking::{Contexts, RankingView};
use cardmark_pages::views::search::{SearchPage, SearchQuery};
use cardmark_pages::{Queries, bad_request, not_found, wrong_cursor};
use cardmark_share::{Problem, product_key};
use uuid::Uuid;

pub(crate) use library::Library;
use runs::{Wanted, counted, summaries};

/// Entries of a page, unless it asks for another number, and at most.
const USUAL: u32 = 20;
const MOST: u32 = 100;

impl Queries for Library {
    type Error = Problem;

    fn is_personal(&self) -> bool {
        true
    }

    fn today(&self) -> Day {
        Day::at_s(now_s().cast_signed()).unwrap_or_default()
    }

    async fn runs_count(&self) -> Result<u64, Problem> {
        Ok(self.runs().all.len() as u64)
    }

    async fn search(&self, query: SearchQuery) -> Result<SearchPage, Problem> {
        let runs = self.runs();
        let (from, limit) = (place(query.cursor.as_deref())?, limit(query.limit)?);
        let wanted = Wanted::new(query, &runs.all)?;
        let mut found = runs.all.iter().filter(|run| wanted.is_met(run)).skip(from);
        Ok(SearchPage {
            records: found.by_ref().take(limit).map(runs::Run::listed).collect(),
            next: found.next().map(|_| (from + limit).to_string()),
        })
    }

    async fn record(&self, id: Uuid) -> Result<Record, Problem> {
        let found = self.find(id)?;
        let mut record = found.record;
        record.labels = found.labels;
        let _ = derive_again(&mut record);
        Ok(record)
    }

    async fn products(&self, query: ProductsQuery) -> Result<ProductsPage, Problem> {
        let (from, limit) = (place(query.cursor.as_deref())?, limit(query.limit)?);
        let part = query.q.unwrap_or_default().to_lowercase();
        let products = counted(&self.runs().all).into_values();
        let mut products = products
            .filter(|entry| entry.name.to_lowercase().contains(&part))
            .skip(from);
        Ok(ProductsPage {
            products: products.by_ref().take(limit).collect(),
            next: products.next().map(|_| (from + limit).to_string()),
        })
    }

    async fn products_of(&self, keys: Vec<String>) -> Result<Vec<ProductEntry>, Problem> {
        let mut products = counted(&self.runs().all);
        let found = keys.iter().filter_map(|key| products.remove(key));
        Ok(found.collect())
    }

    async fn product(&self, name: &str, _: Option<&str>) -> Result<ProductView, Problem> {
        let key = product_key(name);
        let runs = self.runs();
        let known: Option<&Product> = known_products().iter().find(|row| row.id == key);
        let catalogued = || {
            known.map(|known| ProductEntry {
                key: key.clone(),
                name: known.name(),
                ..ProductEntry::default()
            })
        };
        let own = counted(&runs.all).remove(&key);
        let entry = own.or_else(catalogued).ok_or_else(|| {
            let detail = "you have no run of it, and the catalogue does not know it";
            not_found("No such product", detail)
        })?;
        Ok(ProductView {
            entry,
            accepted_by: None,
            claims: known.map(|known| known.claims.clone()).unwrap_or_default(),
            summaries: summaries(&runs.all, &key),
            next: None,
            published: of_product(&key),
        })
    }

    async fn boards(&self, cursor: Option<String>, limit: u32) -> Result<BoardsPage, Problem> {
        let (from, limit) = (place(cursor.as_deref())?, limit as usize);
        let runs = self.runs();
        let mut counts = BTreeMap::<&str, u64>::new();
        for board in runs.real().filter_map(|run| run.extract.board.as_deref()) {
            *counts.entry(board).or_default() += 1;
        }
        let board = |(model, runs_count): (&str, u64)| BoardEntry {
            model: model.to_owned(),
            runs_count,
        };
        let mut found = counts.into_iter().skip(from);
        Ok(BoardsPage {
            boards: found.by_ref().take(limit).map(board).collect(),
            next: found.next().map(|_| (from + limit).to_string()),
        })
    }

    /// A place in a ranking needs the cards of several people.
    async fn contexts(&self, _: &str, _: Option<&str>, _: u32) -> Result<Contexts, Problem> {
        Ok(Contexts {
            contexts: Vec::new(),
            next: None,
        })
    }

    async fn ranking(
        &self,
        _: &str,
        _: i64,
        _: Option<&str>,
        _: u32,
    ) -> Result<RankingView, Problem> {
        Ok(RankingView {
            places: Vec::new(),
            next: None,
        })
    }

    async fn figures(&self) -> Result<Arc<Vec<Figure>>, Problem> {
        Ok(published())
    }
}

/// Seconds since 1970.
pub(crate) fn now_s() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Number of the entries before a page.
fn place(cursor: Option<&str>) -> Result<usize, Problem> {
    cursor.map_or(Ok(0), |cursor| {
        let count: Result<u32, _> = cursor.parse();
        count
            .map(|count| count as usize)
            .map_err(|_| wrong_cursor())
    })
}

fn limit(asked: Option<u32>) -> Result<usize, Problem> {
    match asked.unwrap_or(USUAL) {
        limit @ 1..=MOST => Ok(limit as usize),
        _ => Err(bad_request(format!("limit is a number from 1 to {MOST}"))),
    }
}
