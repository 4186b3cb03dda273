//! Kernel messages about errors of a disk, without private data.

use std::path::Path;

use cardmark_core::kernel_trouble;

use crate::Root;
use crate::block::{BlockDevice, is_numbered, name_of};
use crate::slot::slot_of;

/// Words before a path or the name of a process; both may contain spaces.
const PRIVATE: &[&str] = &[" comm ", " comm:", " path ", " path:", " name ", " file "];
/// Characters of a message that is kept.
const MOST_CHARS: usize = 160;
/// Replacement for private data.
const GAP: &str = "…";

/// Returns the names in the kernel's log of the disk below the block device of that name, its partitions, and
/// its controllers: `mmc0`, `usb 2-1`, `nvme0`, `ata1` and the like.
#[must_use]
pub fn log_names(root: &Root, name: &str) -> Vec<String> {
    let Some(disk) = BlockDevice::by_name(root, name).and_then(|device| device.disk()) else {
        return Vec::new();
    };
    let mut names = vec![disk.name.clone()];
    names.extend(disk.partitions().into_iter().map(|part| part.name));
    names.extend(slot_of(&disk).map(|slot| slot.host.to_owned()));
    let usb = disk.usb_directory().map(name_of);
    names.extend(usb.map(|usb| format!("usb {usb}")));
    names.extend(disk.above().filter_map(log_name));
    names
}

/// Returns the name of a directory on the way up, as the log writes it.
fn log_name(directory: &Path) -> Option<String> {
    let name = name_of(directory);
    let is_scsi = name.split(':').count() == 4
        && name
            .split(':')
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    if is_numbered(name, "host") {
        Some(format!("scsi {name}"))
    } else if is_numbered(name, "ata") || is_numbered(name, "nvme") || is_scsi {
        Some(name.to_owned())
    } else {
        None
    }
}

/// Returns the line of the kernel's log without addresses, serial numbers, paths and names of programs, if it
/// reports trouble ([`kernel_trouble`]) with a device of one of these names.
#[must_use]
pub fn storage_message(line: &str, names: &[String]) -> Option<String> {
    let is_named = names.iter().any(|name| holds_name(line, name));
    (is_named && kernel_trouble(line).is_some()).then(|| without_private(line))
}

/// Returns whether the name is a word of its own in the line. `ata1` also matches its device `ata1.00`, while
/// `usb 2-1` does not match `usb 2-1.2` behind it.
pub(crate) fn holds_name(line: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_port = is_numbered(name, "ata");
    !name.is_empty()
        && line.match_indices(name).any(|(at, _)| {
            let (before, after) = (&line[..at], &line[at + name.len()..]);
            let mut after = after.chars();
            let follows = match (after.next(), after.next()) {
                (Some('.'), Some(next)) => !is_port && is_part(next),
                (Some(next), _) => is_part(next),
                (None, _) => false,
            };
            !follows && !before.ends_with(is_part)
        })
}

/// Cuts the line at private words, and removes quoted text, paths, long numbers and possible serial numbers.
fn without_private(line: &str) -> String {
    let ends = PRIVATE.iter().filter_map(|mark| line.find(mark));
    let end = ends.min().unwrap_or(line.len());
    let mut is_quoted = false;
    let mut text = String::new();
    for (index, piece) in line[..end].split(['"', '\'']).enumerate() {
        if index > 0 {
            is_quoted = !is_quoted;
        }
        if is_quoted {
            text.push_str(GAP);
        } else {
            text.extend(piece.split_inclusive(char::is_whitespace).map(open_word));
        }
    }
    let plain = |c: char| if c.is_control() { '?' } else { c };
    let text: String = text
        .trim_end_matches([' ', ':', ','])
        .chars()
        .map(plain)
        .collect();
    text.chars().take(MOST_CHARS).collect()
}

/// A word, with the space behind it, as it may be kept.
fn open_word(word: &str) -> String {
    let bare = word.trim_end();
    let space = &word[bare.len()..];
    let is_path = bare
        .trim_start_matches(['(', '[', '<', '='])
        .starts_with('/')
        || bare.contains("=/");
    if is_path || bare.contains('@') || is_id(bare) {
        return format!("{GAP}{space}");
    }
    let mut text = String::new();
    let mut run = String::new();
    for c in bare.chars() {
        if c.is_ascii_alphanumeric() {
            run.push(c);
            continue;
        }
        text.push_str(open_run(&run));
        run.clear();
        text.push(c);
    }
    text.push_str(open_run(&run));
    format!("{text}{space}")
}

/// Letters and digits as they may be kept: no long number, and nothing that looks like an address
/// or a serial number.
fn open_run(run: &str) -> &str {
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    let is_hexadecimal = digits > 0
        && run
            .trim_start_matches("0x")
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit());
    let is_open = if digits == run.len() {
        run.len() <= 12
    } else {
        run.len() < 8 || (digits < 4 && !is_hexadecimal)
    };
    if is_open { run } else { GAP }
}

/// Returns whether the word contains an identifier such as that of a filesystem: eight hexadecimal digits, then
/// three times four, then twelve, with dashes between.
fn is_id(word: &str) -> bool {
    let groups: Vec<&str> = word
        .split(|c: char| !c.is_ascii_hexdigit())
        .filter(|group| !group.is_empty())
        .collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths.windows(5).any(|five| five == [8, 4, 4, 4, 12])
}

#[cfg(test)]
mod tests;
