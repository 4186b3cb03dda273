//! The meaning of one run, before its figures: what it is good for, and what limits it.

use cardmark_catalog::{Requirement, Use, use_of, uses};
use cardmark_core::{FindingKind, Metric, OriginKind, Quantity, ReadBack, Record, Severity, Trial};
use cardmark_stats::{Stops, stops};

use crate::camera::{CAMERA, CameraRate, camera};
use crate::elsewhere::{BoardLimit, board_limit};
use crate::roles::LONG_SERIES_RATIO;
use crate::suitability::{
    Fit, Suitability, Supply, asked, comfortable, fit, metric_of, nearest_to_class, need_of,
    suitability,
};
use crate::unknown::{UnknownStorage, unknown_storage};

/// Half width of an interval, relative to its middle, from which a rate is too uneven to compare.
pub const UNEVEN_RATIO: f64 = 0.15;
/// Share of the rate that is asked for from which storage is about fast enough.
pub(crate) const NEAR_RATIO: f64 = 0.9;
/// Use that the answer begins with, unless the label [`USE`] names another one.
const SYSTEM: &str = "boot";
/// Label with the use of a card.
const USE: &str = "use";
/// Random writes in short trials, and in one long series.
const RANDOM_WRITES: [&str; 2] = ["rand_write_4k", "rand_write_4k_long"];
/// Sequential reads.
const SEQUENTIAL_READS: &str = "seq_read_1m";
/// Failures of a device, the gravest first.
const FAILURES: [FindingKind; 3] = [
    FindingKind::Vanished,
    FindingKind::NoAnswer,
    FindingKind::IoError,
];

/// The answer that one run gives to the owner of the storage.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// True if synced writes were as fast as others: the device may confirm writes before it has stored them.
    pub may_confirm_early: bool,
    /// The use on the label of the run, or else running an operating system.
    pub wanted: &'static Use,
    /// Suitability for that use; absent if none of its rates was measured.
    pub system: Option<System>,
    /// Stops that a person notices; absent if there were none worth a sentence.
    pub stops: Option<Stops>,
    /// Random writes per second in one long series, if they are much slower than those in short trials.
    pub long_series_per_s: Option<f64>,
    /// Sequential writes that a camera can rely on.
    pub camera: Option<CameraRate>,
    /// How far a long series of writes got, as a sentence without full stop.
    pub written_part: Option<String>,
    /// Time for reading all of the storage in sequence, seconds; absent if its size or its rate is not known.
    pub read_all_s: Option<f64>,
    /// Titles of other uses for which it is fast enough.
    pub fine: Vec<String>,
    /// Titles of other uses for which it is slow, but usable.
    pub usable: Vec<String>,
    /// Read-back of the data written by the run.
    pub read_back: Option<ReadBack>,
    /// True if this program measured it, so that it could have tested more.
    pub is_own: bool,
}

/// Suitability for running an operating system, or another use.
#[derive(Clone, Debug, PartialEq)]
pub enum System {
    /// It does not keep data, so that speed is irrelevant.
    LosesData(ReadBack),
    /// It failed during the run.
    Fails(FindingKind),
    /// The device below the target is not known: no figure is one of a device.
    Unknown(UnknownStorage),
    /// Degree of suitability, and the rate that limits it.
    Rated(Fit, Limit),
    /// Every rate reaches the class that is asked for, and this one exceeds it by less than 60 %.
    MeetsClass(Limit),
    /// The limiting rate is up to 10 % below the rate that is asked for, or above it with an interval that includes it.
    Border(Limit),
    /// The interval of the limiting rate includes the rate that is asked for, and is too wide for an answer.
    Uneven(Limit),
    /// A finding voids rates: its name, and the operations.
    Voided(String, Vec<String>),
    /// These operations were not measured; the others are fast enough.
    NotMeasured(Vec<String>),
}

/// The rate that limits a use.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The operations in plain words, such as `random writes`.
    pub plain: String,
    /// Quantity of the rates.
    pub quantity: Quantity,
    /// The measured rate.
    pub value: f64,
    /// The sufficient rate.
    pub enough: f64,
    /// A class and the rate that it promises.
    pub class: Option<(String, f64)>,
    /// Half of the interval's width, relative to its middle; absent without an interval.
    pub half_width_ratio: Option<f64>,
    /// Kinds of findings that limit trust in it.
    pub warnings: Vec<String>,
    /// Reason to hold the board for the limit, and not the storage.
    pub board: Option<BoardLimit>,
}

