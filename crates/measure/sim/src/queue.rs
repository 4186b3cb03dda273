//! Operations at work and waiting: channels behind a single queue.

use std::collections::VecDeque;

use cardmark_engine::{Done, Op, OpKind};

/// Most operations that may be in flight.
pub(crate) const MOST_IN_FLIGHT: usize = 256;

/// An operation at work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    pub(crate) finish_ns: u64,
    pub(crate) kind: OpKind,
    pub(crate) done: Done,
}

/// First come, first served by equal channels.
#[derive(Clone, Debug)]
pub(crate) struct ServiceQueue {
    channels_count: usize,
    at_work: Vec<Flight>,
    waiting: VecDeque<Op>,
}

impl ServiceQueue {
    pub(crate) fn new(channels_count: usize) -> Self {
        Self {
            channels_count,
            at_work: Vec::with_capacity(channels_count),
            waiting: VecDeque::with_capacity(MOST_IN_FLIGHT),
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.at_work.clear();
        self.waiting.clear();
    }

    pub(crate) fn has_room(&self) -> bool {
        self.at_work.len() < self.channels_count
    }

    pub(crate) fn busy_count(&self) -> usize {
        self.at_work.len()
    }

    pub(crate) fn begin(&mut self, flight: Flight) {
        self.at_work.push(flight);
    }

    pub(crate) fn wait(&mut self, op: Op) {
        self.waiting.push_back(op);
    }

    pub(crate) fn next_waiting(&mut self) -> Option<Op> {
        self.waiting.pop_front()
    }

    /// Takes out the operation that ends first.
    pub(crate) fn take_first(&mut self) -> Option<Flight> {
        let first = self
            .at_work
            .iter()
            .enumerate()
            .min_by_key(|(_, f)| f.finish_ns)?
            .0;
        Some(self.at_work.swap_remove(first))
    }
}
