//! Tests of the trend detection on settled and other series.

use cardmark_core::Rng;
use cardmark_stats::{TrendShape, trend};

use crate::support::{correlated, normal, share_of, trials_at};

fn of(rates: &[f64]) -> Option<cardmark_stats::Trend> {
    trend(&trials_at(rates).iter().collect::<Vec<_>>())
}

#[test]
fn false_alarms_are_rare() {
    for count in [6, 12, 24] {
        for (correlation, spread) in [(0.0, 0.02), (0.0, 0.1), (0.0, 0.3), (0.3, 0.1), (0.5, 0.1)] {
            alarms_are_rare(
                &format!("{count} of {spread}, correlation {correlation}"),
                |rng| {
                    let series = correlated(rng, correlation, count);
                    series.iter().map(|z| 1e6 * (1.0 + spread * z)).collect()
                },
            );
        }
        // With more stalls, six trials often contain a true cliff by chance: all stalls in one half.
        alarms_are_rare(&format!("{count}, every eighth stalls"), |rng| {
            let rate = |rng: &mut Rng| if rng.below(8) == 0 { 4e5 } else { 1e6 };
            (0..count)
                .map(|_| rate(rng) * (1.0 + 0.02 * normal(rng)))
                .collect()
        });
    }
}

fn alarms_are_rare(name: &str, mut series: impl FnMut(&mut Rng) -> Vec<f64>) {
    let name = format!("alarms, {name}");
    let share = share_of(&name, 4_000, |rng| of(&series(rng)).unwrap().significant);
    assert!(share <= 0.005, "{name}: {share}");
}

#[test]
fn cliffs_and_slopes_are_seen() {
    let share = share_of("cliffs seen", 500, |rng| {
        let level = |i: usize| if i < 4 { 1e6 } else { 5e5 };
        let rates: Vec<_> = (0..12)
            .map(|i| level(i) * (1.0 + 0.03 * normal(rng)))
            .collect();
        let found = of(&rates).unwrap();
        found.significant && found.shape == TrendShape::Step(4) && found.ratio_per_run < -0.6
    });
    assert!(share > 0.99, "{share}");
    let share = share_of("slopes seen", 500, |rng| {
        let rates: Vec<_> = (0..12)
            .map(|i| 1e6 * (1.0 + 0.04 * f64::from(i)) * (1.0 + 0.02 * normal(rng)))
            .collect();
        let found = of(&rates).unwrap();
        found.significant && found.ratio_per_run > 0.2
    });
    assert!(share > 0.95, "{share}");
}

#[test]
fn a_sure_but_small_change_is_not_worth_a_finding() {
    let rates: Vec<_> = (0..12).map(|i| 1e6 + 2e3 * f64::from(i)).collect();
    assert!(!of(&rates).unwrap().significant);
}

#[test]
fn the_shortest_series_shows_a_clear_cliff_and_shorter_ones_nothing() {
    assert!(
        of(&[100e4, 101e4, 99e4, 50e4, 51e4, 49e4])
            .unwrap()
            .significant
    );
    assert_eq!(of(&[100e4, 101e4, 50e4, 51e4, 49e4]), None);
    assert!(!of(&[1e6; 8]).unwrap().significant);
}
