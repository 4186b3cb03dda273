//! Verdicts on classes: limits, intervals, hosts, claims.

use cardmark_catalog::{Class, classes, suite};
use cardmark_core::{
    Derived, DeviceInfo, Finding, FindingKind, IntervalKind, Metric, Origin, OriginKind, Quantity,
    Record, Severity, SuiteRef, VerdictOutcome, simulated_run_id,
};
use cardmark_judge::{families, judge};
use serde_json::{Value, json};

/// Returns a record of this suite, of a simulated card without host limits, whose rates have these values and
/// ends in bytes per second.
fn record(suite: &str, rates: &[(&str, f64, f64, f64)]) -> Record {
    let metric = |&(id, value, low, high): &(&str, f64, f64, f64)| Metric {
        interval_kind: IntervalKind::BetweenRounds,
        rate_bytes_per_s: Some(value),
        rate_low_bytes_per_s: Some(low),
        rate_high_bytes_per_s: Some(high),
        operations_per_s: Some(value / 4096.0),
        operations_low_per_s: Some(low / 4096.0),
        operations_high_per_s: Some(high / 4096.0),
        ..Metric::new(id, Quantity::ByteRate, value)
    };
    let mut record = Record::new(
        simulated_run_id(&["classes"]),
        Origin::of(OriginKind::Simulated),
    );
    record.devices = vec![DeviceInfo::default()];
    record.suite = Some(SuiteRef {
        name: suite.to_owned(),
        version: 1,
        digest: None,
        only: Vec::new(),
        tier: Some("raw-full".to_owned()),
    });
    record.metrics = rates.iter().map(metric).collect();
    record
}

/// Returns a record with the same rate for writing and reading, in windows of both sizes.
fn steady(value: f64, low: f64, high: f64) -> Record {
    let ids = [
        "class_worst_window",
        "class_rand_read",
        "class_worst_video_window",
        "class_worst_video_read",
    ];
    record("speed-class", &ids.map(|id| (id, value, low, high)))
}

/// Returns a record with these random operations per second, one at a time and in the queue.
fn random(read: f64, write: f64) -> Record {
    let exact = |id, operations: f64| {
        let rate = operations * 4096.0;
        (id, rate, 0.99 * rate, 1.01 * rate)
    };
    let rates = [
        exact("app_rand_read", read),
        exact("app_rand_write", write),
        exact("app_rand_read_q32", read),
        exact("app_rand_write_q32", write),
        ("app_seq_write", 40e6, 39e6, 41e6),
    ];
    record("app-class", &rates)
}

fn on(mut record: Record, device: Value) -> Record {
    record.origin = Origin::of(OriginKind::Measured);
    record.devices = vec![serde_json::from_value(device).unwrap()];
    record
}

fn in_slot(record: Record, bus: &Value, queue: &Value) -> Record {
    let device = json!({ "name": "mmcblk0", "size_bytes": 31_900_000_000_u64, "queue": queue,
        "reader": { "kind": "slot", "bus": bus } });
    on(record, device)
}

fn on_usb(record: Record, link_bits_per_s: u64) -> Record {
    let device = json!({ "name": "sda", "size_bytes": 63_900_000_000_u64, "reader": { "kind": "usb",
        "usb": { "vendor": "05e3", "product": "0749", "link_bits_per_s": link_bits_per_s } } });
    on(record, device)
}

fn warned(mut record: Record, kinds: &[FindingKind]) -> Record {
    for metric in &mut record.metrics {
        metric.warnings = kinds.iter().map(|kind| kind.name()).collect();
    }
    record
}

fn derived(record: &Record) -> Derived {
    let name = &record.suite.as_ref().unwrap().name;
    judge(record, Some(&suite(name, None).unwrap())).unwrap()
}

fn verdict(record: &Record, class: &str) -> (VerdictOutcome, String) {
    let derived = derived(record);
    let found = derived.verdicts.iter().find(|v| v.rule == class).unwrap();
    (found.outcome, found.reasons.join("; "))
}

fn outcome(record: &Record, class: &str) -> VerdictOutcome {
    verdict(record, class).0
}

use VerdictOutcome::{Borderline, Fail, LikelyPass, NotTestable, Pass};

