//! Lasting falls of the rate.

use cardmark_core::Slice;

use crate::course::settle::{TEST_LEVEL, inflation};
use crate::course::slices::{mean_bytes, sum_bytes};
use crate::estimate::distribution::student_t;

/// A cliff is a fall by at least this share of the rate before.
pub(crate) const CLIFF_RATIO: f64 = 0.20;
/// Share of the fall that must happen within a round on either side of a cliff; otherwise the rate only
/// declined.
pub(crate) const CLIFF_SHARPNESS_RATIO: f64 = 0.5;
/// A position may be that of the cliff if its sum of squares exceeds the minimum by at most this number of
/// slice variances: χ² with one degree at 99.9 %.
pub(crate) const PLACE_SQUARES: f64 = 10.83;

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
