//! Temperature, frequency and throttling of the board, once a second.

use std::fmt;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use cardmark_core::SensorSample;
use cardmark_engine::Sensors;

use crate::Root;
use crate::root::{names_in, number_of, text_of};

const PERIOD: Duration = Duration::from_secs(1);
/// A day of readings; older ones are kept, newer ones dropped where nobody takes them.
const MOST_SAMPLES: usize = 86_400;

/// Reads the board's sensors in a thread, once a second from the start on. Where the board offers
/// none there is no thread and there are no readings.
pub struct HostSensors {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    stop: Condvar,
}

#[derive(Default)]
struct State {
    samples: Vec<SensorSample>,
    is_stopped: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HostSensors {
    /// Begins to read; `now` tells the nanoseconds of the engine's clock.
    #[must_use]
    pub fn start(root: &Root, now: Box<dyn Fn() -> u64 + Send>) -> Self {
        Self::start_with_period(root, now, PERIOD)
    }

    fn start_with_period(root: &Root, now: Box<dyn Fn() -> u64 + Send>, period: Duration) -> Self {
        let shared = Arc::new(Shared::default());
        let sources = Sources::find(root);
        if sources.is_empty() {
            return Self {
                shared,
                thread: None,
            };
        }
        let theirs = Arc::clone(&shared);
        let watch = move || watch(&theirs, &sources, &*now, period);
        let thread = Builder::new().name("sensors".to_owned()).spawn(watch).ok();
        Self { shared, thread }
    }
}

impl Sensors for HostSensors {
    fn take(&mut self) -> Vec<SensorSample> {
        mem::take(&mut self.shared.lock().samples)
    }
}

impl Drop for HostSensors {
    fn drop(&mut self) {
        self.shared.lock().is_stopped = true;
        self.shared.stop.notify_all();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl fmt::Debug for HostSensors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostSensors")
            .field("is_reading", &self.thread.is_some())
            .finish()
    }
}

fn watch(shared: &Shared, sources: &Sources, now: &dyn Fn() -> u64, period: Duration) {
    loop {
        // Read without the lock: firmware may take its time.
        let sample = sources.read(now());
        let mut state = shared.lock();
        if let Some(sample) = sample
            && state.samples.len() < MOST_SAMPLES
        {
            state.samples.push(sample);
        }
        let waited = shared
            .stop
            .wait_timeout_while(state, period, |state| !state.is_stopped);
        if waited.unwrap_or_else(PoisonError::into_inner).0.is_stopped {
            return;
        }
    }
}

/// The files that this board offers.
#[derive(Debug, Default)]
struct Sources {
    temperature: Option<PathBuf>,
    frequency: Option<PathBuf>,
    throttled: Option<PathBuf>,
    under_voltage: Option<PathBuf>,
}

impl Sources {
    fn find(root: &Root) -> Self {
        let frequency = root.path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq");
        Self {
            temperature: find_temperature(root),
            frequency: Some(frequency).filter(|path| number_of(path).is_some()),
            throttled: find_throttled(root),
            under_voltage: find_under_voltage(root),
        }
    }

    fn is_empty(&self) -> bool {
        let all = [
            &self.temperature,
            &self.frequency,
            &self.throttled,
            &self.under_voltage,
        ];
        all.iter().all(|source| source.is_none())
    }

    fn read(&self, at_ns: u64) -> Option<SensorSample> {
        let sample = SensorSample {
            at_ns,
            temperature_mc: self.temperature.as_deref().and_then(read_temperature),
            frequency_hz: self
                .frequency
                .as_deref()
                .and_then(number_of)
                .and_then(|khz| khz.checked_mul(1000)),
            throttled: self.read_throttled(),
            ..SensorSample::default()
        };
        (sample
            != SensorSample {
                at_ns,
                ..SensorSample::default()
            })
        .then_some(sample)
    }

    /// The flags say yes or no. The voltage alarm alone can say yes only.
    fn read_throttled(&self) -> Option<bool> {
        let flags = self.throttled.as_deref().and_then(text_of);
        let flags = flags.and_then(|text| parse_throttled(&text));
        let alarm = || self.under_voltage.as_deref().and_then(number_of) == Some(1);
        flags.or_else(|| alarm().then_some(true))
    }
}

fn read_temperature(path: &Path) -> Option<i32> {
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

#[cfg(test)]
mod tests;