/// For each class: just above, around and just below its limit, in decimal and binary MB.
#[test]
fn every_limit_is_kept_to_the_byte() {
    let speed = families(&suite("speed-class", None).unwrap());
    let tested = |class: &&Class| speed.contains(&class.family) && !class.id.starts_with('E');
    for class in classes().iter().filter(tested) {
        let limit = class.least_write_bytes_per_s as f64;
        let is_video = class.id.starts_with('V');
        let upper = if is_video { limit * 1.048_576 } else { limit };
        for (low, high, expected) in [
            (upper, upper * 1.1, Pass),
            (upper - 1.0, upper * 1.1, Borderline),
            (limit - 2.0, limit, Borderline),
            (limit * 0.9, limit - 1.0, Fail),
        ] {
            let record = steady(0.5 * (low + high), low, high);
            assert_eq!(outcome(&record, &class.id), expected, "{} {low}", class.id);
        }
        let between = steady(limit * 1.02, limit * 1.01, limit * 1.03);
        let expected = if is_video { Borderline } else { Pass };
        assert_eq!(outcome(&between, &class.id), expected, "{}", class.id);
    }
}

#[test]
fn random_rates_and_the_sequential_one_all_count() {
    assert_eq!(outcome(&random(1600.0, 520.0), "A1"), Pass);
    assert_eq!(outcome(&random(1505.0, 520.0), "A1"), Borderline);
    assert_eq!(outcome(&random(1600.0, 480.0), "A1"), Fail);
    assert_eq!(outcome(&random(1400.0, 520.0), "A1"), Fail);
    let mut slow = random(1600.0, 520.0);
    slow.metrics[4] = Metric {
        rate_bytes_per_s: Some(9e6),
        rate_low_bytes_per_s: Some(8.9e6),
        rate_high_bytes_per_s: Some(9.1e6),
        ..slow.metrics[4].clone()
    };
    assert_eq!(outcome(&slow, "A1"), Fail);
    slow.metrics.truncate(4);
    assert_eq!(outcome(&slow, "A1"), NotTestable);
    // A failed figure means a fail, even if other figures are missing.
    let mut failed = random(1000.0, 520.0);
    failed.metrics.truncate(4);
    assert_eq!(outcome(&failed, "A1"), Fail);
}

/// One trial shows nothing about other runs: its precision counts as ± 2 % at best.
#[test]
fn a_single_trial_is_known_to_two_percent() {
    let single = |value: f64| {
        let mut record = random(1600.0, value);
        for metric in &mut record.metrics {
            metric.interval_kind = IntervalKind::WithinTrial;
            metric.operations_low_per_s = metric.operations_per_s;
            metric.operations_high_per_s = metric.operations_per_s;
        }
        outcome(&record, "A1")
    };
    assert_eq!(single(511.0), Pass);
    assert_eq!(single(509.0), Borderline);
    assert_eq!(single(491.0), Borderline);
    assert_eq!(single(490.0), Fail);
}

#[test]
fn a_bus_below_what_a_class_asks_for_tests_nothing() {
    let fast = steady(150e6, 149e6, 151e6);
    let testable = |mode: &str, clock_hz: u64| -> Vec<String> {
        let bus = json!({ "mode": mode, "clock_hz": clock_hz });
        let speed = in_slot(fast.clone(), &bus, &json!({}));
        let app = in_slot(random(9000.0, 9000.0), &bus, &json!({}));
        let all = [derived(&speed).verdicts, derived(&app).verdicts].concat();
        let passed = all.into_iter().filter(|v| v.outcome != NotTestable);
        passed.map(|v| v.rule).collect()
    };
    let slow = ["C2", "C4", "C6", "C10", "V6", "V10"];
    assert_eq!(testable("high_speed", 50_000_000), slow);
    assert_eq!(testable("legacy", 25_000_000), ["C2", "C4", "C6"]);
    let uhs = [
        "C2", "C4", "C6", "C10", "U1", "U3", "V6", "V10", "V30", "A1", "A2",
    ];
    assert_eq!(testable("ddr50", 50_000_000), uhs);
    assert_eq!(testable("sdr104", 200_000_000), uhs);
    // A clock below the minimum of U3 and V30 in this mode.
    let slower = ["C2", "C4", "C6", "C10", "U1", "V6", "V10", "A1", "A2"];
    assert_eq!(testable("ddr50", 41_000_000), slower);
    // The fastest mode, with a host that only reaches low clocks: it does not replace a slower mode of a
    // class.
    let plain = ["C2", "C4", "C6", "C10"];
    assert_eq!(testable("sdr104", 50_000_000), plain);
    assert_eq!(testable("sdr104", 25_000_000), ["C2", "C4", "C6"]);
    assert_eq!(testable("sdr50", 15_000_000), [""; 0]);
    let ninety = ["C2", "C4", "C6", "C10", "U1", "V6", "V10", "A1", "A2"];
    assert_eq!(testable("sdr104", 85_000_000), ninety);
}

