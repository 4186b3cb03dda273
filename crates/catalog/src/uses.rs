//! What uses need of storage.

use std::sync::LazyLock;

use cardmark_core::Quantity;
use serde::{Deserialize, Serialize};

use crate::facts::embedded;

const TEXT: &str = include_str!("../facts/uses.toml");

static ROWS: LazyLock<Vec<Use>> = LazyLock::new(|| embedded(TEXT, "uses"));

/// What storage is used for.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Use {
    /// Its short name.
    pub id: String,
    /// Its name.
    pub title: String,
    /// What it is.
    pub about: String,
    /// What it needs.
    pub needs: Vec<Requirement>,
    /// Where it is from.
    pub source: String,
    /// The day it was read there.
    pub checked_on: String,
    /// How people call it, which a test looks up.
    pub vectors: Vec<String>,
}

/// A rate that a use needs.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// What it is called.
    pub name: String,
    /// Metrics that tell the rate; the first that a result has counts.
    pub metrics: Vec<String>,
    /// What the rate is of.
    pub quantity: Quantity,
    /// How much it counts in the score; the weights of a use add up to 1.
    pub weight: f64,
    /// Rate from which on the card is no longer what one waits for.
    pub enough: f64,
    /// Rate of the card that scores are relative to.
    pub reference: f64,
    /// Why the use needs it.
    pub reason: String,
}

/// All uses, in the order of the file.
#[must_use]
pub fn uses() -> &'static [Use] {
    &ROWS
}

/// The use of that name.
#[must_use]
pub fn use_of(name: &str) -> Option<&'static Use> {
    let is_it = |known: &String| known.eq_ignore_ascii_case(name.trim());
    ROWS.iter()
        .find(|row| is_it(&row.id) || row.vectors.iter().any(is_it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{suite, suite_names};

    #[test]
    fn every_use_is_found_and_its_weights_add_up() {
        for row in uses() {
            // No specification says what is enough for a use.
            let says_whose = row.source.starts_with("our judgement of what is enough");
            assert!(says_whose, "{}: {}", row.id, row.source);
            for name in row.vectors.iter().chain([&row.id]) {
                assert_eq!(use_of(name).map(|found| &found.id), Some(&row.id), "{name}");
            }
            let sum: f64 = row.needs.iter().map(|need| need.weight).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{}: {sum}", row.id);
            for need in &row.needs {
                assert!(need.enough > 0.0 && need.reference > 0.0, "{}", row.id);
                assert!(
                    !need.reason.is_empty() && !need.metrics.is_empty(),
                    "{}",
                    row.id
                );
            }
        }
        assert_eq!(use_of("gaming"), None);
    }

    /// The rate of a cache says nothing of what is written all day.
    #[test]
    fn writing_in_one_piece_is_judged_on_the_settled_rate() {
        for id in ["camera", "logging"] {
            let needs = &use_of(id).unwrap().needs;
            let metrics = needs.iter().map(|need| &need.metrics);
            let mut of_writing =
                metrics.filter(|metrics| metrics.iter().any(|metric| metric == "seq_write_1m"));
            assert_eq!(of_writing.next().unwrap()[0], "settled_write", "{id}");
        }
    }

    #[test]
    fn metrics_are_those_of_suites() {
        let mut known = Vec::new();
        for name in suite_names() {
            let suite = suite(name, None).unwrap();
            known.extend(suite.workloads.iter().map(|workload| workload.id.clone()));
            known.extend(suite.figures.iter().map(|figure| figure.id.clone()));
        }
        for metric in uses()
            .iter()
            .flat_map(|row| &row.needs)
            .flat_map(|need| &need.metrics)
        {
            assert!(known.contains(metric), "{metric}");
        }
    }
}
