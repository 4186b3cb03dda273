//! Records and statements of later versions: each vocabulary of the schema has a new word, and each object a new field.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use uuid::Uuid;

const RECORD: &str = include_str!("../../../../schema/record-1.json");
const STATEMENT: &str = include_str!("../../../../schema/statement-1.json");

/// A new word of a vocabulary.
pub const WORD: &str = "a_word_of_next_year";
/// A new field of an object.
pub const FIELD: &str = "a_field_of_next_year";

/// A document of a later version.
#[derive(Clone, Debug)]
pub struct Later {
    /// Type with something new, and its place.
    pub what: String,
    /// The document, in one line.
    pub document: String,
}

impl Later {
    /// True if it has a new word and no new field.
    #[must_use]
    pub fn is_word(&self) -> bool {
        !self.document.contains(FIELD)
    }
}

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
    fn new(schema: &Value, name: &str) -> Self {
        Self {
            schema: schema.clone(),
            vocabularies: BTreeMap::new(),
            objects: BTreeMap::from([(name.to_owned(), String::new())]),
            others: Vec::new(),
        }
    }

    /// Each vocabulary and object of the schema was met.
    fn assert_complete(&self) {
        for (name, of) in self.schema["$defs"].as_object().unwrap() {
            let open = of["anyOf"].as_array();
            let is_open = open.is_some_and(|all| all.iter().any(is_word));
            let is_met = self.vocabularies.contains_key(name) || self.objects.contains_key(name);
            let has_place = is_open || of["properties"].is_object();
            assert!(!has_place || is_met, "{name} is in no record");
        }
    }

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
        let alternatives = of["anyOf"].as_array();
        if alternatives.is_some_and(|all| all.iter().any(is_word)) {
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

/// A vocabulary is open: any word may stand there.
fn is_word(one: &Value) -> bool {
    one["$ref"] == "#/$defs/Word"
}

fn kind_of(of: &Value) -> &str {
    let all = of["type"].as_array();
    let mut named = all.into_iter().flatten().filter_map(Value::as_str);
    named
        .find(|name| *name != "null")
        .or(of["type"].as_str())
        .unwrap_or_default()
}

/// Returns documents of later versions: one for each new word of a vocabulary, and each new field of an object. The ids
/// count from 2; that of [`full_record`] is 1.
#[must_use]
pub fn later_records() -> Vec<Later> {
    let schema: Value = serde_json::from_str(RECORD).unwrap();
    let (base, builder) = full(&schema);
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
    // 27 vocabularies, 58 objects.
    assert!(
        new.len() >= 85 && builder.vocabularies.len() >= 27,
        "{}",
        new.len()
    );
    let later = |(number, (what, mut document)): (u128, (String, Value))| {
        document["id"] = json!(Uuid::from_u128(number));
        Later {
            what,
            document: document.to_string(),
        }
    };
    (2..).zip(new).map(later).collect()
}

/// A record with every field of the schema, and what was met on the way.
fn full(schema: &Value) -> (Value, Builder) {
    let mut builder = Builder::new(schema, "Record");
    let mut base = builder.value(schema, "");
    base["format"] = json!(1);
    base["sensors"]["messages"] = json!([[0, "x"]]);
    base["trials"]["workload"] = json!([0]);
    base["trials"]["layout"] = json!([0]);
    base["started_at"] = json!("2026-11-23T10:00:00Z");
    builder.assert_complete();
    (base, builder)
}

/// Returns the document of a record with every field of the schema.
#[must_use]
pub fn full_record() -> String {
    let schema: Value = serde_json::from_str(RECORD).unwrap();
    full(&schema).0.to_string()
}
/// Returns statements on a run with a field of a later version in each object, and the place of the field.
#[must_use]
pub fn later_statements(id: Uuid) -> Vec<(String, Value)> {
    let schema: Value = serde_json::from_str(STATEMENT).unwrap();
    let mut builder = Builder::new(&schema, "Statement");
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
    assert!(places.len() >= 2, "{places:?}");
    places.into_iter().map(with_new).collect()
}
