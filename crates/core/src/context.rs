//! The context of a record: what must be the same where figures are compared.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding::name_of;
use crate::{DeviceInfo, OriginKind, Reader, ReaderKind, Record};

/// What a value that is not known is called.
const UNKNOWN: &str = "unknown";
/// What the way to a simulated card is called.
const SIMULATED: &str = "simulated";

/// The context of a record, by name. Only what is called `unknown` in neither of two records, and
/// is the same, is known to match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Context {
    /// What must match where figures are compared: `suite`, `method`, `origin`, `target`, `span`,
    /// `reader`, `bus`, `command_queue`, `cache`.
    pub must: BTreeMap<String, String>,
    /// What is shown beside a comparison but does not forbid it: `board`, `filesystem`, `kernel`,
    /// `governor`, `temperature` (highest, whole degrees Celsius).
    pub shown: BTreeMap<String, String>,
}

impl Context {
    /// The context that a record tells.
    #[must_use]
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

fn suite(record: &Record) -> Option<String> {
    let suite = record.suite.as_ref()?;
    Some(format!("{} {}", suite.name, suite.version))
}

/// What the devices say, each different answer once; none where one of them says nothing.
fn of_devices(record: &Record, say: fn(&DeviceInfo) -> Option<String>) -> Option<String> {
    if record.origin.kind == OriginKind::Simulated {
        return Some(SIMULATED.to_owned());
    }
    let mut said: Vec<String> = record.devices.iter().map(say).collect::<Option<_>>()?;
    said.sort();
    said.dedup();
    (!said.is_empty()).then(|| said.join(" + "))
}

/// What sits in between decides how requests reach the card: the driver of a USB bridge does, that
/// of a native slot hardly.
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
    let mode = name_of(&bus.mode?);
    Some(match bus.overclock_hz {
        Some(clock) => format!("{mode} at {} MHz", clock / 1_000_000),
        None => mode,
    })
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

/// What is in no slot has no command queue of this kind that one could turn off.
fn command_queue(device: &DeviceInfo) -> Option<String> {
    if device.reader.as_ref()?.kind != ReaderKind::Slot {
        return Some("none".to_owned());
    }
    let is_on = device.queue.as_ref()?.command_queue?;
    Some(if is_on { "on" } else { "off" }.to_owned())
}

fn cache(device: &DeviceInfo) -> Option<String> {
    device.queue.as_ref()?.write_cache.clone()
}

fn temperature(record: &Record) -> Option<String> {
    let highest = record
        .sensors
        .iter()
        .filter_map(|sample| sample.temperature_mc)
        .max()?;
    Some(format!("{}", highest.div_euclid(1000)))
}
