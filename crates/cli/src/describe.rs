//! What is known of a target before anything is measured: the head of its record.

use std::path::Path;

use cardmark_catalog::manufacturer;
use cardmark_core::{Card, DeviceInfo, OriginKind, ReaderKind, Record, Target};
use cardmark_device::disk_health;
use cardmark_host::{KernelLog, LogAccess, Resolution, Root};

/// Devices with what they say about their health, as far as this user may ask.
pub(crate) fn with_health(devices: Vec<DeviceInfo>) -> Vec<DeviceInfo> {
    let ask = |device: DeviceInfo| match device.health {
        Some(_) => device,
        None => DeviceInfo {
            health: disk_health(&Path::new("/dev").join(&device.name)),
            ..device
        },
    };
    devices.into_iter().map(ask).collect()
}

/// The way down to the disk, as the record tells it.
pub(crate) fn way(target: &mut Target, resolution: &Resolution) {
    target.layers.clone_from(&resolution.layers);
    target.filesystem.clone_from(&resolution.filesystem);
    target.mount_options.clone_from(&resolution.mount_options);
}

/// Who made a card.
pub(crate) fn maker(card: &Card) -> Option<String> {
    let facts = &card.decoded;
    let oem = facts.oem.as_deref().unwrap_or_default();
    Some(
        manufacturer(card.kind, facts.manufacturer_id?, oem)?
            .name
            .clone(),
    )
}

/// What a record lacks because its maker was not root.
pub(crate) fn hidden(record: &Record, root: &Root) -> Vec<&'static str> {
    let is_real = record.origin.kind == OriginKind::Measured;
    if !is_real || rustix::process::geteuid().is_root() {
        return Vec::new();
    }
    let mut hidden = Vec::new();
    let kinds: Vec<ReaderKind> = record
        .devices
        .iter()
        .filter_map(|device| Some(device.reader.as_ref()?.kind))
        .collect();
    if kinds.contains(&ReaderKind::Slot) {
        hidden.push("clock and voltage of the card's bus, and errors on it during a run");
    }
    if kinds.contains(&ReaderKind::Nvme) || kinds.contains(&ReaderKind::Sata) {
        hidden.push("the health of the disk");
    }
    if KernelLog::open(root).access() == LogAccess::NotPermitted {
        hidden.push("what the kernel says about the device");
    }
    hidden
}
