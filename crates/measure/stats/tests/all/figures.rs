//! From trials to metrics and findings.

use cardmark_core::{
    Figure, FigureOf, Finding, FindingKind, IntervalKind, MIB, Metric, OriginKind, Procedure,
    Quantity, SECOND_NS, SensorSample, Severity, StopReason, Trial, Word,
};
use cardmark_stats::{derive, is_precise, percentile_interval, rate_interval, refresh};
use proptest::prelude::*;

use crate::support::{latencies, record, suite, trial, trial_of_slices, trials_at, workload};

fn ids(metrics: &[Metric]) -> Vec<&str> {
    metrics.iter().map(|metric| metric.id.as_str()).collect()
}

/// Returns trials of a second workload with blocks of 1 MiB, made from those of the first.
fn sequential(trials: &[Trial], from_id: u32) -> Vec<Trial> {
    let mut large = workload("seq_write_1m", MIB);
    large.latency_metrics = false;
    let change = |(id, trial): (u32, &Trial)| Trial {
        id,
        workload: large.clone().into(),
        ..trial.clone()
    };
    (from_id..).zip(trials).map(change).collect()
}

fn two_workloads() -> cardmark_core::Suite {
    let mut large = workload("seq_write_1m", MIB);
    large.latency_metrics = false;
    suite(vec![
        large,
        workload("rand_write_4k", 4096),
        workload("never_run", 4096),
    ])
}

#[test]
fn a_rate_is_total_work_by_total_span() {
    let mut trials = trials_at(&[1_000.0, 1_000.0, 1_000.0]);
    // The third took three times as long: rates 1,000, 1,000, 333; in total 3,000 in 5 s.
    trials[2].span_ns *= 3;
    let metrics = derive(&trials, &suite(vec![workload("rand_write_4k", 4096)]));
    assert_eq!(metrics[0].value, 600.0);
    assert_eq!(metrics[0].rate_bytes_per_s, Some(600.0 * 4096.0));
    // d = 400, 400, -800; error = √(960,000 · 3/2)/5 = 240; t(0.96, 2) = 4.848732.
    let half_width = metrics[0].operations_high_per_s.unwrap() - 600.0;
    assert!(
        (half_width - 240.0 * 4.848_732).abs() < 1e-3,
        "{half_width}"
    );
    assert_eq!(metrics[0].low, Some(0.0));
}

#[test]
fn a_figure_of_parts_counts_each_part_of_an_operation() {
    let mut package = workload("files_per_s", 300);
    package.procedure = Some(Procedure::Install {
        packages_count: 2,
        file_sizes_bytes: vec![100; 3],
    });
    let mut trials = trials_at(&[10.0, 11.0, 12.0]);
    for trial in &mut trials {
        trial.workload = package.clone().into();
    }
    let mut suite = suite(vec![package]);
    let figure = |id: &str, of| Figure {
        id: id.to_owned(),
        workload: "files_per_s".to_owned(),
        of,
        printed: None,
        least: None,
        weight: None,
    };
    suite.figures = vec![
        figure("packages", FigureOf::Operations),
        figure("files", FigureOf::Parts),
    ];
    let metrics = derive(&trials, &suite);
    let (packages, files) = (&metrics[0], &metrics[1]);
    assert_eq!((packages.value, files.value), (11.0, 33.0));
    let thrice = |value: Option<f64>| value.map(|value| 3.0 * value);
    assert!(packages.low.is_some());
    assert_eq!(files.low, thrice(packages.low));
    assert_eq!(files.high, thrice(packages.high));
    assert_eq!(files.operations_per_s, Some(33.0));
    assert_eq!(files.operations_high_per_s, files.high);
    assert_eq!(files.quantity, Quantity::OperationRate);
    // Byte rates do not depend on the unit of operations.
    assert_eq!(files.rate_bytes_per_s, packages.rate_bytes_per_s);
}

