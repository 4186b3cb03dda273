//! Constants that affect numbers, for the methodology.

use cardmark_core::constants;

use crate::drive::watch;
use crate::jobs::integrity;
use crate::jobs::measure::{describing, opening};

constants! {
    "crates/program/session/src/"
    opening "jobs/measure/opening.rs" { RESERVE_BYTES "bytes", }
    describing "jobs/measure/describing.rs" { STEP.as_secs() "s", }
    watch "drive/watch.rs" { LOOK.as_millis() "ms", LONGEST_LOOK.as_secs() "s", SECOND_CALL.as_secs() "s", }
    integrity "jobs/integrity.rs" { DEMO_SEED "seed", }
}
