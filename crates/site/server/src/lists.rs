//! Lists: search, products, boards, changes. Each costs the same with any number of records.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use cardmark_catalog::{explanations, products as known_products};
use cardmark_share::{CheckName, LEAST_SUBMITTERS, Problem, Summary, product_key};
use cardmark_site_store::{
    Change, ChangeKind, MetricRange, ProductRow, Search, SummaryPlace, SummaryRow,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use crate::answers::{Listed, day_of, kept};
use crate::described::{Asked, Read};
use crate::pages::addresses;
use crate::parameters::{
    Key, Parameters, cursor, cursor_text, limit, optional, page_of, plain, wrong_cursor,
};
use crate::problem::Refusal;
use crate::published::{PublishedFigure, of_product};
use crate::state::Site;

/// Conditions of a search. All have to be met.
#[derive(Debug, Deserialize, Serialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchQuery {
    /// Name or key of a product.
    #[param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) product: Option<String>,
    /// Model of the board, as the record has it.
    #[param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) board: Option<String>,
    /// Bus, such as `sdr104`.
    #[param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    bus: Option<String>,
    /// Command queue of the card: `on` or `off`.
    #[param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    queue: Option<String>,
    /// Suite and version, such as `quick 1`, or the test of storage.
    #[param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) suite: Option<String>,
    /// Metric that has to lie between `least` and `most`.
    #[param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    metric: Option<String>,
    /// Least value of the metric.
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    least: Option<f64>,
    /// Greatest value of the metric.
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    most: Option<f64>,
    /// First day of the run, such as `2026-11-01`.
    #[param(format = Date)]
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) from: Option<String>,
    /// Last day of the run.
    #[param(format = Date)]
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) to: Option<String>,
    /// True for runs of simulated cards, which are apart from all others.
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) simulated: Option<bool>,
    /// `next` of the page before.
    #[param(pattern = "^-?[0-9]{1,18}\\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    cursor: Option<String>,
    /// Entries of a page, 1 to 100; 20.
    #[param(minimum = 1, maximum = 100)]
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    limit: Option<u32>,
}

/// Reads a value; an empty text, as a form sends it, is none.
fn given<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: std::str::FromStr<Err: std::fmt::Display>,
{
    match Option::<String>::deserialize(from)? {
        Some(text) if !text.is_empty() => text.parse().map(Some).map_err(serde::de::Error::custom),
        _ => Ok(None),
    }
}

/// A page of a search, the last arrivals first. A page tests a limited number of records: it can have fewer entries than asked for, or
/// none, and still not be the last.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SearchPage {
    /// The records.
    records: Vec<Listed>,
    /// Cursor of the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl SearchQuery {
    /// Names and values of all that is given but the cursor.
    pub(crate) fn parameters(&self) -> Result<Vec<(String, String)>, Refusal> {
        let Ok(Value::Object(fields)) = serde_json::to_value(self) else {
            return Err(Refusal::failed());
        };
        let text = |value: Value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let given = fields.into_iter().filter(|(name, _)| name != "cursor");
        Ok(given.map(|(name, value)| (name, text(value))).collect())
    }

    pub(crate) fn search(self) -> Result<Search, Refusal> {
        let metric = match (self.metric, self.least, self.most) {
            (None, None, None) => None,
            (None, ..) => {
                return Err(Refusal::bad_request(
                    "least and most are of a metric: name it too",
                ));
            }
            (Some(metric), least, most) => Some(MetricRange {
                metric: plain("metric", metric)?,
                least: number("least", least)?.unwrap_or(0.0),
                most: number("most", most)?.unwrap_or(f64::MAX),
            }),
        };
        let days = match (optional("from", self.from)?, optional("to", self.to)?) {
            (None, None) => None,
            (from, to) => Some((
                day("from", from, "0000-01-01")?,
                day("to", to, "9999-12-31")?,
            )),
        };
        Ok(Search {
            is_simulated: self.simulated.unwrap_or(false),
            product: optional("product", self.product)?.map(|name| product_key(&name)),
            board: optional("board", self.board)?,
            bus: optional("bus", self.bus)?,
            command_queue: optional("queue", self.queue)?,
            suite: optional("suite", self.suite)?,
            days,
            metric,
            after: cursor(self.cursor.as_deref())?,
            limit: limit(self.limit)?,
        })
    }
}

fn number(name: &str, value: Option<f64>) -> Result<Option<f64>, Refusal> {
    match value {
        Some(value) if !value.is_finite() => {
            Err(Refusal::bad_request(format!("{name} is not a number")))
        }
        other => Ok(other),
    }
}

