//! The ports: what the engine needs from outside. They live here, with their consumer.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use cardmark_core::{DeviceCounters, ReadBack, SensorSample, Workload};

use crate::Event;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpKind {
    /// Reads a block.
    Read,
    /// Writes a block.
    Write,
    /// Writes a block and makes it durable (`fdatasync`) before it counts as done.
    WriteSync,
    /// Makes everything written to the stream's object durable (`fsync`); moves no bytes.
    Sync,
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// What it does.
    pub kind: OpKind,
    /// Where, bytes from the start of the object.
    pub offset: u64,
    /// How much, bytes; the workload's block size, or 0 for [`OpKind::Sync`].
    pub bytes: u32,
    /// Which of the places in flight it takes, from 0: of [`Workload::in_flight_count`].
    pub slot: u32,
    /// Which stream it belongs to, from 0, and with it which object.
    pub stream: u32,
}

/// A completed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// The place in flight that is free again.
    pub slot: u32,
    /// Bytes moved, or the system's error number.
    pub outcome: Result<u32, i32>,
}

/// Accepts operations and hands back completions. Implemented by real storage and by the
/// simulated card. An I/O error is a result, because bad cards are our subject.
pub trait Backend {
    /// Makes ready for a trial of this workload: buffers, queue, payload, the file's state at the
    /// start, an empty page cache. Outside the clock. Returns the bytes that were written for it.
    ///
    /// # Errors
    /// The system's error number where the object cannot be used in this way.
    fn prepare(&mut self, workload: &Workload) -> Result<u64, i32>;

    /// Takes an operation on. Never more than [`Workload::in_flight_count`] are in flight, and
    /// never two in one slot.
    fn submit(&mut self, op: Op);

    /// Waits for the next completion. Called only while something is in flight.
    fn reap(&mut self) -> Done;

    /// Makes everything written durable. Called between trials.
    ///
    /// # Errors
    /// The system's error number.
    fn flush(&mut self) -> Result<(), i32>;

    /// Reads what was written last to the stretch of so many bytes from `offset` on, and tells how much of it is not
    /// there any more. `None` where the back end does not keep in mind what it wrote. Called between trials.
    ///
    /// # Errors
    /// The system's error number.
    fn read_back(&mut self, offset: u64, bytes: u64) -> Result<Option<ReadBack>, i32> {
        let _ = (offset, bytes);
        Ok(None)
    }

    /// What the block layer below has counted so far; `None` where it cannot be known.
    fn counters(&mut self) -> Option<DeviceCounters>;
}

/// Tells the time from a fixed origin.
pub trait Clock {
    /// Nanoseconds; never goes back.
    fn now_ns(&mut self) -> u64;

    /// Lets so many nanoseconds pass with nothing to do.
    fn rest(&mut self, span_ns: u64);
}

/// Readings of board and device.
pub trait Sensors {
    /// Readings since the last call, by rising time on the engine's clock, the last of them taken
    /// now where the sensors can be read at any time. Called before and after each trial, so that
    /// what is counted between two readings belongs to one trial, and outside every clock.
    fn take(&mut self) -> Vec<SensorSample>;
}

/// Hears of what happens. Called outside every clock.
pub trait Observer {
    /// Something happened.
    fn event(&mut self, event: &Event<'_>);
}

/// The engine's sign of life and the way to stop it, shared with other threads.
#[derive(Debug, Default)]
pub struct Pulse {
    operations: AtomicUsize,
    waiting: AtomicBool,
    stop: AtomicBool,
    /// One less than the limits that the wait under way may last.
    more_limits: AtomicU32,
}

impl Pulse {
    /// A pulse at rest.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the engine to end at the next operation.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the engine was asked to end.
    #[inline]
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Number that changes with every completed operation or flush, and whether the engine waits
    /// for the device now.
    #[must_use]
    pub fn reading(&self) -> (usize, bool) {
        (
            self.operations.load(Ordering::Relaxed),
            self.waiting.load(Ordering::Relaxed),
        )
    }

    /// How many times the limit for an answer the wait under way may last: more than once where
    /// much lies in the page cache.
    #[must_use]
    pub fn limits_count(&self) -> u32 {
        self.more_limits.load(Ordering::Relaxed).saturating_add(1)
    }

    /// The wait that begins now may last so many limits.
    pub(crate) fn set_limits_count(&self, count: u64) {
        let more = u32::try_from(count.saturating_sub(1)).unwrap_or(u32::MAX);
        self.more_limits.store(more, Ordering::Relaxed);
    }

    /// One more operation was completed. Mostly one thread works, sometimes a few on one device: where two
    /// of them meet here one beat may be lost, and the other tells as much, so that a plain store is enough.
    #[inline]
    pub fn beat(&self) {
        let count = self.operations.load(Ordering::Relaxed);
        self.operations
            .store(count.wrapping_add(1), Ordering::Relaxed);
    }

    /// A run begins or ends. In between the engine waits for the device, or for the journal, which
    /// may lie on the same device.
    pub fn set_waiting(&self, waiting: bool) {
        self.beat();
        self.waiting.store(waiting, Ordering::Relaxed);
    }
}
