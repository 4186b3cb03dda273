//! Changes of level: rates of false ones on cards that do not change, and of those found.

use cardmark_core::{Quantity, Rng};
use cardmark_stats::{Conclusion, HistoryRun, RateHistory, RateTrend, rate_trends};

use crate::support::normal;

/// Deviations of one rate of a card that does not change, by day.
type Deviation = fn(&mut Rng, &[f64]) -> Vec<f64>;

/// Deviations with a correlation of 0.8 from run to run and a standard deviation of 10 %.
fn correlated(rng: &mut Rng, at_days: &[f64]) -> Vec<f64> {
    let mut level = normal(rng);
    let next = |_: &f64| {
        let now = 0.10 * level;
        level = 0.8 * level + 0.6 * normal(rng);
        now
    };
    at_days.iter().map(next).collect()
}

fn season(rng: &mut Rng, at_days: &[f64]) -> Vec<f64> {
    let phase = std::f64::consts::TAU * rng.unit();
    let turn = |at: f64| (phase + std::f64::consts::TAU * at / 365.25).sin();
    let one = |at: &f64| 1.12_f64.ln() * turn(*at) + 0.03 * normal(rng);
    at_days.iter().map(one).collect()
}

/// A random walk of 3 % a week.
fn walk(rng: &mut Rng, at_days: &[f64]) -> Vec<f64> {
    let (mut sum, mut before) = (0.0, at_days[0]);
    let next = |at: &f64| {
        sum += 0.03 * ((at - before) / 7.0).sqrt() * normal(rng);
        before = *at;
        sum + 0.02 * normal(rng)
    };
    at_days.iter().map(next).collect()
}

/// One of ten runs is disturbed: slower by up to two thirds.
fn disturbed(rng: &mut Rng, at_days: &[f64]) -> Vec<f64> {
    let one = |_: &f64| {
        let slower = if rng.unit() < 0.1 { rng.unit() } else { 0.0 };
        0.04 * normal(rng) - slower
    };
    at_days.iter().map(one).collect()
}

/// Returns the trends of eight rates that differ by `ratio` in the last `after` runs.
fn trends(
    seed: u64,
    at_days: &[f64],
    deviation: Deviation,
    after: usize,
    ratio: f64,
) -> Vec<RateTrend> {
    let mut rng = Rng::for_part(seed, "shifts", at_days.len() as u64);
    let first = at_days.len() - after;
    let mut rate = |number: usize| {
        let logs = deviation(&mut rng, at_days);
        let run = |(index, log): (usize, f64)| HistoryRun {
            at_days: at_days[index],
            value: 1_000.0 * log.exp() * if index < first { 1.0 } else { ratio },
            kernel: None,
            reference: None,
        };
        RateHistory {
            metric: format!("rate_{number}"),
            quantity: Quantity::OperationRate,
            runs: logs.into_iter().enumerate().map(run).collect(),
        }
    };
    let histories: Vec<RateHistory> = (0..8).map(&mut rate).collect();
    rate_trends(&histories)
}

fn every(days: f64, count: u32) -> Vec<f64> {
    (0..count)
        .map(|index| 20_000.3 + days * f64::from(index))
        .collect()
}

fn is_changed(trend: &RateTrend) -> bool {
    trend.shift.is_some() || matches!(trend.outcome, Some(Conclusion::Lower | Conclusion::Higher))
}

/// At most 6.5 % of histories have a rate with a trend or a shift, plus three standard errors of 200.
#[test]
fn seasons_walks_and_correlated_days_are_no_change() {
    let processes: [(&str, Deviation); 4] = [
        ("correlated", correlated),
        ("season", season),
        ("walk", walk),
        ("disturbed", disturbed),
    ];
    for at_days in [
        every(7.0, 7),
        every(75.0, 7),
        every(75.0, 10),
        every(7.0, 12),
        every(7.0, 24),
        every(7.0, 52),
        every(1.0, 60),
        every(28.0, 20),
    ] {
        for (name, deviation) in processes {
            let alarms = (0..200)
                .filter(|seed| {
                    trends(*seed, &at_days, deviation, 0, 1.0)
                        .iter()
                        .any(is_changed)
                })
                .count();
            println!("{name}, {} runs: {alarms} of 200", at_days.len());
            assert!(
                alarms <= 23,
                "{name}, {} runs: {alarms} of 200",
                at_days.len()
            );
        }
    }
}

fn noise(rng: &mut Rng, at_days: &[f64]) -> Vec<f64> {
    at_days.iter().map(|_| 0.06 * normal(rng)).collect()
}

