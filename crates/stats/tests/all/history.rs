//! Trends over months: probabilities as in published tables, how often chance is taken for a
//! trend, and how often a trend is found.

use cardmark_core::{Quantity, Rng};
use cardmark_stats::{Outcome, RateHistory, RateTrend, rate_trends};

use crate::support::normal;

/// A history of one rate with one run on each of these days.
fn history(metric: &str, runs: Vec<(f64, f64)>) -> RateHistory {
    RateHistory {
        metric: metric.to_owned(),
        quantity: Quantity::OperationRate,
        runs,
    }
}

fn one(values: &[f64]) -> RateTrend {
    let runs = (0..)
        .map(|day| f64::from(day) + 0.4)
        .zip(values.iter().copied());
    rate_trends(&[history("rand_write_4k", runs.collect())]).remove(0)
}

#[test]
fn probabilities_are_those_of_the_tables() {
    // Hollander and Wolfe, table of Kendall's K: P(K ≥ 10) = 1/120 for n = 5, P(K ≥ 16) = 0.031 for
    // n = 8, P(K ≥ 23) = 0.023 for n = 10.
    let falling = one(&[100.0, 90.0, 80.0, 70.0, 60.0]);
    assert!((falling.p_value.unwrap() - 2.0 / 120.0).abs() < 1e-12);
    // Six pairs of 28 in the wrong order: K = 16.
    let eight = one(&[4.0, 3.0, 2.0, 1.0, 5.0, 6.0, 7.0, 8.0]);
    assert!((eight.p_value.unwrap() / 2.0 - 0.031).abs() < 0.0005);
    // Eleven of 45: K = 23.
    let ten = one(&[5.0, 4.0, 3.0, 2.0, 1.0, 7.0, 6.0, 8.0, 9.0, 10.0]);
    assert!((ten.p_value.unwrap() / 2.0 - 0.023).abs() < 0.0005);
    let without = one(&[1.0; 7]);
    assert!((without.p_value.unwrap() - 1.0).abs() < 1e-12);
}

#[test]
fn a_steady_fall_is_told_with_its_size_over_the_period() {
    let values: Vec<f64> = (0..8)
        .map(|day| 100.0 * 0.69_f64.powf(f64::from(day) / 7.0))
        .collect();
    let trend = one(&values);
    assert_eq!(trend.outcome, Some(Outcome::Lower));
    assert!((trend.change_ratio.unwrap() + 0.31).abs() < 1e-9);
    assert!((trend.period_days - 7.0).abs() < 1e-9);
    assert!(trend.p_value.unwrap() < 0.01);
    // A run that went wrong changes neither.
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
    // Each time a run at 23:59:30 and one at 00:00:30, whose rates differ.
    let pair = |day: f64| [(day - 30.0 * second, 60.0), (day + 30.0 * second, 100.0)];
    let runs = (1..=8).flat_map(|week| pair(7.0 * f64::from(week)));
    // In any order.
    let runs: Vec<(f64, f64)> = runs.rev().collect();
    let trend = &rate_trends(&[history("rand_write_4k", runs)])[0];
    assert_eq!(trend.days_count, 8);
    let (low, high) = (trend.low_ratio.unwrap(), trend.high_ratio.unwrap());
    assert!(low.abs() < 1e-9 && high.abs() < 1e-9, "{low} {high}");
    // Taken for two of five days, one pair alone would make the upper end of the interval infinite.
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
    // The first day's runs are mostly late, so that its mean moment is minutes before the second day.
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
    // The last 200 days are looked at.
    let long = trend(at(230).collect());
    assert_eq!((long.days_count, long.first_at_days), (200, Some(30.25)));
}

#[test]
fn a_steady_rate_is_the_same_once_there_are_enough_days() {
    let values = [100.0, 101.0, 99.5, 100.5, 99.0, 100.2, 100.9, 99.7, 100.1];
    assert_eq!(one(&values).outcome, Some(Outcome::Same));
}

/// Histories of eight rates of a card over so many days at irregular times. Runs differ in all rates
/// together and in each; `heavy`: one in ten differs by four times as much.
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

/// Share of cards in which at least one rate is said to have changed, and of rates that are.
fn found(cards: u64, days: u32, change: f64, heavy: bool) -> (f64, f64) {
    let (mut with_one, mut rates) = (0_u32, 0_u32);
    for seed in 0..cards {
        let trends = rate_trends(&card(seed, days, change, heavy));
        let changed =
            |trend: &&RateTrend| matches!(trend.outcome, Some(Outcome::Lower | Outcome::Higher));
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
fn a_fall_of_31_percent_is_found_in_every_rate() {
    for (days, least) in [(8, 0.95), (12, 0.98)] {
        let (_, rates) = found(500, days, -0.31, false);
        println!("{days} days: {:.1} %", 100.0 * rates);
        assert!(rates > least, "{days}: {rates}");
    }
    let (_, rates) = found(500, 12, -0.31, true);
    println!("12 days, heavy: {:.1} %", 100.0 * rates);
    assert!(rates > 0.9, "{rates}");
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
    assert!((0.94..0.985).contains(&share), "{share}");
}
