//! What fio printed, in any of its forms.

use std::collections::BTreeMap;

use cardmark_core::{Finding, FindingKind, Metric, Quantity, SECOND_NS, Severity};

use super::item::{Item, byte_rate, operation_rate, printed};
use super::text::public;
use super::tools::all;
use crate::read::{fio_parts, fio_text_parts};
use crate::{FioDirection, FioLatency, FioReading, FioTextReading, Rate};

const FIO: &str = "fio";
/// From this size on, an operation is spoken of in bytes.
const BYTE_RATE_BLOCK_BYTES: f64 = 65_536.0;
/// Longest name of a job in an id, characters.
const MOST_NAME: usize = 40;
/// Percentiles that become metrics, and the endings of their ids.
const PERCENTILES: [(f64, &str); 2] = [(50.0, "p50"), (99.0, "p99")];

/// The jobs, each direction by itself. Where the JSON of a run is there, what the human output says
/// of the same jobs is left out: it is the same, rounded.
pub(super) fn items(text: &str) -> Vec<Item> {
    let mut names = Names::default();
    let exact = fio_parts(text);
    let known: Vec<(String, FioDirection)> = exact
        .0
        .iter()
        .map(|reading| (reading.job.clone(), reading.direction))
        .collect();
    let lines: Vec<&str> = text.split('\n').collect();
    let mut items = all(exact, |reading| {
        let line = lines.get(reading.line.saturating_sub(1));
        let is_json = line.is_some_and(|line| line.starts_with('{'));
        // Documents are runs of their own; lines are of one.
        let run = if is_json { reading.line } else { 0 };
        let id = names.id(run, Some(&reading.job), reading.direction);
        vec![exact_item(&reading, id)]
    });
    items.extend(all(fio_text_parts(text), |reading| {
        let job = reading.job.clone();
        let is_known = |(name, direction): &(String, FioDirection)| {
            Some(name) == job.as_ref() && *direction == reading.direction
        };
        if known.iter().any(is_known) {
            return Vec::new();
        }
        let id = names.id(0, job.as_deref(), reading.direction);
        vec![text_item(&reading, &id)]
    }));
    items
}

/// Ids that were given, by run.
#[derive(Default)]
struct Names {
    given: BTreeMap<(usize, String), u32>,
}

impl Names {
    /// An id made of the job's name; a second job of that name in a run gets a number.
    fn id(&mut self, run: usize, job: Option<&str>, direction: FioDirection) -> String {
        let direction = match direction {
            FioDirection::Read => "read",
            FioDirection::Write => "write",
        };
        let name = job.and_then(plain_name);
        let base = name.map_or_else(|| FIO.to_owned(), |name| format!("fio_{name}"));
        let count = self.given.entry((run, format!("{base}_{direction}")));
        let count = count.and_modify(|count| *count += 1).or_insert(1);
        match count {
            1 => format!("{base}_{direction}"),
            number => format!("{base}_{number}_{direction}"),
        }
    }
}

/// A job's name in small letters, digits and `_`; none where it is a path or looks like the name
/// of one device.
fn plain_name(job: &str) -> Option<String> {
    let is_plain = !job.contains('/') && public(job).is_some();
    let parts = job.split(|c: char| !c.is_ascii_alphanumeric());
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let name: String = parts.join("_").to_ascii_lowercase();
    let name: String = name.chars().take(MOST_NAME).collect();
    (is_plain && !name.is_empty()).then_some(name)
}

/// Small operations are counted, large ones measured.
fn rate(id: String, figure: &Rate, operations_per_s: f64) -> Metric {
    let printed = printed(FIO, &figure.printed, None);
    let block_bytes = figure.bytes_per_s / operations_per_s;
    if block_bytes < BYTE_RATE_BLOCK_BYTES {
        operation_rate(id, operations_per_s, Some(figure.bytes_per_s), printed)
    } else {
        Metric {
            operations_per_s: Some(operations_per_s).filter(|&rate| rate > 0.0),
            ..byte_rate(id, figure.bytes_per_s, printed)
        }
    }
}

fn failed(id: &str, errno: i64) -> Option<Finding> {
    let detail = format!("fio ended this job with error {errno}");
    let finding = Finding::new(FindingKind::IoError, Severity::Warning, detail);
    (errno != 0).then(|| finding.on(id))
}

fn exact_item(reading: &FioReading, id: String) -> Item {
    let findings = failed(&id, reading.errno).into_iter().collect();
    // The line of a document says nothing by itself, a terse one has names and numbers only.
    let said = format!(
        "{id}: {}, {:.2} IOPS",
        reading.rate.printed, reading.operations_per_s
    );
    let metric = rate(id, &reading.rate, reading.operations_per_s);
    Item {
        findings,
        said: Some(said),
        ..Item::of(FIO, reading.line, vec![metric])
    }
}

fn text_item(reading: &FioTextReading, id: &str) -> Item {
    let mut item = Item::new(FIO, reading.line);
    item.findings.extend(failed(id, reading.errno.unwrap_or(0)));
    let metric = rate(id.to_owned(), &reading.rate, reading.operations_per_s);
    let most = reading.rate.bytes_per_s;
    let least = if reading.unit_stated {
        most
    } else {
        most * decimal_share(&reading.rate.printed)
    };
    item.put_between(middle(metric, least, most), least, most);
    for (percent, ending) in PERCENTILES {
        let mut percentiles = reading.percentiles.iter();
        let found =
            percentiles.find(|it| it.latency == FioLatency::Completion && it.percent == percent);
        if let Some(found) = found.filter(|found| found.at_most_ns < 1_000_000 * SECOND_NS) {
            let id = format!("{id}_{ending}");
            item.metrics
                .push(Metric::new(id, Quantity::Span, found.at_most_ns as f64));
        }
    }
    item
}

/// By how much less a rate is if its prefix is decimal and not binary.
fn decimal_share(printed: &str) -> f64 {
    let power = match printed.find(['K', 'k', 'M', 'G']) {
        None => 0,
        Some(at) if printed[at..].starts_with('M') => 2,
        Some(at) if printed[at..].starts_with('G') => 3,
        Some(_) => 1,
    };
    (1000.0 / 1024.0_f64).powi(power)
}

/// The metric with the bytes a second halfway; operations are certain.
fn middle(metric: Metric, least: f64, most: f64) -> Metric {
    let middle = 0.5 * (least + most);
    Metric {
        value: match metric.quantity {
            Quantity::ByteRate => middle,
            _ => metric.value,
        },
        rate_bytes_per_s: Some(middle),
        ..metric
    }
}
