//! Problems during trials: from readings of the sensors to findings.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use cardmark_core::{Finding, FindingKind, Record, SensorSample, Severity, Trial};

/// Time before and after a reading for which it is valid; readings are taken once a second.
pub(crate) const SENSOR_REACH_NS: u64 = 500_000_000;
/// Distance above which readings of a long run were merged with those in between.
pub(crate) const MERGED_APART_NS: u64 = 2_000_000_000;
/// Share of processor time taken by others above which it is reported.
pub(crate) const STOLEN_RATIO: f64 = 0.05;
/// Maximum number of kernel messages that a finding quotes.
pub(crate) const MOST_MESSAGES: usize = 3;

/// Returns the findings about the trials of one workload.
pub(crate) fn during(record: &Record, trials: &[&Trial]) -> Vec<Finding> {
    let readings = readings(record, trials);
    [
        throttled(record, trials),
        stolen_time(record, &readings),
        bus_errors(&readings),
        kernel_messages(&readings),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A reading, and the time since the one before, to which its counts belong.
struct Reading<'a> {
    span_ns: u64,
    sample: &'a SensorSample,
}

/// Returns the readings whose counts overlap one of these trials.
fn readings<'a>(record: &'a Record, trials: &[&Trial]) -> Vec<Reading<'a>> {
    let mut before_ns = 0;
    let mut found = Vec::new();
    for sample in &record.sensors {
        let overlaps = |trial: &&&Trial| {
            let end_ns = trial.started_ns + trial.span_ns + trial.flush_span_ns.unwrap_or(0);
            before_ns < end_ns && trial.started_ns < sample.at_ns
        };
        if trials.iter().any(|trial| overlaps(&trial)) {
            found.push(Reading {
                span_ns: sample.at_ns.saturating_sub(before_ns),
                sample,
            });
        }
        before_ns = sample.at_ns;
    }
    found
}

/// Times at which a state that was read holds, nanoseconds: around the reading, or since the one before if it was
/// merged.
fn valid(before_ns: u64, at_ns: u64) -> RangeInclusive<u64> {
    let from_ns = match at_ns.saturating_sub(before_ns) > MERGED_APART_NS {
        true => before_ns,
        false => at_ns.saturating_sub(SENSOR_REACH_NS),
    };
    from_ns..=at_ns.saturating_add(SENSOR_REACH_NS)
}

fn throttled(record: &Record, trials: &[&Trial]) -> Option<Finding> {
    let times = || record.sensors.iter().map(|sample| sample.at_ns);
    let begun_ns = match record.sensors[..] {
        [ref first, ref second, ..] => first
            .at_ns
            .saturating_sub(second.at_ns.saturating_sub(first.at_ns)),
        [ref only] => only.at_ns,
        [] => return None,
    };
    let slow: Vec<_> = std::iter::once(begun_ns)
        .chain(times())
        .zip(&record.sensors)
        .filter(|(_, sample)| sample.throttled == Some(true))
        .map(|(before_ns, sample)| valid(before_ns, sample.at_ns))
        .collect();
    let during = |trial: &&&Trial| {
        let end_ns = trial.started_ns + trial.span_ns;
        let mut spans = slow.iter();
        spans.any(|span| *span.start() <= end_ns && trial.started_ns <= *span.end())
    };
    let count = trials.iter().filter(during).count();
    (count > 0).then(|| {
        let detail = format!(
            "the board slowed itself down in {count} of {} trials",
            trials.len()
        );
        Finding::new(FindingKind::Throttled, Severity::Warning, detail)
    })
}

/// A sum of numbers from a record, which may be anything.
fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

fn stolen_time(record: &Record, readings: &[Reading<'_>]) -> Option<Finding> {
    let known = || readings.iter().filter(|r| r.sample.stolen_ns.is_some());
    let stolen_ns = sum(known().filter_map(|r| r.sample.stolen_ns));
    let span_ns = sum(known().map(|r| r.span_ns));
    let cpus = record.board.as_ref().and_then(|board| board.cpu_count);
    let ratio = stolen_ns as f64 / (span_ns as f64 * cpus.unwrap_or(1) as f64);
    (ratio > STOLEN_RATIO).then(|| {
        let detail = format!(
            "others on the same physical machine took {:.0} % of the processor time",
            100.0 * ratio
        );
        Finding::new(FindingKind::StolenTime, Severity::Warning, detail)
    })
}

fn bus_errors(readings: &[Reading<'_>]) -> Option<Finding> {
    let mut sums = BTreeMap::<&str, u64>::new();
    for (name, count) in readings.iter().flat_map(|r| &r.sample.bus_errors) {
        let known = sums.entry(name).or_default();
        *known = known.saturating_add(*count);
    }
    let total = sum(sums.values().copied());
    (total > 0).then(|| {
        let each: Vec<String> = sums
            .iter()
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        let detail = format!(
            "the card's host controller counted {total} errors on the bus: {}",
            each.join(", ")
        );
        Finding::new(FindingKind::BusErrors, Severity::Warning, detail)
    })
}

fn kernel_messages(readings: &[Reading<'_>]) -> Option<Finding> {
    let messages: Vec<&str> = readings
        .iter()
        .flat_map(|r| r.sample.messages.iter().map(String::as_str))
        .collect();
    let mut told = messages.clone();
    told.dedup();
    told.truncate(MOST_MESSAGES);
    let more = readings.iter().filter_map(|r| r.sample.more_messages_count);
    let count = sum(more.chain([messages.len() as u64]));
    (!messages.is_empty()).then(|| {
        let often = match count {
            1 => "once".to_owned(),
            _ => format!("{count} times"),
        };
        let detail = format!(
            "the kernel complained about the device {often}: {}",
            told.join("; ")
        );
        Finding::new(FindingKind::KernelMessages, Severity::Warning, detail)
    })
}
