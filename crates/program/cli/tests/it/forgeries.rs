//! Records that were changed after the measurement: the program reports them.

use cardmark_core::{parse_record, record_to_json};
use cardmark_testkit::Program;
use serde_json::{Value, json};

use crate::common::{program, scratch, text};

const CONTRADICTS: &str = "contradicts itself: ";
const DIFFERS: &str = "does not match its measurements in ";

fn honest(program: &Program) -> Value {
    let output = program.run(&["run", "sim:a1-32gb", "--seed=5", "--json=-"]);
    assert_eq!(output.code, 0, "{output}");
    let mut record: Value = serde_json::from_str(&output.stdout).unwrap();
    // Trials one by one are easier to forge than columns.
    let trials = parse_record(&output.stdout).unwrap().trials;
    record["trials"] = serde_json::to_value(trials).unwrap();
    record
}

/// The document of a record whose trials stand one by one.
fn document(record: &Value) -> String {
    let mut rest = record.clone();
    let trials = rest.as_object_mut().unwrap().remove("trials").unwrap();
    let mut forged = parse_record(&rest.to_string()).unwrap();
    forged.trials = serde_json::from_value(trials).unwrap();
    record_to_json(&forged).unwrap()
}

fn show(program: &Program, name: &str, record: &Value) -> (String, String) {
    let path = program.file(&format!("{name}.json"));
    std::fs::write(&path, document(record)).unwrap();
    let output = program.run(&["show", text(&path)]);
    (output.stdout, output.stderr)
}

/// Index of the last whole trial of a workload.
fn last_of(record: &Value, workload: &str) -> usize {
    let named = |trial: &Value| trial["workload"]["id"] == workload;
    let trials = record["trials"].as_array().unwrap();
    trials.iter().rposition(named).unwrap()
}

fn double(value: &mut Value) {
    *value = json!(2 * value.as_u64().unwrap());
}

/// Names of forgeries, how they are made, and the words that report them.
type Forgery = (&'static str, fn(&mut Value), &'static str);

const FORGERIES: [Forgery; 14] = [
    (
        "counts",
        |record| {
            let at = last_of(record, "rand_read_4k");
            double(&mut record["trials"][at]["streams"][0]["operations_count"]);
            double(&mut record["trials"][at]["streams"][0]["bytes"]);
        },
        "latencies of",
    ),
    (
        "span",
        |record| {
            let at = last_of(record, "rand_read_4k");
            let half = record["trials"][at]["span_ns"].as_u64().unwrap() / 2;
            record["trials"][at]["span_ns"] = json!(half);
            record["trials"][at]["streams"][0]["span_ns"] = json!(half);
        },
        "latencies add up to",
    ),
    (
        "sum",
        |record| {
            let at = last_of(record, "rand_write_4k");
            double(&mut record["trials"][at]["latency"]["sum_ns"]);
        },
        "their buckets to",
    ),
    (
        "block",
        |record| {
            let at = last_of(record, "seq_read_1m");
            double(&mut record["trials"][at]["streams"][0]["bytes"]);
        },
        "operations of 1048576 bytes moved",
    ),
    (
        "slowest",
        |record| {
            let at = last_of(record, "rand_write_4k");
            record["trials"][at]["slices"][0][2] = json!(1);
        },
        "but not in the histogram",
    ),
    (
        "dropped",
        |record| {
            let at = last_of(record, "rand_read_4k");
            record["trials"].as_array_mut().unwrap().remove(at);
        },
        "belongs",
    ),
    (
        "renumbered",
        |record| {
            let at = last_of(record, "rand_read_4k");
            let trials = record["trials"].as_array_mut().unwrap();
            trials.remove(at - 1);
            for (id, trial) in trials.iter_mut().enumerate() {
                trial["id"] = json!(id);
            }
        },
        "not where the seed puts them",
    ),
    (
        "seed",
        |record| record["seed"] = json!("0000000000000006"),
        "not where the seed puts them",
    ),
    (
        "times",
        |record| {
            let at = last_of(record, "seq_write_1m");
            record["trials"][at]["started_ns"] = record["trials"][at - 1]["started_ns"].clone();
        },
        "before the trial before it ended",
    ),
    (
        "round",
        |record| {
            let at = last_of(record, "seq_write_1m");
            record["trials"][at]["round_index"] = json!(0);
        },
        "the round does not follow",
    ),
    (
        "written",
        |record| record["written_bytes"] = json!(4096),
        "the run wrote 4096 bytes",
    ),
    (
        "method",
        |record| record["method"] = json!(1),
        "which the method of the record does not do",
    ),
    ("figure", |record| double_first(record), "seq"),
    ("figures", |record| record["metrics"] = json!([]), "seq"),
];

fn double_first(record: &mut Value) {
    let metrics = record["metrics"].as_array_mut().unwrap();
    let first = metrics
        .iter_mut()
        .find(|metric| metric["id"] == "seq_read_1m");
    let value = &mut first.unwrap()["value"];
    *value = json!(2.0 * value.as_f64().unwrap());
}

#[test]
fn a_changed_record_is_reported_and_an_honest_one_is_not() {
    let scratch = scratch();
    let program = program(&scratch);
    let honest = honest(&program);
    let (_, said) = show(&program, "honest", &honest);
    assert!(
        !said.contains(CONTRADICTS) && !said.contains(DIFFERS),
        "{said}"
    );
    for (name, forge, words) in FORGERIES {
        let mut forged = honest.clone();
        forge(&mut forged);
        let (_, said) = show(&program, name, &forged);
        let is_reported = said.contains(CONTRADICTS) || said.contains(DIFFERS);
        assert!(is_reported && said.contains(words), "{name}: {said}");
    }
}

#[test]
fn a_contradicting_record_is_imported_with_a_warning_and_not_ranked() {
    let scratch = scratch();
    let program = program(&scratch);
    let mut forged = honest(&program);
    forged["seed"] = json!("0000000000000006");
    let path = program.file("forged.json");
    std::fs::write(&path, document(&forged)).unwrap();
    let empty = crate::common::scratch();
    let other = crate::common::program(&empty);
    let output = other.run(&["import", text(&path)]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stderr.contains(CONTRADICTS), "{output}");
    let kept = other.run(&["show", "last", "--json"]);
    let kept: Value = serde_json::from_str(&kept.stdout).unwrap();
    let given: Value = serde_json::from_str(&document(&forged)).unwrap();
    assert_eq!(kept["trials"], given["trials"]);
    assert_eq!(kept["seed"], forged["seed"]);
    let (shown, _) = show(&program, "forged", &forged);
    assert!(shown.contains("the record contradicts itself"), "{shown}");
    let ranked = other.run(&["rank"]);
    assert!(
        ranked.to_string().contains("contradicting_trials"),
        "{ranked}"
    );
}
