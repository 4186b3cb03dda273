//! Reports of programs that run several tests.

use std::collections::BTreeMap;

use cardmark_core::{
    Board, DeviceInfo, Finding, FindingKind, Host, KIB, MIB, Metric, Printed, Quantity, Severity,
};

use super::item::{Item, byte_rate, doubtful, operation_rate, printed, size, unread, unreadable};
use super::text::{fact, printed as kept, public};
use super::tools::{hdparm_unit, operations};
use super::{Imported, name_warnings, put};
use crate::read::number::number_and_unit;
use crate::read::{dd_parts, hdparm_parts, pibenchmarks_parts};
use crate::{
    AgnosticsFigure, AgnosticsJob, AgnosticsReading, AgnosticsRun, AgnosticsTest, HdparmTest,
    KdiskmarkDirection, KdiskmarkRate, KdiskmarkReading, KdiskmarkReport, PibenchmarksDrive,
    PibenchmarksReading, PibenchmarksResult, PibenchmarksTest, PibenchmarksUnit, read_agnostics,
    read_kdiskmark,
};

pub(super) const PIBENCHMARKS: &str = "PiBenchmarks";
const AGNOSTICS: &str = "agnostics";
const KDISKMARK: &str = "KDiskMark";
/// Longest value of a label, characters.
const MOST_LABEL: usize = 200;

/// The reports of a text, and what of them could not be read.
pub(super) fn reports(text: &str, lines: &[&str]) -> (Vec<Imported>, Vec<Item>) {
    let mut reports = Vec::new();
    let mut lost = Vec::new();
    let (tables, errors) = pibenchmarks_parts(text);
    reports.extend(tables.iter().map(|table| pibenchmarks(table, text, lines)));
    lost.extend(unread(&errors));
    match read_agnostics(text) {
        Ok(logs) => reports.extend(logs.iter().filter_map(|log| agnostics(log, lines))),
        Err(error) => lost.extend(unreadable(&error)),
    }
    match read_kdiskmark(text) {
        Ok(pages) => reports.extend(pages.iter().map(|page| kdiskmark(page, lines))),
        Err(error) => lost.extend(unreadable(&error)),
    }
    for one in &mut reports {
        name_warnings(&mut one.metrics, &one.findings);
    }
    (reports, lost)
}

/// A record of a tool, its figures in these lines.
fn report(tool: &str, version: Option<&str>, numbers: &[usize], lines: &[&str]) -> Imported {
    let items: Vec<Item> = numbers
        .iter()
        .map(|number| Item::new("", *number))
        .collect();
    let version = version.and_then(fact);
    Imported {
        tools: vec![version.map_or(tool.to_owned(), |version| format!("{tool} {version}"))],
        printed_text: kept(&items, lines),
        ..Imported::default()
    }
}

fn label(labels: &mut BTreeMap<String, String>, key: &str, value: Option<&String>) {
    let value = value.and_then(|value| public(value));
    if let Some(value) = value.filter(|value| value.chars().count() <= MOST_LABEL) {
        labels.insert(key.to_owned(), value);
    }
}

/// Ids of our suite, whether the figure is one of operations, and what the row is called.
fn row(test: PibenchmarksTest) -> (&'static str, &'static str) {
    match test {
        PibenchmarksTest::DiskRead => ("pibenchmarks_hdparm_disk", "Disk Read"),
        PibenchmarksTest::CachedDiskRead => ("pibenchmarks_hdparm_cached", "Cached Disk Read"),
        PibenchmarksTest::DiskWrite => ("pibenchmarks_dd", "Disk Write"),
        PibenchmarksTest::FioRandomRead => ("pibenchmarks_fio_rand_read", "4k random read"),
        PibenchmarksTest::FioRandomWrite => ("pibenchmarks_fio_rand_write", "4k random write"),
        PibenchmarksTest::Read => ("pibenchmarks_iozone_read", "4k read"),
        PibenchmarksTest::Write => ("pibenchmarks_iozone_write", "4k write"),
        PibenchmarksTest::RandomRead => ("pibenchmarks_iozone_random_read", "4k random read"),
        PibenchmarksTest::RandomWrite => ("pibenchmarks_iozone_random_write", "4k random write"),
    }
}

/// Rows of a table that is whole.
const ROWS_COUNT: usize = 9;

