//! Processes as written in a model's file, and the rules they keep.

use std::sync::Arc;

use serde::Deserialize;

use super::call::Which;
use crate::trace::Trace;

/// A process of a model.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum ProcessData {
    /// An operation pauses with this chance; even lengths, or with `alpha` those of a bounded Pareto
    /// distribution.
    Stalls {
        on: Which,
        probability: f64,
        shortest_ms: f64,
        longest_ms: f64,
        alpha: Option<f64>,
    },
    /// An operation pauses each time that this amount was moved; the run begins anywhere within it.
    StallsByAmount {
        on: Which,
        every_bytes: Option<u64>,
        every_operations: Option<u64>,
        shortest_ms: f64,
        longest_ms: f64,
    },
    /// The device does nothing for `span_s` every `every_s`, regardless of requests.
    Freezes { every_s: f64, span_s: f64 },
    /// The rate is that of the model or `rate` times it, for exponential times of this mean.
    Regimes { rate: f64, dwell_s: f64 },
    /// The rate falls (or rises) steadily to `rate` times its start, and stays there.
    Drift { rate: f64, over_s: f64 },
    /// This share of the operations takes `factor` times as long.
    SlowOperations { on: Which, share: f64, factor: f64 },
    /// This share of the trials runs at `rate` times the rate.
    SlowTrials { share: f64, rate: f64 },
    /// Every run has its own factor on these operations; some runs have one far off.
    Runs {
        on: Which,
        deviation: f64,
        outlier_share: f64,
        least_rate: f64,
        most_rate: f64,
    },
    /// Each write leaves `ratio` times its span to be done later: in idle time, beside reads, and by
    /// the writes themselves once `limit_ms` are left to do.
    Housekeeping {
        ratio: f64,
        limit_ms: f64,
        read_factor: f64,
    },
    /// The first write after reads and the first read after writes pause.
    Switching { shortest_ms: f64, longest_ms: f64 },
    /// Spans with these quantiles in place of the model's own, straight lines between them.
    Quantiles {
        on: Which,
        shares: Vec<f64>,
        spans_us: Vec<f64>,
    },
    /// Recorded spans, in their order.
    #[serde(skip)]
    Replay(Arc<Trace>),
}

impl ProcessData {
    fn is_clocked(&self) -> bool {
        matches!(
            self,
            Self::Freezes { .. } | Self::Regimes { .. } | Self::Drift { .. }
        )
    }

    fn broken_rule(&self) -> Option<&'static str> {
        let share = |share: f64| (0.0..=1.0).contains(&share);
        let rate = |rate: f64| (0.01..=10.0).contains(&rate);
        let spans =
            |shortest: f64, longest: f64| 0.0 < shortest && shortest <= longest && longest <= 1e5;
        let seconds = |seconds: f64| (0.01..=1e5).contains(&seconds);
        let holds = match self {
            Self::Stalls {
                probability,
                shortest_ms,
                longest_ms,
                alpha,
                ..
            } => {
                let is_shape =
                    |alpha: f64| (0.1..=10.0).contains(&alpha) && (alpha - 1.0).abs() > 1e-3;
                share(*probability)
                    && spans(*shortest_ms, *longest_ms)
                    && alpha.is_none_or(is_shape)
            }
            Self::StallsByAmount {
                every_bytes,
                every_operations,
                shortest_ms,
                longest_ms,
                ..
            } => {
                let every = every_bytes.xor(*every_operations);
                every.is_some_and(|every| every > 0) && spans(*shortest_ms, *longest_ms)
            }
            Self::Freezes { every_s, span_s } => {
                seconds(*every_s) && seconds(*span_s) && span_s < every_s
            }
            Self::Regimes {
                rate: lower,
                dwell_s,
            } => rate(*lower) && seconds(*dwell_s),
            Self::Drift { rate: last, over_s } => rate(*last) && seconds(*over_s),
            Self::SlowOperations {
                share: part,
                factor,
                ..
            } => share(*part) && (1.0..=1e4).contains(factor),
            Self::SlowTrials {
                share: part,
                rate: slow,
            } => share(*part) && rate(*slow),
            Self::Runs {
                deviation,
                outlier_share,
                least_rate,
                most_rate,
                ..
            } => {
                (0.0..=0.5).contains(deviation)
                    && share(*outlier_share)
                    && rate(*least_rate)
                    && least_rate <= most_rate
                    && rate(*most_rate)
            }
            Self::Housekeeping {
                ratio,
                limit_ms,
                read_factor,
            } => {
                (0.0..=100.0).contains(ratio)
                    && (0.0..=1e6).contains(limit_ms)
                    && (1.0..=1e3).contains(read_factor)
            }
            Self::Switching {
                shortest_ms,
                longest_ms,
            } => spans(*shortest_ms, *longest_ms),
            Self::Replay(_) => true,
            Self::Quantiles {
                shares, spans_us, ..
            } => is_table(shares, spans_us),
        };
        (!holds).then_some("a number of a process is out of range")
    }
}

/// Returns whether shares rise from 0 to 1, and spans from above 0 along with them.
fn is_table(shares: &[f64], spans_us: &[f64]) -> bool {
    let rises = shares.is_sorted_by(|a, b| a < b) && spans_us.is_sorted();
    let is_whole = shares.first() == Some(&0.0) && shares.last() == Some(&1.0);
    let is_positive = spans_us.first().is_some_and(|&us| us > 0.0);
    shares.len() == spans_us.len() && rises && is_whole && is_positive
}

/// The first rule that these do not keep.
pub(crate) fn process_rules(all: &[ProcessData], has_sway: bool) -> Option<&'static str> {
    let clocked_count = all.iter().filter(|data| data.is_clocked()).count();
    if clocked_count + usize::from(has_sway) > 1 {
        return Some("only one of sway, freezes, regimes and drift can drive the rate");
    }
    all.iter().find_map(ProcessData::broken_rule)
}
