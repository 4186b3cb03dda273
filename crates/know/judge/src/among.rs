//! Place of a run among published cards, in one sentence.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use cardmark_catalog::{Equivalents, ProductKind, equivalents, product};
use cardmark_core::{OriginKind, Record, Subject};
use cardmark_stats::{Order, Place, Ranked};
use serde::Serialize;

use crate::field::in_catalogue;
use crate::spread::{known_elsewhere, known_spread};
use crate::unknown::unknown_storage;

/// Pattern by which cards differ most, and which limits most uses.
const PATTERN: &str = "random_write";

/// Number of published cards that a run beats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Among {
    /// Name of the pattern, such as `random write 4 KiB`.
    pub pattern: String,
    /// Number of products that are clearly slower in their best published figure.
    pub faster_than: usize,
    /// Number of products with a published figure.
    pub of: usize,
    /// Board of the run, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// Number of products with a figure on this board.
    pub here_count: usize,
    /// Boards of the other figures, that of most products first, as far as known.
    pub other_boards: Vec<String>,
}

/// Returns the number of published SD and microSD cards that a run clearly beats in random writes: by more than
/// repeats, cards of one product, methods and, for cards that were measured on other boards only, boards differ. A product
/// counts once, by its best figure on the board of the run, otherwise on any board. `None` for simulated runs and for runs
/// without such a rate.
pub fn standing_among(record: &Record, published: &[Record]) -> Option<Among> {
    if record.origin.kind == OriginKind::Simulated {
        return None;
    }
    let pattern = equivalents(PATTERN)?;
    let own = figure(pattern, record)?;
    let mut products = BTreeMap::<&str, Vec<Ranked>>::new();
    for other in published {
        let product = other.labels.get("product").and_then(|name| product(name));
        let is_card = |kind| matches!(kind, ProductKind::Microsd | ProductKind::Sd);
        let product = product.filter(|product| is_card(product.kind));
        if let Some((product, figure)) = product.zip(figure(pattern, other)) {
            products.entry(&product.id).or_default().push(figure);
        }
    }
    let is_here = |figure: &&Ranked| own.place.is_same(&figure.place);
    let best = |all: &Vec<Ranked>| {
        let here = all.iter().filter(is_here).max_by(by_value);
        here.or_else(|| all.iter().max_by(by_value)).cloned()
    };
    let others: Vec<Ranked> = products.values().filter_map(best).collect();
    let here_count = others.iter().filter(is_here).count();
    let other_boards = boards(others.iter().filter(|one| !is_here(one)));
    let (board, of) = (own.place.board.clone(), others.len());
    // The first figure is that of the run.
    let figures: Vec<Ranked> = std::iter::once(own).chain(others).collect();
    let order = Order::of(&figures);
    let beaten = (1..figures.len()).filter(|other| order.is_clearly_above(0, *other));
    (of > 0).then(|| Among {
        pattern: pattern.name.clone(),
        faster_than: beaten.count(),
        of,
        board,
        here_count,
        other_boards,
    })
}

fn by_value(one: &&Ranked, other: &&Ranked) -> Ordering {
    one.value.total_cmp(&other.value)
}

/// Known boards of these figures, that of most first.
fn boards<'a>(figures: impl Iterator<Item = &'a Ranked>) -> Vec<String> {
    let mut counts = BTreeMap::<&str, usize>::new();
    for board in figures.filter_map(|figure| figure.place.board.as_deref()) {
        *counts.entry(board).or_default() += 1;
    }
    let mut boards: Vec<(&str, usize)> = counts.into_iter().collect();
    boards.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let names = boards.into_iter();
    names.map(|(board, _)| board.to_owned()).collect()
}

