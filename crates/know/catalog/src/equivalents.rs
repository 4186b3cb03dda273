//! Metrics that measure one pattern by different methods.

use std::sync::LazyLock;

use cardmark_core::Quantity;
use serde::Deserialize;

use crate::facts::from_toml;

const TEXT: &str = include_str!("../facts/equivalents.toml");

static ALL: LazyLock<File> = LazyLock::new(|| from_toml(TEXT).unwrap_or_default());

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    equivalents: Vec<Equivalents>,
    stand_ins: Vec<StandIn>,
    apart: Vec<Apart>,
}

/// Metrics of one pattern.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Equivalents {
    /// The pattern, `a-z_`.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Usual quantity of its rates.
    pub quantity: Quantity,
    /// Bytes per operation; absent: rates are not converted.
    pub block_bytes: Option<u32>,
    /// Its metrics; the first one in a result counts.
    pub methods: Vec<Method>,
    /// Standard deviation of the logarithm of the ratio between two methods on one card.
    pub deviation: f64,
    /// Differences between the methods.
    pub remark: String,
    /// Source of the deviation.
    pub source: String,
    /// Day on which the source was read.
    pub checked_on: String,
}

/// Metrics by which a pattern, or one metric, may be judged if it was not measured.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandIn {
    /// Id of the pattern or metric.
    pub of: String,
    /// The metrics, all of one method.
    pub metrics: Vec<String>,
    /// Difference from the pattern, in plain words, such as `32 at once`.
    pub plain: String,
    /// True if a command queue changes the figures; the range holds without one.
    pub is_queued: bool,
    /// Smallest rate of the pattern, as a ratio to theirs.
    pub least: f64,
    /// Largest rate of the pattern, as a ratio to theirs.
    pub most: f64,
    /// Longest time that an operation of the pattern takes beyond one of theirs, microseconds.
    #[serde(default)]
    pub most_extra_us: f64,
    /// Reason for the range.
    pub reason: String,
    /// Source of the range.
    pub source: String,
    /// Day on which the source was read.
    pub checked_on: String,
}

/// Metrics that belong to no pattern.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Apart {
    /// Ids of the metrics; `*` stands for any letters.
    pub metrics: Vec<String>,
    /// Why they are in no order with metrics of other methods.
    pub reason: String,
}

/// A metric with its method.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// Id of the metric.
    pub metric: String,
    /// Tool whose method it is.
    pub method: String,
}

impl StandIn {
    /// Returns the smallest rate of the pattern for a rate of these figures; with `most_extra_us`, operations per second.
    #[must_use]
    pub fn low(&self, rate: f64) -> f64 {
        self.least * rate / (1.0 + rate * self.most_extra_us / 1e6)
    }
}

impl Equivalents {
    /// Returns the tool whose method a metric is; `None` for metrics of other patterns.
    pub fn method_of(&self, metric: &str) -> Option<&str> {
        let mut methods = self.methods.iter();
        let found = methods.find(|known| known.metric == metric)?;
        Some(&found.method)
    }

    /// Returns a rate in another quantity; `None` if it cannot be converted.
    pub fn converted(&self, from: Quantity, to: Quantity, value: f64) -> Option<f64> {
        let block_bytes = || self.block_bytes.map(f64::from);
        match (from, to) {
            _ if from == to => Some(value),
            (Quantity::ByteRate, Quantity::OperationRate) => Some(value / block_bytes()?),
            (Quantity::OperationRate, Quantity::ByteRate) => Some(value * block_bytes()?),
            _ => None,
        }
    }
}

/// Returns all patterns, in the order of the file.
pub fn all_equivalents() -> &'static [Equivalents] {
    &ALL.equivalents
}

/// Returns the pattern of a metric, if it has several methods.
pub fn equivalents_of(metric: &str) -> Option<&'static Equivalents> {
    ALL.equivalents
        .iter()
        .find(|row| row.method_of(metric).is_some())
}

/// Returns the pattern of this id.
pub fn equivalents(id: &str) -> Option<&'static Equivalents> {
    ALL.equivalents.iter().find(|row| row.id == id)
}

/// Returns the figures that may stand for a pattern or metric of this id, the nearest first.
pub fn stand_ins(of: &str) -> impl Iterator<Item = &'static StandIn> {
    ALL.stand_ins.iter().filter(move |row| row.of == of)
}

