//! The course of a long series of writes: its lasting fall and its settled part.
//!
//! Everything is calculated from the slices of one trial, which all have equal length. The functions do not
//! allocate, because the measuring loop calls them too.

use cardmark_core::{Slice, StopRule, Trial};

use crate::lasting::lasting_course;
use crate::settle::{TEST_LEVEL, inflation};
use crate::slices::{full_slices, mean_bytes, sum_bytes};
use crate::student_t;

/// Number of rounds in a measurement window (SNIA, *Solid State Storage Performance Test Specification*,
/// "steady state").
const WINDOW_ROUNDS: usize = 5;
/// In a settled window the highest and the lowest round differ by at most this share of their
/// mean (SNIA).
const WINDOW_RANGE_RATIO: f64 = 0.20;
/// A straight line through a settled window changes by at most this share of its mean (SNIA).
const WINDOW_SLOPE_RATIO: f64 = 0.10;
/// Rounds before the window belong to it while they differ from its mean by at most this share.
const ROUND_RATIO: f64 = 0.10;
/// A cliff is a fall by at least this share of the rate before.
const CLIFF_RATIO: f64 = 0.20;
/// Share of the fall that must happen within a round on either side of a cliff; otherwise the rate only
/// declined.
const CLIFF_SHARPNESS_RATIO: f64 = 0.5;
/// Minimum number of slices before a cliff.
const LEAST_BEFORE: usize = 5;
/// A position may be that of the cliff if its sum of squares exceeds the minimum by at most this number of
/// slice variances: χ² with one degree at 99.9 %.
const PLACE_SQUARES: f64 = 10.83;

/// A lasting fall of the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cliff {
    /// Number of bytes written before it.
    pub(crate) bytes: f64,
    /// First slice of the range that contains it.
    pub(crate) from: usize,
    /// End of that range, exclusive.
    pub(crate) to: usize,
}

/// Results for a series of slices.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Course {
    /// The first lasting fall of the rate.
    pub(crate) cliff: Option<Cliff>,
    /// The first slice of the settled part, which lasts until the end.
    pub(crate) settled_from: Option<usize>,
    /// Length of one period in slices, if the rate after the last fall is periodic.
    pub(crate) period_slices: Option<f64>,
}

/// True if a series of writes has reached its end by rule: its rate has settled.
#[must_use]
pub fn is_settled(slices: &[Slice], slice_span_ns: u64, stop: &StopRule) -> bool {
    course_under(slices, slice_span_ns, stop).is_some_and(|course| course.settled_from.is_some())
}

/// True if the rate over the slices, each of `slice_span_ns`, has been settled for `settled_span_ns`, and a
/// fall before it is over.
#[must_use]
pub fn has_settled(slices: &[Slice], slice_span_ns: u64, settled_span_ns: u64) -> bool {
    course(slices, slice_span_ns, settled_span_ns)
        .settled_from
        .is_some()
}

/// Returns the interval between tests of a series of writes, nanoseconds.
#[must_use]
pub fn settle_round_ns(settled_span_ns: u64) -> u64 {
    settled_span_ns / WINDOW_ROUNDS as u64
}

/// Returns the course of a trial whose workload continues until its rate has settled; `None` for others.
pub(crate) fn course_of(trial: &Trial) -> Option<Course> {
    course_under(
        full_slices(trial),
        trial.slice_span_ns,
        &trial.workload.stop,
    )
}

fn course_under(slices: &[Slice], slice_span_ns: u64, stop: &StopRule) -> Option<Course> {
    let settled_span_ns = stop.settled_span_ns?;
    Some(match &stop.least_written {
        None => course(slices, slice_span_ns, settled_span_ns),
        Some(least) => lasting_course(slices, slice_span_ns, stop, least),
    })
}

fn course(slices: &[Slice], slice_span_ns: u64, settled_span_ns: u64) -> Course {
    let round = settle_round_ns(settled_span_ns)
        .checked_div(slice_span_ns)
        .and_then(|round| usize::try_from(round).ok())
        .unwrap_or(0);
    if round == 0 {
        return Course::default();
    }
    let cliff = first_cliff(slices, round, LEAST_BEFORE, |_, _| true);
    let begin = cliff.map_or(0, |cliff| cliff.to);
    Course {
        cliff,
        settled_from: settled_from(&slices[begin..], round).map(|from| begin + from),
        period_slices: None,
    }
}

/// Returns the first settled slice: a steady window at the end, extended by similar rounds before it.
fn settled_from(slices: &[Slice], round: usize) -> Option<usize> {
    if !is_steady(slices, round, WINDOW_ROUNDS) {
        return None;
    }
    let average = (0..WINDOW_ROUNDS)
        .map(|index| round_from_end(slices, round, index))
        .sum::<f64>()
        / WINDOW_ROUNDS as f64;
    let is_like = |index: &usize| {
        (round_from_end(slices, round, *index) - average).abs() <= ROUND_RATIO * average
    };
    let rounds = slices.len() / round;
    let more = (WINDOW_ROUNDS..rounds).take_while(is_like).count();
    Some(slices.len() - (WINDOW_ROUNDS + more) * round)
}

/// Returns the mean of a round, counted backwards from the end.
fn round_from_end(slices: &[Slice], round: usize, index: usize) -> f64 {
    let end = slices.len() - index * round;
    mean_bytes(&slices[end - round..end])
}

