//! Conditions of the host for testing a class.

use cardmark_catalog::{Class, ClassFamily, Need};
use cardmark_core::{Bus, BusMode, DeviceInfo, OriginKind, ReaderKind, Record};

/// Minimum number of bits on a USB link per byte of data.
pub(crate) const LINK_BITS_PER_BYTE: u64 = 10;
/// Number of data lines of the bus for which classes are defined.
pub(crate) const LINES_COUNT: u32 = 4;

/// Known path between host and card.
enum BusPath<'a> {
    /// A simulated card outside a board: the path meets all conditions.
    Ideal,
    /// A bus whose mode is known.
    Bus(&'a Bus, BusMode),
    /// The mode is hidden, or the device is unknown.
    Hidden,
}

/// Returns the reason why the class cannot be tested here; `None` if there is none.
pub(crate) fn obstacle(record: &Record, class: &Class) -> Option<String> {
    if class.family == ClassFamily::Express {
        let reason = "not testable here: classes of SD Express are tested with NVMe streams, which \
                      Linux does not offer to programs";
        return Some(reason.to_owned());
    }
    let device = device(record)?;
    let on_bus = match way(record) {
        BusPath::Bus(bus, mode) => bus_obstacle(class, bus, mode),
        BusPath::Ideal | BusPath::Hidden => link_obstacle(class, device),
    };
    on_bus.or_else(|| need_obstacle(class, device))
}

/// Returns the reason why a figure below the limit does not prove anything against the card here.
pub(super) fn doubt(record: &Record, class: &Class) -> Option<String> {
    let doubt = match way(record) {
        BusPath::Ideal => return None,
        BusPath::Hidden => "the bus mode is hidden and may be too slow",
        BusPath::Bus(bus, _) if clock_hz(bus).is_none() => {
            "the clock of the bus is hidden and may be too low"
        }
        BusPath::Bus(..) if !are_needs_seen(record, class) => {
            "the state of cache and command queue, which this class requires, is hidden"
        }
        BusPath::Bus(..) => return None,
    };
    Some(format!("not testable here: {doubt}"))
}

/// Returns the reason why a rate below that promise does not prove anything against the card here.
pub(crate) fn rate_doubt(record: &Record, bytes_per_s: u64) -> Option<String> {
    let doubt = match way(record) {
        BusPath::Ideal => return None,
        BusPath::Hidden => "the bus mode is hidden and may be too slow".to_owned(),
        BusPath::Bus(bus, mode) => {
            let most = clock_hz(bus)
                .map(|clock| bits_per_s(mode, clock, bus.lines_count.unwrap_or(LINES_COUNT)) / 8);
            match most {
                None => "the clock of the bus is hidden and may be too low".to_owned(),
                Some(most) if most < bytes_per_s => {
                    format!("the bus carries at most {} MB/s", most / 1_000_000)
                }
                Some(_) => return None,
            }
        }
    };
    Some(format!("not testable here: {doubt}"))
}

/// Returns the unknown properties of the path to the card, and those that the class does not allow.
pub(super) fn deviations(record: &Record, has_application: bool) -> Vec<String> {
    let mut deviations = Vec::new();
    match way(record) {
        BusPath::Ideal => {}
        BusPath::Hidden => {
            deviations.push("unknown bus mode and clock between host and card".to_owned());
        }
        BusPath::Bus(bus, _) if clock_hz(bus).is_none() => {
            deviations.push("unknown clock between host and card".to_owned());
        }
        BusPath::Bus(..) => {}
    }
    let slot = device(record).filter(|device| has_application && is_in_slot(device));
    if let Some(device) = slot {
        for (what, is_on) in [("cache", cache(device)), ("command queue", queue(device))] {
            if is_on == Some(true) {
                deviations.push(format!("the card's {what} was on in the tests of class A1"));
            }
        }
    }
    deviations
}

fn device(record: &Record) -> Option<&DeviceInfo> {
    match record.devices.as_slice() {
        [device] => Some(device),
        _ => None,
    }
}

