//! Slow swaying of the card's rate: a stationary process in virtual time.
//!
//! The rate is constant over steps of 10 ms; its logarithm is a first-order autoregression and its
//! mean is exactly one. Work is integrated over it, so that operations of any length, however they
//! lie to the steps, leave the long-run rate at mean rate ÷ mean work.

use cardmark_core::Rng;

use crate::body::draw_normal;
use crate::service::to_ns;

/// Length of a step.
const STEP_NS: u64 = 10_000_000;
/// Steps that are remembered, because channels look ahead by different spans.
const KEPT: usize = 64;
/// After this many steps without a draw nothing of the past is left, at least.
const FORGOTTEN_STEPS: u64 = 4_096;
/// After this many correlation times as well.
const FORGOTTEN_TIMES: f64 = 20.0;

#[derive(Clone, Debug)]
pub(crate) struct Sway {
    deviation: f64,
    memory: f64,
    renewal: f64,
    level: f64,
    newest: u64,
    forgotten_steps: u64,
    rates: [f64; KEPT],
    rng: Rng,
}

impl Sway {
    /// Swaying by this standard deviation of the logarithm, forgotten after this span.
    pub(crate) fn new(deviation: f64, correlation_ns: f64, mut rng: Rng) -> Self {
        let memory = libm::exp(-(STEP_NS as f64) / correlation_ns);
        let renewal = libm::sqrt(1.0 - memory * memory);
        let level = draw_normal(&mut rng);
        let mut sway = Self {
            deviation,
            memory,
            renewal,
            level,
            newest: 0,
            forgotten_steps: FORGOTTEN_STEPS.max(to_ns(FORGOTTEN_TIMES * correlation_ns) / STEP_NS),
            rates: [1.0; KEPT],
            rng,
        };
        sway.rates[0] = sway.rate_of_level();
        sway
    }

    /// Returns the completion time of work begun at `start_ns`; `work_ns` is its span at rate one.
    pub(crate) fn finish(&mut self, start_ns: u64, work_ns: f64) -> u64 {
        let mut step = start_ns / STEP_NS;
        let mut now_ns = start_ns;
        let mut left_ns = work_ns;
        loop {
            let end_ns = (step + 1) * STEP_NS;
            let rate = self.rate(step);
            let possible_ns = (end_ns - now_ns) as f64 * rate;
            if left_ns <= possible_ns {
                return now_ns + to_ns(left_ns / rate);
            }
            left_ns -= possible_ns;
            now_ns = end_ns;
            step += 1;
        }
    }

    fn rate(&mut self, step: u64) -> f64 {
        if step > self.newest + self.forgotten_steps {
            self.newest = step - 1;
            self.level = draw_normal(&mut self.rng);
        }
        while self.newest < step {
            self.newest += 1;
            self.level = self.memory * self.level + self.renewal * draw_normal(&mut self.rng);
            self.rates[Self::place(self.newest)] = self.rate_of_level();
        }
        self.rates[Self::place(step)]
    }

    fn rate_of_level(&self) -> f64 {
        libm::exp(self.deviation * self.level - 0.5 * self.deviation * self.deviation)
    }

    fn place(step: u64) -> usize {
        usize::try_from(step % KEPT as u64).unwrap_or(0)
    }
}
