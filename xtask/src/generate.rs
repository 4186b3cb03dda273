//! Files made from the code: the record's JSON Schema.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::project::{self, Checked, Error};
use crate::quantities;

const COMMAND: &str = "cargo run -q -p xtask -- gen";

pub(crate) fn write(root: &Path) -> Checked {
    for (path, schema) in schemas(root)? {
        std::fs::write(root.join(path), text(&schema)?)?;
    }
    check(root)
}

pub(crate) fn check(root: &Path) -> Checked {
    let schemas = schemas(root)?;
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
fn schemas(root: &Path) -> Result<Vec<(String, Value)>, Error> {
    let program = "run -q --locked -p cardmark-schema --features schema";
    let arguments: Vec<&str> = program.split(' ').collect();
    let made: BTreeMap<String, Value> = serde_json::from_slice(&project::cargo(root, &arguments)?)?;
    Ok(made.into_iter().collect())
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
        let text = std::fs::read_to_string(project::root().join("schema/record-1.json")).unwrap();
        let schema: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            schema["required"],
            serde_json::json!(["format", "id", "origin"])
        );
    }
}
