//! The measuring loop: one timed execution of a workload.
//!
//! In the loop there is no allocation, no lock, no print and no system call but the operation's
//! own and one reading of the clock. See `docs/METHODOLOGY.md`, "Inside the clock".

use cardmark_core::{Flush, OperationError, Order, Rng, StopReason, StreamTotals, Trial, Workload};
use cardmark_stats::Histogram;

use crate::slices::Slices;
use crate::{Backend, Clock, Done, Op, OpKind, Pulse};

/// Errors kept of one trial; a dying device returns the same one thousands of times.
const ERRORS_KEPT: usize = 64;

/// What a trial needs to know besides its workload.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrialContext {
    /// Number of the trial in the run.
    pub id: u32,
    /// The round, from 0.
    pub round_index: u32,
    /// Whether it lays out the file.
    pub layout: bool,
    /// Start of the run on the engine's clock, nanoseconds.
    pub run_started_ns: u64,
    /// Seed of the run.
    pub seed: u64,
    /// Where a sequential workload goes on, in blocks.
    pub next_block: u64,
    /// Latency after which the device counts as not answering, nanoseconds.
    pub limit_ns: u64,
}

/// Why a trial did not come to its own end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The back end could not be made ready: the system's error number.
    NotReady(i32),
    /// An operation failed or moved fewer bytes than asked for.
    Operation(OperationError),
    /// The flush after the trial failed: the system's error number.
    Flush(i32),
    /// An operation took longer than the limit.
    NoAnswer {
        /// Where, bytes from the start of the object.
        offset: u64,
        /// How long it took, nanoseconds.
        latency_ns: u64,
    },
    /// The run was asked to stop.
    Stopped,
}

/// A trial and what follows from it.
#[derive(Debug)]
pub struct TrialEnd {
    /// The trial.
    pub trial: Trial,
    /// Where a sequential workload goes on, in blocks.
    pub next_block: u64,
    /// Why it did not come to its own end.
    pub failure: Option<Failure>,
}

/// Runs one trial of `workload`.
pub fn run_trial<B: Backend, C: Clock>(
    backend: &mut B,
    clock: &mut C,
    pulse: &Pulse,
    workload: &Workload,
    context: TrialContext,
) -> TrialEnd {
    let mut tally = Tally::new();
    pulse.beat();
    let ready = backend.prepare(workload);
    let before = backend.counters();
    let mut flow = Flow::new(backend, clock, pulse, workload, context);
    // Until the ramp is over, so that a failure in it has its time too.
    tally.started_ns = flow.now_ns;
    let result = match ready {
        Ok(()) => flow.measure(&mut tally),
        Err(errno) => Err(Failure::NotReady(errno)),
    };
    let next_block = flow.offsets.next_block;
    let ended_ns = flow.now_ns;
    let mut flush_span_ns = None;
    let mut failure = result.err();
    if failure.is_none() && workload.writes() && workload.flush == Flush::AfterTrial {
        match backend.flush() {
            Ok(()) => flush_span_ns = Some(clock.now_ns().saturating_sub(ended_ns)),
            Err(errno) => failure = Some(Failure::Flush(errno)),
        }
    }
    let after = backend.counters();
    pulse.beat();
    let mut trial = tally.into_trial(workload, context, failure);
    trial.device_counters = after.zip(before).map(|(after, before)| after.since(before));
    trial.flush_span_ns = flush_span_ns;
    TrialEnd {
        trial,
        next_block,
        failure,
    }
}

/// What is counted while a trial runs.
struct Tally {
    latency: Histogram,
    slices: Slices,
    totals: StreamTotals,
    started_ns: u64,
    untimed_bytes: u64,
    bytes_written: u64,
    errors: Vec<OperationError>,
}

impl Tally {
    fn new() -> Self {
        Self {
            latency: Histogram::new(),
            slices: Slices::new(),
            totals: StreamTotals::default(),
            started_ns: 0,
            untimed_bytes: 0,
            bytes_written: 0,
            errors: Vec::with_capacity(ERRORS_KEPT),
        }
    }

    #[inline(always)]
    fn add(&mut self, done: &Completion, at_ns: u64) {
        let bytes = u64::from(done.op.bytes);
        self.latency.record(done.latency_ns);
        self.slices
            .add(bytes, done.latency_ns, done.op.offset, at_ns);
        self.totals.operations_count += 1;
        self.totals.bytes += bytes;
        if done.op.kind == OpKind::Read {
            self.totals.read_operations_count += 1;
        }
    }

