//! Grouping of readings into records.

use std::collections::{BTreeMap, BTreeSet};

use cardmark_core::{Finding, FindingKind, MIB, Metric, Severity};

use crate::Imported;
use crate::dd::forget_guess;
use crate::iozone::{PARTS, SIX};
use crate::reading::{Found, Reading, Section, doubtful};
use crate::section::{board_at, is_between};

/// Returns what each record needs, in the order of the text.
pub(crate) fn records(found: Found) -> Vec<Imported> {
    let Found {
        mut readings,
        reports,
        sections,
        ..
    } = found;
    readings.sort_by_key(|reading| reading.line);
    forget_guesses(&mut readings);
    let reports = reports.into_iter().map(|report| report.one);
    let sessions = sessions(readings, &sections);
    let mut records: Vec<Imported> = reports.chain(sessions).collect();
    records.iter_mut().for_each(drop_duplicates);
    records.iter_mut().for_each(doubt_implausible);
    with_metrics(records)
}

/// Keeps the records that have metrics. Findings of others move to a neighbour.
fn with_metrics(records: Vec<Imported>) -> Vec<Imported> {
    let (mut kept, mut early) = (Vec::<Imported>::new(), Vec::new());
    for one in records {
        if !one.metrics.is_empty() {
            kept.push(one);
        } else if let Some(before) = kept.last_mut() {
            before.findings.extend(one.findings);
        } else {
            early.extend(one.findings);
        }
    }
    if let Some(first) = kept.first_mut() {
        first.findings.extend(early);
    }
    kept
}

/// Drops metrics that a damaged report has twice: either could be the right one.
fn drop_duplicates(one: &mut Imported) {
    let mut counts = BTreeMap::<String, usize>::new();
    for metric in &one.metrics {
        *counts.entry(metric.id.clone()).or_default() += 1;
    }
    counts.retain(|_, count| *count > 1);
    let is_single = |metric: &Metric| !counts.contains_key(&metric.id);
    one.metrics.retain(is_single);
    for id in counts.keys() {
        let finding = doubtful("it stands there twice, and is left out");
        one.findings.push(finding.on(id));
    }
}

/// Groups the results of single tools. Any test of a tool can be the one that a damaged line stands
/// for: next to a result of that tool it ends the record, so that no record mixes two cards.
fn sessions(readings: Vec<Reading>, sections: &[Section]) -> Vec<Imported> {
    let mut groups: Vec<Group> = Vec::new();
    for reading in readings {
        match groups.last_mut() {
            Some(group) if !group.ends_before(&reading, sections) => group.push(reading),
            _ => {
                let mut group = Group::default();
                group.push(reading);
                groups.push(group);
            }
        }
    }
    let board = |group: &Group| board_at(sections, group.readings.first()?.line);
    let one = |group: Group| Imported {
        board: board(&group),
        ..record(group.readings)
    };
    groups.into_iter().map(one).collect()
}

/// Results that become one record.
#[derive(Default)]
struct Group {
    readings: Vec<Reading>,
    ids: BTreeSet<String>,
    /// Tools, and whether their result could not be read.
    tools: BTreeSet<(&'static str, bool)>,
    has_guess: bool,
}

impl Group {
    /// Returns whether a result begins the next record: its test may be here already, or another device
    /// begins above it.
    fn ends_before(&self, reading: &Reading, sections: &[Section]) -> bool {
        let last = self.readings.last();
        last.is_some_and(|last| is_between(sections, last.line, reading.line))
            || self.tools.contains(&(reading.tool, !reading.is_damaged))
            || self.has_guess && reading.is_guess
            || reading.metrics.iter().any(|it| self.ids.contains(&it.id))
    }

