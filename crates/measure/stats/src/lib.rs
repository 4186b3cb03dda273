//! Histogram, quantiles, intervals, stopping rule, and the calculation of all figures.
//!
//! Pure: this crate reads no clock, file, environment or random source. Transcendental functions come from
//! `libm`, so that the same record results in the same bytes on every platform.

mod comparison;
mod constants;
mod course;
mod derivation;
mod estimate;

pub use comparison::again::{Again, AgainBasis, LEAST_OWN_RUNS, again, again_with_stalls};
pub use comparison::agreement::{AGREEMENT_OVERLAP, AGREEMENT_POINT, Agreement, AgreementRow};
pub use comparison::compare::{
    Basis, Claim, Difference, claim_of, compare, compare_with_stalls, joint_rate,
};
pub use comparison::history::{
    HistoryRun, LEAST_CHANGE, LEAST_DAYS, RateHistory, RateTrend, STRAIGHT_RATIO, rate_trends,
};
pub use comparison::ranking::{Candidate, RankSpread, RankingRow, rank};
pub use comparison::sides::{
    KnownPairs, KnownSpread, Observation, Pair, Products, Samples, cards_count, pairs, stall_pairs,
    stalled_ratio, whole_rate,
};
pub use comparison::stall_rates::{StallDifference, StallPair, StallRun};
pub use comparison::ties::{KnownDeviation, KnownElsewhere, Order, Place, Ranked, possible_places};
pub use constants::CONSTANTS;
pub use course::clusters::{LEAST_CLUSTER_NS, STALL_NS};
pub use course::rate_interval::{is_equal, is_precise, rate_interval};
pub use course::refill::{has_fallen_back, refill_limits};
pub use course::settle::{LEAST_SETTLE_TRIALS, SETTLE_CHANGE_RATIO, Trend, TrendShape, trend};
pub use course::steady::settle_round_ns;
pub use course::stops::{NOTABLE_STOP_NS, NOTABLE_STOPS_COUNT, Stopping, Stops, stops};
pub use course::{has_settled, is_settled};
pub use derivation::accounting::{Accounts, Discrepancy, DiscrepancyKind, accounts, discrepancies};
pub use derivation::derive::{derive, is_good};
pub use derivation::noticed::{
    LEAST_SYNC_RATE, REFERENCE_RATIO, SMALL_MAP_RATIO, SYNC_EQUAL_RATIO, TRANSITION_RATIO,
};
pub use derivation::parts::LONGEST_STALL_NS;
pub use derivation::print::{Amount, print};
pub use derivation::refresh::{refresh, refresh_with};
pub use estimate::distribution::student_t;
pub use estimate::histogram::Histogram;
pub use estimate::interval::{Interval, RateEstimate, rate_point};
pub use estimate::median::{median, median_interval, median_ranks};
pub use estimate::needed::runs_needed;
pub use estimate::outcome::{COMPARISON_LEVEL, Conclusion, SAME_RATIO};
pub use estimate::percentile::{
    LEAST_BEYOND, PercentileEstimate, merged_histogram, percentile_interval,
};
pub use estimate::poisson::{poisson_bounds, weighted_bounds};
pub use estimate::serial::STEP_CORRELATION;
pub use estimate::shift::{LEAST_AFTER, LEAST_BEFORE, LEAST_SHIFT, Seen, Shift, WALK_CHANGE};
pub use estimate::{LEAST_TRIALS, LEVEL, SHOWN_LEVEL};
