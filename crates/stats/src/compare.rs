//! Whether one side is faster than the other, by how much, and how sure that is.
//!
//! All is done on logarithms of rates: a ratio of 2 is as far from 1 as one of ½. The variance that a
//! difference is held against is moderated after Smyth (2004), "Linear models and empirical Bayes
//! methods for assessing differential expression", in two steps: few runs say little about their own
//! spread, so that it is averaged with the spread of all metrics of the comparison, and that with
//! experience. P-values are corrected over the metrics after Holm (1979).

use std::collections::{BTreeMap, BTreeSet};

use cardmark_core::{IntervalKind, Metric, Quantity, Record};
use serde::Serialize;

use crate::distribution::{student_t, two_sided};
use crate::holm::holm;

/// Level of the intervals.
pub const COMPARISON_LEVEL: f64 = 0.95;
/// Ratios whose interval lies within this much of 1 are called the same.
pub const SAME_RATIO: f64 = 0.10;

/// How many degrees of freedom the spread of all metrics counts for in that of one.
const SHARED_DEGREES: u32 = 8;

/// What is known beforehand of a spread: standard deviation of the logarithm, and for how many
/// degrees of freedom that counts.
struct Experience {
    deviation: f64,
    degrees: u32,
}

/// Where the observations have this many times its degrees, experience weighs little.
const WEIGHTY: u32 = 4;

/// Runs of one card in one place differ by 2 to 3 %.
const BETWEEN_RUNS: Experience = Experience {
    deviation: 0.025,
    degrees: 8,
};
/// Runs without rounds of their own, such as those that others published: the same card comes again
/// there with figures 5 to 27 % apart.
const BETWEEN_SINGLE: Experience = Experience {
    deviation: 0.10,
    degrees: 4,
};
/// Cards of one product differ by more, and by how much depends on the product.
const BETWEEN_SAMPLES: Experience = Experience {
    deviation: 0.10,
    degrees: 4,
};

/// The geometric mean of runs of the same thing, with its 95 % interval: of one run its own, of
/// several with the spread between runs, moderated as in a comparison. None where there is no
/// positive rate.
#[must_use]
pub fn joint_rate(runs: &[Observation]) -> Option<(f64, Option<(f64, f64)>)> {
    let logarithms = logarithms(&[runs.to_vec()], Claim::Runs)?;
    let value = libm::exp(mean(&logarithms));
    let known = between_runs(runs.iter());
    let degrees = known.degrees + u32::try_from(logarithms.len() - 1).ok()?;
    if let [one] = runs {
        let ends = one
            .half_width_ratio
            .map(|half| (value * (1.0 - half), value * (1.0 + half)));
        return Some((value, ends));
    }
    let of_experience = f64::from(known.degrees) * known.deviation.powi(2);
    let variance = (of_experience + squares(&logarithms)) / f64::from(degrees);
    let error =
        libm::sqrt((variance / logarithms.len() as f64).max(own_variance(&[runs.to_vec()])?));
    let half_width = student_t(COMPARISON_LEVEL, degrees) * error;
    let ends = (
        value * libm::exp(-half_width),
        value * libm::exp(half_width),
    );
    Some((value, Some(ends)))
}

/// The rate of one run, with half the width of its own interval relative to it, where it has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// Any positive rate.
    pub value: f64,
    /// Half of the width of the 95 % interval, relative to the value.
    pub half_width_ratio: Option<f64>,
}

/// The runs of one side in one metric, by physical card.
pub type Samples = Vec<Vec<Observation>>;

/// One metric on both sides.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The metric.
    pub metric: String,
    /// What it is a rate of.
    pub quantity: Quantity,
    /// The side that is compared with.
    pub base: Samples,
    /// The side that is compared.
    pub other: Samples,
    /// Whether the two sides are the same products, one by one in the same order, and not cards of
    /// one product each.
    pub is_matched: bool,
}

/// What a comparison can say something about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// These runs only: there are fewer than three on a side.
    Runs,
    /// These physical cards: there are three runs of each or more.
    Cards,
    /// These products: there are two cards of each or more.
    Products,
    /// The same several products on both sides, such as on two boards: what the change from one side
    /// to the other does to them.
    Matched,
}

/// How one metric of the other side compares with that of the base.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The metric.
    pub metric: String,
    /// What the values are rates of.
    pub quantity: Quantity,
    /// Geometric mean of the base, in the quantity's unit.
    pub base_value: f64,
    /// Geometric mean of the other side.
    pub other_value: f64,
    /// The other side divided by the base.
    pub ratio: f64,
    /// Lower end of the ratio's 95 % interval.
    pub low: f64,
    /// Upper end of the ratio's 95 % interval.
    pub high: f64,
    /// How probable such a difference, or a larger one, would be where there is none.
    pub p_value: f64,
    /// The same, corrected for the number of metrics that were compared (Holm).
    pub adjusted_p_value: f64,
    /// What follows.
    pub outcome: Outcome,
}

