//! Files made from the code: the record's JSON Schema.

use std::path::Path;

use serde_json::Value;

use crate::{Checked, quantities};

const COMMAND: &str = "cargo run -q -p xtask -- gen";

struct Generated {
    path: String,
    text: String,
}

pub(crate) fn write(root: &Path) -> Checked {
    for file in generated()? {
        let path = root.join(&file.path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, file.text)?;
    }
    quantities::check(root, &schema()?)
}

pub(crate) fn check(root: &Path) -> Checked {
    let mut problems = Vec::new();
    for file in generated()? {
        let there = std::fs::read_to_string(root.join(&file.path)).ok();
        problems.extend(compare(&file, there.as_deref()));
    }
    problems.extend(quantities::check(root, &schema()?)?);
    Ok(problems)
}

fn compare(file: &Generated, there: Option<&str>) -> Option<String> {
    let state = match there {
        None => "is missing",
        Some(text) if text != file.text => "is out of date",
        Some(_) => return None,
    };
    Some(format!("{} {state}; run: {COMMAND}", file.path))
}

fn generated() -> Result<Vec<Generated>, serde_json::Error> {
    let path = format!("schema/record-{}.json", cardmark_core::FORMAT);
    let mut text = serde_json::to_string_pretty(&schema()?)?;
    text.push('\n');
    Ok(vec![Generated { path, text }])
}

fn schema() -> Result<Value, serde_json::Error> {
    let mut schema = serde_json::to_value(schemars::schema_for!(cardmark_core::Record))?;
    sort(&mut schema);
    Ok(schema)
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
        let file = Generated {
            path: "a.json".into(),
            text: "{}\n".into(),
        };
        assert_eq!(compare(&file, Some("{}\n")), None);
        assert_eq!(
            compare(&file, Some("{ }\n")).unwrap(),
            "a.json is out of date; run: cargo run -q -p xtask -- gen"
        );
        assert!(compare(&file, None).unwrap().contains("is missing"));
    }

    #[test]
    fn the_schema_asks_for_three_fields_only() {
        let schema = schema().unwrap();
        assert_eq!(
            schema["required"],
            serde_json::json!(["format", "id", "origin"])
        );
    }
}
