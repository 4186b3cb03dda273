//! Pauses on top of an operation: by chance, by amount, by changing between reading and writing.

use cardmark_core::Rng;

use super::call::{Call, Process, StallTruth, Which};
use super::data::ProcessData;

/// Shortest pause that counts as a stall, nanoseconds.
const STALL_NS: f64 = 1e8;

/// The process of that data if it is one of pauses.
pub(super) fn of(data: &ProcessData, rng: &Rng) -> Option<Box<dyn Process>> {
    let rng = rng.clone();
    Some(match *data {
        ProcessData::Stalls {
            on,
            probability,
            shortest_ms,
            longest_ms,
            alpha,
        } => Box::new(Stalls {
            on,
            probability,
            lengths: Lengths::new(shortest_ms, longest_ms, alpha),
            rng,
        }),
        ProcessData::StallsByAmount {
            on,
            every_bytes,
            every_operations,
            shortest_ms,
            longest_ms,
        } => Box::new(StallsByAmount::new(
            on,
            (every_bytes, every_operations),
            Lengths::new(shortest_ms, longest_ms, None),
            rng,
        )),
        ProcessData::Switching {
            shortest_ms,
            longest_ms,
        } => Box::new(Switching {
            lengths: Lengths::new(shortest_ms, longest_ms, None),
            was_read: None,
            rng,
        }),
        _ => return None,
    })
}

/// Distribution of the lengths of pauses.
#[derive(Clone, Copy, Debug)]
struct Lengths {
    shortest_ns: f64,
    longest_ns: f64,
    /// Shape of a bounded Pareto distribution; absent: all lengths are equally likely.
    alpha: Option<f64>,
}

impl Lengths {
    fn new(shortest_ms: f64, longest_ms: f64, alpha: Option<f64>) -> Self {
        Self {
            shortest_ns: shortest_ms * 1e6,
            longest_ns: longest_ms * 1e6,
            alpha: alpha.filter(|_| longest_ms > shortest_ms),
        }
    }

    fn draw(self, rng: &mut Rng) -> f64 {
        let share = rng.unit();
        let Some(alpha) = self.alpha else {
            return self.shortest_ns + share * (self.longest_ns - self.shortest_ns);
        };
        let reach = 1.0 - libm::pow(self.shortest_ns / self.longest_ns, alpha);
        self.shortest_ns * libm::pow(1.0 - share * reach, -1.0 / alpha)
    }

    /// Share of the lengths that are above this.
    fn share_above(self, span_ns: f64) -> f64 {
        if span_ns <= self.shortest_ns {
            return 1.0;
        }
        if span_ns >= self.longest_ns {
            return 0.0;
        }
        match self.alpha {
            None => (self.longest_ns - span_ns) / (self.longest_ns - self.shortest_ns),
            Some(alpha) => {
                let up_to = |ns: f64| 1.0 - libm::pow(self.shortest_ns / ns, alpha);
                1.0 - up_to(span_ns) / up_to(self.longest_ns)
            }
        }
    }

    fn mean_ns(self) -> f64 {
        let (low, high) = (self.shortest_ns, self.longest_ns);
        let Some(alpha) = self.alpha else {
            return 0.5 * (low + high);
        };
        let reach = 1.0 - libm::pow(low / high, alpha);
        let scale = alpha * libm::pow(low, alpha) / reach;
        scale * (libm::pow(low, 1.0 - alpha) - libm::pow(high, 1.0 - alpha)) / (alpha - 1.0)
    }

    /// Returns the stalls among pauses, given the number of pauses per operation.
    fn stalls(self, per_operation: f64) -> Option<StallTruth> {
        let share = self.share_above(STALL_NS);
        let above = Self {
            shortest_ns: self.shortest_ns.max(STALL_NS),
            ..self
        };
        (share > 0.0).then(|| StallTruth {
            mean_ns: above.mean_ns(),
            longest_ns: self.longest_ns,
            per_operation: per_operation * share,
            per_second: 0.0,
        })
    }
}

/// Pauses with a chance per operation.
struct Stalls {
    on: Which,
    probability: f64,
    lengths: Lengths,
    rng: Rng,
}

impl Process for Stalls {
    fn work_ns(&mut self, call: &Call, work_ns: f64) -> f64 {
        if self.on.holds(call) && self.rng.unit() < self.probability {
            return work_ns + self.lengths.draw(&mut self.rng);
        }
        work_ns
    }

    fn mean_ns(&self, call: &Call, work_ns: f64, _: f64) -> Option<f64> {
        let chance = f64::from(u8::from(self.on.holds(call))) * self.probability;
        Some(work_ns + chance * self.lengths.mean_ns())
    }

    fn stalls(&self, call: &Call) -> Option<StallTruth> {
        let is_concerned = self.on.holds(call);
        is_concerned.then(|| self.lengths.stalls(self.probability))?
    }
}

/// Pauses after a given amount.
struct StallsByAmount {
    on: Which,
    every: u64,
    counts_bytes: bool,
    /// Moved since the last pause, bytes or operations.
    moved: u64,
    lengths: Lengths,
    rng: Rng,
}

impl StallsByAmount {
    fn new(on: Which, every: (Option<u64>, Option<u64>), lengths: Lengths, mut rng: Rng) -> Self {
        let (bytes, operations) = every;
        let amount = bytes.or(operations).unwrap_or(1).max(1);
        Self {
            on,
            every: amount,
            counts_bytes: bytes.is_some(),
            moved: rng.below(amount),
            lengths,
            rng,
        }
    }

    fn amount(&self, call: &Call) -> u64 {
        if self.counts_bytes { call.bytes } else { 1 }
    }

    fn per_operation(&self, call: &Call) -> f64 {
        if !self.on.holds(call) {
            return 0.0;
        }
        self.amount(call) as f64 / self.every as f64
    }
}

impl Process for StallsByAmount {
    fn work_ns(&mut self, call: &Call, work_ns: f64) -> f64 {
        if !self.on.holds(call) {
            return work_ns;
        }
        self.moved += self.amount(call);
        let mut all_ns = work_ns;
        while self.moved >= self.every {
            self.moved -= self.every;
            all_ns += self.lengths.draw(&mut self.rng);
        }
        all_ns
    }

    fn mean_ns(&self, call: &Call, work_ns: f64, _: f64) -> Option<f64> {
        Some(work_ns + self.per_operation(call) * self.lengths.mean_ns())
    }

    fn stalls(&self, call: &Call) -> Option<StallTruth> {
        let per_operation = self.per_operation(call);
        (per_operation > 0.0).then(|| self.lengths.stalls(per_operation))?
    }
}

/// Pauses at changes between reading and writing.
struct Switching {
    lengths: Lengths,
    was_read: Option<bool>,
    rng: Rng,
}

impl Process for Switching {
    fn work_ns(&mut self, call: &Call, work_ns: f64) -> f64 {
        let before = self.was_read.replace(call.is_read);
        if before.is_some_and(|was_read| was_read != call.is_read) {
            return work_ns + self.lengths.draw(&mut self.rng);
        }
        work_ns
    }

    /// Operations of a mixed workload are drawn one by one.
    fn mean_ns(&self, call: &Call, work_ns: f64, read_share: f64) -> Option<f64> {
        let others_share = if call.is_read {
            1.0 - read_share
        } else {
            read_share
        };
        Some(work_ns + others_share * self.lengths.mean_ns())
    }
}
