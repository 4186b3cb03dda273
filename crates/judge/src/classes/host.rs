//! Whether the host lets a class be tested.

use cardmark_catalog::{Class, ClassFamily, Need};
use cardmark_core::{Bus, BusMode, DeviceInfo, OriginKind, Record};

/// Of the bits that a USB link moves in a second, one in ten at most is a byte of data.
const LINK_BITS_PER_BYTE: u64 = 10;
/// Data lines of the bus on which classes are defined.
const LINES_COUNT: u32 = 4;

/// Why the class cannot be tested here; `None` where nothing known stands against it.
pub(super) fn obstacle(record: &Record, class: &Class) -> Option<String> {
    if class.family == ClassFamily::Express {
        let reason = "not testable here: classes of SD Express are tested by streams of NVMe, which \
                      Linux does not offer to programs";
        return Some(reason.to_owned());
    }
    let device = device(record)?;
    let reader = device.reader.as_ref()?;
    if let Some(bus) = &reader.bus
        && let Some(mode) = bus.mode
    {
        return bus_obstacle(class, bus, mode).or_else(|| need_obstacle(class, device));
    }
    let link = reader.usb.as_ref()?.link_bits_per_s?;
    let most = link / LINK_BITS_PER_BYTE;
    (class.least_write_bytes_per_s > most).then(|| {
        format!(
            "not testable here: the USB link carries {} MB/s at most",
            most / 1_000_000
        )
    })
}

/// Why a figure below the limit says nothing against the card here.
pub(super) fn doubt(record: &Record, class: &Class) -> Option<String> {
    let device = device(record)?;
    let known = |need: &Need| match need {
        Need::Cache => cache(device).is_some(),
        Need::CommandQueue => queue(device).is_some(),
    };
    // A simulated card outside of a board is in one that has all.
    let is_ideal = record.origin.kind == OriginKind::Simulated && device.reader.is_none();
    (!is_ideal && !class.needs.iter().all(known)).then(|| {
        "not testable here: whether cache and command queue are in use, which this class rests on, is \
         not to be seen"
            .to_owned()
    })
}

/// What is not known of the way to the card.
pub(super) fn deviation(record: &Record) -> Option<String> {
    let device = device(record)?;
    let is_seen = device
        .reader
        .as_ref()
        .and_then(|reader| reader.bus.as_ref())
        .is_some_and(|bus| bus.mode.is_some());
    let is_ideal = record.origin.kind == OriginKind::Simulated && device.reader.is_none();
    (!is_seen && !is_ideal)
        .then(|| "bus mode and clock between host and card are not known".to_owned())
}

fn device(record: &Record) -> Option<&DeviceInfo> {
    match record.devices.as_slice() {
        [device] => Some(device),
        _ => None,
    }
}

/// A class is tested on four lines, in one of its modes at its clock or in a faster mode.
fn bus_obstacle(class: &Class, bus: &Bus, mode: BusMode) -> Option<String> {
    if let Some(lines) = bus.lines_count.filter(|&lines| lines < LINES_COUNT) {
        return Some(format!(
            "not testable here: the bus has {lines} data lines instead of {LINES_COUNT}"
        ));
    }
    let clock_hz = bus.actual_clock_hz.or(bus.clock_hz).unwrap_or(u64::MAX);
    let fits = |(asked, least_hz): (&BusMode, &u64)| {
        if *asked == mode {
            clock_hz >= *least_hz
        } else {
            speed(*asked) < speed(mode)
        }
    };
    if class.modes.iter().any(fits) {
        return None;
    }
    Some(format!(
        "not testable here: {} is not defined for the bus mode {}{}",
        class.id,
        mode_name(mode),
        match bus.actual_clock_hz.or(bus.clock_hz) {
            Some(hz) => format!(" at {} MHz", hz / 1_000_000),
            None => String::new(),
        }
    ))
}

fn need_obstacle(class: &Class, device: &DeviceInfo) -> Option<String> {
    let is_off = |need: &&Need| match need {
        Need::Cache => cache(device) == Some(false),
        Need::CommandQueue => queue(device) == Some(false),
    };
    class.needs.iter().find(is_off).map(|need| {
        let what = match need {
            Need::Cache => "the card's cache",
            Need::CommandQueue => "the command queue",
        };
        format!("not testable here: {} needs {what}, which is off", class.id)
    })
}

fn cache(device: &DeviceInfo) -> Option<bool> {
    let state = device.queue.as_ref()?.write_cache.as_deref()?;
    Some(state == "write back")
}

fn queue(device: &DeviceInfo) -> Option<bool> {
    device.queue.as_ref()?.command_queue
}

/// Modes by what they carry (SD Physical Layer, 3.9).
fn speed(mode: BusMode) -> u32 {
    match mode {
        BusMode::Legacy | BusMode::Sdr12 => 12,
        BusMode::HighSpeed | BusMode::Sdr25 | BusMode::MmcHighSpeed => 25,
        BusMode::Ddr50 | BusMode::Sdr50 => 50,
        BusMode::Sdr104 | BusMode::Ddr52 => 104,
        BusMode::Hs200 => 200,
        BusMode::Hs400 => 400,
    }
}

fn mode_name(mode: BusMode) -> &'static str {
    match mode {
        BusMode::Legacy => "default speed",
        BusMode::HighSpeed | BusMode::MmcHighSpeed => "high speed",
        BusMode::Sdr12 => "SDR12",
        BusMode::Sdr25 => "SDR25",
        BusMode::Sdr50 => "SDR50",
        BusMode::Ddr50 => "DDR50",
        BusMode::Sdr104 => "SDR104",
        BusMode::Ddr52 => "DDR52",
        BusMode::Hs200 => "HS200",
        BusMode::Hs400 => "HS400",
    }
}
