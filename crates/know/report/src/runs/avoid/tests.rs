use cardmark_catalog::{ProductKind, endurance_samples, lines, publications, use_of};
use cardmark_core::{
    Integrity, IntegrityTest, Origin, OriginKind, Record, StorageKind, run_id_from_bytes,
};
use cardmark_judge::{AskedBoard, AvoidQuestion, avoid};

use super::*;
use crate::text::style::columns;

const GB: u64 = 1_000_000_000;

fn fake(name: &str, id: u8) -> Record {
    let mut record = Record::new(
        run_id_from_bytes([id; 16]),
        Origin::of(OriginKind::Measured),
    );
    record.labels.insert("product".to_owned(), name.to_owned());
    record.started_at = Some("2026-10-01T10:00:00Z".to_owned());
    let found = Integrity::new(IntegrityTest::Probe, StorageKind::Limbo, 32 * GB, 2 * GB);
    record.integrity = Some(found);
    record
}

fn shown(
    board: Option<&str>,
    own: &[Record],
    kinds: &[ProductKind],
    all: bool,
    width: usize,
) -> String {
    let published = publications().iter().flat_map(|one| one.records());
    let records: Vec<Record> = published.chain(own.iter().cloned()).collect();
    let wanted = use_of("boot").unwrap();
    let board = board.and_then(|name| AskedBoard::find(name, std::iter::empty()));
    let question = AvoidQuestion {
        wanted,
        board: board.as_ref(),
        kinds,
    };
    let warned = avoid(endurance_samples(), lines(), &records, &question);
    let answer = AvoidAnswer {
        wanted,
        warned: &warned,
    };
    answer.text(all, width, Style::Plain)
}

fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn false_cards_are_named_by_their_labels() {
    let text = shown(None, &[], &[ProductKind::Microsd], false, 80);
    let start = "Avoid cards sold as \"Lenovo\" 128 GB, 256 GB and 2 TB, \"Sansumg\" PRO Plus 2 TB, \"Xiaomi\" 2 TB: hold 4 to 31 GB (2022–2024); register name APPSD or asdfg";
    let flat = flat(&text);
    assert!(flat.starts_with(start), "{text}");
    for part in [
        "Also \"Sony\" 32 GB, not made by Sony (2023): registers 0x00, 0x3432, SD16G",
        "Bekit 8 GB (1 of 3, 2022), Hiksemi NEO 8 GB (1 of 1, 2023), Lexar Professional 1000x 64 GB (2 of 3, 2017), QEEDNS 8 GB (1 of 3, 2015–2023)",
        "products far too slow for boot and desktop (published 2018–2019): ",
        "sources read 2026-11-2",
    ] {
        assert!(flat.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn the_answer_is_ten_lines_of_eighty_columns() {
    let many: Vec<Record> = (1..20)
        .map(|id| fake(&format!("Card number {id} of a box"), id))
        .collect();
    for board in [None, Some("Pi 5"), Some("Pi 4"), Some("Amiga")] {
        let text = shown(board, &[], &[ProductKind::Microsd], false, 80);
        assert!(text.lines().count() <= 10, "{board:?}: {text}");
        for own in [&many[..1], &many] {
            let text = shown(board, own, &[ProductKind::Microsd], false, 80);
            assert!(text.lines().count() <= 14, "{board:?}: {text}");
        }
    }
}

#[test]
fn own_fakes_lead() {
    let text = shown(None, &[fake("No\u{1b}[31m name", 1)], &[], false, 80);
    let start = "Avoid No?[31m name (yours holds 2 GB of 32 GB, 2026-10-01)";
    assert!(text.starts_with(start), "{text}");
}

#[test]
fn each_product_has_its_source_with_all() {
    let text = flat(&shown(Some("Pi 5"), &[], &[], true, 80));
    for part in [
        "\"Lenovo\" 128 GB: hold 8.05 GB to 8.41 GB; 3 cards; made 2022, 2024; registers 0x00, 0x0000, APPSD",
        "\"Lenovo\" 2 TB: holds less than the label; 1 card; ",
        "Lexar Professional 1000x 64 GB: 2 of 3 had an error in the first filling; 3 cards; made 2017",
        "Hiksemi NEO 8 GB: 1 of 1 had an error within 4 fillings",
        "Samsung PRO Plus (MB-MD*SA): 256 GB, made 2024-06",
        "read 2026-11-2",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn every_line_fits() {
    for width in 30..120 {
        for all in [false, true] {
            let text = shown(Some("Pi 5"), &[fake("Mine", 1)], &[], all, width);
            for line in text.lines() {
                assert!(columns(line) <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn without_a_product_to_avoid_the_answer_is_one_sentence() {
    let wanted = use_of("boot").unwrap();
    let answer = AvoidAnswer {
        wanted,
        warned: &[],
    };
    let text = answer.text(true, 80, Style::Plain);
    assert_eq!(text, "No product to avoid is known here\n");
}