#[test]
fn metrics_stand_in_the_order_of_the_suite_in_the_unit_of_their_block() {
    let small = trials_at(&[1_000.0; 6]);
    let trials = [small.clone(), sequential(&small, 6)].concat();
    let metrics = derive(&trials, &two_workloads());
    let expected = [
        "seq_write_1m",
        "rand_write_4k",
        "rand_write_4k_p50",
        "rand_write_4k_p99",
        "rand_write_4k_max",
    ];
    assert_eq!(ids(&metrics), expected);
    assert_eq!(metrics[0].quantity, Quantity::ByteRate);
    assert_eq!(Some(metrics[0].value), metrics[0].rate_bytes_per_s);
    assert_eq!(metrics[0].low, metrics[0].rate_low_bytes_per_s);
    assert_eq!(metrics[0].high, metrics[0].rate_high_bytes_per_s);
    assert_eq!(metrics[0].trials, [6, 7, 8, 9, 10, 11]);
    assert_eq!(metrics[1].quantity, Quantity::OperationRate);
    assert_eq!(Some(metrics[1].value), metrics[1].operations_per_s);
    assert_eq!(metrics[1].interval_kind, IntervalKind::BetweenRounds);
    assert_eq!(metrics[1].stopped_by, StopReason::Goal);
    assert_eq!(metrics[4].quantity, Quantity::Span);
    assert_eq!((metrics[4].value, metrics[4].low), (1e6, None));
    assert_eq!(metrics[4].interval_kind, IntervalKind::None);
    assert_eq!(metrics[4].rate_bytes_per_s, None);
}

#[test]
fn percentiles_have_an_interval_from_1500_operations_in_three_trials_on() {
    let trials = |count: u32, operations: u64| -> Vec<Trial> {
        let all = |id| latencies((0..operations).map(|i| 900_000 + 1_000 * (i * 7_919 % 400) + id));
        (0..count)
            .map(|id| trial(id, operations, all(u64::from(id))))
            .collect()
    };
    let ends = |trials: &[Trial], q| {
        percentile_interval(&trials.iter().collect::<Vec<_>>(), q)
            .unwrap()
            .ends_ns
    };
    assert!(ends(&trials(3, 500), 0.99).is_some());
    assert!(ends(&trials(3, 499), 0.99).is_none());
    assert!(ends(&trials(3, 499), 0.5).is_some());
    assert!(ends(&trials(2, 5_000), 0.99).is_none());
}

#[test]
fn a_malformed_histogram_costs_the_percentiles_and_not_the_rate() {
    let mut trials = trials_at(&[1_000.0; 6]);
    trials[3].latency.step_bits = 5;
    let metrics = derive(&trials, &suite(vec![workload("rand_write_4k", 4096)]));
    assert_eq!(ids(&metrics), ["rand_write_4k"]);
}

#[test]
fn the_reason_for_ending_is_the_first_that_applies() {
    let suite = suite(vec![workload("rand_write_4k", 4096)]);
    let reason = |trials: &[Trial]| derive(trials, &suite)[0].stopped_by;
    let noisy = |count: usize| -> Vec<f64> {
        (0..count)
            .map(|i| if i % 2 == 0 { 1e5 } else { 3e5 })
            .collect()
    };
    assert_eq!(reason(&trials_at(&[1e5; 3])), StopReason::Goal);
    assert_eq!(reason(&trials_at(&noisy(24))), StopReason::Rounds);
    assert_eq!(reason(&trials_at(&noisy(23))), StopReason::Budget);
    let mut ended = trials_at(&noisy(8));
    ended[7].stopped_by = StopReason::Interrupted;
    assert_eq!(reason(&ended), StopReason::Interrupted);
    ended[6].stopped_by = StopReason::Error;
    assert_eq!(reason(&ended), StopReason::Error);
    let mut elsewhere = trials_at(&noisy(8));
    elsewhere[7].stopped_by = StopReason::Error;
    elsewhere[7].workload.id = "other".to_owned();
    assert_eq!(reason(&elsewhere), StopReason::Budget);
    elsewhere[7].stopped_by = StopReason::Interrupted;
    assert_eq!(reason(&elsewhere), StopReason::Interrupted);
}

