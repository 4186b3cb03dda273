//! Constants that affect numbers, for the methodology.

use cardmark_core::constants;

use crate::{flow, request, slices, tally, tiers, trial, wear, windows};

constants! {
    "crates/measure/engine/src/"
    flow "flow.rs" { PAUSE_LOOK_NS "ns", CACHED_PIECE_BYTES "bytes", }
    slices "slices.rs" { FIRST_SPAN_NS "ns", MOST_SLICES "slices", }
    tally "tally.rs" { ERRORS_KEPT "errors", }
    tiers "tiers.rs" { PAGE_BYTES "bytes", }
    request "request.rs" { SUB_UNIT_BYTES "bytes", }
    wear "wear.rs" {
        SUPPOSED_OPERATIONS_PER_S "1/s", NS_PER_BYTE "ns", GIB "bytes", READ_RATIO "ratio",
        CORRECTED_RATIO "ratio",
    }
    trial "trial.rs" { ERASE_LIMITS "limits", REST_PIECE_NS "ns", }
    windows "windows.rs" { SLOWEST_KEPT "windows", }
}