/// A short test, or one in a file, may show more than the full procedure would, so it can only fail a card.
#[test]
fn a_short_tier_fails_a_card_or_calls_it_likely_to_pass() {
    let with_tier = |mut record: Record, tier: Option<&str>| {
        record.suite.as_mut().unwrap().tier = tier.map(str::to_owned);
        record
    };
    for tier in [Some("raw-short"), Some("file"), Some("unknown"), None] {
        let found = |record: Record, class: &str| outcome(&with_tier(record, tier), class);
        assert_eq!(
            found(steady(50e6, 49e6, 51e6), "C10"),
            LikelyPass,
            "{tier:?}"
        );
        assert_eq!(found(random(4500.0, 2500.0), "A2"), LikelyPass, "{tier:?}");
        assert_eq!(found(random(1600.0, 300.0), "A1"), Fail, "{tier:?}");
        assert_eq!(
            found(steady(10e6, 9e6, 11e6), "C10"),
            Borderline,
            "{tier:?}"
        );
    }
}

/// UHS-I has its own names for default speed and high speed.
#[test]
fn sdr12_is_like_default_speed_and_sdr25_like_high_speed() {
    let record = steady(150e6, 149e6, 151e6);
    let found = |mode: &str, clock_hz: u64, class| {
        let bus = json!({ "mode": mode, "clock_hz": clock_hz });
        outcome(&in_slot(record.clone(), &bus, &json!({})), class)
    };
    for class in ["C2", "C4", "C6"] {
        assert_eq!(found("sdr12", 25_000_000, class), Pass, "{class}");
        assert_eq!(found("sdr12", 19_000_000, class), NotTestable, "{class}");
    }
    assert_eq!(found("sdr12", 25_000_000, "C10"), NotTestable);
    assert_eq!(found("sdr25", 50_000_000, "C10"), Pass);
    assert_eq!(found("sdr25", 39_000_000, "C10"), NotTestable);
    assert_eq!(found("sdr25", 50_000_000, "U1"), NotTestable);
}

#[test]
fn class_a2_needs_queue_and_cache() {
    let bus = json!({ "mode": "sdr104", "clock_hz": 200_000_000 });
    let of = |read: f64, queue: &Value| verdict(&in_slot(random(read, 3000.0), &bus, queue), "A2");
    let on = json!({ "write_cache": "write back", "command_queue": true });
    assert_eq!(of(5000.0, &on).0, Pass);
    assert_eq!(of(3000.0, &on).0, Fail);
    for off in [
        json!({ "write_cache": "write through", "command_queue": true }),
        json!({ "write_cache": "write back", "command_queue": false }),
    ] {
        let (outcome, why) = of(5000.0, &off);
        assert_eq!(outcome, NotTestable);
        assert!(why.contains("which is off"), "{why}");
    }
    // If the state is hidden, a card that is fast enough passes; for a slower one the test is undecided.
    assert_eq!(of(5000.0, &json!({})).0, Pass);
    let (outcome, why) = of(3000.0, &json!({}));
    assert_eq!(outcome, NotTestable);
    assert!(why.contains("is hidden"), "{why}");
    let none = in_slot(
        random(3000.0, 3000.0),
        &bus,
        &json!({ "command_queue": false }),
    );
    assert_eq!(self::outcome(&none, "A1"), Pass);
}

