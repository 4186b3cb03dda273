//! `docs/METHODOLOGY.md` against the code: its tables "Workloads" and "Constants" must hold what
//! the suite and the sources hold, no row more and no row less.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The files that make numbers: each of their constants has a row.
const FILES: [&str; 48] = [
    "crates/program/session/src/integrity.rs",
    "crates/program/session/src/measure.rs",
    "crates/program/session/src/measure/describing.rs",
    "crates/program/session/src/measure/opening.rs",
    "crates/program/session/src/watch.rs",
    "crates/measure/core/src/payload.rs",
    "crates/measure/core/src/record.rs",
    "crates/measure/core/src/spread.rs",
    "crates/measure/device/src/backend.rs",
    "crates/measure/device/src/buffer.rs",
    "crates/measure/device/src/payload.rs",
    "crates/measure/stats/src/during.rs",
    "crates/measure/engine/src/failure.rs",
    "crates/measure/engine/src/flow.rs",
    "crates/measure/stats/src/reached.rs",
    "crates/measure/engine/src/request.rs",
    "crates/measure/engine/src/slices.rs",
    "crates/measure/engine/src/tally.rs",
    "crates/measure/engine/src/tiers.rs",
    "crates/measure/engine/src/trial.rs",
    "crates/measure/engine/src/wear.rs",
    "crates/measure/engine/src/windows.rs",
    "crates/measure/host/src/block.rs",
    "crates/measure/host/src/sensors.rs",
    "crates/know/judge/src/classes.rs",
    "crates/know/judge/src/classes/host.rs",
    "crates/measure/stats/src/clusters.rs",
    "crates/measure/stats/src/course.rs",
    "crates/measure/stats/src/derive.rs",
    "crates/measure/stats/src/distribution.rs",
    "crates/measure/stats/src/buckets.rs",
    "crates/measure/stats/src/history.rs",
    "crates/measure/stats/src/lib.rs",
    "crates/measure/stats/src/noticed.rs",
    "crates/measure/stats/src/parts.rs",
    "crates/measure/stats/src/percentile.rs",
    "crates/measure/stats/src/poisson.rs",
    "crates/measure/stats/src/rate.rs",
    "crates/measure/stats/src/settle.rs",
    "crates/measure/stats/src/shift.rs",
    "crates/measure/stats/src/windows.rs",
    "crates/measure/stats/src/within.rs",
    "crates/measure/stats/src/cliff.rs",
    "crates/measure/stats/src/serial.rs",
    "crates/measure/stats/src/steady.rs",
    "crates/measure/stats/src/stops.rs",
    "crates/measure/stats/src/growing.rs",
    "crates/know/judge/src/elsewhere.rs",
];
/// Constants of these files that are no numbers.
const NO_NUMBERS: [&str; 7] = [
    "ALL", "KINDS", "LOWERING", "RAISING", "REQUEST", "SIGNALS", "STOPPING",
];
const ARGUMENTS: &str = "crates/program/cli/src/args.rs";
const SUITE: &str = "crates/know/catalog/suites/quick-2.toml";

