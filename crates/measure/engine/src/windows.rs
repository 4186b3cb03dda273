//! Times of windows: stretches of equal size in the order of the operations.

use cardmark_core::{Window, Windows, Workload};

/// Number of slowest windows that are kept.
pub(crate) const SLOWEST_KEPT: usize = 16;

/// Windows under construction. A window ends with the completion of its last byte, and the next one begins
/// there.
pub(crate) struct WindowTally {
    window_bytes: u64,
    /// Start of the current window in bytes from the start of the object.
    start_bytes: u64,
    /// Its start time after the trial's start, nanoseconds.
    began_ns: u64,
    /// Number of bytes in it so far.
    filled_bytes: u64,
    windows_count: u64,
    slowest: Vec<Window>,
}

impl WindowTally {
    /// Creates one for each window size of the workload.
    pub(crate) fn all(workload: &Workload) -> Vec<Self> {
        let tally = |window_bytes| Self {
            window_bytes,
            start_bytes: workload.manner.start_bytes,
            began_ns: 0,
            filled_bytes: 0,
            windows_count: 0,
            slowest: Vec::with_capacity(SLOWEST_KEPT + 1),
        };
        workload.manner.windows_bytes().map(tally).collect()
    }

    /// Adds an operation completed `at_ns` after the trial's start.
    #[inline]
    pub(crate) fn add(&mut self, bytes: u64, at_ns: u64) {
        self.filled_bytes += bytes;
        if self.filled_bytes >= self.window_bytes {
            self.end(at_ns);
        }
    }

    fn end(&mut self, at_ns: u64) {
        let window = Window {
            start_bytes: self.start_bytes,
            span_ns: at_ns - self.began_ns,
        };
        let place = self
            .slowest
            .partition_point(|known| known.span_ns >= window.span_ns);
        if place < SLOWEST_KEPT {
            self.slowest.insert(place, window);
            self.slowest.truncate(SLOWEST_KEPT);
        }
        self.start_bytes += self.filled_bytes;
        self.filled_bytes = 0;
        self.began_ns = at_ns;
        self.windows_count += 1;
    }

    /// Returns the completed windows; an incomplete window does not count.
    pub(crate) fn into_windows(self) -> Windows {
        Windows {
            window_bytes: self.window_bytes,
            windows_count: self.windows_count,
            slowest: self.slowest,
        }
    }
}
