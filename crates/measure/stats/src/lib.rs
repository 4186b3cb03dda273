//! Histogram, quantiles, intervals, stopping rule, and the calculation of all figures.
//!
//! Pure: this crate reads no clock, file, environment or random source. Transcendental functions come from
//! `libm`, so that the same record results in the same bytes on every platform.

mod accounting;
mod again;
mod agreement;
mod buckets;
mod cliff;
mod clusters;
mod compare;
mod constants;
mod countable;
mod course;
mod course_figures;
mod course_findings;
mod derive;
mod distribution;
mod during;
mod figures;
mod growing;
mod histogram;
mod history;
mod holm;
mod interval;
mod lasting;
mod median;
mod metrics;
mod needed;
mod noticed;
mod outcome;
mod outlying;
mod parts;
mod percentile;
mod periods;
mod poisson;
mod print;
mod ranking;
mod rate;
mod reached;
mod refill;
mod refresh;
mod serial;
mod settle;
mod shift;
mod sides;
mod slices;
mod stall_rates;
mod steady;
mod stops;
mod stored;
mod stretches;
mod ties;
mod windows;
mod within;
mod written_part;

pub use accounting::{Accounts, Discrepancy, DiscrepancyKind, accounts, discrepancies};
pub use again::{Again, AgainBasis, LEAST_OWN_RUNS, again, again_with_stalls};
pub use agreement::{AGREEMENT_OVERLAP, AGREEMENT_POINT, Agreement, AgreementRow};
pub use clusters::{LEAST_CLUSTER_NS, STALL_NS};
pub use compare::{Basis, Claim, Difference, claim_of, compare, compare_with_stalls, joint_rate};
pub use constants::CONSTANTS;
pub use course::{has_settled, is_settled};
pub use derive::{derive, is_good};
pub use distribution::student_t;
pub use histogram::Histogram;
pub use history::{
    HistoryRun, LEAST_CHANGE, LEAST_DAYS, RateHistory, RateTrend, STRAIGHT_RATIO, rate_trends,
};
pub use interval::{Interval, RateEstimate, rate_point};
pub use median::{median, median_interval, median_ranks};
pub use needed::runs_needed;
pub use noticed::{
    LEAST_SYNC_RATE, REFERENCE_RATIO, SMALL_MAP_RATIO, SYNC_EQUAL_RATIO, TRANSITION_RATIO,
};
pub use outcome::{COMPARISON_LEVEL, Conclusion, SAME_RATIO};
pub use parts::LONGEST_STALL_NS;
pub use percentile::{LEAST_BEYOND, PercentileEstimate, merged_histogram, percentile_interval};
pub use poisson::{poisson_bounds, weighted_bounds};
pub use print::{Amount, print};
pub use ranking::{Candidate, RankSpread, RankingRow, rank};
pub use rate::{is_equal, is_precise, rate_interval};
pub use refill::{has_fallen_back, refill_limits};
pub use refresh::{refresh, refresh_with};
pub use serial::STEP_CORRELATION;
pub use settle::{LEAST_SETTLE_TRIALS, SETTLE_CHANGE_RATIO, Trend, TrendShape, trend};
pub use shift::{LEAST_AFTER, LEAST_BEFORE, LEAST_SHIFT, Shift, WALK_CHANGE};
pub use sides::{
    KnownPairs, KnownSpread, Observation, Pair, Products, Samples, cards_count, observation, pairs,
    stall_pairs,
};
pub use stall_rates::{StallDifference, StallPair, StallRun};
pub use steady::settle_round_ns;
pub use stops::{NOTABLE_STOP_NS, NOTABLE_STOPS_COUNT, Stopping, Stops, stops};
pub use ties::{KnownDeviation, KnownElsewhere, Order, Place, Ranked, possible_places};

/// Level of all computed intervals. A run looks at its intervals up to three times (`Suite::looks`), and the
/// first one that is narrow enough ends the measurement, which favours intervals that are narrow by chance.
/// 96 % at each look leaves about 95 % for the final interval (ADR 0001). With looks at 6, 12 and 24 normal
/// trials and a goal of 3 % it is 94.1 % in the worst case, where trials differ by 5 %, and up to 96.1 %
/// elsewhere (50,000 simulated runs each; the tests repeat it at a smaller scale).
pub const LEVEL: f64 = 0.96;

/// Level as which ranges are displayed.
pub const SHOWN_LEVEL: f64 = 0.95;

/// Minimum number of whole trials for an interval from the differences between trials.
pub const LEAST_TRIALS: usize = 3;
