//! Findings about the internal structure of a card, derived from the timing of reads and writes.

use cardmark_cards::words;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Extra time of a read that crosses a multiple of a size, compared with reads on both sides of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BoundaryTime {
    /// The size, in bytes; multiples of two or three times this size are left out.
    pub size_bytes: u64,
    /// Number of multiples that were read across.
    pub places_count: u32,
    /// Median of the differences; about 0 without a boundary.
    pub more_ns: i64,
    /// Its standard error.
    pub error_ns: u64,
}

/// Duration of a write when a given number of units is written in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TurnTime {
    /// Number of units.
    pub units_count: u32,
    /// Median over the rounds of a write's mean span.
    pub write_ns: u64,
    /// Shortest of the rounds.
    pub min_ns: u64,
    /// Longest of the rounds.
    pub max_ns: u64,
}

/// Range for the number of units that can be written in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OpenUnits {
    /// Largest number known to work without loss of speed.
    pub min_count: u32,
    /// No more than this number can be open; absent: no end was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_count: Option<u32>,
}

words! {
    /// Source of the size of the units that were written in turn.
    pub enum UnitSource {
        /// The user requested it.
        Asked,
        /// Reads across its multiples take longer.
        Measured,
        /// The card's registers contain it.
        Registers,
        /// No information: a size that most cards' units are a multiple of.
        Assumed,
    }
}

/// Internal structure of a card, as the timing of reads and writes shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Anatomy {
    /// Size of the storage.
    pub size_bytes: u64,
    /// Size of a read.
    pub read_bytes: u64,
    /// Median span of a read that lies on one side.
    pub read_ns: u64,
    /// By rising size.
    pub boundaries: Vec<BoundaryTime>,
    /// Least size for which reads across its multiples take longer; absent: none was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boundary_bytes: Option<u64>,
    /// Extra time of such reads, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boundary_more_ns: Option<u64>,
    /// Size of the units that were written in turn.
    pub unit_bytes: u64,
    /// Source of the unit size.
    pub unit_source: UnitSource,
    /// Size of a write.
    pub write_bytes: u64,
    /// By rising number; empty if nothing was written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<TurnTime>,
    /// Number of units that can be written in turn; absent if nothing was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_units: Option<OpenUnits>,
}

/// Least factor of a step after which units cannot be kept open. Of tables of 69 sessions on real cards
/// no step lies between 3.7 and 6.6: softer ones leave most of the rate.
const CLIFF_FACTOR: f64 = 5.0;

/// Change in the duration of a write when one unit more is in use than can be written in turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitStep {
    /// A write with the last number of units before the step, nanoseconds.
    pub before_ns: u64,
    /// A write with the first number of units after it, nanoseconds.
    pub after_ns: u64,
}

impl UnitStep {
    /// Returns the step between the numbers of units that these open units lie between. `None` if no end
    /// was seen, or the times are absent.
    pub fn of(open: OpenUnits, turns: &[TurnTime]) -> Option<Self> {
        let max_count = open.max_count?;
        let before = turns
            .iter()
            .find(|time| time.units_count == open.min_count)?;
        let after = turns.iter().find(|time| time.units_count > max_count)?;
        Some(Self {
            before_ns: before.write_ns,
            after_ns: after.write_ns,
        })
    }

    /// Returns the factor by which a write takes longer after the step.
    pub fn factor(self) -> f64 {
        self.after_ns as f64 / self.before_ns.max(1) as f64
    }

    /// Returns whether further units cannot be kept open; otherwise the step is a soft one.
    pub fn is_cliff(self) -> bool {
        self.factor() >= CLIFF_FACTOR
    }
}
