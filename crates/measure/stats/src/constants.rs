//! Constants that affect numbers, for the methodology.

use cardmark_core::constants;

use crate::comparison::history;
use crate::course;
use crate::course::{
    cliff, clusters, during, rate_interval, reached, settle, steady, stops, within_trials,
};
use crate::derivation::{derive, growing, noticed, parts, windows};
use crate::estimate;
use crate::estimate::{buckets, distribution, percentile, poisson, serial, shift};

constants! {
    "crates/measure/stats/src/"
    during "course/during.rs" {
        SENSOR_REACH_NS "ns", MERGED_APART_NS "ns", STOLEN_RATIO "ratio", MOST_MESSAGES "messages",
    }
    reached "course/reached.rs" {
        REACHED_LOW_RATIO "ratio", REACHED_HIGH_RATIO "ratio", FLUSH_RATIO "ratio", PAYLOAD_FACTOR "times",
    }
    windows "derivation/windows.rs" { LEAST_SLOWEST "windows", SCALES "scales", }
    estimate "estimate.rs" { LEVEL "share", SHOWN_LEVEL "share", LEAST_TRIALS "trials", }
    derive "derivation/derive.rs" { BYTE_RATE_BLOCK_BYTES "bytes", }
    distribution "estimate/distribution.rs" { EXPANSION_FROM "degrees", }
    buckets "estimate/buckets.rs" { STEP_BITS "bits", STEPS "steps", TOP_BITS "bits", BUCKETS "buckets", }
    percentile "estimate/percentile.rs" { LEAST_BEYOND "operations", }
    steady "course/steady.rs" { WINDOW_ROUNDS "rounds", WINDOW_RANGE_RATIO "ratio", WINDOW_SLOPE_RATIO "ratio", }
    course "course.rs" { ROUND_RATIO "ratio", LEAST_BEFORE "slices", }
    cliff "course/cliff.rs" { CLIFF_RATIO "ratio", CLIFF_SHARPNESS_RATIO "ratio", PLACE_SQUARES "variances", }
    history "comparison/history.rs" {
        LEAST_DAYS "days", MOST_DAYS "days", DAY_HOURS "hours", LEAST_CHANGE "logarithm",
        STRAIGHT_CHANGE "logarithm", STRAIGHT_RATIO "ratio", SEASON_DAYS "days", PARTS "parts",
        YEAR_DAYS "days",
    }
    settle "course/settle.rs" {
        LEAST_SETTLE_TRIALS "trials", LEAST_SIDE "trials", SETTLE_CHANGE_RATIO "ratio", TEST_LEVEL "share",
        ALLOWED_CORRELATION "correlation",
    }
    within_trials "course/within_trials.rs" { BATCHES "batches", LEAST_BATCH_NS "ns", LEAST_OPERATIONS "operations", }
    shift "estimate/shift.rs" {
        LEAST_SHIFT "logarithm", WALK_CHANGE "logarithm", LEAST_BEFORE "days", LEAST_AFTER "days",
        LEVEL_DAYS "days", NEAR_DAYS "days", SPREADS "spreads", ASSUMED_SPREAD "logarithm",
        ASSUMED_DAYS "days", EXCEPTION_DAYS "days", ALIKE_RATIO "ratio", JUMP_RATIO "ratio",
        LEAST_BEFORE_JUMP "days",
    }
    serial "estimate/serial.rs" { STEP_CORRELATION "correlation", STEP_DAYS "days", }
    clusters "course/clusters.rs" { LEAST_CLUSTER_NS "ns", STALL_NS "ns", }
    parts "derivation/parts.rs" { LONGEST_STALL_NS "ns", }
    noticed "derivation/noticed.rs" {
        LEAST_SYNC_RATE "1/s", REFERENCE_RATIO "ratio", SMALL_MAP_RATIO "ratio", SYNC_EQUAL_RATIO "ratio",
        TRANSITION_RATIO "ratio",
    }
    poisson "estimate/poisson.rs" { SIDE "share", MOST_TERMS "terms", PRECISION "ratio", }
    rate_interval "course/rate_interval.rs" { EQUAL_RATIO "ratio", }
    stops "course/stops.rs" {
        NOTABLE_STOP_NS "ns", NOTABLE_STOPS_COUNT "stops", JOINED_NS "ns", ONE_SIDED_RATIO "ratio",
    }
    growing "derivation/growing.rs" {
        GROWTH_QUANTILE "deviations", LEAST_GROWTH "share", PIECE_NS "ns", RECENT_NS "ns",
    }
}
