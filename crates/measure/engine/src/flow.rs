//! Operations of one stream in flight.

use cardmark_core::{Access, Errno, Flush, Offsets, OperationError, ReadShare, Workload};

use crate::context::TrialContext;
use crate::ending::Ending;
use crate::failure::Failure;
use crate::tally::{Completion, ERRORS_KEPT, Tally};
use crate::{Backend, Clock, Done, Op, OpKind, Pulse};

/// Amount of data in the page cache for which a flush gets one further timeout.
pub(crate) const CACHED_PIECE_BYTES: u64 = 8 << 20;

/// Number of timeouts to allow while flushing `bytes` of dirty page cache.
pub(crate) fn limits_for(bytes: u64) -> u64 {
    bytes / CACHED_PIECE_BYTES + 1
}

/// Time after a late answer within which a pause of this process is noted, nanoseconds.
pub(crate) const PAUSE_LOOK_NS: u64 = 300_000_000;

/// Submits operations and waits for them.
pub(crate) struct Flow<'a, B, C> {
    backend: &'a mut B,
    clock: &'a mut C,
    pulse: &'a Pulse,
    workload: &'a Workload,
    limit_ns: u64,
    pub(crate) offsets: Offsets,
    reads: ReadShare,
    /// Operation in each slot, with its time of submission.
    flight: Vec<(Op, u64)>,
    pub(crate) in_flight: u32,
    submitted_bytes: u64,
    written_bytes: u64,
    pub(crate) now_ns: u64,
}

impl<'a, B: Backend, C: Clock> Flow<'a, B, C> {
    pub(crate) fn new(
        backend: &'a mut B,
        clock: &'a mut C,
        pulse: &'a Pulse,
        workload: &'a Workload,
        context: TrialContext,
    ) -> Self {
        let idle = Op {
            kind: OpKind::Read,
            offset: 0,
            bytes: 0,
            slot: 0,
            stream: 0,
        };
        let now_ns = clock.now_ns();
        Self {
            backend,
            clock,
            pulse,
            workload,
            // Each part of an operation gets the whole time limit.
            limit_ns: context
                .limit_ns
                .max(1)
                .saturating_mul(workload.parts_count()),
            offsets: Offsets::new(workload, context.draws()),
            reads: ReadShare::new(workload, context.draws()),
            flight: vec![(idle, 0); workload.in_flight_count().max(1) as usize],
            in_flight: 0,
            submitted_bytes: 0,
            written_bytes: 0,
            now_ns,
        }
    }

    /// Runs ramp, timed span, and drain.
    pub(crate) fn measure(&mut self, tally: &mut Tally) -> Result<(), Failure> {
        self.look();
        for slot in 0..self.workload.queue_depth {
            self.submit(slot);
        }
        let result = self.ramp(tally).and_then(|()| {
            tally.started_ns = self.now_ns;
            let result = self.timed(tally).and_then(|()| self.close(tally));
            tally.end_span(self.now_ns);
            result
        });
        self.end(tally, result)
    }

    /// Reads the clock.
    pub(crate) fn look(&mut self) {
        self.now_ns = self.clock.now_ns();
    }

    /// Records the error of a trial and waits for the operations still in flight.
    pub(crate) fn end(
        &mut self,
        tally: &mut Tally,
        result: Result<(), Failure>,
    ) -> Result<(), Failure> {
        if let Err(Failure::Operation(error)) = result {
            tally.errors.push(error);
        }
        let drained = self.drain(tally);
        tally.written_bytes = self.written_bytes;
        result.and(drained)
    }