impl Limit {
    /// Returns whether the rate is too uneven for its digits to mean much.
    pub fn is_rough(&self) -> bool {
        self.half_width_ratio.is_some_and(is_uneven)
    }
}

/// Returns whether an interval of this half width, relative to its middle, is too wide to compare the rate.
pub fn is_uneven(half_width_ratio: f64) -> bool {
    half_width_ratio >= UNEVEN_RATIO
}

/// Returns the answer of a run; `None` if it has no rate that a use needs, or a verdict of its own.
pub fn answer(record: &Record) -> Option<Answer> {
    if has_verdict(record) {
        return None;
    }
    let wanted = labelled_use(record).or_else(|| use_of(SYSTEM))?;
    let usable_metrics = usable_metrics(record);
    let mut findings = record.findings.iter();
    let mut answer = Answer {
        may_confirm_early: findings.any(|finding| finding.kind == FindingKind::SyncNotSlower),
        wanted,
        system: system_of(record, wanted),
        stops: stops_of(record, unknown_storage(record).is_none()),
        long_series_per_s: long_series(&usable_metrics),
        camera: camera(record, &usable_metrics),
        written_part: written_part(record),
        read_all_s: read_all_s(record, &usable_metrics),
        fine: Vec::new(),
        usable: Vec::new(),
        read_back: record.read_back,
        is_own: matches!(
            record.origin.kind,
            OriginKind::Measured | OriginKind::Simulated
        ),
    };
    for (other, found) in others(&usable_metrics, wanted) {
        match found.fit {
            Fit::Enough | Fit::Good | Fit::Ample => answer.fine.push(other.title.clone()),
            Fit::Slow => answer.usable.push(other.title.clone()),
            Fit::Poor => {}
        }
    }
    let is_empty = answer.fine.is_empty() && answer.usable.is_empty();
    let has_long_write = answer.camera.is_some() || answer.written_part.is_some();
    let says_nothing = answer.system.is_none() && !has_long_write && is_empty;
    (!says_nothing).then_some(answer)
}

/// Returns the use on the label of a run; `None` without one, or if no use has this name.
pub(crate) fn labelled_use(record: &Record) -> Option<&'static Use> {
    use_of(record.labels.get(USE)?)
}

/// Returns the suitability of the storage of a run for a use; `None` if none of its rates was measured, or the record has a
/// verdict of its own.
pub(crate) fn system_of(record: &Record, wanted: &Use) -> Option<System> {
    if has_verdict(record) {
        return None;
    }
    let lost = record.read_back.filter(|read| read.lost_bytes > 0);
    match (lost, failure(record), unknown_storage(record)) {
        (Some(lost), ..) => Some(System::LosesData(lost)),
        (None, Some(kind), _) => Some(System::Fails(kind)),
        (None, None, Some(unknown)) => Some(System::Unknown(unknown)),
        (None, None, None) => system(record, &usable_metrics(record), wanted),
    }
}

/// Returns whether the record is of a test with a verdict of its own.
fn has_verdict(record: &Record) -> bool {
    record.integrity.is_some() || record.anatomy.is_some()
}

/// The metrics that answer for the storage; none if the device is not known.
fn usable_metrics(record: &Record) -> Vec<Metric> {
    let is_known = unknown_storage(record).is_none();
    let known = record.metrics.iter().filter(|_| is_known);
    known.filter(is_usable).cloned().collect()
}

/// Time for reading the whole device at its sequential rate, seconds.
fn read_all_s(record: &Record, metrics: &[Metric]) -> Option<f64> {
    let [device] = record.devices.as_slice() else {
        return None;
    };
    let rate = metric_of(metrics, SEQUENTIAL_READS)?;
    let rate = (rate.quantity == Quantity::ByteRate && rate.value > 0.0).then_some(rate.value)?;
    Some(device.size_bytes? as f64 / rate)
}

/// How far a long series of writes got, unless its figures are void.
fn written_part(record: &Record) -> Option<String> {
    let mut findings = record.findings.iter();
    let found = findings.find(|finding| finding.kind == FindingKind::WrittenPart)?;
    let is_void = record.metrics.iter().any(|it| it.voided_by().is_some());
    (!is_void).then(|| found.detail.clone())
}

