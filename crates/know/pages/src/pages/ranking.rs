//! Rankings in one metric under the same circumstances.

use std::collections::BTreeMap;

use cardmark_report::document::Block;
use cardmark_report::plain_name;
use cardmark_report::text::place_text;
use cardmark_share::Problem;
use serde::Deserialize;

use crate::addresses;
use crate::frame::{Field, Form, Page, Section};
use crate::pages::figures::{self, OFFERED};
use crate::pages::{circumstances, published_charts};
use crate::places::possible;
use crate::queries::{Queries, wrong_cursor};
use crate::views::product::SummaryView;
use crate::views::published::quantity;
use crate::views::ranking::{ContextEntry, MOST_CONTEXTS, RankingView};

/// Places of a page.
const PLACES: u32 = 50;

/// A metric, its circumstances, and the places of the pages before.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankingPageQuery {
    /// Id of the metric; the first that is offered.
    pub metric: Option<String>,
    /// Key of the circumstances; those with the most products.
    pub context: Option<String>,
    /// Number of the places before, a full stop, and the cursor of the last of them.
    pub after: Option<String>,
}

/// A page of a ranking, or the address of its first one.
#[derive(Debug)]
pub enum RankingPage {
    /// The page.
    Here(Box<Page>),
    /// Products left the ranking since the page before: the first page has this address.
    First(String),
}

/// Places that pages before have.
#[derive(Clone, Copy, Debug, Default)]
struct Before<'a> {
    count: usize,
    cursor: Option<&'a str>,
}

impl<'a> Before<'a> {
    fn of(after: &'a str) -> Result<Self, Problem> {
        let (count, cursor) = after.split_once('.').ok_or_else(wrong_cursor)?;
        Ok(Self {
            count: count.parse::<u32>().map_err(|_| wrong_cursor())? as usize,
            cursor: Some(cursor),
        })
    }
}

/// A ranking.
///
/// # Errors
/// If the cursor is wrong, or a query has no answer.
pub async fn ranking<Q: Queries>(
    queries: &Q,
    query: &RankingPageQuery,
) -> Result<RankingPage, Q::Error> {
    let metric = query.metric.as_deref().filter(|metric| !metric.is_empty());
    let metric = metric.unwrap_or(OFFERED[0]);
    let contexts = queries.contexts(metric, None, MOST_CONTEXTS).await?;
    let asked = query.context.as_deref();
    let asked = asked.and_then(|text| text.parse().ok());
    let before = match query.after.as_deref() {
        Some(after) => Before::of(after)?,
        None => Before::default(),
    };
    let chosen = chosen(queries, metric, asked, &contexts.contexts, before).await?;
    let is_empty = |chosen: &Chosen| chosen.view.places.is_empty();
    if before.cursor.is_some() && chosen.as_ref().is_none_or(is_empty) {
        let first = addresses::ranking(metric, query.context.as_deref().unwrap_or_default());
        return Ok(RankingPage::First(first));
    }
    let title = format!("Ranking: {}", plain_name(metric));
    let about = "Products ranked by measured figures under the same circumstances.";
    let key = chosen.as_ref().map(|chosen| chosen.key);
    let blocks = match &chosen {
        Some(chosen) => blocks(&title, metric, chosen, before.count),
        None => vec![Block::Text(
            "No product is ranked in this metric yet: a place needs three submitters.".to_owned(),
        )],
    };
    let key_text = key.map(|key| key.to_string());
    let mut page =
        Page::new(title, about, blocks).form(form(metric, key_text.as_deref(), &contexts.contexts));
    if let Some(key) = &key_text {
        let address = format!("/api/v1{}", addresses::ranking(metric, key));
        page = page.link("As data", address);
    }
    page = page.next(next(metric, chosen.as_ref(), before));
    if let Some(chart) = published_charts::of_metric(metric).filter(|_| before.count == 0) {
        let published = Section::new("By published figures", vec![Block::Chart(chart)]);
        page = page.section(published.link("All boards", "/boards"));
    }
    if let Some(others) = circumstances::others(metric, &contexts, key) {
        page = page.section(others);
    }
    let page = page.section(circumstances::other_figures(metric));
    Ok(RankingPage::Here(Box::new(page)))
}

/// Address of the places after those of this page; `None` if there are none.
fn next(metric: &str, chosen: Option<&Chosen>, before: Before<'_>) -> Option<String> {
    let chosen = chosen?;
    let cursor = chosen.view.next.as_ref()?;
    let after = format!("{}.{cursor}", before.count + chosen.view.places.len());
    let context = chosen.key.to_string();
    Some(addresses::with(
        "/rankings",
        &[
            ("metric", Some(metric)),
            ("context", Some(&context)),
            ("after", Some(&after)),
        ],
    ))
}

