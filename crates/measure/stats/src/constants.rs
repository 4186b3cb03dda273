//! Constants that affect numbers, for the methodology.

use cardmark_core::constants;

use crate as root;
use crate::{
    buckets, cliff, clusters, course, derive, distribution, during, growing, history, noticed,
    parts, percentile, poisson, rate, reached, serial, settle, shift, steady, stops, windows,
    within,
};

constants! {
    "crates/measure/stats/src/"
    during "during.rs" {
        SENSOR_REACH_NS "ns", MERGED_APART_NS "ns", STOLEN_RATIO "ratio", MOST_MESSAGES "messages",
    }
    reached "reached.rs" {
        REACHED_LOW_RATIO "ratio", REACHED_HIGH_RATIO "ratio", FLUSH_RATIO "ratio", PAYLOAD_FACTOR "times",
    }
    windows "windows.rs" { LEAST_SLOWEST "windows", SCALES "scales", }
    root "lib.rs" { LEVEL "share", SHOWN_LEVEL "share", LEAST_TRIALS "trials", }
    derive "derive.rs" { BYTE_RATE_BLOCK_BYTES "bytes", }
    distribution "distribution.rs" { EXPANSION_FROM "degrees", }
    buckets "buckets.rs" { STEP_BITS "bits", STEPS "steps", TOP_BITS "bits", BUCKETS "buckets", }
    percentile "percentile.rs" { LEAST_BEYOND "operations", }
    steady "steady.rs" { WINDOW_ROUNDS "rounds", WINDOW_RANGE_RATIO "ratio", WINDOW_SLOPE_RATIO "ratio", }
    course "course.rs" { ROUND_RATIO "ratio", LEAST_BEFORE "slices", }
    cliff "cliff.rs" { CLIFF_RATIO "ratio", CLIFF_SHARPNESS_RATIO "ratio", PLACE_SQUARES "variances", }
    history "history.rs" {
        LEAST_DAYS "days", MOST_DAYS "days", DAY_HOURS "hours", LEAST_CHANGE "logarithm",
        STRAIGHT_CHANGE "logarithm", STRAIGHT_RATIO "ratio", SEASON_DAYS "days", PARTS "parts",
        YEAR_DAYS "days",
    }
    settle "settle.rs" {
        LEAST_SETTLE_TRIALS "trials", LEAST_SIDE "trials", SETTLE_CHANGE_RATIO "ratio", TEST_LEVEL "share",
        ALLOWED_CORRELATION "correlation",
    }
    within "within.rs" { BATCHES "batches", LEAST_BATCH_NS "ns", LEAST_OPERATIONS "operations", }
    shift "shift.rs" {
        LEAST_SHIFT "logarithm", WALK_CHANGE "logarithm", LEAST_BEFORE "days", LEAST_AFTER "days",
        LEVEL_DAYS "days", NEAR_DAYS "days", SPREADS "spreads", ASSUMED_SPREAD "logarithm",
        ASSUMED_DAYS "days", EXCEPTION_DAYS "days", ALIKE_RATIO "ratio",
    }
    serial "serial.rs" { STEP_CORRELATION "correlation", STEP_DAYS "days", }
    clusters "clusters.rs" { LEAST_CLUSTER_NS "ns", STALL_NS "ns", }
    parts "parts.rs" { LONGEST_STALL_NS "ns", }
    noticed "noticed.rs" {
        LEAST_SYNC_RATE "1/s", REFERENCE_RATIO "ratio", SMALL_MAP_RATIO "ratio", SYNC_EQUAL_RATIO "ratio",
        TRANSITION_RATIO "ratio",
    }
    poisson "poisson.rs" { SIDE "share", MOST_TERMS "terms", PRECISION "ratio", }
    rate "rate.rs" { EQUAL_RATIO "ratio", }
    stops "stops.rs" {
        NOTABLE_STOP_NS "ns", NOTABLE_STOPS_COUNT "stops", JOINED_NS "ns", ONE_SIDED_RATIO "ratio",
    }
    growing "growing.rs" {
        GROWTH_QUANTILE "deviations", LEAST_GROWTH "share", PIECE_NS "ns", RECENT_NS "ns",
    }
}
