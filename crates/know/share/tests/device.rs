//! Runs that summaries count, and their levels.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::BTreeMap;

use cardmark_core::{
    Card, CardFacts, CardKind, DeviceInfo, OriginKind, Reader, ReaderKind, Record, TargetKind,
};
use cardmark_judge::derive_again;
use cardmark_samples::{corpus, in_a_reader, record};
use cardmark_share::{
    Check, CheckName, CheckOutcome, Level, Submission, counts, derive, fits_product,
    is_quarantined, level,
};
use proptest::prelude::*;

const TODAY: &str = "2026-11-28";

fn checks(record: &Record) -> Vec<Check> {
    let submission = Submission {
        record: record.clone(),
        statement: None,
    };
    derive(&submission, TODAY).checks
}

fn outcome(checks: &[Check], name: CheckName) -> CheckOutcome {
    let found = checks.iter().find(|check| check.name == name);
    found.unwrap().outcome
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

#[test]
fn an_honest_run_of_a_card_counts() {
    let mut record = in_a_reader(&record("run-measured-quick"));
    let label = |name: &str| BTreeMap::from([("product".to_owned(), name.to_owned())]);
    record.labels = label("SanDisk Ultra 32 GB");
    let found = checks(&record);
    assert!(counts(&found) && fits_product(&found), "{found:?}");
    assert_eq!(level("measured", &found), Level::Measured);
    record.labels = label("SanDisk Ultra 64 GB");
    let found = checks(&record);
    assert!(counts(&found) && !fits_product(&found), "{found:?}");
}

/// The kept measured runs were made on the disk of a virtual machine.
#[test]
fn a_virtual_disk_counts_nowhere() {
    for name in ["run-measured-quick", "run-measured-application"] {
        let mut record = record(name);
        record
            .labels
            .insert("product".to_owned(), "Samsung Evo+ 32 GB".to_owned());
        let found = checks(&record);
        assert!(!is_quarantined(&found), "{name}: {found:?}");
        assert!(
            !counts(&found) && !fits_product(&found),
            "{name}: {found:?}"
        );
    }
}

/// Board, device and host are edited; registers, bus and reader are left out.
#[test]
fn six_edited_fields_make_no_card_of_a_virtual_disk() {
    let mut record = record("run-measured-quick");
    record.board.as_mut().unwrap().model = Some("Raspberry Pi 5 Model B Rev 1.0".to_owned());
    record.devices = vec![DeviceInfo {
        name: "disk0".to_owned(),
        model: Some("SD32G".to_owned()),
        size_bytes: Some(31_914_983_424),
        ..DeviceInfo::default()
    }];
    record.host.as_mut().unwrap().is_virtual = Some(false);
    let found = checks(&record);
    assert_eq!(
        outcome(&found, CheckName::Board),
        CheckOutcome::Failed,
        "{found:?}"
    );
    assert_eq!(
        outcome(&found, CheckName::Physics),
        CheckOutcome::Failed,
        "{found:?}"
    );
    // Even with a host that agrees, it is of a card that is not identified.
    record.board = None;
    record.target.as_mut().unwrap().filesystem_bytes = None;
    let _ = derive_again(&mut record);
    let found = checks(&record);
    assert!(!is_quarantined(&found) && !counts(&found), "{found:?}");
    assert_eq!(level("measured", &found), Level::CardNotIdentified);
    let mut without = record.clone();
    without.devices.clear();
    assert_eq!(
        level("measured", &checks(&without)),
        Level::CardNotIdentified
    );
    let mut fresh = found;
    for name in [CheckName::Seed, CheckName::FreshSeed] {
        fresh.push(Check {
            name,
            outcome: CheckOutcome::Passed,
            reason: String::new(),
        });
    }
    assert_eq!(level("measured", &fresh), Level::CardNotIdentified);
}

#[test]
fn a_slot_without_a_bus_is_as_fast_as_that_of_its_board() {
    let slow = [
        "Raspberry Pi 3 Model B Rev 1.2",
        "Raspberry Pi 4 Model B Rev 1.4",
    ];
    for (model, expected) in slow
        .map(|model| (model, CheckOutcome::Failed))
        .into_iter()
        .chain([("Some board", CheckOutcome::CannotTell)])
    {
        let mut record = in_a_reader(&record("run-measured-quick"));
        record.board.as_mut().unwrap().model = Some(model.to_owned());
        let device = &mut record.devices[0];
        device.reader = Some(reader(ReaderKind::Slot));
        device.card = Some(Card {
            kind: CardKind::Sd,
            registers: BTreeMap::new(),
            decoded: CardFacts::default(),
        });
        record.findings.clear();
        let found = checks(&record);
        assert_eq!(outcome(&found, CheckName::Physics), expected, "{model}");
    }
}

/// Figures of simulated cards whose origin is edited are those of no device.
#[test]
fn a_simulated_run_with_another_origin_counts_nowhere() {
    let simulated = corpus().into_iter().map(|kept| kept.record());
    let simulated = simulated.filter(|record| record.origin.kind == OriginKind::Simulated);
    for mut record in simulated {
        record.origin.kind = OriginKind::Measured;
        if let Some(target) = &mut record.target {
            target.kind = TargetKind::Directory;
        }
        let found = checks(&record);
        let is_kept_out = is_quarantined(&found) || !counts(&found);
        assert!(is_kept_out, "{:?}", record.origin.source);
    }
}

proptest! {
    /// Leaving something out never makes a run count that does not count with it, but for what contradicts it.
    #[test]
    fn a_missing_field_lets_no_run_count(parts in prop::collection::vec(0..6_u8, 0..6)) {
        let mut record = record("run-measured-quick");
        for part in parts {
            match part {
                0 => record.devices.iter_mut().for_each(|device| device.reader = None),
                1 => record.devices.iter_mut().for_each(|device| device.sample = None),
                2 => record.devices.clear(),
                3 => record.board = None,
                4 => record.host = None,
                _ => record.target = None,
            }
        }
        prop_assert!(!counts(&checks(&record)));
    }
}

/// The kept simulated runs with another origin are recognised by their first trial, if it is short.
#[test]
fn runs_of_our_models_are_recognised() {
    let (mut recognised, mut too_long) = (0, 0);
    let simulated = corpus().into_iter().map(|kept| kept.record());
    let simulated = simulated.filter(|record| record.origin.kind == OriginKind::Simulated);
    for mut record in simulated.filter(|record| !record.trials.is_empty()) {
        record.origin.kind = OriginKind::Measured;
        let found = checks(&record);
        let check = found
            .iter()
            .find(|check| check.name == CheckName::Simulation)
            .unwrap();
        let source = record.origin.source.clone().unwrap();
        match check.outcome {
            CheckOutcome::Failed => {
                recognised += 1;
                assert!(check.reason.contains("simulated card"), "{}", check.reason);
            }
            CheckOutcome::CannotTell => too_long += 1,
            other => panic!("{source}: {other:?} {}", check.reason),
        }
    }
    assert!(recognised >= 8, "{recognised}, {too_long} too long");
}
