//! `/proc/self/mountinfo`: pure functions of its text.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::root::DeviceNumber;

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) id: u32,
    pub(crate) parent: u32,
    pub(crate) device: DeviceNumber,
    /// The part of the filesystem that is mounted; not `/` for bind mounts.
    pub(crate) root: PathBuf,
    pub(crate) point: PathBuf,
    pub(crate) filesystem: String,
    pub(crate) source: PathBuf,
    /// Options of the mount, then those of the filesystem.
    pub(crate) options: Vec<(String, Option<OsString>)>,
    /// Number of those of the mount.
    own_options_count: usize,
}

impl Mount {
    /// The value of an option.
    pub(crate) fn option(&self, name: &str) -> Option<&Path> {
        let (_, value) = self.options.iter().find(|(key, _)| key == name)?;
        value.as_deref().map(Path::new)
    }

    /// Returns whether mount or filesystem are read-only.
    pub(crate) fn is_read_only(&self) -> bool {
        self.options.iter().any(is_ro)
    }

    /// Returns whether this mount is read-only, whatever its filesystem is.
    pub(crate) fn is_mounted_read_only(&self) -> bool {
        self.options.iter().take(self.own_options_count).any(is_ro)
    }

    /// Returns whether the filesystem is read-only for all its mounts.
    pub(crate) fn is_filesystem_read_only(&self) -> bool {
        self.options.iter().skip(self.own_options_count).any(is_ro)
    }

    /// Returns whether the filesystem says that an error has stopped it. ext4 says so since Linux 6.15, and is not read-only then.
    pub(crate) fn is_filesystem_stopped(&self) -> bool {
        let mut own = self.options.iter().skip(self.own_options_count);
        own.any(|(key, _)| STOPPED_OPTIONS.contains(&key.as_str()))
    }

    /// Options that bear on speed. All others stay out, because they may hold paths and names.
    pub(crate) fn speed_options(&self) -> Vec<String> {
        let mut kept = Vec::new();
        for (key, value) in &self.options {
            let value = value.as_ref().and_then(|value| value.to_str());
            let text = match value {
                Some(value) => format!("{key}={value}"),
                None => key.clone(),
            };
            if SPEED_OPTIONS.contains(&key.as_str()) && !kept.contains(&text) {
                kept.push(text);
            }
        }
        kept
    }
}

const STOPPED_OPTIONS: [&str; 2] = ["emergency_ro", "shutdown"];

fn is_ro((key, value): &(String, Option<OsString>)) -> bool {
    key == "ro" && value.is_none()
}

const SPEED_OPTIONS: &[&str] = &[
    "active_logs",
    "alloc_mode",
    "allocsize",
    "async",
    "autodefrag",
    "background_gc",
    "barrier",
    "checkpoint_merge",
    "commit",
    "compress",
    "compress-force",
    "compress_algorithm",
    "data",
    "dax",
    "delalloc",
    "dirsync",
    "discard",
    "flush",
    "flush_merge",
    "fsync_mode",
    "journal_async_commit",
    "journal_checksum",
    "lazytime",
    "logbsize",
    "metacopy",
    "mode",
    "noatime",
    "nobarrier",
    "nodatacow",
    "nodatasum",
    "nodelalloc",
    "nodiratime",
    "nodiscard",
    "nossd",
    "relatime",
    "ro",
    "rw",
    "ssd",
    "ssd_spread",
    "strictatime",
    "sync",
    "volatile",
];

/// All mounts of the text, in its order; lines that are not understood are left out.
pub(crate) fn parse_mounts(text: &[u8]) -> Vec<Mount> {
    text.split(|byte| *byte == b'\n')
        .filter_map(parse_mount)
        .collect()
}

