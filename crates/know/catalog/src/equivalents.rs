//! Metrics that measure one pattern by different methods.

use std::sync::LazyLock;

use cardmark_core::Quantity;
use serde::Deserialize;

use crate::facts::embedded;

const TEXT: &str = include_str!("../facts/equivalents.toml");

static ROWS: LazyLock<Vec<Equivalents>> = LazyLock::new(|| embedded(TEXT, "equivalents"));

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

/// A metric with its method.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// Id of the metric.
    pub metric: String,
    /// Tool whose method it is.
    pub method: String,
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
    &ROWS
}

/// Returns the pattern of a metric, if it has several methods.
pub fn equivalents_of(metric: &str) -> Option<&'static Equivalents> {
    ROWS.iter().find(|row| row.method_of(metric).is_some())
}

/// Returns the pattern of this id.
pub fn equivalents(id: &str) -> Option<&'static Equivalents> {
    ROWS.iter().find(|row| row.id == id)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::facts::read;
    use crate::{spread_of, suite, suite_names};

    #[test]
    fn a_metric_belongs_to_one_pattern_and_to_a_suite() {
        read::<Equivalents>(TEXT, "equivalents").expect("rows of their type");
        let mut known = BTreeSet::new();
        for name in suite_names() {
            let suite = suite(name, None).unwrap();
            known.extend(suite.workloads.iter().map(|workload| workload.id.clone()));
            known.extend(suite.figures.iter().map(|figure| figure.id.clone()));
        }
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

    /// Places in a ranking have one spread.
    #[test]
    fn all_methods_of_a_pattern_have_the_same_spread() {
        for row in all_equivalents() {
            for Method { metric, .. } in &row.methods {
                let class = spread_of(metric, row.quantity).map(|spread| &spread.class);
                assert_eq!(class, Some(&row.id), "{metric}");
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
