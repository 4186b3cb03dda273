//! `docs/METHODOLOGY.md` against the code: its tables "Workloads" and "Constants" must hold what
//! the suite and the constants of the crates hold, no row more and no row less.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use cardmark_core::Constant;
use serde_json::Value;

/// Constants of the crates that make numbers.
const TABLES: [&[Constant]; 7] = [
    cardmark_core::CONSTANTS,
    cardmark_device::CONSTANTS,
    cardmark_engine::CONSTANTS,
    cardmark_host::CONSTANTS,
    cardmark_judge::CONSTANTS,
    cardmark_session::CONSTANTS,
    cardmark_stats::CONSTANTS,
];
const ARGUMENTS: &str = "crates/program/cli/src/args.rs";
const SUITE: &str = "crates/know/catalog/suites/quick-2.toml";

/// Values, and the unit if the code has it.
type Row = (Vec<f64>, Option<&'static str>);
/// Rows by place and name.
type Rows = BTreeMap<(String, String), Row>;

/// The table below a heading, its first row the names of the columns.
fn table(heading: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/METHODOLOGY.md");
    let text = std::fs::read_to_string(path).unwrap();
    let heading = format!("## {heading}");
    let mut lines = text.lines().skip_while(|line| *line != heading).skip(1);
    let cells = |line: &str| {
        let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
        let cell = |cell: &str| cell.trim().trim_matches('`').to_owned();
        inner.split('|').map(cell).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = lines
        .by_ref()
        .take_while(|line| !line.starts_with("## "))
        .filter(|line| line.starts_with('|') && !line.starts_with("|---"))
        .map(cells)
        .collect();
    assert!(rows.len() > 1, "no table below `{heading}`");
    rows
}

fn suite() -> Value {
    serde_json::to_value(cardmark_catalog::suite("quick", None).unwrap()).unwrap()
}

/// Text, number or flag as the document writes it, without the commas of thousands.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| format!("{name} {}", plain(value));
            fields.iter().map(field).collect::<Vec<_>>().join("; ")
        }
        other => other.to_string(),
    }
}

#[test]
fn the_table_of_workloads_is_that_of_the_suite() {
    let said = table("Workloads");
    let mut said_rows = said[1..].iter();
    for workload in suite()["workloads"].as_array().unwrap() {
        let mut fields = workload.as_object().unwrap().clone();
        if let Some(Value::Object(stop)) = fields.remove("stop") {
            fields.extend(stop);
        }
        let held: BTreeMap<String, String> =
            fields.iter().map(|(k, v)| (k.clone(), plain(v))).collect();
        let row = said_rows.next().expect("a row for each workload");
        let cells = row.iter().map(|cell| cell.replace(',', ""));
        let said = said[0].iter().cloned().zip(cells);
        let said: BTreeMap<String, String> = said.filter(|(_, cell)| cell != "–").collect();
        assert_eq!(said, held);
    }
    assert_eq!(said_rows.next(), None, "a row without a workload");
}

#[test]
fn the_table_of_applications_is_that_of_the_suite() {
    let suite =
        serde_json::to_value(cardmark_catalog::suite("application", None).unwrap()).unwrap();
    let said = table("Applications in numbers");
    let mut said_rows = said[1..].iter();
    for workload in suite["workloads"].as_array().unwrap() {
        let mut fields = workload.as_object().unwrap().clone();
        if let Some(Value::Object(stop)) = fields.remove("stop") {
            fields.extend(stop);
        }
        let procedure = fields["procedure"].as_object().unwrap().iter();
        let parts: Vec<String> = procedure
            .map(|(name, value)| format!("{name} {}", plain(value)))
            .collect();
        fields["procedure"] = parts.join("; ").into();
        let same = [
            ("read_share_percent", "0"),
            ("queue_depth", "1"),
            ("flush", "each_operation"),
            ("payload", "incompressible"),
            ("latency_metrics", "true"),
        ];
        for (name, value) in same {
            assert_eq!(plain(&fields.remove(name).unwrap()), value, "{name}");
        }
        let held: Vec<String> = said[0].iter().map(|name| plain(&fields[name])).collect();
        assert_eq!(held.len(), fields.len(), "a field without a column");
        let row = said_rows.next().expect("a row for each workload");
        // Commas of thousands go, those of lists stay.
        let cells: Vec<String> = row.iter().map(|cell| without_thousands(cell)).collect();
        assert_eq!(cells, held);
    }
    assert_eq!(said_rows.next(), None, "a row without a workload");
}