/// What follows from the interval of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The other side's is higher.
    Higher,
    /// The other side's is lower.
    Lower,
    /// No difference was found, and one of more than 10 % is ruled out.
    Same,
    /// No difference was found, and none is ruled out.
    Undecided,
}

/// The products of two sides (label `product`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Products {
    /// Those on both sides.
    pub both: BTreeSet<String>,
    /// Those on one of them.
    pub one: BTreeSet<String>,
    /// Whether a side has several.
    pub are_several: bool,
}

impl Products {
    /// The products of these sides.
    #[must_use]
    pub fn of(base: &[&Record], other: &[&Record]) -> Self {
        let [ours, theirs] = [base, other].map(|side| -> BTreeSet<String> {
            let products = side.iter().map(|record| record.labels.get("product"));
            products.flatten().cloned().collect()
        });
        Self {
            both: ours.intersection(&theirs).cloned().collect(),
            one: ours.symmetric_difference(&theirs).cloned().collect(),
            are_several: ours.len().max(theirs.len()) > 1,
        }
    }

    /// Whether the two sides are compared product by product.
    #[must_use]
    pub fn are_matched(&self) -> bool {
        self.both.len() > 1
    }
}

/// The rates that both sides have, in the order of the base's records. Runs of one physical
/// card belong together by the label `sample` where all runs of the side have it, else by the card's
/// id where all have that; else all are taken for one card's. Where both sides have several products, those that are on
/// both are matched, and the others left out.
#[must_use]
pub fn pairs(base: &[&Record], other: &[&Record]) -> Vec<Pair> {
    let products = Products::of(base, other);
    let is_matched = products.are_matched();
    let pair = |metric: &Metric| {
        let (base, other) = if is_matched {
            matched(base, other, &products.both, metric)
        } else {
            (samples(base, metric), samples(other, metric))
        };
        Pair {
            metric: metric.id.clone(),
            quantity: metric.quantity,
            base,
            other,
            is_matched,
        }
    };
    rates(base)
        .into_iter()
        .map(pair)
        .filter(|pair| !pair.base.is_empty() && !pair.other.is_empty())
        .collect()
}

/// The runs of each product that has the metric on both sides.
fn matched(
    base: &[&Record],
    other: &[&Record],
    products: &BTreeSet<String>,
    metric: &Metric,
) -> (Samples, Samples) {
    let of = |side: &[&Record], product: &String| -> Vec<Observation> {
        let records: Vec<&Record> = side
            .iter()
            .copied()
            .filter(|record| record.labels.get("product") == Some(product))
            .collect();
        samples(&records, metric).into_iter().flatten().collect()
    };
    products
        .iter()
        .map(|product| (of(base, product), of(other, product)))
        .filter(|(base, other)| !base.is_empty() && !other.is_empty())
        .unzip()
}

/// The rates of any of these records, each once.
fn rates<'a>(records: &[&'a Record]) -> Vec<&'a Metric> {
    let mut rates: Vec<&Metric> = Vec::new();
    let all = records.iter().flat_map(|record| &record.metrics);
    for metric in all.filter(|metric| metric.quantity.is_rate()) {
        if rates.iter().all(|known| known.id != metric.id) {
            rates.push(metric);
        }
    }
    rates
}

fn samples(records: &[&Record], like: &Metric) -> Samples {
    let alike = |record: &&Record| {
        let metric = record.metric(&like.id);
        metric
            .filter(|metric| metric.quantity == like.quantity)
            .is_some()
    };
    let records: Vec<&Record> = records.iter().copied().filter(alike).collect();
    let run = |record: &&Record| record.metric(&like.id).map(observation);
    let Some(cards) = cards(&records) else {
        // Runs of which the card is not known may be of any of those that are.
        let runs: Vec<Observation> = records.iter().filter_map(run).collect();
        return if runs.is_empty() {
            Vec::new()
        } else {
            vec![runs]
        };
    };
    let mut by_card = BTreeMap::<&str, Vec<Observation>>::new();
    for (card, record) in cards.into_iter().zip(&records) {
        by_card.entry(card).or_default().extend(run(record));
    }
    by_card.into_values().collect()
}

