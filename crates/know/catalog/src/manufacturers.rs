//! Manufacturers of cards, by the numbers in the identification register.

use std::sync::LazyLock;

use cardmark_core::CardKind;
use serde::Deserialize;

use crate::facts::{embedded, most_specific};

const TEXT: &str = include_str!("../facts/manufacturers.toml");

static ROWS: LazyLock<Vec<Manufacturer>> = LazyLock::new(|| embedded(TEXT, "manufacturers"));

/// User of a manufacturer's number, or of a number together with an OEM id.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manufacturer {
    /// Id of the row.
    pub id: String,
    /// Family of the cards: SD-3C assigns the numbers of SD cards, JEDEC those of eMMC.
    pub kind: CardKind,
    /// The manufacturer's number.
    pub manufacturer_id: u8,
    /// The OEM id, 4 hexadecimal digits; absent: any other.
    pub oem: Option<String>,
    /// The manufacturer's name.
    pub name: String,
    /// Other brands whose cards contain this number, because they buy cards or controllers there.
    #[serde(default)]
    pub shared_by: Vec<String>,
    /// Further notes.
    pub note: Option<String>,
    /// Source of the row.
    pub source: String,
    /// Day on which the source was read.
    pub checked_on: String,
    /// Examples, used by a test.
    pub vectors: Vec<String>,
}

/// Returns the manufacturer with these numbers; a row with the OEM id takes precedence over one with the
/// number only.
pub fn manufacturer(
    kind: CardKind,
    manufacturer_id: u8,
    oem: &str,
) -> Option<&'static Manufacturer> {
    let known = ROWS
        .iter()
        .filter(|row| row.kind == kind && row.manufacturer_id == manufacturer_id);
    most_specific(known, |row| row.oem.as_ref(), oem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::checking::{Example, check_file};

    #[test]
    fn every_manufacturer_is_cited_and_found() {
        check_file::<Manufacturer>(TEXT, "manufacturers");
        for row in ROWS.iter() {
            for vector in &row.vectors {
                let example = Example::parse(vector);
                let id = example.facts.manufacturer_id.unwrap();
                let oem = example.facts.oem.unwrap_or_default();
                let found = manufacturer(example.kind, id, &oem);
                assert_eq!(found.map(|row| &row.id), Some(&row.id), "{vector}");
            }
        }
    }

    #[test]
    fn the_two_families_are_apart() {
        let name = |kind, id| manufacturer(kind, id, "").map(|row| row.name.as_str());
        assert_eq!(name(CardKind::Sd, 0x02), Some("Kioxia (before: Toshiba)"));
        assert_eq!(name(CardKind::Mmc, 0x02), Some("SanDisk"));
        assert_eq!(name(CardKind::Sd, 0x15), None);
        assert_eq!(name(CardKind::Mmc, 0x15), Some("Samsung"));
    }

    #[test]
    fn an_oem_id_goes_before_the_number_alone() {
        let name = |oem| manufacturer(CardKind::Sd, 0x9c, oem).unwrap().id.as_str();
        assert_eq!(name("534F"), "sd-9c-534f");
        assert_eq!(name("0000"), "sd-9c");
    }
}