/// True if this number of rounds at the end differ little, and a straight line through them has a small
/// slope.
pub(crate) fn is_steady(slices: &[Slice], round: usize, rounds: usize) -> bool {
    if round == 0 || slices.len() / round < rounds {
        return false;
    }
    let window = || (0..rounds).map(|index| round_from_end(slices, round, index));
    let average = window().sum::<f64>() / rounds as f64;
    let highest = window().fold(0.0, f64::max);
    let lowest = window().fold(f64::INFINITY, f64::min);
    average > 0.0
        && highest - lowest <= WINDOW_RANGE_RATIO * average
        && excursion(window(), rounds).abs() <= WINDOW_SLOPE_RATIO * average
}

/// Change of the straight line through a window's rounds over the window.
fn excursion(rates: impl Iterator<Item = f64>, rounds: usize) -> f64 {
    let middle = (rounds - 1) as f64 / 2.0;
    let (mut joint, mut squares) = (0.0, 0.0);
    for (index, rate) in rates.enumerate() {
        let x = index as f64 - middle;
        joint += x * rate;
        squares += x * x;
    }
    2.0 * middle * joint / squares
}

/// Returns the first lasting fall: the best one, then the best one before it, and so on. Skips falls that
/// `lasts` rejects for the given slices.
pub(crate) fn first_cliff(
    slices: &[Slice],
    round: usize,
    least_before: usize,
    lasts: impl Fn(&[Slice], &Cliff) -> bool,
) -> Option<Cliff> {
    let mut found = None;
    let mut end = slices.len();
    while let Some(cliff) = best_cliff(&slices[..end], round, least_before)
        && lasts(&slices[..end], &cliff)
    {
        found = Some(cliff);
        end = cliff.from;
    }
    found
}

/// Returns the fall that explains the slices best, followed by a whole round. `None` if it is too small, only
/// chance, or only a decline.
pub(crate) fn best_cliff(slices: &[Slice], round: usize, least_before: usize) -> Option<Cliff> {
    let count = slices.len();
    let last = count
        .checked_sub(round)
        .filter(|&last| last >= least_before)?;
    let falls = Falls::of(slices);
    let (place, least) = falls.least();
    if !(least_before..=last).contains(&place) {
        return None;
    }
    let (before, after) = (mean_bytes(&slices[..place]), mean_bytes(&slices[place..]));
    let degrees = count - 2;
    // Neighbouring slices are similar if a card does its housekeeping in bursts.
    let variance = inflation() * least / degrees as f64;
    let error = (variance * (1.0 / place as f64 + 1.0 / (count - place) as f64)).sqrt();
    let level = 1.0 - (1.0 - TEST_LEVEL) / (count - 1) as f64;
    let limit = student_t(level, u32::try_from(degrees).unwrap_or(u32::MAX));
    let is_fall = after <= (1.0 - CLIFF_RATIO) * before && before - after > limit * error;
    if !is_fall || !is_sharp(slices, place, round, before - after) {
        return None;
    }
    let allowed = least + PLACE_SQUARES * variance;
    let (from, to) = falls.places(allowed);
    Some(placed(slices, place, from - 1, (to + 1).min(count)))
}

/// True if much of the fall happens close to its position.
fn is_sharp(slices: &[Slice], place: usize, round: usize, fall: f64) -> bool {
    let before = mean_bytes(&slices[place.saturating_sub(round)..place]);
    let after = mean_bytes(&slices[place..slices.len().min(place + round)]);
    before - after >= CLIFF_SHARPNESS_RATIO * fall
}

/// Returns the cliff that most likely lies in one of the two slices beside `place`, and certainly between
/// `from` (inclusive) and `to` (exclusive).
fn placed(slices: &[Slice], place: usize, from: usize, to: usize) -> Cliff {
    let before = mean_bytes(&slices[..place - 1]);
    let after = mean_bytes(&slices[place + 1..]);
    let both = sum_bytes(&slices[place - 1..=place]);
    // Share of the two slices before the cliff, calculated from the bytes of both.
    let share = ((both - 2.0 * after) / (before - after)).clamp(0.0, 2.0);
    let bytes = sum_bytes(&slices[..place - 1]) + share * before;
    Cliff {
        bytes: bytes.clamp(sum_bytes(&slices[..from]), sum_bytes(&slices[..to])),
        from,
        to,
    }
}

/// Remaining sum of squares if the slices are cut into two parts, each around its mean.
struct Falls<'a> {
    slices: &'a [Slice],
    sum: f64,
    squares: f64,
}

impl<'a> Falls<'a> {
    fn of(slices: &'a [Slice]) -> Self {
        Self {
            slices,
            sum: sum_bytes(slices),
            squares: slices.iter().map(|s| s.0 as f64 * s.0 as f64).sum(),
        }
    }

    /// Iterates over all positions with their remaining sum of squares.
    fn all(&self) -> impl Iterator<Item = (usize, f64)> {
        let count = self.slices.len() as f64;
        let mut before = 0.0;
        (1..self.slices.len()).map(move |place| {
            before += self.slices[place - 1].0 as f64;
            let after = self.sum - before;
            let part = place as f64;
            let explained = before * before / part + after * after / (count - part);
            // Above zero, so that rounding errors of equal slices do not result in infinite certainty.
            let least = 1e-12 * self.squares;
            (place, (self.squares - explained).max(least))
        })
    }

    /// Returns the first position with the smallest remaining sum of squares.
    fn least(&self) -> (usize, f64) {
        self.all().fold((0, f64::INFINITY), |least, one| {
            if one.1 < least.1 { one } else { least }
        })
    }

    /// Returns the first and the last position with at most this remaining sum of squares.
    fn places(&self, allowed: f64) -> (usize, usize) {
        let few_left = self.all().filter(|&(_, left)| left <= allowed);
        few_left.fold((self.slices.len(), 0), |(low, high), (place, _)| {
            (low.min(place), high.max(place))
        })
    }
}
