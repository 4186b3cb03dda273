//! Ranges of places in a ranking.

use std::ops::RangeInclusive;

use crate::{COMPARISON_LEVEL, KnownSpread, student_t};

/// A figure of a ranking with the spread of its mean between runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// The figure, above 0.
    pub value: f64,
    /// Number of runs behind it, at least 1.
    pub runs_count: usize,
    /// Published spread of the metric's class; `None` if unknown.
    pub spread: Option<KnownSpread>,
    /// Method of measurement; figures of different methods differ further, by `between_methods`.
    pub method: &'static str,
    /// Standard deviation of the logarithm of the ratio between two methods on one card. Runs do not reduce
    /// it.
    pub between_methods: f64,
}

impl Ranked {
    /// Returns whether this figure is above the other by more than repeats of one card, and their methods, differ,
    /// at 95 %. False if one of the spreads is unknown.
    #[must_use]
    pub fn is_clearly_above(self, other: Self) -> bool {
        Compared::of(&self).is_clearly_above(&Compared::of(&other))
    }
}

/// The terms of a comparison that depend on one figure alone.
struct Compared {
    logarithm: f64,
    /// Variance of the logarithm of the mean, and the quantile for its degrees of freedom.
    variance: Option<(f64, f64)>,
    method: &'static str,
    between_methods: f64,
}

impl Compared {
    fn of(figure: &Ranked) -> Self {
        let count = figure.runs_count.max(1) as f64;
        let variance = |spread: KnownSpread| {
            let quantile = student_t(COMPARISON_LEVEL, spread.degrees);
            (spread.pooled * spread.pooled / count, quantile)
        };
        Self {
            logarithm: libm::log(figure.value),
            variance: figure.spread.map(variance),
            method: figure.method,
            between_methods: figure.between_methods,
        }
    }

    fn is_clearly_above(&self, other: &Self) -> bool {
        let difference = self.logarithm - other.logarithm;
        if difference <= 0.0 {
            return false;
        }
        let (Some(own), Some(others)) = (self.variance, other.variance) else {
            return false;
        };
        let error = libm::sqrt(own.0 + others.0 + self.variance_of_methods(other));
        // The fewer degrees of freedom, the larger the quantile.
        difference > own.1.max(others.1) * error
    }

    /// Variance of the logarithm of the ratio between the methods of two figures.
    fn variance_of_methods(&self, other: &Self) -> f64 {
        // Mostly the identical text, which is quicker to see than an equal one.
        if std::ptr::eq(self.method, other.method) || self.method == other.method {
            return 0.0;
        }
        let deviation = self.between_methods.max(other.between_methods);
        deviation * deviation
    }
}

/// Returns the possible places of each figure, counted from 1, the highest figure first: from one more than
/// the number of figures clearly above it to the number of figures not clearly below it. Figures are compared
/// in pairs, so that ties do not chain: a figure may share places with two others that differ.
#[must_use]
pub fn possible_places(figures: &[Ranked]) -> Vec<RangeInclusive<usize>> {
    let figures: Vec<Compared> = figures.iter().map(Compared::of).collect();
    let range = |figure: &Compared| {
        let above = figures
            .iter()
            .filter(|other| other.is_clearly_above(figure));
        let below = figures
            .iter()
            .filter(|other| figure.is_clearly_above(other));
        1 + above.count()..=figures.len() - below.count()
    };
    figures.iter().map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(value: f64, runs_count: usize, pooled: Option<f64>) -> Ranked {
        let spread = pooled.map(|pooled| KnownSpread {
            pooled,
            degrees: 1_000,
            typical: pooled,
            typical_degrees: 1,
        });
        Ranked {
            value,
            runs_count,
            spread,
            method: "",
            between_methods: 0.1,
        }
    }

    #[test]
    fn figures_closer_than_repeats_differ_share_places() {
        // At 5 % two single runs differ clearly above a factor of exp(1.96 · 0.05 · √2) = 1.149.
        let figures = [150.0, 110.0, 100.0, 88.0, 40.0].map(|value| ranked(value, 1, Some(0.05)));
        let expected = [1..=1, 2..=3, 2..=4, 3..=4, 5..=5];
        assert_eq!(possible_places(&figures), expected);
    }

    #[test]
    fn more_runs_separate_what_single_runs_do_not() {
        let of = |runs| [110.0, 100.0].map(|value| ranked(value, runs, Some(0.05)));
        assert_eq!(possible_places(&of(1)), [1..=2, 1..=2]);
        assert_eq!(possible_places(&of(3)), [1..=1, 2..=2]);
    }

    /// At 5 % for repeats and 10 % for methods: exp(1.96 · √(0.05² + 0.05² + 0.1²)) = 1.27.
    #[test]
    fn two_methods_differ_further_whatever_the_number_of_runs() {
        let other = |value: f64, runs| Ranked {
            method: "iozone",
            ..ranked(value, runs, Some(0.05))
        };
        let places = |high: f64, runs| {
            possible_places(&[ranked(high, runs, Some(0.05)), other(100.0, runs)])
        };
        assert_eq!(places(126.0, 1), [1..=2, 1..=2]);
        assert_eq!(places(129.0, 1), [1..=1, 2..=2]);
        assert_eq!(places(120.0, 10_000), [1..=2, 1..=2]);
        let alike = [other(126.0, 1), other(100.0, 1)];
        assert_eq!(possible_places(&alike), [1..=1, 2..=2]);
    }

    #[test]
    fn an_unknown_spread_separates_nothing() {
        let figures = [
            ranked(900.0, 5, None),
            ranked(100.0, 1, Some(0.05)),
            ranked(50.0, 1, Some(0.05)),
        ];
        assert_eq!(possible_places(&figures), [1..=3, 1..=2, 2..=3]);
        assert!(possible_places(&[]).is_empty());
    }
}
