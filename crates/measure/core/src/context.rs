//! The context of a record: properties that must be equal before figures are compared.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::finding::name_of;
use crate::{Context, DeviceInfo, OriginKind, Reader, ReaderKind, Record};

/// Text for an unknown value.
const UNKNOWN: &str = "unknown";
/// Text for the connection of a simulated card.
const SIMULATED: &str = "simulated";

impl Context {
    /// Returns the context of a record.
    pub fn of(record: &Record) -> Self {
        let must = [
            ("suite", suite(record)),
            ("method", record.method.map(|method| method.to_string())),
            ("origin", Some(name_of(&record.origin.kind))),
            (
                "target",
                record.target.as_ref().map(|target| name_of(&target.kind)),
            ),
            (
                "span",
                record
                    .target
                    .as_ref()
                    .map(|target| target.span_bytes.to_string()),
            ),
            ("reader", of_devices(record, reader)),
            ("bus", of_devices(record, bus)),
            ("command_queue", of_devices(record, command_queue)),
            ("cache", of_devices(record, cache)),
        ];
        let host = record.host.as_ref();
        let shown = [
            (
                "board",
                record.board.as_ref().and_then(|board| board.model.clone()),
            ),
            (
                "filesystem",
                record
                    .target
                    .as_ref()
                    .and_then(|target| target.filesystem.clone()),
            ),
            ("kernel", host.and_then(|host| host.kernel.clone())),
            ("governor", host.and_then(|host| host.governor.clone())),
            ("scheduler", of_devices(record, scheduler)),
            ("preparation", of_devices(record, preparation)),
            ("fill", fill(record)),
            ("temperature", temperature(record)),
        ];
        let known = |(name, value): (&str, Option<String>)| {
            (name.to_owned(), value.unwrap_or_else(|| UNKNOWN.to_owned()))
        };
        Self {
            must: must.into_iter().map(known).collect(),
            shown: shown.into_iter().map(known).collect(),
        }
    }
}

/// Returns name and value from a record's context, such as `bus sdr104`; `None` if the value is none.
pub fn told(must: &BTreeMap<String, String>, name: &str) -> Option<String> {
    let value = must.get(name)?;
    let is_told = ![UNKNOWN, SIMULATED, "none"].contains(&value.as_str());
    is_told.then(|| format!("{} {value}", name.replace('_', " ")))
}

/// One name of the context, with its value on each side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContextRow {
    /// The name.
    pub name: String,
    /// True if the values must match.
    pub must_match: bool,
    /// The distinct answers of each side's records, in order.
    pub sides: Vec<Vec<String>>,
}

impl ContextRow {
    /// Returns whether two known values differ.
    pub fn differs(&self) -> bool {
        let mut known = self.sides.iter().flatten().filter(|a| *a != UNKNOWN);
        let first = known.next();
        known.any(|answer| Some(answer) != first)
    }

    /// Returns whether the value is known in some record.
    pub fn is_known(&self) -> bool {
        self.sides.iter().flatten().any(|answer| answer != UNKNOWN)
    }

    /// Returns whether the value is missing in some record.
    pub fn is_unknown(&self) -> bool {
        self.sides.iter().flatten().any(|answer| answer == UNKNOWN)
    }
}

/// Returns the context of all records of all sides, name by name: first those that must match.
pub fn context_rows(sides: &[Vec<&Record>]) -> Vec<ContextRow> {
    let contexts: Vec<Vec<Context>> = sides
        .iter()
        .map(|side| side.iter().map(|record| Context::of(record)).collect())
        .collect();
    let Some(first) = contexts.iter().flatten().next() else {
        return Vec::new();
    };
    let row = |name: &String, must_match: bool| {
        let answer = |context: &Context| {
            let part = if must_match {
                &context.must
            } else {
                &context.shown
            };
            part.get(name)
                .cloned()
                .unwrap_or_else(|| UNKNOWN.to_owned())
        };
        let answers = |side: &Vec<Context>| {
            let all: BTreeSet<String> = side.iter().map(answer).collect();
            all.into_iter().collect()
        };
        ContextRow {
            name: name.clone(),
            must_match,
            sides: contexts.iter().map(answers).collect(),
        }
    };
    let must = first.must.keys().map(|name| row(name, true));
    let shown = first.shown.keys().map(|name| row(name, false));
    must.chain(shown).collect()
}

