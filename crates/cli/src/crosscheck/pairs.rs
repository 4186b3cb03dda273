//! Pairs of runs, and when there are enough of them.

use cardmark_report::Agreement;
use cardmark_stats::{median, median_interval};

use super::contest::Figures;
use crate::error::CommandError;

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rival {
    /// The original tool.
    Original,
    /// We.
    Ours,
}

/// Half-width of the interval of the median ratio at which no more pairs are added.
const GOAL_RATIO: f64 = 0.015;

/// Runs pairs until every figure's interval is narrow enough, at most `most_pairs`. Every other
/// pair begins with us, so that what drifts favours neither. `run` yields one side's figures.
/// Yields how the whole pairs compare, also where an error ended them.
pub(crate) fn compare(
    most_pairs: u32,
    mut run: impl FnMut(Rival, u32) -> Result<Figures, CommandError>,
) -> (Vec<Agreement>, Result<(), CommandError>) {
    let mut originals: Vec<Figures> = Vec::new();
    let mut ours: Vec<Figures> = Vec::new();
    for pair in 0..most_pairs {
        let first = if pair.is_multiple_of(2) {
            Rival::Original
        } else {
            Rival::Ours
        };
        for rival in [first, first.other()] {
            let side = match rival {
                Rival::Original => &mut originals,
                Rival::Ours => &mut ours,
            };
            match run(rival, pair) {
                Ok(figures) => side.push(figures),
                Err(error) => return (agreements(&originals, &ours), Err(error)),
            }
        }
        let agreements = agreements(&originals, &ours);
        if !agreements.is_empty() && agreements.iter().all(is_narrow) {
            return (agreements, Ok(()));
        }
    }
    (agreements(&originals, &ours), Ok(()))
}

impl Rival {
    fn other(self) -> Self {
        match self {
            Self::Original => Self::Ours,
            Self::Ours => Self::Original,
        }
    }
}

fn is_narrow(agreement: &Agreement) -> bool {
    let ends = agreement.low.zip(agreement.high);
    ends.is_some_and(|(low, high)| high - low <= 2.0 * GOAL_RATIO * agreement.ratio)
}

/// The figures that both sides have in every whole pair.
fn agreements(originals: &[Figures], ours: &[Figures]) -> Vec<Agreement> {
    let pairs_count = originals.len().min(ours.len());
    let (originals, ours) = (&originals[..pairs_count], &ours[..pairs_count]);
    let Some(first) = originals.first() else {
        return Vec::new();
    };
    first
        .iter()
        .filter_map(|(id, _)| agreement(id, &series(originals, id)?, &series(ours, id)?))
        .collect()
}

fn series(runs: &[Figures], id: &str) -> Option<Vec<f64>> {
    runs.iter()
        .map(|run| {
            run.iter()
                .find(|(known, _)| known == id)
                .map(|(_, value)| *value)
        })
        .collect()
}

fn agreement(id: &str, originals: &[f64], ours: &[f64]) -> Option<Agreement> {
    let mut ratios: Vec<f64> = ours.iter().zip(originals).map(|(o, t)| o / t).collect();
    let interval = median_interval(&ratios);
    ratios.sort_by(f64::total_cmp);
    Some(Agreement {
        id: id.to_owned(),
        pairs_count: ratios.len(),
        ratio: median(&ratios)?,
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        original: middle(originals)?,
        ours: middle(ours)?,
        original_spread_ratio: spread(originals)?,
        ours_spread_ratio: spread(ours)?,
    })
}

fn middle(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median(&sorted)
}

/// How far a tool's own runs differ: half of the range, relative to the median.
fn spread(values: &[f64]) -> Option<f64> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(0.5 * (high - low) / middle(values)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Exit;

    /// A rival whose figures are one per cent apart, the original's `factor` lower.
    fn steady(factor: f64) -> impl FnMut(Rival, u32) -> Result<Figures, CommandError> {
        move |rival, pair| {
            let wobble = 1.0 + 0.005 * f64::from(pair % 3);
            let value = match rival {
                Rival::Original => 100.0 * wobble,
                Rival::Ours => 100.0 * factor * wobble,
            };
            Ok(vec![("rate".to_owned(), value)])
        }
    }

    #[test]
    fn pairs_end_when_the_ratio_is_known() {
        let (agreements, _) = compare(30, steady(1.25));
        let only = &agreements[0];
        assert_eq!(only.pairs_count, 6);
        assert!((only.ratio - 1.25).abs() < 1e-9);
        assert!((only.original_spread_ratio - 0.005 / 1.005).abs() < 1e-9);
    }

    #[test]
    fn what_sways_goes_on_to_the_end_and_keeps_its_wide_interval() {
        let mut turn = 0u32;
        let run = |_: Rival, _: u32| {
            turn += 1;
            let value = if turn.is_multiple_of(3) { 130.0 } else { 100.0 };
            Ok(vec![("rate".to_owned(), value)])
        };
        let (agreements, _) = compare(12, run);
        assert_eq!(agreements[0].pairs_count, 12);
        assert!(agreements[0].high.unwrap() > 1.2);
    }

    #[test]
    fn what_ends_early_keeps_its_whole_pairs() {
        let mut steady = steady(1.25);
        let mut left = 15;
        let (agreements, ended) = compare(30, |rival, pair| {
            left -= 1;
            if left == 0 {
                return Err(CommandError::new(Exit::Trouble, "it broke"));
            }
            // Too far apart for an end.
            let mut figures = steady(rival, pair)?;
            figures[0].1 *= 1.0 + f64::from(left % 4);
            Ok(figures)
        });
        assert_eq!(ended.unwrap_err().what, "it broke");
        assert_eq!(agreements[0].pairs_count, 7);
    }

    #[test]
    fn every_other_pair_begins_with_us() {
        let mut order = Vec::new();
        let run = |rival: Rival, _: u32| {
            order.push(rival);
            Ok(vec![("rate".to_owned(), 1.0)])
        };
        compare(6, run).1.unwrap();
        use Rival::{Original, Ours};
        assert_eq!(order[..4], [Original, Ours, Ours, Original]);
    }
}
