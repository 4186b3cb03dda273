//! Constants that affect numbers, for the methodology.

use cardmark_core::constants;

use crate::{backend, buffer, payload};

constants! {
    "crates/measure/device/src/"
    buffer "buffer.rs" { LEAST_ALIGNMENT_BYTES "bytes", }
    payload "payload.rs" {
        RATE_BLOCK_BYTES "bytes", RATE_SPAN.as_millis() "ms", RATE_WINDOWS "windows", PAGE_BITS "bits",
    }
    backend "backend.rs" { BUFFERED_FLUSH_BYTES "bytes", BUFFERED_FLUSH_OPERATIONS "operations", }
}