/// A ranking.
struct Chosen {
    key: i64,
    context: BTreeMap<String, String>,
    /// Ranked products, if known.
    products_count: Option<u64>,
    /// The places after those before.
    view: RankingView,
}

/// The ranking in the circumstances that were asked for, or else in those with the most products.
async fn chosen<Q: Queries>(
    queries: &Q,
    metric: &str,
    asked: Option<i64>,
    contexts: &[ContextEntry],
    before: Before<'_>,
) -> Result<Option<Chosen>, Q::Error> {
    let view = |key| queries.ranking(metric, key, before.cursor, PLACES);
    let offered = contexts.iter().find(|offered| Some(offered.key) == asked);
    // Circumstances of few products are not among those that are kept.
    if let (None, Some(key)) = (offered, asked) {
        let view = view(key).await?;
        let context = view
            .places
            .first()
            .map(|first| first.summary.context.clone());
        if let Some(context) = context {
            return Ok(Some(Chosen {
                key,
                context,
                products_count: None,
                view,
            }));
        }
    }
    if offered.is_none() && before.cursor.is_some() {
        return Ok(None);
    }
    // The form sends the context of the metric before too.
    let Some(offered) = offered.or(contexts.first()) else {
        return Ok(None);
    };
    Ok(Some(Chosen {
        key: offered.key,
        context: offered.context.clone(),
        products_count: Some(offered.products_count),
        view: view(offered.key).await?,
    }))
}

fn blocks(title: &str, metric: &str, chosen: &Chosen, before: usize) -> Vec<Block> {
    let mut blocks = vec![Block::Text(format!(
        "{}.",
        figures::circumstances(&chosen.context)
    ))];
    let places = &chosen.view.places;
    if places.is_empty() {
        blocks.push(Block::Text(
            "No product has three submitters here yet.".to_owned(),
        ));
        return blocks;
    }
    let is_more = chosen.view.next.is_some();
    let left_out = left_out(before, places.len(), is_more, chosen.products_count);
    blocks.extend(left_out.map(Block::Text));
    if quantity(metric).is_rate() {
        let bars = places.iter().map(|one| (one.name.clone(), &one.summary));
        blocks.push(Block::Chart(figures::bars(title, metric, bars)));
    }
    let listed: Vec<&SummaryView> = places.iter().map(|one| &one.summary).collect();
    let possible = possible(&listed);
    let rows = places.iter().zip(possible).map(|(one, [first, last])| {
        let place = place_text([before + first, before + last]);
        let name = format!("{place}. {}", one.name);
        (name, Some(addresses::product(&one.key)), &one.summary)
    });
    blocks.push(figures::table("Best first".to_owned(), rows));
    blocks.push(Block::Text(match is_more || before > 0 {
        true => format!("{SHARED} They are compared within this page."),
        false => SHARED.to_owned(),
    }));
    blocks
}

/// States that a page has not all places; `None` if it has.
fn left_out(
    before: usize,
    places_count: usize,
    is_more: bool,
    products_count: Option<u64>,
) -> Option<String> {
    if before > 0 {
        let last = before + places_count;
        return Some(format!("Places {} to {last}.", before + 1));
    }
    is_more.then(|| match products_count {
        Some(count) if count > u64::from(PLACES) => {
            format!("The best {PLACES} of {count} ranked products.")
        }
        _ => format!("The best {PLACES} products; more are ranked."),
    })
}

const SHARED: &str = "Products numbered like 1–3 cannot be put in order: other cards of them, or the runs of other people, differ by that.";

fn form(metric: &str, context: Option<&str>, contexts: &[ContextEntry]) -> Form {
    let mut offered: Vec<&str> = OFFERED.to_vec();
    if !offered.contains(&metric) {
        offered.push(metric);
    }
    let metrics = offered.iter().map(|id| ((*id).to_owned(), plain_name(id)));
    let mut fields = vec![Field::choice(
        "metric",
        "Metric",
        Some(metric),
        metrics.collect(),
    )];
    if !contexts.is_empty() {
        let choice = |offered: &ContextEntry| {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_without_all_places_says_so() {
        assert_eq!(left_out(0, 50, false, Some(50)), None);
        assert_eq!(left_out(0, 3, false, None), None);
        let of = left_out(0, 50, true, Some(123));
        assert_eq!(of.as_deref(), Some("The best 50 of 123 ranked products."));
        let others = "The best 50 products; more are ranked.";
        assert_eq!(left_out(0, 50, true, None).as_deref(), Some(others));
        let of = left_out(50, 23, false, Some(73));
        assert_eq!(of.as_deref(), Some("Places 51 to 73."));
        // The number may be a minute old.
        assert_eq!(left_out(0, 50, true, Some(50)).as_deref(), Some(others));
    }
}
