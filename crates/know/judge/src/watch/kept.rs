//! State that is kept between looks: small, and nothing in it reveals a serial number.

use std::collections::BTreeMap;

use cardmark_core::KernelFault;
use serde::{Deserialize, Serialize};

use super::identity::Identity;

/// Version of the state; a program sets a state of a later version aside.
pub const KEPT_VERSION: u32 = 1;

/// State between looks at one target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Version of this form, [`KEPT_VERSION`].
    pub version: u32,
    /// Time of the first look, seconds since 1970; absent if the clock was not set.
    pub begun_s: Option<u64>,
    /// Time of the last kept look, seconds since 1970; absent if the clock was not set.
    pub at_s: Option<u64>,
    /// Time since the start of the system at the last kept look, seconds.
    pub uptime_s: Option<u64>,
    /// Id of the running system at the last kept look.
    pub boot_id: Option<String>,
    /// Time of the look since which nothing was wrong, seconds since 1970; absent if something is.
    pub clear_since_s: Option<u64>,
    /// First line of the kernel's log that no kept look has read.
    pub log_next: Option<u64>,
    /// The disks.
    pub disks: Vec<KeptDisk>,
    /// Mounted filesystems.
    #[serde(default)]
    pub filesystems: Vec<KeptFilesystem>,
    /// Events until they are acknowledged, or the card is changed.
    #[serde(default)]
    pub events: Vec<Event>,
}

impl Kept {
    /// Returns the first line of the kernel's log that the next look should read: `None` for all lines, after another start of the
    /// system.
    #[must_use]
    pub fn log_from(&self, boot_id: Option<&str>) -> Option<u64> {
        let is_same = boot_id.is_some() && self.boot_id.as_deref() == boot_id;
        self.log_next.filter(|_| is_same)
    }
}

/// A disk between looks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptDisk {
    /// The kernel's name at the last look.
    pub name: String,
    /// Data that distinguishes it from others.
    pub identity: Identity,
    /// Time of the first look at it, seconds since 1970.
    pub since_s: Option<u64>,
    /// Product as its owner calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// The kernel's sequence number.
    pub sequence: Option<u64>,
    /// The kernel's count of written bytes.
    pub counted_bytes: Option<u64>,
    /// Bytes known to be written since the first look.
    pub written_bytes: u64,
    /// True if there may be more, because something was not seen: the end of a run of the system, or a count that began again.
    pub has_gaps: bool,
    /// Bytes by day, in the order of looks.
    #[serde(default)]
    pub days: Vec<DayBytes>,
    /// Errors of its medium that it reported.
    pub media_errors_count: Option<u64>,
    /// Share of its rated life that is used, percent, as it reported last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_percent: Option<u32>,
    /// True for an eMMC, which reports its life in steps of ten percent.
    #[serde(default)]
    pub is_emmc: bool,
}

/// Bytes written in a part of a day: the day since 1970 (UTC), the bytes, and the seconds that were observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DayBytes(pub u64, pub u64, pub u64);

/// A filesystem between looks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFilesystem {
    /// Its own id, or else its mount point.
    pub key: String,
    /// True if the key is its own id.
    pub has_own_id: bool,
    /// True if it could be written at the last kept look.
    pub was_writable: bool,
    /// Its count of errors.
    pub errors_count: Option<u64>,
    /// Its own count of written bytes.
    pub lifetime_bytes: Option<u64>,
}

/// Kind of event. Each is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A filesystem that should be writable is read-only.
    ReadOnly,
    /// The kernel reported reads, writes or flushes that failed.
    FailedOperations,
    /// A filesystem counted errors, or the kernel reported them.
    FilesystemErrors,
    /// The disk reported errors of its medium.
    MediaErrors,
    /// The disk warns of its end.
    DiskWarning,
    /// The disk reports that its rated life is over.
    LifeOver,
    /// The board had too little voltage.
    UnderVoltage,
    /// Another card or disk than before.
    AnotherCard,
    /// Perhaps another card or disk: it reports another model or size, but no number of its own.
    PerhapsAnother,
    /// Resets, timeouts, retries and the like on the way to the disk. Healthy disks have some.
    LinkTrouble,
}

/// Gravity of an event, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Gravity {
    /// Data may be lost.
    Alarm,
    /// Something to put right.
    Warning,
    /// Good to know; nothing is wrong.
    Note,
}

impl EventKind {
    /// Every kind with its name in JSON, in their order.
    pub const NAMED: [(&'static str, Self); 10] = [
        ("read_only", Self::ReadOnly),
        ("failed_operations", Self::FailedOperations),
        ("filesystem_errors", Self::FilesystemErrors),
        ("media_errors", Self::MediaErrors),
        ("disk_warning", Self::DiskWarning),
        ("life_over", Self::LifeOver),
        ("under_voltage", Self::UnderVoltage),
        ("another_card", Self::AnotherCard),
        ("perhaps_another", Self::PerhapsAnother),
        ("link_trouble", Self::LinkTrouble),
    ];

    /// Returns how grave it is.
    #[must_use]
    pub fn gravity(self) -> Gravity {
        match self {
            Self::ReadOnly
            | Self::FailedOperations
            | Self::FilesystemErrors
            | Self::MediaErrors
            | Self::DiskWarning
            | Self::LifeOver => Gravity::Alarm,
            Self::UnderVoltage => Gravity::Warning,
            Self::AnotherCard | Self::PerhapsAnother | Self::LinkTrouble => Gravity::Note,
        }
    }

    /// Returns whether its owner must do something.
    #[must_use]
    pub fn is_trouble(self) -> bool {
        self.gravity() != Gravity::Note
    }

    /// Returns whether it is about the board, so that another card does not end it.
    pub(super) fn is_of_board(self) -> bool {
        self == Self::UnderVoltage
    }
}

/// Time at which something happened, as far as it is known: seconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// Not before.
    pub after_s: Option<u64>,
    /// Not after.
    pub by_s: Option<u64>,
}

impl Moment {
    /// An exact time.
    #[must_use]
    pub fn at(at_s: Option<u64>) -> Self {
        Self {
            after_s: at_s,
            by_s: at_s,
        }
    }
}

/// Something that happened to a card or its board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Kind.
    pub kind: EventKind,
    /// Disk, by the kernel's name, or mount point of the filesystem; empty for the board.
    pub of: String,
    /// The first time.
    pub since: Moment,
    /// The last time.
    pub last: Moment,
    /// Number of times; 1 for a state.
    pub count: u64,
    /// Lines of the kernel's log by the operation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub faults: BTreeMap<KernelFault, u64>,
    /// Details, such as the disk's own warnings, or the card before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// End of a state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Moment>,
    /// True if its owner knows of it.
    #[serde(default)]
    pub is_acknowledged: bool,
}

impl Event {
    /// Returns whether it is a state, which holds until it ends.
    pub(super) fn is_state(&self) -> bool {
        matches!(
            self.kind,
            EventKind::ReadOnly
                | EventKind::DiskWarning
                | EventKind::LifeOver
                | EventKind::UnderVoltage
        )
    }

    /// Returns whether something is wrong that its owner has not acknowledged.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !self.is_acknowledged && self.kind.is_trouble()
    }
}
