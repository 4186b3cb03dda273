//! Constants that affect numbers, for the methodology.

use cardmark_core::constants;

use crate::{block, look, sensors};

constants! {
    "crates/measure/host/src/"
    block "block.rs" { SECTOR_BYTES "bytes", }
    look "look.rs" { WRAP_BYTES "bytes", }
    sensors "sensors.rs" { PERIOD.as_secs() "s", MOST_SAMPLES "readings", }
}
