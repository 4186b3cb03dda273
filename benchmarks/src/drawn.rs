//! Courses of the rate drawn at random: cliffs, declines, dips, heat, zones and freezes anywhere.

use cardmark_core::Rng;

use crate::course::Course;
use crate::normal;

const GIB: f64 = 1024.0 * 1024.0 * 1024.0;
const MINUTE_S: f64 = 60.0;
/// Time for which dips are drawn, seconds; no series lasts longer.
const DRAWN_S: f64 = 5_000.0;

/// A block that was written.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    /// Begin, seconds.
    pub begins_s: f64,
    /// End, seconds.
    pub ends_s: f64,
    /// Offset, bytes.
    pub offset: u64,
    /// Size, bytes.
    pub bytes: u64,
}

/// A factor of the rate between two points in time.
#[derive(Clone, Copy)]
struct Dip {
    begins_s: f64,
    ends_s: f64,
    factor: f64,
}

/// A change of the rate to a multiple, in a straight line between two points in time; it stays.
#[derive(Clone, Copy)]
struct Ramp {
    begins_s: f64,
    ends_s: f64,
    factor: f64,
}

/// A card whose course was drawn.
#[derive(Clone)]
pub struct Drawn {
    rng: Rng,
    now_s: f64,
    written: f64,
    capacity_bytes: f64,
    /// Rate without anything else, MB/s.
    base: f64,
    /// Deviation of the logarithm of each block's time.
    noise: f64,
    /// Bytes after which the rate falls, and to what multiple.
    cliffs: Vec<(f64, f64)>,
    ramps: Vec<Ramp>,
    dips: Vec<Dip>,
    /// Factors of equal parts of the address space.
    zones: Vec<f64>,
    /// Probability of a stall, and its maximum in seconds.
    stalls: (f64, f64),
    /// Time of a flush, seconds.
    flush_s: f64,
    /// All writes.
    pub writes: Vec<Write>,
    /// Ends of the flushes, seconds.
    pub flushes_s: Vec<f64>,
}

type Draw = fn(&mut Drawn);

/// Names of the kinds, and what is drawn for each.
const KINDS: [(&str, Draw); 20] = [
    ("flat", |_| {}),
    ("a cliff anywhere", |it| it.draw_cliffs(1, 1.2)),
    ("two cliffs", |it| it.draw_cliffs(2, 0.8)),
    ("four cliffs", |it| it.draw_cliffs(4, 1.0)),
    ("a cliff behind the default amount", |it| {
        let at = it.within(0.10, 0.16) * it.capacity_bytes;
        let factor = it.within(0.1, 0.6);
        it.cliffs.push((at, factor));
    }),
    ("a small cache", |it| {
        let at = it.within(0.05, 3.0) * GIB;
        let factor = it.within(0.1, 0.7);
        it.cliffs.push((at, factor));
    }),
    ("heat at any minute", Drawn::draw_heat),
    ("heat that comes and goes", |it| {
        let (period, part) = (it.within(180.0, 900.0), it.within(0.2, 0.6));
        let factor = it.within(0.3, 0.8);
        it.repeat(|_| period, move |_| part * period, move |_| factor);
    }),
    ("slow decline", |it| {
        let factor = it.within(0.3, 0.85);
        it.ramp(0.0, 60.0 * MINUTE_S, factor);
    }),
    ("late decline", |it| {
        let begins_s = it.within(3.0, 30.0) * MINUTE_S;
        let factor = it.within(0.3, 0.8);
        it.ramp(begins_s, 40.0 * MINUTE_S, factor);
    }),
    ("staircase down", |it| {
        let (step_s, factor) = (it.within(2.0, 8.0) * MINUTE_S, it.within(0.85, 0.96));
        for step in 1..=12 {
            it.ramp(f64::from(step) * step_s, 1.0, factor);
        }
    }),
    ("rare dips", |it| {
        it.repeat(
            |it| it.within(60.0, 400.0),
            |it| it.within(5.0, 50.0),
            |it| it.within(0.05, 0.6),
        );
    }),
    ("one dip of a minute or more", |it| {
        let (begins_s, span_s) = (it.within(0.0, 2400.0), it.within(60.0, 240.0));
        let factor = it.within(0.02, 0.6);
        it.dip(begins_s, span_s, factor);
    }),
    ("one dip of less than a minute", |it| {
        let (begins_s, span_s) = (it.within(0.0, 280.0), it.within(3.0, 59.0));
        let factor = it.within(0.02, 0.5);
        it.dip(begins_s, span_s, factor);
    }),
    ("zones by address", Drawn::draw_zones),
    ("growing periods", |it| {
        let (first_s, growth) = (it.within(5.0, 20.0), it.within(1.05, 1.3));
        let factor = it.within(0.1, 0.5);
        let (mut at_s, mut span_s) = (0.0, first_s);
        while at_s < DRAWN_S && span_s < 600.0 {
            it.dip(at_s, 0.5 * span_s, factor);
            at_s += span_s;
            span_s *= growth;
        }
    }),
    ("slow recovery", |it| {
        let (factor, over) = (it.within(1.3, 4.0), it.within(3.0, 40.0) * MINUTE_S);
        it.base /= factor;
        it.ramp(0.0, over, factor);
    }),
    ("stalls of up to 25 s", |it| {
        it.stalls = (it.within(0.000_2, 0.003), it.within(1.0, 25.0));
    }),
    ("a freeze in the last flush", |it| {
        it.flush_s = it.within(5.0, 28.0);
    }),
    ("all at once", |it| {
        it.draw_cliffs(2, 1.0);
        it.draw_heat();
        it.draw_zones();
        it.repeat(
            |it| it.within(100.0, 900.0),
            |it| it.within(2.0, 90.0),
            |it| it.within(0.05, 0.8),
        );
        it.stalls = (0.000_3, it.within(1.0, 20.0));
        it.flush_s = it.within(0.0, 15.0);
    }),
];

