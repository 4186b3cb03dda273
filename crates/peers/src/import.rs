//! Texts of other tools, made into what records need.
//!
//! Whole reports (PiBenchmarks, Raspberry Pi Diagnostics, KDiskMark) are one record each. What
//! single tools printed belongs to one record until a test comes a second time: then the next one
//! begins. Figures that somebody typed are read where no tool of another kind printed anything.
//!
//! A metric has the id of our suites where the workload is the same, else one that names tool and
//! workload. What a text does not say stays unknown.

mod comment;
mod fio;
mod item;
mod reports;
mod text;
mod tools;

use std::collections::BTreeMap;

use cardmark_core::{Board, DeviceInfo, Finding, FindingKind, Host, Metric, Severity};
use thiserror::Error;

use crate::read::plain;
use item::Item;

/// What one record needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// The tools that printed the figures, with their version where it is told.
    pub tools: Vec<String>,
    /// Our suite, where the figures are those that it would give.
    pub suite: Option<&'static str>,
    /// The figures.
    pub metrics: Vec<Metric>,
    /// What is to be known about them: units with two readings, figures that are not understood,
    /// data that were lost.
    pub findings: Vec<Finding>,
    /// What the text says besides.
    pub labels: BTreeMap<String, String>,
    /// What a row of a table calls what was measured. It may be any words, also private ones: to be
    /// kept only where it is the name of something known.
    pub named: Option<String>,
    /// The computer, where the text tells it.
    pub board: Option<Board>,
    /// The system, where the text tells it.
    pub host: Option<Host>,
    /// The card or disk, where the text tells anything of it.
    pub device: Option<DeviceInfo>,
    /// The lines that the figures stand in, without what would tell whose they are.
    pub printed_text: String,
}

/// Why nothing was imported.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ImportError {
    /// No reader found anything of its tool.
    #[error("no output of a known tool in this text")]
    Nothing,
    /// There are figures, but none that is certain.
    #[error("there are figures in this text, but none of them can be understood")]
    NotUnderstood {
        /// Of each, why.
        reasons: Vec<String>,
    },
}

/// Reads what other tools printed, whichever they are: in order, what each record needs.
///
/// # Errors
/// When nothing is found, or nothing of what is found can be understood.
pub fn import(text: &str) -> Result<Vec<Imported>, ImportError> {
    let text = &plain(text);
    let lines: Vec<&str> = text.split('\n').collect();
    let (mut imported, mut items) = reports::reports(text, &lines);
    let has_table = imported
        .iter()
        .any(|one| one.tools == [reports::PIBENCHMARKS]);
    items.extend(tools::items(text, &lines, has_table));
    if imported.is_empty() && items.iter().all(comment::may_be_beside) {
        let typed = comment::items(text, &lines);
        let is_read = |typed: &Item| items.iter().any(|item| item.lines.contains(&typed.first()));
        let typed: Vec<Item> = typed.into_iter().filter(|typed| !is_read(typed)).collect();
        items.extend(typed);
    }
    items.sort_by_key(Item::first);
    imported.extend(sessions(items, &lines));
    imported.iter_mut().for_each(leave_out_twins);
    let (mut whole, findings) = with_figures(imported);
    if let Some(first) = whole.first_mut() {
        first.findings.extend(findings);
        return Ok(whole);
    }
    if findings.is_empty() {
        return Err(ImportError::Nothing);
    }
    let reasons = findings.into_iter().map(|finding| finding.detail);
    Err(ImportError::NotUnderstood {
        reasons: reasons.collect(),
    })
}

/// The records that have figures. What is known of the others is told with the one before; where
/// there is none yet, it is given beside.
fn with_figures(imported: Vec<Imported>) -> (Vec<Imported>, Vec<Finding>) {
    let (mut whole, mut findings) = (Vec::<Imported>::new(), Vec::new());
    for one in imported {
        if !one.metrics.is_empty() {
            whole.push(one);
        } else if let Some(before) = whole.last_mut() {
            before.findings.extend(one.findings);
        } else {
            findings.extend(one.findings);
        }
    }
    (whole, findings)
}

