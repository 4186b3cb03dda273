//! Prints the JSON Schemas of the record and of the statement, by their paths. `cargo run -q -p xtask -- gen` writes them.

use std::collections::BTreeMap;
use std::io::Write;

use cardmark_core::{FORMAT, MINOR, MOST_INTEGER, MOST_ITEMS, MOST_TEXT_BYTES, STATEMENT};
use serde_json::Value;

fn main() -> std::io::Result<()> {
    let schemas = serde_json::to_vec(&schemas()?)?;
    std::io::stdout().lock().write_all(&schemas)
}

/// The schemas, by their paths.
fn schemas() -> Result<BTreeMap<String, Value>, serde_json::Error> {
    let record = schema(
        schemars::schema_for!(cardmark_core::Record),
        &format!("record:{FORMAT}.{MINOR}"),
    )?;
    let statement = schema(
        schemars::schema_for!(cardmark_core::Statement),
        &format!("statement:{STATEMENT}.0"),
    )?;
    Ok(BTreeMap::from([
        (format!("schema/record-{FORMAT}.json"), record),
        (format!("schema/statement-{STATEMENT}.json"), statement),
    ]))
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
