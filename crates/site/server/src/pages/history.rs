//! Cards of the personal instance, and the history of each: the answers of `cardmark history`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cardmark_core::{DeviceInfo, OriginKind, Record, evidence_digest};
use cardmark_judge::{add_reference_reads, by_card, history, sort_by_start, unreadable_start};
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::text::count_of;
use cardmark_report::{MOST_RUNS, card_name, history_blocks};
use cardmark_store::{Condition, Store};
use tempfile::TempDir;

use super::addresses;
use super::frame::{Page, PageRefusal, no_page};
use crate::error::SiteError;
use crate::parameters::Key;
use crate::problem::Refusal;
use crate::state::Site;

/// Cards that the list has.
const MOST_CARDS: usize = 500;

/// The name by which `cardmark history` finds the card of a run; `None` if it is not known.
pub(super) fn name_of(run: &Record) -> Option<String> {
    let device = run.devices.first();
    if let Some(id) = device.and_then(DeviceInfo::card_id) {
        return Some(id.to_owned());
    }
    if let Some(label) = run.labels.get("sample") {
        return Some(format!("{SAMPLE}{label}"));
    }
    let model = device?.model.as_ref()?;
    (run.origin.kind == OriginKind::Simulated).then(|| format!("{SIMULATED}{model}"))
}

/// Before the name of a simulated card.
const SIMULATED: &str = "sim:";
/// Before the name that its owner gave to a card.
const SAMPLE: &str = "sample=";

/// Conditions for the runs of a card.
fn conditions(card: &str) -> Vec<Condition> {
    let condition = |name: &str, value: &str| Condition {
        name: name.to_owned(),
        value: value.to_owned(),
    };
    if let Some(model) = card.strip_prefix(SIMULATED) {
        return vec![condition("origin", "simulated"), condition("model", model)];
    }
    match card.strip_prefix(SAMPLE) {
        Some(label) => vec![condition("sample", label)],
        None => vec![condition("card", card)],
    }
}

/// The runs of all stores that meet the conditions, each once, as are its copies with another id.
fn select(stores: &[PathBuf], conditions: &[Condition]) -> Result<Vec<Record>, SiteError> {
    let (mut runs, mut met) = (Vec::new(), BTreeSet::new());
    for path in stores.iter().filter(|path| path.exists()) {
        let scratch = tempfile::tempdir().map_err(SiteError::Folder)?;
        let found = Store::open_to_read(path, scratch.path())?.select_distinct(conditions)?;
        let is_new = |run: &Record| {
            let digest = evidence_digest(run);
            met.insert(run.id.to_string()) & digest.is_none_or(|digest| met.insert(digest))
        };
        runs.extend(found.into_iter().filter(is_new));
    }
    Ok(runs)
}

/// Adds the reference reads of the runs on the page, which are in the order of time, if a rate has another level. Stores and
/// runs that cannot be read go without.
fn add_references(stores: &[PathBuf], runs: &mut [Record]) {
    let open = |path: &PathBuf| {
        let scratch = tempfile::tempdir().ok()?;
        let store = Store::open_to_read(path, scratch.path()).ok()?;
        Some((store, scratch))
    };
    let mut opened: Option<Vec<(Store, TempDir)>> = None;
    add_reference_reads(runs, &[], MOST_RUNS, |run| {
        let stores = opened.get_or_insert_with(|| stores.iter().filter_map(open).collect());
        let id = run.id.to_string();
        let mut found = stores.iter_mut().map(|(store, _)| store.find(&id));
        found.find_map(|found| Some(found.ok()?.record))
    });
}

async fn selected(site: &Site, conditions: Vec<Condition>) -> Result<Vec<Record>, Refusal> {
    let mine = site.mine.clone().ok_or_else(no_page)?;
    let read = move || select(&mine.stores, &conditions);
    site.readers
        .run(read)
        .await?
        .map_err(|error| unreadable(error.to_string()))
}

fn unreadable(detail: String) -> Refusal {
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    Refusal::new(status, "failed", "The runs cannot be read", detail)
}

/// The cards of all runs.
pub(super) async fn cards(
    State(site): State<Arc<Site>>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let cards = by_card(selected(&site, Vec::new()).await?);
    let count = cards.len();
    let row = |(id, runs): (String, Vec<Record>)| {
        let name = runs.last().map_or_else(|| id.clone(), card_name);
        let day = |run: Option<&Record>| {
            let start = run.and_then(|run| run.started_at.as_deref());
            start.and_then(|at| at.get(..10)).unwrap_or("–").to_owned()
        };
        let (first, last) = (day(runs.first()), day(runs.last()));
        Row::new(vec![name, runs.len().to_string(), first, last]).linked(addresses::history(&id))
    };
    let rows: Vec<Row> = cards.into_iter().take(MOST_CARDS).map(row).collect();
    let blocks = match rows.is_empty() {
        true => vec![Block::Text(
            "No run is of an identifiable card: no CID or serial number was readable. The pages of runs lead to the history of cards that \
             are simulated or have a label `sample`."
                .to_owned(),
        )],
        false => vec![Block::Table {
            caption: match count > MOST_CARDS {
                true => format!("{MOST_CARDS} of {count} cards"),
                false => "Cards with an id of their own".to_owned(),
            },
            table: Table {
                columns: vec![
                    Column::left("card"),
                    Column::right("runs"),
                    Column::left("first"),
                    Column::left("last"),
                ],
                rows,
            },
        }],
    };
    Ok(Page::new("Cards", "Cards of this computer's runs.", blocks).answer(&headers))
}

/// The history of a card.
pub(super) async fn card(
    State(site): State<Arc<Site>>,
    key: Result<Key, Refusal>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let Key(card) = key?;
    let mut runs = selected(&site, conditions(&card)).await?;
    if let Some(run) = unreadable_start(&runs) {
        return Err(unreadable(format!("the time of run {} is not readable", run.id)).into());
    }
    if runs.is_empty() {
        let detail = "there is no run of this card; /history lists the cards that have some";
        let title = "No such card";
        return Err(Refusal::new(StatusCode::NOT_FOUND, "unknown-path", title, detail).into());
    }
    let mine = site.mine.clone().ok_or_else(no_page)?;
    let make = move || {
        sort_by_start(&mut runs);
        add_references(&mine.stores, &mut runs);
        let name = runs.last().map_or_else(|| card.clone(), card_name);
        (name, blocks(&runs))
    };
    let (name, blocks) = site.readers.run(make).await?;
    let page = Page::new(name, "Runs of a card in the order of time.", blocks);
    Ok(page.link("All cards", "/history").answer(&headers))
}

fn blocks(runs: &[Record]) -> Vec<Block> {
    let groups = history(runs, &[]);
    if groups.is_empty() {
        return vec![Block::Text(
            "The runs of this card have no rates.".to_owned(),
        )];
    }
    let count = groups.iter().map(|group| group.runs.len()).sum::<usize>();
    let mut blocks = vec![Block::Text(format!(
        "{} with rates, and whether the rates changed.",
        count_of(count, "run", "runs")
    ))];
    blocks.extend(history_blocks(&groups, |run| addresses::run(run.id)));
    blocks
}
