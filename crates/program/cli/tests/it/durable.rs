//! `recommend` for endurance and dash cams, and `recommend --avoid`. The order depends on the day, so it is tested in the crates
//! that get the day.

use cardmark_testkit::Program;
use serde_json::Value;

use crate::common::{assert_error, program, scratch};

fn answered(program: &Program, arguments: &[&str]) -> String {
    let output = program.run(&[&["recommend"], arguments].concat());
    assert_eq!(output.code, 0, "{output}");
    output.stdout
}

fn data(program: &Program, arguments: &[&str]) -> Value {
    serde_json::from_str(&answered(program, &[arguments, &["--json"]].concat())).unwrap()
}

fn assert_has(text: &str, parts: &[&str]) {
    let flat: Vec<&str> = text.split_whitespace().collect();
    let flat = flat.join(" ");
    for part in parts {
        assert!(flat.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn a_dash_cam_is_asked_for_in_the_words_of_people() {
    let scratch = scratch();
    let program = program(&scratch);
    let text = answered(&program, &["--use", "dash cam"]);
    for words in ["dashcam", "Dash Cam", "dash_cam", "car camera"] {
        assert_eq!(answered(&program, &["--use", words]), text);
    }
    assert!(text.lines().count() <= 10, "{text}");
    assert_has(
        &text,
        &[
            "For a dash cam, 128 GB: ",
            "820 TB",
            "702 TB",
            "ADATA High Endurance",
        ],
    );
    let text = answered(&program, &["--use", "dash cam", "--capacity", "32"]);
    assert_has(
        &text,
        &[
            "For a dash cam, 32 GB: ",
            "205 TB",
            "WD Purple 32 GB, first error after 1,366 fillings",
        ],
    );
}

#[test]
fn the_cheapest_card_that_lasts_is_named() {
    let scratch = scratch();
    let program = program(&scratch);
    let prices = [
        "--price",
        "PRO Endurance=30",
        "--price",
        "SanDisk High Endurance 128 GB=15",
    ];
    let asked = |more: &[&str]| {
        answered(
            &program,
            &[&["--use", "dash cam"], &prices[..], more].concat(),
        )
    };
    let text = asked(&[]);
    let cheapest =
        "SanDisk High Endurance at 15.00 is the cheapest that is enough, made for 117 TB";
    assert_has(&text, &[cheapest, "price", "30.00"]);
    assert!(text.lines().count() <= 10, "{text}");
    let text = asked(&["--budget", "20"]);
    assert_has(&text, &[cheapest]);
    assert!(!text.contains("PRO Endurance"), "above the budget: {text}");
    let unknown = program.run(&["recommend", "--use", "dash cam", "--price", "Zeppelin=3"]);
    assert_error(
        &unknown,
        2,
        &[
            "no maker states the endurance of a card called `Zeppelin`",
            "PRO Endurance",
        ],
    );
}

#[test]
fn endurance_is_always_answered() {
    let scratch = scratch();
    let program = program(&scratch);
    for more in [
        &[][..],
        &["--capacity", "7"],
        &["--capacity", "1000000"],
        &["--kind", "usb", "--board", "Amiga", "--budget", "3"],
    ] {
        let text = answered(&program, &[&["--use", "endurance"], more].concat());
        assert_has(&text, &["For endurance, ", ", made for "]);
    }
    let text = answered(&program, &["--use", "endurance", "--all"]);
    let ranges = [
        "Samsung EVO Plus 32 GB, first error after 1,415, > 13,876 and > 17,222 fillings",
        "SanDisk Ultra 32 GB, first error after 395, 1,583 and 1,905 fillings",
    ];
    assert_has(&text, &ranges);
    let shown = data(&program, &["--use", "endurance", "--capacity", "32"]);
    assert_eq!(shown["use"]["id"], "endurance");
    assert_eq!(shown["stated"]["capacity_bytes"], 32_000_000_000_u64);
    assert_eq!(shown["own_tests"], Value::Array(Vec::new()));
}

/// `Endurance` is a part of several names: none of them gets the price.
#[test]
fn a_price_of_several_cards_is_refused() {
    let scratch = scratch();
    let output =
        program(&scratch).run(&["recommend", "--use", "endurance", "--price", "Endurance=10"]);
    let hint = "give the price of one of Samsung PRO Endurance";
    assert_error(&output, 2, &["`Endurance` is several cards", hint]);
}

#[test]
fn cards_to_avoid_are_named_without_a_use() {
    let scratch = scratch();
    let program = program(&scratch);
    let text = answered(&program, &["--avoid"]);
    assert!(text.lines().count() <= 10, "{text}");
    assert_has(
        &text,
        &[
            "\"Lenovo\" 128 GB, 256 GB and 2 TB",
            "not made by Sony (2023)",
            "Bekit 8 GB (1 of 3, 2022)",
        ],
    );
    assert!(!text.contains("command queue"), "{text}");
    let text = answered(&program, &["--avoid", "--board", "Pi 5"]);
    assert_has(
        &text,
        &["cards whose command queue fails on a Raspberry Pi 5"],
    );
    // A name of no board: across boards, and said so.
    let output = program.run(&["recommend", "--avoid", "--board", "Amiga"]);
    assert_eq!(output.stdout, answered(&program, &["--avoid"]));
    assert!(
        output.stderr.contains("no board called `Amiga`"),
        "{output}"
    );
    let shown = data(&program, &["--avoid", "--use", "logging"]);
    assert_eq!(shown["use"]["id"], "logging");
    let warned = shown["avoid"].as_array().unwrap();
    assert!(
        warned.iter().any(|one| one["reason"] == "false_name"),
        "{warned:?}"
    );
    let text = answered(&program, &["--avoid", "--all"]);
    assert_has(&text, &["https://bahjeez.com/?p=1859", "read 2026-11-2"]);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let scratch = scratch();
    let program = program(&scratch).columns(40);
    for arguments in [
        &["--use", "dash cam"][..],
        &["--use", "endurance", "--all"],
        &["--avoid", "--all"],
    ] {
        for line in answered(&program, arguments).lines() {
            assert!(line.chars().count() <= 40, "{arguments:?}: {line}");
        }
    }
}
