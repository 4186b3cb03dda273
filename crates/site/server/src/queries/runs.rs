//! One run: its head, its bytes, and its record.

use cardmark_core::Record;
use cardmark_pages::views::run::{ListedRun, Run, RunState};
use cardmark_share::fits_product;
use cardmark_site_data::day_of;
use cardmark_site_store::{Found, Head, State, StoredDocument};
use uuid::Uuid;

use crate::http::problem::Refusal;
use crate::queries::documents;
use crate::state::Site;

/// State of a run on pages and in answers.
pub(crate) fn state_of(state: State) -> RunState {
    match state {
        State::Shared => RunState::Shared,
        State::Quarantined => RunState::Quarantined,
        State::Withdrawn => RunState::Withdrawn,
    }
}

/// A run in a list.
pub(crate) fn listed(head: Head) -> ListedRun {
    let fits_product = fits_product(&head.checks);
    ListedRun {
        id: head.id,
        state: state_of(head.state),
        level: head.level,
        received_on: day_of(head.received_ms),
        received_ms: head.received_ms,
        day: head.day,
        product: head.product.filter(|_| fits_product),
        product_name: head.product_name,
        model: head.model,
        board: head.board,
        suite: head.suite,
        bus: head.bus,
        size_bytes: head.size_bytes,
        storage: head.storage,
        result: head.result,
        decided_by: head.decided_by,
    }
}

/// A run with its checks.
pub(crate) fn run_of(head: Head) -> Run {
    Run {
        checks: head.checks.clone(),
        listed: listed(head),
    }
}

pub(crate) async fn head(site: &Site, id: Uuid) -> Result<Head, Refusal> {
    match site.store.find(id).await? {
        Found::Here(head) => Ok(*head),
        Found::Withdrawn { .. } => Err(Refusal::withdrawn()),
        Found::Unknown => Err(Refusal::unknown_run()),
    }
}

pub(crate) async fn stored(site: &Site, id: Uuid) -> Result<StoredDocument, Refusal> {
    // Withdrawn since its head was read.
    site.store
        .document(id)
        .await?
        .ok_or_else(Refusal::withdrawn)
}

/// The record of a run with everything derived again.
pub(crate) async fn derived_record(site: &Site, id: Uuid) -> Result<Record, Refusal> {
    let stored = stored(site, id).await?;
    let derive = move || documents::record(&stored.packed);
    site.readers.run(derive).await?
}

/// The runs of both sides of a comparison, and what it follows from.
#[derive(Debug)]
pub(crate) struct Sides {
    pub(crate) ids: [Vec<Uuid>; 2],
    heads: Vec<Head>,
}

impl Sides {
    pub(crate) async fn of(site: &Site, ids: [Vec<Uuid>; 2]) -> Result<Self, Refusal> {
        let mut heads = Vec::new();
        for id in ids.iter().flatten() {
            heads.push(head(site, *id).await?);
        }
        Ok(Self { ids, heads })
    }

    /// The address under which a comparison is kept, with the ids of all runs.
    pub(crate) fn path(&self, of: &str) -> String {
        let ids = self.heads.iter().map(|head| head.id.to_string());
        format!("{of} {}", ids.collect::<Vec<_>>().join(" "))
    }
}
