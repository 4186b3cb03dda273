//! The page for a seller.

use cardmark_core::{
    BlockCounts, BlockState, CLAIMS_LABEL, Card, CardFacts, CardKind, Finding, FindingKind,
    Integrity, Record, Sample, Sampling, Severity, StorageKind, SurfacePart, Target, TargetKind,
};
use cardmark_judge::Promise;
use cardmark_report::document::{html, markdown};
use cardmark_report::{is_without_fault, seller_report, untested_promises};
use serde_json::json;

use crate::builder::{empty, full};

fn tested(test: &str, kind: StorageKind, real_bytes: u64) -> Record {
    let found = json!({
        "test": test, "kind": kind, "size_bytes": 32_000_000_000_u64, "real_bytes": real_bytes,
    });
    let mut record = empty();
    record.suite = None;
    record.target = Some(Target::of(TargetKind::Device));
    record.integrity = Some(serde_json::from_value::<Integrity>(found).unwrap());
    record.written_bytes = 57_900;
    let part = |start_bytes, size_bytes, state| SurfacePart {
        start_bytes,
        size_bytes,
        state,
        written_to_bytes: None,
    };
    record.surface = vec![
        part(0, real_bytes, BlockState::Good),
        part(real_bytes, 32_000_000_000 - real_bytes, BlockState::Lost),
    ];
    record.devices[0].sample = Some(Sample::of_card("c0ffee"));
    record.devices[0].card = Some(Card {
        kind: CardKind::Sd,
        registers: Default::default(),
        decoded: CardFacts {
            manufacturer_id: Some(3),
            oem: Some("5344".to_owned()),
            product: Some("SD32G".to_owned()),
            made: Some("2021-07".to_owned()),
            ..CardFacts::default()
        },
    });
    record
        .labels
        .insert(CLAIMS_LABEL.to_owned(), "A1 U3".to_owned());
    record
}

#[test]
fn a_page_has_what_a_seller_asks_for_and_no_advice() {
    let kinds = [
        StorageKind::Limbo,
        StorageKind::Wraparound,
        StorageKind::Chain,
        StorageKind::Damaged,
        StorageKind::Dead,
        StorageKind::ReadOnly,
        StorageKind::IgnoresWrites,
        StorageKind::LosesAcknowledged,
    ];
    for kind in kinds {
        for test in ["probe", "verify"] {
            let record = tested(test, kind, 8_000_000_000);
            let document = seller_report(&record, &["32GB".to_owned()]);
            let text = markdown(&document);
            for part in [
                "Sold as | A1, U3, 32GB",
                "2025-03-04 12:00 UTC",
                "Raspberry Pi 4",
                "SD64G",
                "manufacturer 0x03",
                "product SD32G, made 2021-07",
                "cardmark 0.1.0",
                &record.id.to_string(),
                "Order number",
                "Map of the card",
                "The test writes ",
            ] {
                assert!(text.contains(part), "{kind:?}: no {part} in {text}");
            }
            for part in [
                "sudo",
                "c0ffee",
                "Copy your data",
                "`cardmark",
                "replace it",
            ] {
                assert!(!text.contains(part), "{kind:?}: {part} in {text}");
            }
            // About fifty lines of a printed page.
            assert!(text.lines().count() < 40, "{text}");
            assert!(html(&document).contains("Order number"));
        }
    }
}

#[test]
fn a_page_on_a_run_of_rates_has_its_answer() {
    let text = markdown(&seller_report(&full(), &[]));
    assert!(text.contains("Sold as | Example Ultra 64"), "{text}");
    assert!(text.contains("suite quick, version 1"), "{text}");
}

#[test]
fn a_fake_found_by_samples_has_a_map() {
    let mut record = tested("probe", StorageKind::Limbo, 8_000_000_000);
    record.surface.clear();
    let text = markdown(&seller_report(&record, &[]));
    assert!(text.contains("| 0 B to 8 GB | keeps its data |"), "{text}");
    assert!(
        text.contains("| 8 GB to 32 GB | does not exist: its data is lost |"),
        "{text}"
    );
    let mut irregular = record;
    irregular.integrity.as_mut().unwrap().is_irregular = true;
    assert!(!markdown(&seller_report(&irregular, &[])).contains("Map"));
}

