//! Sudden change of a card's rate: a level that begins on some day and lasts to the last one.
//!
//! An observation, not a test: it has no probability. Its limits were found by simulation of cards that do not
//! change (seasons of ±12 %, random walks of 3 % a week, correlated days of 10 %); `benchmarks/history` shows
//! the false ones and those found. With few days, and over long pauses, only a jump counts.

use serde::Serialize;

use crate::estimate::median::median;
use crate::estimate::serial::Day;

/// Minimum change of the logarithm of a rate between two levels. A season of ±12 % changes a rate by up to 0.24.
pub const LEAST_SHIFT: f64 = 0.28;
/// Minimum change of the logarithm over a week; over other periods in proportion to the square root of their
/// length, as a random walk grows. Its lines over a year have a standard deviation of a third of that if its
/// weekly steps have 3 %.
pub const WALK_CHANGE: f64 = 0.10;
/// Minimum number of days before a change.
pub const LEAST_BEFORE: usize = 5;
/// Minimum ratio of the step at a change to the root mean square of all other steps from day to day. Fewer than one of 1,000
/// random walks with normal steps have such a jump (Student's t with five or more degrees of freedom).
pub(crate) const JUMP_RATIO: f64 = 8.0;
/// Minimum number of days before a jump, which then has at least five other steps. With three, a card with two states has
/// one by chance twice as often.
pub(crate) const LEAST_BEFORE_JUMP: usize = 4;
/// Minimum number of days after a change.
pub const LEAST_AFTER: usize = 3;
/// Days before a change that make its first level.
pub(crate) const LEVEL_DAYS: usize = 8;
/// Days after a change that must differ on their own. A slow change differs only later.
pub(crate) const NEAR_DAYS: usize = 5;
/// Minimum change, as a multiple of the spread of the days before it.
pub(crate) const SPREADS: f64 = 4.0;
/// Spread of days that counts before any are known, as a standard deviation of the logarithm.
pub(crate) const ASSUMED_SPREAD: f64 = 0.06;
/// Number of days that the assumed spread is worth.
pub(crate) const ASSUMED_DAYS: f64 = 8.0;
/// One of this number of days after a change may lie within the range of those before it.
pub(crate) const EXCEPTION_DAYS: usize = 10;

/// Share of the change of a rate from which on that of its reference reads is alike, by logarithms.
pub(crate) const ALIKE_RATIO: f64 = 0.5;

/// Another level of a rate from some day on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shift {
    /// Start time of the first run with the new level, days since 1970-01-01 (UTC).
    pub at_days: f64,
    /// Change: −0.5 for half of the rate. From the median of up to eight days before to that of all days after.
    pub change_ratio: f64,
    /// Number of days with runs after the change.
    pub days_count: usize,
    /// Number of them outside the range of the days before, in the direction of the change.
    pub beyond_count: usize,
    /// True if the first of them is also the first one with another kernel.
    pub has_new_kernel: bool,
    /// Change of the reference reads between the same days. Absent if they are unknown on one side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_ratio: Option<f64>,
}

impl Shift {
    /// Returns whether the reference reads changed alike, so that board, reader or power may be the cause. `None` if they are
    /// unknown.
    pub fn is_in_reference(&self) -> Option<bool> {
        let of_reference = libm::log1p(self.reference_ratio?);
        Some(of_reference / libm::log1p(self.change_ratio) >= ALIKE_RATIO)
    }
}

/// Last runs that differ from all before, without a conclusion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Seen {
    /// Change between the medians: −0.5 for half of the rate.
    pub change_ratio: f64,
    /// Number of runs before.
    pub before_count: usize,
    /// Number of the last runs.
    pub after_count: usize,
}

impl Seen {
    /// Returns whether there are too few runs on one side for a conclusion, or on both.
    pub fn is_few(&self) -> bool {
        self.before_count < LEAST_BEFORE || self.after_count < LEAST_AFTER
    }
}

/// Returns the last of these rates, in the order of time, that are all lower than those before, or all higher, and whose
/// median differs by [`LEAST_SHIFT`]; of several parts those that are farthest apart.
pub(crate) fn last_seen(values: &[f64]) -> Option<Seen> {
    let seen = (2..values.len()).filter_map(|first| {
        let (before, after) = values.split_at(first);
        let change = libm::log(middle(after)? / middle(before)?);
        let least = |part: &[f64]| part.iter().copied().fold(f64::INFINITY, f64::min);
        let most = |part: &[f64]| part.iter().copied().fold(0.0, f64::max);
        let gap = match change < 0.0 {
            true => least(before) / most(after),
            false => least(after) / most(before),
        };
        let found = Seen {
            change_ratio: libm::expm1(change),
            before_count: before.len(),
            after_count: after.len(),
        };
        (gap > 1.0 && change.abs() >= LEAST_SHIFT).then_some((gap, found))
    });
    let farthest = seen.max_by(|one, other| one.0.total_cmp(&other.0));
    farthest.map(|(_, found)| found)
}

