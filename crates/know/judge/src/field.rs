//! Figures among which a run is ranked, metric by metric.

use std::collections::BTreeSet;
use std::sync::Arc;

use cardmark_catalog::{Equivalents, Method, board_name, equivalents_of, is_board, product_name};
use cardmark_core::{Metric, OriginKind, Quantity, Record, Subject};
use cardmark_stats::{Candidate, RankSpread, RankingRow, rank};
use serde::Serialize;

use crate::spread::{known_elsewhere, known_spread};
use crate::unknown::unknown_storage;

/// Method of metrics of our own suites in the patterns of the catalogue.
const OWN_METHOD: &str = "cardmark";

/// Order in which figures of a metric are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Rates and scores.
    HighestFirst,
    /// Times.
    LowestFirst,
}

/// Returns the order in which figures of the metric are ranked; `None` if neither high nor low figures are better.
pub fn order_of(metric: &str, quantity: Quantity) -> Option<Order> {
    match quantity {
        Quantity::ByteRate | Quantity::OperationRate => Some(Order::HighestFirst),
        Quantity::Count if metric.ends_with("_score") => Some(Order::HighestFirst),
        // A long period of a rate is neither good nor bad.
        Quantity::Span if metric != "write_period" => Some(Order::LowestFirst),
        _ => None,
    }
}

/// Restriction of a ranking; the run that was asked for stays in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldFilter {
    /// Name of the board, or a part of it ([`is_board`]), or a setting.
    pub board: Option<String>,
    /// Id of the publication.
    pub publication: Option<String>,
    /// True to exclude figures of other methods.
    pub is_exact: bool,
}

impl FieldFilter {
    fn passes(&self, subject: &Subject) -> bool {
        let is_on = |wanted: &String| {
            let board = subject.board.as_deref();
            board.is_some_and(|model| is_board(model, &board_name(wanted)))
                || subject.setting.as_ref() == Some(wanted)
        };
        let is_from = |wanted: &String| subject.publication.as_ref() == Some(wanted);
        self.board.as_ref().is_none_or(is_on) && self.publication.as_ref().is_none_or(is_from)
    }
}

/// Places in one metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranking {
    /// The metric.
    pub metric: String,
    /// Quantity of its figures.
    pub quantity: Quantity,
    /// Order of the places.
    pub order: Order,
    /// Standard deviation of the logarithm of the ratio between two methods on one card, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between_methods: Option<f64>,
    /// Number of figures of simulated cards that were left out.
    pub simulated_count: usize,
    /// The places, the best figure first.
    pub places: Vec<RankingRow>,
}

impl Ranking {
    /// True if the run that was asked for stands alone.
    pub fn is_alone(&self) -> bool {
        matches!(self.places.as_slice(), [place] if place.is_asked)
    }
}

/// Figures of one metric, and of the same pattern by other methods. Runs of simulated cards are ranked with each
/// other only.
#[derive(Clone, Debug, PartialEq)]
pub struct Field<'a> {
    metric: &'a str,
    pattern: Option<&'static Equivalents>,
    filter: &'a FieldFilter,
    /// Runs that have a figure here, the one that was asked for included.
    runs: BTreeSet<String>,
    is_simulated: bool,
    simulated_count: usize,
    quantity: Option<Quantity>,
    candidates: Vec<Candidate>,
    begins_with_asked: bool,
}

impl<'a> Field<'a> {
    /// Returns a field that holds the figure of the run that was asked for, if it has one that is the
    /// device's.
    pub fn new(metric: &'a str, asked: Option<&Record>, filter: &'a FieldFilter) -> Self {
        let pattern = equivalents_of(metric).filter(|_| !filter.is_exact);
        let own_quantity = pattern
            .filter(|pattern| pattern.method_of(metric) == Some(OWN_METHOD))
            .map(|pattern| pattern.quantity);
        let mut field = Self {
            metric,
            pattern,
            filter,
            runs: asked.iter().map(|record| record.id.to_string()).collect(),
            is_simulated: asked.is_some_and(|record| record.origin.kind == OriginKind::Simulated),
            simulated_count: 0,
            quantity: own_quantity,
            candidates: Vec::new(),
            begins_with_asked: false,
        };
        let own = asked.and_then(|record| Some((record, field.figure(record)?)));
        if let Some((record, metric)) = own.filter(|(_, metric)| metric.voided_by().is_none()) {
            field.quantity = Some(metric.quantity);
            if order_of(&metric.id, metric.quantity).is_some() {
                let own = field.candidate(&metric.id, subject(record), metric.value);
                field.candidates.push(Candidate {
                    printed: printed(metric),
                    ..own
                });
                field.begins_with_asked = true;
            }
        }
        field
    }