/// Value, and the unit where the code has it.
type Row = (Vec<f64>, Option<&'static str>);
/// Rows by place and name.
type Rows = BTreeMap<(String, String), Row>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The table below a heading, its first row the names of the columns.
fn table(heading: &str) -> Vec<Vec<String>> {
    let text = read("docs/METHODOLOGY.md");
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
    held.extend(FILES.into_iter().flat_map(source_rows));
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

#[test]
fn what_others_see_of_the_constants_is_what_the_sources_say() {
    let held: Rows = FILES.into_iter().flat_map(source_rows).collect();
    let by_name = |wanted: &str| {
        let mut found = held.iter().filter(|((_, name), _)| name == wanted);
        let (_, (numbers, _)) = found.next().unwrap();
        assert!(found.next().is_none(), "{wanted} twice");
        numbers[0]
    };
    let public = [
        ("LEVEL", cardmark_stats::LEVEL),
        ("LEAST_TRIALS", cardmark_stats::LEAST_TRIALS as f64),
        ("LEAST_BEYOND", cardmark_stats::LEAST_BEYOND),
        (
            "LEAST_SETTLE_TRIALS",
            cardmark_stats::LEAST_SETTLE_TRIALS as f64,
        ),
        ("SETTLE_CHANGE_RATIO", cardmark_stats::SETTLE_CHANGE_RATIO),
        (
            "PAYLOAD_POOL_BYTES",
            cardmark_core::PAYLOAD_POOL_BYTES as f64,
        ),
        (
            "STAMP_STRIDE_BYTES",
            cardmark_core::STAMP_STRIDE_BYTES as f64,
        ),
        ("METHOD", f64::from(cardmark_core::METHOD)),
        ("FORMAT", f64::from(cardmark_core::FORMAT)),
    ];
    for (name, value) in public {
        assert!((by_name(name) - value).abs() < 1e-12, "{name}");
    }
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

fn timeout() -> f64 {
    let text = read(ARGUMENTS);
    let field = text.find("timeout: u64").expect("the argument");
    let before = &text[..field];
    let default = before.rfind("default_value_t = ").expect("its default");
    let value = &before[default + "default_value_t = ".len()..];
    value[..value.find(',').unwrap()].parse().unwrap()
}

/// The constants of a source file, tests apart.
fn source_rows(path: &'static str) -> Rows {
    let text = read(path);
    let shipped = text.split("#[cfg(test)]").next().unwrap();
    let code: Vec<&str> = shipped
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    let code = code.join("\n");
    // Those that come from elsewhere.
    let mut known = BTreeMap::from([
        ("KIB".to_owned(), cardmark_core::KIB as f64),
        ("MIB".to_owned(), cardmark_core::MIB as f64),
        ("SECOND_NS".to_owned(), cardmark_core::SECOND_NS as f64),
    ]);
    let mut rows = Rows::new();
    for (at, _) in code.match_indices("const ") {
        let Some((name, value)) = declaration(&code[at + "const ".len()..]) else {
            continue;
        };
        if NO_NUMBERS.contains(&name) {
            continue;
        }
        let (numbers, unit) = evaluate_all(value, &known)
            .unwrap_or_else(|| panic!("{path}: `{name}` = `{value}` is no number"));
        if let [number] = numbers[..] {
            known.insert(name.to_owned(), number);
        }
        let key = (path.to_owned(), name.to_owned());
        rows.insert(key, (numbers, unit.or(unit_of(name))));
    }
    rows
}

/// Name and value of `NAME: TYPE = VALUE;`; nothing where it is another `const`.
fn declaration(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(':')?;
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    if !name.chars().all(is_name) {
        return None;
    }
    let (_, rest) = rest.split_once(" = ")?;
    Some((name, rest.split_once(';')?.0.trim()))
}

fn evaluate_all(value: &str, known: &BTreeMap<String, f64>) -> Option<Row> {
    for (call, unit) in [
        ("Duration::from_secs", "s"),
        ("Duration::from_millis", "ms"),
    ] {
        if let Some(inner) = value.strip_prefix(call) {
            return Some((vec![evaluate(inner, known)?], Some(unit)));
        }
    }
    let items = value.strip_prefix('[').and_then(|v| v.strip_suffix(']'));
    let parts = items.map_or(vec![value], |items| items.split(',').collect());
    let numbers = parts.into_iter().map(|part| evaluate(part, known));
    Some((numbers.collect::<Option<_>>()?, None))
}

/// Numbers, names, parentheses, `<<`, `+`, `-`, `*`, and `as` a type, which changes nothing here.
fn evaluate(text: &str, known: &BTreeMap<String, f64>) -> Option<f64> {
    let spaced = ["(", ")", "<<", "+", "*"]
        .iter()
        .fold(text.to_owned(), |text, sign| {
            text.replace(sign, &format!(" {sign} "))
        });
    let mut words: Vec<&str> = spaced.split_whitespace().rev().collect();
    let value = shifted(&mut words, known)?;
    words.is_empty().then_some(value)
}

fn shifted(words: &mut Vec<&str>, known: &BTreeMap<String, f64>) -> Option<f64> {
    let mut value = sum(words, known)?;
    while words.pop_if(|word| *word == "<<").is_some() {
        value *= sum(words, known)?.exp2();
    }
    Some(value)
}

fn sum(words: &mut Vec<&str>, known: &BTreeMap<String, f64>) -> Option<f64> {
    let mut value = product(words, known)?;
    while let Some(sign) = words.pop_if(|word| ["+", "-"].contains(word)) {
        let next = product(words, known)?;
        value += if sign == "+" { next } else { -next };
    }
    Some(value)
}

fn product(words: &mut Vec<&str>, known: &BTreeMap<String, f64>) -> Option<f64> {
    let mut value = atom(words, known)?;
    while words.pop_if(|word| *word == "*").is_some() {
        value *= atom(words, known)?;
    }
    Some(value)
}

fn atom(words: &mut Vec<&str>, known: &BTreeMap<String, f64>) -> Option<f64> {
    let word = words.pop()?;
    let value = if word == "(" {
        let inner = shifted(words, known)?;
        words.pop_if(|word| *word == ")")?;
        inner
    } else {
        let digits = word.replace('_', "");
        digits.parse().ok().or_else(|| known.get(word).copied())?
    };
    if words.pop_if(|word| *word == "as").is_some() {
        words.pop()?;
    }
    Some(value)
}

#[test]
fn values_are_read_as_the_compiler_reads_them() {
    let known = BTreeMap::from([("BITS".to_owned(), 7.0), ("TOP".to_owned(), 42.0)]);
    let cases = [
        ("0.98", 0.98),
        ("268_435_456", 268_435_456.0),
        ("8 << 20", 8_388_608.0),
        ("1 + 2 << 3", 24.0),
        ("((TOP - BITS + 1) << BITS) as usize", 4608.0),
        ("2 * BITS as u64 + 1", 15.0),
    ];
    for (text, value) in cases {
        assert_eq!(evaluate(text, &known), Some(value), "{text}");
    }
    for text in ["", "1 +", "(1", "UNKNOWN", "1 2"] {
        assert_eq!(evaluate(text, &known), None, "{text}");
    }
}
