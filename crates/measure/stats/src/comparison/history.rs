//! Change of a card's rates from run to run over months: a trend test for few runs at irregular times.
//!
//! Days are not independent: the room, the fill level and the system change slowly. A rate counts as changed
//! only under three conditions. Mann's test, exact for any number of days and independent of the shape of the
//! change, finds an order. The slope is significant for a variance computed for correlated days; their
//! correlation ([`STEP_CORRELATION`]) is assumed, because eight days are too few to estimate it. And the change
//! is larger than that of a season of ±12 % ([`LEAST_CHANGE`]) and of a random walk of 3 % a week
//! ([`WALK_CHANGE`](crate::estimate::shift::WALK_CHANGE)); one that is straight by far ([`STRAIGHT_RATIO`]) is no walk, and over a year no season. A
//! new kernel begins a new stretch: only runs of one kernel are compared. A change of level
//! ([`Shift`](crate::estimate::shift::Shift)) is looked for beside the trend, over all kernels.
//!
//! [`STEP_CORRELATION`]: crate::estimate::serial::STEP_CORRELATION

use cardmark_core::Quantity;
use serde::Serialize;

use crate::estimate::holm::holm;
use crate::estimate::median::median;
use crate::estimate::outcome::{Conclusion, SAME_RATIO, is_found};
use crate::estimate::serial::{Day, Serial};
use crate::estimate::shift::{Seen, Shift, WALK_CHANGE, last_seen, last_shift};

/// Minimum number of days for a test: with four, no order of them is rarer than one in twelve.
pub const LEAST_DAYS: usize = 5;
/// Minimum number of runs for a sentence on the last of them.
const LEAST_SEEN: usize = 4;
/// Maximum number of days with runs that are used, counted from the end.
pub(crate) const MOST_DAYS: usize = 200;
/// Runs that begin within this number of hours of the first one of a day belong to that day.
pub(crate) const DAY_HOURS: f64 = 12.0;

/// Minimum change of the logarithm of a rate over a period of up to a year; over more years less, in proportion.
/// A season of ±12 % changes a straight line by up to this.
pub const LEAST_CHANGE: f64 = 0.28;
/// Minimum change of the logarithm over a period of up to a year for a straight one that is longer than
/// [`SEASON_DAYS`]; over more years less, in proportion.
pub(crate) const STRAIGHT_CHANGE: f64 = 0.08;
/// Minimum change, as a multiple of the standard deviation of eighths of the period around the line, for a change
/// to count as straight. Random walks exceed it in less than one of 1,000 rates.
pub const STRAIGHT_RATIO: f64 = 25.0;
/// Period from which on a straight change is no part of a season, days.
pub(crate) const SEASON_DAYS: f64 = 350.0;
/// Parts of a period whose means are held against a straight line.
pub(crate) const PARTS: usize = 8;
/// Days of a year.
pub(crate) const YEAR_DAYS: f64 = 365.25;

/// A run in a history.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryRun {
    /// Start time, days since 1970-01-01 (UTC).
    pub at_days: f64,
    /// Its rate.
    pub value: f64,
    /// The kernel it ran on; all runs without this information count as having the same kernel.
    pub kernel: Option<String>,
    /// Rate of its reference reads, if it has any.
    pub reference: Option<f64>,
}

/// Rate of one card over time, from comparable runs.
#[derive(Clone, Debug, PartialEq)]
pub struct RateHistory {
    /// The metric.
    pub metric: String,
    /// Quantity of the values.
    pub quantity: Quantity,
    /// The runs.
    pub runs: Vec<HistoryRun>,
}

