//! Sensors of the board: temperature, frequency, throttling.

use std::path::{Path, PathBuf};

use cardmark_core::SensorSample;

use crate::Root;
use crate::root::{names_in, number_of, text_of};

/// The files that this board offers.
#[derive(Debug, Default)]
pub(super) struct BoardSensors {
    temperature: Option<PathBuf>,
    frequency: Option<PathBuf>,
    throttled: Option<PathBuf>,
    under_voltage: Option<PathBuf>,
}

impl BoardSensors {
    pub(super) fn find(root: &Root) -> Self {
        let frequency = root.path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq");
        Self {
            temperature: find_temperature(root),
            frequency: Some(frequency).filter(|path| number_of(path).is_some()),
            throttled: find_throttled(root),
            under_voltage: find_under_voltage(root),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        let all = [
            &self.temperature,
            &self.frequency,
            &self.throttled,
            &self.under_voltage,
        ];
        all.iter().all(|source| source.is_none())
    }

    /// Adds the current readings.
    pub(super) fn read(&self, sample: &mut SensorSample) {
        sample.temperature_millicelsius = self.temperature.as_deref().and_then(read_temperature);
        sample.frequency_hz = self
            .frequency
            .as_deref()
            .and_then(number_of)
            .and_then(|khz| khz.checked_mul(1000));
        sample.throttled = self.read_throttled();
    }

    /// Returns the throttling state. The flags can report yes or no, the voltage alarm alone only yes.
    fn read_throttled(&self) -> Option<bool> {
        let flags = self.throttled.as_deref().and_then(text_of);
        let flags = flags.and_then(|text| parse_throttled(&text));
        let alarm = || self.under_voltage.as_deref().and_then(number_of) == Some(1);
        flags.or_else(|| alarm().then_some(true))
    }
}

pub(super) fn read_temperature(path: &Path) -> Option<i32> {
    text_of(path)?.parse().ok()
}

/// Bits 0 to 3 of the firmware's word: under-voltage, capped, throttled, soft limit, each now.
fn parse_throttled(text: &str) -> Option<bool> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u32::from_str_radix(digits, 16)
        .ok()
        .map(|flags| flags & 0xF != 0)
}

/// The processor's zone, or else the first that can be read.
fn find_temperature(root: &Root) -> Option<PathBuf> {
    let zones = root.path("/sys/class/thermal");
    let mut names: Vec<String> = names_in(&zones);
    names.retain(|name| name.starts_with("thermal_zone"));
    names.sort_by_key(|name| (name.len(), name.clone()));
    let readable: Vec<PathBuf> = names
        .iter()
        .map(|name| zones.join(name))
        .filter(|zone| read_temperature(&zone.join("temp")).is_some())
        .collect();
    let is_processor = |zone: &&PathBuf| {
        let kind = text_of(zone.join("type"))
            .unwrap_or_default()
            .to_ascii_lowercase();
        ["cpu", "soc", "x86_pkg"]
            .iter()
            .any(|word| kind.contains(word))
    };
    let zone = readable
        .iter()
        .find(is_processor)
        .or_else(|| readable.first())?;
    Some(zone.join("temp"))
}

/// Raspberry Pi: known places, then any firmware node within two levels of the platform bus.
pub(crate) fn find_throttled(root: &Root) -> Option<PathBuf> {
    let known = root.path("/sys/devices/platform/soc/soc:firmware/get_throttled");
    if known.exists() {
        return Some(known);
    }
    let platform = root.path("/sys/devices/platform");
    let outer = names_in(&platform)
        .into_iter()
        .map(|name| platform.join(name));
    let with_inner = outer.flat_map(|bus| {
        let inner = names_in(&bus)
            .into_iter()
            .map(|name| bus.join(name))
            .collect::<Vec<_>>();
        std::iter::once(bus).chain(inner)
    });
    let is_firmware = |path: &PathBuf| path.to_str().is_some_and(|path| path.ends_with("firmware"));
    with_inner
        .filter(is_firmware)
        .map(|node| node.join("get_throttled"))
        .find(|path| path.exists())
}

/// Raspberry Pi with a kernel that has the voltage monitor only.
pub(crate) fn find_under_voltage(root: &Root) -> Option<PathBuf> {
    let monitors = root.path("/sys/class/hwmon");
    names_in(&monitors)
        .into_iter()
        .map(|name| monitors.join(name))
        .find(|monitor| text_of(monitor.join("name")).as_deref() == Some("rpi_volt"))
        .map(|monitor| monitor.join("in0_lcrit_alarm"))
        .filter(|path| path.exists())
}
