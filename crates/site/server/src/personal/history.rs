//! Cards of this computer's runs, and the history of each.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use cardmark_core::{Record, evidence_digest};
use cardmark_judge::{add_reference_reads, sort_by_start, unreadable_start};
use cardmark_pages::not_found;
use cardmark_pages::pages::history::{self, SAMPLE, SIMULATED};
use cardmark_report::MOST_RUNS;
use cardmark_store::{Condition, Store};
use tempfile::TempDir;

use crate::error::SiteError;
use crate::http::page::{PageRefusal, no_page, shown};
use crate::http::parameters::Key;
use crate::http::problem::Refusal;
use crate::state::Site;

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
pub(crate) async fn cards(
    State(site): State<Arc<Site>>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let runs = selected(&site, Vec::new()).await?;
    Ok(shown(&history::cards(runs), &headers))
}

/// The history of a card.
pub(crate) async fn card(
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
        return Err(not_found("No such card", detail).into());
    }
    let mine = site.mine.clone().ok_or_else(no_page)?;
    let make = move || {
        sort_by_start(&mut runs);
        add_references(&mine.stores, &mut runs);
        history::card(card, &runs)
    };
    let page = site.readers.run(make).await?;
    Ok(shown(&page, &headers))
}
