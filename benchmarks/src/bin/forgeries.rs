//! Forgeries of honest records, and what detects each: `forgeries FILE…`, with records that the program wrote. Without
//! the original, from the changed record alone; a last column shows what a kept original adds.
//! See `benchmarks/forgeries/run`.

#![allow(clippy::print_stdout, reason = "a program for the hand")]

use std::collections::BTreeSet;
use std::process::ExitCode;

use cardmark_benchmarks::ended;
use cardmark_benchmarks::forgery::{FORGERIES, Forgery, is_base};
use cardmark_core::{FindingKind, Record, evidence_digest, parse_record};
use cardmark_judge::derive_again;
use cardmark_share::{Check, CheckName, CheckOutcome, Submission, derive};
use cardmark_stats::discrepancies;

/// Day on which the records arrive.
const TODAY: &str = "2026-11-28";

fn main() -> ExitCode {
    ended(table())
}

fn table() -> Result<bool, String> {
    let mut honest = Vec::new();
    for file in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
        let record = parse_record(&text).map_err(|error| format!("{file}: {error}"))?;
        if !record.trials.is_empty() {
            honest.push((file, record));
        }
    }
    let mut accused = 0;
    for (file, record) in &honest {
        let found = detected(record.clone());
        if !found.is_empty() {
            accused += 1;
            println!(
                "accused: {file}: {found:?} {:?}",
                discrepancies(record).first()
            );
        }
    }
    let trials: usize = honest.iter().map(|(_, record)| record.trials.len()).sum();
    println!(
        "{} honest records with {trials} trials, {accused} accused\n",
        honest.len()
    );
    let bases: Vec<&Record> = honest
        .iter()
        .map(|(_, record)| record)
        .filter(|record| is_base(record))
        .collect();
    println!(
        "{} records changed\n\n| Forgery | Detected by | Of |",
        bases.len()
    );
    println!("|---|---|---:|");
    let rows = FORGERIES.iter().map(|forgery| row(forgery, &bases));
    let detected = rows.filter(|&is_detected| is_detected).count();
    println!("\n{detected} of {} kinds detected", FORGERIES.len());
    Ok(accused == 0)
}

/// Prints the row of a forgery; returns true if it was detected in every record to which it applies.
fn row(forgery: &Forgery, bases: &[&Record]) -> bool {
    let (mut by, mut applied, mut found) = (BTreeSet::new(), 0, 0);
    let mut with_original = BTreeSet::new();
    for (index, base) in bases.iter().enumerate() {
        let other = bases[(index + 1) % bases.len()];
        let Some(Ok(forged)) = forgery.of(base, other) else {
            continue;
        };
        applied += 1;
        with_original.extend(beside(base, &forged));
        let mut names = by_site(&forged);
        names.retain(|name| !by_site(base).contains(name));
        names.extend(detected(forged));
        found += u32::from(!names.is_empty());
        by.extend(names);
    }
    let joined = |names: BTreeSet<&str>| names.into_iter().collect::<Vec<_>>().join(", ");
    let by = match (by.is_empty(), with_original.is_empty()) {
        (false, _) => joined(by),
        (true, false) => format!(
            "not from the record alone; {} beside the original",
            joined(with_original)
        ),
        (true, true) => "not".to_owned(),
    };
    println!("| {} | {by} | {found}/{applied} |", forgery.name);
    applied > 0 && found == applied
}

/// What detects a change from the record alone.
fn detected(mut record: Record) -> BTreeSet<&'static str> {
    let mut names: BTreeSet<&str> = discrepancies(&record)
        .iter()
        .map(|one| match one.kind {
            cardmark_stats::DiscrepancyKind::Accounting => "accounting",
            cardmark_stats::DiscrepancyKind::Order => "order",
            cardmark_stats::DiscrepancyKind::Seed => "seed",
            cardmark_stats::DiscrepancyKind::Copy => "copy",
        })
        .collect();
    let own = FindingKind::ContradictingTrials.name();
    let is_other = |name: &String| *name != own;
    // The finding itself puts a warning on every metric.
    let is_clean = names.is_empty();
    if derive_again(&mut record)
        .iter()
        .any(|name| is_clean && is_other(name))
    {
        names.insert("re-derivation");
    }
    names
}

/// Checks of a site, beside those of the trials, that quarantine a record or keep it out of the figures of products.
fn by_site(record: &Record) -> BTreeSet<&'static str> {
    let submission = Submission {
        record: record.clone(),
        statement: None,
    };
    let checks = derive(&submission, TODAY).checks.into_iter();
    let against = checks.filter(|check| {
        matches!(
            check.outcome,
            CheckOutcome::Failed | CheckOutcome::NotCounted
        )
    });
    let name = |check: Check| match check.name {
        CheckName::Physics => Some("bus and sizes"),
        CheckName::Simulation => Some("simulation"),
        CheckName::Board => Some("board"),
        CheckName::Identified => Some("identity (not counted)"),
        CheckName::Circumstances => Some("circumstances (not counted)"),
        _ => None,
    };
    against.filter_map(name).collect()
}

/// What shows that two records are not one measurement, or are, if the original is kept.
fn beside(original: &Record, forged: &Record) -> Option<&'static str> {
    if original.id == forged.id {
        return Some("id");
    }
    (evidence_digest(original) == evidence_digest(forged)).then_some("evidence digest")
}
