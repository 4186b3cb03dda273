//! Expected cost of a plan, shown before it begins.

use cardmark_core::{MIB, Order, Passes, SECOND_NS, Workload};

use crate::Plan;

/// Expected cost of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wear {
    /// Bytes that will be written: an upper limit if the rate decides when a trial ends; the bytes written at
    /// [`SUPPOSED_OPERATIONS_PER_S`] if a trial writes for a given time.
    pub bytes: u64,
    /// True if `bytes` is exact.
    pub is_exact: bool,
    /// Time on a mid-range card in nanoseconds.
    pub span_ns: u64,
}

/// Random writes per second assumed of unknown storage: the minimum of application performance class A2.
pub const SUPPOSED_OPERATIONS_PER_S: u64 = 2_000;

/// Time per byte of sequential access on a mid-range card (20 MB/s), nanoseconds.
pub(crate) const NS_PER_BYTE: u64 = 50;

/// Ratio of reads to writes assumed of a target whose rate of writing is known: between a link that limits both, and
/// cards, which read two to ten times as fast.
pub(crate) const READ_RATIO: f64 = 1.5;
/// Ratio of a new expectation to the announced time, or the inverse, from which the announcement is corrected.
pub(crate) const CORRECTED_RATIO: f64 = 1.2;

impl Plan {
    /// Returns the cost of all passes through a list, or of all rounds.
    pub fn wear(&self) -> Wear {
        let writing = || self.workloads.iter().filter(|workload| workload.writes());
        let passes_count = match self.suite.passes {
            Some(Passes::Count(count) | Passes::UntilGood(count)) => u64::from(count),
            None => 1,
        };
        Wear {
            is_exact: writing().all(|workload| workload.exact_bytes().is_some()),
            bytes: self.layout_bytes_apart() + passes_count * writing().map(bytes).sum::<u64>(),
            span_ns: match self.suite.passes {
                Some(_) => passes_count * self.workloads.iter().map(expected_ns).sum::<u64>(),
                None => self.rounds_ns(),
            },
        }
    }

    /// Bytes of a layout that belongs to no workload of the plan, because others were asked for.
    fn layout_bytes_apart(&self) -> u64 {
        let is_apart = |layout: &&Workload| self.workloads.iter().all(|w| w.id != layout.id);
        let layout = self.layout.as_ref().filter(is_apart);
        layout.map_or(0, |_| self.suite.file_bytes)
    }

    /// Time of layout, rounds, single trials after them and read-back, nanoseconds.
    fn rounds_ns(&self) -> u64 {
        let apart = self
            .workloads
            .iter()
            .filter(|workload| workload.rounds.once);
        let once_ns: u64 = apart.map(expected_ns).sum();
        let layout_bytes = self.layout.as_ref().map_or(0, |_| self.suite.file_bytes);
        let read_bytes = layout_bytes.min(self.suite.read_back_bytes);
        self.suite.budget_ns + once_ns + (layout_bytes + read_bytes) * NS_PER_BYTE
    }

    /// True if the time of a run is announced before it and can be corrected from its layout.
    pub fn announces(&self) -> bool {
        self.layout.is_some() && self.suite.passes.is_none()
    }

    /// Returns the expected time of the whole run, nanoseconds, if it differs from the announced one by a fifth or more;
    /// from the layout so far, `bytes` written in `span_ns`.
    pub fn corrected_ns(&self, bytes: u64, span_ns: u64) -> Option<u64> {
        if !self.announces() || bytes == 0 || span_ns == 0 {
            return None;
        }
        let expected = self.expected_at(span_ns as f64 / bytes as f64);
        let ratio = expected / self.rounds_ns() as f64;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a time; infinity becomes the largest"
        )]
        let expected = expected as u64;
        let is_other = ratio.max(1.0 / ratio) >= CORRECTED_RATIO;
        is_other.then_some(expected)
    }

    /// Expected time of layout, rounds, single trials and read-back on a target that takes `write_ns` to write a byte in
    /// sequence, nanoseconds. Each operation takes at least the time of its bytes; the rounds take the budget, or as
    /// long as the least number of rounds needs, and end with the trial that is under way at the limit.
    fn expected_at(&self, write_ns: f64) -> f64 {
        let in_rounds = || {
            let all = self.workloads.iter();
            all.filter(|workload| !workload.rounds.once && workload.rounds.every_ns == 0)
        };
        let least = self.suite.looks.first().copied().unwrap_or(0);
        let laid_out = self.suite.layout_trials_count;
        let must_ns: f64 = in_rounds()
            .map(|workload| {
                let before = if workload.id == self.suite.layout {
                    laid_out
                } else {
                    0
                };
                f64::from(least.saturating_sub(before)) * trial_ns(workload, write_ns)
            })
            .sum();
        let longest_ns = match self.suite.longest_ns {
            0 => f64::INFINITY,
            longest_ns => longest_ns as f64,
        };
        let longest_trial_ns = in_rounds()
            .map(|workload| trial_ns(workload, write_ns))
            .fold(0.0, f64::max);
        let rounds_ns = must_ns
            .max(self.suite.budget_ns as f64)
            .min(longest_ns + 0.5 * longest_trial_ns);
        let once = self
            .workloads
            .iter()
            .filter(|workload| workload.rounds.once);
        let once_ns: u64 = once.map(expected_ns).sum();
        let layout_bytes = self.suite.file_bytes as f64;
        let read_bytes = self.suite.read_back_bytes.min(self.suite.file_bytes) as f64;
        let moved_ns = layout_bytes * write_ns + read_bytes * write_ns / READ_RATIO;
        moved_ns + rounds_ns + once_ns as f64
    }

    /// True if an upper limit of the bytes written is known before the run.
    pub fn is_bounded(&self) -> bool {
        let mut writing = self.workloads.iter().filter(|workload| workload.writes());
        writing.all(|w| w.rounds.budget_bytes.is_some() || w.exact_bytes().is_some())
    }
}

