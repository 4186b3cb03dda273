//! Published figures that show that a board limits a rate.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use cardmark_catalog::{Requirement, board, product, publications};
use cardmark_core::{Metric, ReaderKind, Record};

use crate::suitability::metric_of;

/// Ratio from which a product is faster on another board: 1.96 standard deviations of the logarithm between two methods
/// on one card (0.10, `equivalents.toml`) and two repeats (0.05) are a factor of 1.27.
pub(crate) const FASTER_RATIO: f64 = 1.3;
/// Share of the highest published rate of a board from which a rate is at the board's limit.
pub(crate) const CEILING_RATIO: f64 = 0.9;
/// Minimum number of products behind a board's limit.
pub(crate) const LEAST_PRODUCTS: usize = 3;

/// Reason to hold a board, and not the storage, for the limit of a rate.
#[derive(Clone, Debug, PartialEq)]
pub enum BoardLimit {
    /// The same product reached this rate on another board.
    SameProduct {
        /// The other board.
        board: String,
        /// The rate there, in the unit of the limiting rate.
        value: f64,
    },
    /// No published product is clearly faster on this board, and one of them is on another board.
    Ceiling {
        /// This board.
        board: String,
        /// Number of products.
        products_count: usize,
    },
}

/// A published rate.
struct Known {
    product: &'static str,
    board: &'static str,
    value: f64,
}

/// Returns the reason to hold the board of this record for the limit of a rate; `None` if nothing published shows it.
pub(crate) fn board_limit(record: &Record, need: &Requirement, value: f64) -> Option<BoardLimit> {
    let here = slot_board(record)?;
    let known = published(need);
    let own = record.labels.get("product").and_then(|name| product(name));
    let same = own.and_then(|own| {
        let others = known
            .iter()
            .filter(|known| known.product == own.id && known.board != here);
        let best = others.max_by(|a, b| a.value.total_cmp(&b.value));
        best.filter(|best| best.value >= FASTER_RATIO * value)
    });
    match same {
        Some(best) => Some(BoardLimit::SameProduct {
            board: best.board.to_owned(),
            value: best.value,
        }),
        None => ceiling(&known, here, value),
    }
}

fn ceiling(known: &[Known], here: String, value: f64) -> Option<BoardLimit> {
    let on_it = || known.iter().filter(|known| known.board == here);
    let products: BTreeSet<&str> = on_it().map(|known| known.product).collect();
    let most = on_it().map(|known| known.value).fold(0.0, f64::max);
    let is_faster_elsewhere = known.iter().any(|other| {
        let is_elsewhere = other.board != here && products.contains(other.product);
        is_elsewhere && other.value >= FASTER_RATIO * most
    });
    let is_at_it = value >= CEILING_RATIO * most && products.len() >= LEAST_PRODUCTS;
    (is_at_it && is_faster_elsewhere).then_some(BoardLimit::Ceiling {
        board: here,
        products_count: products.len(),
    })
}

/// Returns the board whose slot the storage is in, by its name in the catalogue or else its model.
fn slot_board(record: &Record) -> Option<String> {
    let mut readers = record
        .devices
        .iter()
        .filter_map(|device| device.reader.as_ref());
    let is_in_slot = readers.next()?.kind == ReaderKind::Slot;
    let model = record.board.as_ref()?.model.as_deref()?;
    let name = || board(model).map_or_else(|| model.to_owned(), |board| board.name.clone());
    is_in_slot.then(name)
}

/// The published results of products in card slots at their ordinary clock: product, board, figures.
static IN_SLOTS: LazyLock<Vec<(&str, String, Vec<Metric>)>> = LazyLock::new(|| {
    let records = publications().iter().flat_map(|one| one.records());
    let is_overclocked = |record: &Record| {
        let mut buses = record
            .devices
            .iter()
            .filter_map(|device| device.reader.as_ref()?.bus.as_ref());
        buses.any(|bus| bus.overclock_hz.is_some())
    };
    let ordinary = records.filter(|record| !is_overclocked(record));
    let known = ordinary.filter_map(|record| {
        let product = product(record.labels.get("product")?)?;
        Some((product.id.as_str(), slot_board(&record)?, record.metrics))
    });
    known.collect()
});

/// The published rates for a need, in its unit.
fn published(need: &Requirement) -> Vec<Known> {
    let known = IN_SLOTS.iter().filter_map(|(product, board, metrics)| {
        let mut ids = need.metrics.iter();
        let metric = ids.find_map(|id| metric_of(metrics, id))?;
        let value = need.converted(metric.quantity, metric.value)?;
        Some(Known {
            product,
            board,
            value,
        })
    });
    known.collect()
}
