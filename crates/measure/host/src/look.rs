//! One look at a target: what board, storage and kernel report at this moment. Nothing is waited for.

mod filesystems;
mod log;

use cardmark_core::{CardKind, DeviceInfo, DiskLook, Look, SampleOf};

use crate::block::{BlockDevice, SECTOR_BYTES};
use crate::counters::CounterReader;
use crate::look::filesystems::filesystems;
use crate::look::log::{Watched, log_look};
use crate::power::power_look;
use crate::presence::boot_id;
use crate::root::Root;
use crate::walk::Resolution;

/// Bytes after which the count of written sectors begins again at zero on a kernel of 32 bits.
pub(crate) const WRAP_BYTES: u64 = SECTOR_BYTES << 32;

/// Returns the facts about the storage below a target and its board, without the time of day and without the health of
/// disks that must be asked for. Of the kernel's log, lines from number `log_from` on count.
#[must_use]
pub fn read_look(root: &Root, resolution: &Resolution, log_from: Option<u64>) -> Look {
    let filesystems = filesystems(root, resolution);
    let watched = Watched::of(root, resolution, &filesystems);
    Look {
        at_s: None,
        uptime_s: uptime_s(root),
        boot_id: boot_id(root),
        disks: resolution
            .disks
            .iter()
            .map(|disk| disk_look(root, disk))
            .collect(),
        log: log_look(root, &watched, log_from),
        filesystems,
        power: power_look(root),
    }
}

/// The first number of `/proc/uptime`, whole seconds.
fn uptime_s(root: &Root) -> Option<u64> {
    let text = root.text("/proc/uptime")?;
    let seconds = text.split(['.', ' ']).next()?;
    seconds.parse().ok()
}

fn disk_look(root: &Root, disk: &DeviceInfo) -> DiskLook {
    let device = BlockDevice::by_name(root, &disk.name);
    let counts = device.as_ref().is_some_and(BlockDevice::keeps_counts);
    let counted = counts.then(|| {
        let counters = CounterReader::new(root, std::slice::from_ref(&disk.name)).read();
        counters.map(|counters| counters.write_bytes)
    });
    let is_own = |of: &SampleOf| matches!(of, SampleOf::Card | SampleOf::Disk);
    let card = disk.card.as_ref();
    DiskLook {
        name: disk.name.clone(),
        model: disk.model.clone(),
        size_bytes: disk.size_bytes.filter(|bytes| *bytes > 0),
        id: disk.sample.as_ref().map(|sample| sample.id.clone()),
        is_own_id: disk
            .sample
            .as_ref()
            .is_some_and(|sample| is_own(&sample.of)),
        is_emmc: card.is_some_and(|card| card.kind == CardKind::Mmc),
        sequence: device.as_ref().and_then(|device| device.number("diskseq")),
        counted_bytes: counted.flatten(),
        wraps_bytes: is_32_bit(root).then_some(WRAP_BYTES),
        health: disk.health.clone(),
    }
}

/// Returns whether this kernel is known (since Linux 6.1) to be one of 32 bits, whatever the programs are.
fn is_32_bit(root: &Root) -> bool {
    let machine = root.text("/proc/sys/kernel/arch").unwrap_or_default();
    let is_pc = machine.len() == 4 && machine.starts_with('i') && machine.ends_with("86");
    is_pc || machine.starts_with("armv") || ["mips", "ppc", "riscv32"].contains(&machine.as_str())
}