#[test]
fn trials_that_are_not_whole_yield_nothing() {
    let mut trials = trials_at(&[1_000.0; 4]);
    trials[0].stopped_by = StopReason::Error;
    let some = derive(&trials, &suite(vec![workload("rand_write_4k", 4096)]));
    assert_eq!(some[0].trials, [1, 2, 3]);
    trials
        .iter_mut()
        .for_each(|trial| trial.stopped_by = StopReason::Interrupted);
    assert!(derive(&trials, &suite(vec![workload("rand_write_4k", 4096)])).is_empty());
}

#[test]
fn one_trial_has_an_interval_of_its_own_slices_that_proves_no_goal() {
    let steady = trial_of_slices(&[100.0; 40]);
    let estimate = rate_interval(&[&steady]).unwrap();
    assert_eq!(estimate.kind, IntervalKind::WithinTrial);
    assert_eq!(estimate.operations_per_s.value, 1_000.0);
    assert!(!is_precise(&[&steady], 0.03));
    let short = trial_of_slices(&[100.0; 19]);
    assert_eq!(rate_interval(&[&short]), None);
    let metrics = derive(&[short], &suite(vec![workload("rand_write_4k", 4096)]));
    assert_eq!((metrics[0].value, metrics[0].low), (1_000.0, None));
    assert_eq!(metrics[0].interval_kind, IntervalKind::None);
    assert_eq!(metrics[0].stopped_by, StopReason::Budget);
}

#[test]
fn what_a_card_says_of_itself_limits_trust_in_no_figure() {
    let mut record = record(sequential(&trials_at(&[1e5; 6]), 0));
    let mismatch = "the label claims V30, the registers claim V10";
    record.findings = vec![
        Finding::new(FindingKind::LabelMismatch, Severity::Warning, mismatch),
        Finding::new(FindingKind::Buffered, Severity::Warning, "a cache"),
    ];
    refresh(&mut record, &two_workloads());
    let metric = record.metric("seq_write_1m").unwrap();
    assert_eq!(metric.warnings, ["buffered"]);
    assert_eq!(metric.voided_by(), Some("buffered"));
}

#[test]
fn refresh_names_what_limits_trust_on_the_metrics_it_touches() {
    let falling: Vec<_> = (0..12)
        .map(|i| if i < 6 { 1e5 } else { 4e4 + f64::from(i) })
        .collect();
    let small = trials_at(&falling);
    let mut record = record([small.clone(), sequential(&trials_at(&[1e5; 6]), 12)].concat());
    record.findings = vec![
        Finding::new(FindingKind::Throttled, Severity::Note, "before the run").by_run(),
        Finding::new(
            FindingKind::SharedDevice,
            Severity::Warning,
            "another program",
        )
        .on("seq_write_1m")
        .by_run(),
        Finding::new(FindingKind::ClockStepped, Severity::Error, "made up"),
        // Stale: they do not follow from these trials.
        Finding::new(FindingKind::BusErrors, Severity::Warning, "old").on("seq_write_1m"),
        Finding::new(FindingKind::NotSettled, Severity::Warning, "old").on("seq_write_1m"),
    ];
    refresh(&mut record, &two_workloads());
    let warnings = |id: &str| record.metric(id).unwrap().warnings.clone();
    assert_eq!(warnings("seq_write_1m"), ["clock_stepped", "shared_device"]);
    // A wide interval is a note: the figure itself shows its precision.
    let touched = ["clock_stepped", "not_settled"];
    assert_eq!(warnings("rand_write_4k"), touched);
    assert_eq!(warnings("rand_write_4k_p99"), touched);
    let kinds: Vec<_> = record.findings.iter().map(|finding| finding.kind).collect();
    let sorted = [
        FindingKind::ClockStepped,
        FindingKind::SharedDevice,
        FindingKind::NotSettled,
        FindingKind::Unverified,
        FindingKind::WideInterval,
        FindingKind::Throttled,
    ];
    assert_eq!(kinds, sorted);
    assert_eq!(
        record.findings[2].detail,
        "the rate fell by 86 % of its mean over 12 trials"
    );
    assert_eq!(record.findings[4].severity, Severity::Note);
    assert_eq!(record.findings[4].workloads, ["rand_write_4k"]);
}

