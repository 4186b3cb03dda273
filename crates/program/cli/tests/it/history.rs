//! `cardmark history` on cards whose change is known.

use cardmark_core::{OriginKind, Sample};
use cardmark_samples::{Model, simulated};
use cardmark_store::Store;
use cardmark_testkit::{Program, damage_database};
use serde_json::Value;

use crate::common::{assert_error, program, scratch};

/// Puts runs of a card into the store, one a month, whose random write is multiplied by this factor.
fn keep(program: &Program, card: &str, months: u64, factor: impl Fn(u64) -> f64) {
    let mut store = Store::open(&program.database()).unwrap();
    let model = Model::named("a1-32gb").unwrap();
    for month in 1..=months {
        // Equal runs of two cards would be copies.
        let seed = month + 12 * u64::from(card.as_bytes()[0] - b'a');
        let mut record = simulated(&model, "quick", seed);
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

fn json(program: &Program, arguments: &[&str]) -> Value {
    let output = program.run(arguments);
    assert_eq!(output.code, 0, "{output}");
    serde_json::from_str(&output.stdout).unwrap()
}

#[test]
fn runs_and_trends_of_a_card_are_shown() {
    let scratch = scratch();
    let program = program(&scratch);
    keep(
        &program,
        "aaaaaa",
        9,
        |month| if month < 7 { 1.0 } else { 0.5 },
    );
    let output = program.run(&["history", "aaaaaa"]);
    assert_eq!(output.code, 0, "{output}");
    let words: Vec<&str> = output.stdout.split_whitespace().collect();
    let said = words.join(" ");
    let shift = "Since 2026-07-03, on 3 of 3 days with runs: random write 4 KiB about 51 % lower (the \
                 reference reads did not change alike)";
    for part in [shift, "2026-01-03", "2026-09-03"] {
        assert!(said.contains(part), "no `{part}` in {output}");
    }
    assert!(
        said.starts_with(shift) && !said.contains("Holm"),
        "{output}"
    );
    let whole = program.run(&["history", "aaaaaa", "--all"]).stdout;
    assert!(
        whole.starts_with("Since ") && whole.contains("Holm"),
        "{whole}"
    );
    let all = json(&program, &["history", "aaaaaa", "--json"]);
    assert_eq!(all["answer"]["sentence"], shift);
    let group = &all["groups"][0];
    let runs = group["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 9);
    assert!(runs.is_sorted_by_key(|run| run["started_at"].as_str().unwrap().to_owned()));
    let mut trends = group["trends"].as_array().unwrap().iter();
    let write = trends
        .find(|trend| trend["metric"] == "rand_write_4k")
        .unwrap();
    assert_eq!(write["shift"]["days_count"], 3);
    // The trials of the reference reads come from the store.
    let reference = write["shift"]["reference_ratio"].as_f64().unwrap();
    assert!(reference.abs() < 0.05, "{write}");
}

#[test]
fn cards_are_listed_and_what_is_no_card_is_refused() {
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run(&["history"]);
    assert!(output.stdout.contains("there are no runs"), "{output}");
    keep(&program, "aaaaaa", 2, |_| 1.0);
    keep(&program, "bbbbbb", 3, |_| 1.0);
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
    keep(&program, "aaaaaa", 2, |_| 1.0);
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
