//! Trends over months: probabilities as in published tables, rate of false alarms, and rate of detection.

use cardmark_core::{Quantity, Rng};
use cardmark_stats::{Conclusion, HistoryRun, RateHistory, RateTrend, rate_trends};

use crate::support::normal;

/// Returns a history of one rate with one run on each of these days.
fn history(metric: &str, runs: Vec<(f64, f64)>) -> RateHistory {
    RateHistory {
        metric: metric.to_owned(),
        quantity: Quantity::OperationRate,
        runs: runs.into_iter().map(on_one_kernel).collect(),
    }
}

fn on_one_kernel((at_days, value): (f64, f64)) -> HistoryRun {
    HistoryRun {
        at_days,
        value,
        kernel: None,
        reference: None,
    }
}

fn one(values: &[f64]) -> RateTrend {
    let runs = (0..)
        .map(|day| f64::from(day) + 0.4)
        .zip(values.iter().copied());
    rate_trends(&[history("rand_write_4k", runs.collect())]).remove(0)
}

#[test]
fn a_steady_fall_is_told_with_its_size_over_the_period() {
    let values: Vec<f64> = (0..8)
        .map(|day| 100.0 * 0.69_f64.powf(f64::from(day) / 7.0))
        .collect();
    let trend = one(&values);
    assert_eq!(trend.outcome, Some(Conclusion::Lower));
    assert!((trend.change_ratio.unwrap() + 0.31).abs() < 1e-9);
    assert!((trend.period_days - 7.0).abs() < 1e-9);
    assert!(trend.p_value.unwrap() < 0.01);
    // A failed run changes neither.
    let mut odd = values;
    odd[3] = 20.0;
    let trend = one(&odd);
    assert!(
        (trend.change_ratio.unwrap() + 0.31).abs() < 0.02,
        "{trend:?}"
    );
}

#[test]
fn too_few_days_say_so_and_runs_of_one_day_are_one() {
    let trend = one(&[100.0, 90.0, 80.0, 70.0]);
    assert_eq!(
        (trend.days_count, trend.p_value, trend.outcome),
        (4, None, None)
    );
    assert!(trend.change_ratio.unwrap() < 0.0);
    let day = |day: f64, value| (0..9).map(move |run| (day + 0.01 * f64::from(run), value));
    let runs = day(1.0, 100.0).chain(day(40.0, 60.0)).collect();
    let trend = &rate_trends(&[history("rand_write_4k", runs)])[0];
    assert_eq!((trend.days_count, trend.outcome), (2, None));
    let none = &rate_trends(&[history("rand_write_4k", Vec::new())])[0];
    assert_eq!((none.days_count, none.change_ratio), (0, None));
}

#[test]
fn runs_on_both_sides_of_midnight_are_one_day() {
    let second = 1.0 / 86_400.0;
    // Each pair is a run at 23:59:30 and one at 00:00:30 with different rates.
    let pair = |day: f64| [(day - 30.0 * second, 60.0), (day + 30.0 * second, 100.0)];
    let runs = (1..=8).flat_map(|week| pair(7.0 * f64::from(week)));
    // In any order.
    let runs: Vec<(f64, f64)> = runs.rev().collect();
    let trend = &rate_trends(&[history("rand_write_4k", runs)])[0];
    assert_eq!(trend.days_count, 8);
    let (low, high) = (trend.low_ratio.unwrap(), trend.high_ratio.unwrap());
    assert!(low.abs() < 1e-9 && high.abs() < 1e-9, "{low} {high}");
    // If they counted as two of five days, one pair alone would make the upper end of the interval infinite.
    let mut runs: Vec<(f64, f64)> = (0..3).map(|week| (7.0 * f64::from(week), 80.0)).collect();
    runs.extend(pair(21.0));
    let trend = &rate_trends(&[history("rand_write_4k", runs.clone())])[0];
    assert_eq!((trend.days_count, trend.high_ratio), (4, None));
    runs.push((28.0, 80.0));
    let trend = &rate_trends(&[history("rand_write_4k", runs)])[0];
    assert_eq!(trend.days_count, 5);
    let (low, high) = (trend.low_ratio.unwrap(), trend.high_ratio.unwrap());
    assert!((-0.5..0.0).contains(&low), "{low}");
    assert!((0.0..0.5).contains(&high), "{high}");
}

