//! `cardmark history` on cards whose change is known.

use cardmark_core::{OriginKind, Record, Sample};
use cardmark_store::Store;
use cardmark_testkit::{Program, damage_database};
use serde_json::Value;

use crate::common::{assert_error, program, scratch};

/// Puts runs of a card into the store, one a month, whose random write changes by that factor from the
/// first to the last, evenly.
fn keep(program: &Program, card: &str, months: u32, factor: f64) {
    let change = |month: u32| factor.powf(f64::from(month - 1) / f64::from(months - 1));
    keep_with(program, card, months, change);
}

/// Puts runs of a card into the store, one a month, whose random write is multiplied by this factor.
fn keep_with(program: &Program, card: &str, months: u32, factor: impl Fn(u32) -> f64) {
    let mut store = Store::open(&program.database()).unwrap();
    // The simulated runs stay elsewhere: these are copies of them.
    let elsewhere = scratch();
    let maker = crate::common::program(&elsewhere);
    for month in 1..=months {
        // Equal runs of two cards would be copies.
        let seed = (month + 12 * u32::from(card.as_bytes()[0] - b'a')).to_string();
        let output = maker.run(&["run", "sim:a1-32gb", "--seed", &seed, "--json=-"]);
        let mut record: Record = output.record();
        record.id = uuid::Uuid::new_v4();
        record.origin.kind = OriginKind::Measured;
        record.started_at = Some(format!("2026-{month:02}-03T10:00:00Z"));
        record.devices[0].sample = Some(Sample::of_card(card));
        for metric in &mut record.metrics {
            if metric.id == "rand_write_4k" {
                metric.value *= factor(month);
            }
        }
        store.insert(&record).unwrap();
    }
}

fn trend<'a>(history: &'a Value, metric: &str) -> &'a Value {
    let trends = history["groups"][0]["trends"].as_array().unwrap();
    trends
        .iter()
        .find(|trend| trend["metric"] == metric)
        .unwrap()
}

fn json(program: &Program, arguments: &[&str]) -> Value {
    let output = program.run(arguments);
    assert_eq!(output.code, 0, "{output}");
    serde_json::from_str(&output.stdout).unwrap()
}

#[test]
fn a_card_that_gets_worse_is_told_with_rate_and_size() {
    let scratch = scratch();
    let program = program(&scratch);
    keep(&program, "aaaaaa", 9, 0.5);
    keep(&program, "bbbbbb", 4, 0.5);
    let output = program.run(&["history", "aaaaaa"]);
    assert_eq!(output.code, 0, "{output}");
    let words: Vec<&str> = output.stdout.split_whitespace().collect();
    let said = words.join(" ");
    assert!(said.contains("random write 4 KiB fell 5"), "{output}");
    assert!(said.contains("% since 2026-01-03 (95 % CI"), "{output}");
    assert!(!said.contains("random read 4 KiB fell"), "{output}");
    assert!(output.stdout.contains("2026-09-03"), "{output}");
    let all = json(&program, &["history", "aaaaaa", "--json"]);
    let write = trend(&all, "rand_write_4k");
    assert_eq!(write["outcome"], "lower");
    let change = write["change_ratio"].as_f64().unwrap();
    assert!((change + 0.5).abs() < 0.06, "{write}");
    assert!(
        write["adjusted_p_value"].as_f64().unwrap() < 0.01,
        "{write}"
    );
    for other in ["seq_write_1m", "rand_read_4k", "sync_write_4k"] {
        let outcome = trend(&all, other)["outcome"].as_str().unwrap().to_owned();
        assert!(["same", "undecided"].contains(&outcome.as_str()), "{other}");
    }
    let runs = all["groups"][0]["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 9);
    assert!(runs.is_sorted_by_key(|run| run["started_at"].as_str().unwrap().to_owned()));
}

#[test]
fn another_level_is_told_with_its_runs_and_the_reference_reads() {
    let scratch = scratch();
    let program = program(&scratch);
    keep_with(
        &program,
        "aaaaaa",
        9,
        |month| if month < 7 { 1.0 } else { 0.5 },
    );
    let output = program.run(&["history", "aaaaaa"]);
    assert_eq!(output.code, 0, "{output}");
    let words: Vec<&str> = output.stdout.split_whitespace().collect();
    let expected = "since 2026-07-03, on 3 of 3 days with runs: random write 4 KiB about half (the \
                    reference reads did not change alike)";
    assert!(words.join(" ").contains(expected), "{output}");
    let all = json(&program, &["history", "aaaaaa", "--json"]);
    let shift = &trend(&all, "rand_write_4k")["shift"];
    assert_eq!(
        (&shift["days_count"], &shift["beyond_count"]),
        (&3.into(), &3.into())
    );
    assert!(
        shift["reference_ratio"].as_f64().unwrap().abs() < 0.05,
        "{shift}"
    );
    assert!(trend(&all, "rand_read_4k").get("shift").is_none());
}

#[test]
fn too_few_days_are_told_and_nothing_is_made_of_them() {
    let scratch = scratch();
    let program = program(&scratch);
    keep(&program, "bbbbbb", 4, 0.5);
    let output = program.run(&["history", "bbbbbb"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stdout.contains("too few days with runs"), "{output}");
    assert!(!output.stdout.contains("fell"), "{output}");
    let all = json(&program, &["history", "bbbbbb", "--json"]);
    assert_eq!(trend(&all, "rand_write_4k")["outcome"], Value::Null);
}

#[test]
fn cards_are_listed_and_what_is_no_card_is_refused() {
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run(&["history"]);
    assert!(output.stdout.contains("there are no runs"), "{output}");
    keep(&program, "aaaaaa", 2, 1.0);
    keep(&program, "bbbbbb", 3, 1.0);
    let all = json(&program, &["history", "--json"]);
    let counts: Vec<(&str, u64)> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|card| {
            (
                card["card"].as_str().unwrap(),
                card["runs_count"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(counts, [("aaaaaa", 2), ("bbbbbb", 3)]);
    assert_error(
        &program.run(&["history", "cccccc"]),
        2,
        &[
            "no run of the card `cccccc`",
            "hint: `cardmark history` lists",
        ],
    );
    assert_error(
        &program.run(&["history", "suite=quick"]),
        2,
        &["holds for runs of several cards"],
    );
    assert_error(
        &program.run(&["history", "aaaaaa", "--metric", "tps"]),
        2,
        &["have no such rates"],
    );
}

#[test]
fn a_run_whose_time_is_no_time_is_refused_however_it_is_named() {
    let scratch = scratch();
    let program = program(&scratch);
    keep(&program, "aaaaaa", 2, 1.0);
    let id = program.last().id.to_string();
    let sql = format!(
        "UPDATE heads SET head = json_set(head, '$.started_at', 'later') WHERE record_id = '{id}'"
    );
    assert_eq!(damage_database(&program.database(), &sql), 1);
    let said = format!("the time of run {id} is not readable");
    for card in ["aaaaaa", "card=aaaaaa"] {
        let output = program.run(&["history", card]);
        assert_error(&output, 3, &[&said]);
        assert_eq!(output.stdout, "", "{card}");
    }
}
