//! Simulated bytes: the same until `SIMULATION_REVISION` rises.

use std::fmt::Write;
use std::path::Path;

use cardmark_cards::sample_id;
use cardmark_core::{Record, Trial, Workload};
use cardmark_sim::SIMULATION_REVISION;
use serde_json::Value;

use crate::common::{program, scratch};

/// Each looks at another part of the simulation, the engine or the tests of integrity.
const COMMANDS: [&str; 16] = [
    "run sim:a1-32gb",
    "run sim:a2-64gb@pi3",
    "run sim:usb2-32gb --suite dramble",
    "run sim:swaying-32gb",
    "run sim:worn-32gb",
    "run sim:hot-32gb",
    "run sim:lying-32gb --seed 7",
    "run sim:v30-64gb --suite sustained",
    "run sim:patchy-32gb --suite position",
    "run sim:border-v30-64gb --suite speed-class",
    "run sim:border-a1-32gb --suite app-class",
    "probe sim:limbo-32gb",
    "probe sim:cached-64gb",
    "verify sim:chain-16gb",
    "anatomy sim:units-16gb",
    "anatomy sim:triple-64gb",
];

/// The record without what is worded or named: ids, tool, texts of findings, verdicts. Trials one by one, each with its
/// whole workload, readings one by one, and buckets in pairs: how a document lays them out is no matter of the simulation.
fn without_words(mut record: Record) -> String {
    for trial in &mut record.trials {
        trial.workload = Workload::clone(&trial.workload).into();
    }
    record.workloads.clear();
    let trials = std::mem::take(&mut record.trials);
    let readings = std::mem::take(&mut record.sensors);
    let mut document = serde_json::to_value(record).unwrap();
    let fields = document.as_object_mut().unwrap();
    if !trials.is_empty() {
        let row = |trial: &Trial| {
            let mut row = serde_json::to_value(trial).unwrap();
            row["latency"]["buckets"] = serde_json::to_value(&trial.latency.buckets).unwrap();
            row
        };
        fields.insert("trials".to_owned(), trials.iter().map(row).collect());
    }
    if !readings.is_empty() {
        fields.insert(
            "sensors".to_owned(),
            serde_json::to_value(readings).unwrap(),
        );
    }
    for field in ["id", "tool", "derived", "format"] {
        fields.remove(field);
    }
    let findings = fields.get_mut("findings").and_then(Value::as_array_mut);
    for finding in findings.into_iter().flatten() {
        let finding = finding.as_object_mut().unwrap();
        for words in ["detail", "advice", "noticed_by"] {
            finding.remove(words);
        }
    }
    document.to_string()
}

/// The beginning of the SHA-256 of a record.
fn digest(command: &str) -> String {
    let scratch = scratch();
    let json = if command.starts_with("run") {
        "--json=-"
    } else {
        "--json"
    };
    let mut words: Vec<&str> = command.split(' ').collect();
    words.push(json);
    let output = program(&scratch).run(&words);
    assert!(output.code <= 1, "{command}: {output}");
    let text = without_words(output.record());
    // Twice 24 bits.
    sample_id(text.as_bytes()) + &sample_id((text + "again").as_bytes())
}

#[test]
fn simulated_bytes_change_with_the_revision_only() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../measure/sim/digests.txt");
    let known = std::fs::read_to_string(&path).unwrap();
    let mut found = String::from(
        "# Digests of simulated records; `crates/program/cli/tests/it/digests.rs` compares them.\n",
    );
    writeln!(found, "revision {SIMULATION_REVISION}").unwrap();
    for command in COMMANDS {
        writeln!(found, "{} {command}", digest(command)).unwrap();
    }
    let same_revision = known.contains(&format!("\nrevision {SIMULATION_REVISION}\n"));
    if std::env::var_os("CARDMARK_WRITE").is_some() && !same_revision {
        std::fs::write(&path, &found).unwrap();
        return;
    }
    assert!(
        known == found,
        "simulated records have other bytes: raise SIMULATION_REVISION in crates/measure/sim/src/lib.rs, then \
         update the digests: CARDMARK_WRITE=1 cargo test -p cardmark-cli --test it digests\n{found}"
    );
}
