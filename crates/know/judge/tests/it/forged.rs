//! Figures, findings and verdicts that do not follow from the measurements of a record.

use cardmark_core::{FindingKind, Record, StorageKind, parse_record};
use cardmark_judge::derive_again;
use cardmark_samples::{corpus, document, record};
use cardmark_stats::discrepancies;
use serde_json::{Value, json};

/// Without them, a record of any released method gets the same figures, findings and verdicts.
#[test]
fn records_of_every_method_derive_what_they_did() {
    for kept in corpus() {
        let (name, original) = (&kept.name, kept.record());
        let mut same = original.clone();
        assert_eq!(derive_again(&mut same), <[&str; 0]>::default(), "{name}");
        assert_eq!(discrepancies(&original), [], "{name}");
        let mut bare = original.clone();
        bare.metrics.clear();
        bare.derived = None;
        bare.findings.retain(|finding| finding.noticed_by.is_some());
        if let Some(integrity) = &mut bare.integrity
            && integrity.map_cell_bytes == Some(512)
        {
            integrity.kind = StorageKind::Dead;
        }
        let _ = derive_again(&mut bare);
        for found in [same, bare] {
            assert_eq!(comparable(found, &original), original, "{name}");
        }
    }
}

/// The record without what cannot be equal: the version of the judge is that of this program, and a public form withholds
/// the texts of findings.
fn comparable(mut found: Record, original: &Record) -> Record {
    if let (Some(derived), Some(of)) = (&mut found.derived, &original.derived) {
        derived.judge_version = of.judge_version;
    }
    let mut details = original
        .findings
        .iter()
        .map(|finding| finding.detail.as_str());
    if details.all(str::is_empty) {
        for finding in &mut found.findings {
            finding.detail.clear();
            finding.advice = None;
        }
    }
    found
}

/// Returns what deriving again names of a record with another first figure, and no verdict or derived finding.
fn edited(original: &Record) -> (Vec<String>, Record) {
    let mut edited = original.clone();
    edited.metrics[0].value = 1e12;
    edited.derived = None;
    edited
        .findings
        .retain(|finding| finding.noticed_by.is_some());
    (derive_again(&mut edited), edited)
}

#[test]
fn edited_figures_are_derived_again() {
    let mut suites = Vec::new();
    for kept in corpus() {
        let original = kept.record();
        let Some(suite) = original
            .suite
            .clone()
            .filter(|_| !original.metrics.is_empty())
        else {
            continue;
        };
        let figure = original.metrics[0].id.clone();
        let (named, derived) = edited(&original);
        assert!(named.contains(&figure), "{}: {named:?}", kept.name);
        assert_eq!(comparable(derived, &original), original, "{}", kept.name);
        suites.push(suite.name);
    }
    suites.sort();
    suites.dedup();
    let expected = [
        "agnostics",
        "app-class",
        "application",
        "dramble",
        "parallel4",
        "pibenchmarks",
        "position",
        "quick",
        "raw-survey",
        "speed-class",
        "sustained",
    ];
    assert_eq!(suites, expected);
}

/// The kind of storage follows from the map of its blocks.
#[test]
fn an_edited_kind_of_storage_is_derived_again() {
    for name in [
        "verify-sim-wrap-16gb",
        "verify-sim-limbo-32gb",
        "verify-sim-chain-16gb",
        "verify-sim-a1-32gb",
        "endure-sim-wearing-1gb-cycles-3",
    ] {
        let original = record(name);
        let mut edited = original.clone();
        let integrity = edited.integrity.as_mut().unwrap();
        integrity.kind = match integrity.kind {
            StorageKind::Confirmed => StorageKind::Limbo,
            _ => StorageKind::Confirmed,
        };
        integrity.real_bytes = integrity.size_bytes / 2;
        let named = derive_again(&mut edited);
        assert!(named.contains(&"storage".to_owned()), "{name}: {named:?}");
        assert_eq!(comparable(edited, &original), original, "{name}");
    }
}

/// A record whose trials stand one by one, which is easier to forge than columns.
fn honest() -> Value {
    let name = "run-sim-a1-32gb-quick";
    let mut honest: Value = serde_json::from_str(&document(name)).unwrap();
    honest["trials"] = serde_json::to_value(record(name).trials).unwrap();
    honest
}

fn parsed(forged: &Value) -> Record {
    let mut rest = forged.clone();
    let trials = rest.as_object_mut().unwrap().remove("trials").unwrap();
    let mut record = parse_record(&rest.to_string()).unwrap();
    record.trials = serde_json::from_value(trials).unwrap();
    record
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
    let honest = honest();
    assert_eq!(said_of(&honest), "");
    for (name, forge, words) in FORGERIES {
        let mut forged = honest.clone();
        forge(&mut forged);
        let said = said_of(&forged);
        assert!(said.contains(words), "{name}: {said}");
    }
}

/// What is reported of a record: its contradictions, and what does not follow from its measurements.
fn said_of(record: &Value) -> String {
    let mut record = parsed(record);
    let contradictions = discrepancies(&record).into_iter();
    let mut said: Vec<String> = contradictions.map(|one| one.to_string()).collect();
    said.extend(derive_again(&mut record));
    said.join("; ")
}

/// It shows that it does, its figures do not count, and its trials stay as they are.
#[test]
fn a_contradicting_record_keeps_its_trials_and_has_no_figures_that_count() {
    let mut forged = honest();
    forged["seed"] = json!("0000000000000006");
    let mut record = parsed(&forged);
    let trials = record.trials.clone();
    let _ = derive_again(&mut record);
    let kind = FindingKind::ContradictingTrials;
    assert!(record.findings.iter().any(|finding| finding.kind == kind));
    assert_eq!(record.trials, trials);
    assert!(!record.metrics.is_empty());
    for metric in &record.metrics {
        assert_eq!(
            metric.voided_by(),
            Some("contradicting_trials"),
            "{}",
            metric.id
        );
    }
}