    fn into_trial(
        self,
        workload: &Workload,
        context: TrialContext,
        failure: Option<Failure>,
    ) -> Trial {
        Trial {
            id: context.id,
            workload: workload.clone(),
            round_index: context.round_index,
            layout: context.layout,
            started_ns: self.started_ns.saturating_sub(context.run_started_ns),
            span_ns: self.totals.span_ns,
            streams: vec![self.totals],
            latency: self.latency.to_sparse(),
            slice_span_ns: self.slices.span_ns(),
            slices: self.slices.into_list(),
            device_counters: None,
            untimed_bytes: self.untimed_bytes,
            bytes_written: self.bytes_written,
            flush_span_ns: None,
            errors: self.errors,
            stopped_by: match failure {
                None => StopReason::Goal,
                Some(Failure::Stopped) => StopReason::Interrupted,
                Some(_) => StopReason::Error,
            },
        }
    }
}

/// A completed operation with its latency.
struct Completion {
    op: Op,
    latency_ns: u64,
    outcome: Result<u32, i32>,
}

/// Draws the offsets.
struct Offsets {
    order: Order,
    blocks_count: u64,
    block_bytes: u64,
    next_block: u64,
    rng: Rng,
}

impl Offsets {
    #[inline(always)]
    fn next(&mut self) -> u64 {
        let block = match self.order {
            Order::Random => self.rng.below(self.blocks_count),
            Order::Sequential => {
                let block = self.next_block;
                self.next_block = if block + 1 >= self.blocks_count {
                    0
                } else {
                    block + 1
                };
                block
            }
        };
        block * self.block_bytes
    }
}

/// Keeps `queue_depth` operations in flight.
struct Flow<'a, B, C> {
    backend: &'a mut B,
    clock: &'a mut C,
    pulse: &'a Pulse,
    workload: &'a Workload,
    limit_ns: u64,
    offsets: Offsets,
    mix: Rng,
    /// The operation in each slot and when it was submitted.
    flight: Vec<(Op, u64)>,
    in_flight: u32,
    submitted_bytes: u64,
    written_bytes: u64,
    now_ns: u64,
}

impl<'a, B: Backend, C: Clock> Flow<'a, B, C> {
    fn new(
        backend: &'a mut B,
        clock: &'a mut C,
        pulse: &'a Pulse,
        workload: &'a Workload,
        context: TrialContext,
    ) -> Self {
        let index = u64::from(context.id);
        let blocks_count = workload.blocks_count().max(1);
        let idle = Op {
            kind: OpKind::Read,
            offset: 0,
            bytes: 0,
            slot: 0,
        };
        let now_ns = clock.now_ns();
        Self {
            backend,
            clock,
            pulse,
            workload,
            limit_ns: context.limit_ns.max(1),
            offsets: Offsets {
                order: workload.order,
                blocks_count,
                block_bytes: workload.block_bytes,
                next_block: context.next_block % blocks_count,
                rng: Rng::for_part(context.seed, &workload.id, index),
            },
            mix: Rng::for_part(context.seed, "read_share", index),
            flight: vec![(idle, 0); workload.queue_depth as usize],
            in_flight: 0,
            submitted_bytes: 0,
            written_bytes: 0,
            now_ns,
        }
    }

    /// Ramp, timed span, drain.
    fn measure(&mut self, tally: &mut Tally) -> Result<(), Failure> {
        self.now_ns = self.clock.now_ns();
        for slot in 0..self.workload.queue_depth {
            self.submit(slot);
        }
        let result = self.ramp(tally).and_then(|()| {
            tally.started_ns = self.now_ns;
            let result = self.timed(tally);
            tally.totals.span_ns = self.now_ns - tally.started_ns;
            result
        });
        if let Err(Failure::Operation(error)) = result {
            tally.errors.push(error);
        }
        let drained = self.drain(tally);
        tally.bytes_written = self.written_bytes;
        result.and(drained)
    }

    /// Lasts for the workload's ramp, and until the queue has turned over once: on a slow card the
    /// first operations of a deep queue wait for fewer others than all later ones do.
    fn ramp(&mut self, tally: &mut Tally) -> Result<(), Failure> {
        let begun_ns = self.now_ns;
        let ramp_ns = self.workload.ramp_ns;
        let mut waiting = if ramp_ns == 0 {
            0
        } else {
            self.workload.queue_depth
        };
        while (self.now_ns - begun_ns < ramp_ns || waiting > 0) && self.in_flight > 0 {
            let done = self.reap(begun_ns)?;
            waiting = waiting.saturating_sub(1);
            tally.untimed_bytes += u64::from(done.op.bytes);
            self.submit(done.op.slot);
        }
        Ok(())
    }