fn day(name: &str, text: Option<String>, otherwise: &str) -> Result<String, Refusal> {
    let Some(text) = text else {
        return Ok(otherwise.to_owned());
    };
    match text.parse::<jiff::civil::Date>() {
        Ok(date) if text.len() == 10 => Ok(date.to_string()),
        _ => Err(Refusal::bad_request(format!(
            "{name} has to be a day, such as 2026-11-25"
        ))),
    }
}

/// Searches records.
#[utoipa::path(
    get, path = "/api/v1/records", tag = "read", params(SearchQuery),
    responses(
        (status = 200, description = "A page", body = SearchPage),
        Asked, Read,
    )
)]
pub(crate) async fn search(
    State(site): State<Arc<Site>>,
    RawQuery(text): RawQuery,
    Parameters(query): Parameters<SearchQuery>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    without_empty(text.as_deref().unwrap_or_default())?;
    let search = in_place(&site, query.search()?).await?;
    let page = site.store.search(&search).await?;
    let next = page.next.map(cursor_text);
    let records = page.heads.into_iter().map(Listed::from).collect();
    Ok(kept(&headers, &SearchPage { records, next }))
}

/// Forms of pages send fields that are empty; to a program that does, a condition of its search is missing.
fn without_empty(query: &str) -> Result<(), Refusal> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    let mut named = parts.map(|part| part.split_once('=').unwrap_or((part, "")));
    match named.find(|(_, value)| value.is_empty()) {
        Some((name, _)) => Err(Refusal::bad_request(format!(
            "{name} is empty; leave it out"
        ))),
        None => Ok(()),
    }
}

/// The search, for the product under which the runs of the one that was asked for count.
pub(crate) async fn in_place(site: &Site, search: Search) -> Result<Search, Refusal> {
    let moved = match &search.product {
        // Acts move no simulated run.
        Some(product) if !search.is_simulated => moved(site, product).await?,
        _ => None,
    };
    Ok(Search {
        product: moved.or(search.product),
        ..search
    })
}

/// The product under which moderators count another one.
pub(crate) async fn moved(site: &Site, name: &str) -> Result<Option<String>, Refusal> {
    let decisions = site.store.decisions().await?;
    Ok(decisions.moved(&product_key(name)).map(str::to_owned))
}

/// A page of a list by name.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct NamesQuery {
    /// Beginning of the name.
    #[param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    pub(crate) q: Option<String>,
    /// `next` of the page before.
    #[param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    cursor: Option<String>,
    /// Entries of a page, 1 to 100; 20.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
}

/// A product with shared runs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProductEntry {
    /// Key on this site: the catalogue's id, or `~` and the name.
    pub(crate) key: String,
    /// Name.
    pub(crate) name: String,
    /// Runs that count.
    pub(crate) runs_count: u64,
    /// Cards, as far as known.
    pub(crate) cards_count: u64,
    /// Cards that failed a test of their capacity.
    pub(crate) fakes_count: u64,
}

impl From<ProductRow> for ProductEntry {
    fn from(row: ProductRow) -> Self {
        Self {
            key: row.key,
            name: row.name,
            runs_count: row.runs_count,
            cards_count: row.cards_count,
            fakes_count: row.fakes_count,
        }
    }
}

/// A page of products.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProductsPage {
    /// The products, by key.
    pub(crate) products: Vec<ProductEntry>,
    /// Cursor of the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// Lists products with shared runs.
#[utoipa::path(
    get, path = "/api/v1/products", tag = "read", params(NamesQuery),
    responses(
        (status = 200, description = "A page", body = ProductsPage),
        Asked, Read,
    )
)]
pub(crate) async fn products(
    State(site): State<Arc<Site>>,
    Parameters(query): Parameters<NamesQuery>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    Ok(kept(&headers, &products_page(&site, query).await?))
}

pub(crate) async fn products_page(site: &Site, query: NamesQuery) -> Result<ProductsPage, Refusal> {
    let (limit, after) = (limit(query.limit)?, optional("cursor", query.cursor)?);
    let prefix = optional("q", query.q)?.unwrap_or_default().to_lowercase();
    let rows = site
        .store
        .products(&prefix, after.as_deref(), limit + 1)
        .await?;
    let (rows, next) = page_of(rows, limit, |row| row.key.clone());
    let products = rows.into_iter().map(ProductEntry::from).collect();
    Ok(ProductsPage { products, next })
}

