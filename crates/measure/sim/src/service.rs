//! Cost of one operation: the resolved form of a model's service times.

use cardmark_core::Rng;

use crate::body::Body;

/// Number of nodes at which the body is sampled if a pause is added to it.
const BODY_NODES: u32 = 64;

/// Rare pause on top of the ordinary span, evenly distributed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stall {
    pub(crate) probability: f64,
    pub(crate) shortest_ns: f64,
    pub(crate) longest_ns: f64,
}

impl Stall {
    fn mean_ns(self) -> f64 {
        self.probability * 0.5 * (self.shortest_ns + self.longest_ns)
    }

    #[inline]
    fn draw(self, rng: &mut Rng) -> f64 {
        // One draw serves both: below the probability it is even once more.
        let share = rng.unit();
        if share >= self.probability {
            return 0.0;
        }
        self.shortest_ns + (self.longest_ns - self.shortest_ns) * (share / self.probability)
    }
}

/// Service of one kind of operation in one order.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    pub(crate) setup_ns: f64,
    pub(crate) transfer_ns_per_byte: f64,
    /// Growth of the setup with every further channel at work.
    pub(crate) crowding: f64,
    pub(crate) body: Body,
    pub(crate) stall: Option<Stall>,
}

impl Service {
    /// Mean of the ordinary span with `busy` channels at work: setups overlap, transfers share one
    /// bus.
    #[inline]
    pub(crate) fn ordinary_ns(&self, bytes: u64, busy: usize) -> f64 {
        let busy = busy as f64;
        self.setup_ns * (1.0 + (busy - 1.0) * self.crowding)
            + self.transfer_ns_per_byte * bytes as f64 * busy
    }

    /// Mean span, pauses included.
    pub(crate) fn mean_ns(&self, bytes: u64, busy: usize) -> f64 {
        self.ordinary_ns(bytes, busy) + self.stall.map_or(0.0, Stall::mean_ns)
    }

    /// Share of the spans that are at most so long, of operations whose ordinary span this is.
    pub(crate) fn share_up_to(&self, ordinary_ns: f64, span_ns: f64) -> f64 {
        let ordinary = self.body.share_up_to(span_ns / ordinary_ns);
        let Some(stall) = self.stall else {
            return ordinary;
        };
        let range_ns = stall.longest_ns - stall.shortest_ns;
        let paused = |node: u32| {
            let share = (f64::from(node) + 0.5) / f64::from(BODY_NODES);
            let body_ns = ordinary_ns * self.body.quantile(share);
            ((span_ns - body_ns - stall.shortest_ns) / range_ns).clamp(0.0, 1.0)
        };
        let paused = (0..BODY_NODES).map(paused).sum::<f64>() / f64::from(BODY_NODES);
        (1.0 - stall.probability) * ordinary + stall.probability * paused
    }

    /// Share of the ordinary span with `busy` channels at work in which the bus moves something for
    /// this one.
    pub(crate) fn moving_share(&self, bytes: u64, busy: usize) -> f64 {
        self.transfer_ns_per_byte * bytes as f64 / self.ordinary_ns(bytes, busy)
    }

    /// Draws the span of a piece that was cut off a request and needs no setup.
    pub(crate) fn draw_rest_ns(&self, bytes: u64, busy: usize, rng: &mut Rng) -> f64 {
        self.transfer_ns_per_byte * bytes as f64 * busy as f64 * self.body.draw(rng)
    }

    /// Draws a span.
    #[inline]
    pub(crate) fn draw_ns(&self, bytes: u64, busy: usize, rng: &mut Rng) -> f64 {
        let ordinary_ns = self.ordinary_ns(bytes, busy) * self.body.draw(rng);
        match self.stall {
            Some(stall) => ordinary_ns + stall.draw(rng),
            None => ordinary_ns,
        }
    }
}

/// A span to whole nanoseconds, at least one, so that time always moves.
#[inline]
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "spans are positive and far below 2^53 ns; the cast saturates"
)]
pub(crate) fn to_ns(span_ns: f64) -> u64 {
    ((span_ns + 0.5) as u64).max(1)
}