/// Upper limit of the bytes written by a trial with a cap: its ramp, its span, and the queue in flight at the
/// end of each.
pub(crate) fn largest_trial_bytes(workload: &Workload) -> u64 {
    let cap_bytes = workload.stop.cap_bytes.unwrap_or(0);
    let ramp_bytes = match workload.ramp_ns {
        0 => 0,
        _ => workload.stop.most_ramp_bytes().min(cap_bytes),
    };
    let queue_bytes = u64::from(workload.in_flight_count()) * workload.block_bytes;
    cap_bytes + ramp_bytes + 2 * queue_bytes
}

/// Expected time of a trial of rounds, from ramp to drain, nanoseconds, on a target that takes `write_ns` to write a
/// byte.
fn trial_ns(workload: &Workload, write_ns: f64) -> f64 {
    let byte_ns = match workload.writes() {
        true => write_ns,
        false => write_ns / READ_RATIO,
    };
    let operation_ns = workload.block_bytes as f64 * byte_ns;
    let queue_ns = f64::from(workload.in_flight_count()) * operation_ns;
    let ramp_ns = match workload.ramp_ns {
        0 => 0.0,
        ramp_ns => queue_ns.max(ramp_ns as f64),
    };
    let least_ns = workload.stop.least_operations_count as f64 * operation_ns;
    ramp_ns + least_ns.max(workload.stop.least_span_ns as f64) + queue_ns
}

fn bytes(workload: &Workload) -> u64 {
    if let Some(budget_bytes) = workload.rounds.budget_bytes {
        return budget_bytes;
    }
    let timed_bytes = || {
        let span_s = (workload.stop.least_span_ns + workload.ramp_ns).div_ceil(SECOND_NS);
        span_s * SUPPOSED_OPERATIONS_PER_S * workload.block_bytes
    };
    let most_bytes = workload.exact_bytes().or(workload.stop.most_bytes);
    most_bytes.unwrap_or_else(timed_bytes)
}

/// Bytes that a cache is assumed to absorb after a rest.
pub(crate) const GIB: u64 = 1024 * MIB;

/// Expected time of a trial before the first one, nanoseconds. For exact work it is that of a mid-range card:
/// 20 MB/s of sequential access, and 0.4 ms more for each block read or 1.5 ms for each block written at
/// random.
pub(crate) fn expected_ns(workload: &Workload) -> u64 {
    if let Some(least) = workload.stop.least_written {
        let most_ns = workload.stop.most_bytes.unwrap_or(u64::MAX);
        let most_ns = most_ns.saturating_mul(NS_PER_BYTE);
        let least_ns = least.span_ns.max(least.bytes.saturating_mul(NS_PER_BYTE));
        return least_ns.min(most_ns);
    }
    if workload.stop.refill.is_some() {
        return workload.manner.rest_ns
            + workload.stop.most_bytes.unwrap_or(0).min(GIB) * NS_PER_BYTE;
    }
    let Some(bytes) = workload.exact_bytes() else {
        let settled_span_ns = workload.stop.settled_span_ns.unwrap_or(0);
        return (workload.ramp_ns + workload.stop.least_span_ns).max(settled_span_ns);
    };
    let blocks = match workload.order {
        Order::Sequential | Order::Spread | Order::Other(_) => 0,
        Order::Random | Order::Permuted => bytes / workload.block_bytes,
    };
    let each_ns = if workload.reads() { 400_000 } else { 1_500_000 };
    let work_ns = bytes * NS_PER_BYTE + blocks * each_ns;
    let timed_ns = match workload.stop.longest_span_ns {
        None => work_ns,
        Some(longest) => work_ns.min(longest),
    };
    workload.manner.rest_ns + timed_ns
}
