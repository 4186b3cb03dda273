//! The simulated board: its temperature, and whether it slows itself down.

use cardmark_core::{SECOND_NS, SensorSample};

use crate::data::HeatData;

/// Temperature that follows the card's activity, read and updated once a second.
#[derive(Clone, Debug)]
pub(crate) struct Heat {
    data: HeatData,
    approach: f64,
    temperature_c: f64,
    throttled: bool,
    busy_ns: u64,
    next_ns: u64,
    samples: Vec<SensorSample>,
}

impl Heat {
    pub(crate) fn new(data: HeatData) -> Self {
        Self {
            data,
            approach: 1.0 - libm::exp(-1.0 / data.time_constant_s),
            temperature_c: data.start_c,
            throttled: false,
            busy_ns: 0,
            next_ns: 0,
            samples: Vec::new(),
        }
    }

    /// Factor on every span now.
    #[inline]
    pub(crate) fn slowdown(&self) -> f64 {
        if self.throttled {
            self.data.slowdown
        } else {
            1.0
        }
    }

    /// Advances the time, with the card at work or not.
    #[inline]
    pub(crate) fn pass(&mut self, from_ns: u64, to_ns: u64, busy: bool) {
        let mut at_ns = from_ns;
        while self.next_ns <= to_ns {
            if busy {
                self.busy_ns += self.next_ns.saturating_sub(at_ns);
            }
            at_ns = self.next_ns;
            self.read();
        }
        if busy {
            self.busy_ns += to_ns - at_ns;
        }
    }

    /// Readings since the last call.
    pub(crate) fn take(&mut self) -> Vec<SensorSample> {
        std::mem::take(&mut self.samples)
    }

    fn read(&mut self) {
        if self.next_ns > 0 {
            let busy_share = self.busy_ns as f64 / SECOND_NS as f64;
            let goal_c = self.data.idle_c + (self.data.busy_c - self.data.idle_c) * busy_share;
            self.temperature_c += (goal_c - self.temperature_c) * self.approach;
        }
        // Two degrees between on and off, or it would flutter.
        let limit_c = self.data.limit_c - if self.throttled { 2.0 } else { 0.0 };
        self.throttled = self.temperature_c >= limit_c;
        self.samples.push(SensorSample {
            at_ns: self.next_ns,
            temperature_millicelsius: Some(to_millidegrees(self.temperature_c)),
            frequency_hz: Some(if self.throttled {
                600_000_000
            } else {
                1_500_000_000
            }),
            throttled: Some(self.throttled),
            ..SensorSample::default()
        });
        self.busy_ns = 0;
        self.next_ns += SECOND_NS;
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the cast saturates, far from any temperature"
)]
fn to_millidegrees(temperature_c: f64) -> i32 {
    libm::round(temperature_c * 1_000.0) as i32
}
