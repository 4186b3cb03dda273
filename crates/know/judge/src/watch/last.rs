//! The last look at a target, as a board exports it.

use serde::{Deserialize, Serialize};

use super::identity::Identity;
use super::kept::{Event, Kept, KeptDisk};
use super::written::bytes_per_day;

/// Format of an exported look.
pub const LOOK_FORMAT: &str = "cardmark look 1";

/// The state after the last look at a target, without what only the board itself needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastLook {
    /// [`LOOK_FORMAT`].
    pub format: String,
    /// The target, such as `/`.
    pub target: String,
    /// Time of the look, seconds since 1970; absent if the clock was not set.
    pub at_s: Option<u64>,
    /// Time of the first look, seconds since 1970.
    pub begun_s: Option<u64>,
    /// Time of the look since which nothing was wrong, seconds since 1970; absent if something is.
    pub clear_since_s: Option<u64>,
    /// The disks.
    #[serde(default)]
    pub disks: Vec<LastDisk>,
    /// Events that were not acknowledged, and states that last.
    #[serde(default)]
    pub events: Vec<Event>,
}

/// A disk in an exported look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastDisk {
    /// The kernel's name.
    pub name: String,
    /// Data that distinguishes it from others.
    pub identity: Identity,
    /// Product as its owner calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// Time of the first look at it, seconds since 1970.
    pub since_s: Option<u64>,
    /// Share of its rated life that is used, percent.
    pub used_percent: Option<u32>,
    /// True for an eMMC, which reports its life in steps of ten percent.
    #[serde(default)]
    pub is_emmc: bool,
    /// Bytes known to be written since the first look.
    pub written_bytes: u64,
    /// True if there may be more.
    #[serde(default)]
    pub has_gaps: bool,
    /// Bytes written a day; absent before a whole day was observed.
    pub written_bytes_per_day: Option<u64>,
}

/// Returns what a board exports of its last look at a target.
#[must_use]
pub fn last_look(target: &str, kept: &Kept) -> LastLook {
    LastLook {
        format: LOOK_FORMAT.to_owned(),
        target: target.to_owned(),
        at_s: kept.at_s,
        begun_s: kept.begun_s,
        clear_since_s: kept.clear_since_s,
        disks: kept.disks.iter().map(last_disk).collect(),
        events: kept.events.clone(),
    }
}

fn last_disk(kept: &KeptDisk) -> LastDisk {
    LastDisk {
        name: kept.name.clone(),
        identity: kept.identity.clone(),
        product: kept.product.clone(),
        since_s: kept.since_s,
        used_percent: kept.used_percent,
        is_emmc: kept.is_emmc,
        written_bytes: kept.written_bytes,
        has_gaps: kept.has_gaps,
        written_bytes_per_day: bytes_per_day(&kept.days),
    }
}
