//! The present time.

use jiff::Timestamp;

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// Number of the present minute: what is kept for a minute is as old as what caches may keep.
pub(crate) fn this_minute() -> i64 {
    now_ms() / 60_000
}
