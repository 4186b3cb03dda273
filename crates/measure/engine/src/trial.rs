//! The measuring loop: one timed execution of a workload.
//!
//! The loop contains no allocation, no lock, no print and no system call except the operation itself and one
//! reading of the clock. See `docs/METHODOLOGY.md`, "Inside the clock".

use cardmark_core::{Errno, Flush, Object, Start, Trial, Workload};

use crate::context::TrialContext;
use crate::failure::Failure;
use crate::flow::{Flow, limits_for};
use crate::streams;
use crate::tally::{Memory, Tally};
use crate::{Backend, Clock, Pulse};

/// Maximum interval between tests for a stop request during a rest, nanoseconds.
pub(crate) const REST_PIECE_NS: u64 = 100_000_000;

/// Number of time limits allowed for erasing a part of a device.
pub(crate) const ERASE_LIMITS: u64 = 4;

/// A trial with its results for the run.
#[derive(Debug)]
pub struct TrialEnd {
    /// The trial.
    pub trial: Trial,
    /// First block of the next trial of a sequential workload.
    pub next_block: u64,
    /// Reason why it ended early; absent if it did not.
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
    let mut memory = Memory::default();
    run_trial_in(&mut memory, backend, clock, pulse, workload, context)
}

/// As [`run_trial`], with counters in the memory of an earlier trial.
pub(crate) fn run_trial_in<B: Backend, C: Clock>(
    memory: &mut Memory,
    backend: &mut B,
    clock: &mut C,
    pulse: &Pulse,
    workload: &Workload,
    context: TrialContext,
) -> TrialEnd {
    let mut tally = Tally::new(workload, std::mem::take(memory));
    pulse.beat();
    match workload.manner.start {
        Start::Written => pulse.set_limits_count(limits_for(workload.span_bytes)),
        Start::Erased => pulse.set_limits_count(ERASE_LIMITS),
        Start::Kept | Start::Empty | Start::Allocated | Start::Other(_) => {}
    }
    let mut prepared_bytes = 0;
    let ready = backend
        .prepare(workload)
        .map_err(|errno| not_ready(workload, errno))
        .and_then(|written_bytes| match workload.manner.start {
            // The erase may have ended early.
            Start::Erased if pulse.is_stopped() => Err(Failure::Stopped),
            _ => Ok(written_bytes),
        })
        .and_then(|written_bytes| {
            prepared_bytes = written_bytes;
            rest(clock, pulse, workload.manner.rest_ns)
        });
    pulse.set_limits_count(1);
    let before = backend.counters();
    let mut flow = Flow::new(backend, clock, pulse, workload, context);
    // Used until the ramp is over, so that a failure in the ramp has a time too.
    tally.started_ns = flow.now_ns;
    let result = ready.and_then(|()| measure(&mut flow, workload, &mut tally));
    pulse.set_limits_count(1);
    let next_block = flow.offsets.next_block();
    let ended_ns = flow.now_ns;
    let mut failure = result.err();
    if failure.is_none() && is_flushed_after(workload) {
        match backend.flush() {
            Ok(()) => tally.flush_span_ns = Some(clock.now_ns().saturating_sub(ended_ns)),
            Err(errno) => failure = Some(Failure::Flush(errno)),
        }
    }
    let after = backend.counters();
    pulse.beat();
    tally.written_bytes += prepared_bytes;
    let (mut trial, used) = tally.into_trial(workload, context, failure);
    *memory = used;
    trial.device_counters = after.zip(before).map(|(after, before)| after.since(before));
    TrialEnd {
        trial,
        next_block,
        failure,
    }
}

fn not_ready(workload: &Workload, errno: Errno) -> Failure {
    if workload.manner.object == Object::Disk && errno == Errno::NOENT {
        Failure::NoDisk
    } else {
        Failure::NotReady(errno)
    }
}

/// True if a flush follows the trial. Streams make their objects durable themselves.
fn is_flushed_after(workload: &Workload) -> bool {
    workload.writes() && workload.flush == Flush::AfterTrial && workload.manner.streams_count == 1
}

fn measure<B: Backend, C: Clock>(
    flow: &mut Flow<'_, B, C>,
    workload: &Workload,
    tally: &mut Tally,
) -> Result<(), Failure> {
    if workload.manner.lead_read {
        match flow.lead_read() {
            Ok(bytes) => tally.untimed_bytes += bytes,
            Err(failure) => return flow.end(tally, Err(failure)),
        }
    }
    if workload.manner.streams_count > 1 {
        return streams::measure(flow, workload, tally);
    }
    flow.measure(tally)
}

/// Waits, and ends early when the run is to stop.
fn rest<C: Clock>(clock: &mut C, pulse: &Pulse, span_ns: u64) -> Result<(), Failure> {
    let mut left_ns = span_ns;
    while left_ns > 0 {
        if pulse.is_stopped() {
            return Err(Failure::Stopped);
        }
        let piece_ns = left_ns.min(REST_PIECE_NS);
        clock.rest(piece_ns);
        pulse.beat();
        left_ns -= piece_ns;
    }
    Ok(())
}