/// Returns the largest change of level that lasts to the end, without its reference reads.
pub(crate) fn last_shift(days: &[Day]) -> Option<Shift> {
    let logs: Vec<f64> = days.iter().map(|day| day.1).collect();
    let last = days.len().checked_sub(LEAST_AFTER)?;
    let shifts = (LEAST_BEFORE_JUMP..=last).filter_map(|first| {
        let (change, beyond_count) = change_at(days, &logs, first)?;
        Some((first, change, beyond_count))
    });
    let largest = shifts.max_by(|one, other| one.1.abs().total_cmp(&other.1.abs()));
    largest.map(|(first, change, beyond_count)| Shift {
        at_days: days[first].0,
        change_ratio: libm::expm1(change),
        days_count: days.len() - first,
        beyond_count,
        has_new_kernel: days[first].2 != days[first - 1].2,
        reference_ratio: None,
    })
}

/// Returns the change of the logarithm if another level begins at this day, with the number of days beyond the
/// range of those before.
fn change_at(days: &[Day], logs: &[f64], first: usize) -> Option<(f64, usize)> {
    let (all_before, after) = logs.split_at(first);
    let begin = first.saturating_sub(LEVEL_DAYS);
    let before = &all_before[begin..];
    let near = &after[..after.len().min(NEAR_DAYS)];
    let distance = mean_time(&days[first..first + near.len()]) - mean_time(&days[begin..first]);
    let walk = WALK_CHANGE * libm::sqrt(distance / 7.0);
    let level = middle(before)?;
    let (change, near) = (middle(after)? - level, middle(near)? - level);
    // Both of the same sign.
    let is_below = |least: f64| change.signum() * near < least || change.abs() < least;
    if is_below(LEAST_SHIFT.max(SPREADS * spread(all_before))) {
        return None;
    }
    if (first < LEAST_BEFORE || is_below(walk)) && !is_jump(days, logs, first) {
        return None;
    }
    let is_beyond = |log: &&f64| match change < 0.0 {
        true => before.iter().all(|one| *log < one),
        false => before.iter().all(|one| *log > one),
    };
    let beyond_count = after.iter().filter(is_beyond).count();
    let is_lasting = (after.len() - beyond_count) * EXCEPTION_DAYS <= after.len();
    is_lasting.then_some((change, beyond_count))
}

/// Returns whether the step to this day is too large beside the others for a walk: both as it is, as noise
/// does not grow with time, and divided by the root of its time, as a walk does. It then is for any growth between the two.
fn is_jump(days: &[Day], logs: &[f64], first: usize) -> bool {
    let is_large = |power: f64| {
        let step = |index: usize| {
            let time = (days[index].0 - days[index - 1].0).max(1.0);
            (logs[index] - logs[index - 1]) / libm::pow(time, power)
        };
        let others = (1..logs.len()).filter(|index| *index != first);
        let squares: Vec<f64> = others.map(|index| step(index) * step(index)).collect();
        let usual = libm::sqrt(squares.iter().sum::<f64>() / squares.len() as f64);
        step(first).abs() >= JUMP_RATIO * usual
    };
    is_large(0.0) && is_large(0.5)
}

fn mean_time(days: &[Day]) -> f64 {
    days.iter().map(|day| day.0).sum::<f64>() / days.len() as f64
}

/// Returns the standard deviation of these days, robust against single ones, together with the assumed spread:
/// the larger one of that around their median and that from day to day.
fn spread(logs: &[f64]) -> f64 {
    let steps: Vec<f64> = logs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let from_step = deviation(&steps, 0.0) / std::f64::consts::SQRT_2;
    let level = middle(logs).unwrap_or(0.0);
    let found = from_step.max(deviation(logs, level));
    let count = logs.len() as f64;
    let squares = ASSUMED_DAYS * ASSUMED_SPREAD * ASSUMED_SPREAD + count * found * found;
    libm::sqrt(squares / (ASSUMED_DAYS + count))
}

/// Returns the standard deviation of a normal distribution with this median of distances.
fn deviation(values: &[f64], centre: f64) -> f64 {
    let distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    1.4826 * middle(&distances).unwrap_or(0.0)
}

fn middle(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median(&sorted)
}