/// Trend of a rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RateTrend {
    /// The metric.
    pub metric: String,
    /// Quantity of the values.
    pub quantity: Quantity,
    /// Number of days with runs; runs that begin less than 12 h after the first one of a day belong to it.
    pub days_count: usize,
    /// Start time of the first of them, days since 1970-01-01 (UTC). Absent if there is none.
    pub first_at_days: Option<f64>,
    /// Time from the first to the last of them, days.
    pub period_days: f64,
    /// Change over that period: −0.31 for a decrease of 31 %. Absent with fewer than two days.
    pub change_ratio: Option<f64>,
    /// Lower end of its 95 % interval; absent with too few days.
    pub low_ratio: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high_ratio: Option<f64>,
    /// Minimum change that counts as one: less could be a season or chance. Absent with too few days.
    pub least_ratio: Option<f64>,
    /// Change of level that lasts to the last day, beside the trend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<Shift>,
    /// Last runs that differ from all before; absent with a conclusion that the rate changed, or with fewer than four runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<Seen>,
    /// Start times of the first runs on another kernel, days since 1970-01-01 (UTC).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kernel_changes_at_days: Vec<f64>,
    /// Probability of such days without any trend: the larger one of two tests. Absent with fewer than
    /// [`LEAST_DAYS`], or if no kernel has two days.
    pub p_value: Option<f64>,
    /// `p_value` corrected for the number of tested rates (Holm).
    pub adjusted_p_value: Option<f64>,
    /// Conclusion; absent with too few days.
    pub outcome: Option<Conclusion>,
}

/// Returns the trend of each of these rates, in order. The correction covers all of them.
pub fn rate_trends(histories: &[RateHistory]) -> Vec<RateTrend> {
    let mut trends: Vec<RateTrend> = histories.iter().map(alone).collect();
    let tested: Vec<usize> = (0..trends.len())
        .filter(|&index| trends[index].p_value.is_some())
        .collect();
    let p_values: Vec<f64> = tested.iter().filter_map(|&i| trends[i].p_value).collect();
    for (index, adjusted) in tested.into_iter().zip(holm(&p_values)) {
        let trend = &mut trends[index];
        trend.adjusted_p_value = Some(adjusted);
        trend.outcome = outcome(trend, adjusted);
    }
    for trend in &mut trends {
        let changed = [Some(Conclusion::Lower), Some(Conclusion::Higher)];
        if trend.shift.is_some() || changed.contains(&trend.outcome) {
            trend.seen = None;
        }
    }
    trends
}

/// Returns the conclusion from the corrected probability, the change and its interval.
fn outcome(trend: &RateTrend, adjusted_p_value: f64) -> Option<Conclusion> {
    let change = trend.change_ratio?;
    let (low, high) = trend.low_ratio.zip(trend.high_ratio)?;
    let is_large = libm::log1p(change).abs() >= libm::log1p(trend.least_ratio?);
    let is_narrow = 1.0 + low >= 1.0 / (1.0 + SAME_RATIO) && high <= SAME_RATIO;
    let is_found = is_found(adjusted_p_value) && is_large;
    Some(Conclusion::of(is_found, change > 0.0, is_narrow))
}

/// Returns the trend of one rate before the correction.
fn alone(history: &RateHistory) -> RateTrend {
    let days = days(&history.runs);
    let period_days = days.last().map_or(0.0, |last| last.0) - days.first().map_or(0.0, |d| d.0);
    let mut trend = RateTrend {
        metric: history.metric.clone(),
        quantity: history.quantity,
        days_count: days.len(),
        first_at_days: days.first().map(|day| day.0),
        period_days,
        kernel_changes_at_days: kernel_changes(&days),
        change_ratio: None,
        low_ratio: None,
        high_ratio: None,
        least_ratio: None,
        shift: last_shift(&days).map(|shift| with_reference(shift, &history.runs)),
        seen: seen(&history.runs),
        p_value: None,
        adjusted_p_value: None,
        outcome: None,
    };
    let slopes = slopes(&days);
    let Some(slope) = median(&slopes) else {
        return trend;
    };
    trend.change_ratio = Some(libm::expm1(slope * period_days));
    if days.len() < LEAST_DAYS {
        return trend;
    }
    trend.least_ratio = Some(libm::expm1(least_change(&days, slope, period_days)));
    let orders = Orders::of(&stretches(&days));
    let rising = slopes.iter().filter(|slope| **slope > 0.0).count();
    let falling = slopes.iter().filter(|slope| **slope < 0.0).count();
    let by_order = orders.two_sided(slopes.len() - rising.abs_diff(falling));
    if let Some(serial) = Serial::of(&days, slope) {
        trend.p_value = Some(by_order.max(serial.p_value));
        let over_period = |slope: f64| libm::expm1(slope * period_days);
        trend.low_ratio = Some(over_period(slope - serial.half_width));
        trend.high_ratio = Some(over_period(slope + serial.half_width));
    }
    trend
}