    fn timed(&mut self, tally: &mut Tally) -> Result<(), Failure> {
        let started_ns = self.now_ns;
        let stop = self.workload.stop;
        // Whole turns of the queue: a device may complete a deep one in bursts, and a span that
        // begins behind one must end behind one.
        let depth = u64::from(self.workload.queue_depth);
        // Without `most_bytes` something is always in flight here.
        while self.in_flight > 0 {
            let done = self.reap(started_ns)?;
            let at_ns = self.now_ns - started_ns;
            tally.add(&done, at_ns);
            if stop.most_bytes.is_none()
                && at_ns >= stop.least_span_ns
                && tally.totals.operations_count >= stop.least_operations_count
                && tally.totals.operations_count.is_multiple_of(depth)
            {
                break;
            }
            self.submit(done.op.slot);
        }
        Ok(())
    }

    /// Waits for what is still in flight, outside the clock.
    fn drain(&mut self, tally: &mut Tally) -> Result<(), Failure> {
        let ended_ns = self.now_ns;
        let mut result = Ok(());
        while self.in_flight > 0 {
            match self.reap(tally.started_ns) {
                Ok(done) => tally.untimed_bytes += u64::from(done.op.bytes),
                Err(Failure::Operation(error)) => {
                    if tally.errors.len() < ERRORS_KEPT {
                        tally.errors.push(error);
                    }
                    result = result.and(Err(Failure::Operation(error)));
                }
                // The span is over by its own rule; the next trial ends at once.
                Err(Failure::Stopped) => tally.untimed_bytes += self.workload.block_bytes,
                // The first reason to stop is the one to tell.
                Err(failure) => result = result.and(Err(failure)),
            }
        }
        self.now_ns = self.now_ns.max(ended_ns);
        result
    }

    fn is_all_submitted(&self) -> bool {
        self.workload
            .stop
            .most_bytes
            .is_some_and(|most| self.submitted_bytes >= most)
    }

    #[inline(always)]
    fn submit(&mut self, slot: u32) {
        if self.is_all_submitted() {
            return;
        }
        let kind = self.next_kind();
        #[allow(
            clippy::cast_possible_truncation,
            reason = "a block is far below 4 GiB"
        )]
        let bytes = self.workload.block_bytes as u32;
        let op = Op {
            kind,
            offset: self.offsets.next(),
            bytes,
            slot,
        };
        self.flight[slot as usize] = (op, self.now_ns);
        self.in_flight += 1;
        self.submitted_bytes += u64::from(bytes);
        if kind != OpKind::Read {
            self.written_bytes += u64::from(bytes);
        }
        self.backend.submit(op);
    }

    #[inline(always)]
    fn next_kind(&mut self) -> OpKind {
        let share = u64::from(self.workload.read_share_percent);
        if share == 100 || (share > 0 && self.mix.below(100) < share) {
            OpKind::Read
        } else if self.workload.flush == Flush::EachOperation {
            OpKind::WriteSync
        } else {
            OpKind::Write
        }
    }

    /// Waits for a completion. Inlined by force: at queue depth 1 on a fast device the call alone
    /// costs a few per cent.
    #[inline(always)]
    fn reap(&mut self, since_ns: u64) -> Result<Completion, Failure> {
        let Done { slot, outcome } = self.backend.reap();
        self.now_ns = self.clock.now_ns();
        self.pulse.beat();
        self.in_flight -= 1;
        let (op, submitted_ns) = self.flight[slot as usize];
        let latency_ns = self.now_ns - submitted_ns;
        let done = Completion {
            op,
            latency_ns,
            outcome,
        };
        if outcome != Ok(op.bytes) || latency_ns > self.limit_ns || self.pulse.is_stopped() {
            return Err(self.failure(&done, since_ns));
        }
        Ok(done)
    }

    #[cold]
    fn failure(&self, done: &Completion, since_ns: u64) -> Failure {
        if done.outcome != Ok(done.op.bytes) {
            let errno = done.outcome.err().unwrap_or(0);
            let at_ns = self.now_ns.saturating_sub(since_ns);
            Failure::Operation(OperationError {
                offset: done.op.offset,
                errno,
                at_ns,
            })
        } else if done.latency_ns > self.limit_ns {
            Failure::NoAnswer {
                offset: done.op.offset,
                latency_ns: done.latency_ns,
            }
        } else {
            Failure::Stopped
        }
    }
}