    /// Returns the metrics of the field, in the order in which they count for a run.
    pub fn metrics(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let metric = self.metric;
        let methods = self
            .pattern
            .into_iter()
            .flat_map(|pattern| &pattern.methods);
        let others = methods.map(|method: &'static Method| method.metric.as_str());
        [metric]
            .into_iter()
            .chain(others.filter(move |other| *other != metric))
    }

    fn figure<'r>(&self, record: &'r Record) -> Option<&'r Metric> {
        if unknown_storage(record).is_some() {
            return None;
        }
        self.metrics().find_map(|metric| record.metric(metric))
    }

    /// Adds the figure of a record, if it has one.
    pub fn add_record(&mut self, record: &Record) {
        if let Some(metric) = self.figure(record) {
            let candidate = self.candidate(&metric.id, subject(record), metric.value);
            let printed = printed(metric);
            self.put(
                metric.quantity,
                Candidate {
                    printed,
                    ..candidate
                },
            );
        }
    }

    /// Adds a figure of a stored run, which counts if it is the first of its run. The run that was asked for is known already: it
    /// may come from a file.
    pub fn add(
        &mut self,
        run: &str,
        subject: &Arc<Subject>,
        metric: &str,
        (quantity, value): (Quantity, f64),
    ) {
        if self.runs.insert(run.to_owned()) {
            let candidate = self.candidate(metric, Arc::clone(subject), value);
            self.put(quantity, candidate);
        }
    }

    fn candidate(&self, metric: &str, subject: Arc<Subject>, value: f64) -> Candidate {
        let method_of = |metric: &str| self.pattern?.method_of(metric);
        let method = method_of(metric).filter(|method| method_of(self.metric) != Some(method));
        Candidate {
            subject,
            value,
            printed: None,
            method,
        }
    }

    /// Adds a figure. Figures of another quantity are left out unless they can be converted.
    fn put(&mut self, quantity: Quantity, candidate: Candidate) {
        let is_simulated = candidate.subject.origin == OriginKind::Simulated;
        if is_simulated != self.is_simulated {
            self.simulated_count += usize::from(is_simulated);
            return;
        }
        let wanted = *self.quantity.get_or_insert(quantity);
        let converted =
            |pattern: &Equivalents| pattern.converted(quantity, wanted, candidate.value);
        let value = match self.pattern {
            _ if quantity == wanted => Some(candidate.value),
            pattern => pattern.and_then(converted),
        };
        let is_ranked = order_of(self.metric, wanted).is_some();
        let Some(value) = value.filter(|_| is_ranked) else {
            return;
        };
        if self.filter.passes(&candidate.subject) {
            self.candidates.push(Candidate { value, ..candidate });
        }
    }

    /// Returns the places, the best figure first; `None` without any figure.
    pub fn ranking(&self) -> Option<Ranking> {
        let quantity = self.quantity.filter(|_| !self.candidates.is_empty())?;
        let order = order_of(self.metric, quantity)?;
        let asked = self.begins_with_asked.then_some(0);
        let methods: BTreeSet<_> = self.candidates.iter().map(|one| one.method).collect();
        let between_methods = self.pattern.map(|pattern| pattern.deviation);
        let spread = RankSpread {
            known: known_spread(self.metric, quantity),
            elsewhere: known_elsewhere(self.metric, quantity),
            between_methods: between_methods.unwrap_or_default(),
        };
        let mut places = rank(&self.candidates, asked, spread);
        if order == Order::LowestFirst {
            // Times have no published spread, and so no shared places.
            places.reverse();
        }
        Some(Ranking {
            metric: self.metric.to_owned(),
            quantity,
            order,
            between_methods: between_methods.filter(|_| methods.len() > 1),
            simulated_count: self.simulated_count,
            places,
        })
    }
}

/// Returns the rates of a run that are the device's, by which it can be ranked.
pub fn ranked_metrics(record: &Record) -> Vec<&Metric> {
    known_metrics(record)
        .filter(|metric| metric.quantity.is_rate())
        .collect()
}

/// Returns the figures of a run that have an order and are the device's, times and scores included, but for latencies of workloads.
pub fn ordered_metrics(record: &Record) -> Vec<&Metric> {
    let is_ordered = |metric: &&Metric| {
        let is_latency = metric.latency().is_some();
        order_of(&metric.id, metric.quantity).is_some() && !is_latency
    };
    known_metrics(record).filter(is_ordered).collect()
}

