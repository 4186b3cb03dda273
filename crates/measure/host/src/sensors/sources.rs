//! All that can be read during a run on this host.

use std::path::PathBuf;

use cardmark_core::SensorSample;

use super::board::{BoardSensors, read_temperature};
use super::counts::{BusErrors, Steal};
use crate::block::BlockDevice;
use crate::log::{KernelLog, LogAccess};
use crate::messages::{log_names, storage_message};
use crate::root::{Root, names_in};
use crate::slot::mmc_host;

/// Messages that a reading holds at most: a dying card makes the kernel write thousands.
const MOST_MESSAGES: usize = 32;

/// Sources of readings that this host has about itself and some disks.
#[derive(Debug, Default)]
pub(super) struct Sources {
    board: BoardSensors,
    device_temperature: Option<PathBuf>,
    steal: Option<Steal>,
    bus_errors: Vec<BusErrors>,
    messages: Option<Messages>,
}

/// Kernel messages about some disks from now on.
#[derive(Debug)]
struct Messages {
    log: KernelLog,
    /// Names of the disks and their controllers in the kernel's messages.
    names: Vec<String>,
}

impl Messages {
    fn find(root: &Root, disks: &[String]) -> Option<Self> {
        let mut log = KernelLog::open(root);
        let names: Vec<String> = disks
            .iter()
            .flat_map(|name| log_names(root, name))
            .collect();
        if log.access() != LogAccess::Readable || names.is_empty() {
            return None;
        }
        log.skip();
        Some(Self { log, names })
    }

    /// Those that are new.
    fn added(&mut self) -> Vec<String> {
        let names = &self.names;
        let lines = self
            .log
            .lines(&|text| storage_message(text, names).is_some());
        lines
            .iter()
            .filter_map(|line| storage_message(&line.text, names))
            .take(MOST_MESSAGES)
            .collect()
    }
}

impl Sources {
    pub(super) fn find(root: &Root, disks: &[String]) -> Self {
        Self {
            board: BoardSensors::find(root),
            device_temperature: disks.iter().find_map(|name| device_temperature(root, name)),
            steal: Steal::find(root),
            bus_errors: disks
                .iter()
                .filter_map(|name| BusErrors::find(root, &mmc_host(root, name)?))
                .collect(),
            messages: Messages::find(root, disks),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.board.is_empty()
            && self.device_temperature.is_none()
            && self.steal.is_none()
            && self.bus_errors.is_empty()
            && self.messages.is_none()
    }

    /// Returns the current readings; `None` if there are none.
    pub(super) fn read(&mut self, at_ns: u64) -> Option<SensorSample> {
        let nothing = SensorSample {
            at_ns,
            ..SensorSample::default()
        };
        let mut sample = nothing.clone();
        self.board.read(&mut sample);
        sample.device_temperature_millicelsius = self
            .device_temperature
            .as_deref()
            .and_then(read_temperature);
        sample.stolen_ns = self.steal.as_mut().and_then(Steal::added_ns);
        for errors in &mut self.bus_errors {
            for (name, count) in errors.added() {
                *sample.bus_errors.entry(name).or_default() += count;
            }
        }
        if let Some(messages) = &mut self.messages {
            sample.messages = messages.added();
        }
        (sample != nothing).then_some(sample)
    }
}

/// The first temperature of the monitor that a disk's driver (`nvme`, `drivetemp`) offers, in
/// thousandths of a degree.
fn device_temperature(root: &Root, name: &str) -> Option<PathBuf> {
    let disk = BlockDevice::by_name(root, name)?.disk()?;
    // NVMe keeps the monitor at the controller, SCSI at the disk.
    let folders = [disk.path("device"), disk.path("device/hwmon")];
    let monitors = folders.iter().flat_map(|folder| {
        names_in(folder)
            .into_iter()
            .filter(|name| name.starts_with("hwmon") && name.len() > "hwmon".len())
            .map(|name| folder.join(name).join("temp1_input"))
            .collect::<Vec<_>>()
    });
    monitors
        .into_iter()
        .find(|path| read_temperature(path).is_some())
}
