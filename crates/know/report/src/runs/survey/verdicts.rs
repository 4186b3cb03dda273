//! Verdicts and findings: of one run in full, of several in short, by subject.

use std::collections::BTreeMap;

use cardmark_core::{Record, Verdict};
use cardmark_judge::upheld;

use super::subjects::{Subject, suite_of};
use crate::document::Block;
use crate::run::summary::{not_conformant, outcome_words};
use crate::run::{anatomy, integrity};

/// Verdicts with reasons, and deviations of the run from the standard.
pub(super) fn of_one(record: &Record) -> Vec<Block> {
    let derived = upheld(record);
    let verdicts = derived.iter().flat_map(|derived| &derived.verdicts);
    let told = |verdict| format!("{}. {}", head(verdict), reasons(verdict));
    let points: Vec<String> = verdicts.map(told).collect();
    section(vec![Block::List(points)], &[record])
}

/// Verdicts and findings of each subject. Equal verdicts of several runs are shown
/// once, with the reasons of the first: those of all would fill the page with figures.
pub(super) fn of_all(subjects: &[Subject<'_>]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for subject in subjects {
        let points = points(subject);
        if !points.is_empty() {
            blocks.push(Block::Text(format!(
                "{} on {}",
                subject.name, subject.board
            )));
            blocks.push(Block::List(points));
        }
    }
    let records: Vec<&Record> = subjects.iter().flat_map(|s| &s.records).copied().collect();
    section(blocks, &records)
}

fn section(mut verdicts: Vec<Block>, records: &[&Record]) -> Vec<Block> {
    verdicts.retain(|block| *block != Block::List(Vec::new()));
    if verdicts.is_empty() {
        return verdicts;
    }
    verdicts.insert(0, Block::Heading("Verdicts".to_owned()));
    verdicts.extend(deviations(records));
    verdicts
}

/// Equal results, in the order of their first occurrence.
struct Point {
    head: String,
    /// Of the first run, where there are reasons.
    reasons: String,
    are_alike: bool,
    runs_count: usize,
}

/// Statements about a subject, each once.
pub(super) fn points(subject: &Subject<'_>) -> Vec<String> {
    let mut points: Vec<Point> = Vec::new();
    for (head, reasons) in subject.records.iter().flat_map(|record| said(record)) {
        match points.iter_mut().find(|point| point.head == head) {
            Some(point) => {
                point.are_alike &= point.reasons == reasons;
                point.runs_count += 1;
            }
            None => points.push(Point {
                head,
                reasons,
                are_alike: true,
                runs_count: 1,
            }),
        }
    }
    points.iter().map(Point::text).collect()
}

impl Point {
    fn text(&self) -> String {
        let mut text = self.head.clone();
        if self.runs_count > 1 {
            text += &format!(" ({} runs)", self.runs_count);
        }
        match (self.reasons.as_str(), self.are_alike) {
            ("", _) => text,
            (reasons, true) => format!("{text}. {reasons}"),
            (reasons, false) => format!("{text}. In the first: {reasons}"),
        }
    }
}

/// Statements of a run: sentences of integrity tests and anatomy, verdicts with their reasons.
fn said(record: &Record) -> Vec<(String, String)> {
    let integrity = record.integrity.iter();
    let tested = integrity.map(|found| integrity::verdict(record, found));
    let seen = record.anatomy.iter().flat_map(anatomy::sentences);
    let sentences = tested.chain(seen).map(|text| (text, String::new()));
    let derived = upheld(record);
    let verdicts = derived.iter().flat_map(|derived| &derived.verdicts);
    let judged = verdicts.map(|verdict| (head(verdict), reasons(verdict)));
    sentences.chain(judged).collect()
}

fn head(verdict: &Verdict) -> String {
    let (word, _) = outcome_words(verdict);
    format!("{}: {word}", verdict.rule)
}

fn reasons(verdict: &Verdict) -> String {
    verdict.reasons.join("; ")
}

/// Deviations of runs from the standard, by suite and tier.
fn deviations(records: &[&Record]) -> Vec<Block> {
    let mut by_suite = BTreeMap::<(Option<String>, String), Vec<String>>::new();
    for record in records {
        for deviation in record.derived.iter().flat_map(|d| &d.deviations) {
            let of = (suite_of(record), not_conformant(record));
            let known = by_suite.entry(of).or_default();
            if !known.contains(deviation) {
                known.push(deviation.clone());
            }
        }
    }
    let are_several = by_suite.len() > 1;
    let mut blocks = Vec::new();
    for ((suite, text), deviations) in by_suite {
        let suite = suite.filter(|_| are_several);
        let suite = suite.map_or_else(String::new, |suite| format!("{suite}: "));
        blocks.extend([Block::Text(suite + &text), Block::List(deviations)]);
    }
    blocks
}
