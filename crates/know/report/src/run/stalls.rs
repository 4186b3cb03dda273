//! Stalls of a run, and work that its writes postponed.

use cardmark_core::{Metric, RateParts, Record, Stalls};

use crate::text::names::workload_name;
use crate::text::style::clean;
use crate::text::times::often;
use crate::text::{percent, span, value};

/// Least difference between a rate and its durable rate that is shown, as a share of the rate.
const DURABLE_RATIO: f64 = 0.05;

/// End of the id of a continuous block, whose stalls count with those of the rounds.
const LONG: &str = "_long";

/// The same in the short form.
const SHORT_OF_DURABLE_RATIO: f64 = 0.3;

/// Sentences: each workload that stalled, and each whose flushes took long; of the latter only the gravest unless `all` are
/// wanted.
pub(crate) fn sentences(record: &Record, is_whole: bool) -> Vec<String> {
    let least = match is_whole {
        true => DURABLE_RATIO,
        false => SHORT_OF_DURABLE_RATIO,
    };
    let all = all(record);
    let with_stalls = all.iter().filter_map(|(metric, parts)| {
        let stalls = seen(parts)?;
        let rounds = metric.id.strip_suffix(LONG);
        let is_counted = |rounds: &str| all.iter().any(|(one, _)| one.id == rounds);
        if rounds.is_some_and(is_counted) {
            return None;
        }
        let long = format!("{}{LONG}", metric.id);
        let long = record.metric(&long).map(|_| " and 15 s");
        let name = format!("{}{}", name(metric), long.unwrap_or_default());
        Some(format!("{name}: {}", stalled(stalls)))
    });
    let put_off = all
        .iter()
        .filter_map(|(metric, parts)| durable(metric, parts, least));
    with_stalls.chain(put_off).collect()
}

fn seen(parts: &RateParts) -> Option<&Stalls> {
    let stalls = parts.stalls.as_ref()?;
    (stalls.over_100ms.seen_count > 0).then_some(stalls)
}

fn all(record: &Record) -> Vec<(&Metric, &RateParts)> {
    let metrics = record.metrics.iter();
    metrics
        .filter_map(|metric| Some((metric, metric.parts.as_ref()?)))
        .collect()
}

fn name(metric: &Metric) -> String {
    clean(workload_name(&metric.id))
}

/// The sentence on how much writing passed without a stall.
pub(crate) fn quiet(record: &Record) -> Option<String> {
    let all = all(record);
    let writes = |id: &str| {
        let mut trials = record.trials.iter();
        trials.any(|trial| trial.workload.id == id && trial.workload.read_share_percent == 0)
    };
    let quiet = all.iter().filter_map(|(metric, parts)| {
        let stalls = parts.stalls.as_ref()?;
        // A workload without a long run counts towards another one.
        let has_long_run = parts.long_run.is_some_and(|range| range.low.is_some());
        let is_quiet = stalls.over_100ms.seen_count == 0 && has_long_run && writes(&metric.id);
        is_quiet.then(|| format!("{} of {}", span(stalls.observed_ns), name(metric)))
    });
    let quiet: Vec<String> = quiet.collect();
    (!quiet.is_empty()).then(|| {
        format!(
            "no stall over 100 ms was seen in {}; the long run allows for stalls too rare to be seen in so short \
             a time",
            quiet.join(", ")
        )
    })
}

fn stalled(stalls: &Stalls) -> String {
    let over = stalls.over_100ms;
    let bounds = over.per_minute.low.zip(over.per_minute.high);
    let often = bounds.map(|(low, high)| format!(" ({})", often(low, high)));
    let plural = if over.seen_count == 1 { "" } else { "s" };
    format!(
        "{} stall{plural} over 100 ms in {}{}, the longest {}, {} of the time",
        over.seen_count,
        span(stalls.observed_ns),
        often.unwrap_or_default(),
        stalls.longest_ns.map(span).unwrap_or_default(),
        percent(stalls.time_ratio.value)
    )
}

fn durable(metric: &Metric, parts: &RateParts, least_ratio: f64) -> Option<String> {
    let limit = (1.0 - least_ratio) * metric.value;
    let durable = parts.durable_per_s.filter(|durable| *durable < limit)?;
    let durable = value(&metric.id, metric.quantity, durable);
    Some(format!("{}: {durable} with the flushes", name(metric)))
}
