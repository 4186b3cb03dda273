//! Numbers in the record say their unit in their name. Exceptions are in `quantities.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

const RULES: &str = "xtask/quantities.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    /// Endings that tell what a number is.
    endings: Vec<String>,
    /// Names without such an ending, each with its reason.
    allowed: BTreeMap<String, String>,
}

pub(crate) fn check(root: &Path, schema: &Value) -> crate::project::Checked {
    let rules: Rules = toml::from_str(&std::fs::read_to_string(root.join(RULES))?)?;
    Ok(look_at(&rules, schema))
}

fn look_at(rules: &Rules, schema: &Value) -> Vec<String> {
    let mut names = BTreeSet::new();
    numeric_names(schema, &mut names);
    let mut problems = Vec::new();
    for name in &names {
        let tells = rules
            .endings
            .iter()
            .any(|ending| name.ends_with(ending.as_str()));
        if !tells && !rules.allowed.contains_key(name) {
            let endings = rules.endings.join(" ");
            problems.push(format!(
                "schema: number `{name}` does not say its unit; end it in one of {endings}, or \
                 give a reason in {RULES}"
            ));
        }
    }
    for name in rules.allowed.keys().filter(|name| !names.contains(*name)) {
        problems.push(format!("{RULES}: the schema has no number `{name}`"));
    }
    problems
}

/// Names of all properties that hold numbers, lists of numbers and tuples included.
fn numeric_names(node: &Value, names: &mut BTreeSet<String>) {
    match node {
        Value::Object(map) => {
            if let Some(Value::Object(properties)) = map.get("properties") {
                for (name, property) in properties {
                    if is_numeric(property) {
                        names.insert(name.clone());
                    }
                }
            }
            map.values().for_each(|value| numeric_names(value, names));
        }
        Value::Array(values) => values.iter().for_each(|value| numeric_names(value, names)),
        _ => {}
    }
}

/// Whether a property is a number itself or made of bare numbers. A reference names a type, whose
/// own properties are looked at where it is defined.
fn is_numeric(property: &Value) -> bool {
    let numeric = |name: &Value| name == "integer" || name == "number";
    let of_type = match &property["type"] {
        Value::Array(types) => types.iter().any(numeric),
        one => numeric(one),
    };
    let inside = ["anyOf", "oneOf", "allOf", "prefixItems"]
        .iter()
        .any(|key| {
            property[key]
                .as_array()
                .is_some_and(|options| options.iter().any(is_numeric))
        });
    of_type || inside || property["items"].is_object() && is_numeric(&property["items"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn names_of(schema: &Value) -> Vec<String> {
        let rules = Rules {
            endings: vec!["_bytes".into(), "_ns".into()],
            allowed: BTreeMap::from([("format".into(), "a version".into())]),
        };
        look_at(&rules, schema)
    }

    #[test]
    fn names_with_a_unit_or_a_reason_pass() {
        let schema = json!({"properties": {
            "format": {"type": "integer"}, "size_bytes": {"type": ["integer", "null"]},
            "name": {"type": "string"}, "part": {"$ref": "#/$defs/Part"},
        }});
        assert_eq!(names_of(&schema), [""; 0]);
    }

    #[test]
    fn a_number_without_a_unit_is_caught_wherever_it_is() {
        let numbers = [
            json!({"type": "integer"}),
            json!({"type": ["number", "null"]}),
            json!({"anyOf": [{"type": "number"}, {"type": "null"}]}),
            json!({"type": "array", "items": {"type": "integer"}}),
            json!({"type": "array", "items": {"type": "array", "prefixItems": [{"type": "integer"}]}}),
        ];
        for number in numbers {
            let schema = json!({
                "properties": {"format": {"type": "integer"}},
                "$defs": {"Part": {"properties": {"speed": number}}},
            });
            let problems = names_of(&schema);
            assert_eq!(problems.len(), 1, "{schema}");
            assert!(problems[0].contains("`speed`"));
        }
    }

    #[test]
    fn a_reason_for_nothing_is_caught() {
        assert_eq!(names_of(&json!({})).len(), 1);
    }
}
