//! The two sides of a comparison: their runs and cards, metric by metric.

use std::collections::{BTreeMap, BTreeSet};

use cardmark_core::{Estimate, IntervalKind, LatencyFigure, Metric, Quantity, Record};

use crate::comparison::stall_rates::{StallPair, StallRun};
use crate::estimate::LEVEL;
use crate::estimate::distribution::normal;
use crate::estimate::distribution::student_t;

/// Figure of one run, with the relative half-width of its own interval, if it has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// Any positive figure.
    pub value: f64,
    /// Half-width of the 95 % interval, relative to the value.
    pub half_width_ratio: Option<f64>,
    /// Standard error within the run, relative to the value: half the width divided by the quantile of
    /// Student's t that was used for the interval.
    pub error_ratio: Option<f64>,
}

/// Runs of one side in one metric, by physical card.
pub type Samples = Vec<Vec<Observation>>;

/// One metric on both sides.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The metric.
    pub metric: String,
    /// Quantity; for latencies a duration.
    pub quantity: Quantity,
    /// Class of the metric: metrics of one class share their spread between runs. Empty for those of no class.
    pub class: &'static str,
    /// Published spread between runs of one card in such a metric.
    pub known: Option<KnownSpread>,
    /// Published differences between two repeats in such a metric.
    pub repeats: Option<KnownPairs>,
    /// False for figures that are listed without a test: percentiles above the median.
    pub is_tested: bool,
    /// Reference side of the comparison.
    pub base: Samples,
    /// Side that is compared with the base.
    pub other: Samples,
    /// True if the two sides consist of the same products, one by one in the same order; false if they are
    /// cards of one product each.
    pub is_matched: bool,
}

/// Published spread between runs of one card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownSpread {
    /// Pooled standard deviation of the logarithm between runs, including outliers.
    pub pooled: f64,
    /// Degrees of freedom of the pooled deviation.
    pub degrees: u32,
    /// Standard deviation of a typical card: the scale of the distribution of variances over cards.
    pub typical: f64,
    /// Degrees of freedom of that distribution: few if cards differ a lot in their spread.
    pub typical_degrees: u32,
}

/// Published differences between two repeats of one card, as absolute logarithms of their ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownPairs {
    /// Exceeded by 10 of 100 pairs.
    pub p90: f64,
    /// Exceeded by 1 of 100 pairs.
    pub p99: f64,
}

impl KnownPairs {
    /// Returns the standard deviation of the logarithm between runs that a normal distribution with this `p90` has:
    /// that of ordinary runs, without the outlying ones.
    pub fn deviation(self) -> f64 {
        self.p90 / (normal(0.90) * std::f64::consts::SQRT_2)
    }
}

/// Products of two sides (label `product`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Products {
    /// Products on both sides.
    pub both: BTreeSet<String>,
    /// Products on one side only.
    pub one: BTreeSet<String>,
    /// True if a side has several.
    pub are_several: bool,
}

impl Products {
    /// Returns the products of these sides.
    pub fn of(base: &[&Record], other: &[&Record]) -> Self {
        let [ours, theirs] = [base, other].map(|side| -> BTreeSet<String> {
            let products = side.iter().map(|record| record.labels.get("product"));
            products.flatten().cloned().collect()
        });
        Self {
            both: ours.intersection(&theirs).cloned().collect(),
            one: ours.symmetric_difference(&theirs).cloned().collect(),
            are_several: ours.len().max(theirs.len()) > 1,
        }
    }

    /// True if the two sides are compared product by product.
    pub fn are_matched(&self) -> bool {
        self.both.len() > 1
    }
}

/// Returns the rates and latencies that both sides have, in the order of the base's records. Rates that consist of
/// parts are compared by their body, because stalls have a test of their own. Runs belong to
/// one physical card by the label `sample` if all runs of the side have it, otherwise by the card's id if all
/// have one; otherwise all count as runs of one card. If both sides have several products, those on both are
/// matched and the others omitted.
pub fn pairs(base: &[&Record], other: &[&Record]) -> Vec<Pair> {
    let products = Products::of(base, other);
    let is_matched = products.are_matched();
    let pair = |metric: &Metric| {
        let (base, other) = if is_matched {
            matched(base, other, &products.both, metric)
        } else {
            (samples(base, metric), samples(other, metric))
        };
        Pair {
            metric: metric.id.clone(),
            quantity: metric.quantity,
            class: "",
            known: None,
            repeats: None,
            is_tested: !is_tail(metric),
            base,
            other,
            is_matched,
        }
    };
    compared(base)
        .into_iter()
        .map(pair)
        .filter(|pair| !pair.base.is_empty() && !pair.other.is_empty())
        .collect()
}

/// Returns the runs of each product that has the metric on both sides.
fn matched(
    base: &[&Record],
    other: &[&Record],
    products: &BTreeSet<String>,
    metric: &Metric,
) -> (Samples, Samples) {
    let of = |side: &[&Record], product: &String| -> Vec<Observation> {
        let records: Vec<&Record> = side
            .iter()
            .copied()
            .filter(|record| record.labels.get("product") == Some(product))
            .collect();
        samples(&records, metric).into_iter().flatten().collect()
    };
    products
        .iter()
        .map(|product| (of(base, product), of(other, product)))
        .filter(|(base, other)| !base.is_empty() && !other.is_empty())
        .unzip()
}

