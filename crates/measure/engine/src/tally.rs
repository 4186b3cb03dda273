//! Counters of a trial while it runs.

use cardmark_core::{OperationError, Slice, StopReason, StreamTotals, Trial, Untimed, Workload};
use cardmark_stats::Histogram;

use crate::context::TrialContext;
use crate::failure::Failure;
use crate::ports::{Op, OpKind};
use crate::slices::Slices;
use crate::windows::WindowTally;

/// Maximum number of errors kept of one trial; a dying device returns the same error thousands of times.
pub(crate) const ERRORS_KEPT: usize = 64;

/// A completed operation with its latency.
pub(crate) struct Completion {
    pub(crate) op: Op,
    pub(crate) latency_ns: u64,
}

/// Memory of a trial's counters, 200 KiB, which the next trial uses again: on a small board the kernel takes longer to
/// map and clear it than the simulation of a trial does.
#[derive(Default)]
pub(crate) struct Memory {
    latency: Option<Histogram>,
    slices: Vec<Slice>,
}

/// Counters of a trial while it runs.
pub(crate) struct Tally {
    latency: Histogram,
    slices: Slices,
    /// One for each window size; empty for most workloads.
    windows: Vec<WindowTally>,
    pub(crate) streams: Vec<StreamTotals>,
    /// Start of the span on the engine's clock.
    pub(crate) started_ns: u64,
    /// Duration of the span, nanoseconds.
    pub(crate) span_ns: u64,
    pub(crate) untimed_bytes: u64,
    /// Operations and times of ramp and drain.
    pub(crate) untimed: Untimed,
    pub(crate) written_bytes: u64,
    /// Duration of a flush inside the span, nanoseconds.
    pub(crate) flush_span_ns: Option<u64>,
    pub(crate) errors: Vec<OperationError>,
}

impl Tally {
    pub(crate) fn new(workload: &Workload, memory: Memory) -> Self {
        let streams_count = workload.manner.streams_count;
        let mut latency = memory.latency.unwrap_or_default();
        latency.clear();
        Self {
            latency,
            slices: Slices::in_memory(memory.slices),
            windows: WindowTally::all(workload),
            streams: vec![StreamTotals::default(); streams_count.max(1) as usize],
            started_ns: 0,
            span_ns: 0,
            untimed_bytes: 0,
            untimed: Untimed::default(),
            written_bytes: 0,
            flush_span_ns: None,
            errors: Vec::with_capacity(ERRORS_KEPT),
        }
    }

    /// Counts an operation completed `at_ns` after the trial's start.
    #[inline(always)]
    pub(crate) fn add(&mut self, done: &Completion, at_ns: u64) {
        let bytes = u64::from(done.op.bytes);
        self.latency.record(done.latency_ns);
        self.slices
            .add(bytes, done.latency_ns, done.op.offset, at_ns);
        for windows in &mut self.windows {
            windows.add(bytes, at_ns);
        }
        let totals = &mut self.streams[done.op.stream as usize];
        totals.operations_count += 1;
        totals.bytes += bytes;
        if done.op.kind == OpKind::Read {
            totals.read_operations_count += 1;
        }
    }

    /// Returns the slices so far.
    pub(crate) fn slices(&self) -> &Slices {
        &self.slices
    }

    /// Returns the bytes of the first stream so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.streams[0].bytes
    }

    /// Returns the number of operations of the first stream so far.
    #[inline(always)]
    pub(crate) fn operations_count(&self) -> u64 {
        self.streams[0].operations_count
    }

    /// Ends the span of a trial with one stream.
    pub(crate) fn end_span(&mut self, now_ns: u64) {
        self.span_ns = now_ns - self.started_ns;
        self.streams[0].span_ns = self.span_ns;
    }

    pub(crate) fn into_trial(
        self,
        workload: &Workload,
        context: TrialContext,
        failure: Option<Failure>,
    ) -> (Trial, Memory) {
        let slice_span_ns = self.slices.span_ns();
        let (slices, slice_memory) = self.slices.into_list();
        let trial = Trial {
            id: context.id,
            workload: workload.clone().into(),
            round_index: context.round_index,
            layout: context.layout,
            started_ns: self.started_ns.saturating_sub(context.run_started_ns),
            span_ns: self.span_ns,
            streams: self.streams,
            latency: self.latency.to_sparse(),
            slice_span_ns,
            slices,
            device_counters: None,
            untimed_bytes: self.untimed_bytes,
            untimed: (workload.manner.streams_count == 1).then_some(self.untimed),
            written_bytes: self.written_bytes,
            flush_span_ns: self.flush_span_ns,
            windows: self
                .windows
                .into_iter()
                .map(WindowTally::into_windows)
                .collect(),
            errors: self.errors,
            stopped_by: match failure {
                None => StopReason::Goal,
                Some(Failure::Stopped) => StopReason::Interrupted,
                Some(_) => StopReason::Error,
            },
        };
        let memory = Memory {
            latency: Some(self.latency),
            slices: slice_memory,
        };
        (trial, memory)
    }
}