/// Returns the last runs that differ from all before.
fn seen(runs: &[HistoryRun]) -> Option<Seen> {
    let is_usable = |run: &&HistoryRun| run.value > 0.0 && run.at_days.is_finite();
    let mut runs: Vec<&HistoryRun> = runs.iter().filter(is_usable).collect();
    runs.sort_by(|one, other| one.at_days.total_cmp(&other.at_days));
    let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
    last_seen(&values).filter(|_| values.len() >= LEAST_SEEN)
}

/// Returns the minimum change of the logarithm that counts as one.
fn least_change(days: &[Day], slope: f64, period_days: f64) -> f64 {
    let years = (YEAR_DAYS / period_days).min(1.0);
    let is_straight =
        (slope * period_days).abs() >= STRAIGHT_RATIO * distance_of_parts(days, slope);
    match is_straight {
        true if period_days >= SEASON_DAYS => STRAIGHT_CHANGE * years,
        true => LEAST_CHANGE * years,
        false => (LEAST_CHANGE * years).max(WALK_CHANGE * libm::sqrt(period_days / 7.0)),
    }
}

/// Returns the standard deviation of the means of up to nine parts of the days around the line.
fn distance_of_parts(days: &[Day], slope: f64) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let residuals: Vec<f64> = days.iter().map(|day| day.1 - slope * day.0).collect();
    let level = mean(&residuals);
    let parts = residuals.chunks(days.len().div_ceil(PARTS));
    let distances: Vec<f64> = parts.map(|part| mean(part) - level).collect();
    let squares: f64 = distances.iter().map(|distance| distance * distance).sum();
    libm::sqrt(squares / (distances.len() as f64 - 2.0).max(1.0))
}

/// Returns the change with that of the reference reads of the same runs.
fn with_reference(shift: Shift, runs: &[HistoryRun]) -> Shift {
    let of = |is_after: bool| {
        let side = runs
            .iter()
            .filter(|run| (run.at_days >= shift.at_days) == is_after);
        let mut references: Vec<f64> = side.filter_map(|run| run.reference).collect();
        references.sort_by(f64::total_cmp);
        median(&references).filter(|rate| *rate > 0.0)
    };
    let ratio = of(false)
        .zip(of(true))
        .map(|(before, after)| after / before - 1.0);
    Shift {
        reference_ratio: ratio,
        ..shift
    }
}

/// Returns the start times of the days with another kernel than the day before.
fn kernel_changes(days: &[Day]) -> Vec<f64> {
    let pairs = days.windows(2).filter(|pair| pair[0].2 != pair[1].2);
    pairs.map(|pair| pair[1].0).collect()
}

/// Returns the number of days in each stretch.
fn stretches(days: &[Day]) -> Vec<usize> {
    let count = |parts: &[Day]| parts.len();
    days.chunk_by(|one, next| one.2 == next.2)
        .map(count)
        .collect()
}