/// Returns the rates and latencies of these records without duplicates.
fn compared<'a>(records: &[&'a Record]) -> Vec<&'a Metric> {
    let mut found: Vec<&Metric> = Vec::new();
    let all = records.iter().flat_map(|record| &record.metrics);
    for metric in all.filter(|metric| metric.quantity.is_rate() || is_latency(metric)) {
        if found.iter().all(|known| known.id != metric.id) {
            found.push(metric);
        }
    }
    found
}

/// True for a median or 99th percentile of latencies.
fn is_latency(metric: &Metric) -> bool {
    matches!(
        metric.latency(),
        Some((_, LatencyFigure::P50 | LatencyFigure::P99))
    )
}

/// True for a percentile above the median: its spread between runs is so large that it would decide about the
/// variance of all metrics.
fn is_tail(metric: &Metric) -> bool {
    matches!(metric.latency(), Some((_, LatencyFigure::P99)))
}

/// Returns the stalls of all workloads that report them on both sides.
pub fn stall_pairs(base: &[&Record], other: &[&Record]) -> Vec<StallPair> {
    let all = base.iter().flat_map(|record| &record.metrics);
    let ids: BTreeSet<&str> = all
        .filter(|metric| stalls(metric).is_some())
        .map(|metric| metric.id.as_str())
        .collect();
    let side = |records: &[&Record], id: &str| -> Vec<StallRun> {
        let metrics = records.iter().filter_map(|record| record.metric(id));
        metrics.filter_map(stalls).collect()
    };
    let pairs = ids.into_iter().map(|id| StallPair {
        metric: id.to_owned(),
        base: side(base, id),
        other: side(other, id),
    });
    pairs
        .filter(|pair| !pair.base.is_empty() && !pair.other.is_empty())
        .collect()
}

fn stalls(metric: &Metric) -> Option<StallRun> {
    let stalls = metric.parts.as_ref()?.stalls.as_ref()?;
    Some(StallRun {
        seen_count: stalls.over_100ms.seen_count,
        observed_ns: stalls.observed_ns,
    })
}

fn samples(records: &[&Record], like: &Metric) -> Samples {
    let alike = |record: &&Record| {
        let metric = record.metric(&like.id);
        metric
            .filter(|metric| metric.quantity == like.quantity)
            .is_some()
    };
    let records: Vec<&Record> = records.iter().copied().filter(alike).collect();
    let run = |record: &&Record| record.metric(&like.id).map(observation);
    let Some(cards) = cards(&records) else {
        // Runs of an unknown card may belong to any of the known cards.
        let runs: Vec<Observation> = records.iter().filter_map(run).collect();
        return if runs.is_empty() {
            Vec::new()
        } else {
            vec![runs]
        };
    };
    let mut by_card = BTreeMap::<&str, Vec<Observation>>::new();
    for (card, record) in cards.into_iter().zip(&records) {
        by_card.entry(card).or_default().extend(run(record));
    }
    by_card.into_values().collect()
}

/// Returns the physical card of each run; `None` if they cannot be distinguished.
fn cards<'a>(records: &[&'a Record]) -> Option<Vec<&'a str>> {
    let label = |record: &&'a Record| record.labels.get("sample").map(String::as_str);
    let id = |record: &&'a Record| record.devices.first()?.card_id();
    let by_label: Option<Vec<&str>> = records.iter().map(label).collect();
    by_label.or_else(|| records.iter().map(id).collect())
}

/// Returns the number of physical cards in these runs, as far as known; 1 if unknown.
pub fn cards_count(records: &[&Record]) -> usize {
    cards(records).map_or(1, |cards| BTreeSet::from_iter(cards).len())
}

/// Returns a run's figure with its stalls, and the relative interval of the rate between them.
pub fn whole_rate(metric: &Metric) -> Observation {
    Observation {
        value: metric.value,
        ..observation(metric)
    }
}

/// Returns a rate relative to that between its stalls, which is compared; 1 for figures without parts.
pub fn stalled_ratio(metric: &Metric) -> f64 {
    let body = metric.parts.as_ref().map_or(0.0, |parts| parts.body.value);
    match body > 0.0 && metric.value > 0.0 {
        true => metric.value / body,
        false => 1.0,
    }
}

/// Returns a run's figure, of a rate with parts that of its body, without an interval from within one trial, because
/// that shows nothing about other trials.
pub(crate) fn observation(metric: &Metric) -> Observation {
    let body = metric.parts.as_ref().map(|parts| parts.body);
    let own = Estimate {
        value: metric.value,
        low: metric.low,
        high: metric.high,
    };
    let Estimate { value, low, high } = body.filter(|body| body.value > 0.0).unwrap_or(own);
    let is_between = metric.interval_kind == IntervalKind::BetweenRounds;
    let ends = low.zip(high).filter(|_| is_between);
    let half_width_ratio = ends.map(|(low, high)| 0.5 * (high - low) / value);
    let trials_count = u32::try_from(metric.trials.len()).unwrap_or(u32::MAX);
    let parts_count = metric.clusters_count.unwrap_or(trials_count);
    let degrees = parts_count.saturating_sub(1);
    // Without a number of trials, use the normal quantile: it results in the largest error.
    let quantile = student_t(LEVEL, if degrees == 0 { u32::MAX } else { degrees });
    Observation {
        value,
        half_width_ratio,
        error_ratio: half_width_ratio.map(|half| half / quantile),
    }
}
