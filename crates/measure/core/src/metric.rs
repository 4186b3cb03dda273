//! Figures derived from trials, as a record holds them.

use cardmark_cards::words;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FindingKind, Printed, StopReason};

words! {
    /// Physical quantity of a metric's value.
    pub enum Quantity {
        /// Bytes per second.
        ByteRate,
        /// Operations per second.
        OperationRate,
        /// Nanoseconds.
        Span,
        /// Bytes.
        Size,
        /// A number of things.
        Count,
        /// A ratio without dimension.
        Ratio,
    }
}

impl Quantity {
    /// Returns whether it is a rate per second.
    pub fn is_rate(self) -> bool {
        matches!(self, Self::ByteRate | Self::OperationRate)
    }
}

words! {
    /// Method by which an interval was determined.
    pub enum IntervalKind {
        /// From the differences between rounds.
        BetweenRounds,
        /// From one trial's own slices; no comparison may rest on it.
        WithinTrial,
        /// No interval.
        None,
    }
}

/// A figure derived from trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Metric {
    /// Name, such as `rand_read_4k` or `rand_read_4k_p99`; a promise to scripts.
    pub id: String,
    /// Quantity of the value; it determines the unit.
    pub quantity: Quantity,
    /// The point estimate.
    pub value: f64,
    /// Lower end of the 95 % interval; without an interval, the least value if the unit has two readings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of the 95 % interval; without an interval, the largest value if the unit has two readings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Method by which the interval was determined.
    pub interval_kind: IntervalKind,
    /// Trials that it is derived from.
    pub trials: Vec<u32>,
    /// Number of parts with independent errors behind the interval, if short trials were merged; otherwise
    /// each trial is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters_count: Option<u32>,
    /// Reason why no further rounds were added.
    pub stopped_by: StopReason,
    /// Kinds of findings that limit trust in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// For rates: bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bytes_per_s: Option<f64>,
    /// For rates: lower end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_low_bytes_per_s: Option<f64>,
    /// For rates: upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_high_bytes_per_s: Option<f64>,
    /// For rates: operations per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations_per_s: Option<f64>,
    /// For rates: lower end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations_low_per_s: Option<f64>,
    /// For rates: upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations_high_per_s: Option<f64>,
    /// Components of a rate; only of suites that measure in rounds, since method 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<RateParts>,
    /// For rates of five or more rounds: how the rounds differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_rates: Option<RoundRates>,
    /// The figure as printed by the tool whose method the suite reproduces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<Printed>,
}

/// Rates of the rounds of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RoundRates {
    /// Median of the rates, in the unit of the metric.
    pub median: f64,
    /// Trials whose rate is an outlier: its modified z-score (B. Iglewicz and D. Hoaglin, *How to Detect and Handle
    /// Outliers*, 1993) exceeds 3.5, and it is more than 15 % from the median. They count in the value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outlying_trials: Vec<u32>,
}

/// Latency figure that accompanies the rate of a workload as a metric of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatencyFigure {
    /// Arithmetic mean.
    Mean,
    /// Median.
    P50,
    /// 99th percentile.
    P99,
    /// Largest latency.
    Max,
}

impl LatencyFigure {
    const ALL: [Self; 4] = [Self::Mean, Self::P50, Self::P99, Self::Max];

    fn ending(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::Max => "max",
        }
    }

    /// Returns the name of this metric of a workload, such as `rand_read_4k_p99`.
    pub fn of(self, workload: &str) -> String {
        format!("{workload}_{}", self.ending())
    }
}

/// Components of a rate. Rates have the unit of the metric's value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RateParts {
    /// The rate between stalls in this run, with its 95 % range.
    pub body: Estimate,
    /// Stalls that were seen; absent above queue depth 1, because operations wait for each other there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Stalls>,
    /// The rate over a long time on a device that behaves as in this run: its value is the metric's, its ends
    /// allow for stalls that are too rare to have been seen. Absent if stalls are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_run: Option<Estimate>,
    /// For writes: the rate including the flush after each trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub durable_per_s: Option<f64>,
    /// Cost of changing to this workload and away from it; absent in records that do not contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transition: Option<Transition>,
}

/// A value and the ends of its 95 % range, if known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Estimate {
    /// The point estimate.
    pub value: f64,
    /// Lower end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// Operations that took at least 100 ms longer than the median one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Stalls {
    /// Time during which stalls were counted, nanoseconds.
    pub observed_ns: u64,
    /// Stalls of 100 ms and longer.
    pub over_100ms: StallCount,
    /// Stalls of 500 ms and longer; absent if none was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_500ms: Option<StallCount>,
    /// Stalls of 1 s and longer; absent if none was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_1s: Option<StallCount>,
    /// The longest stall, nanoseconds; absent if none was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_ns: Option<u64>,
    /// Share of the time spent in stalls, 0 to 1; the upper end holds for stalls of up to 2 s.
    pub time_ratio: Estimate,
}

/// Number of stalls seen, and the resulting stalls a minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StallCount {
    /// Stalls seen.
    pub seen_count: u64,
    /// Stalls a minute, with the exact 95 % range of a Poisson process (Garwood 1936).
    pub per_minute: Estimate,
}

/// Time before, between and after trials in which a card does deferred work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Transition {
    /// Extra time of ramp, drain and flush, compared with their operations at the body's rate, as a share of
    /// all time spent on the workload, 0 to 1.
    pub time_ratio: f64,
    /// The longest of ramp operations, drain operations and flushes, nanoseconds.
    pub longest_ns: u64,
}

