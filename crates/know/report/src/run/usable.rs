//! The part of a device that can be used although the rest of it holds no data, and the command that makes a
//! partition of it.

use cardmark_core::{BlockState, Record, StorageKind, TargetKind};

use crate::text::capacity;
use crate::text::layout::wrap;

/// Sector of partition tables, bytes.
const SECTOR_BYTES: u64 = 512;
/// Start of the partition, bytes: the alignment of partitions on cards.
const START_BYTES: u64 = 4 << 20;
/// Unit of the partition's size, bytes.
const UNIT_BYTES: u64 = 1 << 20;
/// Size below which a partition is of no use, bytes.
const LEAST_BYTES: u64 = 16 << 20;
/// Share of the real part that stays unused before its end, percent.
const MARGIN_PERCENT: u64 = 1;
/// End of what a partition table of the kind `dos` can name, bytes.
const TABLE_BYTES: u64 = (u32::MAX as u64) * SECTOR_BYTES;
/// Size up to which a partition has the type for FAT32, bytes: larger cards have exFAT.
const FAT32_BYTES: u64 = 32 << 30;

/// The part of a device that holds data, from its beginning on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsablePart {
    /// Last sector of 512 bytes that holds data, counted from 0.
    pub last_sector: u64,
    /// Size of a partition that begins at 4 MiB and ends a margin before that sector, MiB; `None` if it would be too
    /// small, would have bad blocks, or the device is damaged and no fake.
    pub partition_mib: Option<u64>,
}

/// Returns the usable part of a device whose integrity test found that its end holds no data. `None` for other results,
/// and for tests of files.
pub fn usable_part(record: &Record) -> Option<UsablePart> {
    let found = record.integrity.as_ref()?;
    let is_device = record
        .target
        .as_ref()
        .is_some_and(|target| matches!(target.kind, TargetKind::Device | TargetKind::Sim));
    let has_bad_end = matches!(
        found.kind,
        StorageKind::Limbo | StorageKind::Wraparound | StorageKind::Chain | StorageKind::Damaged
    ) && found.real_bytes < found.size_bytes
        && !found.is_irregular;
    // The end of a part that begins later shows nothing of what lies before it.
    let is_from_start = found.from_bytes.is_none_or(|from_bytes| from_bytes == 0);
    if !is_device || !has_bad_end || !is_from_start {
        return None;
    }
    let last_sector = (found.real_bytes / SECTOR_BYTES).checked_sub(1)?;
    let end_bytes = found.real_bytes / 100 * (100 - MARGIN_PERCENT);
    let size_bytes = end_bytes.min(TABLE_BYTES).saturating_sub(START_BYTES);
    // A damaged card is wearing out: what is good now may be the next to go.
    let is_fake = found.kind != StorageKind::Damaged;
    let is_useful = is_fake && size_bytes >= LEAST_BYTES && !has_bad_blocks(record, end_bytes);
    Some(UsablePart {
        last_sector,
        partition_mib: is_useful.then_some(size_bytes / UNIT_BYTES),
    })
}

/// Returns whether the map has bad blocks before that place. Blocks with data of others do not count: on a fake whose
/// addresses repeat, they exist.
fn has_bad_blocks(record: &Record, end_bytes: u64) -> bool {
    let before = record.surface.iter();
    before
        .take_while(|part| part.start_bytes < end_bytes)
        .any(|part| !matches!(part.state, BlockState::Good | BlockState::Overwritten))
}

impl UsablePart {
    /// The command that makes one partition of it on `device`, a name as a shell takes it.
    fn command(partition_mib: u64, device: &str) -> String {
        let start_mib = START_BYTES / UNIT_BYTES;
        let kind = match partition_mib * UNIT_BYTES <= FAT32_BYTES {
            true => "c",
            false => "7",
        };
        format!(
            "echo {start_mib}MiB,{partition_mib}MiB,{kind} | sudo sfdisk --wipe always --label dos {device}"
        )
    }

    /// The last sector, in words.
    pub(crate) fn sentence(self) -> String {
        format!(
            "Last good sector: {} (sectors of 512 bytes, from 0).",
            self.last_sector
        )
    }

    /// How to use it: the command for `device`, a name as a shell takes it, and a warning. The line of the command is
    /// not broken. `None` if no partition would be of use.
    pub fn advice(self, device: &str, width: usize) -> Option<String> {
        let [introduction, command, warning] = self.advice_parts(device)?;
        let mut lines = wrap(&introduction, width, 0);
        lines.push(format!("  {command}"));
        lines.extend(wrap(&warning, width, 0));
        Some(lines.join("\n") + "\n")
    }

    /// Introduction, command and warning of the advice.
    pub(crate) fn advice_parts(self, device: &str) -> Option<[String; 3]> {
        let partition_mib = self.partition_mib?;
        let usable = capacity(partition_mib * UNIT_BYTES);
        Some([
            format!(
                "To use what is real, make one partition of {usable}; it ends {MARGIN_PERCENT} % before the \
                 last good sector:"
            ),
            Self::command(partition_mib, device),
            format!(
                "This command ERASES the partition table, and with it all files on {device}. Then make a \
                 filesystem on the new partition, mount it, and check it with `cardmark verify DIRECTORY`. Keep \
                 nothing on this card that exists nowhere else."
            ),
        ])
    }
}