fn pibenchmarks(table: &PibenchmarksReading, text: &str, lines: &[&str]) -> Imported {
    let numbers: Vec<usize> = table.results.iter().map(|result| result.line).collect();
    let mut one = report(PIBENCHMARKS, None, &numbers, lines);
    for result in &table.results {
        match pibenchmarks_metric(result, text) {
            Some(metric) => put(&mut one, metric),
            None => {
                let (id, name) = row(result.test);
                let detail = format!(
                    "{name} `{}` is left out: the script prints this unit whatever the tool said, so \
                     that it may be a thousand times less",
                    result.printed
                );
                let finding = Finding::new(FindingKind::AmbiguousUnit, Severity::Note, detail);
                one.findings.push(finding.on(id));
            }
        }
    }
    // Scripts that print the units of the tools are those of today.
    let is_of_today = |result: &PibenchmarksResult| {
        result.test == PibenchmarksTest::DiskRead && result.unit == PibenchmarksUnit::Own
    };
    if one.metrics.len() == ROWS_COUNT && table.results.iter().any(is_of_today) {
        one.suite = Some("pibenchmarks");
    }
    if let Some(score) = table.score {
        let metric = Metric::new("pibenchmarks_score", Quantity::Count, score as f64);
        one.metrics.push(metric);
        if table.recomputed_score().is_some_and(|own| own != score) {
            let detail = format!("the score {score} is not that of the rows above it");
            one.findings.push(doubtful(detail).on("pibenchmarks_score"));
        }
    }
    describe(&mut one, table);
    one
}

/// Board, system and drive as the script says them.
fn describe(one: &mut Imported, table: &PibenchmarksReading) {
    let board = &table.board;
    one.board = board.model.as_deref().and_then(fact).map(|model| Board {
        model: Some(model),
        ..Board::default()
    });
    let host = Host {
        system: board.os.as_deref().and_then(fact),
        architecture: board.architecture.as_deref().and_then(fact),
        ..Host::default()
    };
    one.host = (host != Host::default()).then_some(host);
    let PibenchmarksDrive {
        manufacturer,
        model,
        made,
        class,
        size,
        description,
        ..
    } = &table.drive;
    one.device = model.as_deref().and_then(fact).map(|model| DeviceInfo {
        model: Some(model),
        ..DeviceInfo::default()
    });
    let said = [
        ("manufacturer", manufacturer),
        ("made", made),
        ("class", class),
        ("size", size),
        ("description", description),
    ];
    for (key, value) in said {
        label(&mut one.labels, key, value.as_ref());
    }
}

/// None where the unit stays open.
fn pibenchmarks_metric(result: &PibenchmarksResult, text: &str) -> Option<Metric> {
    let (id, _) = row(result.test);
    let shown = |right: Option<&str>| printed(PIBENCHMARKS, &result.printed, right);
    let metric = match result.test {
        PibenchmarksTest::DiskRead | PibenchmarksTest::CachedDiskRead => {
            let (bytes_per_s, right) = timing(result, text)?;
            byte_rate(id, bytes_per_s, shown(Some(right)))
        }
        PibenchmarksTest::DiskWrite => byte_rate(id, copy(result, text)?, shown(None)),
        PibenchmarksTest::FioRandomRead | PibenchmarksTest::FioRandomWrite => {
            let meaning = result.printed.replace("KB/s", "KiB/s");
            let printed = shown(None).map(|printed| Printed {
                meaning: Some(meaning),
                ..printed
            });
            operation_rate(id, result.operations_per_s?, result.bytes_per_s, printed)
        }
        _ => {
            let bytes_per_s = result.bytes_per_s?;
            Metric {
                operations_per_s: operations(bytes_per_s, Some(4 * KIB)),
                ..byte_rate(id, bytes_per_s, shown(Some("KiB/s")))
            }
        }
    };
    Some(metric)
}

/// hdparm's figure in bytes a second, and the unit it has: where the row does not tell, hdparm's own
/// line in the text does, or a number that it prints in one unit only.
fn timing(result: &PibenchmarksResult, text: &str) -> Option<(f64, &'static str)> {
    if let Some(bytes_per_s) = result.bytes_per_s {
        return Some((bytes_per_s, hdparm_unit(&result.printed)?));
    }
    let test = match result.test {
        PibenchmarksTest::DiskRead => HdparmTest::Disk,
        _ => HdparmTest::Cached,
    };
    let (timings, _) = hdparm_parts(text);
    let mut own = timings.iter().filter(|timing| {
        timing.test == test && number(&timing.rate.printed) == Some(result.number)
    });
    if let Some(timing) = own.next() {
        return Some((timing.rate.bytes_per_s, hdparm_unit(&timing.rate.printed)?));
    }
    if result.number > KIB as f64 {
        Some((result.number * MIB as f64, "MiB/s"))
    } else if result.number < 1.0 {
        Some((result.number * KIB as f64, "KiB/s"))
    } else {
        None
    }
}