#[test]
fn a_slow_link_tests_no_fast_class() {
    let found = |link| {
        let record = on_usb(steady(35e6, 34e6, 36e6), link);
        ["V30", "V60"].map(|class| outcome(&record, class))
    };
    assert_eq!(found(480_000_000), [Pass, NotTestable]);
    // The bus behind a fast link is hidden.
    assert_eq!(found(5_000_000_000), [Pass, NotTestable]);
    let hidden = derived(&on_usb(steady(35e6, 34e6, 36e6), 5_000_000_000));
    let said = hidden.deviations.iter().any(|d| d.contains("bus mode"));
    assert!(said, "{:?}", hidden.deviations);
}

/// Without root, in a reader, with no device or several: the host may be the bottleneck. A card that is fast
/// enough passes anyway.
#[test]
fn nothing_fails_on_a_bus_that_is_not_seen() {
    let devices = |record: Record, count: usize| Record {
        origin: Origin::of(OriginKind::Measured),
        devices: vec![DeviceInfo::default(); count],
        ..record
    };
    let ways: [(&str, &dyn Fn(Record) -> Record); 6] = [
        ("no bus", &|r| {
            on(
                r,
                json!({ "name": "mmcblk0", "reader": { "kind": "slot" } }),
            )
        }),
        ("no mode", &|r| {
            in_slot(r, &json!({ "lines_count": 4 }), &json!({}))
        }),
        ("reader", &|r| on_usb(r, 5_000_000_000)),
        ("no device", &|r| devices(r, 0)),
        ("no reader", &|r| devices(r, 1)),
        ("two devices", &|r| devices(r, 2)),
    ];
    for (name, way) in ways {
        let (slow, why) = verdict(&way(steady(5e6, 4.9e6, 5.1e6)), "C10");
        assert_eq!(slow, NotTestable, "{name}");
        assert!(
            why.contains("the bus mode is hidden and may be too slow"),
            "{name}: {why}"
        );
        let fast = way(steady(15e6, 14e6, 16e6));
        assert_eq!(outcome(&fast, "C10"), Pass, "{name}");
        let said = derived(&fast).deviations;
        assert!(
            said.iter().any(|d| d.contains("bus mode")),
            "{name}: {said:?}"
        );
    }
    // The kernel's log contains the mode but not the clock.
    let logged = in_slot(
        steady(5e6, 4.9e6, 5.1e6),
        &json!({ "mode": "sdr104" }),
        &json!({}),
    );
    let (outcome, why) = verdict(&logged, "C10");
    assert_eq!(outcome, NotTestable);
    assert!(why.contains("the clock of the bus"), "{why}");
    // The state of the queue is visible anyway.
    let queue = json!({ "write_cache": "write back", "command_queue": false });
    let off = in_slot(random(9000.0, 9000.0), &json!({}), &queue);
    assert_eq!(self::outcome(&off, "A2"), NotTestable);
}

#[test]
fn fails_that_a_better_host_could_change_are_indicative() {
    let slow = steady(1e6, 0.9e6, 1.1e6);
    let bus = json!({ "mode": "ddr50", "clock_hz": 50_000_000 });
    let sdhc = in_slot(slow.clone(), &bus, &json!({}));
    let is_indicative = |record: &Record, class| {
        let (outcome, why) = verdict(record, class);
        assert_eq!(outcome, Fail);
        why.contains("indicative")
    };
    assert!(!is_indicative(&sdhc, "C10"));
    assert!(!is_indicative(&sdhc, "U1"));
    assert!(is_indicative(&sdhc, "V10"));
    let mut sdxc = in_slot(slow, &bus, &json!({}));
    sdxc.devices[0].size_bytes = Some(63_900_000_000);
    assert!(is_indicative(&sdxc, "C10"));
    assert!(is_indicative(&sdxc, "U1"));
}