    /// Runs for the workload's ramp, and until the queue has turned over once: on a slow card the first
    /// operations of a deep queue wait for fewer others than all later ones do.
    fn ramp(&mut self, tally: &mut Tally) -> Result<(), Failure> {
        let begun_ns = self.now_ns;
        let ramp_ns = self.workload.ramp_ns;
        let most_bytes = self.workload.stop.most_ramp_bytes();
        let mut waiting = if ramp_ns == 0 {
            0
        } else {
            self.workload.queue_depth
        };
        let is_short = |now_ns: u64, bytes: u64| now_ns - begun_ns < ramp_ns && bytes < most_bytes;
        while (is_short(self.now_ns, tally.untimed_bytes) || waiting > 0) && self.in_flight > 0 {
            let done = self.reap(begun_ns)?;
            waiting = waiting.saturating_sub(1);
            tally.untimed_bytes += u64::from(done.op.bytes);
            tally.untimed.ramp_operations_count += 1;
            tally.untimed.ramp_longest_ns = tally.untimed.ramp_longest_ns.max(done.latency_ns);
            self.submit(done.op.slot);
        }
        tally.untimed.ramp_span_ns = self.now_ns - begun_ns;
        Ok(())
    }

    fn timed(&mut self, tally: &mut Tally) -> Result<(), Failure> {
        let started_ns = self.now_ns;
        let stop = self.workload.stop;
        let depth = u64::from(self.workload.queue_depth);
        let cap_count = stop
            .cap_bytes
            .map_or(u64::MAX, |bytes| bytes / self.workload.block_bytes);
        let mut ending = Ending::of(stop);
        // Without `most_bytes` at least one operation is always in flight here.
        while self.in_flight > 0 {
            let done = self.reap(started_ns)?;
            let at_ns = self.now_ns - started_ns;
            tally.add(&done, at_ns);
            let count = tally.operations_count();
            if stop.ends(at_ns, count, depth) || count >= cap_count {
                break;
            }
            if let Some(ending) = &mut ending
                && ending.is_over(at_ns, tally)
            {
                break;
            }
            self.submit(done.op.slot);
        }
        Ok(())
    }

    /// If the span includes a flush, waits for the operations in flight and flushes within the span.
    fn close(&mut self, tally: &mut Tally) -> Result<(), Failure> {
        if self.workload.flush != Flush::InSpan {
            return Ok(());
        }
        let started_ns = tally.started_ns;
        while self.in_flight > 0 {
            let done = self.reap(started_ns)?;
            tally.add(&done, self.now_ns - started_ns);
        }
        self.be_patient();
        self.submit_op(self.sync(0));
        let done = self.reap(started_ns)?;
        tally.flush_span_ns = Some(done.latency_ns);
        Ok(())
    }

    /// Allows the device more time: all data in the page cache may be written only now.
    fn be_patient(&mut self) {
        if self.workload.manner.access == Access::Cached {
            let limits_count = limits_for(self.written_bytes);
            self.limit_ns = self.limit_ns.saturating_mul(limits_count);
            self.pulse.set_limits_count(limits_count);
        }
    }

    /// Waits for what is still in flight, outside the clock.
    fn drain(&mut self, tally: &mut Tally) -> Result<(), Failure> {
        let ended_ns = self.now_ns;
        let mut result = Ok(());
        while self.in_flight > 0 {
            match self.reap(tally.started_ns) {
                Ok(done) => {
                    tally.untimed_bytes += u64::from(done.op.bytes);
                    let longest_ns = tally.untimed.drain_longest_ns.max(done.latency_ns);
                    tally.untimed.drain_longest_ns = longest_ns;
                }
                Err(Failure::Operation(error)) => {
                    if tally.errors.len() < ERRORS_KEPT {
                        tally.errors.push(error);
                    }
                    result = result.and(Err(Failure::Operation(error)));
                }
                // The span is over by its own rule; the next trial ends at once.
                Err(Failure::Stopped) => tally.untimed_bytes += self.workload.block_bytes,
                // Report the first failure.
                Err(failure) => result = result.and(Err(failure)),
            }
        }
        self.now_ns = self.now_ns.max(ended_ns);
        tally.untimed.drain_span_ns = self.now_ns - ended_ns;
        result
    }

