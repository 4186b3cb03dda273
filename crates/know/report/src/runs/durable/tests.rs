use cardmark_catalog::{endurance_promises, endurance_samples, use_of};
use cardmark_judge::{DASH_CAM_BYTES_PER_S, durable, tested_by_others};
use jiff::civil::{Date, date};
use proptest::prelude::*;

use super::*;
use crate::text::style::columns;

const GB: u64 = 1_000_000_000;

/// The answer for a use and a capacity, in `width` columns.
fn shown(wanted: &str, gigabytes: u64, own: &[Tested], all: bool, width: usize) -> String {
    shown_on(date(2026, 11, 28), wanted, gigabytes, own, all, width)
}

fn shown_on(
    today: Date,
    wanted: &str,
    gigabytes: u64,
    own: &[Tested],
    all: bool,
    width: usize,
) -> String {
    let question = DurableQuestion {
        capacity_bytes: gigabytes * GB,
        least_write_bytes_per_s: (wanted == "dash_cam").then_some(DASH_CAM_BYTES_PER_S),
        today: today.into(),
    };
    let answer = DurableAnswer {
        wanted: use_of(wanted).unwrap(),
        question: &question,
        found: &durable(endurance_promises(), &question),
        tested: &tested_by_others(endurance_samples(), None),
        own,
    };
    answer.text(all, width, Style::Plain)
}

fn own() -> Vec<Tested> {
    let cycles = |at_least, at_most| Cycles { at_least, at_most };
    vec![Tested {
        product: "Mine\u{1b}[31m 32 GB".to_owned(),
        capacity_bytes: 32 * GB,
        first_errors: vec![cycles(1415, Some(1415)), cycles(13_876, None)],
        made: Vec::new(),
        sources: Vec::new(),
        checked_on: None,
    }]
}

