//! Documents of later versions come back byte for byte, and labels change only what this version knows.

use cardmark_core::{parse_record, parse_statement};
use cardmark_samples::{full_record, later_records, later_statements};
use cardmark_store::{Incoming, Inserted, Store, StoreError};
use serde_json::{Value, json};

use crate::builder::record;

#[test]
fn documents_of_later_versions_keep_their_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("records.sqlite")).unwrap();
    let mut documents = vec![full_record()];
    documents.extend(later_records().into_iter().map(|later| later.document));
    let parsed = |document: &String| {
        let record = Box::new(parse_record(document).unwrap());
        Incoming::Record(record, document.clone())
    };
    let all: Vec<Incoming> = documents.iter().map(parsed).collect();
    for taken in store.take_in(&all).unwrap() {
        assert_eq!(taken.unwrap(), Inserted::New);
    }
    let mut exported = Vec::new();
    let each = store.documents(|document, stated| {
        assert_eq!(stated, None);
        exported.push(document.to_owned());
        Ok::<(), StoreError>(())
    });
    each.unwrap();
    assert!(exported == documents, "export changed a document");
    for (incoming, document) in all.iter().zip(&documents) {
        let Incoming::Record(record, _) = incoming else {
            continue;
        };
        let found = store.find(&record.id.to_string()).unwrap();
        assert_eq!(&found.document, document);
    }
}

#[test]
fn fields_of_later_statements_survive_labels() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("records.sqlite")).unwrap();
    let id = record("67e5").id;
    let mut plain = record("67e5");
    plain.labels.clear();
    store.insert(&plain).unwrap();
    for (number, (place, mut document)) in (1_u64..).zip(later_statements(id)) {
        document["revision"] = json!(10 * number);
        let line = document.to_string();
        let statement = Box::new(parse_statement(&line).unwrap());
        let taken = store.take_in(&[Incoming::Statement(statement, line.clone())]);
        assert!(taken.unwrap().remove(0).is_ok(), "{place}");
        assert_eq!(
            store.statement(id).unwrap().as_ref(),
            Some(&line),
            "{place}"
        );
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
        let mut changes = vec![("host", Some("pi"))];
        changes.extend(known.map(|key| (key, Some("y"))));
        store.label(id, changes).unwrap();
        let mut expected = document.clone();
        expected["revision"] = json!(10 * number + 1);
        for key in &known[..6] {
            expected[*key] = json!("y");
        }
        expected["claims"] = json!(["y"]);
        expected["labels"]["x"] = json!("y");
        let stated = |store: &mut Store| -> Value {
            serde_json::from_str(&store.statement(id).unwrap().unwrap()).unwrap()
        };
        assert_eq!(stated(&mut store), expected, "{place}");
        // A label that is taken away leaves its field out, and no other.
        store.label(id, [("remark", None)]).unwrap();
        expected.as_object_mut().unwrap().remove("remark");
        expected["revision"] = json!(10 * number + 2);
        assert_eq!(stated(&mut store), expected, "{place}");
    }
}
