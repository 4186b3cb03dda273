//! Processes that run by the clock: freezes, regimes, drift. Work is integrated over them, so that the
//! long-run rate is exactly mean rate ÷ mean work.

use cardmark_core::Rng;

use super::call::StallTruth;
use super::data::ProcessData;
use crate::service::to_ns;

/// A process that runs by the clock.
pub(super) enum Clocked {
    Freezes(Freezes),
    Regimes(Regimes),
    Drift { rate: f64, over_ns: f64 },
}

impl Clocked {
    pub(super) fn of(data: &ProcessData, rng: &Rng) -> Option<Self> {
        let rng = rng.clone();
        Some(match *data {
            ProcessData::Freezes { every_s, span_s } => {
                Self::Freezes(Freezes::new(to_ns(every_s * 1e9), to_ns(span_s * 1e9), rng))
            }
            ProcessData::Regimes { rate, dwell_s } => {
                Self::Regimes(Regimes::new(rate, dwell_s * 1e9, rng))
            }
            ProcessData::Drift { rate, over_s } => Self::Drift {
                rate,
                over_ns: over_s * 1e9,
            },
            _ => return None,
        })
    }

    /// Returns the completion time of work begun at `start_ns`.
    pub(super) fn finish(&mut self, start_ns: u64, work_ns: f64) -> u64 {
        match self {
            Self::Freezes(freezes) => freezes.finish(start_ns, to_ns(work_ns)),
            Self::Regimes(regimes) => regimes.finish(start_ns, work_ns),
            Self::Drift { rate, over_ns } => {
                let share = (start_ns as f64 / *over_ns).min(1.0);
                start_ns + to_ns(work_ns / (1.0 + (*rate - 1.0) * share))
            }
        }
    }

    /// Returns the mean of the rate over time. `None` if it does not stay the same.
    pub(super) fn long_run_factor(&self) -> Option<f64> {
        match self {
            Self::Freezes(freezes) => Some(1.0 - freezes.span_ns as f64 / freezes.every_ns as f64),
            Self::Regimes(regimes) => Some(0.5 * (1.0 + regimes.rate)),
            Self::Drift { .. } => None,
        }
    }

    pub(super) fn stalls(&self) -> Option<StallTruth> {
        match self {
            Self::Freezes(freezes) => Some(StallTruth {
                mean_ns: freezes.span_ns as f64,
                longest_ns: freezes.span_ns as f64,
                per_operation: 0.0,
                per_second: 1e9 / freezes.every_ns as f64,
            }),
            Self::Regimes(_) | Self::Drift { .. } => None,
        }
    }
}

/// Frozen for a span at equal distances in time, from a drawn moment on.
pub(super) struct Freezes {
    every_ns: u64,
    span_ns: u64,
    /// Time since the begin of a freeze at time 0, nanoseconds.
    phase_ns: u64,
}

impl Freezes {
    fn new(every_ns: u64, span_ns: u64, mut rng: Rng) -> Self {
        Self {
            every_ns,
            span_ns,
            phase_ns: rng.below(every_ns),
        }
    }

    fn finish(&self, start_ns: u64, work_ns: u64) -> u64 {
        let (mut now_ns, mut left_ns) = (start_ns, work_ns);
        loop {
            let since_ns = (now_ns + self.phase_ns) % self.every_ns;
            now_ns += self.span_ns.saturating_sub(since_ns);
            let open_ns = self.every_ns - since_ns.max(self.span_ns);
            if left_ns <= open_ns {
                return now_ns + left_ns;
            }
            left_ns -= open_ns;
            now_ns += open_ns;
        }
    }
}

/// Two rates that take turns.
pub(super) struct Regimes {
    rate: f64,
    dwell_ns: f64,
    /// When each stay ends, and its rate.
    stays: Vec<(u64, f64)>,
    rng: Rng,
}

impl Regimes {
    fn new(rate: f64, dwell_ns: f64, mut rng: Rng) -> Self {
        // The rest of an exponential stay is as long as a whole one.
        let first = if rng.unit() < 0.5 { 1.0 } else { rate };
        let mut regimes = Self {
            rate,
            dwell_ns,
            stays: Vec::new(),
            rng,
        };
        regimes.add(0, first);
        regimes
    }

    fn add(&mut self, from_ns: u64, rate: f64) {
        let span_ns = to_ns(-self.dwell_ns * libm::log1p(-self.rng.unit()));
        self.stays.push((from_ns + span_ns, rate));
    }

    fn stay(&mut self, at_ns: u64) -> (u64, f64) {
        while let Some(&(end_ns, rate)) = self.stays.last()
            && end_ns <= at_ns
        {
            let next = if rate == 1.0 { self.rate } else { 1.0 };
            self.add(end_ns, next);
        }
        let place = self.stays.partition_point(|&(end_ns, _)| end_ns <= at_ns);
        self.stays[place]
    }

    fn finish(&mut self, start_ns: u64, work_ns: f64) -> u64 {
        let (mut now_ns, mut left_ns) = (start_ns, work_ns);
        loop {
            let (end_ns, rate) = self.stay(now_ns);
            let possible_ns = (end_ns - now_ns) as f64 * rate;
            if left_ns <= possible_ns {
                return now_ns + to_ns(left_ns / rate);
            }
            left_ns -= possible_ns;
            now_ns = end_ns;
        }
    }
}
