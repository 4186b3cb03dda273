//! Ranges of places in a ranking.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use cardmark_core::{Subject, told};

use crate::comparison::sides::KnownSpread;
use crate::estimate::distribution::student_t;
use crate::estimate::outcome::COMPARISON_LEVEL;

/// Median of |x| for a standard normal x.
const NORMAL_MEDIAN: f64 = 0.6745;
/// Largest factor by which the limit of a clear difference rises in a close field.
const MOST_RISE: f64 = 2.0;
/// Pairs from which the closeness of a field is estimated, at most about.
const MOST_PAIRS: usize = 1 << 20;
/// Conditions of a board that change the figures of its cards.
const CONDITIONS: [&str; 3] = ["reader", "bus", "command_queue"];

/// Standard deviation of the logarithm of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownDeviation {
    /// The deviation.
    pub deviation: f64,
    /// Its degrees of freedom.
    pub degrees: u32,
}

/// Differences between figures of one product that repeats of one card do not show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownElsewhere {
    /// Between cards of the product.
    pub sample: KnownDeviation,
    /// Between boards.
    pub board: KnownDeviation,
}

impl KnownElsewhere {
    /// No differences: the figures are compared as those of these cards on one board.
    pub const NONE: Self = Self {
        sample: KnownDeviation::NONE,
        board: KnownDeviation::NONE,
    };
}

impl KnownDeviation {
    const NONE: Self = Self {
        deviation: 0.0,
        degrees: u32::MAX,
    };
}

/// Computer, reader and link of a figure, as far as known.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The computer.
    pub board: Option<String>,
    /// Known conditions that change figures, by name.
    pub conditions: BTreeMap<&'static str, String>,
}

impl Place {
    /// Returns the place of these runs. A setting in the user's own words counts among the user's own runs.
    pub fn of(subject: &Subject) -> Self {
        let known = |name: &'static str| Some((name, told(&subject.context, name)?));
        let mut conditions: BTreeMap<_, _> = CONDITIONS.into_iter().filter_map(known).collect();
        // A slot of unknown clock has its usual one.
        let clock = conditions.get("bus").filter(|bus| bus.contains(" MHz"));
        let clock = clock.cloned().unwrap_or_default();
        conditions.insert("clock", clock);
        if subject.publication.is_none() {
            // Without one, the setup is the usual one of its user.
            let setting = subject.setting.clone().unwrap_or_default();
            conditions.insert("setting", setting);
        }
        Self {
            board: subject.board.clone(),
            conditions,
        }
    }

    /// True if the board is known and the same, and no condition that both know differs.
    pub fn is_same(&self, other: &Self) -> bool {
        let differs = |(name, value): (&&str, &String)| {
            let others = other.conditions.get(*name);
            others.is_some_and(|others| others != value)
        };
        self.board.is_some() && self.board == other.board && !self.conditions.iter().any(differs)
    }
}

/// A figure of a ranking with what it may differ by for reasons other than its product.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// The figure, above 0.
    pub value: f64,
    /// Number of runs behind it, at least 1.
    pub runs_count: usize,
    /// Number of physical cards behind it, at least 1.
    pub cards_count: usize,
    /// Id of the card, if it is a single known one.
    pub card: Option<Arc<str>>,
    /// Computer, reader and link.
    pub place: Arc<Place>,
    /// Published spread between repeats of the metric's class; `None` if unknown.
    pub spread: Option<KnownSpread>,
    /// Differences between cards and boards in the metric's class; `None` if unknown.
    pub elsewhere: Option<KnownElsewhere>,
    /// Method of measurement; figures of different methods differ further, by `between_methods`.
    pub method: &'static str,
    /// Standard deviation of the logarithm of the ratio between two methods on one card. Runs do not reduce
    /// it.
    pub between_methods: f64,
}

/// The terms of a comparison that depend on one figure alone.
struct Compared<'a> {
    logarithm: f64,
    terms: Option<Terms>,
    /// Index of the place.
    place: usize,
    card: Option<&'a str>,
    method: &'static str,
    between_methods: f64,
}

/// Variances of the logarithm, and the fewest degrees of freedom behind them.
#[derive(Clone, Copy)]
struct Terms {
    repeats: f64,
    sample: f64,
    board: f64,
    degrees_here: u32,
    degrees_elsewhere: u32,
}

impl Terms {
    fn of(figure: &Ranked) -> Option<Self> {
        let (spread, known) = figure.spread.zip(figure.elsewhere)?;
        let variance = |deviation: f64, count: usize| deviation * deviation / count.max(1) as f64;
        let degrees_here = spread.degrees.min(known.sample.degrees);
        Some(Self {
            repeats: variance(spread.pooled, figure.runs_count),
            sample: variance(known.sample.deviation, figure.cards_count),
            board: variance(known.board.deviation, 1),
            degrees_here,
            degrees_elsewhere: degrees_here.min(known.board.degrees),
        })
    }
}

/// The order of the figures of a field, as far as it holds for other cards of the same products and, between figures of
/// two boards, for other boards.
pub struct Order<'a> {
    figures: Vec<Compared<'a>>,
    /// Of two indices of places, whether they are the same board.
    is_same: Vec<Vec<bool>>,
    /// Quotients of difference and error from which on it is clear, on one board and across boards.
    limit_here: f64,
    limit_elsewhere: f64,
}