#[test]
fn readings_of_a_damaged_record_are_counted_as_far_as_they_can_be() {
    let mut record = record(trials_at(&[1e5; 6]));
    // Neither in order nor possible, within one trial.
    record.sensors = [6, 4, 9]
        .map(|tenths| SensorSample {
            at_ns: tenths * SECOND_NS / 10,
            stolen_ns: Some(u64::MAX),
            bus_errors: [("crc".to_owned(), u64::MAX)].into(),
            ..SensorSample::default()
        })
        .to_vec();
    refresh(&mut record, &two_workloads());
    let mut findings = record.findings.iter();
    let errors = findings.find(|finding| finding.kind == FindingKind::BusErrors);
    let expected = format!("counted {} errors", u64::MAX);
    assert!(errors.unwrap().detail.contains(&expected));
}

#[test]
fn the_cause_named_fits_the_way_the_rate_went() {
    let suite = suite(vec![workload("rand_write_4k", 4096)]);
    for (first, then, cause) in [(1e5, 4e4, "a cache filled"), (4e4, 1e5, "still busy")] {
        let rates: Vec<_> = (0..12)
            .map(|i| if i < 6 { first } else { then + f64::from(i) })
            .collect();
        let mut record = record(trials_at(&rates));
        refresh(&mut record, &suite);
        let unsettled = |finding: &&Finding| finding.kind == FindingKind::NotSettled;
        let found = record.findings.iter().find(unsettled).unwrap();
        assert!(found.advice.as_ref().unwrap().contains(cause), "{found:?}");
    }
}

#[test]
fn figures_without_trials_are_kept_only_if_somebody_else_measured_them() {
    let mut imported = record(Vec::new());
    imported.origin.kind = OriginKind::Imported;
    let small = trials_at(&[1_000.0; 3]);
    imported.metrics = derive(&small, &suite(vec![workload("rand_write_4k", 4096)]));
    imported.findings = vec![Finding::new(
        FindingKind::WideInterval,
        Severity::Note,
        "printed",
    )];
    let before = imported.clone();
    refresh(&mut imported, &two_workloads());
    assert_eq!(imported, before);

    let unknown = OriginKind::Other(Word::new("dreamt").unwrap());
    for kind in [OriginKind::Measured, OriginKind::Simulated, unknown] {
        let mut claimed = before.clone();
        claimed.origin.kind = kind;
        refresh(&mut claimed, &two_workloads());
        assert!(claimed.metrics.is_empty());
        assert_eq!(claimed.findings[0].kind, FindingKind::DoubtfulFigure);
    }
}

fn findings() -> impl Strategy<Value = Vec<Finding>> {
    let kinds = [
        FindingKind::NotReached,
        FindingKind::Throttled,
        FindingKind::NotSettled,
        FindingKind::WideInterval,
        FindingKind::Interrupted,
    ];
    let severities = [Severity::Note, Severity::Warning, Severity::Error];
    let places = [
        None,
        Some("rand_write_4k"),
        Some("seq_write_1m"),
        Some("gone"),
    ];
    let one = (
        0..kinds.len(),
        0..severities.len(),
        0..places.len(),
        0..3u32,
    );
    let one = one.prop_map(move |(kind, severity, place, detail)| {
        let finding = Finding::new(kinds[kind], severities[severity], detail.to_string());
        places[place].map_or_else(|| finding.clone(), |place| finding.clone().on(place))
    });
    proptest::collection::vec(one, 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn refreshing_twice_or_after_another_order_changes_nothing(
        rates in proptest::collection::vec(1e3..1e6f64, 1..14),
        findings in findings(),
        turn in 0..8usize,
    ) {
        let small = trials_at(&rates);
        let mut record = record([small.clone(), sequential(&small[..1], 20)].concat());
        record.findings = findings;
        let mut turned = record.clone();
        turned.findings.rotate_left(turn.min(record.findings.len()));
        turned.findings.reverse();
        refresh(&mut record, &two_workloads());
        refresh(&mut turned, &two_workloads());
        prop_assert_eq!(&turned, &record);
        refresh(&mut turned, &two_workloads());
        prop_assert_eq!(turned, record);
    }
}