/// dd's figure in bytes a second: where the row does not tell its unit, dd's own line does.
fn copy(result: &PibenchmarksResult, text: &str) -> Option<f64> {
    let own = || {
        let (copies, _) = dd_parts(text);
        let mut own = copies
            .iter()
            .filter(|copy| number(&copy.rate.printed) == Some(result.number));
        Some(own.next()?.rate.bytes_per_s)
    };
    result.bytes_per_s.or_else(own)
}

fn number(printed: &str) -> Option<f64> {
    Some(number_and_unit(printed)?.0.value)
}

/// Which tests a run of Raspberry Pi Diagnostics has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edition {
    /// Up to 0.14: blocks of 512 KiB in order, four operations at a time, no reads in order.
    Old,
    /// From 0.15 on: our suite.
    New,
    /// Neither version nor jobs tell.
    Unknown,
}

/// Ids of a test by edition, and the job that it is.
fn test(test: AgnosticsTest, edition: Edition) -> (&'static str, &'static str) {
    let is_old = edition == Edition::Old;
    match test {
        AgnosticsTest::SequentialWrite if is_old => ("fio_seq_write_512k_q4", "seq-write"),
        AgnosticsTest::RandomWrite if is_old => ("fio_rand_write_4k_q4", "rand-4k-write"),
        AgnosticsTest::RandomRead if is_old => ("fio_rand_read_4k_q4", "rand-4k-read"),
        AgnosticsTest::SequentialWrite => ("agnostics_seq_write", "seq-write"),
        AgnosticsTest::RandomWrite => ("agnostics_rand_write", "rand-4k-write"),
        AgnosticsTest::RandomRead => ("agnostics_rand_read", "rand-4k-read"),
    }
}

const TESTS: [AgnosticsTest; 3] = [
    AgnosticsTest::SequentialWrite,
    AgnosticsTest::RandomWrite,
    AgnosticsTest::RandomRead,
];

/// The last run decides, as in the program itself.
fn agnostics(log: &AgnosticsReading, lines: &[&str]) -> Option<Imported> {
    let is_empty = |run: &AgnosticsRun| run.jobs.is_empty() && run.figures.is_empty();
    let run = log.runs.iter().rev().find(|run| !is_empty(run))?;
    let jobs = run.jobs.iter().map(|job| job.line);
    let numbers: Vec<usize> = jobs
        .chain(run.figures.iter().map(|figure| figure.line))
        .collect();
    let mut one = report(
        "Raspberry Pi Diagnostics",
        log.version.as_deref(),
        &numbers,
        lines,
    );
    let edition = edition(log, run);
    for kind in TESTS {
        let (id, name) = test(kind, edition);
        let job = run.jobs.iter().find(|job| job.job == name);
        let figure = run.figures.iter().find(|figure| figure.test == kind);
        if let Some(figure) = figure.filter(|figure| figure.agrees_with_job == Some(false)) {
            let detail = format!(
                "`{}` was judged, but fio's line of that job says otherwise: its figure is taken",
                figure.printed
            );
            one.findings.push(doubtful(detail).on(id));
        }
        if let Some(metric) = judged(kind, id, job, figure) {
            put(&mut one, metric);
        }
    }
    if let Some(job) = run.jobs.iter().find(|job| job.job == "seq-read") {
        put(&mut one, job_rate("agnostics_seq_read", job, None));
    }
    if edition == Edition::New && one.metrics.len() == TESTS.len() + 1 {
        one.suite = Some("agnostics");
    }
    Some(one)
}

fn edition(log: &AgnosticsReading, run: &AgnosticsRun) -> Edition {
    let version = log.version.as_deref().and_then(|version| {
        let (major, minor) = version.split_once('.')?;
        let minor = minor.split('.').next().unwrap_or(minor);
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    });
    let has = |name: &str| run.jobs.iter().any(|job| job.job == name);
    match version {
        Some(version) if version < (0, 15) => Edition::Old,
        Some(_) => Edition::New,
        None if has("seq-read") => Edition::New,
        None if has("seq-write") && has("rand-4k-read") => Edition::Old,
        None => Edition::Unknown,
    }
}

