//! Conditions, cursors and rows of lists.

use cardmark_pages::views::product::{ProductEntry, SummaryView};
use cardmark_pages::views::ranking::{ContextEntry, RankedEntry};
use cardmark_pages::views::search::SearchQuery;
use cardmark_share::product_key;
use cardmark_site_store::{
    MetricRange, ProductRow, RankedContext, RankedProduct, Search, SummaryPlace, SummaryRow,
};

use crate::http::parameters::{cursor, limit, optional, plain, wrong_cursor};
use crate::http::problem::Refusal;

/// Reads the conditions of a search.
pub(crate) fn conditions(query: SearchQuery) -> Result<Search, Refusal> {
    let metric = match (query.metric, query.least, query.most) {
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
    let days = match (optional("from", query.from)?, optional("to", query.to)?) {
        (None, None) => None,
        (from, to) => Some((
            day("from", from, "0000-01-01")?,
            day("to", to, "9999-12-31")?,
        )),
    };
    Ok(Search {
        is_simulated: query.simulated.unwrap_or(false),
        product: optional("product", query.product)?.map(|name| product_key(&name)),
        board: optional("board", query.board)?,
        bus: optional("bus", query.bus)?,
        command_queue: optional("queue", query.queue)?,
        suite: optional("suite", query.suite)?,
        days,
        metric,
        after: cursor(query.cursor.as_deref())?,
        limit: limit(query.limit)?,
    })
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

pub(super) fn product(row: ProductRow) -> ProductEntry {
    ProductEntry {
        key: row.key,
        name: row.name,
        runs_count: row.runs_count,
        cards_count: row.cards_count,
        fakes_count: row.fakes_count,
    }
}

pub(super) fn summary(row: SummaryRow) -> Option<SummaryView> {
    SummaryView::of(row.metric, row.context, row.submitters, row.cards_count)
}

pub(super) fn context(found: RankedContext) -> ContextEntry {
    ContextEntry {
        key: found.key,
        context: found.context,
        products_count: found.products_count,
    }
}

pub(super) fn ranked(found: RankedProduct) -> Option<RankedEntry> {
    Some(RankedEntry {
        key: found.key,
        name: found.name,
        summary: summary(found.row)?,
        place: found.place,
    })
}

/// Cursor after a summary: its number of submitters, the key of its context, and its metric.
pub(super) fn cursor_of(row: &SummaryRow) -> String {
    let place = row.place();
    let (count, context) = (place.submitters_count, place.context_key);
    format!("{count}.{context}.{}", place.metric)
}

pub(super) fn summary_place(text: &str) -> Result<SummaryPlace, Refusal> {
    let mut parts = text.splitn(3, '.');
    let mut next = || parts.next().ok_or_else(wrong_cursor);
    let (count, context, metric) = (next()?, next()?, next()?);
    Ok(SummaryPlace {
        submitters_count: count.parse().map_err(|_| wrong_cursor())?,
        context_key: context.parse().map_err(|_| wrong_cursor())?,
        metric: metric.to_owned(),
    })
}

/// Reads a cursor of contexts: number of products, a full stop, the key.
pub(super) fn context_cursor(text: &str) -> Result<(u64, i64), Refusal> {
    let parts = text
        .split_once('.')
        .and_then(|(count, key)| Some((count.parse().ok()?, key.parse().ok()?)));
    parts.ok_or_else(wrong_cursor)
}

/// Reads a cursor of a ranking: the bits of the place, a full stop, the product.
pub(super) fn ranking_place(text: &str) -> Result<(f64, &str), Refusal> {
    let (bits, key) = text.split_once('.').ok_or_else(wrong_cursor)?;
    let bits = u64::from_str_radix(bits, 16).map_err(|_| wrong_cursor())?;
    Some((f64::from_bits(bits), key))
        .filter(|(place, _)| place.is_finite())
        .ok_or_else(wrong_cursor)
}