/// Returns the record's rate in the pattern, if it is the device's.
fn figure(pattern: &'static Equivalents, record: &Record) -> Option<Ranked> {
    let mut methods = pattern.methods.iter();
    let (metric, method) = methods.find_map(|method| {
        let metric = record.metric(&method.metric)?;
        Some((metric, &method.method))
    })?;
    let value = pattern.converted(metric.quantity, pattern.quantity, metric.value)?;
    let is_known = metric.voided_by().is_none() && unknown_storage(record).is_none();
    let subject = in_catalogue(Subject::of(record));
    (value > 0.0 && is_known).then(|| Ranked {
        value,
        runs_count: 1,
        cards_count: 1,
        place: Arc::new(Place::of(&subject)),
        card: subject.card.as_deref().map(Arc::from),
        spread: known_spread(&metric.id, metric.quantity),
        elsewhere: known_elsewhere(&metric.id, metric.quantity),
        method,
        between_methods: pattern.deviation,
    })
}

#[cfg(test)]
mod tests {
    use cardmark_catalog::publications;
    use cardmark_core::{Board, Metric, Origin, Quantity, run_id_from_bytes};

    use super::*;

    fn published() -> Vec<Record> {
        let all = publications().iter();
        all.flat_map(|publication| publication.records()).collect()
    }

    fn run(rate: f64, kind: OriginKind) -> Record {
        let mut record = Record::new(run_id_from_bytes([7; 16]), Origin::of(kind));
        let metric = Metric::new("rand_write_4k", Quantity::OperationRate, rate);
        record.metrics = vec![metric];
        record
    }

    #[test]
    fn a_faster_run_beats_more_cards() {
        let published = published();
        let among = |rate| standing_among(&run(rate, OriginKind::Measured), &published).unwrap();
        let [slow, middle, fast] = [1.0, 900.0, 1e6].map(among);
        assert_eq!(slow.faster_than, 0);
        assert!(
            0 < middle.faster_than && middle.faster_than < middle.of,
            "{middle:?}"
        );
        assert_eq!(fast.faster_than, fast.of);
        assert!(fast.of > 30, "{fast:?}");
        assert_eq!(fast.pattern, "random write 4 KiB");
    }

    /// The best published figure of this product decides: 3.85 MB/s on a Raspberry Pi 4, about 986 operations. On that board a
    /// run is ahead of it by twice, elsewhere it takes more.
    #[test]
    fn a_product_is_beaten_by_more_than_its_best_figure_and_the_methods_differ() {
        let mut evo = published();
        let is_it = |record: &Record| record.labels["product"] == "Samsung Evo+ 32 GB";
        evo.retain(is_it);
        let beaten = |rate, board: Option<&str>| {
            let mut run = run(rate, OriginKind::Measured);
            run.board = board.map(|model| Board {
                model: Some(model.to_owned()),
                ..Board::default()
            });
            standing_among(&run, &evo).unwrap()
        };
        let here = Some("Raspberry Pi 4 Model B Rev 1.4");
        assert_eq!(
            (beaten(1500.0, here).faster_than, beaten(1500.0, here).of),
            (0, 1)
        );
        assert_eq!(beaten(2700.0, here).faster_than, 1);
        assert_eq!(
            (beaten(1.0, here).here_count, beaten(1.0, None).here_count),
            (1, 0)
        );
        assert!(
            beaten(1.0, here).other_boards.is_empty(),
            "figures on this board decide"
        );
        assert_eq!(beaten(2700.0, None).faster_than, 0, "an unknown board");
        assert_eq!(beaten(5000.0, Some("Raspberry Pi 5")).faster_than, 1);
        assert_eq!(
            beaten(1.0, None).other_boards,
            ["Raspberry Pi 4 Model B"],
            "the best figure"
        );
    }

    #[test]
    fn simulated_and_void_figures_have_no_place() {
        let published = published();
        let simulated = run(500.0, OriginKind::Simulated);
        assert_eq!(standing_among(&simulated, &published), None);
        let mut void = run(500.0, OriginKind::Measured);
        void.metrics[0].warnings = vec!["not_reached".to_owned()];
        assert_eq!(standing_among(&void, &published), None);
        assert_eq!(standing_among(&run(1.0, OriginKind::Measured), &[]), None);
    }
}