fn assert_has(text: &str, parts: &[&str]) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let flat = words.join(" ");
    for part in parts {
        assert!(flat.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn the_answer_is_ten_lines() {
    for wanted in ["dash_cam", "endurance"] {
        for gigabytes in [8, 16, 32, 64, 100, 128, 256, 512, 1000, 4000] {
            let text = shown(wanted, gigabytes, &[], false, 80);
            let count = text.lines().count();
            assert!(count <= 10, "{count} lines: {text}");
        }
    }
}

/// Two years later no card is known to be sold; the newest line leads.
#[test]
fn old_facts_still_make_an_answer() {
    for wanted in ["dash_cam", "endurance"] {
        for gigabytes in [32, 128] {
            let text = shown_on(date(2028, 11, 28), wanted, gigabytes, &[], false, 80);
            assert!(text.lines().count() <= 10, "{text}");
            assert!(text.contains("1. Samsung PRO Endurance (2022)"), "{text}");
            assert!(!text.contains("within a year"), "{text}");
        }
    }
}

#[test]
fn a_dash_cam_is_answered_with_volume_hours_and_dates() {
    let text = shown("dash_cam", 128, &[], false, 80);
    let start = "For a dash cam, 128 GB: Samsung PRO Endurance (2022), made for 820 TB of writes\n";
    assert!(text.starts_with(start), "{text}");
    let parts = [
        "1. Samsung PRO Endurance (2022) 820 TB 70,080 h 2022-05 2026-01 U3",
        "3–4. Kingston High Endurance 117 TB 10,000 h 2022 2026-08 U1",
        "5. ADATA High Endurance 234 TB 20,000 h 2022 – U3",
        "not tests; those in shops within a year come first",
        "No 128 GB card was tested until an error; 32 GB: `--capacity 32`",
    ];
    assert_has(&text, &parts);
    let text = shown("dash_cam", 32, &[], false, 80);
    assert_has(
        &text,
        &[
            "C10, U1 or V10 on a label is fast enough",
            "Tested: WD Purple 32 GB, first error after 1,366 fillings",
            "17,520 h",
            "in shops class",
            "7 products not made for cameras: `--all`",
        ],
    );
    // Neither ids nor metrics.
    assert!(!text.contains('_'), "{text}");
}

#[test]
fn endurance_shows_fillings_and_tests() {
    let text = shown("endurance", 32, &[], false, 80);
    let parts = [
        "205 TB 6,405",
        "Samsung EVO Plus 1,415 to > 17,222 (3 cards), Hiksemi NEO 1,939 to 7,940 (2 cards)",
        "4 products more: `--all`",
        "industrial cards state more: `--all`",
    ];
    assert_has(&text, &parts);
    let text = shown("endurance", 128, &[], true, 80);
    let parts = [
        "Samsung EVO Plus 32 GB, first error after 1,415, > 13,876 and > 17,222 fillings (3 cards made 2020",
        "SanDisk Ultra 32 GB, first error after 395, 1,583 and 1,905 fillings (3 cards made 2022, 2023",
        "Kingston Industrial SDCIT2 128 GB: up to 3,840 TB",
        "20,000 h at 13 Mbit/s",
        "Samsung PRO Endurance (2018): 512 TB",
    ];
    assert_has(&text, &parts);
    assert!(!text.contains("Sony") && !text.contains("Lenovo"), "{text}");
}

#[test]
fn own_tests_come_before_the_figures_of_others() {
    let text = shown("endurance", 32, &own(), false, 200);
    let second = text.lines().nth(1).unwrap();
    let expected = "Your own test: Mine?[31m 32 GB, first error after 1,415 and > 13,876 fillings";
    assert_eq!(second, expected);
    let mut whole = own();
    whole[0].first_errors.remove(0);
    let text = shown("endurance", 32, &whole, false, 200);
    assert_has(&text, &["no error after 13,876 fillings"]);
}

#[test]
fn a_capacity_without_a_statement_is_named() {
    let text = shown("dash_cam", 100, &[], false, 80);
    let parts = [
        "For a dash cam, 128 GB: Samsung PRO Endurance (2022)",
        "no maker states any for 100 GB",
    ];
    assert_has(&text, &parts);
    let nothing = Durable {
        capacity_bytes: 100 * GB,
        ordered: Vec::new(),
        replaced: Vec::new(),
        beside: Vec::new(),
    };
    let question = DurableQuestion {
        capacity_bytes: 100 * GB,
        least_write_bytes_per_s: None,
        today: date(2026, 11, 28).into(),
    };
    let answer = DurableAnswer {
        wanted: use_of("endurance").unwrap(),
        question: &question,
        found: &nothing,
        tested: &[],
        own: &[],
    };
    assert_has(
        &answer.text(true, 80, Style::Plain),
        &["no maker states how much a card takes"],
    );
}

proptest! {
    #[test]
    fn every_line_fits(
        is_camera in any::<bool>(),
        gigabytes in prop::sample::select(vec![8_u64, 32, 100, 128, 1000]),
        all in any::<bool>(),
        width in 30_usize..200,
    ) {
        let wanted = if is_camera { "dash_cam" } else { "endurance" };
        let text = shown(wanted, gigabytes, &own(), all, width);
        for line in text.lines() {
            prop_assert!(columns(line) <= width, "{}: {}", width, line);
        }
        prop_assert!(text.contains("TB"));
        let is_first = |word: &&str| *word == "1.";
        let names = text.split_whitespace().filter(is_first).count();
        prop_assert!(width < 80 || names == 1, "{}", text);
    }
}

/// A name with a remark after its capacity, and cards without an error.
#[test]
fn tests_are_a_range_of_cards() {
    let text = shown("endurance", 64, &[], false, 80);
    let parts = [
        "Kodak Ultra Performance (black and gold) 219 to 2,518 (3 cards)",
        "Lexar Professional 1000x 0 to 163 (3 cards)",
    ];
    assert_has(&text, &parts);
    let mut whole = own();
    assert_eq!(first_errors(&whole[0]), "1,415 to > 13,876 (2 cards)");
    whole[0].first_errors.remove(0);
    assert_eq!(first_errors(&whole[0]), "> 13,876 (1 card)");
}