impl<'a> Order<'a> {
    /// Compares these figures.
    pub fn of(figures: &'a [Ranked]) -> Self {
        let mut places = BTreeMap::<&Place, usize>::new();
        for figure in figures {
            let next = places.len();
            places.entry(&figure.place).or_insert(next);
        }
        let mut in_order: Vec<(&Place, usize)> = places.iter().map(|(p, i)| (*p, *i)).collect();
        in_order.sort_by_key(|(_, index)| *index);
        let row = |(one, _): &(&Place, usize)| -> Vec<bool> {
            let others = in_order.iter();
            others.map(|(other, _)| one.is_same(other)).collect()
        };
        let compared = |figure: &'a Ranked| Compared {
            logarithm: libm::log(figure.value),
            terms: Terms::of(figure),
            place: places.get(figure.place.as_ref()).copied().unwrap_or(0),
            card: figure.card.as_deref(),
            method: figure.method,
            between_methods: figure.between_methods,
        };
        let mut order = Self {
            is_same: in_order.iter().map(row).collect(),
            figures: figures.iter().map(compared).collect(),
            limit_here: f64::INFINITY,
            limit_elsewhere: f64::INFINITY,
        };
        order.set_limits();
        order
    }

    /// The limits are quantiles of Student's t, raised if the figures of the field are close together.
    fn set_limits(&mut self) {
        let terms = || self.figures.iter().filter_map(|figure| figure.terms);
        let here = terms().map(|terms| terms.degrees_here).min();
        let elsewhere = terms().map(|terms| terms.degrees_elsewhere).min();
        let (Some(here), Some(elsewhere)) = (here, elsewhere) else {
            return;
        };
        let (mut same, mut different) = (Vec::new(), Vec::new());
        let count = self.figures.len();
        let step = (count * count / 2).div_ceil(MOST_PAIRS).max(1);
        let pairs = (1..count).flat_map(|one| (0..one).map(move |other| (one, other)));
        for (one, other) in pairs.step_by(step) {
            let (one, other) = (&self.figures[one], &self.figures[other]);
            if let Some(quotient) = self.quotient(one, other) {
                let list = match self.is_same[one.place][other.place] {
                    true => &mut same,
                    false => &mut different,
                };
                list.push(quotient.abs());
            }
        }
        self.limit_here = student_t(COMPARISON_LEVEL, here) * rise(&mut same);
        self.limit_elsewhere = student_t(COMPARISON_LEVEL, elsewhere) * rise(&mut different);
    }

    /// Difference of the logarithms divided by its standard error; `None` if a deviation is unknown.
    fn quotient(&self, one: &Compared<'_>, other: &Compared<'_>) -> Option<f64> {
        let (own, others) = (one.terms?, other.terms?);
        let mut variance = own.repeats + others.repeats + one.variance_of_methods(other);
        if one.card.is_none() || one.card != other.card {
            variance += own.sample + others.sample;
        }
        if !self.is_same[one.place][other.place] {
            variance += own.board + others.board;
        }
        Some((one.logarithm - other.logarithm) / libm::sqrt(variance))
    }

    /// Returns whether the first figure is clearly above the second, by their indices. False if a deviation of one of them is
    /// unknown.
    pub fn is_clearly_above(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.figures[one], &self.figures[other]);
        let limit = match self.is_same[one.place][other.place] {
            true => self.limit_here,
            false => self.limit_elsewhere,
        };
        let quotient = self.quotient(one, other);
        one.logarithm > other.logarithm && quotient.is_some_and(|quotient| quotient > limit)
    }

    /// Returns the possible places of each figure, counted from 1, the highest figure first: from one more than the number of
    /// figures clearly above it to the number of figures not clearly below it. Figures are compared in pairs, so that ties do
    /// not chain: a figure may share places with two others that differ.
    pub fn places(&self) -> Vec<RangeInclusive<usize>> {
        let count = self.figures.len();
        let range = |figure: usize| {
            let above = (0..count).filter(|other| self.is_clearly_above(*other, figure));
            let below = (0..count).filter(|other| self.is_clearly_above(figure, *other));
            1 + above.count()..=count - below.count()
        };
        (0..count).map(range).collect()
    }
}

impl Compared<'_> {
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

/// Factor on the limit: 1/√ρ, where ρ is the share of the variance between figures that is not error. The closer the figures,
/// the more of the large differences among them are chance. From the median of all quotients, so that a few outlying figures
/// do not count.
fn rise(quotients: &mut [f64]) -> f64 {
    let middle = quotients.len() / 2;
    if quotients.is_empty() {
        return 1.0;
    }
    let (_, median, _) = quotients.select_nth_unstable_by(middle, f64::total_cmp);
    let scale = *median / NORMAL_MEDIAN;
    let real = 1.0 - 1.0 / (scale * scale);
    1.0 / libm::sqrt(real.max(1.0 / (MOST_RISE * MOST_RISE)))
}

/// Returns the possible places of each figure ([`Order::places`]).
pub fn possible_places(figures: &[Ranked]) -> Vec<RangeInclusive<usize>> {
    Order::of(figures).places()
}

#[cfg(test)]
mod tests;
