//! Differences between figures of one product that repeats of one card do not show: another card, another board.

use std::sync::LazyLock;

use cardmark_core::Quantity;
use serde::Deserialize;

use crate::facts::from_toml;
use crate::spread_of;

const TEXT: &str = include_str!("../facts/elsewhere.toml");

static ALL: LazyLock<File> = LazyLock::new(|| from_toml(TEXT).unwrap_or_default());

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    elsewhere: Vec<Elsewhere>,
    sources: Vec<ElsewhereSource>,
}

/// Differences between figures of one product in a class of metrics, beyond those of repeats.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Elsewhere {
    /// The class, as in the spreads.
    pub class: String,
    /// Between cards of the product.
    pub sample: Deviation,
    /// Between boards.
    pub board: Deviation,
}

/// Standard deviation of ln(figure).
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deviation {
    /// The deviation.
    pub deviation: f64,
    /// Its degrees of freedom.
    pub degrees: u32,
}

/// Figures of one product on several cards or boards.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElsewhereSource {
    /// The class of metrics.
    pub class: String,
    /// What differs within a group.
    pub between: Between,
    /// Source of the figures.
    pub source: String,
    /// Day on which the source was read.
    pub checked_on: String,
    /// True if they are calculated from the published figures that are part of the program.
    #[serde(default)]
    pub published: bool,
    /// Number of products, methods and kinds of reader with two cards or boards at least.
    pub groups_count: u32,
    /// Degrees of freedom: number of cards or boards minus number of groups.
    pub degrees: u32,
    /// Pooled standard deviation of ln(figure).
    pub pooled: f64,
}

/// What differs between figures of one product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Between {
    /// The card.
    Samples,
    /// The board.
    Boards,
}

/// Returns the differences of all classes.
pub fn elsewhere() -> &'static [Elsewhere] {
    &ALL.elsewhere
}

/// Returns the figures from which the differences are calculated.
pub fn elsewhere_sources() -> &'static [ElsewhereSource] {
    &ALL.sources
}

/// Returns the differences in the metric's class; `None` for figures that are not rates, and for classes without
/// published figures.
pub fn elsewhere_of(metric: &str, quantity: Quantity) -> Option<&'static Elsewhere> {
    let class = &spread_of(metric, quantity)?.class;
    elsewhere().iter().find(|one| one.class == *class)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{publications, spreads};

    /// Root of the mean variance, weighted by degrees of freedom; and the degrees.
    fn pooled<'a>(rows: impl Iterator<Item = &'a ElsewhereSource>) -> (f64, u32) {
        let (mut squares, mut degrees) = (0.0, 0);
        for row in rows {
            squares += f64::from(row.degrees) * row.pooled * row.pooled;
            degrees += row.degrees;
        }
        ((squares / f64::from(degrees)).sqrt(), degrees)
    }

    #[test]
    fn every_class_of_spreads_follows_from_its_sources() {
        from_toml::<File>(TEXT).expect("differences and sources");
        let classes = |names: Vec<&String>| names.into_iter().cloned().collect::<Vec<_>>();
        assert_eq!(
            classes(elsewhere().iter().map(|one| &one.class).collect()),
            classes(spreads().iter().map(|one| &one.class).collect())
        );
        let of = |between| {
            let rows = elsewhere_sources().iter();
            rows.filter(move |row| row.between == between)
        };
        for one in elsewhere() {
            let board = pooled(of(Between::Boards).filter(|row| row.class == one.class));
            let own = pooled(of(Between::Samples).filter(|row| row.class == one.class));
            let all = pooled(of(Between::Samples));
            let sample = if own.0 > all.0 { own } else { all };
            for (found, expected) in [(one.board, board), (one.sample, sample)] {
                assert!(
                    (found.deviation - expected.0).abs() < 0.0001,
                    "{}: {expected:?}",
                    one.class
                );
                assert_eq!(found.degrees, expected.1, "{}", one.class);
            }
        }
        for row in elsewhere_sources() {
            assert!(row.published || row.source.contains("://"));
            assert_eq!(row.checked_on.len(), 10);
        }
    }

    /// Metrics in blocks of 4 KiB, or in large ones; the others repeat the same measurement in other blocks.
    const PLAIN: [&str; 8] = [
        "hdparm_t",
        "iozone_read_16m",
        "dd_write",
        "iozone_write_16m",
        "iozone_random_read",
        "iozone_random_read_4k",
        "iozone_random_write",
        "iozone_random_write_4k",
    ];

    #[test]
    fn published_differences_between_boards_are_recomputed() {
        type ByBoard<'a> = BTreeMap<&'a str, Vec<f64>>;
        let mut groups = BTreeMap::<_, ByBoard<'_>>::new();
        for publication in publications() {
            for run in &publication.runs {
                let setting = publication.setting(&run.setting).expect("its setting");
                let figures = run.figures.iter();
                for figure in figures.filter(|figure| PLAIN.contains(&figure.metric.as_str())) {
                    let class = spread_of(&figure.metric, figure.quantity).expect("a class");
                    let is_usual = setting.overclock_hz.is_none();
                    if let Some(board) = setting.board.as_deref().filter(|_| is_usual) {
                        let reader = setting.reader.map(|reader| format!("{reader:?}"));
                        let key = (&class.class, &figure.metric, &run.product.id, reader);
                        let group = groups.entry(key).or_default();
                        group.entry(board).or_default().push(figure.value.ln());
                    }
                }
            }
        }
        let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        for row in elsewhere_sources().iter().filter(|row| row.published) {
            let of_class = groups.iter().filter(|(key, _)| *key.0 == row.class);
            let means = of_class.map(|(_, boards)| boards.values().map(mean).collect::<Vec<_>>());
            let means: Vec<Vec<f64>> = means.filter(|means| means.len() > 1).collect();
            let squares = means.iter().map(|of| {
                let middle = mean(of);
                of.iter().map(|v| (v - middle) * (v - middle)).sum::<f64>()
            });
            let degrees: usize = means.iter().map(|of| of.len() - 1).sum();
            let pooled = (squares.sum::<f64>() / degrees as f64).sqrt();
            assert_eq!(
                (means.len(), degrees),
                (row.groups_count as usize, row.degrees as usize),
                "{}",
                row.class
            );
            assert!(
                (pooled - row.pooled).abs() < 0.0001,
                "{}: {pooled}",
                row.class
            );
        }
    }
}
