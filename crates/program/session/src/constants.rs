//! Constants that affect numbers, for the methodology.

use cardmark_core::constants;

use crate::{integrity, measure::describing, measure::opening, watch};

constants! {
    "crates/program/session/src/"
    opening "measure/opening.rs" { RESERVE_BYTES "bytes", }
    describing "measure/describing.rs" { STEP.as_secs() "s", }
    watch "watch.rs" { LOOK.as_millis() "ms", LONGEST_LOOK.as_secs() "s", SECOND_CALL.as_secs() "s", }
    integrity "integrity.rs" { DEMO_SEED "seed", }
}
