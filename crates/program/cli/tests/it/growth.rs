//! Records and statements of later versions: each vocabulary of the schema has a new word, and each object a new field.

use std::collections::{BTreeMap, BTreeSet};

use cardmark_core::{parse_record, record_to_json};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::common::{program, scratch};

const SCHEMA: &str = include_str!("../../../../../schema/record-1.json");
const STATEMENT: &str = include_str!("../../../../../schema/statement-1.json");
const WORD: &str = "a_word_of_next_year";
const FIELD: &str = "a_field_of_next_year";

/// Builds a record that has every field of the schema, and notes where each type occurs first.
struct Builder {
    schema: Value,
    /// Place of each vocabulary.
    vocabularies: BTreeMap<String, String>,
    /// Place of each object.
    objects: BTreeMap<String, String>,
    /// Alternatives that the record could have in a place.
    others: Vec<(String, Value)>,
}

impl Builder {
    fn type_of(&self, name: &str) -> Value {
        self.schema["$defs"][name].clone()
    }

    fn named(&mut self, name: &str, place: &str) -> Value {
        if name == "LatencyColumns" {
            self.objects
                .entry(name.to_owned())
                .or_insert_with(|| place.to_owned());
            return json!({
                "step_bits": [7], "min_ns": [9], "max_ns": [9], "sum_ns": [9], "buckets": [[-9, 1]],
            });
        }
        let of = self.type_of(name);
        let is_open = |one: &Value| one["$ref"] == "#/$defs/Word";
        let alternatives = of["anyOf"].as_array();
        if alternatives.is_some_and(|all| all.iter().any(is_open)) {
            self.vocabularies
                .entry(name.to_owned())
                .or_insert_with(|| place.to_owned());
        }
        if of["properties"].is_object() {
            self.objects
                .entry(name.to_owned())
                .or_insert_with(|| place.to_owned());
        }
        self.value(&of, place)
    }

    fn value(&mut self, of: &Value, place: &str) -> Value {
        if let Some(name) = of["$ref"].as_str() {
            return self.named(name.trim_start_matches("#/$defs/"), place);
        }
        if let Some(value) = of.get("const") {
            return value.clone();
        }
        if let Some(alternatives) = of["anyOf"].as_array().or(of["oneOf"].as_array()) {
            let mut made: Vec<Value> = Vec::new();
            for one in alternatives.iter().filter(|one| one["type"] != "null") {
                made.push(self.value(one, place));
            }
            for other in made.iter().skip(1).filter(|other| other.is_object()) {
                self.others.push((place.to_owned(), other.clone()));
            }
            return made.remove(0);
        }
        match kind_of(of) {
            "object" => self.object(of, place),
            "array" => self.list(of, place),
            "string" if of["format"] == "uuid" => json!(Uuid::from_u128(1)),
            "string" => json!("x"),
            "boolean" => json!(true),
            "number" => json!(1.5),
            _ => json!(1),
        }
    }

    fn object(&mut self, of: &Value, place: &str) -> Value {
        let mut fields = Map::new();
        for (key, one) in of["properties"].as_object().into_iter().flatten() {
            let value = self.value(one, &format!("{place}/{key}"));
            fields.insert(key.clone(), value);
        }
        if of["additionalProperties"].is_object() {
            let value = self.value(&of["additionalProperties"], &format!("{place}/x"));
            fields.insert("x".to_owned(), value);
        }
        Value::Object(fields)
    }

    fn list(&mut self, of: &Value, place: &str) -> Value {
        let mut list = Vec::new();
        if let Some(each) = of["prefixItems"].as_array() {
            for (index, one) in each.iter().enumerate() {
                list.push(self.value(one, &format!("{place}/{index}")));
            }
        } else {
            list.push(self.value(&of["items"], &format!("{place}/0")));
        }
        Value::Array(list)
    }
}

