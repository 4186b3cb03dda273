//! Readings of board and device: once a second, and whenever the engine asks.

mod board;
mod counts;
mod sources;

use std::fmt;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use cardmark_core::SensorSample;
use cardmark_engine::Sensors;

use crate::Root;
pub(crate) use board::{find_throttled, find_under_voltage};
pub(crate) use counts::TICK_NS;
use sources::Sources;

pub(crate) const PERIOD: Duration = Duration::from_secs(1);
/// One day of readings; if they are not collected, older ones are kept and newer ones dropped.
pub(crate) const MOST_SAMPLES: usize = 86_400;

/// Reads the sensors in a thread, once a second from the start on, and whenever they are collected. If the host
/// has none, no thread is started and no readings exist.
pub struct HostSensors {
    shared: Option<Arc<Shared>>,
}

struct Shared {
    now: Box<dyn Fn() -> u64 + Send + Sync>,
    /// Locked from the reading until the sample is stored: readings come in the order of time.
    sources: Mutex<Sources>,
    state: Mutex<State>,
    stop: Condvar,
}

#[derive(Default)]
struct State {
    samples: Vec<SensorSample>,
    is_stopped: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, sources: &mut Sources) {
        let sample = sources.read((self.now)());
        let mut state = self.state();
        if let Some(sample) = sample
            && state.samples.len() < MOST_SAMPLES
        {
            state.samples.push(sample);
        }
    }

    fn watch(&self, period: Duration) {
        loop {
            let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
            self.read(&mut sources);
            drop(sources);
            let waited = self
                .stop
                .wait_timeout_while(self.state(), period, |state| !state.is_stopped);
            if waited.unwrap_or_else(PoisonError::into_inner).0.is_stopped {
                return;
            }
        }
    }
}

impl HostSensors {
    /// Starts to read the board and the messages about the disks of these names; `now` returns the nanoseconds
    /// of the engine's clock.
    #[must_use]
    pub fn start(root: &Root, disks: &[String], now: Box<dyn Fn() -> u64 + Send + Sync>) -> Self {
        Self::start_with_period(root, disks, now, PERIOD)
    }

    fn start_with_period(
        root: &Root,
        disks: &[String],
        now: Box<dyn Fn() -> u64 + Send + Sync>,
        period: Duration,
    ) -> Self {
        let sources = Sources::find(root, disks);
        if sources.is_empty() {
            return Self { shared: None };
        }
        let shared = Arc::new(Shared {
            now,
            sources: Mutex::new(sources),
            state: Mutex::default(),
            stop: Condvar::new(),
        });
        let theirs = Arc::clone(&shared);
        // The thread is not joined: a device that hangs may delay its reading. Without the thread, readings are
        // still taken on request.
        drop(
            Builder::new()
                .name("sensors".to_owned())
                .spawn(move || theirs.watch(period)),
        );
        Self {
            shared: Some(shared),
        }
    }
}

impl Sensors for HostSensors {
    fn take(&mut self) -> Vec<SensorSample> {
        let Some(shared) = &self.shared else {
            return Vec::new();
        };
        // A reading under way is as good as one of now, and may hang with its device.
        if let Ok(mut sources) = shared.sources.try_lock() {
            shared.read(&mut sources);
        }
        mem::take(&mut shared.state().samples)
    }
}

impl Drop for HostSensors {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            shared.state().is_stopped = true;
            shared.stop.notify_all();
        }
    }
}

impl fmt::Debug for HostSensors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostSensors")
            .field("is_reading", &self.shared.is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests;