/// Figures of the cards of a product in one metric under the same circumstances.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SummaryView {
    /// The metric.
    pub(crate) metric: String,
    /// Circumstances that are the same for all cards.
    pub(crate) context: BTreeMap<String, String>,
    /// Cards that count: at most five of each submitter.
    pub(crate) cards_count: u64,
    /// Their submitters, each with one voice: the median of its cards.
    pub(crate) submitters_count: u64,
    /// True from three submitters on: only then the product is ranked.
    pub(crate) is_ranked: bool,
    /// Median of the submitters; of each card the median of its runs counts.
    pub(crate) median: f64,
    /// Lower end of the 95 % interval of the median, from six submitters on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) low: Option<f64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) high: Option<f64>,
    /// Lower quartile of the submitters.
    pub(crate) lower_quartile: f64,
    /// Upper quartile.
    pub(crate) upper_quartile: f64,
    /// The submitters by their figures.
    #[serde(skip)]
    pub(crate) submitters: Summary,
}

impl SummaryView {
    /// `None` for a summary without any card.
    pub(crate) fn of(row: SummaryRow) -> Option<Self> {
        let (median, interval) = row.submitters.median()?;
        let submitters_count = row.submitters.count();
        Some(Self {
            is_ranked: submitters_count >= LEAST_SUBMITTERS,
            cards_count: row.cards_count,
            submitters_count,
            median,
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            lower_quartile: row.submitters.quantile(0.25)?,
            upper_quartile: row.submitters.quantile(0.75)?,
            metric: row.metric,
            context: row.context,
            submitters: row.submitters,
        })
    }
}

/// Summaries of a product in one answer.
const SUMMARIES: u32 = 200;

/// A part of the summaries of a product.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ProductQuery {
    /// `next` of the answer before.
    #[param(pattern = "^[0-9]{1,18}\\.-?[0-9]{1,19}\\.[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    pub(crate) cursor: Option<String>,
}

/// A product: shared runs, and beside them, never mixed, published figures.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProductView {
    #[serde(flatten)]
    pub(crate) entry: ProductEntry,
    /// Number of the act of a moderator that confirms the name; absent if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) accepted_by: Option<i64>,
    /// Promises on the package, from the catalogue.
    pub(crate) claims: Vec<String>,
    /// Figures of shared runs, those of most submitters first: at most 200.
    pub(crate) summaries: Vec<SummaryView>,
    /// Cursor of further ones; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
    /// Figures of publications.
    pub(crate) published: Vec<PublishedFigure>,
}

/// A product by key or name.
#[utoipa::path(
    get, path = "/api/v1/products/{key}", tag = "read",
    params(
        ("key" = String, Path, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$", description = "Key or name of the product"),
        ProductQuery,
    ),
    responses(
        (status = 200, description = "The product", body = ProductView),
        (status = 307, description = "Its runs count under another product"),
        (status = 404, description = "Unknown", body = Problem, content_type = "application/problem+json"),
        Asked, Read,
    )
)]
pub(crate) async fn product(
    State(site): State<Arc<Site>>,
    Key(name): Key,
    Parameters(query): Parameters<ProductQuery>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    if let Some(key) = moved(&site, &name).await? {
        let address = format!("/api/v1{}", addresses::product(&key));
        return Ok(Redirect::temporary(&address).into_response());
    }
    Ok(kept(&headers, &product_view(&site, &name, &query).await?))
}

pub(crate) async fn product_view(
    site: &Site,
    name: &str,
    query: &ProductQuery,
) -> Result<ProductView, Refusal> {
    let key = product_key(name);
    let after = query.cursor.as_deref().map(summary_place).transpose()?;
    let known = known_products().iter().find(|row| row.id == key);
    let published = of_product(&key);
    let (entry, rows) = match (
        site.store
            .product(&key, after.as_ref(), SUMMARIES + 1)
            .await?,
        known,
    ) {
        (Some((row, summaries)), _) => (ProductEntry::from(row), summaries),
        (None, Some(known)) => {
            let (key, name) = (key.clone(), known.name());
            (
                ProductEntry {
                    key,
                    name,
                    runs_count: 0,
                    cards_count: 0,
                    fakes_count: 0,
                },
                Vec::new(),
            )
        }
        (None, None) => {
            let detail =
                "no run of a product of this name was shared, and the catalogue does not have it";
            return Err(Refusal::new(
                StatusCode::NOT_FOUND,
                "unknown-product",
                "No such product",
                detail,
            ));
        }
    };
    let claims = known.map(|known| known.claims.clone()).unwrap_or_default();
    let (rows, next) = page_of(rows, SUMMARIES, cursor_of);
    let summaries = rows.into_iter().filter_map(SummaryView::of).collect();
    let decisions = site.store.decisions().await?;
    Ok(ProductView {
        accepted_by: decisions.accepted(&key),
        entry,
        claims,
        summaries,
        next,
        published,
    })
}

