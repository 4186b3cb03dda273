//! From figures to places, and where the ticks are.

use crate::text::figure;

/// Ticks that an axis has at most.
const MOST_TICKS: f64 = 6.0;
/// Ticks that a logarithmic axis has if there is space, and their least distance.
const LEAST_TICKS: usize = 3;
const LEAST_SPACE: f64 = 36.0;

/// Space of a fitted axis beyond its figures, as a factor, and its least length, as one.
const FITTED_SPACE: f64 = 1.15;
const LEAST_FACTOR: f64 = 2.0;

/// Mapping of figures to positions between two ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
    is_log: bool,
}

impl Scale {
    /// From zero to at least `most`, evenly.
    pub(super) fn linear(most: f64, start: f64, end: f64) -> Self {
        let most = if most > 0.0 && most.is_finite() {
            most
        } else {
            1.0
        };
        let step = step(most);
        Self {
            from: 0.0,
            to: (most / step - 1e-9).ceil() * step,
            start,
            end,
            is_log: false,
        }
    }

    /// Between powers of ten, or halves of them, around these positive figures.
    pub(super) fn logarithmic(least: f64, most: f64, start: f64, end: f64) -> Self {
        let (least, most) = if least > 0.0 && most >= least && most.is_finite() {
            (least, most)
        } else {
            (1.0, 10.0)
        };
        let from = below(least);
        let to = above(most).max(10.0 * from);
        Self {
            from,
            to,
            start,
            end,
            is_log: true,
        }
    }

    /// A little beyond these positive figures on both sides, without round ends; at least a factor of two.
    pub(super) fn fitted(least: f64, most: f64, start: f64, end: f64) -> Self {
        let is_drawable = least > 0.0 && most >= least && most.is_finite();
        let (least, most) = if is_drawable {
            (least, most)
        } else {
            (1.0, 10.0)
        };
        let middle = libm::sqrt(least * most);
        let half = (FITTED_SPACE * libm::sqrt(most / least)).max(libm::sqrt(LEAST_FACTOR));
        Self {
            from: middle / half,
            to: middle * half,
            start,
            end,
            is_log: true,
        }
    }

    /// True if the scale reaches a figure.
    pub(super) fn holds(&self, value: f64) -> bool {
        (self.from..=self.to).contains(&value)
    }

    /// The place of a figure.
    pub(super) fn place(&self, value: f64) -> f64 {
        let share = if self.is_log {
            libm::log10(value.max(self.from) / self.from) / libm::log10(self.to / self.from)
        } else {
            (value - self.from) / (self.to - self.from)
        };
        self.start + share.clamp(0.0, 1.0) * (self.end - self.start)
    }

    /// Figures to be written at the axis.
    pub(super) fn ticks(&self) -> Vec<f64> {
        if self.is_log {
            let count = libm::log10(self.to / self.from);
            return decades(self.from, self.to, (self.end - self.start).abs() / count);
        }
        let step = step(self.to);
        let count = (self.to / step + 0.5).floor();
        let mut ticks = Vec::new();
        let mut index = 0.0;
        while index <= count {
            ticks.push(index * step);
            index += 1.0;
        }
        ticks
    }
}

