//! The prediction interval for the next run: its factors and its coverage.

use cardmark_core::Rng;
use cardmark_stats::{AgainBasis, KnownSpread, again};

use crate::support::normal;

const KNOWN: KnownSpread = KnownSpread {
    pooled: 0.05,
    degrees: 46,
    typical: 0.01,
    typical_degrees: 1,
};

#[test]
fn the_basis_is_own_runs_from_three_on() {
    let basis = |values: &[f64], known| again(values, known).map(|again| again.basis);
    assert_eq!(basis(&[], Some(KNOWN)), None);
    assert_eq!(basis(&[100.0], None), None);
    assert_eq!(basis(&[100.0, 0.0, 90.0], Some(KNOWN)), None);
    assert_eq!(
        basis(&[100.0, 90.0], Some(KNOWN)),
        Some(AgainBasis::Published)
    );
    assert_eq!(
        basis(&[100.0, 90.0, 95.0], None),
        Some(AgainBasis::OwnRuns(3))
    );
}

/// t(95 %, 46) = 2.0129; t(95 %, 2) = 4.3027.
#[test]
fn ends_are_those_of_the_formula() {
    let one = again(&[100.0], Some(KNOWN)).unwrap();
    let half = 2.0129 * 0.05 * 2.0_f64.sqrt();
    assert!((one.high.ln() - 100.0_f64.ln() - half).abs() < 1e-4);
    assert!((one.low * one.high - 10_000.0).abs() < 1e-6);
    let step = 0.01_f64;
    let three = [100.0, 100.0 * step.exp(), 100.0 / step.exp()];
    let three = again(&three, None).unwrap();
    let half = 4.3027 * step * (4.0_f64 / 3.0).sqrt();
    assert!((three.high.ln() - 100.0_f64.ln() - half).abs() < 1e-5);
}

#[test]
fn the_next_run_lies_inside() {
    let mut rng = Rng::new(3);
    let pairs = 4_000;
    let (mut own, mut published) = (0, 0);
    for _ in 0..pairs {
        let mut run = || 100.0 * (0.05 * normal(&mut rng)).exp();
        let three = [run(), run(), run()];
        let next = run();
        let is_in = |values: &[f64]| {
            let range = again(values, Some(KNOWN)).unwrap();
            u32::from((range.low..=range.high).contains(&next))
        };
        own += is_in(&three);
        published += is_in(&three[..1]);
    }
    for hits in [own, published] {
        let share = f64::from(hits) / f64::from(pairs);
        assert!((share - 0.95).abs() < 0.015, "{share}");
    }
}