/// The physical card of each run; none where they cannot be told apart.
fn cards<'a>(records: &[&'a Record]) -> Option<Vec<&'a str>> {
    let label = |record: &&'a Record| record.labels.get("sample").map(String::as_str);
    let id = |record: &&'a Record| record.devices.first()?.sample_id.as_deref();
    let by_label: Option<Vec<&str>> = records.iter().map(label).collect();
    by_label.or_else(|| records.iter().map(id).collect())
}

/// How many physical cards these runs are of, as far as that can be told; one where it cannot.
#[must_use]
pub fn cards_count(records: &[&Record]) -> usize {
    cards(records).map_or(1, |cards| BTreeSet::from_iter(cards).len())
}

/// A run's figure. An interval from within one trial says nothing of other trials, and is left aside.
#[must_use]
pub fn observation(metric: &Metric) -> Observation {
    let ends = metric.low.zip(metric.high);
    let is_between = metric.interval_kind == IntervalKind::BetweenRounds;
    Observation {
        value: metric.value,
        half_width_ratio: ends
            .filter(|_| is_between)
            .map(|(low, high)| 0.5 * (high - low) / metric.value),
    }
}

/// What such numbers of runs and cards can say something about.
#[must_use]
pub fn claim_of(pairs: &[Pair]) -> Claim {
    let least = |count: fn(&Samples) -> usize| {
        let sides = pairs.iter().flat_map(|pair| [&pair.base, &pair.other]);
        sides.map(count).min().unwrap_or(0)
    };
    if pairs.iter().any(|pair| pair.is_matched) {
        Claim::Matched
    } else if least(Vec::len) >= 2 {
        Claim::Products
    } else if least(|samples| samples.iter().map(Vec::len).sum()) >= 3 {
        Claim::Cards
    } else {
        Claim::Runs
    }
}

/// The differences of all pairs, in their order, corrected over all of them. Pairs with a side
/// without runs, or with a rate that is not positive, are left out.
#[must_use]
pub fn compare(pairs: &[Pair]) -> Vec<Difference> {
    let claim = claim_of(pairs);
    let contrasts: Vec<Contrast<'_>> = pairs
        .iter()
        .filter_map(|pair| contrast(pair, claim))
        .collect();
    let shared = shared_spread(&contrasts, claim);
    let mut differences: Vec<Difference> = contrasts
        .iter()
        .map(|contrast| difference(contrast, shared))
        .collect();
    correct(&mut differences);
    differences
}

/// A difference of logarithms before it is held against a variance.
struct Contrast<'a> {
    pair: &'a Pair,
    /// Mean logarithm of the base.
    base: f64,
    /// Mean logarithm of the other side.
    other: f64,
    /// Sum of squares around the means of both sides.
    squares: f64,
    degrees: u32,
    /// 1/n + 1/m: what the variance of an observation is multiplied by.
    weight: f64,
    /// The least variance of the difference: that of the runs' own intervals.
    own_variance: f64,
}

fn contrast(pair: &Pair, claim: Claim) -> Option<Contrast<'_>> {
    let base = logarithms(&pair.base, claim)?;
    let other = logarithms(&pair.other, claim)?;
    let (n, m) = (base.len() as f64, other.len() as f64);
    let own_variance = own_variance(&pair.base)? + own_variance(&pair.other)?;
    let contrast = Contrast {
        pair,
        base: mean(&base),
        other: mean(&other),
        squares: squares(&base) + squares(&other),
        degrees: u32::try_from(base.len() + other.len() - 2).ok()?,
        weight: 1.0 / n + 1.0 / m,
        own_variance,
    };
    if !pair.is_matched {
        return Some(contrast);
    }
    let changes: Vec<f64> = base
        .iter()
        .zip(&other)
        .map(|(base, other)| other - base)
        .collect();
    Some(Contrast {
        squares: squares(&changes),
        degrees: u32::try_from(changes.len() - 1).ok()?,
        weight: 1.0 / n,
        ..contrast
    })
}

/// What a claim rests on: runs, or of several cards the mean of each one's runs.
fn logarithms(samples: &[Vec<Observation>], claim: Claim) -> Option<Vec<f64>> {
    let logarithm = |run: &Observation| (run.value > 0.0).then(|| libm::log(run.value));
    let each: Vec<Vec<f64>> = samples
        .iter()
        .map(|runs| runs.iter().map(logarithm).collect())
        .collect::<Option<_>>()?;
    let values: Vec<f64> = match claim {
        Claim::Products | Claim::Matched => each.iter().map(|runs| mean(runs)).collect(),
        Claim::Runs | Claim::Cards => each.into_iter().flatten().collect(),
    };
    (!values.is_empty() && values.iter().all(|value| value.is_finite())).then_some(values)
}