const FAKES: [StorageKind; 3] = [
    StorageKind::Limbo,
    StorageKind::Wraparound,
    StorageKind::Chain,
];

/// The part of a page behind the caption of its map.
fn map(record: &Record) -> Option<String> {
    let text = markdown(&seller_report(record, &[]));
    Some(text.split_once("Map of the card")?.1.to_owned())
}

#[test]
fn probe_and_verify_of_one_fake_have_one_map() {
    for kind in FAKES {
        let mut probed = tested("probe", kind, 8_000_000_000);
        probed.surface.clear();
        let mut verified = tested("verify", kind, 8_000_000_000);
        // Where addresses repeat, only the last part still holds its own data.
        let states = [BlockState::Overwritten, BlockState::Lost, BlockState::Good];
        for (part, state) in verified.surface.iter_mut().zip(states) {
            part.state = state;
        }
        let shown = map(&probed);
        assert!(shown.is_some(), "{kind:?}");
        assert_eq!(shown, map(&verified), "{kind:?}");
    }
}

#[test]
fn neighbours_in_one_state_are_one_part() {
    const STATES: [BlockState; 3] = [BlockState::Good, BlockState::Lost, BlockState::Changed];
    // All maps of six parts.
    for number in 0..3_usize.pow(6) {
        let states = (0..6_u32).map(|place| STATES[number / 3_usize.pow(place) % 3]);
        let states: Vec<BlockState> = states.collect();
        let mut record = tested("verify", StorageKind::Damaged, 32_000_000_000);
        let parts = states.iter().zip(0_u64..);
        record.surface = parts
            .map(|(&state, place)| SurfacePart {
                start_bytes: place * 1_000_000_000,
                size_bytes: 1_000_000_000,
                state,
                written_to_bytes: None,
            })
            .collect();
        let changes = states.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let shown = map(&record).unwrap();
        let rows = shown.lines().filter(|line| line.contains(" to ")).count();
        assert_eq!(rows, changes + 1, "{shown}");
        assert!(shown.contains("6 GB |"), "{shown}");
    }
}

#[test]
fn only_a_fake_is_called_one_and_only_a_fault_is_evidence() {
    let no_fault = "no evidence against the card or its seller";
    let not_fake = "evidence of a fault, not of a fake";
    let fake = "less memory than it reports";
    let cases = [
        (StorageKind::Limbo, fake),
        (StorageKind::Wraparound, fake),
        (StorageKind::Chain, fake),
        (StorageKind::Damaged, not_fake),
        (StorageKind::Dead, not_fake),
        (StorageKind::ReadOnly, not_fake),
        (StorageKind::IgnoresWrites, not_fake),
        (StorageKind::LosesAcknowledged, not_fake),
        (StorageKind::Confirmed, no_fault),
        (StorageKind::Readable, no_fault),
        (StorageKind::Durable, no_fault),
    ];
    for (kind, expected) in cases {
        for test in ["probe", "verify", "endure"] {
            let record = tested(test, kind, 32_000_000_000);
            let text = markdown(&seller_report(&record, &[]));
            for said in [no_fault, not_fake, fake] {
                assert_eq!(text.contains(said), said == expected, "{kind:?}: {text}");
            }
            assert_eq!(is_without_fault(&record, &[]), expected == no_fault);
            for word in ["(limbo)", "(chain)", "(wraparound)"] {
                assert!(!text.contains(word), "{text}");
            }
        }
    }
}