fn suite(record: &Record) -> Option<String> {
    let suite = record.suite.as_ref()?;
    let tier = suite.tier.as_deref().map(|tier| format!(" {tier}"));
    let tier = tier.unwrap_or_default();
    Some(format!("{} {}{tier}", suite.name, suite.version))
}

/// Returns the distinct answers of the devices; `None` if one of them has none.
fn of_devices(record: &Record, say: fn(&DeviceInfo) -> Option<String>) -> Option<String> {
    let said: Option<Vec<String>> = record.devices.iter().map(say).collect();
    let Some(mut said) = said.filter(|said| !said.is_empty()) else {
        // A simulated board lacks every property that its record leaves out.
        let is_simulated = record.origin.kind == OriginKind::Simulated;
        return is_simulated.then(|| SIMULATED.to_owned());
    };
    said.sort();
    said.dedup();
    Some(said.join(" + "))
}

/// Returns the reader. The driver of a USB bridge affects how requests reach the card; that of a native slot
/// hardly does.
fn reader(device: &DeviceInfo) -> Option<String> {
    let reader = device.reader.as_ref()?;
    let kind = name_of(&reader.kind);
    if reader.usb.is_none() {
        return Some(kind);
    }
    Some(format!("{kind} {}", reader.driver.as_deref()?))
}

fn bus(device: &DeviceInfo) -> Option<String> {
    let reader = device.reader.as_ref()?;
    slot(reader)
        .or_else(|| usb(reader))
        .or_else(|| pcie(reader))
        .or_else(|| {
            let bits = reader.sata_bits_per_s?;
            Some(format!("{} Mbit/s", bits / 1_000_000))
        })
}

fn slot(reader: &Reader) -> Option<String> {
    let bus = reader.bus.as_ref()?;
    let mode = bus.mode.map(|mode| name_of(&mode));
    let clock = bus.overclock_hz.map(|hertz| hertz / 1_000_000);
    match (mode, clock) {
        (Some(mode), Some(clock)) => Some(format!("{mode} at {clock} MHz")),
        (None, Some(clock)) => Some(format!("overclocked to {clock} MHz")),
        (mode, None) => mode,
    }
}

fn usb(reader: &Reader) -> Option<String> {
    let bits = reader.usb.as_ref()?.link_bits_per_s?;
    Some(format!("{} Mbit/s", bits / 1_000_000))
}

fn pcie(reader: &Reader) -> Option<String> {
    let link = reader.pcie.as_ref()?;
    Some(format!(
        "{} MT/s x{}",
        link.megatransfers_per_s?, link.lanes_count?
    ))
}

/// Returns the state of the command queue. Only cards in a slot have one that can be turned off.
fn command_queue(device: &DeviceInfo) -> Option<String> {
    if device.reader.as_ref()?.kind != ReaderKind::Slot {
        return Some("none".to_owned());
    }
    let is_on = device.queue.as_ref()?.command_queue?;
    Some(if is_on { "on" } else { "off" }.to_owned())
}

fn scheduler(device: &DeviceInfo) -> Option<String> {
    device.queue.as_ref()?.scheduler.clone()
}

/// Returns our last fill of the device; later writes by others are not known.
fn preparation(device: &DeviceInfo) -> Option<String> {
    Some(name_of(&device.prepared.as_ref()?.fill))
}

/// Used share of the filesystem before the run. The nearest 10 %: a few files more or less do not
/// make another state.
fn fill(record: &Record) -> Option<String> {
    if record.origin.kind == OriginKind::Simulated {
        return Some(SIMULATED.to_owned());
    }
    let target = record.target.as_ref()?;
    let (free, size) = (target.free_bytes?, target.filesystem_bytes?);
    if size == 0 {
        return None;
    }
    let used = u128::from(size.saturating_sub(free));
    let tenths = (10 * used + u128::from(size) / 2) / u128::from(size);
    Some(format!("{} %", 10 * tenths))
}

fn cache(device: &DeviceInfo) -> Option<String> {
    device.queue.as_ref()?.write_cache.clone()
}

fn temperature(record: &Record) -> Option<String> {
    let highest = record
        .sensors
        .iter()
        .filter_map(|sample| sample.temperature_millicelsius)
        .max()?;
    Some(format!("{}", highest.div_euclid(1000)))
}
