//! Description of a target before the measurement: the head of its record.

use std::time::{Duration, Instant};

use std::path::Path;

use cardmark_core::{DeviceInfo, Finding, OriginKind, ReaderKind, Record};
use cardmark_device::{bridged_health, disk_health};
use cardmark_host::{KernelLog, LoadReader, LogAccess, Resolution, Root, read_board, read_host};
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

/// Observes for half a second what other programs do, or as long as the description of the target takes. The load average
/// of the kernel needs no time, but it also counts what this user's last run did, and who waits for I/O.
pub struct Others {
    reader: LoadReader,
    since: Instant,
}

/// Length of the observation: 50 ticks of each processor.
const OBSERVATION: Duration = Duration::from_millis(500);

impl Others {
    /// Begins to observe the host and the disks below a target.
    #[must_use]
    pub fn start(root: &Root, resolution: &Resolution) -> Self {
        let disks: Vec<String> = resolution
            .disks
            .iter()
            .map(|disk| disk.name.clone())
            .collect();
        Self {
            reader: LoadReader::start(root, &disks),
            since: Instant::now(),
        }
    }

    /// Waits until the time is over, and adds the load to the record.
    pub fn add_to(mut self, record: &mut Record) {
        std::thread::sleep(OBSERVATION.saturating_sub(self.since.elapsed()));
        let span_ns = u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if let Some(host) = &mut record.host {
            host.load = self.reader.load(span_ns);
        }
    }
}

/// Adds to a record of a simulated card the card, its board and system.
pub fn simulated(record: &mut Record, card: &SimulatedCard) {
    record.devices = vec![card.device()];
    record.board = Some(card.board());
    record.host = Some(card.host());
}

/// A device with its health data, as far as this user may ask.
pub(crate) fn with_health(root: &Root, device: DeviceInfo) -> DeviceInfo {
    if device.health.is_some() {
        return device;
    }
    let path = root.path(format!("/dev/{}", device.name));
    let health = match way_to_health(&device) {
        WayToHealth::Kernel => disk_health(&path),
        WayToHealth::Smartctl if rustix::process::geteuid().is_root() => {
            bridged_health(Path::new("smartctl"), &path)
        }
        WayToHealth::Smartctl | WayToHealth::None => None,
    };
    DeviceInfo { health, ..device }
}

/// How the health of a device may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WayToHealth {
    Kernel,
    /// Behind USB: some bridges stop answering after a command that is meant for a SATA disk; `smartctl` knows which.
    Smartctl,
    None,
}

fn way_to_health(device: &DeviceInfo) -> WayToHealth {
    let is_usb = device.reader.as_ref().is_some_and(|r| r.usb.is_some());
    match is_usb {
        false => WayToHealth::Kernel,
        true if device.name.starts_with("sd") => WayToHealth::Smartctl,
        true => WayToHealth::None,
    }
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

/// A time in UTC, `2026-12-22 14:04 UTC`.
pub(crate) fn minute(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M UTC").to_string()
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
    fn a_disk_behind_a_bridge_is_asked_by_smartctl_only() {
        assert_eq!(way_to_health(&behind(None)), WayToHealth::Kernel);
        let bridged = DeviceInfo {
            name: "sda".to_owned(),
            ..behind(Some(UsbBridge::default()))
        };
        assert_eq!(way_to_health(&bridged), WayToHealth::Smartctl);
    }

    #[test]
    fn a_device_with_health_is_not_asked_again() {
        let told = DeviceInfo {
            health: Some(Health::default()),
            ..behind(None)
        };
        let again = with_health(&Root::system(), told.clone());
        assert_eq!(again, told);
    }
}
