//! The public form holds no text that its lists do not allow, whatever a record holds.

use cardmark_core::{parse_record, public_form, record_to_json};
use serde_json::{Value, json};

use crate::common::{program, scratch};
use cardmark_samples::full_record;

const PLANTED: &str = "Ada's card, bought 7/3";
/// Names that hardware reports, and figures as other tools print them: short texts of visible ASCII characters.
const HARDWARE: [&str; 9] = [
    "/board/model",
    "/devices/0/card/decoded/product",
    "/devices/0/firmware",
    "/devices/0/model",
    "/devices/0/reader/usb/name",
    "/metrics/0/printed/meaning",
    "/metrics/0/printed/text",
    "/metrics/0/printed/tool",
    "/origin/tool",
];

/// Places of all texts in a value.
fn texts(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(place.to_owned()),
        Value::Array(list) => {
            for (index, one) in list.iter().enumerate() {
                texts(one, &format!("{place}/{index}"), found);
            }
        }
        Value::Object(fields) => {
            for (name, one) in fields {
                texts(one, &format!("{place}/{name}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn form(document: &Value) -> Option<String> {
    let record = parse_record(&document.to_string()).ok()?;
    let form = public_form(&record, &[]);
    let again = public_form(&form.record, &[]);
    assert_eq!(again.record, form.record);
    assert_eq!(again.withheld, Vec::<String>::new());
    Some(record_to_json(&form.record).unwrap())
}

#[test]
fn no_field_of_a_record_brings_a_text_into_its_public_form() {
    let full: Value = serde_json::from_str(&full_record()).unwrap();
    let mut places = Vec::new();
    texts(&full, "", &mut places);
    let mut read = 0;
    let mut hardware = Vec::new();
    for place in &places {
        let with = |text: &str| {
            let mut document = full.clone();
            *document.pointer_mut(place).unwrap() = json!(text);
            form(&document)
        };
        // Words, such as those of vocabularies, hold no such text: the record cannot be read.
        let Some(form) = with(PLANTED) else {
            continue;
        };
        read += 1;
        if form.contains("Ada") {
            hardware.push(place.as_str());
        }
        for text in ["Ada \u{e9}", &"Ada".repeat(30)] {
            let form = with(text).unwrap();
            assert!(!form.contains("Ada"), "{place}: {form}");
        }
    }
    assert!(read >= 60, "{read} of {} places", places.len());
    assert_eq!(hardware, HARDWARE);
}

#[test]
fn no_name_of_a_register_or_counter_brings_a_text_into_the_public_form() {
    let full: Value = serde_json::from_str(&full_record()).unwrap();
    for (place, value) in [
        ("/devices/0/card/registers", json!({ PLANTED: "00" })),
        ("/devices/0/card/registers", json!({ "scr": PLANTED })),
        ("/sensors/bus_errors", json!({ PLANTED: [1] })),
        (
            "/workloads/0/procedure",
            json!({ "kind": PLANTED, "text": PLANTED }),
        ),
    ] {
        let mut document = full.clone();
        *document.pointer_mut(place).unwrap() = value;
        let form = form(&document).unwrap();
        assert!(!form.contains("Ada"), "{place}: {form}");
    }
}

#[test]
fn a_serial_number_that_a_register_still_holds_stays_here() {
    let mut full: Value = serde_json::from_str(&full_record()).unwrap();
    full["devices"][0]["card"] = json!({
        "kind": "sd", "registers": { "cid": "1b534d3030303030100123456700f4c7" }, "decoded": {},
    });
    let form = form(&full).unwrap();
    assert!(!form.contains("01234567"), "{form}");
    assert!(form.contains("1b534d3030303030100000000000f4"), "{form}");
}

#[test]
fn a_field_that_does_not_exist_cannot_be_kept() {
    let scratch = scratch();
    let program = program(&scratch);
    for field in ["nonsense", "labels.", "started at"] {
        let refused = program.run(&["export", "--public", "--keep", field]);
        assert_eq!(refused.code, 2, "{refused}");
        assert!(
            refused.stderr.contains("no field of the public form"),
            "{refused}"
        );
    }
    let kept = program.run(&[
        "export",
        "--public",
        "--keep",
        "labels.sample",
        "--keep",
        "started_at",
    ]);
    assert_eq!(kept.code, 0, "{kept}");
}