    fn push(&mut self, reading: Reading) {
        self.ids
            .extend(reading.metrics.iter().map(|it| it.id.clone()));
        self.tools.insert((reading.tool, reading.is_damaged));
        self.has_guess |= reading.is_guess;
        self.readings.push(reading);
    }
}

/// Keeps the guess about a copy of the common script's size only where no other copy of that size stands
/// directly above it: the second one may read what the first one wrote.
fn forget_guesses(readings: &mut [Reading]) {
    let mut is_above = false;
    for reading in readings {
        let is_guess = reading.is_guess;
        if is_guess && is_above {
            forget_guess(reading);
        }
        is_above = is_guess;
    }
}

/// Times above the rate of hdparm's disk reads from which on a figure is doubtful.
const MOST_ABOVE_DISK: f64 = 10.0;

/// Notes figures that no card can have: faster than memory, or much faster than the disk of the same
/// record.
fn doubt_implausible(one: &mut Imported) {
    let rate = |ids: &[&str]| {
        let metrics = one
            .metrics
            .iter()
            .filter(|it| ids.contains(&it.id.as_str()));
        metrics
            .filter_map(|it| it.rate_bytes_per_s)
            .reduce(f64::max)
    };
    let memory = rate(&["hdparm_T"]);
    let disk = rate(&["hdparm_t", "hdparm_t_direct"]);
    let is_above = |metric: &Metric, limit: Option<f64>| {
        let rate = metric.rate_bytes_per_s;
        rate.zip(limit).is_some_and(|(rate, limit)| rate > limit)
    };
    let most = disk.map(|rate| MOST_ABOVE_DISK * rate);
    let from_cache = |detail| Finding::new(FindingKind::Buffered, Severity::Warning, detail);
    let mut findings = [FROM_MEMORY, FROM_NO_DISK].map(|detail| (from_cache(detail), false));
    for metric in &mut one.metrics {
        let place = if metric.id.starts_with("hdparm_T") {
            continue;
        } else if is_above(metric, memory) {
            0
        } else if is_above(metric, most) && !metric.id.starts_with("hdparm") {
            1
        } else {
            continue;
        };
        let (finding, is_found) = &mut findings[place];
        *finding = std::mem::replace(finding, doubtful("")).on(&metric.id);
        *is_found = true;
        let name = FindingKind::Buffered.name();
        metric.warnings.push(name);
        metric.warnings.sort();
        metric.warnings.dedup();
    }
    let found = findings.into_iter().filter(|(_, is_found)| *is_found);
    one.findings.extend(found.map(|(finding, _)| finding));
}

const FROM_MEMORY: &str = "faster than the memory of this computer by hdparm: from the page cache, not from the card alone";
const FROM_NO_DISK: &str = "more than ten times as fast as the disk by hdparm: from the page cache, not from the card alone";

/// One record of several readings.
pub(crate) fn record(readings: Vec<Reading>) -> Imported {
    let mut one = Imported {
        suite: suite(&readings),
        ..Imported::default()
    };
    let mut doubts = Vec::new();
    for mut reading in readings {
        name_warnings(&mut reading.metrics, &reading.findings);
        let is_known = one.tools.iter().any(|tool| tool == reading.tool);
        if !is_known && !reading.metrics.is_empty() {
            one.tools.push(reading.tool.to_owned());
        }
        one.device = one.device.or(reading.device);
        doubts.extend(reading.doubts);
        one.findings.extend(reading.findings);
        for metric in reading.metrics {
            put(&mut one, metric);
        }
    }
    one.findings.extend(ambiguous(&doubts));
    let of_all = one.findings.iter().filter(|it| it.workloads.is_empty());
    let of_all: Vec<Finding> = of_all.cloned().collect();
    name_warnings(&mut one.metrics, &of_all);
    one
}

/// Names on each metric the findings that limit trust in it.
pub(crate) fn name_warnings(metrics: &mut [Metric], findings: &[Finding]) {
    for metric in metrics {
        let rate = metric.latency().map(|(workload, _)| workload);
        let is_of = |id: &String| *id == metric.id || Some(id.as_str()) == rate;
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

/// Adds a metric, unless it is a rate of zero.
pub(crate) fn put(one: &mut Imported, metric: Metric) {
    let is_rate = metric.rate_bytes_per_s.is_some() || metric.operations_per_s.is_some();
    if metric.value.is_finite() && (metric.value > 0.0 || !is_rate) {
        one.metrics.push(metric);
        return;
    }
    let printed = metric.printed.map_or_else(String::new, |p| p.text);
    let detail = format!("`{printed}` is left out: it is no rate");
    one.findings.push(doubtful(detail).on(metric.id));
}

/// One finding for all metrics whose unit has two meanings.
fn ambiguous(doubts: &[(String, f64)]) -> Option<Finding> {
    let most = doubts.iter().map(|(_, ratio)| *ratio).fold(0.0, f64::max);
    if most == 0.0 {
        return None;
    }
    let detail = format!(
        "the text does not say whether its units are of 1,000 or of 1,024: figures may be off by \
         {:.1} %",
        100.0 * most
    );
    let finding = Finding::new(FindingKind::AmbiguousUnit, Severity::Note, detail);
    let ids = doubts.iter().map(|(id, _)| id);
    Some(ids.fold(finding, |finding, id| finding.on(id)))
}

/// The suite of ours that gives these metrics. The common script may lack `hdparm -T`; ddrescue,
/// which belongs to `raw-survey`, does not print whether it read or wrote.
fn suite(readings: &[Reading]) -> Option<&'static str> {
    let metrics = readings.iter().flat_map(|reading| &reading.metrics);
    let mut ids: Vec<&str> = metrics
        .map(|metric| metric.id.as_str())
        .filter(|id| !["hdparm_T", "ddrescue"].contains(id))
        .collect();
    ids.sort_unstable();
    let mut files = readings.iter().filter_map(|reading| reading.file_bytes);
    let file_bytes = files.next()?;
    let is_one = files.all(|bytes| bytes == file_bytes);
    let is_one = is_one && readings.iter().all(|reading| reading.is_of_suite);
    let is = |mut wanted: Vec<String>, wanted_bytes: u64| {
        wanted.sort_unstable();
        is_one && file_bytes == wanted_bytes && wanted == ids
    };
    let six = |end: &'static str| SIX.map(|test| format!("iozone_{test}{end}"));
    let dramble = ["hdparm_t", "dd_write"].map(str::to_owned).into_iter();
    let threads = SIX
        .iter()
        .flat_map(|test| PARTS.map(|part| format!("iozone_t4_{test}_{part}")));
    if is(dramble.chain(six("")).collect(), 100 * MIB) {
        Some("dramble")
    } else if is([six("_4k"), six("_16m")].concat(), 100 * MIB) {
        Some("raw-survey")
    } else if is(threads.collect(), 256 * MIB) {
        Some("parallel4")
    } else {
        None
    }
}