/// What was judged. Where its job says otherwise, the job is right.
fn judged(
    kind: AgnosticsTest,
    id: &str,
    job: Option<&AgnosticsJob>,
    figure: Option<&AgnosticsFigure>,
) -> Option<Metric> {
    let figure = figure.filter(|figure| figure.agrees_with_job != Some(false));
    let is_in_order = kind == AgnosticsTest::SequentialWrite;
    let printed = figure
        .and_then(|figure| printed(AGNOSTICS, &figure.printed, is_in_order.then_some("KiB/s")));
    match (job, figure) {
        (Some(job), _) if is_in_order => Some(job_rate(id, job, printed)),
        (Some(job), _) => {
            let own =
                || super::item::printed(AGNOSTICS, &format!("{} IOPS", job.operations_per_s), None);
            let bytes_per_s = Some(job.rate.bytes_per_s);
            Some(operation_rate(
                id,
                job.operations_per_s,
                bytes_per_s,
                printed.or_else(own),
            ))
        }
        (None, Some(figure)) if is_in_order => Some(byte_rate(id, figure.bytes_per_s?, printed)),
        (None, Some(figure)) => Some(operation_rate(id, figure.operations_per_s?, None, printed)),
        (None, None) => None,
    }
}

/// fio's KiB a second, which the log has without a unit.
fn job_rate(id: &str, job: &AgnosticsJob, shown: Option<Printed>) -> Metric {
    let own = || printed(AGNOSTICS, &job.rate.printed, None);
    byte_rate(id, job.rate.bytes_per_s, shown.or_else(own))
}

/// KDiskMark's MB where its version is known.
const KDISKMARK_MB: f64 = 1_024_000.0;

fn kdiskmark(page: &KdiskmarkReport, lines: &[&str]) -> Imported {
    let numbers: Vec<usize> = page.readings.iter().map(|reading| reading.line).collect();
    let mut one = report(KDISKMARK, page.version.as_deref(), &numbers, lines);
    let mut open = Vec::new();
    for reading in &page.readings {
        let id = kdiskmark_id(reading);
        if matches!(reading.rate, KdiskmarkRate::Ambiguous(_)) {
            open.push(id.clone());
        }
        one.findings.extend(lost_threads(reading, &id));
        put(&mut one, kdiskmark_rate(reading, &id));
        if let Some(latency_ns) = reading.latency_ns.filter(|&ns| ns > 0) {
            let id = format!("{id}_mean");
            put(&mut one, Metric::new(id, Quantity::Span, latency_ns as f64));
        }
    }
    if !open.is_empty() {
        let detail = "which version printed this is not said, and with it not what its MB are: rates \
                      are its operations times the block size";
        let finding = Finding::new(FindingKind::AmbiguousUnit, Severity::Note, detail);
        one.findings
            .push(open.into_iter().fold(finding, Finding::on));
    }
    label(&mut one.labels, "profile", page.profile.as_ref());
    one
}

fn kdiskmark_id(reading: &KdiskmarkReading) -> String {
    let order = if reading.is_random { "rand" } else { "seq" };
    let direction = match reading.direction {
        KdiskmarkDirection::Read => "read".to_owned(),
        KdiskmarkDirection::Write => "write".to_owned(),
        KdiskmarkDirection::Mix { read_percent } => format!("mix{read_percent}"),
    };
    format!(
        "kdiskmark_{order}_{direction}_{}_q{}_t{}",
        size(reading.block_bytes),
        reading.queue_depth,
        reading.threads_count
    )
}

fn kdiskmark_rate(reading: &KdiskmarkReading, id: &str) -> Metric {
    let by_operations = reading.operations_per_s * reading.block_bytes as f64;
    let (bytes_per_s, shown) = match &reading.rate {
        KdiskmarkRate::Known(rate) => {
            let shown = printed(KDISKMARK, &rate.printed, None).map(|printed| Printed {
                meaning: Some(format!("{:.3} MB/s", printed.value * KDISKMARK_MB / 1e6)),
                ..printed
            });
            (rate.bytes_per_s, shown)
        }
        KdiskmarkRate::Ambiguous(text) => (by_operations, printed(KDISKMARK, text, None)),
    };
    if reading.block_bytes < 65_536 {
        return operation_rate(id, reading.operations_per_s, Some(bytes_per_s), shown);
    }
    Metric {
        operations_per_s: Some(reading.operations_per_s).filter(|&rate| rate > 0.0),
        ..byte_rate(id, bytes_per_s, shown)
    }
}

/// Before 3.3.0 every second of several threads was not counted.
fn lost_threads(reading: &KdiskmarkReading, id: &str) -> Option<Finding> {
    let all = reading.threads_count;
    let detail = match reading.counted_threads_count {
        Some(counted) if counted < all => {
            format!("of {all} threads this version of KDiskMark counts {counted}")
        }
        None if all > 1 => {
            format!("before version 3.3 KDiskMark counts each second thread only, here of {all}")
        }
        _ => return None,
    };
    Some(doubtful(detail).on(id))
}