/// Returns the stops of the whole trials of rates that have parts: those of runs in rounds. `None` if the device is
/// not known. A workload without a rate, such as the reference reads, counts; one whose rate is void does not.
fn stops_of(record: &Record, is_known: bool) -> Option<Stops> {
    let has_parts = record.metrics.iter().any(|metric| metric.parts.is_some());
    let answers = |trial: &&Trial| {
        let metric = record.metric(&trial.workload.id);
        trial.is_whole() && metric.is_none_or(|metric| metric.voided_by().is_none())
    };
    let trials: Vec<&Trial> = record.trials.iter().filter(answers).collect();
    (has_parts && is_known).then(|| stops(&trials))?
}

/// Returns the gravest failure of the device during the run.
fn failure(record: &Record) -> Option<FindingKind> {
    let is_there = |kind: &FindingKind| {
        let mut findings = record.findings.iter();
        findings.any(|finding| finding.kind == *kind && finding.severity == Severity::Error)
    };
    FAILURES.into_iter().find(is_there)
}

/// A rate answers for the storage: nothing else answered, and synced writes waited for the storage.
fn is_usable(metric: &&Metric) -> bool {
    let unsynced = FindingKind::SyncNotSlower.name();
    metric.voided_by().is_none() && !metric.warnings.contains(&unsynced)
}

/// Uses without a statement of their own whose rates are all known.
fn others(metrics: &[Metric], wanted: &Use) -> impl Iterator<Item = (&'static Use, Suitability)> {
    let told = [wanted.id.clone(), CAMERA.to_owned()];
    uses()
        .iter()
        .filter(move |other| !other.for_buyers && !told.contains(&other.id))
        .filter_map(move |other| Some((other, suitability(metrics, other)?)))
        .filter(|(_, found)| found.unknown.is_empty())
}

fn system(record: &Record, metrics: &[Metric], wanted: &Use) -> Option<System> {
    let found = suitability(metrics, wanted);
    // A rate that is too low decides, whatever the others are.
    if let Some(found) = &found
        && (scarcest(wanted, found).is_some() || found.unknown.is_empty())
    {
        return rated(record, metrics, wanted, found);
    }
    let is_missing = |need: &&Requirement| !has_one_of(metrics, need);
    let missing = wanted.needs.iter().filter(is_missing);
    let (voided, absent): (Vec<&Requirement>, Vec<&Requirement>) =
        missing.partition(|need| has_one_of(&record.metrics, need));
    let words = |needs: &[&Requirement]| needs.iter().map(|need| need.plain.clone()).collect();
    let by = voided.iter().find_map(|need| voiding(record, need));
    match by {
        Some(by) => Some(System::Voided(by, words(&voided))),
        None => found.map(|_| System::NotMeasured(words(&absent))),
    }
}

fn has_one_of(metrics: &[Metric], need: &Requirement) -> bool {
    need.metrics
        .iter()
        .any(|id| metric_of(metrics, id).is_some())
}

/// Returns the finding that voids the rate of a need.
fn voiding(record: &Record, need: &Requirement) -> Option<String> {
    let mut metrics = need.metrics.iter().filter_map(|id| record.metric(id));
    metrics.find_map(|metric| Some(metric.voided_by()?.to_owned()))
}

/// Returns the smallest share of the sufficient rate among the rates below what is asked.
fn scarcest<'a>(wanted: &Use, found: &'a Suitability) -> Option<&'a Supply> {
    let is_below = |supply: &&Supply| {
        let need = need_of(wanted, supply);
        need.is_some_and(|need| supply.value < asked(need))
    };
    let below = found.supplies.iter().filter(is_below);
    below.min_by(|a, b| a.share().total_cmp(&b.share()))
}