/// Rounds to nine significant digits. Whole numbers, such as of bytes, stay.
fn round(value: &mut f64) {
    if value.fract() != 0.0 {
        // A number that was written can be read.
        *value = format!("{value:.8e}").parse().unwrap_or(*value);
    }
}

impl Estimate {
    fn round(&mut self) {
        round(&mut self.value);
        let ends = [&mut self.low, &mut self.high];
        ends.into_iter().flatten().for_each(round);
    }
}

impl RateParts {
    fn round(&mut self) {
        self.body.round();
        if let Some(stalls) = &mut self.stalls {
            stalls.time_ratio.round();
            stalls.over_100ms.per_minute.round();
            let longer = [&mut stalls.over_500ms, &mut stalls.over_1s];
            let longer = longer.into_iter().flatten();
            longer.for_each(|count| count.per_minute.round());
        }
        if let Some(long_run) = &mut self.long_run {
            long_run.round();
        }
        if let Some(durable) = &mut self.durable_per_s {
            round(durable);
        }
        if let Some(transition) = &mut self.transition {
            round(&mut transition.time_ratio);
        }
    }
}

impl Metric {
    /// A metric with neither interval nor rates, which rests on no trial yet.
    pub fn new(id: impl Into<String>, quantity: Quantity, value: f64) -> Self {
        Self {
            id: id.into(),
            quantity,
            value,
            low: None,
            high: None,
            interval_kind: IntervalKind::None,
            trials: Vec::new(),
            clusters_count: None,
            stopped_by: StopReason::Goal,
            warnings: Vec::new(),
            rate_bytes_per_s: None,
            rate_low_bytes_per_s: None,
            rate_high_bytes_per_s: None,
            operations_per_s: None,
            operations_low_per_s: None,
            operations_high_per_s: None,
            parts: None,
            round_rates: None,
            printed: None,
        }
    }

    /// Returns it with fractions of nine significant digits, as records hold them.
    #[must_use]
    pub fn rounded(mut self) -> Self {
        round(&mut self.value);
        let rates = [
            &mut self.low,
            &mut self.high,
            &mut self.rate_bytes_per_s,
            &mut self.rate_low_bytes_per_s,
            &mut self.rate_high_bytes_per_s,
            &mut self.operations_per_s,
            &mut self.operations_low_per_s,
            &mut self.operations_high_per_s,
        ];
        rates.into_iter().flatten().for_each(round);
        if let Some(parts) = &mut self.parts {
            parts.round();
        }
        if let Some(rounds) = &mut self.round_rates {
            round(&mut rounds.median);
        }
        self
    }

    /// Returns the workload and the figure if it is a latency that accompanies the rate of a workload.
    pub fn latency(&self) -> Option<(&str, LatencyFigure)> {
        let (workload, end) = self.id.rsplit_once('_')?;
        let figure = LatencyFigure::ALL
            .into_iter()
            .find(|figure| figure.ending() == end);
        Some((
            workload,
            figure.filter(|_| self.quantity == Quantity::Span)?,
        ))
    }

    /// Returns half of the width of its interval, relative to the middle of the interval; of a rate with parts that of
    /// the body. `None` without an interval.
    pub fn half_width_ratio(&self) -> Option<f64> {
        let body = self.parts.as_ref().map(|parts| parts.body);
        let body = body.and_then(|body| body.low.zip(body.high));
        // The two readings of a unit are no interval.
        let is_interval = self.interval_kind != IntervalKind::None;
        let own = self.low.zip(self.high).filter(|_| is_interval);
        let (low, high) = body.or(own).filter(|(low, high)| low + high > 0.0)?;
        Some((high - low) / (high + low))
    }

    /// Returns the warning that voids it as a figure of the device; `None` if there is none.
    pub fn voided_by(&self) -> Option<&str> {
        let is_voiding = |warning: &&str| {
            FindingKind::VOIDING
                .iter()
                .any(|kind| kind.name() == **warning)
        };
        self.warnings.iter().map(String::as_str).find(is_voiding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_half_width_is_that_of_the_body_if_there_is_one() {
        let mut metric = Metric::new("rand_read_4k", Quantity::OperationRate, 100.0);
        (metric.low, metric.high) = (Some(90.0), Some(110.0));
        // Two readings of a unit.
        assert_eq!(metric.half_width_ratio(), None);
        metric.interval_kind = IntervalKind::BetweenRounds;
        assert_eq!(metric.half_width_ratio(), Some(0.1));
        let body = Estimate {
            value: 100.0,
            low: Some(95.0),
            high: Some(105.0),
        };
        metric.parts = Some(RateParts {
            body,
            ..RateParts::default()
        });
        assert_eq!(metric.half_width_ratio(), Some(0.05));
    }

    #[test]
    fn latencies_belong_to_workloads() {
        let span = |id: &str| Metric::new(id, Quantity::Span, 1.0);
        let p99 = span(&LatencyFigure::P99.of("rand_read_4k"));
        assert_eq!(p99.id, "rand_read_4k_p99");
        assert_eq!(p99.latency(), Some(("rand_read_4k", LatencyFigure::P99)));
        assert_eq!(span("longest_pause").latency(), None);
        let rate = Metric::new("iozone_t4_read_max", Quantity::ByteRate, 1.0);
        assert_eq!(rate.latency(), None);
    }
}
