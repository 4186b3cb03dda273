//! Place of a run among published cards, in one sentence.

use std::collections::BTreeMap;

use cardmark_catalog::{Equivalents, ProductKind, equivalents, product};
use cardmark_core::{OriginKind, Record};
use cardmark_stats::Ranked;
use serde::Serialize;

use crate::spread::known_spread;
use crate::unknown::unknown_storage;

/// Pattern by which cards differ most, and which limits most uses.
const PATTERN: &str = "random_write";

/// Number of published cards that a run beats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Among {
    /// Name of the pattern, such as `random write 4 KiB`.
    pub pattern: String,
    /// Number of products that are clearly slower in all their published figures.
    pub faster_than: usize,
    /// Number of products with a published figure.
    pub of: usize,
}

/// Returns the number of published SD and microSD cards that a run clearly beats in random writes: by more than
/// repeats and methods differ. A product that was measured on several boards counts once, by its best figure.
/// `None` for simulated runs and for runs without such a rate.
#[must_use]
pub fn standing_among(record: &Record, published: &[Record]) -> Option<Among> {
    if record.origin.kind == OriginKind::Simulated {
        return None;
    }
    let pattern = equivalents(PATTERN)?;
    let own = figure(pattern, record)?;
    let mut beaten = BTreeMap::<&str, bool>::new();
    for other in published {
        let product = other.labels.get("product").and_then(|name| product(name));
        let is_card = |kind| matches!(kind, ProductKind::Microsd | ProductKind::Sd);
        let product = product.filter(|product| is_card(product.kind));
        if let Some((product, figure)) = product.zip(figure(pattern, other)) {
            *beaten.entry(&product.id).or_insert(true) &= own.is_clearly_above(figure);
        }
    }
    (!beaten.is_empty()).then(|| Among {
        pattern: pattern.name.clone(),
        faster_than: beaten.values().filter(|is_beaten| **is_beaten).count(),
        of: beaten.len(),
    })
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
    (value > 0.0 && is_known).then(|| Ranked {
        value,
        runs_count: 1,
        spread: known_spread(&metric.id, metric.quantity),
        method,
        between_methods: pattern.deviation,
    })
}

#[cfg(test)]
mod tests {
    use cardmark_catalog::publications;
    use cardmark_core::{Metric, Origin, Quantity, run_id_from_bytes};

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
        let [slow, middle, fast] = [1.0, 500.0, 1e6].map(among);
        assert_eq!(slow.faster_than, 0);
        assert!(
            0 < middle.faster_than && middle.faster_than < middle.of,
            "{middle:?}"
        );
        assert_eq!(fast.faster_than, fast.of);
        assert!(fast.of > 30, "{fast:?}");
        assert_eq!(fast.pattern, "random write 4 KiB");
    }

    /// The best published figure of this product decides: 3.85 MB/s on a Raspberry Pi 4, about 986 operations.
    #[test]
    fn a_product_is_beaten_by_more_than_its_best_figure_and_the_methods_differ() {
        let mut evo = published();
        let is_it = |record: &Record| record.labels["product"] == "Samsung Evo+ 32 GB";
        evo.retain(is_it);
        let beaten = |rate| standing_among(&run(rate, OriginKind::Measured), &evo).unwrap();
        assert_eq!((beaten(1050.0).faster_than, beaten(1050.0).of), (0, 1));
        assert_eq!(beaten(1500.0).faster_than, 1);
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
