//! Checks of honest and of forged submissions.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests"
)]

use std::collections::BTreeMap;

use cardmark_core::{
    Bus, BusMode, Card, CardFacts, CardKind, Finding, FindingKind, Reader, ReaderKind, Record,
    Severity, UsbBridge,
};
use cardmark_judge::derive_again;
use cardmark_samples::{corpus, record};
use cardmark_share::{
    Area, Check, CheckName, CheckOutcome, EvidenceState, Level, SeedState, Submission, Summary,
    Surroundings, Voice, checks_around, derive, is_quarantined, level, product_range,
    read_submission, write_submission,
};

const TODAY: &str = "2026-11-25";

fn measured() -> Record {
    record("run-measured-quick")
}

fn outcome(checks: &[Check], name: CheckName) -> (CheckOutcome, String) {
    let check = checks.iter().find(|check| check.name == name).unwrap();
    (check.outcome, check.reason.clone())
}

fn of(record: &Record, name: CheckName) -> (CheckOutcome, String) {
    let submission = Submission {
        record: record.clone(),
        statement: None,
    };
    outcome(&derive(&submission, TODAY).checks, name)
}

#[test]
fn no_honest_record_is_accused_in_its_public_form() {
    for kept in corpus() {
        let (name, record) = (&kept.name, kept.record());
        let (text, _) = write_submission(&record, 0, &[]).unwrap();
        let submission = read_submission(&text).unwrap();
        let derivation = derive(&submission, TODAY);
        assert!(
            !is_quarantined(&derivation.checks),
            "{name}: {:?}",
            derivation.checks
        );
        let recomputed = outcome(&derivation.checks, CheckName::Recomputed);
        let is_derived = record.anatomy.is_none();
        assert_eq!(
            recomputed.0 == CheckOutcome::Passed,
            is_derived,
            "{name}: {}",
            recomputed.1
        );
        // The public form of a public form is itself, byte for byte.
        assert_eq!(
            write_submission(&submission.record, 0, &[]).unwrap().0,
            text,
            "{name}"
        );
    }
}

#[test]
fn other_findings_of_another_version_are_marked_and_other_figures_are_not_accepted() {
    let mut record = measured();
    assert_eq!(of(&record, CheckName::Recomputed).0, CheckOutcome::Passed);
    let tool = record.tool.as_mut().unwrap();
    tool.version = "0.0.1".to_owned();
    record.findings.push(Finding::new(
        FindingKind::UnderVoltage,
        Severity::Warning,
        "as an earlier version noticed it",
    ));
    let (outcome, reason) = of(&record, CheckName::Recomputed);
    assert_eq!(outcome, CheckOutcome::Marked, "{reason}");
    record.metrics[0].value *= 1.01;
    assert_eq!(of(&record, CheckName::Recomputed).0, CheckOutcome::Failed);
}

#[test]
fn figures_without_their_trials_are_found() {
    let mut record = measured();
    record.metrics[0].value *= 1.2;
    let (outcome, reason) = of(&record, CheckName::Recomputed);
    assert_eq!(outcome, CheckOutcome::Failed);
    assert!(reason.contains(&record.metrics[0].id), "{reason}");
}

#[test]
fn a_removed_warning_is_found() {
    let mut records = corpus().into_iter().map(|kept| kept.record());
    let found = records.find(|record| !record.findings.is_empty() && !record.trials.is_empty());
    let mut record = found.unwrap();
    let before = record.findings.len();
    record
        .findings
        .retain(|finding| finding.noticed_by.is_some());
    assert!(record.findings.len() < before);
    for metric in &mut record.metrics {
        metric.warnings.clear();
    }
    assert_eq!(of(&record, CheckName::Recomputed).0, CheckOutcome::Failed);
}

#[test]
fn a_forger_who_derives_everything_again_is_found_by_the_accounts() {
    let mut record = measured();
    let trial = record
        .trials
        .iter_mut()
        .find(|trial| trial.workload.id == "rand_read_4k")
        .unwrap();
    trial.span_ns /= 2;
    trial.streams[0].span_ns /= 2;
    let _ = derive_again(&mut record);
    assert_eq!(of(&record, CheckName::Accounting).0, CheckOutcome::Failed);
}

#[test]
fn another_seed_does_not_draw_these_places() {
    let mut record = measured();
    record.seed = Some("0123456789abcdef".to_owned());
    assert_eq!(of(&record, CheckName::Seed).0, CheckOutcome::Failed);
    record.seed = None;
    assert_eq!(of(&record, CheckName::Seed).0, CheckOutcome::CannotTell);
}

#[test]
fn a_workload_that_the_suite_does_not_have_is_found() {
    let mut record = measured();
    let suite = record.suite.as_mut().unwrap();
    suite.name = "dramble".to_owned();
    suite.digest = None;
    suite.version = 1;
    let (outcome, reason) = of(&record, CheckName::Accounting);
    assert_eq!(outcome, CheckOutcome::Failed);
    assert!(reason.contains("not a workload of dramble 1"), "{reason}");
}

