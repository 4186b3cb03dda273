//! Figures among which a run is ranked, metric by metric.

use std::sync::Arc;

use cardmark_catalog::{is_board, product_name};
use cardmark_core::{Metric, Quantity, Record, Subject};
use cardmark_stats::{Candidate, RankingRow, rank};
use serde::Serialize;

use crate::spread::known_spread;

/// Restriction of a ranking; the run that was asked for stays in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldFilter {
    /// Name of the board, or a part of it ([`is_board`]).
    pub board: Option<String>,
    /// Id of the publication.
    pub publication: Option<String>,
}

impl FieldFilter {
    fn passes(&self, subject: &Subject) -> bool {
        let is_on = |wanted: &String| {
            let board = subject.board.as_deref();
            board.is_some_and(|model| is_board(model, wanted))
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
    /// The places, the highest figure first.
    pub places: Vec<RankingRow>,
}

/// Figures of one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Field<'a> {
    metric: &'a str,
    filter: &'a FieldFilter,
    /// Id of the run that was asked for.
    asked: Option<String>,
    quantity: Option<Quantity>,
    candidates: Vec<Candidate>,
    begins_with_asked: bool,
}

impl<'a> Field<'a> {
    /// Returns a field that holds the figure of the run that was asked for, if it has one that is the
    /// device's.
    #[must_use]
    pub fn new(metric: &'a str, asked: Option<&Record>, filter: &'a FieldFilter) -> Self {
        let mut field = Self {
            metric,
            filter,
            asked: asked.map(|record| record.id.to_string()),
            quantity: None,
            candidates: Vec::new(),
            begins_with_asked: false,
        };
        let own = asked.and_then(|record| Some((record, record.metric(metric)?)));
        if let Some((record, metric)) = own.filter(|(_, metric)| metric.voided_by().is_none()) {
            field.quantity = Some(metric.quantity);
            field.begins_with_asked = metric.quantity.is_rate();
            let own = field.begins_with_asked.then(|| candidate(record, metric));
            field.candidates.extend(own);
        }
        field
    }

    /// Adds the figure of a record, if it has one.
    pub fn add_record(&mut self, record: &Record) {
        if let Some(metric) = record.metric(self.metric) {
            self.put(metric.quantity, candidate(record, metric));
        }
    }

    /// Adds the figure of a stored run. The run that was asked for is known already: it may come from a file.
    pub fn add(&mut self, run: &str, subject: &Arc<Subject>, quantity: Quantity, value: f64) {
        if self.asked.as_deref() != Some(run) {
            let candidate = Candidate {
                subject: Arc::clone(subject),
                value,
                printed: None,
            };
            self.put(quantity, candidate);
        }
    }

    /// Adds a figure. Figures of another quantity under the same name are left out.
    fn put(&mut self, quantity: Quantity, candidate: Candidate) {
        let is_alike = *self.quantity.get_or_insert(quantity) == quantity;
        if is_alike && quantity.is_rate() && self.filter.passes(&candidate.subject) {
            self.candidates.push(candidate);
        }
    }

    /// Returns the places, the highest figure first; `None` without any figure.
    #[must_use]
    pub fn ranking(&self) -> Option<Ranking> {
        let quantity = self.quantity.filter(|_| !self.candidates.is_empty())?;
        let asked = self.begins_with_asked.then_some(0);
        let spread = known_spread(self.metric, quantity);
        Some(Ranking {
            metric: self.metric.to_owned(),
            quantity,
            places: rank(&self.candidates, asked, spread),
        })
    }
}

/// Returns the rates of a run that are the device's, by which it can be ranked.
#[must_use]
pub fn ranked_metrics(record: &Record) -> Vec<&Metric> {
    let metrics = record.metrics.iter();
    metrics
        .filter(|metric| metric.quantity.is_rate() && metric.voided_by().is_none())
        .collect()
}

/// Returns the subject with its product as the catalogue names it.
#[must_use]
pub fn in_catalogue(subject: Subject) -> Subject {
    Subject {
        product: subject.product.map(|label| product_name(&label)),
        ..subject
    }
}

fn candidate(record: &Record, metric: &Metric) -> Candidate {
    Candidate {
        subject: Arc::new(in_catalogue(Subject::of(record))),
        value: metric.value,
        printed: metric.printed.as_ref().map(|printed| printed.text.clone()),
    }
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
    fn the_run_that_was_asked_for_stays_whatever_the_filter() {
        let asked = record("asked", "Pi 4", Quantity::ByteRate, 1e6);
        let others = [
            record("fast", "Pi 3", Quantity::ByteRate, 3e6),
            record("other board", "Pi 2", Quantity::ByteRate, 2e6),
        ];
        let filter = FieldFilter {
            board: Some("pI 3".to_owned()),
            publication: None,
        };
        assert_eq!(names(Some(&asked), &others, &filter), ["fast", "asked"]);
        assert_eq!(names(None, &others, &filter), ["fast"]);
        let filter = FieldFilter {
            board: None,
            publication: Some("nobody".to_owned()),
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
            publication: None,
        };
        assert_eq!(names(None, &others, &filter), ["more bytes"]);
        let spans = [record("span", "Pi 3", Quantity::Span, 3e6)];
        assert!(names(None, &spans, &FieldFilter::default()).is_empty());
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
}