fn rated(record: &Record, metrics: &[Metric], wanted: &Use, found: &Suitability) -> Option<System> {
    let below = scarcest(wanted, found);
    let near = nearest_to_class(wanted, &found.supplies);
    let limiting = below.or(near).unwrap_or(&found.limiting);
    let need = need_of(wanted, limiting)?;
    let metric = metric_of(metrics, &limiting.metric)?;
    let is_good = below.is_none() && near.is_none();
    let limit = Limit {
        plain: need.plain.clone(),
        quantity: limiting.quantity,
        value: limiting.value,
        enough: comfortable(need),
        class: need.class.clone().map(|class| (class, need.reference)),
        half_width_ratio: metric.half_width_ratio(),
        warnings: metric.warnings.clone(),
        board: (!is_good)
            .then(|| board_limit(record, need, limiting.value))
            .flatten(),
    };
    let half_width = limit.half_width_ratio.unwrap_or(0.0) * limit.value;
    let asked = asked(need);
    let is_border = (limit.value - asked).abs() < half_width;
    Some(match limit.value {
        _ if is_border && limit.is_rough() => System::Uneven(limit),
        value if is_near(value, asked) || value >= asked && is_border => System::Border(limit),
        _ if below.is_none() && near.is_some() => System::MeetsClass(limit),
        _ => System::Rated(fit(limiting.share()), limit),
    })
}

/// Returns whether a rate is a little less than what is asked for. One shortfall has one word, however even the rate is.
pub(crate) fn is_near(value: f64, asked: f64) -> bool {
    (NEAR_RATIO * asked..asked).contains(&value)
}

/// The rate of a long series of random writes that is much lower than in short trials, such as behind a cache.
fn long_series(metrics: &[Metric]) -> Option<f64> {
    let [short, long] = RANDOM_WRITES.map(|id| {
        metric_of(metrics, id).filter(|metric| metric.quantity == Quantity::OperationRate)
    });
    let (short, long) = (short?.value, long?.value);
    (long < LONG_SERIES_RATIO * short).then_some(long)
}

#[cfg(test)]
mod tests {
    use cardmark_core::{
        Estimate, Finding, IntervalKind, Origin, RateParts, SuiteRef, run_id_from_bytes,
        simulated_run_id,
    };

    use super::*;
    use crate::camera::CameraBasis;

    /// A run with these rates: id, value, half width of the interval.
    fn run(rates: &[(&str, f64, f64)]) -> Record {
        let origin = Origin::of(OriginKind::Measured);
        let mut record = Record::new(run_id_from_bytes([1; 16]), origin);
        record.metrics = rates.iter().map(|rate| metric(*rate)).collect();
        record
    }

    fn metric((id, value, half_width): (&str, f64, f64)) -> Metric {
        let quantity = match value {
            1e6.. => Quantity::ByteRate,
            _ => Quantity::OperationRate,
        };
        let mut metric = Metric::new(id, quantity, value);
        metric.interval_kind = IntervalKind::BetweenRounds;
        metric.low = Some(value * (1.0 - half_width));
        metric.high = Some(value * (1.0 + half_width));
        metric
    }

    /// A class 10 card as published: Kingston C10 16 GB.
    const SLOW: [(&str, f64, f64); 4] = [
        ("seq_write_1m", 9.0e6, 0.02),
        ("seq_read_1m", 20.8e6, 0.01),
        ("rand_read_4k", 1404.0, 0.01),
        ("rand_write_4k", 49.0, 0.03),
    ];
    /// A card of class A1.
    const GOOD: [(&str, f64, f64); 6] = [
        ("seq_write_1m", 32.3e6, 0.01),
        ("seq_read_1m", 89.0e6, 0.01),
        ("rand_read_4k", 2617.0, 0.01),
        ("rand_write_4k", 910.0, 0.01),
        ("sync_write_4k", 335.0, 0.02),
        ("mixed_4k", 1044.0, 0.01),
    ];

