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
    let ranked = |more: &[&str]| {
        let output = program.run(&[&wish[..], more, &["--json"]].concat());
        let shown: Value = serde_json::from_str(&output.stdout).unwrap();
        let found = &shown["recommendation"];
        assert_eq!(found["too_dear_count"], 1);
        products(&found["standings"]).join(", ")
    };
    assert_eq!(ranked(&[]), "Mine");
    // Stated on the command line, too.
    let stated = ranked(&["--price", "Evo Plus 64=9,50 EUR"]);
    assert!(stated.contains("Samsung Evo Plus 64 GB"), "{stated}");
    let output = program.run(&[&wish[..], &["--price", "Extreme Pro=9"]].concat());
    assert_error(&output, 2, &["`Extreme Pro` is several products"]);
    let text = program.run(&wish).stdout;
    for part in ["Price not known", "1 product that cost more than 10.00 EUR"] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    let none = ["recommend", "--use", "boot", "--budget", "12"];
    let text = program.run(&none).stdout;
    let words: Vec<&str> = text.split_whitespace().collect();
    let part = "at most 12.00: 0 (none has a price)";
    assert!(words.join(" ").contains(part), "{text}");
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
    let all = program.run(&["recommend", "--use", "logging", "--all"]);
    assert_eq!(all.code, 0, "{all}");
    assert!(all.stdout.contains("Cannot answer: "), "{all}");
    let output = program.run(&["recommend", "--use", "logging", "--json"]);
    assert_eq!(output.code, 3, "{output}");
    let shown: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(shown["use"]["id"], "logging");
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
    for (option, value, said) in [
        ("--budget", "cheap", "expected one number"),
        ("--kind", "tape", "expected one of microsd, sd"),
    ] {
        let output = program.run(&["recommend", "--use", "boot", option, value]);
        assert_error(&output, 2, &[said]);
    }
}
