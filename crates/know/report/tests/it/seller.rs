//! The page for a seller.

use cardmark_core::{
    BlockState, CLAIMS_LABEL, Card, CardFacts, CardKind, Integrity, Record, Sample, StorageKind,
    SurfacePart,
};
use cardmark_report::document::{html, markdown};
use cardmark_report::seller_report;
use serde_json::json;

use crate::builder::{empty, full};

fn tested(test: &str, kind: StorageKind, real_bytes: u64) -> Record {
    let found = json!({
        "test": test, "kind": kind, "size_bytes": 32_000_000_000_u64, "real_bytes": real_bytes,
    });
    let mut record = empty();
    record.suite = None;
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
                "The test wrote ",
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
    assert!(text.contains("| 8 GB to 32 GB | data lost |"), "{text}");
    let mut irregular = record;
    irregular.integrity.as_mut().unwrap().is_irregular = true;
    assert!(!markdown(&seller_report(&irregular, &[])).contains("Map"));
}