    fn limit_of(record: &Record) -> (Option<Fit>, Limit) {
        match answer(record).unwrap().system.unwrap() {
            System::Rated(fit, limit) => (Some(fit), limit),
            System::MeetsClass(limit) | System::Border(limit) | System::Uneven(limit) => {
                (None, limit)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_slow_card_is_limited_by_its_random_writes() {
        let record = run(&SLOW);
        let (fit, limit) = limit_of(&record);
        assert_eq!(fit, Some(Fit::Poor));
        assert_eq!(
            (limit.plain.as_str(), limit.value, limit.enough),
            ("random writes", 49.0, 800.0)
        );
        assert_eq!(limit.class, Some(("A1".to_owned(), 500.0)));
        let found = answer(&record).unwrap();
        assert_eq!(found.camera.unwrap().bytes_per_s, 9.0e6 * 0.98);
        assert_eq!(found.fine, Vec::<String>::new());
        assert_eq!(found.usable, ["media"]);
    }

    #[test]
    fn a_good_card_is_fine_for_all_uses() {
        let mut record = run(&GOOD);
        let found = answer(&record).unwrap();
        assert_eq!(limit_of(&record).0, Some(Fit::Good));
        assert_eq!(
            found.fine,
            ["database and home automation", "media", "logging"]
        );
        // Synced writes that do not wait for the storage prove nothing for databases.
        record.metrics[4].warnings = vec!["sync_not_slower".to_owned()];
        assert_eq!(answer(&record).unwrap().fine, ["media"]);
    }

    #[test]
    fn a_camera_relies_on_the_lower_end_of_the_long_run() {
        let mut record = run(&GOOD);
        record.metrics[0].parts = Some(RateParts {
            long_run: Some(Estimate {
                value: 32.3e6,
                low: Some(21.9e6),
                high: Some(32.6e6),
            }),
            ..RateParts::default()
        });
        let camera = |record: &Record| answer(record).unwrap().camera.unwrap();
        let expected = |bytes_per_s, basis| CameraRate {
            bytes_per_s,
            basis,
            written_bytes: None,
        };
        assert_eq!(camera(&record), expected(21.9e6, CameraBasis::Short));
        record.metrics.push(metric(("settled_write", 12e6, 0.0)));
        assert_eq!(camera(&record), expected(12e6, CameraBasis::SteadyEnd));
        // Whatever the end was, a recording must manage with the slowest minute.
        record.metrics.push(metric(("slowest_60s_write", 8e6, 0.0)));
        assert_eq!(camera(&record), expected(8e6, CameraBasis::SlowestMinute));
    }

    #[test]
    fn how_far_a_long_write_got_is_part_of_the_answer_unless_it_is_void() {
        let mut record = run(&[("slowest_60s_write", 8e6, 0.0)]);
        let detail = "writes 9.0 MB/s, steady over the last 1.0 GB";
        let found = Finding::new(FindingKind::WrittenPart, Severity::Note, detail);
        record.findings = vec![found.on("sustained_write")];
        assert_eq!(
            answer(&record).unwrap().written_part.as_deref(),
            Some(detail)
        );
        record.metrics[0].warnings = vec!["buffered".to_owned()];
        assert_eq!(answer(&record), None);
    }

    #[test]
    fn reading_all_takes_the_size_over_the_sequential_rate() {
        let mut record = run(&GOOD);
        let of = |record: &Record| answer(record).unwrap().read_all_s;
        assert_eq!(of(&record), None);
        let mut device = cardmark_core::DeviceInfo {
            size_bytes: Some(64_080_000_000),
            ..cardmark_core::DeviceInfo::default()
        };
        record.devices = vec![device.clone()];
        assert_eq!(of(&record), Some(720.0));
        // The memory of the computer answered.
        record.metrics[1].warnings = vec!["buffered".to_owned()];
        assert_eq!(of(&record), None);
        record.metrics[1].warnings.clear();
        // A file on two disks.
        device.name = "sdb".to_owned();
        record.devices.push(device);
        assert_eq!(of(&record), None);
    }

    #[test]
    fn a_long_series_counts_if_it_is_much_slower() {
        let mut record = run(&GOOD);
        let of = |record: &Record| answer(record).unwrap().long_series_per_s;
        record
            .metrics
            .push(metric(("rand_write_4k_long", 908.0, 0.01)));
        assert_eq!(of(&record), None);
        record.metrics[6].value = 491.0;
        assert_eq!(of(&record), Some(491.0));
        record.metrics[6].warnings = vec!["not_reached".to_owned()];
        assert_eq!(of(&record), None);
    }

    #[test]
    fn an_interval_around_the_sufficient_rate_decides_nothing() {
        let with = |write: f64, half_width: f64| {
            let mut rates = GOOD;
            rates[3] = ("rand_write_4k", write, half_width);
            answer(&run(&rates)).unwrap().system.unwrap()
        };
        assert!(matches!(with(510.0, 0.04), System::Border(_)));
        assert!(matches!(with(490.0, 0.04), System::Border(_)));
        assert!(matches!(with(510.0, 0.2), System::Uneven(_)));
        let System::Rated(Fit::Poor, limit) = with(300.0, 0.2) else {
            panic!();
        };
        assert!(limit.is_rough());
        let System::Rated(Fit::Poor, limit) = with(300.0, 0.14) else {
            panic!();
        };
        assert!(!limit.is_rough());
    }

    /// 463 of 500 and 1389 of 1500 are the same shortfall.
    #[test]
    fn one_shortfall_has_one_word_however_even_the_rate_is() {
        for permille in 500..1000 {
            for half_width in [0.0, 0.01, 0.08, 0.14] {
                let share = f64::from(permille) / 1000.0;
                let mut rates = GOOD;
                rates[3] = ("rand_write_4k", 500.0 * share, half_width);
                let by_writes = answer(&run(&rates)).unwrap().system.unwrap();
                rates[3] = GOOD[3];
                rates[2] = ("rand_read_4k", 1500.0 * share, half_width);
                let by_reads = answer(&run(&rates)).unwrap().system.unwrap();
                for system in [by_writes, by_reads] {
                    let is_near = matches!(system, System::Border(_));
                    assert_eq!(is_near, share >= 0.9, "{share} {half_width}: {system:?}");
                }
            }
        }
    }

    #[test]
    fn the_use_on_the_label_is_what_is_answered() {
        let mut record = run(&SLOW);
        record.labels.insert("use".to_owned(), "Kodi".to_owned());
        let found = answer(&record).unwrap();
        assert_eq!(found.wanted.id, "media");
        let (fit, limit) = limit_of(&record);
        assert_eq!((fit, limit.plain.as_str()), (None, "random reads"));
        assert!(!found.usable.contains(&"media".to_owned()));
        record
            .labels
            .insert("use".to_owned(), "zeppelin".to_owned());
        assert_eq!(answer(&record).unwrap().wanted.id, "boot");
    }

    #[test]
    fn rates_between_a_class_and_1_6_times_it_meet_the_class() {
        let with = |read: f64, write: f64, all: f64| {
            let mut rates = GOOD;
            rates[1].1 = all;
            rates[2].1 = read;
            rates[3].1 = write;
            answer(&run(&rates)).unwrap().system.unwrap()
        };
        for (read, write, limit) in [
            (1520.0, 510.0, "random reads"),
            (2399.0, 900.0, "random reads"),
            (2600.0, 510.0, "random writes"),
            (2600.0, 795.0, "random writes"),
            (1900.0, 700.0, "random reads"),
        ] {
            match with(read, write, 89e6) {
                System::MeetsClass(found) => assert_eq!(found.plain, limit),
                other => panic!("{read} {write}: {other:?}"),
            }
        }
        assert!(matches!(
            with(2400.0, 800.0, 89e6),
            System::Rated(Fit::Good, _)
        ));
        // A rate without a class is asked for as a whole.
        match with(1900.0, 700.0, 15e6) {
            System::Rated(Fit::Slow, limit) => assert_eq!(limit.plain, "sequential reads"),
            other => panic!("{other:?}"),
        }
        // The scarcest of the rates that are too low decides.
        match with(1400.0, 390.0, 15e6) {
            System::Rated(Fit::Poor, limit) => assert_eq!(limit.plain, "random writes"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn one_rate_that_meets_the_class_decides_nothing_about_those_not_measured() {
        let writes = vec!["random writes".to_owned()];
        let rates = [GOOD[1], ("rand_read_4k", 1900.0, 0.01)];
        let found = answer(&run(&rates)).unwrap().system;
        assert_eq!(found, Some(System::NotMeasured(writes)));
    }

    #[test]
    fn a_board_is_named_as_the_limit_where_a_product_is_faster_elsewhere() {
        let published = |setting: &str| {
            let all = cardmark_catalog::publications().iter();
            let mut records = all.flat_map(|one| one.records());
            let is_it = |record: &Record| {
                record.labels["setting"] == setting
                    && record.labels["product"] == "Samsung Evo+ 32 GB"
            };
            let mut record = records.find(is_it).unwrap();
            let reads = Metric::new("hdparm_t", Quantity::ByteRate, 22e6);
            record.metrics.push(reads);
            record
        };
        // The same card: 1,700 reads a second on a Compute Module 3+, and more on a Raspberry Pi 4.
        let (_, limit) = limit_of(&published("cm3-plus-microsd"));
        let Some(BoardLimit::SameProduct { board, value }) = limit.board else {
            panic!("{limit:?}");
        };
        assert!(
            board.contains('4') && value > 1.3 * limit.value,
            "{board} {value}"
        );
        // In another reader the slot is no limit.
        let mut record = published("cm3-plus-microsd");
        record.devices[0].reader.as_mut().unwrap().kind = cardmark_core::ReaderKind::Usb;
        assert_eq!(limit_of(&record).1.board, None);
    }

    #[test]
    fn lost_data_come_before_any_rate() {
        let mut record = run(&GOOD);
        let read = ReadBack {
            read_bytes: 1 << 26,
            lost_bytes: 1 << 20,
            first_lost_bytes: Some(0),
        };
        record.read_back = Some(read);
        let lost = Some(System::LosesData(read));
        assert_eq!(answer(&record).unwrap().system, lost);
        record.metrics.clear();
        assert_eq!(answer(&record).unwrap().system, lost);
    }

    #[test]
    fn a_device_that_failed_is_not_praised_for_its_rates() {
        let mut record = run(&GOOD);
        let failed = |kind| Finding::new(kind, Severity::Error, "failed").on("rand_read_4k");
        record.findings = vec![failed(FindingKind::IoError), failed(FindingKind::Vanished)];
        let fails = |record: &Record| answer(record).unwrap().system.unwrap();
        assert_eq!(fails(&record), System::Fails(FindingKind::Vanished));
        record.findings.pop();
        assert_eq!(fails(&record), System::Fails(FindingKind::IoError));
        record.findings[0].severity = Severity::Warning;
        assert!(matches!(fails(&record), System::Rated(Fit::Good, _)));
    }

    #[test]
    fn synced_writes_that_are_not_slower_are_part_of_the_answer() {
        let mut record = run(&GOOD);
        assert!(!answer(&record).unwrap().may_confirm_early);
        let finding = Finding::new(FindingKind::SyncNotSlower, Severity::Warning, "as fast");
        record.findings = vec![finding.on("sync_write_4k")];
        assert!(answer(&record).unwrap().may_confirm_early);
    }

    #[test]
    fn voided_rates_give_no_answer_and_a_reason() {
        let mut record = run(&GOOD);
        record.metrics[3].warnings = vec!["not_reached".to_owned()];
        let voided = System::Voided("not_reached".to_owned(), vec!["random writes".to_owned()]);
        assert_eq!(answer(&record).unwrap().system, Some(voided));
        // Whatever the writes are, these reads are too slow.
        record.metrics[2].value = 100.0;
        assert_eq!(limit_of(&record).0, Some(Fit::Poor));
    }

    #[test]
    fn what_was_not_measured_is_named_unless_the_rest_decides() {
        let system = |rates: &[(&str, f64, f64)]| answer(&run(rates)).unwrap().system;
        let reads = vec!["random reads".to_owned(), "sequential reads".to_owned()];
        assert_eq!(system(&GOOD[3..4]), Some(System::NotMeasured(reads)));
        assert!(matches!(
            system(&SLOW[3..4]),
            Some(System::Rated(Fit::Poor, _))
        ));
        // A suite that measures writes in one piece alone.
        assert_eq!(system(&GOOD[..1]), None);
    }

    #[test]
    fn rates_of_other_tools_answer_too() {
        let mut record = run(&[
            ("hdparm_t", 22.0e6, 0.0),
            ("iozone_random_read", 8.1e6, 0.0),
            ("iozone_random_write", 3.1e6, 0.0),
        ]);
        record.origin.kind = OriginKind::Published;
        record.metrics[0].interval_kind = IntervalKind::None;
        let (fit, limit) = limit_of(&record);
        assert_eq!((fit, limit.plain.as_str()), (None, "random reads"));
        let answer = answer(&record).unwrap();
        assert!(matches!(answer.system, Some(System::MeetsClass(_))));
        assert!(!answer.is_own);
    }

    #[test]
    fn without_a_rate_that_a_use_needs_nothing_is_said() {
        let origin = Origin::of(OriginKind::Simulated);
        let mut record = Record::new(simulated_run_id(&["answer"]), origin);
        record.suite = Some(SuiteRef {
            name: "application".to_owned(),
            version: 1,
            digest: None,
            only: Vec::new(),
            tier: None,
        });
        assert_eq!(answer(&record), None);
        record.metrics = vec![metric(("sqlite_tps", 61.0, 0.1))];
        assert_eq!(answer(&record), None);
    }
}
