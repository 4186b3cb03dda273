//! Register contents that occur on cards with false claims, and arguments against it.
//!
//! A sign is a hint, never a verdict: registers can be written, and genuine cards are sold with odd ones.
//! Only a write and read-back test proves a capacity.

use std::sync::LazyLock;

use cardmark_core::{CardFacts, CardKind};
use serde::Deserialize;

use crate::facts::{embedded, plain_name};

const TEXT: &str = include_str!("../facts/signs.toml");

static ROWS: LazyLock<Vec<Sign>> = LazyLock::new(|| embedded(TEXT, "signs"));

/// Weight of a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// Seen on genuine cards as well.
    Weak,
    /// Rare on genuine cards.
    Medium,
    /// A contradiction, or never seen on a genuine card.
    Strong,
}

/// Known facts about a card for the search for signs.
#[derive(Clone, Copy, Debug)]
pub struct SignInput<'a> {
    /// Family.
    pub kind: CardKind,
    /// Decoded content of its registers.
    pub facts: &'a CardFacts,
    /// Its serial number: known on the host only, never stored.
    pub serial: Option<u32>,
    /// The current month, such as `2026-11`.
    pub today: Option<&'a str>,
}

/// Unusual content of registers. Every given condition must apply; a condition on an unknown value does not
/// apply.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sign {
    /// Id of the row.
    pub id: String,
    /// Weight of the sign.
    pub weight: Weight,
    /// Description of the unusual content, in a sentence without full stop.
    pub detail: String,
    /// Genuine cards from shops with this sign.
    #[serde(default)]
    pub seen_in_retail: Vec<String>,
    /// Condition of the sign.
    when: Condition,
    /// Source of the row.
    pub source: String,
    /// Day on which the source was read.
    pub checked_on: String,
    /// Cards as displayed by the kernel, used by a test.
    pub vectors: Vec<String>,
    /// Cards on which it must not be found.
    pub not_on: Vec<String>,
}

/// Condition of a sign. In a list, one entry must match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Condition {
    manufacturer_id: Vec<u8>,
    not_manufacturer_id: Vec<u8>,
    oem: Vec<String>,
    /// Number and OEM id together, such as `12/3456`.
    maker: Vec<String>,
    not_maker: Vec<String>,
    name: Vec<String>,
    not_name: Vec<String>,
    name_prefix: Vec<String>,
    /// The name contains a number of gigabytes that is far from the capacity.
    name_contradicts_capacity: bool,
    capacity_above_bytes: Option<u64>,
    serial_below: Option<u32>,
    made_before: Option<String>,
    /// Manufactured after this month.
    made_in_the_future: bool,
    class: Vec<String>,
}

/// Returns the signs of a card, the heaviest first. Only SD cards are known well enough.
pub fn signs(input: &SignInput<'_>) -> Vec<&'static Sign> {
    if input.kind != CardKind::Sd {
        return Vec::new();
    }
    let mut found: Vec<&Sign> = ROWS.iter().filter(|row| row.when.holds(input)).collect();
    found.sort_by_key(|row| std::cmp::Reverse(row.weight));
    found
}

impl Condition {
    fn holds(&self, input: &SignInput<'_>) -> bool {
        self.maker_fits(input.facts)
            && self.name_fits(input.facts)
            && self.dates_fit(input)
            && above(input.facts.capacity_bytes, self.capacity_above_bytes)
            && self
                .serial_below
                .is_none_or(|end| input.serial.is_some_and(|serial| serial < end))
            && (self.class.is_empty() || input.facts.classes.iter().any(|c| self.class.contains(c)))
    }

    fn maker_fits(&self, facts: &CardFacts) -> bool {
        let oem = facts.oem.as_deref().map(str::to_ascii_lowercase);
        let maker = facts
            .manufacturer_id
            .zip(oem.as_ref())
            .map(|(id, oem)| format!("{id:02x}/{oem}"));
        is_among(facts.manufacturer_id.as_ref(), &self.manufacturer_id)
            && is_not_among(facts.manufacturer_id.as_ref(), &self.not_manufacturer_id)
            && is_among(oem.as_ref(), &self.oem)
            && is_among(maker.as_ref(), &self.maker)
            && is_not_among(maker.as_ref(), &self.not_maker)
    }

    fn name_fits(&self, facts: &CardFacts) -> bool {
        let name = facts.product.as_deref().map(plain_name);
        let whole = name.map(str::to_owned);
        let begins = |name: &str| self.name_prefix.iter().any(|start| name.starts_with(start));
        is_among(whole.as_ref(), &self.name)
            && is_not_among(whole.as_ref(), &self.not_name)
            && (self.name_prefix.is_empty() || name.is_some_and(begins))
            && (!self.name_contradicts_capacity
                || name.zip(facts.capacity_bytes).is_some_and(contradicts))
    }

    fn dates_fit(&self, input: &SignInput<'_>) -> bool {
        let made = input.facts.made.as_deref();
        // Months sort as text.
        let before = |end: &String| made.is_some_and(|made| made < end.as_str());
        self.made_before.as_ref().is_none_or(before)
            && (!self.made_in_the_future
                || made.zip(input.today).is_some_and(|(made, now)| made > now))
    }
}

fn is_among<T: PartialEq>(value: Option<&T>, wanted: &[T]) -> bool {
    wanted.is_empty() || value.is_some_and(|value| wanted.contains(value))
}

fn is_not_among<T: PartialEq>(value: Option<&T>, others: &[T]) -> bool {
    others.is_empty() || value.is_some_and(|value| !others.contains(value))
}

fn above(value: Option<u64>, limit: Option<u64>) -> bool {
    limit.is_none_or(|limit| value.is_some_and(|value| value > limit))
}

/// True if a name such as `SD16G` contains a size that differs from the capacity by more than a fifth.
/// Genuine cards differ from their label by a few percent.
fn contradicts((name, capacity_bytes): (&str, u64)) -> bool {
    gigabytes_in(name).is_some_and(|gigabytes| {
        let said = gigabytes * 1_000_000_000;
        said.abs_diff(capacity_bytes) > said / 5
    })
}

/// Returns the size in a name such as `SD16G` or `SN128`: a power of two after letters, at the end or before
/// `G`.
fn gigabytes_in(name: &str) -> Option<u64> {
    let digits = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let end = digits
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(digits.len());
    let (number, rest) = digits.split_at(end);
    let number: u64 = number.parse().ok()?;
    let is_a_size = number.is_power_of_two() && number <= 2048;
    (digits.len() < name.len() && is_a_size && (rest.is_empty() || rest.starts_with('G')))
        .then_some(number)
}

#[cfg(test)]
mod tests;