fn without_thousands(cell: &str) -> String {
    let parts: Vec<String> = cell.split(", ").map(|part| part.replace(',', "")).collect();
    parts.join(", ")
}

#[test]
fn the_table_of_constants_is_that_of_the_code() {
    let mut held = suite_rows();
    for constant in TABLES.into_iter().flatten() {
        let key = (constant.place.to_owned(), constant.name.to_owned());
        let row = (vec![constant.value], Some(constant.unit));
        assert_eq!(held.insert(key, row), None, "twice: {constant:?}");
    }
    held.insert(
        (ARGUMENTS.to_owned(), "--timeout".to_owned()),
        (vec![timeout()], Some("s")),
    );
    let said = table("Constants");
    assert_eq!(said[0], ["Name", "Value", "Unit", "Place"]);
    let mut problems = Vec::new();
    for row in &said[1..] {
        let [name, value, unit, place] = &row[..] else {
            panic!("a row of another length: {row:?}");
        };
        let Some((numbers, known_unit)) = held.remove(&(place.clone(), name.clone())) else {
            problems.push(format!("not in the code, or said twice: {name} in {place}"));
            continue;
        };
        if numbers_of(value) != Some(numbers.clone()) {
            problems.push(format!("{name}: said {value}, held {numbers:?}"));
        }
        if unit.is_empty() || known_unit.is_some_and(|known| known != unit) {
            problems.push(format!("{name}: unit {unit}, expected {known_unit:?}"));
        }
    }
    for ((place, name), (numbers, unit)) in held {
        let unit = unit.unwrap_or("?");
        problems.push(format!(
            "no row: | `{name}` | {numbers:?} | {unit} | `{place}` |"
        ));
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

/// `1,048,576` is one number; `6, 12, 24` are three.
fn numbers_of(cell: &str) -> Option<Vec<f64>> {
    let number = |part: &str| part.replace(',', "").parse().ok();
    cell.split(", ").map(number).collect()
}

/// The suite's own numbers; its workloads have a table of their own.
fn suite_rows() -> Rows {
    let suite = suite();
    let fields = suite.as_object().unwrap().iter();
    let rows = fields.filter_map(|(field, value)| {
        let numbers = match value {
            Value::Array(items) => items.iter().map(Value::as_f64).collect(),
            other => other.as_f64().map(|number| vec![number]),
        }?;
        let key = (SUITE.to_owned(), format!("quick.{field}"));
        Some((key, (numbers, unit_of(field))))
    });
    rows.collect()
}

/// The unit that a name ends in.
fn unit_of(name: &str) -> Option<&'static str> {
    let endings = [
        ("_bytes", "bytes"),
        ("_ns", "ns"),
        ("_percent", "%"),
        ("_ratio", "ratio"),
    ];
    let name = name.to_lowercase();
    let found = endings.iter().find(|(ending, _)| name.ends_with(ending));
    found.map(|(_, unit)| *unit)
}

/// The default that the help names.
fn timeout() -> f64 {
    let mut help = Command::new(env!("CARGO_BIN_EXE_cardmark"));
    let output = help.args(["run", "--help"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, option) = text.split_once("--timeout").expect("the option");
    let (_, default) = option.split_once("[default: ").expect("its default");
    default.split(']').next().unwrap().parse().unwrap()
}