/// Cursor after a summary: its number of submitters, the key of its context, and its metric.
fn cursor_of(row: &SummaryRow) -> String {
    let place = row.place();
    let (count, context) = (place.submitters_count, place.context_key);
    format!("{count}.{context}.{}", place.metric)
}

fn summary_place(text: &str) -> Result<SummaryPlace, Refusal> {
    let mut parts = text.splitn(3, '.');
    let mut next = || parts.next().ok_or_else(wrong_cursor);
    let (count, context, metric) = (next()?, next()?, next()?);
    Ok(SummaryPlace {
        submitters_count: count.parse().map_err(|_| wrong_cursor())?,
        context_key: context.parse().map_err(|_| wrong_cursor())?,
        metric: metric.to_owned(),
    })
}

/// A board.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BoardEntry {
    /// Model, as the records have it.
    model: String,
    /// Runs that count.
    runs_count: u64,
}

/// A page of boards.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BoardsPage {
    /// The boards, by model.
    boards: Vec<BoardEntry>,
    /// Cursor of the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// A page of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageQuery {
    /// `next` of the page before.
    #[param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$")]
    cursor: Option<String>,
    /// Entries of a page, 1 to 100; 20.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
}

/// Lists boards on which runs were measured.
#[utoipa::path(
    get, path = "/api/v1/boards", tag = "read", params(PageQuery),
    responses(
        (status = 200, description = "A page", body = BoardsPage),
        Asked, Read,
    )
)]
pub(crate) async fn boards(
    State(site): State<Arc<Site>>,
    Parameters(query): Parameters<PageQuery>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let (limit, after) = (limit(query.limit)?, optional("cursor", query.cursor)?);
    let rows = site.store.boards(after.as_deref(), limit + 1).await?;
    let (rows, next) = page_of(rows, limit, |row| row.0.clone());
    let boards = rows
        .into_iter()
        .map(|(model, runs_count)| BoardEntry { model, runs_count })
        .collect();
    Ok(kept(&headers, &BoardsPage { boards, next }))
}

/// A change.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChangeEntry {
    /// The record.
    id: Uuid,
    /// `arrived`, `amended` or `withdrawn`.
    kind: &'static str,
    /// Day of the change.
    on: String,
}

/// A page of changes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChangesPage {
    /// The changes, oldest first.
    changes: Vec<ChangeEntry>,
    /// Cursor after the last one: ask again with it, now or later.
    next: String,
}

/// A page of the changes.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ChangesQuery {
    /// `next` of the page before.
    #[param(pattern = "^[0-9]{1,18}$")]
    cursor: Option<String>,
    /// Entries of a page, 1 to 100; 20.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
}

/// Lists changes, oldest first, for those who keep a copy. Withdrawn records have to be deleted there too.
#[utoipa::path(
    get, path = "/api/v1/changes", tag = "read", params(ChangesQuery),
    responses(
        (status = 200, description = "A page", body = ChangesPage),
        Asked, Read,
    )
)]
pub(crate) async fn changes(
    State(site): State<Arc<Site>>,
    Parameters(query): Parameters<ChangesQuery>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let limit = limit(query.limit)?;
    let after = query
        .cursor
        .as_deref()
        .map(str::parse)
        .transpose()
        .map_err(|_| wrong_cursor())?;
    let after = after.unwrap_or_default();
    let rows = site.store.changes(after, limit).await?;
    let next = rows.last().map_or(after, |row| row.sequence).to_string();
    let entry = |change: Change| ChangeEntry {
        id: change.id,
        kind: match change.kind {
            ChangeKind::Arrived => "arrived",
            ChangeKind::Amended => "amended",
            ChangeKind::Withdrawn => "withdrawn",
        },
        on: day_of(change.at_ms),
    };
    let changes = rows.into_iter().map(entry).collect();
    Ok(kept(&headers, &ChangesPage { changes, next }))
}

/// A check, for people.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CheckEntry {
    /// Its name in answers.
    name: CheckName,
    /// Title.
    title: &'static str,
    /// Description, with the consequence of a failure.
    text: &'static str,
}

/// Explains the checks.
#[utoipa::path(
    get, path = "/api/v1/checks", tag = "read",
    responses(
        (status = 200, description = "All checks", body = Vec<CheckEntry>),
        Read,
    )
)]
pub(crate) async fn checks(headers: HeaderMap) -> Response {
    let entry = |name: CheckName| {
        let term = name.term();
        let found = explanations().iter().find(|row| row.id == term);
        found.map(|found| CheckEntry {
            name,
            title: &found.title,
            text: &found.text,
        })
    };
    let all: Vec<CheckEntry> = CheckName::ALL.into_iter().filter_map(entry).collect();
    kept(&headers, &all)
}
