//! Latency processes around a simulated card, for tests of the stops that a run reports, and of the time it announces.
//!
//! They are not models of `sim`: the program's figures were not designed on them. Each adds a pause to operations, in
//! virtual time. The card beneath is calm.

use cardmark_core::{DeviceCounters, Errno, ReadBack, Rng, Workload};
use cardmark_engine::{Backend, Clock, Done, Op, OpKind};

/// Nanoseconds of a second.
const S: f64 = 1e9;

/// Operations that a process pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// Reads only.
    Reads,
    /// Writes only.
    Writes,
    /// All.
    All,
}

impl On {
    fn holds(self, op: &Op) -> bool {
        let is_read = op.kind == OpKind::Read;
        match self {
            Self::Reads => is_read,
            Self::Writes => !is_read,
            Self::All => true,
        }
    }
}

/// The processes, each with its numbers.
#[derive(Clone, Copy, Debug)]
pub enum Process {
    /// No pause.
    Calm,
    /// Every operation ends up to this share later: uneven, but without stalls.
    Uneven(f64),
    /// Bursts: `count` operations within a second pause, for `shortest_s` to `longest_s`, every `every_s` on average.
    Bursts {
        /// Operations concerned.
        on: On,
        /// Mean interval, seconds.
        every_s: f64,
        /// Number of stalls.
        count: u64,
        /// Shortest stall, seconds.
        shortest_s: f64,
        /// Longest stall, seconds.
        longest_s: f64,
    },
    /// Nothing happens for `span_s` every `every_s`.
    Freezes {
        /// Mean interval, seconds.
        every_s: f64,
        /// Length, seconds.
        span_s: f64,
    },
    /// Each operation pauses with this probability, for a bounded Pareto length from `shortest_s` to `longest_s`.
    HeavyTail {
        /// Operations concerned.
        on: On,
        /// Per operation.
        probability: f64,
        /// Shape.
        alpha: f64,
        /// Shortest stall, seconds.
        shortest_s: f64,
        /// Longest stall, seconds.
        longest_s: f64,
    },
    /// Good and bad times of these mean lengths; in bad times work takes `slower` times as long.
    TwoStates {
        /// Mean length of a good time, seconds.
        good_s: f64,
        /// Mean length of a bad time, seconds.
        bad_s: f64,
        /// Factor on the time of work.
        slower: f64,
    },
    /// Work takes up to `slower` times as long, and back, in a period.
    Thermal {
        /// Period, seconds.
        period_s: f64,
        /// Factor on the time of work.
        slower: f64,
    },
    /// Stalls that become likelier with recent writes. `level` is the share of the last `memory_s` (exponentially
    /// weighted) in which the card wrote; a write stalls at the rate `per_s · level^power`, for `shortest_s` to
    /// `longest_s`.
    RecentWrites {
        /// Memory, seconds.
        memory_s: f64,
        /// Stalls per second of writing at level 1.
        per_s: f64,
        /// Exponent of the level.
        power: f64,
        /// Shortest stall, seconds.
        shortest_s: f64,
        /// Longest stall, seconds.
        longest_s: f64,
    },
}

/// A process in a run.
pub struct Running {
    process: Process,
    rng: Rng,
    /// Time of the next event, or of the end of the state, nanoseconds.
    next_ns: f64,
    /// Operations left in a burst, or 1 in a bad state.
    left: u64,
    level: f64,
    /// End of the operation before, nanoseconds.
    before_ns: f64,
}

impl Running {
    /// Starts the process anywhere in its course.
    #[must_use]
    pub fn new(process: Process, seed: u64) -> Self {
        let mut rng = Rng::for_part(seed, "hostile", 0);
        let next_ns = match process {
            Process::Bursts { every_s, .. } | Process::Freezes { every_s, .. } => {
                rng.unit() * every_s * S
            }
            Process::Thermal { period_s, .. } => rng.unit() * period_s * S,
            Process::TwoStates { good_s, .. } => exponential(&mut rng, good_s),
            _ => 0.0,
        };
        Self {
            process,
            rng,
            next_ns,
            left: 0,
            level: 0.0,
            before_ns: 0.0,
        }
    }

    fn between(&mut self, shortest_s: f64, longest_s: f64) -> f64 {
        S * (shortest_s + self.rng.unit() * (longest_s - shortest_s))
    }

    fn burst(&mut self, now_ns: f64, every_s: f64, count: u64) -> bool {
        if now_ns >= self.next_ns {
            self.left = count;
            self.next_ns = now_ns + S * every_s * (0.75 + 0.5 * self.rng.unit());
        }
        let is_due = self.left > 0;
        self.left = self.left.saturating_sub(1);
        is_due
    }

    fn freeze(&mut self, now_ns: f64, every_s: f64, span_s: f64) -> f64 {
        while now_ns >= self.next_ns + span_s * S {
            self.next_ns += every_s * S;
        }
        match now_ns >= self.next_ns {
            true => self.next_ns + span_s * S - now_ns,
            false => 0.0,
        }
    }

