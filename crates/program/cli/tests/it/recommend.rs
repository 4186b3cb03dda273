//! `recommend` and `rank` on what others published, and on own runs; lists in little room.

use cardmark_testkit::Program;
use serde_json::Value;

use crate::common::{assert_error, program, scratch};

fn products(list: &Value) -> Vec<&str> {
    let standings = list.as_array().unwrap().iter();
    standings
        .map(|standing| standing["product"].as_str().unwrap())
        .collect()
}

/// Imports a rate of dd, as of this product.
fn import(program: &Program, rate: &str, labels: &[&str]) {
    let figure = format!("dd_write={rate}MB/s");
    let mut arguments = vec!["import", "--figure", &figure];
    for label in labels {
        arguments.extend(["--label", label]);
    }
    let output = program.run(&arguments);
    assert_eq!(output.code, 0, "{output}");
}

#[test]
fn the_card_of_the_articles_leads_and_says_why() {
    let scratch = scratch();
    let program = program(&scratch);
    let boot = ["recommend", "--use", "boot", "--board", "Pi 2", "--all"];
    let output = program.run(&boot);
    assert_eq!(output.code, 0, "{output}");
    for part in [
        "1–4. Samsung Evo+ 32 GB (microSD): slow",
        "759 IOPS (needs 800)",
        "test undated, first sold 2015",
        "2 products of other kinds; `--kind all` shows",
        "(few data)",
        "geerling-dramble",
        "SD Specifications",
    ] {
        assert!(output.stdout.contains(part), "no `{part}` in {output}");
    }
    let output = program.run(&[&boot[..], &["--json"]].concat());
    let shown: Value = serde_json::from_str(&output.stdout).unwrap();
    let first = &shown["recommendation"]["standings"][0];
    assert_eq!(
        first["suitability"]["limiting"]["metric"],
        "iozone_random_write"
    );
    assert_eq!(first["is_sparse"], true);
    assert_eq!(shown["use"]["id"], "boot");
    let narrow = program.columns(40).run(&boot);
    for line in narrow.stdout.lines() {
        assert!(line.chars().count() <= 40, "{line}");
    }
}

#[test]
fn prices_are_the_users_own() {
    let scratch = scratch();
    let program = program(&scratch);
    for (rate, product, price) in [
        ("21", "product=Mine", "price=8 EUR"),
        ("22", "product=Dear", "price=80 EUR"),
    ] {
        import(&program, rate, &[product]);
        assert_eq!(program.run(&["label", "last", price]).code, 0);
    }
    let wish = ["recommend", "--use", "camera", "--budget", "10 EUR"];
    let output = program.run(&[&wish[..], &["--json"]].concat());
    let shown: Value = serde_json::from_str(&output.stdout).unwrap();
    let found = &shown["recommendation"];
    assert_eq!(products(&found["standings"]), ["Mine"]);
    assert_eq!(found["standings"][0]["price"]["amount"], 8.0);
    assert_eq!(found["standings"][0]["sources"][0], "imported");
    assert_eq!(found["too_dear_count"], 1);
    let others = products(&found["price_not_known"]);
    assert!(others.contains(&"Samsung Evo+ 32 GB"), "{others:?}");
    let text = program.run(&wish).stdout;
    assert!(text.contains("Price not known"), "{text}");
    assert!(
        text.contains("1 product that cost more than 10.00 EUR"),
        "{text}"
    );
}

#[test]
fn prices_are_stated_on_the_command_line_too() {
    let scratch = scratch();
    let program = program(&scratch);
    let wish = [
        "recommend",
        "--use",
        "boot",
        "--board",
        "Pi 4",
        "--budget",
        "12",
    ];
    let text = program.run(&wish).stdout;
    assert!(
        text.contains("at most 12.00: 0 (none has a price)"),
        "{text}"
    );
    let prices = [
        "--price",
        "Evo Plus 64=9,50",
        "--price",
        "Extreme 16=20",
        "--json",
    ];
    let output = program.run(&[&wish[..], &prices[..]].concat());
    let shown: Value = serde_json::from_str(&output.stdout).unwrap();
    let found = &shown["recommendation"];
    assert_eq!(products(&found["standings"]), ["Samsung Evo Plus 64 GB"]);
    assert_eq!(found["too_dear_count"], 1);
    let output = program.run(&[&wish[..], &["--price", "Extreme Pro=9"]].concat());
    assert_error(&output, 2, &["`Extreme Pro` is several products"]);
}