fn parse_mount(line: &[u8]) -> Option<Mount> {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let dash = fields.iter().skip(6).position(|field| *field == b"-")? + 6;
    let text = |index: usize| std::str::from_utf8(fields.get(index)?).ok();
    let path = |index: usize| {
        fields
            .get(index)
            .map(|field| PathBuf::from(unescape(field)))
    };
    let mut options = parse_options(fields.get(5)?);
    let own_options_count = options.len();
    options.extend(parse_options(fields.get(dash + 3)?));
    Some(Mount {
        id: text(0)?.parse().ok()?,
        parent: text(1)?.parse().ok()?,
        device: text(2)?.parse().ok()?,
        root: path(3)?,
        point: path(4)?,
        filesystem: text(dash + 1)?.to_owned(),
        source: path(dash + 2)?,
        options,
        own_options_count,
    })
}

/// Splits before undoing the escapes: the kernel escapes commas inside values.
fn parse_options(field: &[u8]) -> Vec<(String, Option<OsString>)> {
    field
        .split(|byte| *byte == b',')
        .map(
            |option| match option.iter().position(|byte| *byte == b'=') {
                Some(at) => (lossy(&option[..at]), Some(unescape(&option[at + 1..]))),
                None => (lossy(option), None),
            },
        )
        .collect()
}

fn lossy(bytes: &[u8]) -> String {
    unescape(bytes).to_string_lossy().into_owned()
}

/// Undoes the kernel's `\ooo`.
pub(crate) fn unescape(field: &[u8]) -> OsString {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, tail)) = rest.split_first() {
        match octal(rest) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[4..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    OsString::from_vec(bytes)
}

fn octal(text: &[u8]) -> Option<u8> {
    let [b'\\', digits @ ..] = text.get(..4)? else {
        return None;
    };
    digits.iter().try_fold(0_u8, |value, digit| match digit {
        b'0'..=b'7' => value.checked_mul(8)?.checked_add(digit - b'0'),
        _ => None,
    })
}

/// The mount that a walk along the path ends in, as the kernel walks: at each mount the first
/// mount point on the way leads on, so that a mount shadows all that was mounted below it before.
pub(crate) fn visible_mount<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let covers = |mount: &&Mount| path.starts_with(&mount.point);
    let first = |found: Vec<&'a Mount>| {
        // The last of the shortest: later mounts lie above earlier ones.
        found
            .into_iter()
            .rev()
            .min_by_key(|mount| mount.point.as_os_str().as_bytes().len())
    };
    let ids: BTreeSet<u32> = mounts.iter().map(|mount| mount.id).collect();
    let is_top = |mount: &&Mount| mount.parent == mount.id || !ids.contains(&mount.parent);
    let mut current = first(mounts.iter().filter(is_top).filter(covers).collect())?;
    for _ in 0..mounts.len() {
        let below = mounts
            .iter()
            .filter(|mount| mount.parent == current.id && mount.id != current.id && covers(mount));
        match first(below.collect()) {
            Some(next) => current = next,
            None => break,
        }
    }
    Some(current)
}

/// Returns the mount that holds a path with a known device. A device number belongs to one filesystem, so that
/// any mount of that number is correct; the visible one also has the options. btrfs and overlay show their own
/// numbers on paths: there the visible mount counts.
pub(crate) fn holding_mount<'a>(
    mounts: &'a [Mount],
    path: &Path,
    device: DeviceNumber,
) -> Option<&'a Mount> {
    let visible = visible_mount(mounts, path);
    let same = |mount: &&Mount| mount.device == device;
    let above = |mount: &&Mount| path.starts_with(&mount.point);
    visible
        .filter(same)
        .or_else(|| {
            let candidates = mounts.iter().filter(same).filter(above);
            candidates.max_by_key(|mount| mount.point.as_os_str().as_bytes().len())
        })
        .or_else(|| mounts.iter().find(same))
        .or_else(|| {
            let own_numbers =
                |mount: &&Mount| matches!(mount.filesystem.as_str(), "btrfs" | "overlay");
            visible
                .filter(|_| device.is_anonymous())
                .filter(own_numbers)
        })
}

#[cfg(test)]
mod tests;
