//! Rows of the tables, the same from a site's database and from a document derived again.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use cardmark_catalog::metric_quantities;
use cardmark_core::{Quantity, name_of};
use cardmark_share::{
    Level, STATE_QUARANTINED, STATE_SHARED, STATE_WITHDRAWN, TAG_BYTES, is_quarantined, level,
    to_hexadecimal,
};
use cardmark_site_store::{Arrival, Rederived, State, storable};
use serde_json::json;

/// A row of `records`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecordRow {
    pub(crate) id: String,
    pub(crate) state: &'static str,
    pub(crate) level: String,
    pub(crate) origin: String,
    pub(crate) received_ms: i64,
    pub(crate) day: Option<String>,
    pub(crate) submitter: Option<String>,
    pub(crate) card: String,
    pub(crate) product: Option<String>,
    pub(crate) product_name: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) board: Option<String>,
    pub(crate) suite: Option<String>,
    pub(crate) bus: Option<String>,
    pub(crate) command_queue: Option<String>,
    pub(crate) size_bytes: Option<i64>,
    pub(crate) storage: Option<String>,
    pub(crate) context: String,
}

/// A row of `figures`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FigureRow {
    pub(crate) id: String,
    pub(crate) metric: String,
    pub(crate) value: f64,
    pub(crate) unit: Option<&'static str>,
}

static QUANTITIES: LazyLock<BTreeMap<String, Quantity>> = LazyLock::new(metric_quantities);

/// The unit of a metric's values; `None` if this version does not know the metric.
fn unit_of(metric: &str, is_lowest_first: bool) -> Option<&'static str> {
    match QUANTITIES.get(metric) {
        _ if is_lowest_first => Some("ns"),
        Some(Quantity::ByteRate) => Some("B/s"),
        Some(Quantity::OperationRate) => Some("1/s"),
        Some(Quantity::Span) => Some("ns"),
        Some(Quantity::Size) => Some("B"),
        Some(Quantity::Count | Quantity::Ratio) => Some("1"),
        Some(Quantity::Other(_)) | None => None,
    }
}

pub(crate) fn state_name(state: State) -> &'static str {
    match state {
        State::Shared => STATE_SHARED,
        State::Quarantined => STATE_QUARANTINED,
        State::Withdrawn => STATE_WITHDRAWN,
    }
}

fn signed(size: u64) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

/// Rows of a stored record.
pub(crate) fn of_arrival(arrival: &Arrival) -> (RecordRow, Vec<FigureRow>) {
    let head = &arrival.head;
    let id = head.id.to_string();
    let figures = arrival.figures.iter();
    let figures = figures.map(|(metric, value, is_lowest_first)| FigureRow {
        id: id.clone(),
        metric: metric.clone(),
        value: *value,
        unit: unit_of(metric, *is_lowest_first),
    });
    let figures = figures.collect();
    let record = RecordRow {
        id,
        state: state_name(head.state),
        level: name_of(&head.level),
        origin: arrival.origin.clone(),
        received_ms: head.received_ms,
        day: head.day.clone(),
        submitter: head.tag.map(|tag| to_hexadecimal(&tag)),
        card: to_hexadecimal(&arrival.card),
        product: head.product.clone(),
        product_name: head.product_name.clone(),
        model: head.model.clone(),
        board: head.board.clone(),
        suite: head.suite.clone(),
        bus: head.bus.clone(),
        command_queue: arrival.command_queue.clone(),
        size_bytes: head.size_bytes.map(signed),
        storage: head.storage.clone(),
        context: arrival.context.clone(),
    };
    (record, figures)
}

/// Rows of a document derived again. State and level follow from the checks of the document by itself.
pub(crate) fn of_derived(
    derived: Rederived,
    submitter: Option<[u8; TAG_BYTES]>,
    received_ms: i64,
) -> (RecordRow, Vec<FigureRow>) {
    let extract = storable(derived.extract);
    let state = match is_quarantined(&derived.checks) {
        true => State::Quarantined,
        false => State::Shared,
    };
    let level: Level = level(&extract.origin, &derived.checks);
    let id = extract.id.to_string();
    let figures = extract.figures.iter().map(|figure| FigureRow {
        id: id.clone(),
        metric: figure.metric.clone(),
        value: figure.value,
        unit: unit_of(&figure.metric, figure.quantity == Quantity::Span),
    });
    let figures = figures.collect();
    let record = RecordRow {
        id,
        state: state_name(state),
        level: name_of(&level),
        received_ms,
        submitter: submitter.map(|submitter| to_hexadecimal(&submitter)),
        card: to_hexadecimal(&derived.card),
        product: extract.product_key(),
        context: json!(extract.context).to_string(),
        origin: extract.origin,
        day: extract.day,
        product_name: extract.product_name,
        model: extract.model,
        board: extract.board,
        suite: extract.suite,
        bus: extract.bus,
        command_queue: extract.command_queue,
        size_bytes: extract.size_bytes.map(signed),
        storage: extract.storage.map(|kind| name_of(&kind)),
    };
    (record, figures)
}
