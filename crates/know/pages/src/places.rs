//! Possible places of products by shared runs: what is printed before a name is a claim about other cards of it.

use std::sync::Arc;

use cardmark_judge::{known_elsewhere, known_spread};
use cardmark_stats::{Order, Place, Ranked};

use crate::views::product::SummaryView;
use crate::views::published::quantity;

/// The figures under the same circumstances, which contain the board; each submitter counts as a card.
fn ranked(summary: &SummaryView) -> Ranked {
    let (metric, quantity) = (&summary.metric, quantity(&summary.metric));
    // The variance of a median is larger than that of a mean by π/2, about 11/7.
    let count = usize::try_from(summary.submitters_count * 7 / 11).unwrap_or(usize::MAX);
    Ranked {
        value: summary.median,
        runs_count: count,
        cards_count: count,
        card: None,
        place: Arc::new(Place {
            board: summary.context.get("board").cloned(),
            ..Place::default()
        }),
        spread: known_spread(metric, quantity),
        elsewhere: known_elsewhere(metric, quantity),
        method: "",
        between_methods: 0.0,
    }
}

/// Returns the first and last possible place of each product of a ranking, from 1. A product is clearly before another if the
/// published deviations between cards separate the two, and the intervals of their medians do not overlap, as far as either is known.
pub fn possible(list: &[&SummaryView]) -> Vec<[usize; 2]> {
    let figures: Vec<Ranked> = list.iter().map(|one| ranked(one)).collect();
    let order = Order::of(&figures);
    let is_known = |index: usize| figures[index].spread.is_some();
    let is_before = |one: usize, other: usize| {
        let by_deviation =
            (is_known(one) && is_known(other)).then(|| order.is_clearly_above(one, other));
        let intervals = interval(list[one]).zip(interval(list[other]));
        let by_interval = intervals.map(|(one, other)| one.0 > other.1 || one.1 < other.0);
        let known = [by_deviation, by_interval].into_iter().flatten();
        one < other && known.min() == Some(true)
    };
    let count = list.len();
    let places = (0..count).map(|one| {
        let before = (0..one).filter(|other| is_before(*other, one)).count();
        let after = (one + 1..count).filter(|other| is_before(one, *other));
        [1 + before, count - after.count()]
    });
    places.collect()
}

/// The interval of the median, from six submitters on.
fn interval(summary: &SummaryView) -> Option<(f64, f64)> {
    summary.low.zip(summary.high)
}

#[cfg(test)]
mod tests {
    use cardmark_share::Summary;

    use super::*;

    fn summary(metric: &str, median: f64, submitters_count: u64, ends: Option<f64>) -> SummaryView {
        SummaryView {
            metric: metric.to_owned(),
            context: [("board".to_owned(), "Raspberry Pi 5".to_owned())].into(),
            cards_count: submitters_count,
            submitters_count,
            is_ranked: true,
            median,
            low: ends.map(|factor| median / factor),
            high: ends.map(|factor| median * factor),
            lower_quartile: median,
            upper_quartile: median,
            submitters: Summary::default(),
        }
    }

    fn places(summaries: &[SummaryView]) -> Vec<[usize; 2]> {
        possible(&summaries.iter().collect::<Vec<_>>())
    }

    #[test]
    fn few_submitters_do_not_decide_close_products() {
        let of = |second, count| {
            let metric = "rand_write_4k";
            places(&[
                summary(metric, 1000.0, count, None),
                summary(metric, second, count, None),
            ])
        };
        assert_eq!(of(800.0, 3), [[1, 2], [1, 2]]);
        assert_eq!(of(200.0, 3), [[1, 1], [2, 2]]);
        assert_eq!(of(1000.0, 300), [[1, 2], [1, 2]], "equal figures");
    }

    #[test]
    fn overlapping_intervals_are_not_in_order_whatever_the_published_deviations() {
        let of = |metric, ends| {
            places(&[
                summary(metric, 1000.0, 60, Some(ends)),
                summary(metric, 500.0, 60, Some(ends)),
            ])
        };
        assert_eq!(of("rand_write_4k", 1.1), [[1, 1], [2, 2]]);
        assert_eq!(of("rand_write_4k", 1.5), [[1, 2], [1, 2]]);
        // Without published deviations the intervals decide alone, and nothing without them.
        assert_eq!(of("sync_write_4k", 1.1), [[1, 1], [2, 2]]);
        assert_eq!(of("sync_write_4k", 1.5), [[1, 2], [1, 2]]);
        let bare = [900.0, 1.0].map(|median| summary("sync_write_4k", median, 3, None));
        assert_eq!(places(&bare), [[1, 2], [1, 2]]);
    }
}
