//! Pairs of runs, and when there are enough of them.

use cardmark_core::Quantity;
use cardmark_report::Agreement;
use cardmark_stats::{median, median_interval};
use serde::{Deserialize, Serialize};

use crate::contest::Figures;
use cardmark_session::CommandError;

/// Side of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rival {
    /// The original tool.
    Original,
    /// Cardmark.
    Ours,
}

/// Half-width of the interval of the median ratio at which no more pairs are added.
const GOAL_RATIO: f64 = 0.015;

/// Pairs of runs of one contest, in the order in which they were run. Every other pair begins with cardmark, so
/// that drift favours neither.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Pairs {
    originals: Vec<Figures>,
    ours: Vec<Figures>,
}

impl Pairs {
    /// Number of whole pairs.
    pub(crate) fn count(&self) -> usize {
        self.originals.len().min(self.ours.len())
    }

    /// The whole pairs: the other half of a pair would come too late.
    pub(crate) fn whole(mut self) -> Self {
        let count = self.count();
        self.originals.truncate(count);
        self.ours.truncate(count);
        self
    }

    /// Returns whether there are `most_pairs`, or every figure's interval is narrow enough.
    pub(crate) fn are_enough(&self, most_pairs: u32) -> bool {
        let is_even = self.originals.len() == self.ours.len();
        let agreements = self.agreements();
        let are_narrow = !agreements.is_empty() && agreements.iter().all(is_narrow);
        is_even && (self.count() >= most_pairs as usize || are_narrow)
    }

    /// Adds pairs until there are enough; `run` returns the figures of one side, `keep` is called after each
    /// whole pair. An error of either ends them.
    pub(crate) fn complete(
        &mut self,
        most_pairs: u32,
        mut run: impl FnMut(Rival, usize) -> Result<Figures, CommandError>,
        mut keep: impl FnMut(&Self) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        while !self.are_enough(most_pairs) {
            let pair = self.count();
            let first = if pair.is_multiple_of(2) {
                Rival::Original
            } else {
                Rival::Ours
            };
            for rival in [first, first.other()] {
                let figures = run(rival, pair)?;
                match rival {
                    Rival::Original => self.originals.push(figures),
                    Rival::Ours => self.ours.push(figures),
                }
            }
            keep(self)?;
        }
        Ok(())
    }

    /// Comparison of the figures that both sides have in every whole pair.
    pub(crate) fn agreements(&self) -> Vec<Agreement> {
        agreements(&self.originals, &self.ours)
    }
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
        quantity: quantity(id),
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

/// Quantity of a figure of the suite.
fn quantity(id: &str) -> Quantity {
    let suite = cardmark_catalog::crosscheck_suite().ok();
    let figure = suite.and_then(|suite| suite.figures.into_iter().find(|figure| figure.id == id));
    let quantity = figure.and_then(|figure| figure.of.quantity());
    quantity.unwrap_or(Quantity::ByteRate)
}

fn middle(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median(&sorted)
}

/// Spread of a tool's own runs: half of the range, relative to the median.
fn spread(values: &[f64]) -> Option<f64> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(0.5 * (high - low) / middle(values)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardmark_session::Exit;

    fn kept(_: &Pairs) -> Result<(), CommandError> {
        Ok(())
    }

    /// A rival whose figures are one per cent apart, the original's `factor` lower.
    fn steady(factor: f64) -> impl FnMut(Rival, usize) -> Result<Figures, CommandError> {
        move |rival, pair| {
            let wobble = 1.0 + 0.005 * (pair % 3) as f64;
            let value = match rival {
                Rival::Original => 100.0 * wobble,
                Rival::Ours => 100.0 * factor * wobble,
            };
            Ok(vec![("rate".to_owned(), value)])
        }
    }

    #[test]
    fn pairs_end_when_the_ratio_is_known() {
        let mut pairs = Pairs::default();
        pairs.complete(30, steady(1.25), kept).unwrap();
        let only = &pairs.agreements()[0];
        assert_eq!(only.pairs_count, 6);
        assert!((only.ratio - 1.25).abs() < 1e-9);
        assert!((only.original_spread_ratio - 0.005 / 1.005).abs() < 1e-9);
    }

    #[test]
    fn a_swaying_ratio_goes_on_to_the_end_and_keeps_its_wide_interval() {
        let mut turn = 0u32;
        let run = |_: Rival, _: usize| {
            turn += 1;
            let value = if turn.is_multiple_of(3) { 130.0 } else { 100.0 };
            Ok(vec![("rate".to_owned(), value)])
        };
        let mut pairs = Pairs::default();
        pairs.complete(12, run, kept).unwrap();
        let agreements = pairs.agreements();
        assert_eq!(agreements[0].pairs_count, 12);
        assert!(agreements[0].high.unwrap() > 1.2);
    }

    /// A contest that breaks in the middle of its eighth pair, and what was kept of it.
    fn broken() -> (Pairs, Pairs) {
        let mut steady = steady(1.25);
        let mut left = 15;
        let (mut pairs, mut last) = (Pairs::default(), Pairs::default());
        let ended = pairs.complete(
            30,
            |rival, pair| {
                left -= 1;
                if left == 0 {
                    return Err(CommandError::new(Exit::Trouble, "it broke"));
                }
                // Too far apart for an end.
                let mut figures = steady(rival, pair)?;
                figures[0].1 *= 1.0 + f64::from(left % 4);
                Ok(figures)
            },
            |pairs| {
                last = pairs.clone();
                Ok(())
            },
        );
        assert_eq!(ended.unwrap_err().what, "it broke");
        (pairs, last)
    }

    #[test]
    fn an_early_end_keeps_its_whole_pairs() {
        let (pairs, kept) = broken();
        assert_eq!(pairs.agreements()[0].pairs_count, 7);
        assert_eq!((pairs.whole().count(), kept.count()), (7, 7));
    }

    #[test]
    fn kept_pairs_continue_where_they_ended() {
        let (_, mut pairs) = broken();
        let mut added = Vec::new();
        let mut steady = steady(1.25);
        let run = |rival: Rival, pair: usize| {
            added.push((rival, pair));
            steady(rival, pair)
        };
        pairs.complete(9, run, kept).unwrap();
        use Rival::{Original, Ours};
        assert_eq!(added, [(Ours, 7), (Original, 7), (Original, 8), (Ours, 8)]);
    }

    #[test]
    fn every_other_pair_begins_with_us() {
        let mut order = Vec::new();
        let run = |rival: Rival, _: usize| {
            order.push(rival);
            Ok(vec![("rate".to_owned(), 1.0)])
        };
        Pairs::default().complete(6, run, kept).unwrap();
        use Rival::{Original, Ours};
        assert_eq!(order[..4], [Original, Ours, Ours, Original]);
    }
}