    fn is_bad(&mut self, now_ns: f64, good_s: f64, bad_s: f64) -> bool {
        while now_ns >= self.next_ns {
            self.left = 1 - self.left;
            let mean_s = if self.left == 1 { bad_s } else { good_s };
            self.next_ns += exponential(&mut self.rng, mean_s);
        }
        self.left == 1
    }

    /// Moves the level over the last operation, and draws whether it stalls.
    fn recent(
        &mut self,
        busy_ns: f64,
        is_write: bool,
        memory_s: f64,
        (per_s, power): (f64, f64),
    ) -> bool {
        let kept = libm::exp(-busy_ns / (memory_s * S));
        let target = if is_write { 1.0 } else { 0.0 };
        self.level = target + (self.level - target) * kept;
        let rate = per_s * libm::pow(self.level, power);
        is_write && self.rng.unit() < 1.0 - libm::exp(-rate * busy_ns / S)
    }
}

fn exponential(rng: &mut Rng, mean_s: f64) -> f64 {
    -libm::log(1.0 - rng.unit()) * mean_s * S
}

impl Running {
    /// Returns the pause of the operation that ends at `now_ns`, nanoseconds. `busy_ns` is the time since the end of the
    /// one before.
    fn pause_ns(&mut self, now_ns: u64, busy_ns: u64, op: &Op) -> f64 {
        let (now_ns, busy_ns) = (now_ns as f64, busy_ns as f64);
        match self.process {
            Process::Calm => 0.0,
            Process::Uneven(share) => busy_ns.min(S) * share * self.rng.unit(),
            Process::Bursts {
                on,
                every_s,
                count,
                shortest_s,
                longest_s,
            } => match on.holds(op) && self.burst(now_ns, every_s, count) {
                true => self.between(shortest_s, longest_s),
                false => 0.0,
            },
            Process::Freezes { every_s, span_s } => self.freeze(now_ns, every_s, span_s),
            Process::HeavyTail {
                on,
                probability,
                alpha,
                shortest_s,
                longest_s,
            } => {
                if !on.holds(op) || self.rng.unit() >= probability {
                    return 0.0;
                }
                let reach = 1.0 - libm::pow(shortest_s / longest_s, alpha);
                S * shortest_s * libm::pow(1.0 - self.rng.unit() * reach, -1.0 / alpha)
            }
            Process::TwoStates {
                good_s,
                bad_s,
                slower,
            } => match self.is_bad(now_ns, good_s, bad_s) {
                true => busy_ns.min(S) * (slower - 1.0),
                false => 0.0,
            },
            Process::Thermal { period_s, slower } => {
                let phase = (now_ns + self.next_ns) / (period_s * S);
                let heat = 0.5 - 0.5 * libm::cos(core::f64::consts::TAU * phase);
                busy_ns.min(S) * heat * (slower - 1.0)
            }
            Process::RecentWrites {
                memory_s,
                per_s,
                power,
                shortest_s,
                longest_s,
            } => {
                let is_write = op.kind != OpKind::Read;
                match self.recent(busy_ns, is_write, memory_s, (per_s, power)) {
                    true => self.between(shortest_s, longest_s),
                    false => 0.0,
                }
            }
        }
    }

    /// Pause of an operation, with the time since the one before.
    fn after(&mut self, now_ns: u64, op: &Op) -> f64 {
        let busy_ns = now_ns as f64 - self.before_ns;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a time"
        )]
        let pause_ns = self.pause_ns(now_ns, busy_ns.max(0.0) as u64, op);
        self.before_ns = now_ns as f64 + pause_ns;
        pause_ns
    }
}

/// A back end whose operations a process pauses.
pub struct Hostile<B, C> {
    inner: B,
    clock: C,
    running: Running,
    flight: Vec<Option<Op>>,
}

impl<B: Backend, C: Clock> Hostile<B, C> {
    /// Puts the process around a back end in virtual time.
    pub fn new(inner: B, clock: C, running: Running) -> Self {
        Self {
            inner,
            clock,
            running,
            flight: Vec::new(),
        }
    }
}

impl<B: Backend, C: Clock> Backend for Hostile<B, C> {
    fn prepare(&mut self, workload: &Workload) -> Result<u64, Errno> {
        self.flight = vec![None; workload.in_flight_count() as usize];
        self.inner.prepare(workload)
    }

    fn submit(&mut self, op: Op) {
        if let Some(slot) = self.flight.get_mut(op.slot as usize) {
            *slot = Some(op);
        }
        self.inner.submit(op);
    }

    fn reap(&mut self) -> Done {
        let done = self.inner.reap();
        let op = self
            .flight
            .get_mut(done.slot as usize)
            .and_then(Option::take);
        let now_ns = self.clock.now_ns();
        let pause_ns = op.map_or(0.0, |op| self.running.after(now_ns, &op));
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a pause"
        )]
        if pause_ns >= 1.0 {
            self.clock.rest(pause_ns as u64);
        }
        done
    }

    fn flush(&mut self) -> Result<(), Errno> {
        self.inner.flush()
    }

    fn read_back(&mut self, offset: u64, bytes: u64) -> Result<Option<ReadBack>, Errno> {
        self.inner.read_back(offset, bytes)
    }

    fn counters(&mut self) -> Option<DeviceCounters> {
        self.inner.counters()
    }
}