    /// Reads the first block outside the clock and returns its size in bytes.
    pub(crate) fn lead_read(&mut self) -> Result<u64, Failure> {
        self.look();
        let begun_ns = self.now_ns;
        self.submit_op(Op {
            kind: OpKind::Read,
            offset: 0,
            bytes: self.block_bytes(),
            slot: 0,
            stream: 0,
        });
        let done = self.reap(begun_ns)?;
        Ok(u64::from(done.op.bytes))
    }

    fn is_all_submitted(&self) -> bool {
        self.workload
            .stop
            .most_bytes
            .is_some_and(|most| self.submitted_bytes >= most)
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "a block is far below 4 GiB"
    )]
    fn block_bytes(&self) -> u32 {
        self.workload.block_bytes as u32
    }

    #[inline(always)]
    fn submit(&mut self, slot: u32) {
        if self.is_all_submitted() {
            return;
        }
        let bytes = self.block_bytes();
        let op = Op {
            kind: self.next_kind(),
            offset: self.offsets.next_offset(),
            bytes,
            slot,
            stream: 0,
        };
        self.submitted_bytes += u64::from(bytes);
        self.submit_op(op);
    }

    /// Submits the block at position `place` of a stream's order.
    pub(crate) fn submit_at(&mut self, stream: u32, place: u64) {
        let op = Op {
            kind: self.next_kind(),
            offset: self.offsets.at(place) * self.workload.block_bytes,
            bytes: self.block_bytes(),
            slot: stream,
            stream,
        };
        self.submit_op(op);
    }

    /// Returns the operation that makes a stream's object durable.
    pub(crate) fn sync(&self, stream: u32) -> Op {
        Op {
            kind: OpKind::Sync,
            offset: 0,
            bytes: 0,
            slot: stream,
            stream,
        }
    }

    #[inline(always)]
    pub(crate) fn submit_op(&mut self, op: Op) {
        self.flight[op.slot as usize] = (op, self.now_ns);
        self.in_flight += 1;
        if op.kind != OpKind::Read {
            self.written_bytes += u64::from(op.bytes);
        }
        self.backend.submit(op);
    }

    #[inline(always)]
    fn next_kind(&mut self) -> OpKind {
        if self.reads.next_is_read() {
            OpKind::Read
        } else if self.workload.flush == Flush::EachOperation {
            OpKind::WriteSync
        } else {
            OpKind::Write
        }
    }

    /// Waits for a completion. `inline(always)`: at queue depth 1 on a fast device, the call alone costs a
    /// few per cent.
    #[inline(always)]
    pub(crate) fn reap(&mut self, since_ns: u64) -> Result<Completion, Failure> {
        let Done { slot, outcome } = self.backend.reap();
        self.now_ns = self.clock.now_ns();
        self.pulse.beat();
        self.in_flight -= 1;
        let (op, submitted_ns) = self.flight[slot as usize];
        let latency_ns = self.now_ns - submitted_ns;
        let done = Completion { op, latency_ns };
        if outcome != Ok(op.bytes) || latency_ns > self.limit_ns || self.pulse.is_stopped() {
            return Err(self.failure(&done, outcome, since_ns));
        }
        Ok(done)
    }

    #[cold]
    fn failure(
        &mut self,
        done: &Completion,
        outcome: Result<u32, Errno>,
        since_ns: u64,
    ) -> Failure {
        let errno = outcome.err().unwrap_or(Errno::NONE);
        if outcome.is_err() && done.op.kind == OpKind::Sync {
            Failure::Flush(errno)
        } else if outcome != Ok(done.op.bytes) {
            let at_ns = self.now_ns.saturating_sub(since_ns);
            Failure::Operation(OperationError {
                offset_bytes: done.op.offset,
                errno,
                at_ns,
            })
        } else if done.latency_ns > self.limit_ns {
            // The observer of pauses may itself have been paused until now.
            self.clock.rest(PAUSE_LOOK_NS);
            if self.pulse.was_paused() {
                return Failure::Paused;
            }
            Failure::NoAnswer {
                offset: done.op.offset,
                latency_ns: done.latency_ns,
            }
        } else {
            Failure::Stopped
        }
    }
}