#[test]
fn days_are_never_closer_than_12_hours() {
    let hour = 1.0 / 24.0;
    // Most of the first day's runs are late, so that its mean time is minutes before the second day.
    let mut runs = vec![(100.0, 100.0)];
    runs.extend((0..50).map(|_| (100.0 + 11.9 * hour, 100.0)));
    runs.push((100.0 + 12.0 * hour, 90.0));
    let trend = &rate_trends(&[history("rand_write_4k", runs)])[0];
    assert_eq!(trend.days_count, 2);
    assert!((trend.period_days - 0.5).abs() < 1e-9);
    assert!((trend.change_ratio.unwrap() + 0.1).abs() < 1e-9);
}

#[test]
fn a_trend_tells_since_when() {
    let at = |days: u32| (0..days).map(|day| (f64::from(day) + 0.25, 100.0));
    let trend = |runs: Vec<(f64, f64)>| rate_trends(&[history("rand_write_4k", runs)]).remove(0);
    assert_eq!(trend(Vec::new()).first_at_days, None);
    assert_eq!(trend(at(9).collect()).first_at_days, Some(0.25));
    // Only the last 200 days count.
    let long = trend(at(230).collect());
    assert_eq!((long.days_count, long.first_at_days), (200, Some(30.25)));
}

#[test]
fn a_steady_rate_is_the_same_once_there_are_enough_days() {
    let values = [100.0, 101.0, 99.5, 100.5, 99.0, 100.2, 100.9, 99.7, 100.1];
    assert_eq!(one(&values).outcome, Some(Conclusion::Same));
}

/// Returns histories of eight rates of a card over `days` at irregular times. Runs differ in all rates
/// together and in each; `heavy`: one in ten differs by four times this amount.
fn card(seed: u64, days: u32, change: f64, heavy: bool) -> Vec<RateHistory> {
    let mut rng = Rng::for_part(seed, "history", 0);
    let mut at = 20_000.0;
    let mut moments = Vec::new();
    for _ in 0..days {
        at += 1.0 + 60.0 * rng.unit() * rng.unit();
        let scale = if heavy && rng.unit() < 0.1 { 4.0 } else { 1.0 };
        moments.push((at, scale, 0.02 * scale * normal(&mut rng)));
    }
    let (first, last) = (moments[0].0, at);
    (0..8)
        .map(|number| {
            let runs = moments.iter().map(|&(at, scale, common)| {
                let own = 0.02 * scale * normal(&mut rng);
                let trend = (1.0_f64 + change).ln() * (at - first) / (last - first);
                (at, 1_000.0 * (common + own + trend).exp())
            });
            history(&format!("rate_{number}"), runs.collect())
        })
        .collect()
}

/// Returns the share of cards with at least one changed rate, and the share of changed rates.
fn found(cards: u64, days: u32, change: f64, heavy: bool) -> (f64, f64) {
    let (mut with_one, mut rates) = (0_u32, 0_u32);
    for seed in 0..cards {
        let trends = rate_trends(&card(seed, days, change, heavy));
        let changed = |trend: &&RateTrend| {
            matches!(trend.outcome, Some(Conclusion::Lower | Conclusion::Higher))
        };
        let count = u32::try_from(trends.iter().filter(changed).count()).unwrap();
        with_one += u32::from(count > 0);
        rates += count;
    }
    let share = |count: u32, of: f64| f64::from(count) / of;
    (
        share(with_one, cards as f64),
        share(rates, 8.0 * cards as f64),
    )
}

#[test]
fn chance_is_taken_for_a_trend_in_at_most_one_card_of_twenty() {
    for heavy in [false, true] {
        for days in [5, 6, 8, 12, 24] {
            let (alarms, _) = found(2_000, days, 0.0, heavy);
            println!("{days} days, heavy {heavy}: {:.1} %", 100.0 * alarms);
            // Three standard errors of 5 % among 2,000.
            assert!(alarms < 0.05 + 0.0146, "{days} {heavy}: {alarms}");
        }
    }
}

