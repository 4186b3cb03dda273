//! Constants that affect numbers, for the methodology.

use crate::{payload, record, spread};

/// A constant that affects numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constant {
    /// Source file, from the root of the repository.
    pub place: &'static str,
    /// Name.
    pub name: &'static str,
    /// Value.
    pub value: f64,
    /// Unit.
    pub unit: &'static str,
}

/// Declares `CONSTANTS` of a crate: folder of its sources, then for each module file and constants with their units.
#[macro_export]
macro_rules! constants {
    ($folder:literal $($module:ident $file:literal { $($name:ident $(.$convert:ident())? $unit:literal,)+ })+) => {
        /// Constants that affect numbers; each has a row in the methodology.
        #[allow(clippy::cast_precision_loss, clippy::cast_lossless, clippy::unnecessary_cast, trivial_numeric_casts, reason = "of any type")]
        pub const CONSTANTS: &[$crate::Constant] = &[$($(
            $crate::Constant {
                place: concat!($folder, $file),
                name: stringify!($name),
                value: $module::$name$(.$convert())? as f64,
                unit: $unit,
            },
        )+)+];
    };
}

constants! {
    "crates/measure/core/src/"
    record "record.rs" { FORMAT "version", STATEMENT "version", METHOD "version", }
    payload "payload.rs" {
        IOZONE_BYTE "byte", IOZONE_BYTES_COUNT "bytes", PAYLOAD_POOL_BYTES "bytes",
        STAMP_STRIDE_BYTES "bytes",
    }
    spread "spread.rs" { SPREAD_PLACES_COUNT "places", }
}
