//! Verdicts and findings: pure functions of a record, the rules of its suite and the catalogue.
//!
//! The verdicts of the old tools (the marks of Raspberry Pi Diagnostics, the score of PiBenchmarks) use
//! figures *as printed*, because the tools do so. The verdict on a card's registers is only a hint.

mod advice;
mod again;
mod agreement;
mod among;
mod answer;
mod attention;
mod avoid;
mod camera;
mod claims;
mod classes;
mod comparison;
mod constants;
mod counted;
mod durable;
mod elsewhere;
mod endurance;
mod faults;
mod field;
mod fleet;
mod history;
mod labels;
mod marks;
mod notice;
mod price;
mod promises;
mod published;
mod recommendation;
mod registers;
mod roles;
mod score;
mod spread;
mod suitability;
mod unknown;
mod watch;

use cardmark_core::{Derived, Record, Suite};

pub use advice::advise;
pub use again::{can_derive_again, derive_again, derive_again_with, unstated, with_claims};
pub use agreement::disagreements;
pub use among::{Among, standing_among};
pub use answer::{Answer, Limit, System, UNEVEN_RATIO, answer, is_uneven};
pub use attention::{
    Advice, Attention, CardRuns, Ground, NamedBy, Outlier, Reason, Shortfall, attention, cards_of,
};
pub use avoid::{AvoidQuestion, AvoidReason, EARLY_FILLINGS, Warned, avoid};
pub use camera::{CameraBasis, CameraRate};
pub use claims::{suites_for, untested_claims};
pub use classes::{ClassFigure, class_figures, families};
pub use comparison::{
    CommonPlace, Compared, Counts, KeyRates, NotComparable, Queues, RateContrast, RateVerdict,
    common_places, compare_in, compare_sides, key_rates, outcome_of,
};
pub use constants::CONSTANTS;
pub use counted::{is_too_uneven, of_no_card, product_contradiction, stated_product, unidentified};
pub use durable::{
    DASH_CAM_BYTES_PER_S, Durable, DurableQuestion, Promised, StatedPair, VIDEO_BITS_PER_S,
    durable, stated_pair, stated_volume,
};
pub use elsewhere::BoardLimit;
pub use endurance::{Tested, endured, tested_by_others, tested_pair};
pub use faults::{Fault, faults};
pub use field::{
    Field, FieldFilter, Order, Ranking, in_catalogue, order_of, ordered_metrics, ranked_metrics,
};
pub use fleet::{Fleet, FleetBoard, FleetGroup, LEAST_BOARDS, MovedCard, Need, SILENT_DAYS, fleet};
pub use history::{
    HistoryGroup, add_reference_reads, are_of_several_cards, by_card, history, repeats_of,
    sort_by_start, started_at_s, unreadable_start,
};
pub use labels::REQUIRED_LABEL;
pub use notice::notice;
pub use price::Price;
pub use promises::{Promise, SmallerThanClaimed, smaller_than_claimed};
pub use published::{PublishedPlace, PublishedRanking, published_rankings};
pub use recommendation::{
    AskedBoard, Band, Basis, Beside, BestValue, Candidate, Choice, Day, Figure, Grade, Lack,
    LeftOut, Met, Question, Sold, SoldLine, Tier, Wish, metrics_of_use, published_figures,
    recommend, tier,
};
pub use roles::{LONG_SERIES_RATIO, ROLES, Role, at_once, queue_depth, role_of};
pub use spread::{known_elsewhere, known_spread, measured_again};
pub use suitability::{
    Fit, SCORE_VERSION, Suitability, Supply, asked as asked_rate, comfortable, suitability,
};
pub use unknown::{UnknownStorage, storage_kind, unknown_storage, upheld};
pub use watch::writers::{ProgramWrites, WritersTally, Writing};
pub use watch::{
    DayBytes, Event, EventKind, Gravity, Identity, KEPT_VERSION, Kept, KeptDisk, LOOK_FORMAT,
    LastDisk, LastLook, Moment, Seen, acknowledge, bytes_per_day, last_look, seen,
};

/// Version of the judge; increased whenever verdicts may change.
pub const JUDGE_VERSION: u32 = 4;

/// Returns the verdicts from a suite's rules, if there is one, and from the registers; `None` if there are
/// none.
pub fn judge(record: &Record, suite: Option<&Suite>) -> Option<Derived> {
    let by_suite = suite
        .into_iter()
        .flat_map(|suite| [marks::verdict(record, suite), score::verdict(record, suite)]);
    let by_registers = record
        .devices
        .iter()
        .map(|device| registers::verdict(record, device));
    let on_classes = suite.map_or_else(Vec::new, |suite| classes::verdicts(record, suite));
    let deviations = match (suite, on_classes.is_empty()) {
        (Some(suite), false) => classes::deviations(record, suite),
        _ => Vec::new(),
    };
    let others = by_suite.chain(by_registers).flatten();
    let on_promises = promises::verdicts(record);
    let mut verdicts: Vec<_> = on_classes
        .into_iter()
        .chain(on_promises)
        .chain(others)
        .collect();
    if let Some(unknown) = unknown_storage(record) {
        unknown::withhold(&mut verdicts, &unknown);
    }
    (!verdicts.is_empty()).then_some(Derived {
        judge_version: JUDGE_VERSION,
        verdicts,
        deviations,
    })
}