/// A tick as text.
pub(super) fn tick(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let text = figure(value);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// The power of ten that is not above a figure; the same on each platform.
fn power_below(value: f64) -> f64 {
    libm::exp10(libm::floor(libm::log10(value)))
}

/// 1, 2 or 5 times a power of ten, so that there are few ticks up to `most`.
fn step(most: f64) -> f64 {
    let raw = most / MOST_TICKS;
    let power = power_below(raw);
    let choices = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    choices
        .into_iter()
        .find(|step| most / step <= MOST_TICKS)
        .unwrap_or(10.0 * power)
}

/// The largest of 1, 2, 5 times a power of ten that is not above.
fn below(value: f64) -> f64 {
    let power = power_below(value);
    let choices = [5.0, 2.0, 1.0].map(|factor| factor * power);
    choices
        .into_iter()
        .find(|choice| *choice <= value * (1.0 + 1e-9))
        .unwrap_or(power)
}

/// The smallest of 1, 2, 5 times a power of ten that is not below.
fn above(value: f64) -> f64 {
    let power = power_below(value);
    let choices = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    choices
        .into_iter()
        .find(|choice| *choice >= value * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

/// Multiples of each power of ten: the fewest that give three ticks and have this space for each decade.
fn decades(from: f64, to: f64, space: f64) -> Vec<f64> {
    const CHOICES: [&[f64]; 5] = [
        &[1.0],
        &[1.0, 3.0],
        &[1.0, 2.0, 5.0],
        &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
        &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0],
    ];
    let least_ratio = libm::exp10(LEAST_SPACE / space);
    let fits = |factors: &&&[f64]| {
        let ends = factors.iter().skip(1).copied().chain([10.0]);
        let mut steps = factors.iter().zip(ends).map(|(low, high)| high / low);
        steps.all(|step| step >= least_ratio)
    };
    let mut best = ticks_of(CHOICES[0], from, to);
    for factors in CHOICES.iter().filter(fits) {
        let ticks = ticks_of(factors, from, to);
        let is_better = best.len() < LEAST_TICKS && ticks.len() > best.len();
        // One, two and five are what axes are read by.
        if is_better || (factors.len() == 3 && ticks.len() >= LEAST_TICKS) {
            best = ticks;
        }
    }
    best
}

fn ticks_of(factors: &[f64], from: f64, to: f64) -> Vec<f64> {
    let mut power = power_below(from);
    let mut ticks = Vec::new();
    while power <= to * (1.0 + 1e-9) {
        let inside = |tick: &f64| *tick >= from * (1.0 - 1e-9) && *tick <= to * (1.0 + 1e-9);
        ticks.extend(factors.iter().map(|factor| factor * power).filter(inside));
        power *= 10.0;
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_ticks_are_round_and_reach_the_most() {
        for (most, last) in [
            (17.0, 20.0),
            (92.58, 100.0),
            (3.0, 3.0),
            (0.17, 0.2),
            (4112.0, 5000.0),
        ] {
            let scale = Scale::linear(most, 0.0, 100.0);
            let ticks = scale.ticks();
            assert!(
                (ticks.last().unwrap() - last).abs() < 1e-9,
                "{most}: {ticks:?}"
            );
            assert!((2..=7).contains(&ticks.len()), "{most}: {ticks:?}");
            assert!((scale.place(0.0), scale.place(last)) == (0.0, 100.0));
        }
    }

    #[test]
    fn logarithmic_ticks_span_the_figures() {
        let scale = Scale::logarithmic(0.17, 3.0, 300.0, 0.0);
        let ticks = scale.ticks();
        assert!(
            ticks[0] <= 0.17 && *ticks.last().unwrap() >= 3.0,
            "{ticks:?}"
        );
        assert!(scale.place(0.17) > scale.place(3.0));
        let middle = Scale::logarithmic(1.0, 100.0, 0.0, 10.0).place(10.0);
        assert!((middle - 5.0).abs() < 1e-9);
    }

    #[test]
    fn ticks_of_a_logarithmic_axis_leave_space_for_their_figures() {
        for length in [250.0, 300.0, 680.0] {
            for decades in 1..8 {
                let scale = Scale::logarithmic(0.02, 0.02 * 10_f64.powi(decades), 0.0, length);
                let ticks = scale.ticks();
                assert!(ticks.len() >= 2, "{length} {decades}: {ticks:?}");
                for pair in ticks.windows(2) {
                    let space = scale.place(pair[1]) - scale.place(pair[0]);
                    assert!(space >= 30.0, "{length} {decades}: {ticks:?}");
                }
            }
        }
    }

    #[test]
    fn a_fitted_axis_ends_shortly_behind_its_figures_and_has_ticks() {
        for (least, most) in [
            (86.0, 2225.0),
            (978.0, 978.0),
            (3.1, 5.9),
            (0.17, 3.0),
            (950.0, 1100.0),
        ] {
            let scale = Scale::fitted(least, most, 0.0, 600.0);
            assert!(scale.holds(least) && scale.holds(most));
            if most > 2.0 * least {
                assert!(!scale.holds(1.2 * most) && !scale.holds(least / 1.2));
            }
            let ticks = scale.ticks();
            assert!((2..=12).contains(&ticks.len()), "{least} {most}: {ticks:?}");
            assert!(ticks.iter().all(|tick| scale.holds(*tick)));
        }
    }

    #[test]
    fn figures_that_cannot_be_drawn_do_not_break_the_scale() {
        for scale in [
            Scale::linear(0.0, 0.0, 1.0),
            Scale::linear(f64::NAN, 0.0, 1.0),
            Scale::logarithmic(0.0, 1.0, 0.0, 1.0),
            Scale::logarithmic(5.0, f64::INFINITY, 0.0, 1.0),
            Scale::fitted(f64::NAN, 0.0, 0.0, 600.0),
        ] {
            assert!(scale.ticks().len() >= 2);
            assert!(scale.place(3.0).is_finite() && scale.place(-1.0).is_finite());
        }
    }
}
