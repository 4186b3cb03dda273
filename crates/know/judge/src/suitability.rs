//! Suitability of storage for a use, its limiting rate, and its score.
//!
//! The score is a weighted geometric mean of ratios to a reference card, times 100: a card that is twice as
//! fast in everything has twice the score, regardless of units.

use cardmark_catalog::{Requirement, Use};
use cardmark_core::{Metric, Quantity};
use serde::Serialize;

/// Version of the score; increased whenever scores may change.
pub const SCORE_VERSION: u32 = 1;
/// Minimum share of the sufficient rate for a slow, but usable card.
pub(crate) const USABLE_RATIO: f64 = 0.5;
/// Minimum multiple of the sufficient rate for a card with reserves.
const AMPLE_RATIO: f64 = 2.0;
/// Multiple of a class below which storage meets the class, but is not comfortable.
const CLASS_RATIO: f64 = 1.6;

/// Degree of suitability for a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// Less than half of the required rate.
    Poor,
    /// Less than the required rate.
    Slow,
    /// Less than a comfortable rate, but every known need with a class, such as A1, has the rate of that class, and every
    /// other one the required rate.
    Enough,
    /// At least the required rate, and a comfortable one for needs with a class.
    Good,
    /// At least twice the required rate.
    Ample,
}

/// A need of a use, with the measured rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Supply {
    /// The metric used.
    pub metric: String,
    /// Quantity of the rates.
    pub quantity: Quantity,
    /// The measured rate.
    pub value: f64,
    /// The sufficient rate.
    pub enough: f64,
    /// Reason why the use needs it.
    pub reason: String,
}

impl Supply {
    /// The rate divided by the sufficient rate.
    pub fn share(&self) -> f64 {
        self.value / self.enough
    }
}

/// Suitability of storage for a use.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suitability {
    /// The use.
    #[serde(rename = "use")]
    pub use_id: String,
    /// Degree of suitability.
    pub fit: Fit,
    /// The limiting need: the one with the smallest share of the sufficient rate; if all are met, one that is less than
    /// comfortable.
    pub limiting: Supply,
    /// All needs with a known rate.
    pub supplies: Vec<Supply>,
    /// Needs without a metric.
    pub unknown: Vec<String>,
    /// 100 times the geometric mean of the ratios to the reference card; absent if a need is unknown.
    pub score: Option<f64>,
}

/// Returns the suitability of storage with these rates for a use; `None` if no need has a metric.
pub fn suitability(metrics: &[Metric], wanted: &Use) -> Option<Suitability> {
    let rates: Vec<(&Requirement, Option<(&Metric, f64)>)> = wanted
        .needs
        .iter()
        .map(|need| (need, rate(metrics, need)))
        .collect();
    let supplies: Vec<Supply> = rates
        .iter()
        .filter_map(|(need, rate)| {
            let (metric, value) = (*rate)?;
            Some(Supply {
                metric: metric.id.clone(),
                quantity: need.quantity,
                value,
                enough: need.enough,
                reason: need.reason.clone(),
            })
        })
        .collect();
    let scarcest = supplies
        .iter()
        .min_by(|a, b| a.share().total_cmp(&b.share()))?;
    let near = nearest_to_class(wanted, &supplies);
    let (fit, limiting) = match (fit(scarcest.share()), near) {
        (Fit::Poor | Fit::Slow, _) if meets_classes(&rates) => (Fit::Enough, scarcest),
        (Fit::Good, Some(near)) => (Fit::Enough, near),
        (other, _) => (other, scarcest),
    };
    let limiting = limiting.clone();
    let unknown = rates
        .iter()
        .filter(|(_, rate)| rate.is_none())
        .filter_map(|(need, _)| need.metrics.first().cloned())
        .collect();
    Some(Suitability {
        use_id: wanted.id.clone(),
        fit,
        limiting,
        supplies,
        unknown,
        score: score(&rates),
    })
}

/// Rate from which storage is good enough: that of the class, if there is one.
pub fn asked(need: &Requirement) -> f64 {
    match need.class {
        Some(_) => need.reference,
        None => need.enough,
    }
}

/// Rate from which storage is more than what it is asked for: 1.6 times the class, if the class is not enough by itself.
pub fn comfortable(need: &Requirement) -> f64 {
    match need.class {
        Some(_) if need.enough > need.reference => need.enough.max(CLASS_RATIO * need.reference),
        _ => need.enough,
    }
}

/// The need that a supply meets.
pub(crate) fn need_of<'a>(wanted: &'a Use, supply: &Supply) -> Option<&'a Requirement> {
    let is_it = |need: &&Requirement| need.metrics.contains(&supply.metric);
    wanted.needs.iter().find(is_it)
}

/// Returns the rate that is nearest to its class among those that are not comfortable.
pub(crate) fn nearest_to_class<'a>(wanted: &Use, supplies: &'a [Supply]) -> Option<&'a Supply> {
    let ratio = |supply: &Supply| {
        let need = need_of(wanted, supply).filter(|need| need.class.is_some())?;
        (supply.value < comfortable(need)).then(|| supply.value / need.reference)
    };
    let ratios = supplies
        .iter()
        .filter_map(|supply| Some((ratio(supply)?, supply)));
    let nearest = ratios.min_by(|a, b| a.0.total_cmp(&b.0));
    nearest.map(|(_, supply)| supply)
}

fn meets_classes(rates: &[(&Requirement, Option<(&Metric, f64)>)]) -> bool {
    let known = rates
        .iter()
        .filter_map(|(need, rate)| Some((need, rate.as_ref()?.1)));
    known.into_iter().all(|(need, value)| value >= asked(need))
}

