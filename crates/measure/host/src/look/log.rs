//! Trouble with some disks in the kernel's log, counted by kind.

use std::collections::BTreeMap;

use cardmark_core::{FilesystemLook, KernelFault, LogCount, LogLook, kernel_fault};

use crate::log::{KernelLog, LogAccess, LogLine};
use crate::messages::{holds_name, log_names};
use crate::root::Root;
use crate::slot::mmc_host;
use crate::walk::Resolution;

/// A device in the log.
struct Device {
    name: String,
    /// Its names in the log, with those of its controllers.
    names: Vec<String>,
    /// Parts of the lines that the kernel writes when it appears.
    arrivals: Vec<String>,
}

/// Devices of a target in the log: those of filesystems first, then the disks.
pub(super) struct Watched(Vec<Device>);

/// Counts by the place of the device, the kind, and whether it appeared again since.
type Counts = BTreeMap<(usize, KernelFault, bool), LogCount>;

impl Watched {
    pub(super) fn of(root: &Root, resolution: &Resolution, filesystems: &[FilesystemLook]) -> Self {
        let is_disk = |name: &str| resolution.disks.iter().any(|disk| disk.name == name);
        let layers = resolution.layers.iter();
        let layers = layers.filter_map(|layer| layer.device.as_deref());
        let above = filesystems.iter().map(|one| one.device.as_str());
        let mut devices: Vec<Device> = Vec::new();
        for name in above.chain(layers).filter(|name| !is_disk(name)) {
            if devices.iter().all(|known| known.name != name) {
                devices.push(Device::new(name, vec![name.to_owned()]));
            }
        }
        for disk in &resolution.disks {
            let mut device = Device::new(&disk.name, log_names(root, &disk.name));
            let host = mmc_host(root, &disk.name);
            let host = host.map(|host| format!("{host}: new "));
            device.arrivals.extend(host);
            devices.push(device);
        }
        Self(devices)
    }

    /// Adds a line to the counts.
    fn take(&self, line: &LogLine, counts: &mut Counts) {
        for device in &self.0 {
            if device.appears(&line.text) {
                set_before(counts, &device.name);
            }
        }
        let named = self.0.iter().position(|device| device.is_in(&line.text));
        let fault = named.and_then(|_| kernel_fault(&line.text));
        if let Some((place, fault)) = named.zip(fault) {
            let count = counts.entry((place, fault, false)).or_insert(LogCount {
                of: self.0[place].name.clone(),
                fault,
                is_before: false,
                count: 0,
                first_us: line.at_us,
                last_us: line.at_us,
            });
            count.count += 1;
            count.last_us = line.at_us;
        }
    }
}

impl Device {
    fn new(name: &str, names: Vec<String>) -> Self {
        Self {
            name: name.to_owned(),
            names,
            arrivals: vec![
                format!("[{name}] Attached SCSI"),
                format!("{name}: detected capacity change from 0 to"),
            ],
        }
    }

    fn is_in(&self, text: &str) -> bool {
        self.names.iter().any(|name| holds_name(text, name))
    }

    fn appears(&self, text: &str) -> bool {
        self.arrivals.iter().any(|part| text.contains(part))
    }
}

/// Returns the lines about these devices, from number `from` on.
pub(super) fn log_look(root: &Root, watched: &Watched, from: Option<u64>) -> LogLook {
    let mut log = KernelLog::open(root);
    if log.access() != LogAccess::Readable {
        return LogLook::default();
    }
    let mut look = LogLook::default();
    let mut counts = Counts::new();
    log.each(&mut |sequence, line| {
        look.oldest = look.oldest.or(Some(sequence));
        look.next = Some(sequence + 1);
        if let Some(line) = line.filter(|line| from.is_none_or(|from| line.sequence >= from)) {
            watched.take(&line, &mut counts);
        }
    });
    look.counts = counts.into_values().collect();
    look
}

/// All lines so far about a device and its parts are from before it appeared.
fn set_before(counts: &mut Counts, name: &str) {
    for ((place, fault, is_before), count) in std::mem::take(counts) {
        let is_before = is_before || count.of.starts_with(name);
        let joined = counts.entry((place, fault, is_before)).or_insert(LogCount {
            is_before,
            count: 0,
            ..count.clone()
        });
        joined.count += count.count;
        joined.first_us = joined.first_us.min(count.first_us);
        joined.last_us = joined.last_us.max(count.last_us);
    }
}