fn way(record: &Record) -> BusPath<'_> {
    let Some(device) = device(record) else {
        return BusPath::Hidden;
    };
    let bus = device
        .reader
        .as_ref()
        .and_then(|reader| reader.bus.as_ref());
    let is_simulated = record.origin.kind == OriginKind::Simulated;
    match bus.and_then(|bus| Some((bus, bus.mode?))) {
        Some((bus, mode)) => BusPath::Bus(bus, mode),
        None if is_simulated && device.reader.is_none() => BusPath::Ideal,
        None => BusPath::Hidden,
    }
}

/// Only in a slot the kernel reports the card's own cache and queue, and not those of a bridge.
fn is_in_slot(device: &DeviceInfo) -> bool {
    let reader = device.reader.as_ref();
    reader.is_some_and(|reader| reader.kind == ReaderKind::Slot)
}

fn clock_hz(bus: &Bus) -> Option<u64> {
    bus.actual_clock_hz.or(bus.clock_hz)
}

/// A class is tested with four lines.
fn bus_obstacle(class: &Class, bus: &Bus, mode: BusMode) -> Option<String> {
    if let Some(lines) = bus.lines_count.filter(|&lines| lines < LINES_COUNT) {
        return Some(format!(
            "not testable here: the bus has {lines} data lines instead of {LINES_COUNT}"
        ));
    }
    if is_defined(class, bus, mode) {
        return None;
    }
    Some(format!(
        "not testable here: {} is not defined for the bus mode {}{}",
        class.id,
        mode.name(),
        match clock_hz(bus) {
            Some(hz) => format!(" at {} MHz", hz / 1_000_000),
            None => String::new(),
        }
    ))
}

/// A class is defined in its modes from their minimum clocks on, and in higher modes with at least the same
/// data rate.
fn is_defined(class: &Class, bus: &Bus, mode: BusMode) -> bool {
    let clock_hz = clock_hz(bus);
    if let Some(least_hz) = class.modes.get(&mode) {
        return clock_hz.is_none_or(|hz| hz >= *least_hz);
    }
    let lines = bus.lines_count.unwrap_or(LINES_COUNT);
    let carried = clock_hz.map(|hz| bits_per_s(mode, hz, lines));
    class.modes.iter().any(|(asked, least_hz)| {
        let least = bits_per_s(*asked, *least_hz, LINES_COUNT);
        asked.most_mb_per_s() <= mode.most_mb_per_s() && carried.is_none_or(|bits| bits >= least)
    })
}

fn bits_per_s(mode: BusMode, clock_hz: u64, lines_count: u32) -> u64 {
    let edges = match mode {
        BusMode::Ddr50 | BusMode::Ddr52 | BusMode::Hs400 => 2,
        _ => 1,
    };
    clock_hz
        .saturating_mul(u64::from(lines_count))
        .saturating_mul(edges)
}

fn link_obstacle(class: &Class, device: &DeviceInfo) -> Option<String> {
    let link = device.reader.as_ref()?.usb.as_ref()?.link_bits_per_s?;
    let most = link / LINK_BITS_PER_BYTE;
    (class.least_write_bytes_per_s > most).then(|| {
        format!(
            "not testable here: the USB link is limited to {} MB/s",
            most / 1_000_000
        )
    })
}

fn need_obstacle(class: &Class, device: &DeviceInfo) -> Option<String> {
    if !is_in_slot(device) {
        return None;
    }
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

fn are_needs_seen(record: &Record, class: &Class) -> bool {
    let is_seen = |device: &DeviceInfo, need: &Need| match need {
        Need::Cache => cache(device).is_some(),
        Need::CommandQueue => queue(device).is_some(),
    };
    device(record).is_some_and(|device| class.needs.iter().all(|need| is_seen(device, need)))
}

fn cache(device: &DeviceInfo) -> Option<bool> {
    let state = device.queue.as_ref()?.write_cache.as_deref()?;
    Some(state == "write back")
}

fn queue(device: &DeviceInfo) -> Option<bool> {
    device.queue.as_ref()?.command_queue
}
