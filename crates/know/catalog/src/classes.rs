//! Promises of the labels on cards.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use cardmark_core::BusMode;
use serde::Deserialize;

use crate::facts::embedded;

const TEXT: &str = include_str!("../facts/classes.toml");

static ROWS: LazyLock<Vec<Class>> = LazyLock::new(|| embedded(TEXT, "classes"));

/// Families of classes; within one, a class implies the lower ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClassFamily {
    /// Speed Class: `C2` to `C10`.
    Speed,
    /// UHS Speed Grade: `U1`, `U3`.
    Uhs,
    /// Video Speed Class: `V6` to `V90`.
    Video,
    /// Application Performance Class: `A1`, `A2`.
    Application,
    /// SD Express Speed Class: `E150` to `E600`.
    Express,
}

/// Requirement of a class for the host, in addition to a bus mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// The card's cache is on.
    Cache,
    /// The card's command queue is on and used.
    CommandQueue,
}

/// Promises of a class, and its conditions.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// Name as in records, such as `C10` or `A2`.
    pub id: String,
    /// Alternative spellings.
    pub aliases: Vec<String>,
    /// Its family.
    pub family: ClassFamily,
    /// Minimum rate of sequential writes, bytes per second.
    pub least_write_bytes_per_s: u64,
    /// Minimum rate of random reads in blocks of 4 KiB, operations per second.
    pub least_read_operations_per_s: Option<u64>,
    /// Minimum rate of random writes in blocks of 4 KiB, operations per second.
    pub least_write_operations_per_s: Option<u64>,
    /// Bus modes in which it is defined, with the minimum clock for its test, hertz.
    #[serde(default)]
    pub modes: BTreeMap<BusMode, u64>,
    /// Buses in which it is defined and that are missing in the kernel's list of modes.
    #[serde(default)]
    pub other_buses: Vec<String>,
    /// Stretch over which the minimum rate applies.
    pub window: String,
    /// Sizes of the writes of its test, bytes, ascending; they depend on the card's size.
    pub write_unit_bytes: Vec<u64>,
    /// Further requirements for the host.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// The lower classes that it includes.
    #[serde(default)]
    pub implies: Vec<String>,
    /// Source of the row.
    pub source: String,
    /// Day on which the source was read.
    pub checked_on: String,
    /// Spellings, used by a test.
    pub vectors: Vec<String>,
}

/// Returns all classes, by family, the lowest first.
pub fn classes() -> &'static [Class] {
    &ROWS
}

/// Returns the class of this name or of the family's full name, ignoring case and spaces.
pub fn class(name: &str) -> Option<&'static Class> {
    let plain = |text: &str| text.replace(' ', "").to_ascii_lowercase();
    let name = plain(name);
    ROWS.iter().find(|class| {
        let mut words = std::iter::once(&class.id).chain(&class.aliases);
        words.any(|known| plain(known) == name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::checking::check_file;

    #[test]
    fn every_class_is_cited_and_found() {
        check_file::<Class>(TEXT, "classes");
        for row in classes() {
            assert_eq!(class(&row.id), Some(row));
            for vector in &row.vectors {
                assert_eq!(class(vector).map(|c| &c.id), Some(&row.id), "{vector}");
            }
            assert!(!row.modes.is_empty() || !row.other_buses.is_empty());
            assert!(row.write_unit_bytes.is_sorted());
        }
    }

    /// In a family the classes are in the order of their promises, and each class implies all before it.
    #[test]
    fn a_class_implies_the_lower_ones_of_its_family() {
        for (index, row) in ROWS.iter().enumerate() {
            let lower: Vec<&Class> = ROWS[..index]
                .iter()
                .filter(|other| other.family == row.family)
                .collect();
            let names: Vec<&String> = lower.iter().map(|other| &other.id).collect();
            assert_eq!(row.implies.iter().collect::<Vec<_>>(), names, "{}", row.id);
            for other in lower {
                let promise = |class: &Class| {
                    (
                        class.least_write_bytes_per_s,
                        class.least_read_operations_per_s,
                        class.least_write_operations_per_s,
                    )
                };
                assert!(promise(row) > promise(other), "{}", row.id);
            }
        }
    }

    #[test]
    fn figures_are_those_of_the_specification() {
        let a2 = class("A2").unwrap();
        assert_eq!(a2.least_write_bytes_per_s, 10_000_000);
        assert_eq!(a2.least_read_operations_per_s, Some(4000));
        assert_eq!(a2.least_write_operations_per_s, Some(2000));
        assert_eq!(a2.needs, [Need::Cache, Need::CommandQueue]);
        assert_eq!(a2.modes.get(&BusMode::HighSpeed), None);
        assert_eq!(class("u3").unwrap().least_write_bytes_per_s, 30_000_000);
        assert_eq!(class("class 10").unwrap().id, "C10");
        assert!(class("V90").unwrap().modes.is_empty());
        assert!(class("C").is_none());
    }
}