#[test]
fn without_the_figure_that_decides_there_is_no_ranking() {
    let scratch = scratch();
    let program = program(&scratch);
    for wanted in ["logging", "database"] {
        let output = program.run(&["recommend", "--use", wanted]);
        let message = [
            "no published figures of synced write 4 KiB",
            "`cardmark run` measures it",
        ];
        assert_error(&output, 3, &message);
    }
    let text = program
        .run(&["recommend", "--use", "logging", "--all"])
        .stdout;
    for part in [
        "Cannot answer: ",
        "– SanDisk Extreme Plus 16 GB (microSD): could be ample",
        "no figure of synced write 4 KiB",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    let output = program.run(&["recommend", "--use", "endurance"]);
    let message = [
        "how much a card takes before it fails",
        "cardmark endure",
        "PRO Endurance",
    ];
    assert_error(&output, 3, &message);
    for wanted in ["logging", "endurance"] {
        let output = program.run(&["recommend", "--use", wanted, "--json"]);
        assert_eq!(output.code, 3, "{output}");
        let shown: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(shown["use"]["id"], wanted);
    }
    // An own figure answers.
    let figure = [
        "import",
        "--figure",
        "sync_write_4k=90IOPS",
        "--label",
        "product=Mine",
    ];
    assert_eq!(program.run(&figure).code, 0);
    let text = program.run(&["recommend", "--use", "logging"]).stdout;
    assert!(text.contains("1. Mine: could be good"), "{text}");
    assert!(text.contains("Cannot tell: "), "{text}");
}

#[test]
fn other_kinds_are_for_those_who_ask() {
    let scratch = scratch();
    let program = program(&scratch);
    let kinds = |kind: &str| {
        let boot = ["recommend", "--use", "boot", "--json", "--kind", kind];
        let output = program.run(&boot);
        let shown: Value = serde_json::from_str(&output.stdout).unwrap();
        let standings = shown["recommendation"]["standings"]
            .as_array()
            .unwrap()
            .clone();
        let mut kinds: Vec<String> = standings
            .iter()
            .map(|one| one["kind"].to_string())
            .collect();
        kinds.sort();
        kinds.dedup();
        kinds
    };
    assert_eq!(kinds("microsd"), ["\"microsd\""]);
    assert_eq!(kinds("emmc"), ["\"emmc\""]);
    assert!(kinds("all").len() > 2);
    assert_eq!(kinds("microsd,emmc").len(), 2);
    let output = program.run(&["recommend", "--use", "boot", "--kind", "tape"]);
    assert_error(&output, 2, &["expected one of microsd, sd"]);
}

#[test]
fn nobody_is_told_to_buy_a_simulated_card() {
    let scratch = scratch();
    let program = program(&scratch);
    let run = ["run", "sim:a1-32gb", "--label", "product=Simulated"];
    assert_eq!(program.run(&run).code, 0);
    let output = program.run(&["recommend", "--use", "boot", "--all"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(!output.stdout.contains("Simulated"), "{output}");
    let shown = "Left out: 1 run of simulated cards.";
    assert!(output.stdout.contains(shown), "{output}");
    let output = program.run(&["recommend", "--use", "boot", "--board", "Amiga"]);
    assert_error(&output, 2, &["runs of simulated cards do not count"]);
}

#[test]
fn rows_of_two_settings_are_two_places() {
    let scratch = scratch();
    let program = program(&scratch);
    let rank = ["rank", "--metric", "iozone_random_write"];
    let from = ["--publication", "geerling-turing-pi"];
    let output = program.run(&[&rank[..], &from[..]].concat());
    for printed in ["23.28", "28.54", "4 Model B, pi4-usb-uasp"] {
        assert!(output.stdout.contains(printed), "no {printed} in {output}");
    }
    assert!(!output.stdout.contains("2 runs"), "{output}");
    // Own runs as well.
    for (rate, setting) in [("10", "setting=on"), ("20", "setting=off")] {
        import(&program, rate, &["product=Mine", setting]);
    }
    let output = program.run(&["rank", "--metric", "dd_write", "--json"]);
    let shown: Value = serde_json::from_str(&output.stdout).unwrap();
    let places = shown[0]["places"].as_array().unwrap().iter();
    let own: Vec<&str> = places
        .filter(|place| place["name"] == "Mine")
        .map(|place| place["board"].as_str().unwrap())
        .collect();
    assert_eq!(own, ["unknown board, off", "unknown board, on"]);
}

#[test]
fn no_line_of_a_list_is_wider_than_the_terminal() {
    let scratch = scratch();
    let program = program(&scratch);
    let text = program.run(&["list", "published"]).stdout;
    assert!(
        text.contains("1 figure of 1 run;") && text.contains("desktop_install_time_1st"),
        "{text}"
    );
    let program = program.columns(40);
    for what in ["models", "suites", "published", "devices"] {
        let output = program.run(&["list", what]);
        assert_eq!(output.code, 0, "{output}");
        for line in output.stdout.lines() {
            assert!(line.chars().count() <= 40, "{what}: {line}");
        }
    }
}

#[test]
fn a_use_that_is_not_known_is_told_those_that_are() {
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run(&["recommend", "--use", "gaming"]);
    assert_error(
        &output,
        2,
        &["unknown use `gaming`", "choose boot, database, camera"],
    );
    let output = program.run(&["recommend", "--use", "boot", "--board", "Amiga"]);
    assert_error(
        &output,
        2,
        &["nothing can be recommended", "called `Amiga`"],
    );
    let output = program.run(&["recommend", "--use", "boot", "--budget", "cheap"]);
    assert_error(&output, 2, &["expected one number"]);
}
