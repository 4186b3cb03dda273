//! Requirements of uses for storage.

use std::sync::LazyLock;

use cardmark_core::Quantity;
use serde::{Deserialize, Serialize};

use crate::equivalents::{StandIn, equivalents, stand_ins};
use crate::facts::embedded;
use crate::kinds::ProductKind;
use crate::similar::nearest;
use crate::synonyms::words_of_use;

const TEXT: &str = include_str!("../facts/uses.toml");

/// Block size of the operations that needs without a pattern count, bytes.
const BLOCK_BYTES: f64 = 4096.0;

static ROWS: LazyLock<Vec<Use>> = LazyLock::new(|| {
    let mut rows: Vec<Use> = embedded(TEXT, "uses");
    for row in &mut rows {
        row.vectors.extend(words_of_use(&row.id));
    }
    let needs = rows.iter_mut().flat_map(|row| &mut row.needs);
    needs.for_each(Requirement::add_pattern);
    rows
});

/// A use of storage.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Use {
    /// Its short name.
    pub id: String,
    /// Its name.
    pub title: String,
    /// Description.
    pub about: String,
    /// Kinds of products for it, if microSD cards are not the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<ProductKind>,
    /// Advice for buyers, a sentence without full stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// True if only buyers ask for it: the answer of a run names the uses that it resembles.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub for_buyers: bool,
    /// Its requirements; none if only tests of endurance answer.
    pub needs: Vec<Requirement>,
    /// Source of the row.
    pub source: String,
    /// Day on which the source was read.
    pub checked_on: String,
    /// Common names and programs, by which it is found.
    pub vectors: Vec<String>,
}

/// A rate that a use needs.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// Its name.
    pub name: String,
    /// The operations in plain words, such as `random writes`.
    pub plain: String,
    /// Metrics of the rate, those of the pattern included; the first one in a result counts.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// Pattern whose metrics have the rate (`facts/equivalents.toml`).
    #[serde(default, skip_serializing)]
    pub pattern: Option<String>,
    /// Figures that may stand for the rate, the nearest first (`facts/equivalents.toml`).
    #[serde(skip)]
    pub stand_ins: Vec<&'static StandIn>,
    /// Quantity of the rate.
    pub quantity: Quantity,
    /// Weight in the score; the weights of a use add up to 1.
    pub weight: f64,
    /// Rate from which the card is no longer the bottleneck.
    pub enough: f64,
    /// Rate of the reference card for scores.
    pub reference: f64,
    /// Class that promises the reference rate, such as `A1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Reason for the requirement.
    pub reason: String,
}

impl Requirement {
    fn add_pattern(&mut self) {
        let named = self.pattern.iter().chain(&self.metrics);
        self.stand_ins = named.flat_map(|id| stand_ins(id)).collect();
        let pattern = self.pattern.as_deref().and_then(equivalents);
        let methods = pattern.into_iter().flat_map(|pattern| &pattern.methods);
        self.metrics
            .extend(methods.map(|method| method.metric.clone()));
    }

    /// Returns a rate of one of its metrics in the quantity of the need; `None` if it cannot be converted.
    pub fn converted(&self, from: Quantity, value: f64) -> Option<f64> {
        if from == self.quantity {
            return Some(value);
        }
        match self.pattern.as_deref().and_then(equivalents) {
            Some(pattern) => pattern.converted(from, self.quantity, value),
            None => match (from, self.quantity) {
                (Quantity::ByteRate, Quantity::OperationRate) => Some(value / BLOCK_BYTES),
                _ => None,
            },
        }
    }
}

/// Returns all uses, in the order of the file.
pub fn uses() -> &'static [Use] {
    &ROWS
}

