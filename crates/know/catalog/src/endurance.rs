//! Endurance that makers state, and cards that were written until they failed.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::facts::{Packed, from_toml, unpacked};
use crate::lines::{ProductLine, lines};

pub(crate) static TEXT: LazyLock<&str> = LazyLock::new(|| unpacked(Packed::Endurance));

static ALL: LazyLock<File> = LazyLock::new(|| from_toml(&TEXT).unwrap_or_default());

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    promises: Vec<EndurancePromise>,
    samples: Vec<EnduranceSample>,
}

/// What the maker of a card states about its endurance.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EndurancePromise {
    /// Maker, name, generation, capacity and kind, `a-z0-9_`; never changes.
    pub id: String,
    /// Maker.
    pub maker: String,
    /// Name of the line, as its maker writes it.
    pub name: String,
    /// Id of its product line, if it is a known one.
    pub line: Option<String>,
    /// Year of the generation, if the maker used the name again.
    pub generation: Option<u16>,
    /// Capacity on the label, bytes; absent: of the line.
    pub capacity_bytes: Option<u64>,
    /// Number of the maker.
    pub part_number: Option<String>,
    /// What is stated.
    pub kind: EnduranceKind,
    /// Bytes that may be written: stated, or from hours and bit rate.
    pub volume_bytes: Option<u64>,
    /// True if the volume is that of the largest capacity.
    #[serde(default)]
    pub up_to: bool,
    /// Hours of recording.
    pub hours: Option<u64>,
    /// Bit rate of the recording; without it, hours are no volume.
    pub bits_per_s: Option<u64>,
    /// Origin of the bit rate, if it is not in the document of the hours.
    pub bit_rate_from: Option<String>,
    /// Cycles of programming and erasing.
    pub cycles: Option<u32>,
    /// Conditions of the statement.
    pub conditions: Option<String>,
    /// Warranty, years.
    pub warranty_years: Option<u32>,
    /// Classes on the label.
    #[serde(default)]
    pub classes: Vec<String>,
    /// The maker's document, and where it was cited.
    pub source: String,
    /// Day, month, year or number of the maker's document.
    pub document: Option<String>,
    /// Day on which the source was read.
    pub checked_on: String,
}

/// Kind of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EnduranceKind {
    /// Hours of recording.
    Hours,
    /// Bytes that may be written.
    Volume,
    /// Cycles of programming and erasing.
    Cycles,
    /// A warranty alone.
    Warranty,
    /// The maker's data sheet states none.
    None,
}

/// A card that was written and read as a whole, again and again.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct EnduranceSample {
    /// Name of the product in the source. The false name of a knock-off is between quotation marks.
    pub product: String,
    /// Kind of the brand, by the source.
    pub brand: BrandKind,
    /// Number of the sample in the source, from 1.
    pub sample: u32,
    /// Capacity on the label, bytes.
    pub capacity_bytes: u64,
    /// Bytes that the card holds.
    pub holds_bytes: Option<u64>,
    /// Verdict of the source on the capacity.
    pub verdict: Option<CapacityVerdict>,
    /// Month of manufacture in its register.
    pub made: Option<String>,
    /// Whole cycles before the first error.
    pub first_error: Option<Cycles>,
    /// Whole cycles before it failed: no answer, or half of it wrong.
    pub failed: Option<Cycles>,
    /// Its registers.
    pub registers: Option<SampleRegisters>,
    /// Source.
    pub source: String,
    /// Day on which the source was read.
    pub checked_on: String,
}

/// Kind of a brand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BrandKind {
    /// A name brand.
    Name,
    /// An off brand.
    Off,
    /// Sold under the name of a maker that did not make it.
    KnockOff,
}

/// Verdict on a capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CapacityVerdict {
    /// Its capacity is that of the label.
    Fair,
    /// It holds a little less.
    Skimpy,
    /// It claims far more than it holds.
    Fake,
}

/// A number of cycles, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Cycles {
    /// Lower bound.
    pub at_least: u64,
    /// Upper bound; absent: the card still worked when this was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<u64>,
}

/// Fields of the CID of a sample.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SampleRegisters {
    /// Manufacturer id.
    pub manufacturer_id: u8,
    /// OEM id, 4 hexadecimal digits.
    pub oem: String,
    /// Product name, without padding.
    pub product: String,
}

impl EndurancePromise {
    /// Returns its product line, if it is a known one.
    #[must_use]
    pub fn product_line(&self) -> Option<&'static ProductLine> {
        let id = self.line.as_ref()?;
        lines().iter().find(|line| line.id == *id)
    }
}

impl EnduranceSample {
    /// Returns the name under which it was sold, such as `SanDisk Ultra 32 GB` or `"Sony" 32 GB`.
    #[must_use]
    pub fn name(&self) -> String {
        let word = |word: &str| {
            let digits = word.trim_end_matches(char::is_alphabetic);
            let unit = &word[digits.len()..];
            let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            match is_number && ["GB", "TB"].contains(&unit) {
                true => format!("{digits} {unit}"),
                false => word.to_owned(),
            }
        };
        let words: Vec<String> = self.product.split(' ').map(word).collect();
        words.join(" ")
    }
}

/// Returns what makers state, in the order of the file.
#[must_use]
pub fn endurance_promises() -> &'static [EndurancePromise] {
    &ALL.promises
}

/// Returns all tested cards with a result, in the order of the file.
#[must_use]
pub fn endurance_samples() -> &'static [EnduranceSample] {
    &ALL.samples
}

#[cfg(test)]
mod tests;
