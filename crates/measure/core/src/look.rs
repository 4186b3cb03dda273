//! One look at a target: states, counters and messages of the board and its storage as they are at that moment.
//!
//! It stays on the computer: it holds mount points and the id of the running system.

use cardmark_cards::Health;
use serde::{Deserialize, Serialize};

use crate::kernel_log::KernelFault;

/// Facts of one look. Absent values are not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Look {
    /// Time of day, seconds since 1970; absent if the clock is not set.
    pub at_s: Option<u64>,
    /// Time since the start of the system, seconds.
    pub uptime_s: Option<u64>,
    /// Id that the kernel draws at each start.
    pub boot_id: Option<String>,
    /// Disks below the target.
    pub disks: Vec<DiskLook>,
    /// Filesystems on these disks that are mounted.
    pub filesystems: Vec<FilesystemLook>,
    /// The kernel's log.
    pub log: LogLook,
    /// Supply of the board.
    pub power: PowerLook,
}

/// A disk in a look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DiskLook {
    /// The kernel's name, such as `mmcblk0`.
    pub name: String,
    /// Model that it reports.
    pub model: Option<String>,
    /// Size, bytes; absent without a medium.
    pub size_bytes: Option<u64>,
    /// Id that does not reveal the serial number.
    pub id: Option<String>,
    /// True if the id is that of the card or disk itself, not that of its reader or bridge.
    pub is_own_id: bool,
    /// True for an eMMC, which reports its life in steps of ten percent.
    pub is_emmc: bool,
    /// The kernel's sequence number: changes whenever the device appears or its medium changes.
    pub sequence: Option<u64>,
    /// Bytes written since the kernel began to count, at the start of the system or when the device appeared.
    pub counted_bytes: Option<u64>,
    /// Bytes after which that count begins again at zero; absent if it does not, or that is not known.
    pub wraps_bytes: Option<u64>,
    /// Wear and errors that it reports.
    pub health: Option<Health>,
}

/// A mounted filesystem in a look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FilesystemLook {
    /// The kernel's name of its device, such as `mmcblk0p2`.
    pub device: String,
    /// Its own id.
    pub id: Option<String>,
    /// Type, such as `ext4`.
    pub kind: String,
    /// Mount point.
    pub point: String,
    /// True if the whole filesystem is read-only; a mount that only hides writing from its users does not count.
    pub is_read_only: bool,
    /// True if it is read-only although it was mounted for writing: the kernel does that after an error.
    pub is_stopped: bool,
    /// Whether `/etc/fstab` says that it is writable; absent if it does not name the mount point.
    pub stated_writable: Option<bool>,
    /// Errors since it was last checked, counted on the disk itself.
    pub errors_count: Option<u64>,
    /// Time of the first of them, seconds since 1970.
    pub first_error_s: Option<u64>,
    /// Time of the last of them, seconds since 1970.
    pub last_error_s: Option<u64>,
    /// Bytes written to it since it was made, counted on the disk itself.
    pub lifetime_bytes: Option<u64>,
}

/// The kernel's log in a look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LogLook {
    /// Number of the oldest line that the kernel still has; absent if the log cannot be read.
    pub oldest: Option<u64>,
    /// Number that the next line will have.
    pub next: Option<u64>,
    /// Lines about the disks that report trouble, from the first line of the look on.
    pub counts: Vec<LogCount>,
}

/// Lines of the kernel's log of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogCount {
    /// Device that the lines name: that of a filesystem, or else the disk.
    pub of: String,
    /// Kind of trouble.
    pub fault: KernelFault,
    /// True for lines from before the last time that the device appeared: they may be about another one.
    pub is_before: bool,
    /// Number of lines.
    pub count: u64,
    /// Time of the first line, microseconds since the start of the system.
    pub first_us: u64,
    /// Time of the last line, microseconds since the start of the system.
    pub last_us: u64,
}

/// Supply of the board in a look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PowerLook {
    /// Whether the voltage is too low now.
    pub is_low: Option<bool>,
    /// Whether it was too low since the start of the system.
    pub was_low: Option<bool>,
}

/// What a process has caused to be written since it began. Names of programs stay on the computer: this is in no document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessWrites {
    /// Its number.
    pub process: u32,
    /// Time at which it began, ticks since the start of the system: numbers of processes are used again.
    pub started: u64,
    /// Name of its program.
    pub program: String,
    /// Bytes, to all disks.
    pub bytes: u64,
}
