//! Differences between figures of one card from run to run, from published repeats.

use std::sync::LazyLock;

use cardmark_core::Quantity;
use serde::Deserialize;

use crate::facts::from_toml;

const TEXT: &str = include_str!("../facts/spreads.toml");

static ALL: LazyLock<File> = LazyLock::new(|| from_toml(TEXT).unwrap_or_default());

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    any_class: RepeatPairs,
    spreads: Vec<Spread>,
    repeats: Vec<Repeats>,
    series: Vec<Repeats>,
}

/// Spread between runs of one card in a class of metrics.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spread {
    /// The class, such as `random_write`.
    pub class: String,
    /// Beginnings of the ids of its metrics.
    pub metrics: Vec<String>,
    /// Pooled standard deviation of ln(figure), including outlying runs.
    pub pooled: f64,
    /// Degrees of freedom of the pooled deviation.
    pub degrees: u32,
    /// Standard deviation of ln(figure) of a typical card.
    pub typical: f64,
    /// Degrees of freedom of the distribution of variances over cards.
    pub typical_degrees: u32,
    /// Differences between two repeats.
    pub pairs: RepeatPairs,
}

/// Differences between two repeats of one card: absolute logarithms of their ratio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepeatPairs {
    /// Number of pairs.
    pub count: u32,
    /// Exceeded by 10 of 100 pairs.
    pub p90: f64,
    /// Exceeded by 1 of 100 pairs.
    pub p99: f64,
}

/// Repeats in one source.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Repeats {
    /// The class of metrics.
    pub class: String,
    /// Source of the repeats.
    pub source: String,
    /// Day on which the source was read.
    pub checked_on: String,
    /// True if they are calculated from the published figures that are part of the program.
    #[serde(default)]
    pub published: bool,
    /// Number of groups of runs of one card in one setting and metric.
    pub groups_count: u32,
    /// Degrees of freedom: number of runs minus number of groups.
    pub degrees: u32,
    /// Pooled standard deviation of ln(figure).
    pub pooled: f64,
    /// Median of the groups' deviations.
    pub median: Option<f64>,
}

/// Returns the spreads of all classes with repeats.
pub fn spreads() -> &'static [Spread] {
    &ALL.spreads
}

/// Returns the repeats from which the spreads are calculated.
pub fn repeats() -> &'static [Repeats] {
    &ALL.repeats
}

/// Returns figures of one product on one board from release to release of a system, perhaps of several cards. They are no
/// part of the spreads.
#[must_use]
pub fn series() -> &'static [Repeats] {
    &ALL.series
}

/// Returns the spread of the metric's class; `None` for latencies and other figures that are not rates, and
/// for classes without published repeats.
pub fn spread_of(metric: &str, quantity: Quantity) -> Option<&'static Spread> {
    class_with(metric).filter(|_| quantity.is_rate())
}

/// Returns the class of a rate, or of a latency that accompanies it.
pub fn class_of(metric: &str) -> Option<&'static str> {
    class_with(metric).map(|spread| spread.class.as_str())
}

fn class_with(metric: &str) -> Option<&'static Spread> {
    let fits = |spread: &&Spread| spread.metrics.iter().any(|begin| metric.starts_with(begin));
    spreads().iter().find(fits)
}