pub(crate) fn fit(share: f64) -> Fit {
    if share < USABLE_RATIO {
        Fit::Poor
    } else if share < 1.0 {
        Fit::Slow
    } else if share < AMPLE_RATIO {
        Fit::Good
    } else {
        Fit::Ample
    }
}

/// Returns the first of the need's metrics that was measured, in the need's unit.
fn rate<'a>(metrics: &'a [Metric], need: &Requirement) -> Option<(&'a Metric, f64)> {
    let metric = need.metrics.iter().find_map(|id| metric_of(metrics, id))?;
    let value = need.converted(metric.quantity, metric.value)?;
    (value > 0.0).then_some((metric, value))
}

pub(crate) fn metric_of<'a>(metrics: &'a [Metric], id: &str) -> Option<&'a Metric> {
    metrics.iter().find(|metric| metric.id == id)
}

fn score(rates: &[(&Requirement, Option<(&Metric, f64)>)]) -> Option<f64> {
    let mut sum = 0.0;
    for (need, rate) in rates {
        let (_, value) = (*rate)?;
        sum += need.weight * libm::log(value / need.reference);
    }
    Some(100.0 * libm::exp(sum))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardmark_catalog::use_of;

    fn rates(rates: &[(&str, Quantity, f64)]) -> Vec<Metric> {
        let metrics = rates.iter();
        metrics
            .map(|(id, quantity, value)| Metric::new(*id, *quantity, *value))
            .collect()
    }

    /// Returns the metrics of the reference card of this use, times a factor.
    fn reference(wanted: &Use, factor: f64) -> Vec<Metric> {
        let metrics = wanted.needs.iter();
        metrics
            .map(|need| Metric::new(&need.metrics[0], need.quantity, factor * need.reference))
            .collect()
    }

    #[test]
    fn the_reference_card_scores_100_and_twice_as_fast_is_200() {
        let uses = cardmark_catalog::uses().iter();
        for wanted in uses.filter(|wanted| !wanted.needs.is_empty()) {
            for factor in [1.0, 2.0, 0.25] {
                let found = suitability(&reference(wanted, factor), wanted).unwrap();
                let score = found.score.unwrap();
                assert!(
                    (score - 100.0 * factor).abs() < 1e-9,
                    "{}: {score}",
                    wanted.id
                );
            }
        }
    }

    #[test]
    fn the_scarcest_rate_limits() {
        let boot = use_of("boot").unwrap();
        let of = |write: f64| {
            let few = [
                ("rand_read_4k", Quantity::OperationRate, 9000.0),
                ("rand_write_4k", Quantity::OperationRate, write),
                ("seq_read_1m", Quantity::ByteRate, 90e6),
            ];
            suitability(&rates(&few), boot).unwrap()
        };
        for (write, fit) in [
            (399.0, Fit::Poor),
            (400.0, Fit::Slow),
            (499.0, Fit::Slow),
            (500.0, Fit::Enough),
            (799.0, Fit::Enough),
            (800.0, Fit::Good),
            (1600.0, Fit::Ample),
        ] {
            let found = of(write);
            assert_eq!(
                (found.fit, found.limiting.metric.as_str()),
                (fit, "rand_write_4k")
            );
        }
    }

    /// Sequential reads have no class: at least the required rate is asked for.
    #[test]
    fn a_class_is_enough_only_if_the_other_needs_are_met() {
        let boot = use_of("boot").unwrap();
        let needs = boot.needs.iter();
        let mut met: Vec<Metric> = needs
            .map(|need| Metric::new(&need.metrics[0], need.quantity, asked(need)))
            .collect();
        assert_eq!(suitability(&met, boot).unwrap().fit, Fit::Enough);
        let without = boot.needs.iter().position(|need| need.class.is_none());
        met[without.unwrap()].value *= 0.99;
        assert_eq!(suitability(&met, boot).unwrap().fit, Fit::Slow);
    }

    #[test]
    fn a_rate_below_1_6_times_the_class_is_not_comfortable() {
        let boot = use_of("boot").unwrap();
        let of = |read: f64| {
            let few = [
                ("rand_read_4k", Quantity::OperationRate, read),
                ("rand_write_4k", Quantity::OperationRate, 900.0),
                ("seq_read_1m", Quantity::ByteRate, 90e6),
            ];
            let found = suitability(&rates(&few), boot).unwrap();
            // The random writes have a smaller share of what is enough.
            let is_by_reads = found.limiting.metric == "rand_read_4k";
            assert_eq!(is_by_reads, read < 2400.0, "{read}");
            found.fit
        };
        assert_eq!(of(1499.0), Fit::Slow);
        assert_eq!(of(1500.0), Fit::Enough);
        assert_eq!(of(2266.0), Fit::Enough);
        assert_eq!(of(2399.0), Fit::Enough);
        assert_eq!(of(2400.0), Fit::Good);
    }

    #[test]
    fn rates_of_other_suites_count_in_the_same_unit() {
        let boot = use_of("boot").unwrap();
        let few = [("iozone_random_write", Quantity::ByteRate, 800.0 * 4096.0)];
        let found = suitability(&rates(&few), boot).unwrap();
        assert_eq!((found.fit, found.limiting.value), (Fit::Good, 800.0));
        assert_eq!(found.unknown, ["rand_read_4k", "seq_read_1m"]);
        assert_eq!(found.score, None);
    }

    #[test]
    fn without_any_rate_nothing_is_said() {
        let camera = use_of("camera").unwrap();
        assert_eq!(suitability(&rates(&[]), camera), None);
        let wrong = [("seq_write_1m", Quantity::Span, 5.0)];
        assert_eq!(suitability(&rates(&wrong), camera), None);
    }
}
