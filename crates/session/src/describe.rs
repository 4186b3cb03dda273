//! Description of a target before the measurement: the head of its record.

use cardmark_core::{DeviceInfo, Finding, OriginKind, ReaderKind, Record};
use cardmark_device::disk_health;
use cardmark_host::{KernelLog, LogAccess, Resolution, Root, read_board, read_host};
use cardmark_sim::SimulatedCard;

use crate::build;

/// Adds to a record of real storage the layers down to the disks, the devices below, board and system.
pub fn real(record: &mut Record, root: &Root, resolution: &Resolution, devices: Vec<DeviceInfo>) {
    if let Some(target) = &mut record.target {
        target.layers.clone_from(&resolution.layers);
        target.filesystem.clone_from(&resolution.filesystem);
        target.mount_options.clone_from(&resolution.mount_options);
    }
    let known = devices.into_iter();
    record.devices = known.map(|device| with_health(root, device)).collect();
    record.board = Some(read_board(root));
    record.host = Some(read_host(root));
    let findings = resolution.findings.iter().cloned();
    record.findings = findings.map(Finding::by_run).collect();
    if started_at().is_none() {
        record.findings.push(build::clock_not_set());
    }
}

/// Adds to a record of a simulated card the card, its board and system.
pub fn simulated(record: &mut Record, card: &SimulatedCard) {
    record.devices = vec![card.device()];
    record.board = Some(card.board());
    record.host = Some(card.host());
}

/// A device with its health data, as far as this user may ask. A device on USB is
/// not asked: some bridges stop answering after a command that is meant for a SATA disk.
fn with_health(root: &Root, device: DeviceInfo) -> DeviceInfo {
    if !may_be_asked(&device) {
        return device;
    }
    DeviceInfo {
        health: disk_health(&root.path(format!("/dev/{}", device.name))),
        ..device
    }
}

fn may_be_asked(device: &DeviceInfo) -> bool {
    let is_usb = device.reader.as_ref().is_some_and(|r| r.usb.is_some());
    device.health.is_none() && !is_usb
}

/// Parts that a record lacks because its maker was not root.
#[must_use]
pub fn hidden(record: &Record, root: &Root) -> Vec<&'static str> {
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
        hidden.push("messages of the kernel about the device");
    }
    hidden
}

/// Now, RFC 3339, UTC, whole seconds; `None` if the clock is not set.
pub(crate) fn started_at() -> Option<String> {
    build::is_clock_set(jiff::Timestamp::now().as_second()).then(now_text)
}

/// Now, RFC 3339, UTC, whole seconds.
pub(crate) fn now_text() -> String {
    let now = jiff::Timestamp::now();
    jiff::Timestamp::from_second(now.as_second())
        .unwrap_or(now)
        .to_string()
}

#[cfg(test)]
mod tests {
    use cardmark_core::{Health, Reader, UsbBridge};

    use super::*;

    fn behind(usb: Option<UsbBridge>) -> DeviceInfo {
        let reader = Reader {
            kind: ReaderKind::Sata,
            driver: None,
            bus: None,
            usb,
            pcie: None,
            sata_bits_per_s: None,
        };
        DeviceInfo {
            reader: Some(reader),
            ..DeviceInfo::default()
        }
    }

    #[test]
    fn a_disk_behind_a_bridge_is_never_asked() {
        assert!(may_be_asked(&behind(None)));
        assert!(!may_be_asked(&behind(Some(UsbBridge::default()))));
    }

    #[test]
    fn a_device_that_has_told_is_not_asked_again() {
        let told = DeviceInfo {
            health: Some(Health::default()),
            ..behind(None)
        };
        assert!(!may_be_asked(&told));
    }
}