fn kind_of(of: &Value) -> &str {
    let all = of["type"].as_array();
    let mut named = all.into_iter().flatten().filter_map(Value::as_str);
    named
        .find(|name| *name != "null")
        .or(of["type"].as_str())
        .unwrap_or_default()
}

/// A record with every field of the schema, and documents of later versions with what is new in each.
fn documents() -> (String, Vec<(String, String)>) {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let mut builder = Builder {
        schema: schema.clone(),
        vocabularies: BTreeMap::new(),
        objects: BTreeMap::from([("Record".to_owned(), String::new())]),
        others: Vec::new(),
    };
    let mut base = builder.value(&schema, "");
    base["format"] = json!(1);
    base["sensors"]["messages"] = json!([[0, "x"]]);
    base["trials"]["workload"] = json!([0]);
    base["trials"]["layout"] = json!([0]);
    base["started_at"] = json!("2026-11-23T10:00:00Z");

    let mut new: Vec<(String, Value)> = Vec::new();
    for (name, place) in &builder.vocabularies {
        let mut document = base.clone();
        *document.pointer_mut(place).unwrap() = json!(WORD);
        new.push((format!("{name} at {place}"), document));
    }
    for (place, other) in &builder.others {
        let mut document = base.clone();
        *document.pointer_mut(place).unwrap() = other.clone();
        document.pointer_mut(place).unwrap()[FIELD] = json!([1]);
        new.push((format!("alternative {other}"), document));
    }
    for (name, place) in &builder.objects {
        let mut document = base.clone();
        document.pointer_mut(place).unwrap()[FIELD] = json!({"deep": [WORD]});
        new.push((format!("{name} at {place}"), document));
    }
    let met: BTreeSet<&String> = builder
        .vocabularies
        .keys()
        .chain(builder.objects.keys())
        .collect();
    let defined = schema["$defs"].as_object().unwrap();
    let is_open_or_object = |of: &Value| {
        let open = of["anyOf"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one["$ref"] == "#/$defs/Word"));
        open || of["properties"].is_object()
    };
    for (name, of) in defined {
        assert!(
            !is_open_or_object(of) || met.contains(name),
            "{name} is in no record"
        );
    }
    let text = |(number, (what, mut document)): (u128, (String, Value))| {
        document["id"] = json!(Uuid::from_u128(number));
        (what, document.to_string())
    };
    let new = (2..).zip(new).map(text).collect();
    (base.to_string(), new)
}

/// A record with every field of the schema.
pub(crate) fn full_record() -> String {
    documents().0
}

#[test]
fn words_and_fields_of_later_versions_survive() {
    let (base, new) = documents();
    // 27 vocabularies, 58 objects.
    assert!(new.len() >= 85, "{}", new.len());
    let is_word = |text: &str| !text.contains(FIELD);
    let words = new.iter().filter(|(_, text)| is_word(text));
    assert!(words.count() >= 27);
    for (what, document) in &new {
        let record = parse_record(document).unwrap_or_else(|error| panic!("{what}: {error}"));
        let again = record_to_json(&record).unwrap();
        assert_eq!(again.contains(WORD), is_word(document), "{what}");
    }

    let scratch = scratch();
    let program = program(&scratch);
    let all: Vec<&str> = std::iter::once(base.as_str())
        .chain(new.iter().map(|(_, text)| text.as_str()))
        .collect();
    let lines = all.join("\n") + "\n";
    let file = program.file("later.jsonl");
    std::fs::write(&file, &lines).unwrap();
    let imported = program.run(&["import", file.to_str().unwrap()]);
    assert_eq!(imported.code, 0, "{imported}");
    let said = format!("imported {} runs", all.len());
    assert!(imported.stderr.contains(&said), "{imported}");
    let exported = program.run(&["export"]);
    assert!(exported.stdout == lines, "export changed a document");

    let id_of = |number: usize| Uuid::from_u128(number as u128).to_string();
    for (number, (what, document)) in (2..).zip(&new) {
        let id = id_of(number);
        let shown = program.run(&["show", &id]);
        assert_eq!(shown.code, 0, "{what}: {shown}");
        let shown = program.run(&["show", &id, "--json"]);
        assert_eq!(shown.stdout.trim_end(), document, "{what}");
        let compared = program.run(&["compare", &id_of(1), &id]);
        // Different circumstances are a reason to refuse; not to know a word is none.
        assert!(
            compared.code <= 1 || compared.stderr.contains("--across"),
            "{what}: {compared}"
        );
    }
}

