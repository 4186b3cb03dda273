//! Product lines: what makers sell under one name in several capacities.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::facts::{Packed, embedded, unpacked};
use crate::kinds::ProductKind;
use crate::sources::{Availability, FactSource};

pub(crate) static TEXT: LazyLock<&str> = LazyLock::new(|| unpacked(Packed::Lines));

static ROWS: LazyLock<Vec<ProductLine>> = LazyLock::new(|| embedded(&TEXT, "lines"));

/// A product line, or one generation of it. A [`Product`](crate::Product) has one capacity and is what published
/// results refer to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProductLine {
    /// Brand, line and year or other difference, `a-z0-9_`; never changes.
    pub id: String,
    /// Brand.
    pub brand: String,
    /// Its name without the brand.
    pub line: String,
    /// Kind of product.
    pub kind: ProductKind,
    /// Year in which it was first sold.
    pub year: Option<u16>,
    /// State in the shops.
    #[serde(default)]
    pub availability: Availability,
    /// Last day, month or year at which a source shows it in shops.
    pub known_sold: Option<String>,
    /// Id of the line that replaced it.
    pub successor: Option<String>,
    /// Common spellings; several lines may share one.
    pub aliases: Vec<String>,
    /// The maker's numbers or their beginnings; `*` stands for the capacity.
    #[serde(default)]
    pub model_numbers: Vec<String>,
    /// Promises on the package.
    #[serde(default)]
    pub claims: Vec<PackageClaim>,
    /// Rates of 4 KiB that its maker states for boards; their source is that of the promises.
    #[serde(default)]
    pub rates: Vec<StatedRates>,
    /// What is known of its command queue.
    pub command_queue: Option<KnownQueue>,
    /// Registers of cards of this line.
    #[serde(default)]
    pub registers: Vec<SeenRegisters>,
    /// Further information.
    pub note: Option<String>,
    /// Source of the name.
    pub source: String,
    /// Sources of the other facts.
    #[serde(default)]
    pub sources: Vec<FactSource>,
    /// Day on which the sources were read.
    pub checked_on: String,
    /// Names and model numbers, used by a test.
    pub vectors: Vec<String>,
}

/// Promises on a package.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PackageClaim {
    /// Capacity or model that bears them; absent: not stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Classes, as far as the source names them.
    #[serde(default)]
    pub classes: Vec<String>,
    /// Highest read rate, bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_bytes_per_s: Option<u64>,
    /// Highest write rate, bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_bytes_per_s: Option<u64>,
}

/// Rates that the maker of a line states for a board, as the class of its label is stated for any.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StatedRates {
    /// Id of the board.
    pub board: String,
    /// Random reads of 4 KiB, operations per second.
    pub random_reads_per_s: u32,
    /// Random writes of 4 KiB, operations per second.
    pub random_writes_per_s: u32,
}

/// What is known of the command queue of a line.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct KnownQueue {
    /// State of the queue.
    pub state: QueueState,
    /// Details, in words.
    pub detail: String,
}

/// State of a command queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueState {
    /// It works, and the kernel of Raspberry Pi uses it by default.
    Trusted,
    /// It was seen to work; no kernel uses it by default.
    Works,
    /// It was seen to fail.
    Broken,
    /// The card has none.
    None,
}

/// Fields of the CID of a card whose label was known.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SeenRegisters {
    /// Manufacturer id.
    pub manufacturer_id: u8,
    /// OEM id, hexadecimal.
    pub oem: String,
    /// Product name, without padding.
    pub product: String,
    /// Capacity and month of the card.
    pub of: String,
}

impl PackageClaim {
    /// Returns the capacities that bear them, bytes; none if not stated.
    pub fn capacities_bytes(&self) -> impl Iterator<Item = u64> {
        let of = self.of.as_deref().unwrap_or_default();
        let numbers = of.split(|letter: char| !letter.is_ascii_digit());
        numbers.filter_map(|gigabytes| Some(gigabytes.parse::<u64>().ok()? * 1_000_000_000))
    }
}

impl ProductLine {
    /// Returns brand, line and year.
    pub fn name(&self) -> String {
        match self.year {
            Some(year) => format!("{} {} ({year})", self.brand, self.line),
            None => format!("{} {}", self.brand, self.line),
        }
    }
}

/// Returns all known product lines, in the order of their ids.
pub fn lines() -> &'static [ProductLine] {
    &ROWS
}
