//! Files made from the code: the record's JSON Schema.

use std::path::Path;

use cardmark_core::{FORMAT, MINOR, MOST_INTEGER, MOST_ITEMS, MOST_TEXT_BYTES, STATEMENT};
use serde_json::Value;

use crate::project::Checked;
use crate::quantities;

const COMMAND: &str = "cargo run -q -p xtask -- gen";

pub(crate) fn write(root: &Path) -> Checked {
    for (path, schema) in schemas()? {
        std::fs::write(root.join(path), text(&schema)?)?;
    }
    check(root)
}

pub(crate) fn check(root: &Path) -> Checked {
    let schemas = schemas()?;
    let all: Vec<&Value> = schemas.iter().map(|(_, schema)| schema).collect();
    let mut problems = quantities::check(root, &serde_json::json!(all))?;
    for (path, schema) in &schemas {
        let there = std::fs::read_to_string(root.join(path)).ok();
        problems.extend(compare(path, &text(schema)?, there.as_deref()));
    }
    Ok(problems)
}

fn compare(path: &str, text: &str, there: Option<&str>) -> Option<String> {
    let state = match there {
        None => "is missing",
        Some(there) if there != text => "is out of date",
        Some(_) => return None,
    };
    Some(format!("{path} {state}; run: {COMMAND}"))
}

fn text(schema: &Value) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(schema)? + "\n")
}

/// The schemas, each with its path.
fn schemas() -> Result<Vec<(String, Value)>, serde_json::Error> {
    let record = schema(
        schemars::schema_for!(cardmark_core::Record),
        &format!("record:{FORMAT}.{MINOR}"),
    )?;
    let statement = schema(
        schemars::schema_for!(cardmark_core::Statement),
        &format!("statement:{STATEMENT}.0"),
    )?;
    Ok(vec![
        (format!("schema/record-{FORMAT}.json"), record),
        (format!("schema/statement-{STATEMENT}.json"), statement),
    ])
}

fn schema(made: schemars::Schema, id: &str) -> Result<Value, serde_json::Error> {
    let mut schema = serde_json::to_value(made)?;
    limit(&mut schema);
    schema["$id"] = format!("urn:cardmark:{id}").into();
    sort(&mut schema);
    Ok(schema)
}

/// Adds the limits of lists, objects, texts and integers that state none.
fn limit(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(limit),
        Value::Object(of) => {
            of.values_mut().for_each(limit);
            let is = |name: &str| match &of["type"] {
                Value::Array(names) => names.iter().any(|one| one == name),
                one => one == name,
            };
            let limits = match of.contains_key("type") {
                false => Vec::new(),
                true if is("array") => vec![("maxItems", MOST_ITEMS as u64)],
                true if is("object") => vec![("maxProperties", MOST_ITEMS as u64)],
                true if is("string") && !of.contains_key("const") => {
                    vec![("maxLength", MOST_TEXT_BYTES as u64)]
                }
                true if is("integer") => vec![("maximum", MOST_INTEGER)],
                true => Vec::new(),
            };
            for (name, most) in limits {
                of.entry(name).or_insert_with(|| most.into());
            }
        }
        _ => {}
    }
}

/// Sorts all keys, so that the text does not depend on the features serde_json was built with.
fn sort(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.values_mut().for_each(sort);
            map.sort_keys();
        }
        Value::Array(values) => values.iter_mut().for_each(sort),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_or_missing_file_is_caught_with_the_command() {
        let compare = |there| compare("a.json", "{}\n", there);
        assert_eq!(compare(Some("{}\n")), None);
        assert_eq!(
            compare(Some("{ }\n")).unwrap(),
            "a.json is out of date; run: cargo run -q -p xtask -- gen"
        );
        assert!(compare(None).unwrap().contains("is missing"));
    }

    #[test]
    fn the_schema_asks_for_three_fields_only() {
        let (_, schema) = schemas().unwrap().remove(0);
        assert_eq!(
            schema["required"],
            serde_json::json!(["format", "id", "origin"])
        );
    }
}
