//! Output of `info` about boards that are not at hand.

use std::path::{Path, PathBuf};

use cardmark_host::resolve;
use cardmark_testkit::trees;
use cardmark_testkit::trees::{PC_READER, Tree};

use super::*;

/// Serial numbers in the trees, in hexadecimal and decimal digits or letters.
const SERIALS: [&str; 4] = ["c0ffee", "badcafe", "INV0123456789", "INV1234567890"];

/// Target in a tree: the disk below `/`, or the card in its USB reader.
fn target(name: &str) -> PathBuf {
    if name.starts_with("pc_") {
        return Path::new("/dev").join(Path::new(PC_READER).file_name().unwrap());
    }
    PathBuf::from("/")
}

fn record(name: &str, tree: &Tree) -> (Root, Record) {
    let root = tree.root();
    let resolution = resolve(&root, &target(name)).unwrap();
    let mut record = real(&root, &resolution);
    notice(&mut record);
    record.derived = judge(&record, None);
    (root, record)
}

fn page(name: &str, tree: &Tree, width: usize) -> String {
    let (_, record) = record(name, tree);
    identity(&record, &[], width, cardmark_report::Style::Plain)
}

#[test]
fn each_board_has_its_page() {
    for (name, tree) in trees::whole() {
        insta::assert_snapshot!(format!("info_{name}"), page(name, &tree, 80));
    }
}

#[test]
fn pages_fit_into_narrow_terminals() {
    for (name, tree) in trees::whole() {
        for width in [40, 60, 80] {
            let page = page(name, &tree, width);
            let long = page.lines().find(|line| line.chars().count() > width);
            assert_eq!(long, None, "{name}, {width} columns");
        }
    }
}

#[test]
fn all_that_is_known_is_json_without_a_serial_number() {
    for (name, tree) in trees::whole() {
        let (root, record) = record(name, &tree);
        let text = as_json(&root, &record, &[]).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(value["context"]["must"]["reader"].is_string(), "{name}");
        let has_card = value["devices"][0]["card"].is_object();
        let fields = value["registers"][0]["fields"].as_array().unwrap();
        assert_eq!(has_card, !fields.is_empty(), "{name}");
        for serial in SERIALS {
            let found = text.to_lowercase().contains(&serial.to_lowercase());
            assert!(!found, "{name} shows {serial}");
        }
    }
}
