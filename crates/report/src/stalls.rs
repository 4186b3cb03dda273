//! What a run says about stalls, in a sentence for each workload.

use cardmark_core::{Metric, Record, Stalls};

use crate::names::workload_name;
use crate::style::clean;
use crate::text::{figure, percent, span, value};

/// A durable rate is told where it is below the rate by this share.
const DURABLE_RATIO: f64 = 0.05;

/// Sentences about the workloads that write, and about all others that stalled.
pub(crate) fn sentences(record: &Record) -> Vec<String> {
    let rates = record.metrics.iter();
    rates
        .filter_map(|metric| sentence(record, metric))
        .collect()
}

fn sentence(record: &Record, metric: &Metric) -> Option<String> {
    let parts = metric.parts.as_ref()?;
    let stalls = parts.stalls.as_ref()?;
    let workload = record.trials.iter().map(|trial| &trial.workload);
    let writes = workload
        .filter(|workload| workload.id == metric.id)
        .any(|workload| workload.read_share_percent == 0);
    let seen = stalls.over_100ms.seen_count;
    if !writes && seen == 0 {
        return None;
    }
    let mut text = format!("{}: {}", clean(workload_name(&metric.id)), counted(stalls));
    if let Some(low) = parts.long_run.and_then(|range| range.low) {
        let low = value(&metric.id, metric.quantity, low);
        text.push_str(&format!("; in the long run {low} or more"));
    }
    let durable = parts
        .durable_per_s
        .filter(|durable| *durable < (1.0 - DURABLE_RATIO) * metric.value);
    if let Some(durable) = durable {
        let durable = value(&metric.id, metric.quantity, durable);
        text.push_str(&format!("; {durable} with the flushes"));
    }
    Some(text)
}

fn counted(stalls: &Stalls) -> String {
    let within = span(stalls.observed_ns);
    let over = stalls.over_100ms;
    let many = over.per_minute.high.map(figure).unwrap_or_default();
    if over.seen_count == 0 {
        return format!("no stall over 100 ms in {within}, so fewer than {many} a minute");
    }
    let few = over.per_minute.low.map(figure).unwrap_or_default();
    let plural = if over.seen_count == 1 { "" } else { "s" };
    let longest = stalls.longest_ns.map(span).unwrap_or_default();
    format!(
        "{} stall{plural} over 100 ms in {within} ({few}–{many} a minute), the longest {longest}, {} of the time",
        over.seen_count,
        percent(stalls.time_ratio.value)
    )
}
