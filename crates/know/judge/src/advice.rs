//! Advice for the problems of a run, depending on the board and the device.

use cardmark_core::{FindingKind, KernelTrouble, Reader, Record, kernel_trouble};

/// Temperature from which heat counts as the reason for throttling, thousandths of a degree Celsius: the
/// firmware of Raspberry Pi starts to throttle at 80 °C.
const HOT_MC: i32 = 80_000;

/// Adds advice to findings that have none yet.
pub fn advise(record: &mut Record) {
    let mut findings = std::mem::take(&mut record.findings);
    for finding in findings.iter_mut().filter(|f| f.advice.is_none()) {
        finding.advice = advice(record, finding.kind);
    }
    record.findings = findings;
}

fn advice(record: &Record, kind: FindingKind) -> Option<String> {
    let plain = match kind {
        FindingKind::Throttled => throttled(record),
        FindingKind::BusErrors => return Some(bus_errors(record)),
        FindingKind::KernelMessages => return Some(kernel_messages(record)),
        FindingKind::SharedDevice => shared_device(record),
        FindingKind::StolenTime => {
            "measure again when the other virtual machines on this computer are idle"
        }
        FindingKind::NotReached => {
            "a layer above the disk, such as compression or a cache, answers requests itself: measure the \
             disk below it"
        }
        FindingKind::Buffered => "measure a directory on ext4, or the device itself",
        FindingKind::SlowPayload => "treat write rates as lower limits of what the card can do",
        FindingKind::NotPermitted => "run it as root, or as a member of the group `disk`",
        FindingKind::IoError => {
            "copy all data that can still be read: media that fail once will fail again"
        }
        FindingKind::Vanished => {
            "check that it is seated properly and gets enough power; `sudo dmesg` shows when it disconnected"
        }
        FindingKind::NoAnswer => {
            "remove it and insert it again; copy all data that can still be read before you use it further"
        }
        FindingKind::NoSpace => "delete files, name another directory, or test the device itself",
        FindingKind::RemountedReadOnly => {
            "`sudo dmesg` shows why: the kernel does that when it finds errors in a filesystem; copy your data, then test \
             the device itself: `sudo cardmark probe DEVICE`"
        }
        _ => return None,
    };
    Some(plain.to_owned())
}

fn throttled(record: &Record) -> &'static str {
    let board = record.board.as_ref();
    let lacks_power = board.is_some_and(|board| {
        let mut warnings = board.power_warnings.iter();
        warnings.any(|warning| warning == "under_voltage")
    });
    let temperatures = record
        .sensors
        .iter()
        .filter_map(|s| s.temperature_millicelsius);
    let is_hot = temperatures.max().is_some_and(|most| most >= HOT_MC);
    match (is_hot, lacks_power) {
        (true, true) => {
            "let the board cool, add airflow or a heat sink, use the power supply made for it, then \
             measure again"
        }
        (true, false) => "let the board cool, add airflow or a heat sink, then measure again",
        (false, true) => {
            "use the power supply made for this board and a short cable, then measure again"
        }
        (false, false) => "check the board's power supply and cooling, then measure again",
    }
}

fn bus_errors(record: &Record) -> String {
    let overclock_hz = readers(record)
        .filter_map(|reader| reader.bus.as_ref()?.overclock_hz)
        .max();
    match overclock_hz {
        Some(hertz) => format!(
            "lower the slot's clock from {} to 50 MHz: repeated transfers cost time, and \
             undetected errors cost data",
            hertz / 1_000_000
        ),
        None => "remove the card, clean its contacts, and insert it again without adapters and \
                 extensions; if errors continue, the card or the slot is failing"
            .to_owned(),
    }
}

fn kernel_messages(record: &Record) -> String {
    let by_uas = readers(record)
        .filter(|reader| reader.driver.as_deref() == Some("uas"))
        .find_map(|reader| reader.usb.as_ref());
    match by_uas {
        Some(usb) => format!(
            "`sudo dmesg` shows all messages; bridges that are reset under UAS often run reliably \
             without it: `usb-storage.quirks={}:{}:u` on the kernel's command line",
            usb.vendor, usb.product
        ),
        None if is_about_data(record) => {
            "copy its data, then look at all messages with `sudo dmesg`".to_owned()
        }
        None => {
            "check contacts, cable and power supply; `sudo dmesg` shows all messages".to_owned()
        }
    }
}

/// True unless all kept messages are about the way to the device.
fn is_about_data(record: &Record) -> bool {
    let samples = record.sensors.iter();
    let mut messages = samples.flat_map(|sample| &sample.messages).peekable();
    messages.peek().is_none()
        || messages.any(|line| kernel_trouble(line) != Some(KernelTrouble::Link))
}

fn shared_device(record: &Record) -> &'static str {
    let filesystem = record.target.as_ref().and_then(|t| t.filesystem.as_deref());
    match filesystem {
        Some("btrfs") => {
            "btrfs with two copies writes each byte twice; if this one has one copy, close other programs that \
             use the disk (`sudo iotop -oa` shows them) and measure again"
        }
        _ => {
            "close other programs that use the disk (`sudo iotop -oa` shows them) and measure again"
        }
    }
}

fn readers(record: &Record) -> impl Iterator<Item = &Reader> {
    record.devices.iter().filter_map(|d| d.reader.as_ref())
}