/// The figures that are those of a known device.
fn known_metrics(record: &Record) -> impl Iterator<Item = &Metric> {
    let is_known = unknown_storage(record).is_none();
    let metrics = record.metrics.iter().filter(move |_| is_known);
    metrics.filter(|metric| metric.voided_by().is_none())
}

/// Returns the subject with its product as the catalogue names it, and its board without the revision.
pub fn in_catalogue(subject: Subject) -> Subject {
    Subject {
        board: subject.board.map(|model| board_name(&model)),
        product: subject.product.map(|label| product_name(&label)),
        ..subject
    }
}

fn subject(record: &Record) -> Arc<Subject> {
    Arc::new(in_catalogue(Subject::of(record)))
}

fn printed(metric: &Metric) -> Option<String> {
    let printed = metric.printed.as_ref()?;
    Some(printed.text.clone())
}

#[cfg(test)]
mod tests {
    use cardmark_core::{Board, Origin, OriginKind, run_id_from_bytes};

    use super::*;

    fn record(product: &str, board: &str, quantity: Quantity, value: f64) -> Record {
        let mut id = [0; 16];
        id[..board.len()].copy_from_slice(board.as_bytes());
        let mut record = Record::new(run_id_from_bytes(id), Origin::of(OriginKind::Published));
        let labels = [("product", product), ("publication", "magazine")];
        let labels = labels.map(|(key, value)| (key.to_owned(), value.to_owned()));
        record.labels.extend(labels);
        record.board = Some(Board {
            model: Some(board.to_owned()),
            ..Board::default()
        });
        record.metrics = vec![Metric::new("dd_write", quantity, value)];
        record
    }

    fn names(asked: Option<&Record>, others: &[Record], filter: &FieldFilter) -> Vec<String> {
        let mut field = Field::new("dd_write", asked, filter);
        others.iter().for_each(|other| field.add_record(other));
        let places = field.ranking().map(|ranking| ranking.places);
        let places = places.into_iter().flatten();
        places.map(|place| place.name).collect()
    }

    #[test]
    fn the_shortest_time_comes_first() {
        let times = [("slow", 300e9), ("fast", 100e9), ("middling", 200e9)];
        let times = times.map(|(name, ns)| record(name, name, Quantity::Span, ns));
        let filter = FieldFilter::default();
        let expected = ["fast", "middling", "slow"];
        assert_eq!(names(None, &times, &filter), expected);
        assert_eq!(names(Some(&times[0]), &times, &filter), expected);
        let sizes = times.map(|time| record("card", "Pi", Quantity::Size, time.metrics[0].value));
        assert!(names(None, &sizes, &filter).is_empty());
    }

    #[test]
    fn the_run_that_was_asked_for_stays_whatever_the_filter() {
        let asked = record("asked", "Pi 4", Quantity::ByteRate, 1e6);
        let others = [
            record("fast", "Pi 3", Quantity::ByteRate, 3e6),
            record("other board", "Pi 2", Quantity::ByteRate, 2e6),
        ];
        let filter = FieldFilter {
            board: Some("pI 3 Rev 1.2".to_owned()),
            ..FieldFilter::default()
        };
        assert_eq!(names(Some(&asked), &others, &filter), ["fast", "asked"]);
        assert_eq!(names(None, &others, &filter), ["fast"]);
        let filter = FieldFilter {
            publication: Some("nobody".to_owned()),
            ..FieldFilter::default()
        };
        assert_eq!(names(Some(&asked), &others, &filter), ["asked"]);
        assert!(names(None, &others, &filter).is_empty());
    }

    #[test]
    fn the_first_figure_decides_the_quantity_also_where_the_filter_leaves_it_out() {
        let others = [
            record("bytes", "Pi 3", Quantity::ByteRate, 3e6),
            record("operations", "Pi 4", Quantity::OperationRate, 5e6),
            record("more bytes", "Pi 4", Quantity::ByteRate, 1e6),
        ];
        let filter = FieldFilter::default();
        assert_eq!(names(None, &others, &filter), ["bytes", "more bytes"]);
        let filter = FieldFilter {
            board: Some("Pi 4".to_owned()),
            ..FieldFilter::default()
        };
        assert_eq!(names(None, &others, &filter), ["more bytes"]);
        let sizes = [record("size", "Pi 3", Quantity::Size, 3e6)];
        assert!(names(None, &sizes, &FieldFilter::default()).is_empty());
    }

