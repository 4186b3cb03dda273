//! A back end that does nothing, to measure the cost of the loop itself.

use std::collections::VecDeque;

use cardmark_core::{DeviceCounters, Errno, Workload};
use cardmark_engine::{Backend, Done, Op};

/// Completes every operation at once, in the order of submission, and moves nothing.
#[derive(Debug, Default)]
pub struct NullBackend {
    in_flight: VecDeque<Done>,
}

impl NullBackend {
    /// A back end with nothing in flight.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Backend for NullBackend {
    fn prepare(&mut self, workload: &Workload) -> Result<u64, Errno> {
        self.in_flight.clear();
        self.in_flight.reserve(workload.queue_depth as usize);
        Ok(0)
    }

    #[inline]
    fn submit(&mut self, op: Op) {
        self.in_flight.push_back(Done {
            slot: op.slot,
            outcome: Ok(op.bytes),
        });
    }

    #[inline]
    fn reap(&mut self) -> Done {
        let nothing = Done {
            slot: 0,
            outcome: Err(Errno::INVAL),
        };
        self.in_flight.pop_front().unwrap_or(nothing)
    }

    fn flush(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    fn counters(&mut self) -> Option<DeviceCounters> {
        None
    }
}
