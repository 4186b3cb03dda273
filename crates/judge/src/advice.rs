//! What can be done about what went wrong during a run, on this board and in this place.

use cardmark_core::{FindingKind, Reader, Record};

/// From this temperature on heat is what slows a board down, thousandths of a degree Celsius: the
/// firmware of Raspberry Pi begins at 80 °C.
const HOT_MC: i32 = 80_000;

/// Tells what can be done to those findings that do not say so yet.
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
            "measure again when the other machines on this computer are quiet"
        }
        FindingKind::NotReached => {
            "something above the disk answers by itself, such as compression or a cache: measure the \
             disk that lies below it"
        }
        FindingKind::Buffered => "measure a directory on ext4, or the device itself",
        FindingKind::SlowPayload => "take the figures of writing as the least that the card can do",
        FindingKind::NotPermitted => "run it as root, or as a member of the group `disk`",
        FindingKind::IoError => {
            "save what can be read from it: media that fail once will fail again"
        }
        FindingKind::Vanished => {
            "look whether it sits well and gets enough power; `sudo dmesg` tells when it went"
        }
        FindingKind::NoAnswer => {
            "take it out and in again; save what can be read from it before it is used further"
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
    let temperatures = record.sensors.iter().filter_map(|s| s.temperature_mc);
    let is_hot = temperatures.max().is_some_and(|most| most >= HOT_MC);
    match (is_hot, lacks_power) {
        (true, true) => {
            "let the board cool, give it air or a heat sink and the power supply made for it, then \
             measure again"
        }
        (true, false) => "let the board cool, give it air or a heat sink, then measure again",
        (false, true) => {
            "use the power supply made for this board and a short cable, then measure again"
        }
        (false, false) => "look after the board's power supply and cooling, then measure again",
    }
}

fn bus_errors(record: &Record) -> String {
    let overclock_hz = readers(record)
        .filter_map(|reader| reader.bus.as_ref()?.overclock_hz)
        .max();
    match overclock_hz {
        Some(hertz) => format!(
            "take the slot's clock back from {} to 50 MHz: what has to be sent twice costs time, and \
             what is not noticed costs data",
            hertz / 1_000_000
        ),
        None => {
            "take the card out and in again, clean its contacts, leave adapters and extensions \
                 out; when errors go on, card or slot are failing"
                .to_owned()
        }
    }
}

fn kernel_messages(record: &Record) -> String {
    let by_uas = readers(record)
        .filter(|reader| reader.driver.as_deref() == Some("uas"))
        .find_map(|reader| reader.usb.as_ref());
    match by_uas {
        Some(usb) => format!(
            "`sudo dmesg` shows all of it; bridges that are reset under UAS often run steadily \
             without: `usb-storage.quirks={}:{}:u` on the kernel's command line",
            usb.vendor, usb.product
        ),
        None => "save what is on it, then look at all of it with `sudo dmesg`".to_owned(),
    }
}

fn shared_device(record: &Record) -> &'static str {
    let filesystem = record.target.as_ref().and_then(|t| t.filesystem.as_deref());
    match filesystem {
        Some("btrfs") => {
            "btrfs with two copies writes each byte twice; if this one has one copy, close what else \
             uses the disk (`sudo iotop -oa` shows it) and measure again"
        }
        _ => "close what else uses the disk (`sudo iotop -oa` shows it) and measure again",
    }
}

fn readers(record: &Record) -> impl Iterator<Item = &Reader> {
    record.devices.iter().filter_map(|d| d.reader.as_ref())
}