#[test]
fn what_is_claimed_is_judged_and_by_whom_is_said() {
    let rules = |record: &Record| -> Vec<String> {
        derived(record)
            .verdicts
            .into_iter()
            .map(|v| v.rule)
            .collect()
    };
    let mut record = steady(35e6, 34e6, 36e6);
    assert_eq!(rules(&record).len(), 11);
    record
        .labels
        .insert("claims".to_owned(), "V30 A1".to_owned());
    assert_eq!(rules(&record), ["V30"]);
    let card = json!({ "name": "mmcblk0", "card": { "kind": "sd", "registers": {},
        "decoded": { "classes": ["C10", "V30"] } } });
    record.devices = vec![serde_json::from_value(card).unwrap()];
    assert_eq!(rules(&record), ["C10", "V30"]);
    let why = verdict(&record, "V30").1;
    assert!(
        why.starts_with("claimed by the label, the registers"),
        "{why}"
    );
    record
        .labels
        .insert("product".to_owned(), "intenso-c10-32gb".to_owned());
    let why = verdict(&record, "C10").1;
    assert!(
        why.starts_with("claimed by the registers, the catalogue"),
        "{why}"
    );
}

#[test]
fn figures_that_are_not_the_cards_and_broken_runs_give_no_verdict() {
    for kind in [FindingKind::NotReached, FindingKind::Buffered] {
        let record = warned(steady(35e6, 34e6, 36e6), &[kind]);
        assert_eq!(outcome(&record, "C10"), NotTestable);
    }
    let mut stopped = steady(35e6, 34e6, 36e6);
    stopped.metrics.clear();
    let finding = Finding::new(FindingKind::Vanished, Severity::Error, "no such device");
    stopped.findings.push(finding);
    let (outcome, why) = verdict(&stopped, "V30");
    assert_eq!(outcome, NotTestable);
    assert!(
        why.contains("was not measured") && why.ends_with("no such device"),
        "{why}"
    );
}

#[test]
fn deviations_are_those_of_the_tier_and_of_the_device() {
    let mut record = steady(35e6, 34e6, 36e6);
    let suite = suite("speed-class", None).unwrap();
    for tier in &suite.tiers {
        record.suite.as_mut().unwrap().tier = Some(tier.name.clone());
        let all = [&tier.deviations[..], &suite.deviations].concat();
        assert_eq!(derived(&record).deviations, all);
    }
    let detail = "it has no erase command";
    let finding = Finding::new(FindingKind::NotErased, Severity::Note, detail);
    record.findings.push(finding);
    assert_eq!(derived(&record).deviations.last().unwrap(), detail);
    // Other suites have no verdicts on classes.
    let mut quick = record.clone();
    quick.suite.as_mut().unwrap().name = "quick".to_owned();
    quick.labels.insert("claims".to_owned(), "A1".to_owned());
    let suite = cardmark_catalog::suite("quick", None).unwrap();
    assert_eq!(judge(&quick, Some(&suite)), None);
}

#[test]
fn sd_express_is_not_tested_and_said_so() {
    let mut record = steady(900e6, 890e6, 910e6);
    record
        .labels
        .insert("claims".to_owned(), "E150 V30".to_owned());
    let (outcome, why) = verdict(&record, "E150");
    assert_eq!(outcome, NotTestable);
    assert!(why.contains("NVMe"), "{why}");
    assert_eq!(self::outcome(&record, "V30"), Pass);
}

#[test]
fn a_bus_of_one_line_tests_nothing() {
    let bus = json!({ "mode": "sdr104", "clock_hz": 200_000_000, "lines_count": 1 });
    let (outcome, why) = verdict(&in_slot(steady(9e6, 8e6, 9e6), &bus, &json!({})), "C2");
    assert_eq!(outcome, NotTestable);
    assert!(why.contains("1 data lines instead of 4"), "{why}");
}