/// Of a damaged report a test may seem to come twice: nobody knows which figure is meant.
fn leave_out_twins(one: &mut Imported) {
    let mut counts = BTreeMap::<String, usize>::new();
    for metric in &one.metrics {
        *counts.entry(metric.id.clone()).or_default() += 1;
    }
    counts.retain(|_, count| *count > 1);
    one.metrics
        .retain(|metric| !counts.contains_key(&metric.id));
    for id in counts.keys() {
        one.findings
            .push(item::doubtful("it stands there twice, and is left out").on(id));
    }
}

/// What belongs together of what single tools printed. What could not be read may be of any test of
/// its tool: beside a figure of that tool it ends the record, so that none gets figures of two cards.
fn sessions(items: Vec<Item>, lines: &[&str]) -> Vec<Imported> {
    let mut groups: Vec<Vec<Item>> = Vec::new();
    for item in items {
        let is_again = groups
            .last()
            .is_none_or(|group| group.iter().any(|known| known.is_again(&item)));
        match groups.last_mut() {
            Some(group) if !is_again => group.push(item),
            _ => groups.push(vec![item]),
        }
    }
    groups
        .into_iter()
        .map(|group| {
            let suite = tools::suite(&group);
            Imported {
                suite,
                ..together(group, lines)
            }
        })
        .collect()
}

/// One record of all these.
fn together(items: Vec<Item>, lines: &[&str]) -> Imported {
    let mut one = Imported {
        printed_text: text::printed(&items, lines),
        ..Imported::default()
    };
    let mut doubts = Vec::new();
    for mut item in items {
        // A finding may name a figure that was left out, and another item have that.
        name_warnings(&mut item.metrics, &item.findings);
        let is_known = one.tools.iter().any(|tool| tool == item.tool);
        if !is_known && !item.metrics.is_empty() {
            one.tools.push(item.tool.to_owned());
        }
        one.named = one.named.or(item.named);
        one.device = one.device.or(item.device);
        doubts.extend(item.doubts);
        one.findings.extend(item.findings);
        for metric in item.metrics {
            put(&mut one, metric);
        }
    }
    one.findings.extend(ambiguous(&doubts));
    let of_all = one.findings.iter().filter(|it| it.workloads.is_empty());
    let of_all: Vec<Finding> = of_all.cloned().collect();
    name_warnings(&mut one.metrics, &of_all);
    one
}

/// What is measured beside a rate, and the endings of its ids.
const BESIDE: [&str; 3] = ["_mean", "_p50", "_p99"];

/// Names on each figure the findings that limit trust in it, as a run of ours does.
fn name_warnings(metrics: &mut [Metric], findings: &[Finding]) {
    for metric in metrics {
        let is_of = |id: &String| {
            let rest = metric.id.strip_prefix(id.as_str());
            rest.is_some_and(|rest| rest.is_empty() || BESIDE.contains(&rest))
        };
        let touches = |finding: &&Finding| {
            finding.severity >= Severity::Warning
                && (finding.workloads.is_empty() || finding.workloads.iter().any(is_of))
        };
        let names = findings.iter().filter(touches).map(|it| it.kind.name());
        let names: Vec<String> = names.collect();
        metric.warnings.extend(names);
        metric.warnings.sort();
        metric.warnings.dedup();
    }
}

/// Adds a figure, unless it is no amount.
fn put(one: &mut Imported, metric: Metric) {
    let is_rate = metric.rate_bytes_per_s.is_some() || metric.operations_per_s.is_some();
    if metric.value.is_finite() && (metric.value > 0.0 || !is_rate) {
        one.metrics.push(metric);
        return;
    }
    let printed = metric.printed.map_or_else(String::new, |p| p.text);
    let detail = format!("`{printed}` is left out: it is no rate");
    one.findings.push(item::doubtful(detail).on(metric.id));
}

/// One finding for all figures whose unit can be read in two ways: ids, and by how much each may
/// be off.
fn ambiguous(doubts: &[(String, f64)]) -> Option<Finding> {
    let most = doubts.iter().map(|(_, ratio)| *ratio).fold(0.0, f64::max);
    if most == 0.0 {
        return None;
    }
    let detail = format!(
        "whether its units are of 1,000 or of 1,024 is not said: figures may be off by {:.1} %",
        100.0 * most
    );
    let finding = Finding::new(FindingKind::AmbiguousUnit, Severity::Note, detail);
    Some(
        doubts
            .iter()
            .fold(finding, |finding, (id, _)| finding.on(id)),
    )
}