/// Returns the use of this name, title or word of people. Ignores case, spaces and punctuation: `Pi-hole`, `pihole`.
pub fn use_of(name: &str) -> Option<&'static Use> {
    let letters = |text: &str| -> String {
        let letters = text.chars().filter(|letter| letter.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let wanted = letters(name);
    let is_it = |known: &String| letters(known) == wanted;
    ROWS.iter()
        .find(|row| is_it(&row.id) || is_it(&row.title) || row.vectors.iter().any(is_it))
}

/// Returns the uses that an unknown word may mean as a clause: `perhaps retropie`, or else the titles of all.
#[must_use]
pub fn meant_use(name: &str) -> String {
    let words = ROWS
        .iter()
        .flat_map(|row| row.vectors.iter().chain([&row.title]));
    let near = nearest(name, words.map(String::as_str));
    if near.is_empty() {
        let titles: Vec<&str> = ROWS.iter().map(|row| row.title.as_str()).collect();
        return format!("there is {}", titles.join(", "));
    }
    format!("perhaps {}", near.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synonyms::uses_of_words;
    use crate::{class, suite, suite_names};

    #[test]
    fn every_use_is_found_and_its_weights_add_up() {
        for row in uses() {
            // No specification defines the sufficient rates of a use.
            let says_whose = row.source.starts_with("our judgement of what is enough");
            assert!(says_whose, "{}: {}", row.id, row.source);
            for name in row.vectors.iter().chain([&row.id]) {
                assert_eq!(use_of(name).map(|found| &found.id), Some(&row.id), "{name}");
            }
            let sum: f64 = row.needs.iter().map(|need| need.weight).sum();
            assert!(
                row.needs.is_empty() || (sum - 1.0).abs() < 1e-9,
                "{}: {sum}",
                row.id
            );
            for need in &row.needs {
                let pattern = need.pattern.as_deref();
                assert!(
                    pattern.is_none_or(|id| equivalents(id).is_some()),
                    "{}",
                    row.id
                );
                assert!(need.enough > 0.0 && need.reference > 0.0, "{}", row.id);
                assert!(
                    !need.reason.is_empty() && !need.metrics.is_empty(),
                    "{}",
                    row.id
                );
            }
        }
        assert_eq!(use_of("zeppelin"), None);
        assert_eq!(use_of(""), None);
    }

    #[test]
    fn a_use_is_found_by_the_words_of_people() {
        for (word, id) in [
            ("Home Assistant", "database"),
            ("home-assistant", "database"),
            ("pihole", "boot"),
            ("time-lapse", "camera_trap"),
            ("HAOS", "database"),
            ("Maria DB", "database"),
            ("CCTV", "camera"),
            ("Boot and desktop", "boot"),
            ("life-time", "endurance"),
            ("Retro Games", "games"),
            ("NAS", "nas"),
            ("camera trap", "camera_trap"),
            ("OctoPrint", "boot"),
        ] {
            assert_eq!(
                use_of(word).map(|found| found.id.as_str()),
                Some(id),
                "{word}"
            );
        }
    }

    /// Two uses of one name would be confused.
    #[test]
    fn no_two_uses_share_a_name() {
        let names = || {
            ROWS.iter().flat_map(|row| {
                row.vectors
                    .iter()
                    .chain([&row.id, &row.title])
                    .map(move |name| (name, &row.id))
            })
        };
        for (name, id) in names() {
            assert_eq!(use_of(name).map(|found| &found.id), Some(id), "{name}");
        }
    }

    /// Ids are no words of people.
    #[test]
    fn an_unknown_use_comes_with_titles() {
        assert!(meant_use("zeppelin").contains("database and home automation"));
        assert_eq!(meant_use("retropy"), "perhaps retropie");
        for id in uses_of_words() {
            assert!(ROWS.iter().any(|row| row.id == id), "{id}");
        }
    }

    /// The rate of a cache is irrelevant for continuous writing, and a mean hides slow minutes.
    #[test]
    fn writing_in_one_piece_is_judged_on_the_slowest_minute() {
        for id in ["camera", "logging"] {
            let needs = &use_of(id).unwrap().needs;
            let metrics = needs.iter().map(|need| &need.metrics);
            let mut of_writing =
                metrics.filter(|metrics| metrics.iter().any(|metric| metric == "seq_write_1m"));
            let long = &of_writing.next().unwrap()[..2];
            assert_eq!(long, ["slowest_60s_write", "settled_write"], "{id}");
        }
    }

    #[test]
    fn the_reference_of_a_class_is_its_promise() {
        let needs = uses().iter().flat_map(|row| &row.needs);
        let mut checked_count = 0;
        for need in needs {
            let Some(name) = &need.class else {
                continue;
            };
            let class = class(name).unwrap();
            let promised = match need.plain.as_str() {
                "random reads" => class.least_read_operations_per_s,
                "random writes" => class.least_write_operations_per_s,
                other => panic!("{other}"),
            };
            let promised = promised.map(|rate| rate.to_string());
            assert_eq!(promised, Some(need.reference.to_string()), "{}", need.name);
            checked_count += 1;
        }
        assert_eq!(checked_count, 6);
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