#[test]
fn a_suite_of_known_name_and_other_content_is_found() {
    // Its figures would stand beside those of the suite, and could not be derived.
    let mut record = measured();
    record.metrics[0].value *= 2.0;
    record.suite.as_mut().unwrap().digest = Some("0".repeat(64));
    let (outcome, reason) = of(&record, CheckName::Recomputed);
    assert_eq!(outcome, CheckOutcome::Failed);
    assert!(reason.contains("quick 2 has other workloads"), "{reason}");
    record.suite.as_mut().unwrap().version = 99;
    assert_eq!(
        of(&record, CheckName::Recomputed).0,
        CheckOutcome::CannotTell
    );
}

#[test]
fn figures_of_no_suite_are_found() {
    let records = corpus().into_iter().map(|kept| (kept.record(), kept.name));
    for (mut record, name) in records.filter(|(record, _)| record.integrity.is_some()) {
        assert_eq!(
            of(&record, CheckName::Recomputed).0,
            CheckOutcome::Passed,
            "{name}"
        );
        record.metrics = measured().metrics;
        assert_eq!(
            of(&record, CheckName::Recomputed).0,
            CheckOutcome::Failed,
            "{name}"
        );
    }
    let mut record = measured();
    record.suite = None;
    assert_eq!(of(&record, CheckName::Recomputed).0, CheckOutcome::Failed);
}

#[test]
fn times_of_a_workload_are_those_of_the_suite() {
    let mut record = measured();
    for trial in &mut record.trials {
        trial.workload.ramp_ns /= 2;
    }
    assert_eq!(of(&record, CheckName::Accounting).0, CheckOutcome::Failed);
    let mut record = measured();
    for trial in record.trials.iter_mut().filter(|trial| !trial.layout) {
        trial.workload.stop.least_span_ns /= 2;
    }
    let (outcome, reason) = of(&record, CheckName::Accounting);
    assert_eq!(outcome, CheckOutcome::Failed);
    assert!(reason.contains("not a workload of quick 2"), "{reason}");
}

/// The record on a bus of this many bytes per second.
fn on(record: &Record, reader: Reader) -> Record {
    let mut record = record.clone();
    record.devices.truncate(1);
    if record.devices.is_empty() {
        record.devices.push(cardmark_core::DeviceInfo::default());
    }
    record.devices[0].reader = Some(reader);
    record.findings.clear();
    if let Some(host) = &mut record.host {
        host.is_virtual = Some(false);
    }
    record
}

fn reader(kind: ReaderKind) -> Reader {
    Reader {
        kind,
        driver: None,
        bus: None,
        usb: None,
        pcie: None,
        sata_bits_per_s: None,
    }
}

fn fastest_bytes_per_s(record: &Record) -> f64 {
    let direct = record.trials.iter().filter(|trial| {
        trial.workload.manner.access == cardmark_core::Access::Direct
            && trial.workload.procedure.is_none()
    });
    direct
        .map(|trial| trial.bytes() as f64 / trial.span_ns as f64 * 1e9)
        .fold(0.0, f64::max)
}

#[test]
fn no_bus_carries_more_than_lines_and_clock_allow() {
    let record = measured();
    let needed = fastest_bytes_per_s(&record);
    let slot = |clock_hz: f64| {
        let bus = Bus {
            mode: Some(BusMode::Sdr104),
            lines_count: Some(4),
            actual_clock_hz: Some(clock_hz as u64),
            ..Bus::default()
        };
        on(
            &record,
            Reader {
                bus: Some(bus),
                ..reader(ReaderKind::Slot)
            },
        )
    };
    let fast = of(&slot(needed * 2.0 * 4.0), CheckName::Physics);
    assert_eq!(fast.0, CheckOutcome::Passed, "{}", fast.1);
    let slow = of(&slot(needed * 2.0 / 2.0), CheckName::Physics);
    assert_eq!(slow.0, CheckOutcome::Failed);
    assert!(slow.1.contains("MB/s"), "{}", slow.1);
}

#[test]
fn an_unknown_bus_has_no_limit() {
    let record = measured();
    let unknown = on(
        &record,
        Reader {
            bus: Some(Bus::default()),
            ..reader(ReaderKind::Slot)
        },
    );
    assert_eq!(of(&unknown, CheckName::Physics).0, CheckOutcome::CannotTell);
    let usb = UsbBridge {
        vendor: "0000".to_owned(),
        product: "0000".to_owned(),
        revision: None,
        name: None,
        link_bits_per_s: Some(12_000_000),
        usb_version: None,
        port_bits_per_s: None,
        offers_uas: None,
        controller: None,
    };
    let full_speed = on(
        &record,
        Reader {
            usb: Some(usb),
            ..reader(ReaderKind::Usb)
        },
    );
    assert_eq!(of(&full_speed, CheckName::Physics).0, CheckOutcome::Failed);
}