    #[test]
    fn figures_that_a_cache_answered_are_not_ranked() {
        let mut asked = record("asked", "Pi 4", Quantity::ByteRate, 9e9);
        assert_eq!(ranked_metrics(&asked).len(), 1);
        asked.metrics[0].warnings = vec!["not_reached".to_owned()];
        assert!(asked.metrics[0].voided_by().is_some());
        assert!(ranked_metrics(&asked).is_empty());
        let others = [record("fast", "Pi 3", Quantity::ByteRate, 3e6)];
        assert_eq!(
            names(Some(&asked), &others, &FieldFilter::default()),
            ["fast"]
        );
    }

    fn figure(product: &str, metric: &str, quantity: Quantity, value: f64) -> Record {
        let mut record = record(product, product, quantity, value);
        record.metrics[0].id = metric.to_owned();
        record
    }

    #[test]
    fn other_methods_are_ranked_in_the_same_unit_and_marked() {
        let asked = figure("mine", "rand_write_4k", Quantity::OperationRate, 500.0);
        let others = [
            figure(
                "fast",
                "iozone_random_write",
                Quantity::ByteRate,
                9000.0 * 4096.0,
            ),
            figure(
                "near",
                "iozone_random_write_4k",
                Quantity::ByteRate,
                520.0 * 4096.0,
            ),
            figure("other", "iozone_random_read", Quantity::ByteRate, 1e6),
        ];
        let ranking = |is_exact| {
            let filter = FieldFilter {
                is_exact,
                ..FieldFilter::default()
            };
            let mut field = Field::new("rand_write_4k", Some(&asked), &filter);
            others.iter().for_each(|other| field.add_record(other));
            field.ranking().unwrap()
        };
        let found = ranking(false);
        let told: Vec<_> = found
            .places
            .iter()
            .map(|place| {
                (
                    place.name.as_str(),
                    place.value.round(),
                    place.method,
                    place.places,
                )
            })
            .collect();
        let expected = [
            ("fast", 9000.0, Some("iozone"), Some([1, 1])),
            ("near", 520.0, Some("iozone"), Some([2, 3])),
            ("mine", 500.0, None, Some([2, 3])),
        ];
        assert_eq!(told, expected);
        assert_eq!(found.quantity, Quantity::OperationRate);
        assert!(found.between_methods.is_some() && !found.is_alone());
        let exact = ranking(true);
        assert!(exact.is_alone() && exact.between_methods.is_none());
    }

    #[test]
    fn a_run_counts_once_with_its_first_metric() {
        let filter = FieldFilter::default();
        let mut field = Field::new("iozone_random_write", None, &filter);
        let metrics: Vec<&str> = field.metrics().collect();
        let expected = [
            "iozone_random_write",
            "rand_write_4k",
            "iozone_random_write_4k",
            "pibenchmarks_iozone_random_write",
        ];
        assert_eq!(metrics, expected);
        let subject = subject(&record("own", "Pi 4", Quantity::ByteRate, 1.0));
        for (metric, value) in [
            ("iozone_random_write", 1e6),
            ("iozone_random_write_4k", 9e6),
        ] {
            field.add("run", &subject, metric, (Quantity::ByteRate, value));
        }
        let places = field.ranking().unwrap().places;
        let values: Vec<f64> = places.iter().map(|place| place.value).collect();
        assert_eq!(values.len(), 1);
        assert!((values[0] - 1e6).abs() < 1e-3, "{values:?}");
    }

    #[test]
    fn simulated_cards_are_ranked_with_each_other_only() {
        let real = record("real", "Pi 4", Quantity::ByteRate, 3e6);
        let mut model = record("model", "none", Quantity::ByteRate, 2e6);
        model.origin = Origin::of(OriginKind::Simulated);
        let mut other = record("other model", "nothing", Quantity::ByteRate, 1e6);
        other.origin = Origin::of(OriginKind::Simulated);
        let filter = FieldFilter::default();
        let all = [real.clone(), other.clone()];
        assert_eq!(names(Some(&model), &all, &filter), ["model", "other model"]);
        assert_eq!(names(None, &all, &filter), ["real"]);
        let mut field = Field::new("dd_write", Some(&real), &filter);
        field.add_record(&other);
        let ranking = field.ranking().unwrap();
        assert_eq!((ranking.simulated_count, ranking.is_alone()), (1, true));
    }
}
