//! Promised rates and capacities.

use cardmark_core::{
    CLAIMS_LABEL, DeviceInfo, Integrity, IntervalKind, Metric, Origin, OriginKind, Quantity,
    Record, VerdictOutcome, simulated_run_id,
};
use cardmark_judge::{Promise, judge};
use serde_json::{Value, json};

fn record(claims: &str, mut device: Value) -> Record {
    device["name"] = "sda".into();
    let id = simulated_run_id(&["promises"]);
    let mut record = Record::new(id, Origin::of(OriginKind::Simulated));
    record.devices = vec![serde_json::from_value::<DeviceInfo>(device).unwrap()];
    record.labels = [(CLAIMS_LABEL.to_owned(), claims.to_owned())].into();
    record
}

fn with_rates(mut record: Record, rates: &[(&str, f64)]) -> Record {
    let metric = |&(id, rate): &(&str, f64)| Metric {
        interval_kind: IntervalKind::BetweenRounds,
        rate_bytes_per_s: Some(rate),
        rate_low_bytes_per_s: Some(0.99 * rate),
        rate_high_bytes_per_s: Some(1.01 * rate),
        ..Metric::new(id, Quantity::ByteRate, rate)
    };
    record.metrics = rates.iter().map(metric).collect();
    record
}

/// Rule and outcome of each verdict, and all reasons.
fn verdicts(record: &Record) -> (Vec<(String, VerdictOutcome)>, String) {
    let all = judge(record, None).map_or_else(Vec::new, |derived| derived.verdicts);
    let reasons: Vec<String> = all.iter().flat_map(|one| one.reasons.clone()).collect();
    let outcomes = all.into_iter().map(|one| (one.rule, one.outcome));
    (outcomes.collect(), reasons.join("; "))
}

fn integrity(test: &str, kind: &str, real_bytes: u64) -> Option<Integrity> {
    let value = json!({
        "test": test, "kind": kind, "size_bytes": 64_000_000_000_u64, "real_bytes": real_bytes,
    });
    Some(serde_json::from_value(value).unwrap())
}

#[test]
fn promises_are_classes_rates_and_capacities() {
    for (text, promise, shown) in [
        ("a1", Promise::Class("A1".to_owned()), "A1"),
        ("130mb/s", Promise::Rate(130_000_000), "130MB/s"),
        ("130 MB/s", Promise::Rate(130_000_000), "130MB/s"),
        ("64GB", Promise::Capacity(64_000_000_000), "64GB"),
        ("1TB", Promise::Capacity(1_000_000_000_000), "1TB"),
        ("1500 GB", Promise::Capacity(1_500_000_000_000), "1500GB"),
        ("512MB", Promise::Capacity(512_000_000), "512MB"),
        ("100MiB/s", Promise::Rate(104_857_600), "100MiB/s"),
        ("2GB/s", Promise::Rate(2_000_000_000), "2000MB/s"),
    ] {
        let read = Promise::parse(text).unwrap();
        assert_eq!(read, promise, "{text}");
        assert_eq!(read.to_string(), shown);
        assert_eq!(Promise::parse(shown), Some(promise));
    }
    for text in [
        "",
        "A7",
        "130",
        "GB",
        "0GB",
        "-5GB",
        "64 apples",
        "99999999999999999999GB",
    ] {
        assert_eq!(Promise::parse(text), None, "{text}");
    }
}

#[test]
fn the_faster_direction_has_to_reach_a_rate_and_a_slow_bus_decides_nothing() {
    let rates = [("seq_read_1m", 90e6), ("seq_write_1m", 60e6)];
    let outcome =
        |claims: &str, device: Value| verdicts(&with_rates(record(claims, device), &rates));
    let one = |rule: &str, outcome| vec![(rule.to_owned(), outcome)];
    assert_eq!(
        outcome("80MB/s", json!({})).0,
        one("80MB/s", VerdictOutcome::Pass)
    );
    assert_eq!(
        outcome("90MB/s", json!({})).0,
        one("90MB/s", VerdictOutcome::Borderline)
    );
    assert_eq!(
        outcome("130MB/s", json!({})).0,
        one("130MB/s", VerdictOutcome::Fail)
    );
    // SDR104 at 208 MHz carries 104 MB/s, SDR25 at 50 MHz 25 MB/s (SD Physical Layer).
    let slot = |mode: &str, clock: u64| json!({ "reader": { "kind": "slot", "bus": { "mode": mode, "clock_hz": clock, "lines_count": 4 } } });
    let fast = outcome("100MB/s", slot("sdr104", 208_000_000));
    assert_eq!(fast.0, one("100MB/s", VerdictOutcome::Fail), "{}", fast.1);
    let (slow, why) = outcome("100MB/s", slot("sdr25", 50_000_000));
    assert_eq!(slow, one("100MB/s", VerdictOutcome::NotTestable));
    assert!(why.contains("the bus carries at most 25 MB/s"), "{why}");
    let hidden = outcome("100MB/s", json!({ "reader": { "kind": "slot" } }));
    assert_eq!(hidden.0, one("100MB/s", VerdictOutcome::NotTestable));
    // Nothing was measured that the promise is about.
    assert_eq!(verdicts(&record("100MB/s", json!({}))).0, []);
}

#[test]
fn a_capacity_holds_only_where_it_was_tested() {
    let outcome = |size: u64, integrity: Option<Integrity>| {
        let mut record = record("64GB", json!({ "size_bytes": size }));
        record.integrity = integrity;
        let (all, why) = verdicts(&record);
        assert_eq!(all.len(), 1, "{all:?}");
        assert_eq!(all[0].0, "capacity");
        (all[0].1, why)
    };
    // Cards sold as 64 GB report between 59 and 64 GB.
    let size = 62_500_000_000;
    assert_eq!(outcome(size, None).0, VerdictOutcome::NotTestable);
    let confirmed = |test| outcome(size, integrity(test, "confirmed", size)).0;
    assert_eq!(confirmed("probe"), VerdictOutcome::LikelyPass);
    assert_eq!(confirmed("verify"), VerdictOutcome::Pass);
    for kind in ["limbo", "wraparound", "chain"] {
        let (fake, why) = outcome(size, integrity("probe", kind, 7_900_000_000));
        assert_eq!(fake, VerdictOutcome::Fail);
        assert!(why.contains("it holds 7.90 GB"), "{why}");
    }
    let damaged = outcome(size, integrity("verify", "damaged", size)).0;
    assert_eq!(damaged, VerdictOutcome::NotTestable);
    // A part that holds its data does not show what is behind it.
    let part = integrity("verify", "confirmed", size).map(|found| Integrity {
        size_bytes: size / 10,
        from_bytes: Some(0),
        ..found
    });
    let (part, why) = outcome(size, part);
    assert_eq!(part, VerdictOutcome::NotTestable);
    assert!(why.contains("only 6.25 GB of it were tested"), "{why}");
    // Nor does reading.
    let (read, why) = outcome(size, integrity("read", "readable", size));
    assert_eq!(read, VerdictOutcome::NotTestable);
    assert!(why.contains("it was only read"), "{why}");
    // A card of 32 GB does not become one of 64 GB by keeping its data.
    let small = outcome(
        31_900_000_000,
        integrity("verify", "confirmed", 31_900_000_000),
    );
    assert_eq!(small.0, VerdictOutcome::Fail, "{}", small.1);
}
