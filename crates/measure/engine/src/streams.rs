//! Several streams at once, with iozone's stone wall.
//!
//! Method: that of iozone with several threads (`-T`). The first stream that finishes sets a flag. Every
//! other stream sees the flag after its operation in flight and freezes its figure: the bytes moved before,
//! over its own time until now. Readers and rewriters then end. Streams that write a file for the first time,
//! or at random, continue uncounted until it is complete. At the end, each stream makes its object durable;
//! this is outside its own time, but inside the total time.

use cardmark_core::{Order, Start, Workload};

use crate::failure::Failure;
use crate::flow::Flow;
use crate::tally::Tally;
use crate::{Backend, Clock, OpKind};

/// Progress of the streams.
struct Streams {
    /// Number of operations completed by each stream.
    completed: Vec<u64>,
    blocks_count: u64,
    /// True if a stream has finished.
    is_wall_up: bool,
    /// True if streams continue uncounted behind the wall.
    goes_on: bool,
    started_ns: u64,
}

/// Runs every stream of `workload` through its span.
pub(crate) fn measure<B: Backend, C: Clock>(
    flow: &mut Flow<'_, B, C>,
    workload: &Workload,
    tally: &mut Tally,
) -> Result<(), Failure> {
    flow.look();
    let started_ns = flow.now_ns;
    tally.started_ns = started_ns;
    let mut streams = Streams {
        completed: vec![0; workload.manner.streams_count as usize],
        blocks_count: workload.blocks_count(),
        is_wall_up: false,
        goes_on: workload.writes() && !is_rewrite(workload),
        started_ns,
    };
    for stream in 0..workload.manner.streams_count {
        flow.submit_at(stream, 0);
    }
    let mut result = Ok(());
    while flow.in_flight > 0 && result.is_ok() {
        result = streams.step(flow, tally);
    }
    tally.span_ns = flow.now_ns - started_ns;
    flow.end(tally, result)
}

/// True if existing data is overwritten in sequence.
fn is_rewrite(workload: &Workload) -> bool {
    workload.manner.start == Start::Kept && workload.order == Order::Sequential
}

impl Streams {
    fn step<B: Backend, C: Clock>(
        &mut self,
        flow: &mut Flow<'_, B, C>,
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        let done = flow.reap(self.started_ns)?;
        if done.op.kind == OpKind::Sync {
            return Ok(());
        }
        let at_ns = flow.now_ns - self.started_ns;
        let index = done.op.stream as usize;
        if self.is_wall_up {
            tally.untimed_bytes += u64::from(done.op.bytes);
        } else {
            tally.add(&done, at_ns);
        }
        self.completed[index] += 1;
        let is_through = self.completed[index] >= self.blocks_count;
        self.is_wall_up |= is_through;
        let totals = &mut tally.streams[index];
        if self.is_wall_up && totals.span_ns == 0 {
            totals.span_ns = at_ns;
        }
        if is_through || (self.is_wall_up && !self.goes_on) {
            flow.submit_op(flow.sync(done.op.stream));
        } else {
            flow.submit_at(done.op.stream, self.completed[index]);
        }
        Ok(())
    }
}