/// Returns each day's start time and mean logarithm of the rate. Runs of one day share the state of the card
/// and the temperature of the room, so they are one observation. It uses the start time, not the mean time,
/// so that no two days are closer than [`DAY_HOURS`] and no slope is calculated over minutes. A new kernel
/// begins a new day and a new stretch.
fn days(runs: &[HistoryRun]) -> Vec<Day> {
    let is_usable = |run: &&HistoryRun| run.value > 0.0 && run.at_days.is_finite();
    let mut runs: Vec<&HistoryRun> = runs.iter().filter(is_usable).collect();
    runs.sort_by(|one, other| one.at_days.total_cmp(&other.at_days));
    let mut sums: Vec<(f64, f64, f64, usize)> = Vec::new();
    let mut kernel = runs.first().and_then(|run| run.kernel.as_deref());
    for run in runs {
        let log = libm::log(run.value);
        let is_same = run.kernel.as_deref() == kernel;
        kernel = run.kernel.as_deref();
        let stretch = sums.last().map_or(0, |last| last.3 + usize::from(!is_same));
        match sums.last_mut() {
            Some((first, count, sum, _)) if is_same && run.at_days - *first < DAY_HOURS / 24.0 => {
                *count += 1.0;
                *sum += log;
            }
            _ => sums.push((run.at_days, 1.0, log, stretch)),
        }
    }
    let last = &sums[sums.len().saturating_sub(MOST_DAYS)..];
    last.iter()
        .map(|day| (day.0, day.2 / day.1, day.3))
        .collect()
}

/// Returns the slopes between all pairs of days of one stretch, rising (Theil, Sen).
fn slopes(days: &[Day]) -> Vec<f64> {
    let mut slopes = Vec::with_capacity(days.len() * days.len() / 2);
    for (index, later) in days.iter().enumerate() {
        let before = days[..index].iter().filter(|day| day.2 == later.2);
        slopes.extend(before.map(|day| (later.1 - day.1) / (later.0 - day.0)));
    }
    slopes.sort_by(f64::total_cmp);
    slopes
}

/// Probability of each number of pairs in the wrong order among the days of all stretches if there is no
/// trend.
struct Orders(Vec<f64>);

impl Orders {
    fn of(stretches: &[usize]) -> Self {
        let all = stretches.iter().fold(vec![1.0], |shares, &days| {
            (2..=days).fold(shares, |shares, count| with_day(&shares, count))
        });
        Self(all)
    }

    /// Returns the probability of an order at least as clear in either direction. `doubled` is twice the
    /// number of pairs in the wrong order; a pair of equal rates counts half.
    fn two_sided(&self, doubled: usize) -> f64 {
        let wrong: f64 = self.0.iter().take(doubled / 2 + 1).sum();
        (2.0 * wrong).min(1.0)
    }
}

/// Returns the distribution after one more day, the `count`-th of its stretch: it precedes 0 to count − 1 of
/// the others.
fn with_day(shares: &[f64], count: usize) -> Vec<f64> {
    let mut next = vec![0.0; shares.len() + count - 1];
    let mut sum = 0.0;
    for (wrong, share) in next.iter_mut().enumerate() {
        sum += shares.get(wrong).copied().unwrap_or(0.0);
        if wrong >= count {
            sum -= shares.get(wrong - count).copied().unwrap_or(0.0);
        }
        *share = sum / count as f64;
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hollander and Wolfe, table of Kendall's K: P(K ≥ 10) = 1/120 for n = 5, P(K ≥ 16) = 0.031 for
    /// n = 8, P(K ≥ 23) = 0.023 for n = 10.
    #[test]
    fn probabilities_are_those_of_the_tables() {
        let p = |days: usize, wrong: usize| Orders::of(&[days]).two_sided(2 * wrong) / 2.0;
        assert!((p(5, 0) - 1.0 / 120.0).abs() < 1e-12);
        assert!((p(8, 6) - 0.031).abs() < 0.0005);
        assert!((p(10, 11) - 0.023).abs() < 0.0005);
        // Two stretches of three days: all 36 pairs of orders have the same probability.
        assert!((Orders::of(&[3, 3]).two_sided(0) - 2.0 / 36.0).abs() < 1e-12);
    }
}
