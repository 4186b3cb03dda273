//! End of a series of writes if the measured rate determines it.

use cardmark_core::{LeastWritten, Refill, SECOND_NS, StopRule};
use cardmark_stats::{has_fallen_back, is_settled, settle_round_ns};

use crate::tally::Tally;

/// After the minimum amount, the rate is tested at fixed points, each at this percentage of the one before.
/// Testing all the time would end the series at the first steady minute by chance.
const LATER_PERCENT: u64 = 120;
/// Interval at which the rate after a rest is tested for a drop, nanoseconds.
const REFILL_LOOK_NS: u64 = SECOND_NS;

/// Rule of one trial, and the time of its next test.
pub(crate) struct Ending {
    stop: StopRule,
    way: Check,
    next_look_ns: u64,
}

#[derive(Clone, Copy)]
enum Check {
    /// Tests every round.
    Rounds(u64),
    /// Tests at fixed points after the minimum amount.
    Least(LeastWritten),
    /// Tests every second.
    Refill(Refill),
}

impl Ending {
    /// Returns the rule of a workload whose rate determines its end; `None` for others.
    pub(crate) fn of(stop: StopRule) -> Option<Self> {
        let way = match (stop.settled_span_ns, stop.least_written, stop.refill) {
            (Some(_), Some(least), _) => Check::Least(least),
            (Some(settled_ns), None, _) => Check::Rounds(settle_round_ns(settled_ns).max(1)),
            (None, _, Some(refill)) => Check::Refill(refill),
            (None, _, None) => return None,
        };
        let next_look_ns = match way {
            Check::Rounds(round_ns) => round_ns,
            Check::Least(_) | Check::Refill(_) => 0,
        };
        Some(Self {
            stop,
            way,
            next_look_ns,
        })
    }

    /// True if the trial ends now.
    #[inline(always)]
    pub(crate) fn is_over(&mut self, at_ns: u64, tally: &Tally) -> bool {
        at_ns >= self.next_look_ns && self.look(at_ns, tally)
    }

    #[cold]
    fn look(&mut self, at_ns: u64, tally: &Tally) -> bool {
        match self.way {
            Check::Rounds(round_ns) => {
                self.next_look_ns = at_ns - at_ns % round_ns + round_ns;
                let has_least = self.stop.has_least(at_ns, tally.operations_count());
                has_least && self.has_settled(tally)
            }
            Check::Least(least) => {
                if !least.is_reached(at_ns, tally.bytes()) {
                    self.next_look_ns = at_ns + SECOND_NS / 10;
                    return false;
                }
                self.next_look_ns = at_ns / 100 * LATER_PERCENT;
                self.has_settled(tally)
            }
            Check::Refill(refill) => {
                self.next_look_ns = at_ns + REFILL_LOOK_NS;
                let slices = tally.slices();
                has_fallen_back(slices.full(), slices.span_ns(), refill)
            }
        }
    }

    fn has_settled(&self, tally: &Tally) -> bool {
        let slices = tally.slices();
        is_settled(slices.full(), slices.span_ns(), &self.stop)
    }
}