#[test]
fn half_is_found_after_three_runs_and_30_percent_after_five() {
    let at_days = every(7.0, 24);
    for (after, ratio, least) in [(3, 0.5, 0.90), (5, 0.7, 0.80), (3, 2.0, 0.90)] {
        let all: Vec<RateTrend> = (0..50)
            .flat_map(|seed| trends(seed, &at_days, noise, after, ratio))
            .collect();
        let first = at_days[24 - after];
        let is_right = |trend: &&RateTrend| {
            trend.shift.is_some_and(|shift| {
                (shift.change_ratio > 0.0) == (ratio > 1.0) && (shift.at_days - first).abs() < 7.5
            })
        };
        let found = all.iter().filter(is_right).count() as f64 / all.len() as f64;
        println!("{ratio} after {after}: {found}");
        assert!(found >= least, "{ratio} after {after}: {found}");
    }
}

#[test]
fn a_level_that_returned_is_no_change() {
    let mut values = vec![1_000.0; 20];
    values[9..14].fill(400.0);
    let runs = (0..).zip(values).map(|(week, value)| HistoryRun {
        at_days: 20_000.0 + 7.0 * f64::from(week),
        value,
        kernel: None,
        reference: None,
    });
    let history = RateHistory {
        metric: "rand_write_4k".to_owned(),
        quantity: Quantity::OperationRate,
        runs: runs.collect(),
    };
    assert_eq!(rate_trends(&[history])[0].shift, None);
}

/// Runs with these rates, the days between them equal.
fn of(days: f64, values: &[f64]) -> RateTrend {
    let at_days: Vec<f64> = (0..)
        .map(|index| days * f64::from(index))
        .take(values.len())
        .collect();
    at(&at_days, values)
}

/// Runs with these rates on these days.
fn at(at_days: &[f64], values: &[f64]) -> RateTrend {
    let runs = at_days.iter().zip(values).map(|(days, value)| HistoryRun {
        at_days: 20_000.0 + days,
        value: *value,
        kernel: None,
        reference: None,
    });
    let history = RateHistory {
        metric: "rand_write_4k".to_owned(),
        quantity: Quantity::OperationRate,
        runs: runs.collect(),
    };
    rate_trends(&[history]).remove(0)
}

#[test]
fn a_jump_counts_with_few_runs_and_over_long_pauses() {
    let fallen = [910.0, 907.0, 902.0, 927.0, 530.0, 507.0, 520.0];
    for days in [1.0, 7.0, 75.0] {
        let trend = of(days, &fallen);
        let shift = trend.shift.unwrap();
        assert_eq!((shift.days_count, shift.beyond_count), (3, 3), "{days}");
        assert!((shift.change_ratio + 0.43).abs() < 0.01, "{days}");
        assert_eq!(trend.seen, None);
    }
    // Other steps of the same kind, or too few of them, are no jump; and two states by chance are often as three and four.
    let uneven = [910.0, 640.0, 902.0, 927.0, 530.0, 507.0, 520.0];
    let early = [907.0, 902.0, 927.0, 530.0, 507.0, 520.0, 516.0, 523.0];
    for values in [&uneven[..], &fallen[1..], &fallen[..6], &early[..]] {
        assert_eq!(of(75.0, values).shift, None, "{values:?}");
    }
}

#[test]
fn a_step_over_a_long_pause_is_a_jump_only_if_it_is_large_for_its_time() {
    let values = [1_000.0, 1_010.0, 1_000.0, 1_010.0, 700.0, 707.0, 700.0];
    let is_jump = |at_days: [f64; 7]| at(&at_days, &values).shift.is_some();
    assert!(is_jump([0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0]));
    assert!(!is_jump([0.0, 1.0, 2.0, 3.0, 203.0, 204.0, 205.0]));
    // Noise does not grow with time: the other steps are as large over a day as over 100.
    let values = [1_000.0, 1_060.0, 1_000.0, 1_060.0, 700.0, 742.0, 700.0];
    let is_jump = |at_days: [f64; 7]| at(&at_days, &values).shift.is_some();
    assert!(!is_jump([0.0, 100.0, 200.0, 300.0, 301.0, 401.0, 501.0]));
}

#[test]
fn last_runs_that_differ_are_seen_before_they_can_be_decided() {
    let seen = |values: &[f64]| {
        let seen = of(0.01, values).seen?;
        let percent = (100.0 * seen.change_ratio).round();
        Some((percent, seen.before_count, seen.after_count, seen.is_few()))
    };
    let fallen = [910.0, 907.0, 902.0, 927.0, 530.0, 507.0, 520.0];
    assert_eq!(seen(&fallen), Some((-43.0, 4, 3, true)));
    assert_eq!(seen(&fallen[..5]), Some((-42.0, 4, 1, true)));
    let risen = [500.0, 510.0, 505.0, 900.0, 910.0];
    assert_eq!(seen(&risen), Some((79.0, 3, 2, true)));
    // Three runs are too few, and so is a difference of a tenth, or parts that overlap.
    assert_eq!(seen(&fallen[2..5]), None);
    assert_eq!(seen(&[910.0, 905.0, 900.0, 800.0, 810.0]), None);
    assert_eq!(seen(&[910.0, 500.0, 905.0, 510.0, 900.0]), None);
}