#[test]
fn changed_bits_are_not_called_lost() {
    let mut record = tested("probe", StorageKind::Damaged, 32_000_000_000);
    record.surface.clear();
    record.integrity.as_mut().unwrap().sampling = Some(Sampling {
        samples_count: 689,
        bad_samples_count: 133,
        blocks: BlockCounts {
            changed_count: 133,
            ..BlockCounts::default()
        },
        caught_ratio: 0.01,
        caught_region_ratio: None,
        excluded_cache_bytes: None,
    });
    let text = markdown(&seller_report(&record, &[]));
    assert!(
        text.contains("57.9 kB; 133 of 689 samples not as written"),
        "{text}"
    );
    assert!(!text.contains("lost"), "{text}");
}

#[test]
fn a_promise_is_met_missed_or_not_tested() {
    let record = tested("probe", StorageKind::Confirmed, 32_000_000_000);
    let sold_as = ["A1".to_owned(), "64GB".to_owned()];
    let text = markdown(&seller_report(&record, &sold_as));
    assert!(text.contains("A1: not tested; U3: not tested"), "{text}");
    let untested = untested_promises(&record, &sold_as);
    assert!(untested.contains(&Promise::Class("A1".to_owned())));
    let mut small = record;
    small.devices[0].size_bytes = Some(32_000_000_000);
    let text = markdown(&seller_report(&small, &sold_as));
    assert!(text.contains("64GB: not met"), "{text}");
    assert!(!is_without_fault(&small, &sold_as));
}

/// The map of a record begins with the part tested, wherever that lies.
#[test]
fn a_part_is_shown_where_it_lies_and_is_not_the_card() {
    let mut record = tested("verify", StorageKind::Damaged, 1_000_000_000);
    let found = record.integrity.as_mut().unwrap();
    found.from_bytes = Some(3_000_000_000);
    let text = markdown(&seller_report(&record, &[]));
    for part in [
        "| 3 GB to 4 GB | keeps its data |",
        "to every place of a part of the card,",
        "cannot tell a fake from a genuine card",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    assert!(!text.contains("not of a fake"), "{text}");
}

#[test]
fn files_are_not_places_of_the_card() {
    let mut record = tested("verify", StorageKind::Damaged, 1_000_000_000);
    record.target = Some(Target::of(TargetKind::Directory));
    let text = markdown(&seller_report(&record, &[]));
    for part in ["Map of the files", " to files on the card,"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

/// Places that are equal to three digits.
#[test]
fn a_small_bad_place_is_shown_with_its_size() {
    let mut record = tested("verify", StorageKind::Damaged, 1_000_000_000);
    record.surface[0].start_bytes = 500_000_256;
    record.surface[0].size_bytes = 512;
    record.surface[0].state = BlockState::Lost;
    let text = markdown(&seller_report(&record, &[]));
    assert!(text.contains("| 512 B at 500 MB | data lost |"), "{text}");
}

/// One bad block marks a whole cell.
#[test]
fn a_coarse_map_is_no_evidence() {
    for (cell_bytes, is_shown) in [(None, true), (Some(512), true), (Some(7_815_168), false)] {
        let mut record = tested("verify", StorageKind::Damaged, 32_000_000_000);
        record.surface[0].state = BlockState::Changed;
        record.integrity.as_mut().unwrap().map_cell_bytes = cell_bytes;
        let text = markdown(&seller_report(&record, &[]));
        assert_eq!(text.contains("data changed"), is_shown, "{text}");
    }
}

#[test]
fn a_card_that_failed_during_a_test_is_shown_without_advice() {
    for claims in ["", "64GB"] {
        let mut record = tested("probe", StorageKind::Unfinished, 32_000_000_000);
        record.surface.clear();
        record.devices[0].size_bytes = Some(32_000_000_000);
        record
            .labels
            .insert(CLAIMS_LABEL.to_owned(), claims.to_owned());
        let finding = Finding::new(FindingKind::Vanished, Severity::Error, String::new());
        record.findings.push(finding);
        let text = markdown(&seller_report(&record, &[]));
        assert!(
            text.contains("The card disappeared during the test."),
            "{text}"
        );
        assert!(!text.contains("Do not rely"), "{text}");
        assert_eq!(text.contains("Smaller than its label"), !claims.is_empty());
    }
}