/// Returns the differences between two repeats in the metric's class, no smaller than those in all classes: a class with
/// few sources has not seen the outlying runs of the others. For rates of a class without published repeats, those of
/// all classes; `None` for other figures.
pub fn repeat_pairs_of(metric: &str, quantity: Quantity) -> Option<RepeatPairs> {
    let any = ALL.any_class;
    let own = spread_of(metric, quantity).map_or(any, |spread| spread.pairs);
    quantity.is_rate().then_some(RepeatPairs {
        count: own.count,
        p90: own.p90.max(any.p90),
        p99: own.p99.max(any.p99),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{publications, suite};

    #[test]
    fn the_file_is_read_and_every_class_has_repeats() {
        from_toml::<File>(TEXT).expect("spreads and repeats");
        for spread in spreads() {
            assert!(repeats().iter().any(|row| row.class == spread.class));
            assert!(spread.typical > 0.0 && spread.typical < spread.pooled);
            assert!(spread.typical_degrees >= 1);
        }
        for row in repeats() {
            assert!(spreads().iter().any(|spread| spread.class == row.class));
            assert!(
                row.published || row.source.contains("://"),
                "{}",
                row.source
            );
            assert_eq!(row.checked_on.len(), 10);
            assert!(row.median.is_none_or(|median| median <= row.pooled * 1.01));
        }
    }

    /// Years and releases add to the differences between runs of one day.
    #[test]
    fn series_of_a_product_differ_more_than_repeats_of_a_card() {
        assert!(!series().is_empty());
        for row in series() {
            let own = spreads().iter().find(|spread| spread.class == row.class);
            assert!(own.is_some_and(|spread| row.pooled > spread.pooled));
            assert!(!row.published && row.source.contains("://") && row.degrees > row.groups_count);
        }
    }

    /// Root of the mean variance, weighted by degrees of freedom.
    #[test]
    fn pooled_spreads_follow_from_their_rows() {
        for spread in spreads() {
            let rows = || repeats().iter().filter(|row| row.class == spread.class);
            let degrees: u32 = rows().map(|row| row.degrees).sum();
            let of_row = |row: &Repeats| f64::from(row.degrees) * row.pooled * row.pooled;
            let pooled = (rows().map(of_row).sum::<f64>() / f64::from(degrees)).sqrt();
            assert_eq!(degrees, spread.degrees, "{}", spread.class);
            assert!(
                (pooled - spread.pooled).abs() < 0.0001,
                "{}: {pooled}",
                spread.class
            );
        }
    }

    /// Sum of squares and degrees of the repeats among the published figures, by class.
    #[test]
    fn published_repeats_are_recomputed() {
        let mut groups = BTreeMap::<_, Vec<f64>>::new();
        for publication in publications() {
            for run in &publication.runs {
                for figure in &run.figures {
                    if let Some(spread) = spread_of(&figure.metric, figure.quantity) {
                        let key = (
                            &spread.class,
                            &publication.id,
                            &run.setting,
                            &run.name,
                            &figure.metric,
                        );
                        groups.entry(key).or_default().push(figure.value.ln());
                    }
                }
            }
        }
        for row in repeats().iter().filter(|row| row.published) {
            let of_class = || {
                groups
                    .iter()
                    .filter(|(key, values)| *key.0 == row.class && values.len() > 1)
                    .map(|(_, values)| values)
            };
            let squares = |values: &Vec<f64>| {
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>()
            };
            let count = of_class().count();
            let degrees: usize = of_class().map(|values| values.len() - 1).sum();
            let pooled = (of_class().map(squares).sum::<f64>() / degrees as f64).sqrt();
            let expected = (row.groups_count as usize, row.degrees as usize);
            assert_eq!((count, degrees), expected, "{}", row.class);
            assert!(
                (pooled - row.pooled).abs() < 0.0001,
                "{}: {pooled}",
                row.class
            );
        }
    }

    #[test]
    fn rates_of_quick_have_a_class_where_repeats_were_published() {
        let quick = suite("quick", None).expect("quick");
        let class =
            |id: &str| spread_of(id, Quantity::OperationRate).map(|spread| spread.class.as_str());
        for workload in &quick.workloads {
            let expected = match workload.id.as_str() {
                id if id.starts_with("seq_read") => Some("sequential_read"),
                id if id.starts_with("seq_write") => Some("sequential_write"),
                id if id.starts_with("rand_read") => Some("random_read"),
                id if id.starts_with("rand_write") => Some("random_write"),
                _ => None,
            };
            assert_eq!(class(&workload.id), expected, "{}", workload.id);
        }
        assert_eq!(spread_of("rand_read_4k_p99", Quantity::Span), None);
        assert_eq!(class("hdparm_T"), None, "a cache, not the card");
    }
}