/// Number of kinds of courses.
pub const KINDS_COUNT: usize = KINDS.len();

/// Returns the name of a kind of course.
pub fn kind_name(kind: usize) -> &'static str {
    KINDS[kind].0
}

impl Drawn {
    /// Draws a course of this kind for storage of this size.
    #[must_use]
    pub fn new(kind: usize, seed: u64, capacity_bytes: u64) -> Self {
        let mut it = Self {
            rng: Rng::for_part(seed, "drawn", kind as u64),
            now_s: 0.0,
            written: 0.0,
            capacity_bytes: capacity_bytes as f64,
            base: 0.0,
            noise: 0.0,
            cliffs: Vec::new(),
            ramps: Vec::new(),
            dips: Vec::new(),
            zones: Vec::new(),
            stalls: (0.0, 0.0),
            flush_s: 0.001,
            writes: Vec::new(),
            flushes_s: Vec::new(),
        };
        it.base = 8.0 * (it.within(0.0, 2.4)).exp();
        it.noise = it.within(0.01, 0.10);
        KINDS[kind].1(&mut it);
        it
    }

    fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.rng.unit()
    }

    fn draw_cliffs(&mut self, count: usize, until: f64) {
        for _ in 0..count {
            let at = self.within(0.005, until) * self.capacity_bytes;
            let factor = self.within(0.25, 0.9);
            self.cliffs.push((at, factor));
        }
    }

    fn draw_heat(&mut self) {
        let (begins_s, over_s) = (self.within(0.5, 50.0) * MINUTE_S, self.within(1.0, 180.0));
        let factor = self.within(0.4, 0.9);
        self.ramp(begins_s, over_s, factor);
    }

    fn draw_zones(&mut self) {
        let count = 2 + self.rng.below(7);
        self.zones = (0..count).map(|_| self.within(0.4, 1.0)).collect();
    }

    fn ramp(&mut self, begins_s: f64, over_s: f64, factor: f64) {
        let ends_s = begins_s + over_s;
        self.ramps.push(Ramp {
            begins_s,
            ends_s,
            factor,
        });
    }

    fn dip(&mut self, begins_s: f64, span_s: f64, factor: f64) {
        self.dips.push(Dip {
            begins_s,
            ends_s: begins_s + span_s,
            factor,
        });
    }

    /// Draws dips one after the other: time between them, their length, and their factor.
    fn repeat(
        &mut self,
        between: impl Fn(&mut Self) -> f64,
        length: impl Fn(&mut Self) -> f64,
        factor: impl Fn(&mut Self) -> f64,
    ) {
        let mut at_s = self.rng.unit() * between(self);
        while at_s < DRAWN_S {
            let (span_s, factor) = (length(self), factor(self));
            self.dip(at_s, span_s, factor);
            at_s += span_s.max(between(self));
        }
    }

    fn mb_per_s(&self, offset: u64) -> f64 {
        let fallen = self.cliffs.iter().filter(|(at, _)| self.written >= *at);
        let cliffs: f64 = fallen.map(|(_, factor)| factor).product();
        let ramped = |ramp: &Ramp| {
            let share = (self.now_s - ramp.begins_s) / (ramp.ends_s - ramp.begins_s);
            1.0 + (ramp.factor - 1.0) * share.clamp(0.0, 1.0)
        };
        let ramps: f64 = self.ramps.iter().map(ramped).product();
        let is_in = |dip: &&Dip| (dip.begins_s..dip.ends_s).contains(&self.now_s);
        let dips: f64 = self
            .dips
            .iter()
            .filter(is_in)
            .map(|dip| dip.factor)
            .product();
        (self.base * cliffs * ramps * dips * self.zone(offset)).max(0.5)
    }

    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an index"
    )]
    fn zone(&self, offset: u64) -> f64 {
        if self.zones.is_empty() {
            return 1.0;
        }
        let part = offset as f64 / self.capacity_bytes * self.zones.len() as f64;
        self.zones[(part as usize).min(self.zones.len() - 1)]
    }
}

impl Course for Drawn {
    fn write(&mut self, offset: u64, bytes: u64) {
        let noise = (self.noise * normal(&mut self.rng)).exp();
        let mut span_s = bytes as f64 / 1e6 / self.mb_per_s(offset) * noise;
        if self.rng.unit() < self.stalls.0 {
            span_s += self.stalls.1 * self.rng.unit();
        }
        let begins_s = self.now_s;
        self.now_s += span_s;
        self.written += bytes as f64;
        self.writes.push(Write {
            begins_s,
            ends_s: self.now_s,
            offset,
            bytes,
        });
    }

    fn flush(&mut self) {
        self.now_s += self.flush_s;
        self.flushes_s.push(self.now_s);
    }

    fn rest(&mut self, span_s: f64) {
        self.now_s += span_s;
    }

    fn now_s(&self) -> f64 {
        self.now_s
    }
}
