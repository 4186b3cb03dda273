//! The ports: the engine's interfaces to the outside, defined here next to their consumer.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use cardmark_core::{DeviceCounters, Errno, ReadBack, SensorSample, Workload};

use crate::Event;

/// Kind of an operation.
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
    /// Kind of the operation.
    pub kind: OpKind,
    /// Offset in bytes from the start of the object.
    pub offset: u64,
    /// Size in bytes: the workload's block size, or 0 for [`OpKind::Sync`].
    pub bytes: u32,
    /// Index of the slot that it occupies, from 0, below [`Workload::in_flight_count`].
    pub slot: u32,
    /// Index of the stream that it belongs to, from 0. Each stream has its own object.
    pub stream: u32,
}

/// A completed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Slot that is free again.
    pub slot: u32,
    /// Number of bytes moved, or the system's error number.
    pub outcome: Result<u32, Errno>,
}

/// Accepts operations and returns completions. Implemented by real storage and by the simulated card. An I/O
/// error is a result, because bad cards are our subject.
pub trait Backend {
    /// Prepares a trial of this workload outside the clock: buffers, queue, payload, the initial state of the
    /// file, an empty page cache. Returns the number of bytes written for it.
    ///
    /// # Errors
    /// The system's error number if the object cannot be used in this way.
    fn prepare(&mut self, workload: &Workload) -> Result<u64, Errno>;

    /// Accepts an operation. The engine keeps at most [`Workload::in_flight_count`] operations in flight, and
    /// never two in one slot.
    fn submit(&mut self, op: Op);

    /// Waits for the next completion. Called only while an operation is in flight.
    fn reap(&mut self) -> Done;

    /// Makes all written data durable. Called between trials.
    ///
    /// # Errors
    /// The system's error number.
    fn flush(&mut self) -> Result<(), Errno>;

    /// Reads `bytes` from `offset` on, compares them with what the run last wrote there, and returns the
    /// result. `None` if the back end does not remember its writes. Called between trials.
    ///
    /// # Errors
    /// The system's error number.
    fn read_back(&mut self, offset: u64, bytes: u64) -> Result<Option<ReadBack>, Errno> {
        let _ = (offset, bytes);
        Ok(None)
    }

    /// Returns the counters of the block layer below; `None` if they are not available.
    fn counters(&mut self) -> Option<DeviceCounters>;
}

/// Clock with a fixed origin.
pub trait Clock {
    /// Returns the time in nanoseconds; it never decreases.
    fn now_ns(&mut self) -> u64;

    /// Waits for `span_ns` nanoseconds.
    fn rest(&mut self, span_ns: u64);
}

/// Readings of board and device.
pub trait Sensors {
    /// Returns the readings since the last call, by rising time on the engine's clock. The last one is taken
    /// now if the sensors can be read at any time. The engine calls this before and after each trial, outside
    /// every clock, so that the counts between two readings belong to one trial.
    fn take(&mut self) -> Vec<SensorSample>;
}

/// Receives events. Called outside every clock.
pub trait Observer {
    /// Receives one event.
    fn event(&mut self, event: &Event<'_>);
}

/// Progress of the engine and a way to stop it, shared with other threads.
#[derive(Debug, Default)]
pub struct Pulse {
    operations: AtomicUsize,
    waiting: AtomicBool,
    stop: AtomicBool,
    /// Number of time limits that the current wait may last, minus 1.
    more_limits: AtomicU32,
    paused: AtomicBool,
    /// Bytes written, and read, by integrity tests.
    moved_bytes: [AtomicU64; 2],
}

impl Pulse {
    /// Creates a pulse for an engine that is not running.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the engine to stop at the next operation.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// True if the engine was asked to stop.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Notes that this process, or the whole machine, was paused: a late answer is not the device's fault.
    pub fn note_pause(&self) {
        self.paused.store(true, Ordering::Relaxed);
    }

    /// Returns whether a pause was noted.
    pub fn was_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    /// Returns a number that changes with every completed operation or flush, and true if the engine is now
    /// waiting for the device.
    pub fn reading(&self) -> (usize, bool) {
        (
            self.operations.load(Ordering::Relaxed),
            self.waiting.load(Ordering::Relaxed),
        )
    }

    /// Returns the number of time limits that the current wait may last: more than one if the page cache
    /// holds much data.
    pub fn limits_count(&self) -> u32 {
        self.more_limits.load(Ordering::Relaxed).saturating_add(1)
    }

    /// Allows the wait that begins now `count` time limits.
    pub(crate) fn set_limits_count(&self, count: u64) {
        let more = u32::try_from(count.saturating_sub(1)).unwrap_or(u32::MAX);
        self.more_limits.store(more, Ordering::Relaxed);
    }

    /// Counts a completed operation. Usually one thread works, sometimes a few on one device. If two of them
    /// count at the same time, one count may be lost; the number still changes, so a plain store is enough.
    #[inline]
    pub fn beat(&self) {
        let count = self.operations.load(Ordering::Relaxed);
        self.operations
            .store(count.wrapping_add(1), Ordering::Relaxed);
    }

    /// Counts bytes that an integrity test wrote.
    pub fn note_written(&self, bytes: u64) {
        self.moved_bytes[0].fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts bytes that an integrity test read.
    pub fn note_read(&self, bytes: u64) {
        self.moved_bytes[1].fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the number of bytes that integrity tests wrote, and read.
    pub fn moved_bytes(&self) -> [u64; 2] {
        [0, 1].map(|index| self.moved_bytes[index].load(Ordering::Relaxed))
    }

    /// Marks the begin or end of a run. During a run the engine waits for the device, or for the journal,
    /// which may lie on the same device.
    pub fn set_waiting(&self, waiting: bool) {
        self.beat();
        self.waiting.store(waiting, Ordering::Relaxed);
    }
}
