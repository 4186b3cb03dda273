//! Subjects of a report: runs of one product on one board.

use std::collections::{BTreeMap, BTreeSet};

use cardmark_core::Record;
use cardmark_stats::{joint_rate, observation};

/// Runs of one thing on one board.
#[derive(Clone, Debug)]
pub(super) struct Subject<'a> {
    /// Name.
    pub(super) name: String,
    /// On which computer.
    pub(super) board: String,
    /// The runs.
    pub(super) records: Vec<&'a Record>,
}

/// Groups runs of the same product, or else device or model, on the same board; further
/// separated by physical card, if label or id show it, and by the label `setting`.
pub(super) fn subjects(records: &[Record]) -> Vec<Subject<'_>> {
    let mut cards = BTreeMap::<String, BTreeSet<&str>>::new();
    for record in records {
        cards
            .entry(name_of(record))
            .or_default()
            .extend(card_of(record));
    }
    let mut subjects: Vec<Subject<'_>> = Vec::new();
    for record in records {
        let (mut name, board) = (name_of(record), board_of(record));
        if let (Some(card), true) = (card_of(record), cards[&name].len() > 1) {
            name = format!("{name} (card {card})");
        }
        let known = subjects
            .iter_mut()
            .find(|subject| subject.name == name && subject.board == board);
        match known {
            Some(subject) => subject.records.push(record),
            None => subjects.push(Subject {
                name,
                board,
                records: vec![record],
            }),
        }
    }
    subjects
}

pub(super) fn name_of(record: &Record) -> String {
    let product = record.labels.get("product").cloned();
    let model = || record.devices.first()?.model.clone();
    let source = || record.origin.source.clone();
    let name = product.or_else(model).or_else(source);
    let name = name.unwrap_or_else(|| "unknown".to_owned());
    match record.labels.get("sample") {
        Some(sample) => format!("{name} ({sample})"),
        None => name,
    }
}

/// Distinguishes physical cards of one name without labels.
fn card_of(record: &Record) -> Option<&str> {
    if record.labels.contains_key("sample") {
        return None;
    }
    record.devices.first()?.card_id()
}

pub(super) fn board_of(record: &Record) -> String {
    let model = record.board.as_ref().and_then(|board| board.model.clone());
    let board = model.unwrap_or_else(|| "unknown board".to_owned());
    match record.labels.get("setting") {
        Some(setting) => format!("{board}, {setting}"),
        None => board,
    }
}

/// The boards, in the order of the runs.
pub(super) fn boards(subjects: &[Subject<'_>]) -> Vec<String> {
    let mut boards: Vec<String> = Vec::new();
    for subject in subjects {
        if !boards.contains(&subject.board) {
            boards.push(subject.board.clone());
        }
    }
    boards
}

pub(super) fn suite_of(record: &Record) -> Option<String> {
    let suite = record.suite.as_ref()?;
    Some(format!("{} {}", suite.name, suite.version))
}

impl Subject<'_> {
    /// The rate over all runs and its interval.
    pub(super) fn rate(&self, metric: &str) -> Option<(f64, Option<(f64, f64)>)> {
        let runs: Vec<_> = self
            .records
            .iter()
            .filter_map(|record| record.metric(metric))
            .map(observation)
            .collect();
        joint_rate(&runs)
    }
}