/// The variance of a side's mean that its runs' own intervals account for.
fn own_variance(samples: &[Vec<Observation>]) -> Option<f64> {
    let runs: Vec<&Observation> = samples.iter().flatten().collect();
    let z = student_t(COMPARISON_LEVEL, u32::MAX);
    let variances = runs.iter().filter_map(|run| {
        let error = run.half_width_ratio? / z;
        Some(error * error)
    });
    let count = runs.len() as f64;
    (count > 0.0).then(|| variances.sum::<f64>() / (count * count))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|v| (v - mean) * (v - mean)).sum()
}

/// The variance of an observation, and how many degrees of freedom it rests on.
#[derive(Clone, Copy)]
struct Spread {
    variance: f64,
    degrees: u32,
}

/// The variance of an observation over all metrics, together with experience. As long as experience is
/// a good part of that, it only ever holds it up: where what is compared differs by more, it says
/// nothing of this case, and the observations count alone.
fn shared_spread(contrasts: &[Contrast<'_>], claim: Claim) -> Spread {
    let known = match claim {
        Claim::Runs | Claim::Cards => {
            let sides = contrasts
                .iter()
                .flat_map(|contrast| [&contrast.pair.base, &contrast.pair.other]);
            between_runs(sides.flatten().flatten())
        }
        Claim::Products | Claim::Matched => BETWEEN_SAMPLES,
    };
    let squares: f64 = contrasts.iter().map(|contrast| contrast.squares).sum();
    let degrees: u32 = contrasts.iter().map(|contrast| contrast.degrees).sum();
    let expected = known.deviation * known.deviation;
    let weighs = degrees < WEIGHTY * known.degrees;
    if weighs && squares > f64::from(degrees) * expected {
        return Spread {
            variance: squares / f64::from(degrees),
            degrees,
        };
    }
    let all_degrees = known.degrees + degrees;
    Spread {
        variance: (f64::from(known.degrees) * expected + squares) / f64::from(all_degrees),
        degrees: all_degrees,
    }
}

/// What is known beforehand of how runs differ.
fn between_runs<'a>(mut runs: impl Iterator<Item = &'a Observation>) -> Experience {
    if runs.all(|run| run.half_width_ratio.is_some()) {
        BETWEEN_RUNS
    } else {
        BETWEEN_SINGLE
    }
}

fn difference(contrast: &Contrast<'_>, shared: Spread) -> Difference {
    let difference = contrast.other - contrast.base;
    let moderated = SHARED_DEGREES + contrast.degrees;
    let of_all = f64::from(SHARED_DEGREES) * shared.variance;
    let variance = (of_all + contrast.squares) / f64::from(moderated);
    // Where the metric's squares are most of the shared ones, they must not count twice.
    let degrees = moderated.min(shared.degrees);
    let error = libm::sqrt((variance * contrast.weight).max(contrast.own_variance));
    let half_width = student_t(COMPARISON_LEVEL, degrees) * error;
    let p_value = two_sided(difference / error, degrees);
    Difference {
        metric: contrast.pair.metric.clone(),
        quantity: contrast.pair.quantity,
        base_value: libm::exp(contrast.base),
        other_value: libm::exp(contrast.other),
        ratio: libm::exp(difference),
        low: libm::exp(difference - half_width),
        high: libm::exp(difference + half_width),
        p_value,
        // Both follow from the correction over all.
        adjusted_p_value: p_value,
        outcome: Outcome::Undecided,
    }
}

/// Holm's correction, and what follows from it.
fn correct(differences: &mut [Difference]) {
    let p_values: Vec<f64> = differences.iter().map(|one| one.p_value).collect();
    for (difference, adjusted) in differences.iter_mut().zip(holm(&p_values)) {
        difference.adjusted_p_value = adjusted;
        difference.outcome =
            outcome_of(adjusted, difference.ratio, difference.low, difference.high);
    }
}

/// What follows from a ratio with its interval and the corrected probability.
pub(crate) fn outcome_of(adjusted_p_value: f64, ratio: f64, low: f64, high: f64) -> Outcome {
    let is_narrow = low >= 1.0 / (1.0 + SAME_RATIO) && high <= 1.0 + SAME_RATIO;
    if adjusted_p_value < 1.0 - COMPARISON_LEVEL {
        if ratio > 1.0 {
            Outcome::Higher
        } else {
            Outcome::Lower
        }
    } else if is_narrow {
        Outcome::Same
    } else {
        Outcome::Undecided
    }
}
