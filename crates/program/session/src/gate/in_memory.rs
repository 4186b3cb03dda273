//! Proof that the files of a directory are in memory, without mounts: the kernel's own count of memory rises and
//! falls with a test file.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use cardmark_core::FindingKind;
use cardmark_device::free_bytes;
use cardmark_host::Resolution;
use rustix::fs::{FallocateFlags, fallocate};

/// Counts in `/proc/meminfo` that files in memory raise: those of tmpfs, and those of ramfs.
const COUNTS: [&str; 2] = ["Shmem:", "Unevictable:"];
const MIB: u64 = 1 << 20;
/// Unit of the sizes, bytes: a page.
const PAGE_BYTES: u64 = 4096;
/// Sizes of the test file, bytes. They are random, so that other users of memory match none of them but by chance: in
/// one of 16 rounds at most, whatever they do.
const LEAST_BYTES: u64 = 8 * MIB;
const MOST_BYTES: u64 = 40 * MIB;
/// Difference between the file and a count that still agrees, bytes: each processor holds back a part of the counts.
const TOLERANCE_BYTES: u64 = MIB;
/// Number of rounds in a row that prove memory: by chance once in a million times.
const MATCHES_COUNT: usize = 5;
/// Number of disturbed rounds after which there is no answer.
const DISTURBED_COUNT: usize = 4;

/// A test file that was written and emptied, and the count before, with and after it, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Round {
    size: u64,
    before: u64,
    with: u64,
    after: u64,
}

/// Effect of a test file on a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// It rose and fell by the size of the file.
    Matches,
    /// It did not move.
    None,
    /// It moved otherwise.
    Disturbed,
}

impl Round {
    fn effect(&self) -> Effect {
        let difference = |high: u64, low: u64| i128::from(high) - i128::from(low);
        let edges = [
            difference(self.with, self.before),
            difference(self.with, self.after),
        ];
        let are_all = |expected: u64| {
            let near = |edge: &i128| {
                (edge - i128::from(expected)).unsigned_abs() <= TOLERANCE_BYTES.into()
            };
            edges.iter().all(near)
        };
        match (are_all(self.size), are_all(0)) {
            (true, _) => Effect::Matches,
            (false, true) => Effect::None,
            (false, false) => Effect::Disturbed,
        }
    }
}

/// Returns whether the files are in memory, from the rounds so far; `None`: another round is needed. Without a proof
/// they are not.
fn decision(rounds: &[Round]) -> Option<bool> {
    let effects = || rounds.iter().map(Round::effect);
    let disturbed = effects().filter(|effect| *effect == Effect::Disturbed);
    let matches = effects()
        .rev()
        .take_while(|effect| *effect == Effect::Matches);
    if effects().any(|effect| effect == Effect::None) {
        return Some(false);
    }
    match (matches.count(), disturbed.count()) {
        (MATCHES_COUNT.., _) => Some(true),
        (_, DISTURBED_COUNT..) => Some(false),
        _ => None,
    }
}

/// Returns whether the files of a directory are in memory. Only asked if the device below is not known; makes at least
/// one file of 8 to 40 MiB, which has no name.
pub(crate) fn is_in_memory(path: &Path, resolution: &Resolution) -> bool {
    let mut findings = resolution.findings.iter();
    let is_unknown = findings.any(|finding| finding.kind == FindingKind::UnknownDevice);
    let has_room = || free_bytes(path).is_ok_and(|free| free >= 2 * MOST_BYTES);
    // A directory that cannot be written is reported by whoever writes there.
    is_unknown && has_room() && measured(path).unwrap_or(false)
}

fn measured(path: &Path) -> io::Result<bool> {
    let mut file = tempfile::tempfile_in(path)?;
    let mut rounds: [Vec<Round>; COUNTS.len()] = Default::default();
    loop {
        let size = random_size();
        let before = counts();
        fill(&mut file, size)?;
        let with = counts();
        file.set_len(0)?;
        let after = counts();
        let mut are_decided = true;
        for (index, rounds) in rounds.iter_mut().enumerate() {
            let [Some(before), Some(with), Some(after)] =
                [before[index], with[index], after[index]]
            else {
                continue;
            };
            rounds.push(Round {
                size,
                before,
                with,
                after,
            });
            match decision(rounds) {
                Some(true) => return Ok(true),
                Some(false) => {}
                None => are_decided = false,
            }
        }
        if are_decided {
            return Ok(false);
        }
    }
}

fn random_size() -> u64 {
    let drawn = uuid::Uuid::new_v4().as_u64_pair().1;
    LEAST_BYTES + drawn % ((MOST_BYTES - LEAST_BYTES) / PAGE_BYTES) * PAGE_BYTES
}

/// Gives the file that size: room without content where the filesystem gives it, which wears no card.
fn fill(file: &mut File, size: u64) -> io::Result<()> {
    let allocated = fallocate(&*file, FallocateFlags::empty(), 0, size);
    let has_room = || {
        file.metadata()
            .is_ok_and(|data| data.blocks() * 512 >= size)
    };
    match allocated.is_ok() && has_room() {
        true => Ok(()),
        false => write(file, size),
    }
}

/// Writes the file again. No page of it is like another, so that none is shared or compressed away.
fn write(file: &mut File, size: u64) -> io::Result<()> {
    file.rewind()?;
    let mut state = size | 1;
    let mut written = 0;
    while written < size {
        let mut words = Vec::new();
        while words.len() < usize::try_from(MIB.min(size - written)).unwrap_or_default() {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            words.extend_from_slice(&state.to_le_bytes());
        }
        file.write_all(&words)?;
        written += words.len() as u64;
    }
    file.sync_data()
}

/// The counts now, bytes.
fn counts() -> [Option<u64>; COUNTS.len()] {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    COUNTS.map(|name| count(&text, name))
}

fn count(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests;
