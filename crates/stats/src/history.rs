//! Whether a card's rates change from run to run over months: a trend test for few runs at
//! irregular times.
//!
//! Mann's test asks only for order, so that neither the shape of the change nor a run that went
//! wrong decides it. Its distribution is exact for any number of days.

use cardmark_core::Quantity;
use serde::Serialize;

use crate::compare::outcome_of;
use crate::holm::holm;
use crate::{COMPARISON_LEVEL, Outcome, median};

/// Fewest days for a test: with four, no order of them is rarer than one in twelve.
pub const LEAST_DAYS: usize = 5;
/// The last so many days with runs are looked at.
const MOST_DAYS: usize = 200;
/// Runs that begin less than so many hours after the first one of a day belong to that day.
const DAY_HOURS: f64 = 12.0;

/// A rate of one card over time, of runs that may be put together.
#[derive(Clone, Debug, PartialEq)]
pub struct RateHistory {
    /// The metric.
    pub metric: String,
    /// What the values are rates of.
    pub quantity: Quantity,
    /// When a run began, days since 1970-01-01 (UTC), and its rate.
    pub runs: Vec<(f64, f64)>,
}

/// What became of a rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RateTrend {
    /// The metric.
    pub metric: String,
    /// What the values are rates of.
    pub quantity: Quantity,
    /// Days with runs: those that begin less than 12 h after the first of a day belong to it.
    pub days_count: usize,
    /// When the first of them began, days since 1970-01-01 (UTC). Absent where there is none.
    pub first_at_days: Option<f64>,
    /// From the first to the last of them, days.
    pub period_days: f64,
    /// The change over that period: −0.31 where it fell by 31 %. Absent with fewer than two days.
    pub change_ratio: Option<f64>,
    /// Lower end of its 95 % interval; absent with too few days.
    pub low_ratio: Option<f64>,
    /// Upper end of its 95 % interval.
    pub high_ratio: Option<f64>,
    /// How probable an order of the days as clear as this one would be without any trend. Absent
    /// with fewer than [`LEAST_DAYS`].
    pub p_value: Option<f64>,
    /// The same, corrected for the number of rates that were looked at (Holm).
    pub adjusted_p_value: Option<f64>,
    /// What follows; absent with too few days.
    pub outcome: Option<Outcome>,
}

/// What became of each of these rates, in their order. The correction is over all of them.
#[must_use]
pub fn rate_trends(histories: &[RateHistory]) -> Vec<RateTrend> {
    let mut trends: Vec<RateTrend> = histories.iter().map(alone).collect();
    let tested: Vec<usize> = (0..trends.len())
        .filter(|&index| trends[index].p_value.is_some())
        .collect();
    let p_values: Vec<f64> = tested.iter().filter_map(|&i| trends[i].p_value).collect();
    for (index, adjusted) in tested.into_iter().zip(holm(&p_values)) {
        let trend = &mut trends[index];
        trend.adjusted_p_value = Some(adjusted);
        trend.outcome = trend
            .change_ratio
            .zip(trend.low_ratio.zip(trend.high_ratio))
            .map(|(ratio, (low, high))| outcome_of(adjusted, 1.0 + ratio, 1.0 + low, 1.0 + high));
    }
    trends
}

/// The trend of one rate, not yet corrected.
fn alone(history: &RateHistory) -> RateTrend {
    let days = days(&history.runs);
    let period_days = days.last().map_or(0.0, |last| last.0) - days.first().map_or(0.0, |d| d.0);
    let mut trend = RateTrend {
        metric: history.metric.clone(),
        quantity: history.quantity,
        days_count: days.len(),
        first_at_days: days.first().map(|day| day.0),
        period_days,
        change_ratio: None,
        low_ratio: None,
        high_ratio: None,
        p_value: None,
        adjusted_p_value: None,
        outcome: None,
    };
    let slopes = slopes(&days);
    let over_period = |slope: f64| libm::expm1(slope * period_days);
    trend.change_ratio = median(&slopes).map(over_period);
    if days.len() < LEAST_DAYS {
        return trend;
    }
    let orders = Orders::of(days.len());
    let rising = slopes.iter().filter(|slope| **slope > 0.0).count();
    let falling = slopes.iter().filter(|slope| **slope < 0.0).count();
    trend.p_value = Some(orders.two_sided(slopes.len() - rising.abs_diff(falling)));
    if let Some(rank) = orders.outer_rank() {
        trend.low_ratio = Some(over_period(slopes[rank]));
        trend.high_ratio = Some(over_period(slopes[slopes.len() - 1 - rank]));
    }
    trend
}

/// Each day's first moment and mean logarithm of the rate. Runs of one day share the state of the
/// card and the heat of the room: they are one observation. The first moment, not the mean one, so that
/// no two days are closer than [`DAY_HOURS`] and no slope rests on minutes.
fn days(runs: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let is_usable = |run: &&(f64, f64)| run.1 > 0.0 && run.0.is_finite();
    let mut runs: Vec<(f64, f64)> = runs.iter().filter(is_usable).copied().collect();
    runs.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut sums: Vec<(f64, f64, f64)> = Vec::new();
    for (at_days, value) in runs {
        let log = libm::log(value);
        match sums.last_mut() {
            Some((first, count, sum)) if at_days - *first < DAY_HOURS / 24.0 => {
                *count += 1.0;
                *sum += log;
            }
            _ => sums.push((at_days, 1.0, log)),
        }
    }
    let last = &sums[sums.len().saturating_sub(MOST_DAYS)..];
    last.iter().map(|day| (day.0, day.2 / day.1)).collect()
}

/// The slopes between all pairs of days, rising (Theil, Sen).
fn slopes(days: &[(f64, f64)]) -> Vec<f64> {
    let mut slopes = Vec::with_capacity(days.len() * days.len() / 2);
    for (index, later) in days.iter().enumerate() {
        let before = days[..index].iter();
        slopes.extend(before.map(|day| (later.1 - day.1) / (later.0 - day.0)));
    }
    slopes.sort_by(f64::total_cmp);
    slopes
}

/// How probable each number of pairs in the wrong order is among so many days without a trend.
struct Orders(Vec<f64>);

impl Orders {
    fn of(days: usize) -> Self {
        let mut shares = vec![1.0];
        for count in 2..=days {
            // The day that is added stands before 0 to count - 1 of the others.
            let mut next = vec![0.0; shares.len() + count - 1];
            let mut sum = 0.0;
            for (wrong, share) in next.iter_mut().enumerate() {
                sum += shares.get(wrong).copied().unwrap_or(0.0);
                if wrong >= count {
                    sum -= shares.get(wrong - count).copied().unwrap_or(0.0);
                }
                *share = sum / count as f64;
            }
            shares = next;
        }
        Self(shares)
    }

    /// The probability of an order at least as clear, either way. `doubled` is twice the number of
    /// pairs in the wrong order, a pair of equal rates counting half.
    fn two_sided(&self, doubled: usize) -> f64 {
        let wrong: f64 = self.0.iter().take(doubled / 2 + 1).sum();
        (2.0 * wrong).min(1.0)
    }

    /// How many slopes are beyond each end of a 95 % interval; `None` where it takes more days.
    fn outer_rank(&self) -> Option<usize> {
        let beyond = |rank: &usize| self.two_sided(2 * rank) <= 1.0 - COMPARISON_LEVEL;
        (0..self.0.len()).take_while(beyond).last()
    }
}
