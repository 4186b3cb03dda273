//! Checks for every row of every facts file.

use std::collections::BTreeSet;

use cardmark_core::{CardFacts, CardKind};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::read;

/// Documents that are cited by name, because they have no stable address.
const DOCUMENTS: [&str; 3] = ["SD Specifications", "JEDEC", "Methodology of cardmark"];

/// Fields that every row has.
#[derive(Deserialize)]
struct Cited {
    id: String,
    source: String,
    checked_on: String,
    vectors: Vec<String>,
}

/// Checks that all tables of a file are rows of their type, and the fields that every row has.
pub(crate) fn check_file<T: DeserializeOwned>(text: &str, name: &str) {
    let rows = read::<T>(text, name).expect("rows of their type");
    let tables = text.lines().filter(|line| line.starts_with("[[")).count();
    assert_eq!(rows.len(), tables, "tables that did not become rows");
    assert!(!rows.is_empty());
    let mut ids = BTreeSet::new();
    for row in read::<Cited>(text, name).expect("rows that are cited") {
        let id = row.id;
        let cites =
            row.source.contains("://") || DOCUMENTS.iter().any(|name| row.source.starts_with(name));
        assert!(
            cites,
            "{id}: the source is neither an address nor a document"
        );
        assert!(is_day(&row.checked_on), "{id}: checked_on is no day");
        assert!(!row.vectors.is_empty(), "{id}: no example");
        assert!(ids.insert(id.clone()), "{id} is listed twice");
    }
}

/// True for a day such as `2026-11-21`, not before the first facts were collected.
pub(crate) fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else {
        return false;
    };
    let number = |part: &str, length: usize, least: u32, most: u32| {
        part.len() == length && part.parse().is_ok_and(|n: u32| (least..=most).contains(&n))
    };
    number(year, 4, 2026, 2100) && number(month, 2, 1, 12) && number(day, 2, 1, 31)
}

/// A card in words as displayed by the kernel under `device/`, such as `sd manfid=0x03 oemid=0x5344
/// name=SN64G rev=8.0 date=07/2021 serial=0x00001234 bytes=16000000000 classes=C10,A1`.
pub(crate) struct Example {
    pub(crate) kind: CardKind,
    pub(crate) facts: CardFacts,
    pub(crate) serial: Option<u32>,
    /// `today=2026-11`, for conditions that depend on it.
    pub(crate) today: Option<String>,
}

impl Example {
    pub(crate) fn parse(text: &str) -> Self {
        let (kind, words) = text.split_once(' ').expect("kind and words");
        let mut example = Self {
            kind: match kind {
                "sd" => CardKind::Sd,
                "mmc" => CardKind::Mmc,
                _ => panic!("{text}: no kind of card"),
            },
            facts: CardFacts::default(),
            serial: None,
            today: None,
        };
        for word in words.split(' ') {
            let (name, value) = word.split_once('=').expect("name=value");
            example.take(name, value);
        }
        example
    }

    fn take(&mut self, name: &str, value: &str) {
        let hex = |digits: &str| u32::from_str_radix(digits.trim_start_matches("0x"), 16).unwrap();
        let facts = &mut self.facts;
        match name {
            "manfid" => facts.manufacturer_id = Some(u8::try_from(hex(value)).unwrap()),
            "oemid" => facts.oem = Some(format!("{:04x}", hex(value))),
            // `_` replaces a space in a name.
            "name" => facts.product = Some(value.replace('_', " ")),
            "rev" => facts.revision = Some(value.to_owned()),
            "date" => {
                let (month, year) = value.split_once('/').expect("MM/YYYY");
                facts.made = Some(format!("{year}-{month}"));
            }
            "serial" => self.serial = Some(hex(value)),
            "bytes" => facts.capacity_bytes = Some(value.parse().unwrap()),
            "classes" => facts.classes = value.split(',').map(str::to_owned).collect(),
            "today" => self.today = Some(value.to_owned()),
            _ => panic!("{name}: no such word"),
        }
    }
}
