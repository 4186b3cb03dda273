//! Processes that change the work itself: slow operations, runs apart, housekeeping, recorded spans.

use std::sync::Arc;

use cardmark_core::Rng;

use super::call::{Call, Process, Which};
use super::data::ProcessData;
use crate::body::draw_factor;
use crate::trace::Trace;

/// The process of that data if it is one of work. `has_runs`: runs differ.
pub(super) fn of(data: &ProcessData, mut rng: Rng, has_runs: bool) -> Option<Box<dyn Process>> {
    Some(match data {
        &ProcessData::SlowOperations { on, share, factor } => Box::new(SlowOperations {
            on,
            share,
            factor,
            rng,
        }),
        &ProcessData::Runs {
            on,
            deviation,
            outlier_share,
            least_rate,
            most_rate,
        } => {
            let is_outlier = rng.unit() < outlier_share;
            let within = least_rate + rng.unit() * (most_rate - least_rate);
            let rate = draw_factor(deviation, &mut rng) * if is_outlier { within } else { 1.0 };
            let rate = if has_runs { rate } else { 1.0 };
            Box::new(Runs { on, rate })
        }
        &ProcessData::Housekeeping {
            ratio,
            limit_ms,
            read_factor,
        } => Box::new(Housekeeping {
            ratio,
            limit_ns: limit_ms * 1e6,
            read_factor,
            owed_ns: 0.0,
            end_ns: 0.0,
        }),
        ProcessData::Quantiles {
            on,
            shares,
            spans_us,
        } => Box::new(Quantiles {
            on: *on,
            shares: shares.clone(),
            spans_ns: spans_us.iter().map(|us| us * 1e3).collect(),
            rng,
        }),
        ProcessData::Replay(trace) => Box::new(Replay::new(Arc::clone(trace), rng)),
        _ => return None,
    })
}

/// Some operations take longer.
struct SlowOperations {
    on: Which,
    share: f64,
    factor: f64,
    rng: Rng,
}

impl Process for SlowOperations {
    fn work_ns(&mut self, call: &Call, work_ns: f64) -> f64 {
        if self.on.holds(call) && self.rng.unit() < self.share {
            return work_ns * self.factor;
        }
        work_ns
    }

    fn mean_ns(&self, call: &Call, work_ns: f64, _: f64) -> Option<f64> {
        let share = f64::from(u8::from(self.on.holds(call))) * self.share;
        Some(work_ns * (1.0 + share * (self.factor - 1.0)))
    }
}

/// A factor of the whole run on one kind of operation.
struct Runs {
    on: Which,
    rate: f64,
}

impl Process for Runs {
    fn work_ns(&mut self, call: &Call, work_ns: f64) -> f64 {
        if self.on.holds(call) {
            return work_ns / self.rate;
        }
        work_ns
    }

    fn mean_ns(&self, call: &Call, work_ns: f64, _: f64) -> Option<f64> {
        let rate = if self.on.holds(call) { self.rate } else { 1.0 };
        Some(work_ns / rate)
    }
}

/// Work that writes leave behind.
struct Housekeeping {
    ratio: f64,
    limit_ns: f64,
    read_factor: f64,
    owed_ns: f64,
    /// End of the last operation, nanoseconds.
    end_ns: f64,
}

impl Process for Housekeeping {
    fn work_ns(&mut self, call: &Call, work_ns: f64) -> f64 {
        let start_ns = call.start_ns as f64;
        let idle_ns = (start_ns - self.end_ns).max(0.0);
        self.owed_ns = (self.owed_ns - idle_ns).max(0.0);
        let mut all_ns = work_ns;
        if !call.is_read {
            self.owed_ns += self.ratio * work_ns;
            let excess_ns = (self.owed_ns - self.limit_ns).max(0.0);
            self.owed_ns -= excess_ns;
            all_ns += excess_ns;
        } else if self.owed_ns > 0.0 {
            let beside_ns = work_ns * (self.read_factor - 1.0);
            self.owed_ns = (self.owed_ns - beside_ns).max(0.0);
            all_ns += beside_ns;
        }
        self.end_ns = start_ns + all_ns;
        all_ns
    }

    /// Endless writes pay all of it themselves; endless reads have nothing to pay.
    fn mean_ns(&self, call: &Call, work_ns: f64, read_share: f64) -> Option<f64> {
        match (call.is_read, read_share > 0.0 && read_share < 1.0) {
            (_, true) => None,
            (true, false) => Some(work_ns),
            (false, false) => Some(work_ns * (1.0 + self.ratio)),
        }
    }
}

/// Spans by their quantiles.
struct Quantiles {
    on: Which,
    shares: Vec<f64>,
    spans_ns: Vec<f64>,
    rng: Rng,
}

impl Process for Quantiles {
    fn work_ns(&mut self, call: &Call, work_ns: f64) -> f64 {
        if !self.on.holds(call) {
            return work_ns;
        }
        let share = self.rng.unit();
        let above = self.shares.partition_point(|&known| known <= share);
        let high = above.min(self.shares.len() - 1);
        let low = high - 1;
        let within = (share - self.shares[low]) / (self.shares[high] - self.shares[low]);
        self.spans_ns[low] + within * (self.spans_ns[high] - self.spans_ns[low])
    }

    fn mean_ns(&self, call: &Call, work_ns: f64, _: f64) -> Option<f64> {
        if !self.on.holds(call) {
            return Some(work_ns);
        }
        let cells = self.shares.windows(2).zip(self.spans_ns.windows(2));
        Some(
            cells
                .map(|(shares, spans)| (shares[1] - shares[0]) * 0.5 * (spans[0] + spans[1]))
                .sum(),
        )
    }
}

/// Recorded spans, round and round.
struct Replay {
    trace: Arc<Trace>,
    /// Places of the next write and the next read.
    next: [usize; 2],
}

impl Replay {
    fn new(trace: Arc<Trace>, mut rng: Rng) -> Self {
        let mut start = |is_read: bool| {
            let count = trace.spans_ns(is_read).len() as u64;
            usize::try_from(rng.below(count.max(1))).unwrap_or(0)
        };
        let next = [start(false), start(true)];
        Self { trace, next }
    }
}

impl Process for Replay {
    fn work_ns(&mut self, call: &Call, work_ns: f64) -> f64 {
        let spans = self.trace.spans_ns(call.is_read);
        let next = &mut self.next[usize::from(call.is_read)];
        let Some(&span_ns) = spans.get(*next) else {
            return work_ns;
        };
        *next = (*next + 1) % spans.len();
        span_ns as f64
    }

    fn mean_ns(&self, call: &Call, work_ns: f64, _: f64) -> Option<f64> {
        let spans = self.trace.spans_ns(call.is_read);
        if spans.is_empty() {
            return Some(work_ns);
        }
        Some(spans.iter().map(|&ns| ns as f64).sum::<f64>() / spans.len() as f64)
    }
}