#[test]
fn a_fall_by_half_is_found_in_every_rate() {
    let (_, rates) = found(500, 24, -0.5, false);
    println!("24 days: {:.1} %", 100.0 * rates);
    assert!(rates > 0.98, "{rates}");
}

/// Returns weekly runs with a common deviation of 2 % (correlation 0.8 from week to week), 2 % of each rate's
/// own, a season, and a step with a new kernel in the middle.
fn weekly(seed: u64, weeks: u32, change: f64, season: f64, step: f64) -> Vec<RateHistory> {
    let mut rng = Rng::for_part(seed, "weekly", u64::from(weeks));
    let mut level = normal(&mut rng);
    let phase = std::f64::consts::TAU * rng.unit();
    let mut common = Vec::new();
    for _ in 0..weeks {
        common.push(0.02 * level);
        level = 0.8 * level + 0.6 * normal(&mut rng);
    }
    let rate = |number: u32, rng: &mut Rng| {
        let run = |week: u32| {
            let at_days = 20_000.0 + 7.0 * f64::from(week);
            let is_new = 2 * week >= weeks;
            let part = f64::from(week) / f64::from(weeks - 1);
            let log = common[week as usize]
                + 0.02 * normal(rng)
                + season * (phase + std::f64::consts::TAU * at_days / 365.25).sin()
                + if is_new { step } else { 0.0 }
                + (1.0 + change).ln() * part;
            HistoryRun {
                at_days,
                value: 1_000.0 * log.exp(),
                kernel: Some(if is_new { "6.12" } else { "6.6" }.to_owned()),
                reference: None,
            }
        };
        RateHistory {
            metric: format!("rate_{number}"),
            quantity: Quantity::OperationRate,
            runs: (0..weeks).map(run).collect(),
        }
    };
    (0..8).map(|number| rate(number, &mut rng)).collect()
}

/// At most 6.5 % plus three standard errors of 300 histories.
#[test]
fn slow_changes_seasons_and_kernels_are_no_wear() {
    for weeks in [8, 24, 52] {
        let cards = (0..300).map(|seed| rate_trends(&weekly(seed, weeks, 0.0, 0.03, 0.04)));
        let changed = |trend: &RateTrend| {
            matches!(trend.outcome, Some(Conclusion::Lower | Conclusion::Higher))
        };
        let alarms = cards.filter(|trends| trends.iter().any(changed)).count();
        assert!(alarms <= 32, "{weeks} weeks: {alarms} of 300");
    }
}

/// A random walk of 3 % a week ends a year 20 % lower often enough.
#[test]
fn a_fall_by_half_in_a_year_is_found_and_one_of_20_percent_can_be_chance() {
    let fallen = |change| {
        let trends = (0..100).flat_map(|seed| rate_trends(&weekly(seed, 52, change, 0.0, 0.0)));
        trends
            .filter(|t| t.outcome == Some(Conclusion::Lower))
            .count()
    };
    let trends = rate_trends(&weekly(0, 52, -0.20, 0.0, 0.0));
    assert_eq!(trends[0].kernel_changes_at_days, [20_000.0 + 7.0 * 26.0]);
    let (fifth, half) = (fallen(-0.20), fallen(-0.5));
    println!("{fifth} and {half} of 800");
    assert!(half >= 640, "{half} of 800");
    assert!(fifth <= 160, "{fifth} of 800");
}

#[test]
fn intervals_of_the_change_hold_it() {
    let (mut held, mut all) = (0_u32, 0_u32);
    for seed in 0..500 {
        for trend in rate_trends(&card(seed, 9, -0.2, false)) {
            let (low, high) = (trend.low_ratio.unwrap(), trend.high_ratio.unwrap());
            held += u32::from((low..=high).contains(&-0.2));
            all += 1;
        }
    }
    let share = f64::from(held) / f64::from(all);
    println!("{share}");
    // Wider than for independent days.
    assert!(share >= 0.94, "{share}");
}