/// Returns why a metric belongs to no pattern: the reason of the row whose id for it is the longest. `None` for metrics
/// of a pattern and for unknown ones.
#[must_use]
pub fn reason_apart(metric: &str) -> Option<&'static str> {
    if equivalents_of(metric).is_some() {
        return None;
    }
    let rows = ALL.apart.iter().flat_map(|row| {
        let ids = row.metrics.iter().filter(|id| is_meant(id, metric));
        ids.map(|id| (id.len(), row.reason.as_str()))
    });
    rows.max_by_key(|(length, _)| *length)
        .map(|(_, reason)| reason)
}

/// True if the id is that of the metric; `*` in it stands for any letters.
fn is_meant(id: &str, metric: &str) -> bool {
    let mut parts = id.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = metric.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        let Some((_, after)) = rest.split_once(part) else {
            return false;
        };
        rest = after;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{publications, spread_of, suite, suite_names};

    /// Metrics of suites and publications.
    fn own_metrics() -> BTreeSet<String> {
        let mut known = BTreeSet::new();
        for name in suite_names() {
            let suite = suite(name, None).unwrap();
            known.extend(suite.workloads.iter().map(|workload| workload.id.clone()));
            known.extend(suite.figures.iter().map(|figure| figure.id.clone()));
        }
        let runs = publications()
            .iter()
            .flat_map(|publication| &publication.runs);
        known.extend(
            runs.flat_map(|run| &run.figures)
                .map(|figure| figure.metric.clone()),
        );
        known
    }

    #[test]
    fn a_metric_belongs_to_one_pattern_and_to_a_suite_or_publication() {
        from_toml::<File>(TEXT).expect("rows of their type");
        let known = own_metrics();
        let mut seen = BTreeSet::new();
        for row in all_equivalents() {
            assert!(row.methods.len() > 1 && row.deviation > 0.0, "{}", row.id);
            assert!(
                row.quantity.is_rate() && !row.source.is_empty(),
                "{}",
                row.id
            );
            assert!(!row.remark.is_empty() && row.checked_on.len() == 10);
            assert_eq!(equivalents(&row.id), Some(row));
            for Method { metric, method } in &row.methods {
                assert!(known.contains(metric), "{metric}");
                assert!(seen.insert(metric), "{metric} is listed twice");
                assert!(!method.is_empty(), "{metric}");
                assert_eq!(equivalents_of(metric), Some(row));
            }
        }
        assert_eq!(equivalents_of("sync_write_4k"), None);
    }

    /// Those of importers are checked there.
    #[test]
    fn every_metric_of_a_suite_or_publication_has_a_pattern_or_a_reason() {
        for metric in own_metrics() {
            let is_of_pattern = equivalents_of(&metric).is_some();
            assert_ne!(is_of_pattern, reason_apart(&metric).is_some(), "{metric}");
        }
        assert_eq!(reason_apart("no_such_metric"), None);
    }

    #[test]
    fn stand_ins_are_known_metrics_of_another_pattern() {
        let known = own_metrics();
        for row in &ALL.stand_ins {
            assert!(equivalents(&row.of).is_some() || known.contains(&row.of));
            let is_range = row.low(1000.0) < row.most * 1000.0 && row.least >= 0.0;
            assert!(is_range && row.most_extra_us >= 0.0, "{}", row.of);
            let pattern = equivalents(&row.of).map(|pattern| pattern.quantity);
            let has_operations = pattern != Some(Quantity::ByteRate);
            assert!(row.most_extra_us == 0.0 || has_operations, "{}", row.of);
            assert!(!row.plain.is_empty() && !row.reason.is_empty() && !row.source.is_empty());
            for metric in &row.metrics {
                assert!(known.contains(metric), "{metric}");
                let pattern = equivalents_of(metric).map(|pattern| &pattern.id);
                assert_ne!(pattern, Some(&row.of), "{metric}");
            }
            let all = stand_ins(&row.of).flat_map(|row| &row.metrics);
            assert_eq!(
                all.collect::<BTreeSet<_>>().len(),
                stand_ins(&row.of)
                    .map(|row| row.metrics.len())
                    .sum::<usize>()
            );
        }
    }

    /// Figures of one device by both methods: 64 in flight, and one at a time. A new publication may show that the range is too narrow.
    #[test]
    fn published_pairs_lie_within_the_range_of_their_stand_in() {
        let (mut within, mut count) = (0, 0);
        for publication in publications() {
            for run in &publication.runs {
                for of in ["random_read", "random_write"] {
                    let pattern = equivalents(of).unwrap();
                    let value = |metrics: &[String]| {
                        let figure = run
                            .figures
                            .iter()
                            .find(|one| metrics.contains(&one.metric))?;
                        pattern.converted(figure.quantity, pattern.quantity, figure.value)
                    };
                    let own: Vec<String> = pattern
                        .methods
                        .iter()
                        .map(|one| one.metric.clone())
                        .collect();
                    let Some(own) = value(&own) else { continue };
                    for row in stand_ins(of).filter(|row| row.is_queued) {
                        let Some(other) = value(&row.metrics) else {
                            continue;
                        };
                        count += 1;
                        within += usize::from((row.low(other)..=row.most * other).contains(&own));
                    }
                }
            }
        }
        assert_eq!((within, count), (18, 18));
    }

    #[test]
    fn ids_apart_are_of_no_pattern_and_listed_once() {
        let mut seen = BTreeSet::new();
        for row in &ALL.apart {
            assert!(!row.reason.is_empty() && !row.metrics.is_empty());
            for id in &row.metrics {
                assert_eq!(equivalents_of(id), None, "{id}");
                assert!(seen.insert(id), "{id} is listed twice");
            }
        }
    }

    #[test]
    fn an_id_apart_may_have_gaps() {
        assert!(is_meant("throughput", "throughput"));
        assert!(!is_meant("throughput", "throughput_2"));
        assert!(is_meant("iozone_t*_*", "iozone_t4_read_min"));
        assert!(is_meant("*_p50", "rand_read_4k_p50"));
        assert!(!is_meant("*_p50", "rand_read_4k_p50_2"));
        assert!(!is_meant("pauses_*_per_gib", "pauses_1s_per_mib"));
        let longest = reason_apart("fio_rand_read_q32");
        assert!(longest.is_some_and(|reason| reason.contains("cardmark-crosscheck")));
    }

    /// Figures at one queue depth are in no order with those at another.
    #[test]
    fn methods_of_a_pattern_have_one_queue_depth() {
        let mut depths = std::collections::BTreeMap::<&str, BTreeSet<u32>>::new();
        for name in suite_names() {
            for workload in suite(name, None).unwrap().workloads {
                if let Some(pattern) = equivalents_of(&workload.id) {
                    let depths = depths.entry(&pattern.id).or_default();
                    depths.insert(workload.queue_depth);
                }
            }
        }
        for (pattern, depths) in depths {
            let named = pattern.rsplit_once("_q").map(|(_, depth)| depth.parse());
            let expected = named.map_or(1, |depth| depth.unwrap());
            assert_eq!(depths, BTreeSet::from([expected]), "{pattern}");
        }
    }

    /// Places in a ranking have one spread.
    #[test]
    fn all_methods_of_a_pattern_have_the_same_spread() {
        for row in all_equivalents() {
            for Method { metric, .. } in &row.methods {
                let class = spread_of(metric, row.quantity).map(|spread| &spread.class);
                // Repeats are published by pattern, not by queue depth.
                let plain = row.id.split("_q").next();
                assert_eq!(class.map(String::as_str), plain, "{metric}");
            }
        }
    }

    #[test]
    fn rates_are_converted_by_the_block_size() {
        let random = equivalents("random_write").unwrap();
        let (bytes, operations) = (Quantity::ByteRate, Quantity::OperationRate);
        assert_eq!(
            random.converted(bytes, operations, 4_096_000.0),
            Some(1000.0)
        );
        assert_eq!(
            random.converted(operations, bytes, 1000.0),
            Some(4_096_000.0)
        );
        assert_eq!(random.converted(bytes, bytes, 7.0), Some(7.0));
        assert_eq!(random.converted(Quantity::Span, bytes, 7.0), None);
        let sequential = equivalents("sequential_read").unwrap();
        assert_eq!(sequential.converted(bytes, operations, 7.0), None);
    }
}
