//! The clock of real runs.

use std::time::Duration;

use cardmark_engine::Clock;
use rustix::time::{ClockId, clock_gettime};

/// `CLOCK_MONOTONIC`, counted from the creation of this value. Copies share the origin, so that other threads
/// read the same time.
///
/// Readings use the kernel's vDSO page. `rustix` finds the page itself, therefore this also works in a static
/// musl binary; no system call is made.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    origin_ns: u64,
}

impl MonotonicClock {
    /// A clock that starts at zero now.
    #[must_use]
    pub fn new() -> Self {
        Self {
            origin_ns: since_boot_ns(),
        }
    }
}

impl Default for MonotonicClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for MonotonicClock {
    #[inline]
    fn now_ns(&mut self) -> u64 {
        since_boot_ns().wrapping_sub(self.origin_ns)
    }

    fn rest(&mut self, span_ns: u64) {
        std::thread::sleep(Duration::from_nanos(span_ns));
    }
}

/// Nanoseconds since boot; never negative, so that the casts keep the value.
#[inline]
pub(crate) fn since_boot_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    (now.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(now.tv_nsec as u64)
}