#[test]
fn what_may_have_lowered_a_figure_lets_nothing_fail() {
    for kind in [
        FindingKind::SharedDevice,
        FindingKind::Throttled,
        FindingKind::UnderVoltage,
        FindingKind::StolenTime,
        FindingKind::Powersave,
        FindingKind::BusErrors,
        FindingKind::SlowUsb,
        FindingKind::SlowPayload,
        FindingKind::Misaligned,
    ] {
        let found = |low: f64, high: f64| {
            let record = warned(steady(0.5 * (low + high), low, high), &[kind]);
            verdict(&record, "C10")
        };
        let (outcome, why) = found(8e6, 9e6);
        assert_eq!(outcome, NotTestable);
        let said = format!("no fail, as it may be too low under {}", kind.name());
        assert!(why.contains(&said), "{why}");
        assert_eq!(found(9e6, 11e6).0, Borderline);
        let (outcome, why) = found(11e6, 12e6);
        assert_eq!(outcome, Pass);
        assert!(
            why.contains(&format!("limited by {}", kind.name())),
            "{why}"
        );
    }
    // A figure without a warning is judged as usual.
    let mut record = steady(8.5e6, 8e6, 9e6);
    record.metrics[0].warnings = vec!["throttled".to_owned()];
    assert_eq!(outcome(&record, "C10"), Fail);
    let other = warned(steady(8.5e6, 8e6, 9e6), &[FindingKind::NotSettled]);
    assert_eq!(outcome(&other, "C10"), Fail);
}

#[test]
fn what_may_have_raised_a_figure_lets_nothing_pass() {
    let cached = [FindingKind::CachedWrites];
    let (outcome, why) = verdict(&warned(steady(12e6, 11e6, 13e6), &cached), "C10");
    assert_eq!(outcome, Borderline);
    assert!(why.contains("may be too high under cached_writes"), "{why}");
    let (outcome, why) = verdict(&warned(steady(40e6, 39e6, 41e6), &cached), "V30");
    assert_eq!(outcome, Borderline);
    assert!(!why.contains("MiB"), "{why}");
    let slow = steady(8e6, 7e6, 9e6);
    assert_eq!(self::outcome(&warned(slow.clone(), &cached), "C10"), Fail);
    let both = [FindingKind::CachedWrites, FindingKind::Throttled];
    assert_eq!(self::outcome(&warned(slow, &both), "C10"), NotTestable);
}

/// After an error in a workload of a verdict, only a fail remains possible; other errors are reported.
#[test]
fn after_an_error_nothing_passes() {
    let found = |rate: f64, workloads: &[&str]| {
        let mut record = steady(rate, 0.99 * rate, 1.01 * rate);
        let error = Finding::new(
            FindingKind::IoError,
            Severity::Error,
            "block 7 is unreadable",
        );
        let finding = workloads.iter().fold(error, |finding, id| finding.on(*id));
        record.findings.push(finding);
        let (outcome, why) = verdict(&record, "C10");
        assert!(why.ends_with("block 7 is unreadable"), "{why}");
        outcome
    };
    assert_eq!(found(35e6, &["class_rand_read"]), NotTestable);
    assert_eq!(found(35e6, &[]), NotTestable);
    assert_eq!(found(10e6, &["class_write"]), NotTestable);
    assert_eq!(found(5e6, &["class_write"]), Fail);
    // Class C10 does not use sequential reads.
    assert_eq!(found(35e6, &["class_seq_read"]), Pass);
    let mut warning = steady(35e6, 34e6, 36e6);
    let kind = FindingKind::KernelMessages;
    let finding = Finding::new(kind, Severity::Warning, "mmc0: timeout");
    warning.findings.push(finding.on("class_write"));
    assert_eq!(outcome(&warning, "C10"), Pass);
}

#[test]
fn what_was_on_in_the_tests_of_a1_is_said() {
    let bus = json!({ "mode": "sdr104", "clock_hz": 200_000_000 });
    let said = |record: Record, queue: &Value| {
        let all = derived(&in_slot(record, &bus, queue)).deviations;
        let on = |text: &String| text.contains("was on in the tests of class A1");
        all.into_iter().filter(on).collect::<Vec<_>>()
    };
    let on = json!({ "write_cache": "write back", "command_queue": true });
    let off = json!({ "write_cache": "write through", "command_queue": false });
    let both = said(random(5000.0, 3000.0), &on);
    assert_eq!(both.len(), 2);
    assert!(both[0].contains("cache") && both[1].contains("command queue"));
    assert_eq!(said(random(5000.0, 3000.0), &off), [""; 0]);
    assert_eq!(said(random(5000.0, 3000.0), &json!({})), [""; 0]);
    assert_eq!(said(steady(35e6, 34e6, 36e6), &on), [""; 0]);
}
