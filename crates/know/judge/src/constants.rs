//! Constants that affect numbers, for the methodology.

use cardmark_core::constants;

use crate::watch::{rules, written};
use crate::{answer, classes, classes::host, elsewhere, fleet, fleet::groups, recommendation::met};

constants! {
    "crates/know/judge/src/"
    answer "answer.rs" { NEAR_RATIO "ratio", }
    classes "classes.rs" { RUN_RATIO "ratio", BINARY_RATIO "ratio", SDHC_MOST_BYTES "bytes", }
    host "classes/host.rs" { LINK_BITS_PER_BYTE "bits", LINES_COUNT "lines", }
    elsewhere "elsewhere.rs" { FASTER_RATIO "ratio", CEILING_RATIO "ratio", LEAST_PRODUCTS "products", }
    fleet "fleet.rs" { SILENT_DAYS "days", }
    groups "fleet/groups.rs" { LEAST_BOARDS "boards", }
    met "recommendation/met.rs" { LEAST_OF_ESTIMATE "ratio", BOARD_TIME_US "µs", }
    rules "watch/rules.rs" { RATED_LIFE_PERCENT "percent", }
    written "watch/written.rs" { MOST_DAYS "days", RATE_DAYS "days", LONGEST_S "s", }
}