#[test]
fn an_emulated_bus_has_no_limit() {
    let record = measured();
    let sata = Reader {
        sata_bits_per_s: Some(1_000_000),
        ..reader(ReaderKind::Sata)
    };
    let mut slow = on(&record, sata);
    assert_eq!(of(&slow, CheckName::Physics).0, CheckOutcome::Failed);
    slow.host.as_mut().unwrap().is_virtual = Some(true);
    assert_eq!(of(&slow, CheckName::Physics).0, CheckOutcome::CannotTell);
}

#[test]
fn a_device_has_the_size_that_its_card_reports() {
    let mut record = on(&measured(), reader(ReaderKind::Slot));
    let mut card = Card {
        kind: CardKind::Sd,
        registers: BTreeMap::new(),
        decoded: CardFacts::default(),
    };
    card.decoded.capacity_bytes = record.devices[0].size_bytes;
    record.devices[0].card = Some(card);
    assert_eq!(of(&record, CheckName::Physics).0, CheckOutcome::CannotTell);
    *record.devices[0].size_bytes.as_mut().unwrap() *= 2;
    let (outcome, reason) = of(&record, CheckName::Physics);
    assert_eq!(outcome, CheckOutcome::Failed, "{reason}");
}

#[test]
fn wrong_clocks_are_marked_and_not_hidden() {
    let mut record = measured();
    for (day, expected) in [
        ("1970-01-01", CheckOutcome::Passed),
        ("2026-11-26", CheckOutcome::Passed),
        ("2026-11-27", CheckOutcome::Marked),
        ("2031-01-01", CheckOutcome::Marked),
    ] {
        record.started_at = Some(day.to_owned());
        assert_eq!(of(&record, CheckName::Dates).0, expected, "{day}");
    }
}

#[test]
fn copies_and_seeds_are_judged_beside_others() {
    let other = uuid::Uuid::from_u128(7);
    let around_in = |area, evidence, seed| checks_around(area, Surroundings { evidence, seed });
    let around = |evidence, seed| around_in(Area::Shared, evidence, seed);
    let (new, known) = (EvidenceState::New, EvidenceState::Known(other));
    let copy = around(known, None);
    assert!(is_quarantined(&copy) && copy[0].reason.contains(&other.to_string()));
    // Two people who try the same simulated card are honest.
    let simulated = around_in(Area::Simulated, known, None);
    assert_eq!(simulated[0].outcome, CheckOutcome::CannotTell);
    let nothing_to_compare = around(EvidenceState::None, None);
    assert_eq!(nothing_to_compare[0].outcome, CheckOutcome::CannotTell);
    assert_eq!(around(new, None)[0].outcome, CheckOutcome::Passed);
    assert!(!is_quarantined(&around(new, Some(SeedState::Used))));
    let with_seed = |of_seed, state| {
        let seed = Check {
            name: CheckName::Seed,
            outcome: of_seed,
            reason: String::new(),
        };
        let [repeats, fresh] = around(new, Some(state));
        vec![seed, repeats, fresh]
    };
    let mut fresh = with_seed(CheckOutcome::Passed, SeedState::Fresh);
    assert_eq!(level("measured", &fresh), Level::MeasuredWithFreshSeed);
    for other in [
        with_seed(CheckOutcome::Passed, SeedState::Expired),
        // Nothing in the run shows that it used the seed.
        with_seed(CheckOutcome::CannotTell, SeedState::Fresh),
    ] {
        assert_eq!(level("measured", &other), Level::Measured);
    }
    for (origin, expected) in [
        ("simulated", Level::Simulated),
        ("imported", Level::Imported),
        ("dreamt", Level::Imported),
    ] {
        assert_eq!(level(origin, &fresh), expected);
    }
    fresh.extend(copy);
    assert_eq!(level("measured", &fresh), Level::Measured);
}

#[test]
fn far_figures_are_marked_only_among_enough_cards() {
    let older = Voice {
        is_older: true,
        weight: 2,
    };
    let summary = |count: u32| {
        let mut summary = Summary::default();
        (0..count).for_each(|index| summary.add(1000.0 + f64::from(index), older));
        // New submitters, however many, do not move the range.
        (0..200).for_each(|_| summary.add(1e9, Voice::NEW));
        summary
    };
    let outcome = |value, count| product_range([("rand_read_4k", value, &summary(count))]).outcome;
    assert_eq!(outcome(1005.0, 9), CheckOutcome::CannotTell);
    assert_eq!(outcome(1005.0, 20), CheckOutcome::Passed);
    assert_eq!(outcome(100.0, 20), CheckOutcome::Marked);
    assert_eq!(outcome(1e9, 20), CheckOutcome::Marked);
}

#[test]
fn serial_numbers_and_free_texts_are_not_taken() {
    let mut record = measured();
    record
        .labels
        .insert("note".to_owned(), "planted".to_owned());
    record
        .labels
        .insert("product".to_owned(), "Evo Plus".to_owned());
    let (text, withheld) = write_submission(&record, 3, &[]).unwrap();
    assert!(!text.contains("planted"));
    assert!(withheld.contains(&"labels.note".to_owned()), "{withheld:?}");
    let submission = read_submission(&text).unwrap();
    assert_eq!(submission.statement.unwrap().revision, 3);
    assert_eq!(submission.record.labels.len(), 1);
}
