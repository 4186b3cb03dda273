//! `recommend` on what others published, and on own runs.

use serde_json::Value;

use crate::common::{assert_error, program, scratch};

fn products(list: &Value) -> Vec<&str> {
    let standings = list.as_array().unwrap().iter();
    standings
        .map(|standing| standing["product"].as_str().unwrap())
        .collect()
}

#[test]
fn the_card_of_the_articles_leads_and_says_why() {
    let scratch = scratch();
    let program = program(&scratch);
    let boot = ["recommend", "--use", "boot", "--board", "Pi 2"];
    let output = program.run(&boot);
    assert_eq!(output.code, 0, "{output}");
    for part in [
        "1. Samsung Evo+ 32 GB (microSD): slow",
        "759 of 800 /s",
        "(few data)",
        "geerling-dramble",
        "SD Specifications",
    ] {
        assert!(output.stdout.contains(part), "no `{part}` in {output}");
    }
    let output = program.run(&[&boot[..], &["--json"]].concat());
    let told: Value = serde_json::from_str(&output.stdout).unwrap();
    let first = &told["recommendation"]["standings"][0];
    assert_eq!(
        first["suitability"]["limiting"]["metric"],
        "iozone_random_write"
    );
    assert_eq!(first["is_sparse"], true);
    assert_eq!(told["use"]["id"], "boot");
    let narrow = program.columns(40).run(&boot);
    for line in narrow.stdout.lines() {
        assert!(line.chars().count() <= 40, "{line}");
    }
}

#[test]
fn prices_are_the_users_own() {
    let scratch = scratch();
    let program = program(&scratch);
    for (seed, product, price) in [("1", "Mine", "price=8 EUR"), ("2", "Dear", "price=80 EUR")] {
        let product = format!("product={product}");
        let run = ["run", "sim:a1-32gb", "--seed", seed, "--label", &product];
        assert_eq!(program.run(&run).code, 0);
        assert_eq!(program.run(&["label", "last", price]).code, 0);
    }
    let wish = ["recommend", "--use", "logging", "--budget", "10 EUR"];
    let output = program.run(&[&wish[..], &["--json"]].concat());
    let told: Value = serde_json::from_str(&output.stdout).unwrap();
    let found = &told["recommendation"];
    assert_eq!(products(&found["standings"]), ["Mine"]);
    assert_eq!(found["standings"][0]["price"]["amount"], 8.0);
    assert_eq!(found["standings"][0]["sources"][0], "simulated");
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
fn a_use_that_is_not_known_is_told_those_that_are() {
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run(&["recommend", "--use", "gaming"]);
    assert_error(
        &output,
        2,
        &["no use is called `gaming`", "boot, database, camera"],
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