/// Statements with a field of a later version in each object, and the place of the field.
fn statements(id: &Uuid) -> Vec<(String, Value)> {
    let schema: Value = serde_json::from_str(STATEMENT).unwrap();
    let mut builder = Builder {
        schema: schema.clone(),
        vocabularies: BTreeMap::new(),
        objects: BTreeMap::from([("Statement".to_owned(), String::new())]),
        others: Vec::new(),
    };
    let mut base = builder.value(&schema, "");
    base["record_id"] = json!(id);
    let mut places: Vec<String> = builder.objects.into_values().collect();
    // Objects of free keys have no name in the schema.
    let fields = base.as_object().unwrap().iter();
    let inner = fields.filter(|(_, value)| value.is_object());
    places.extend(inner.map(|(key, _)| format!("/{key}")));
    places.sort();
    places.dedup();
    let with_new = |place: String| {
        let mut document = base.clone();
        let value = match place.as_str() {
            "" => json!({"deep": [WORD]}),
            _ => json!(WORD),
        };
        document.pointer_mut(&place).unwrap()[FIELD] = value;
        (format!("{place}/{FIELD}"), document)
    };
    places.into_iter().map(with_new).collect()
}

#[test]
fn fields_of_later_statements_survive_labels_and_exports() {
    let scratch = scratch();
    let program = program(&scratch);
    let run = program.run(&["run", "sim:a1-32gb", "--only=rand_read_4k", "--seed=7"]);
    assert_eq!(run.code, 0, "{run}");
    let id = program.run(&["show", "last", "--json"]).record().id;
    let statements = statements(&id);
    assert!(statements.len() >= 2, "{statements:?}");
    let file = program.file("statement.jsonl");
    for (number, (place, mut document)) in (1_u64..).zip(statements) {
        document["revision"] = json!(10 * number);
        let line = document.to_string();
        std::fs::write(&file, format!("{line}\n")).unwrap();
        let imported = program.run(&["import", file.to_str().unwrap()]);
        assert_eq!(imported.code, 0, "{place}: {imported}");
        let last = |command: &[&str]| {
            let output = program.run(command);
            assert_eq!(output.code, 0, "{place}: {output}");
            output.stdout.lines().last().unwrap().to_owned()
        };
        for command in [&["export"][..], &["show", "last", "--json"]] {
            assert_eq!(last(command), line, "{place}");
        }
        // Each field that this version knows changes; what it does not know stays.
        let known = [
            "product",
            "product_id",
            "claims",
            "setting",
            "bought",
            "remark",
            "x",
        ];
        let changes = known.map(|key| format!("{key}=y"));
        let mut label = vec!["label", "last", "host=pi"];
        label.extend(changes.iter().map(String::as_str));
        last(&label);
        let mut expected = document.clone();
        expected["revision"] = json!(10 * number + 1);
        for key in &known[..6] {
            expected[*key] = json!("y");
        }
        expected["claims"] = json!(["y"]);
        expected["labels"]["x"] = json!("y");
        for command in [&["export"][..], &["show", "last", "--json"]] {
            let changed: Value = serde_json::from_str(&last(command)).unwrap();
            assert_eq!(changed, expected, "{place}");
        }
        // A label that is taken away leaves its field out, and no other.
        last(&["label", "last", "remark="]);
        let after: Value = serde_json::from_str(&last(&["export"])).unwrap();
        expected.as_object_mut().unwrap().remove("remark");
        expected["revision"] = json!(10 * number + 2);
        assert_eq!(after, expected, "{place}");
    }
}
