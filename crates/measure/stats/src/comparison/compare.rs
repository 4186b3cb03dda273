//! Comparison of two sides: direction, ratio and significance of the difference.
//!
//! All calculations use logarithms: a ratio of 2 is as far from 1 as one of ½. The variance for testing a
//! difference is moderated after Smyth (2004), "Linear models and empirical Bayes methods for assessing
//! differential expression": a few runs estimate their own spread poorly, so it is averaged with the spread
//! of all metrics of its class. All figures of a run may be high or low together, so more metrics hardly
//! add degrees of freedom; these grow only with the number of runs. Published spreads can raise a variance,
//! not lower it, and add no degrees. P-values are corrected over all metrics and stalls after Holm (1979).

use std::collections::{BTreeMap, BTreeSet};

use cardmark_core::Quantity;
use serde::Serialize;

use crate::comparison::sides::{KnownSpread, Observation, Pair, Samples};
use crate::comparison::stall_rates::{StallDifference, StallPair, contrast_of_stalls};
use crate::estimate::distribution::student_t;
use crate::estimate::holm::holm;
use crate::estimate::needed::runs_needed;
use crate::estimate::outcome::{COMPARISON_LEVEL, Conclusion, SAME_RATIO, is_found, tested};

/// Degrees of freedom of the spread of all metrics when it is averaged with the spread of one.
const SHARED_DEGREES: u32 = 8;
/// Most degrees of freedom that the shared spread adds to a metric's own; one for each other metric.
/// `benchmarks/comparisons` simulates the resulting error rates, with independent metrics and with 80 % of the
/// variance common to all.
const MOST_ADDED_DEGREES: u32 = 3;

/// Ratio for which the number of runs is computed if a side has one run.
const WANTED_RATIO: f64 = 1.15;

/// Cards of one product differ by more than runs of one card. This value is a judgement, because hardly any
/// published data distinguish cards of one product.
const BETWEEN_SAMPLES: KnownSpread = KnownSpread {
    pooled: 0.10,
    degrees: 4,
    typical: 0.10,
    typical_degrees: 4,
};

/// Returns the geometric mean of runs of the same object, with its 95 % interval: for one run its own, for
/// several from the spread between them. `None` if a figure is not positive.
pub fn joint_rate(runs: &[Observation]) -> Option<(f64, Option<(f64, f64)>)> {
    let logarithms = logarithms(&[runs.to_vec()], Claim::Runs)?;
    let value = libm::exp(mean(&logarithms));
    if let [one] = runs {
        let ends = one
            .half_width_ratio
            .map(|half| (value * (1.0 - half), value * (1.0 + half)));
        return Some((value, ends));
    }
    let count = u32::try_from(logarithms.len()).ok()?;
    let degrees = count - 1;
    let variance = squares(&logarithms) / f64::from(degrees) / f64::from(count);
    let error = libm::sqrt(variance.max(own_variance(&[runs.to_vec()])));
    let half_width = student_t(COMPARISON_LEVEL, degrees) * error;
    let ends = (
        value * libm::exp(-half_width),
        value * libm::exp(half_width),
    );
    Some((value, Some(ends)))
}

/// Scope of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Claim {
    /// These runs only: a side has fewer than three.
    Runs,
    /// These physical cards: three runs of each or more.
    Cards,
    /// These products: two cards of each or more.
    Products,
    /// The same several products on both sides, such as on two boards: effect of the change from one side to
    /// the other.
    Matched,
}

/// Comparison of one metric between the other side and the base.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The metric.
    pub metric: String,
    /// Quantity of the values; for latencies a duration.
    pub quantity: Quantity,
    /// Geometric mean of the base, in the quantity's unit.
    pub base_value: f64,
    /// Geometric mean of the other side.
    pub other_value: f64,
    /// The other side divided by the base.
    pub ratio: f64,
    /// Lower end of the ratio's own 95 % interval; absent if a side has one run.
    pub low: Option<f64>,
    /// Upper end of the ratio's own 95 % interval.
    pub high: Option<f64>,
    /// Probability of such a difference, or a larger one, if there is none; absent if a side has one run.
    pub p_value: Option<f64>,
    /// `p_value` corrected for the number of compared metrics and stalls (Holm).
    pub adjusted_p_value: Option<f64>,
    /// Number of runs per side that find a difference of this size, or of 10 % if it is smaller, in four of
    /// five comparisons; absent if the spread is unknown.
    pub runs_needed: Option<u32>,
    /// Conclusion.
    pub outcome: Conclusion,
    /// Evidence for the conclusion.
    pub basis: Basis,
}

/// Evidence that decides about a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Spread between the runs of both sides.
    Runs,
    /// One run on a side: published repeats of other cards. A ratio that 99 of 100 pairs of repeats do not reach is a
    /// difference.
    PublishedRepeats,
    /// One card or product on a side: nothing decides.
    None,
    /// Listed without a test.
    Listed,
}

/// Returns the scope that follows from these numbers of runs and cards.
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

/// Returns the differences of all pairs in order, corrected over all of them. Skips pairs with an empty side
/// or a figure that is not positive.
pub fn compare(pairs: &[Pair]) -> Vec<Difference> {
    compare_with_stalls(pairs, &[]).0
}

/// Like [`compare`], with the stalls of workloads in the same correction.
pub fn compare_with_stalls(
    pairs: &[Pair],
    stalls: &[StallPair],
) -> (Vec<Difference>, Vec<StallDifference>) {
    let claim = claim_of(pairs);
    let is_tested = |contrast: &&Contrast<'_>| contrast.pair.is_tested;
    let contrasts: Vec<Contrast<'_>> = pairs
        .iter()
        .filter_map(|pair| contrast(pair, claim))
        .collect();
    let classes: BTreeSet<&str> = pairs.iter().map(|pair| pair.class).collect();
    let of_class = |class: &'static str| {
        let members = contrasts.iter().filter(is_tested);
        shared_variance(members.filter(move |contrast| contrast.pair.class == class))
    };
    let shared: BTreeMap<&str, _> = classes
        .into_iter()
        .map(|class| (class, of_class(class)))
        .collect();
    let shared_of = |contrast: &Contrast<'_>| shared.get(contrast.pair.class).copied().flatten();
    let mut differences: Vec<Difference> = contrasts
        .iter()
        .map(|contrast| difference(contrast, shared_of(contrast), claim))
        .collect();
    let mut of_stalls: Vec<StallDifference> = stalls.iter().map(contrast_of_stalls).collect();
    correct(&mut differences, &mut of_stalls);
    let tests = contrasts.iter().filter(is_tested).count() + of_stalls.len();
    for (difference, contrast) in differences.iter_mut().zip(&contrasts) {
        let seen = libm::log(difference.ratio).abs();
        difference.runs_needed = match difference.basis {
            Basis::Runs => {
                contrast
                    .moderated(shared_of(contrast), claim)
                    .and_then(|(variance, _)| {
                        let wanted = seen.max(libm::log(1.0 + SAME_RATIO));
                        runs_needed(libm::sqrt(variance), wanted, tests)
                    })
            }
            Basis::PublishedRepeats => contrast.pair.repeats.and_then(|repeats| {
                runs_needed(repeats.deviation(), libm::log(WANTED_RATIO), tests)
            }),
            Basis::None | Basis::Listed => None,
        };
    }
    (differences, of_stalls)
}

/// A difference of logarithms before its test.
struct Contrast<'a> {
    pair: &'a Pair,
    /// Mean logarithm of the base.
    base: f64,
    /// Mean logarithm of the other side.
    other: f64,
    /// Sum of squares around the means of both sides.
    squares: f64,
    degrees: u32,
    /// 1/n + 1/m: factor for the variance of an observation.
    weight: f64,
    /// Minimum variance of the difference, from the runs' own intervals.
    own_variance: f64,
    /// True if both sides have a spread of their own.
    is_decidable: bool,
}

fn contrast(pair: &Pair, claim: Claim) -> Option<Contrast<'_>> {
    let base = logarithms(&pair.base, claim)?;
    let other = logarithms(&pair.other, claim)?;
    let (n, m) = (base.len() as f64, other.len() as f64);
    let contrast = Contrast {
        pair,
        base: mean(&base),
        other: mean(&other),
        squares: squares(&base) + squares(&other),
        degrees: u32::try_from(base.len() + other.len() - 2).ok()?,
        weight: 1.0 / n + 1.0 / m,
        own_variance: own_variance(&pair.base) + own_variance(&pair.other),
        is_decidable: base.len().min(other.len()) >= 2,
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

/// Returns the observations for a claim: runs, or for several cards the mean of each card's runs.
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

/// Variance of a side's mean that is explained by its runs' own intervals.
fn own_variance(samples: &[Vec<Observation>]) -> f64 {
    let runs: Vec<&Observation> = samples.iter().flatten().collect();
    let errors = runs.iter().filter_map(|run| run.error_ratio);
    let sum: f64 = errors.map(|error| error * error).sum();
    let count = runs.len() as f64;
    if runs.is_empty() {
        0.0
    } else {
        sum / (count * count)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|v| (v - mean) * (v - mean)).sum()
}

/// Variance of an observation over these metrics, and the degrees of freedom that it adds; `None` if no side has
/// a spread.
fn shared_variance<'a>(
    contrasts: impl Iterator<Item = &'a Contrast<'a>> + Clone,
) -> Option<(f64, u32)> {
    let with_spread = contrasts.filter(|contrast| contrast.is_decidable);
    let squares: f64 = with_spread.clone().map(|contrast| contrast.squares).sum();
    let degrees: u32 = with_spread.clone().map(|contrast| contrast.degrees).sum();
    let others_count = u32::try_from(with_spread.count().saturating_sub(1)).ok()?;
    let added = others_count.min(MOST_ADDED_DEGREES);
    (degrees > 0).then(|| (squares / f64::from(degrees), added))
}

impl Contrast<'_> {
    fn basis(&self, claim: Claim) -> Basis {
        match claim {
            _ if !self.pair.is_tested => Basis::Listed,
            _ if self.is_decidable => Basis::Runs,
            Claim::Runs if self.pair.repeats.is_some() => Basis::PublishedRepeats,
            _ => Basis::None,
        }
    }

    /// Conclusion from one run on a side.
    fn conclusion_of_repeats(&self, claim: Claim) -> Conclusion {
        let difference = self.other - self.base;
        let repeats = self
            .pair
            .repeats
            .filter(|_| self.basis(claim) == Basis::PublishedRepeats);
        let is_beyond = repeats.is_some_and(|repeats| difference.abs() > repeats.p99);
        Conclusion::of(is_beyond, difference > 0.0, false)
    }

    /// Variance of an observation and its degrees of freedom; `None` if unknown.
    fn moderated(&self, shared: Option<(f64, u32)>, claim: Claim) -> Option<(f64, u32)> {
        if self.basis(claim) != Basis::Runs {
            return None;
        }
        let known = match claim {
            Claim::Runs | Claim::Cards => self.pair.known,
            Claim::Products | Claim::Matched => Some(BETWEEN_SAMPLES),
        };
        let (shared, added) = shared?;
        let shared = raised(shared, self.degrees, known);
        let all = SHARED_DEGREES + self.degrees;
        let variance = (f64::from(SHARED_DEGREES) * shared + self.squares) / f64::from(all);
        Some((variance, self.degrees + added))
    }
}

/// Averages the variance with a typical published one, if that is higher. If cards differ a lot in their
/// spread, the published one has few degrees and little weight.
fn raised(variance: f64, degrees: u32, known: Option<KnownSpread>) -> f64 {
    let Some(known) = known else {
        return variance;
    };
    let (own, typical) = (f64::from(degrees), f64::from(known.typical_degrees));
    let average = (own * variance + typical * known.typical * known.typical) / (own + typical);
    variance.max(average)
}

fn difference(contrast: &Contrast<'_>, shared: Option<(f64, u32)>, claim: Claim) -> Difference {
    let difference = contrast.other - contrast.base;
    let test = contrast
        .moderated(shared, claim)
        .map(|(variance, degrees)| {
            let error = libm::sqrt((variance * contrast.weight).max(contrast.own_variance));
            tested(difference, error, degrees)
        });
    Difference {
        metric: contrast.pair.metric.clone(),
        quantity: contrast.pair.quantity,
        base_value: libm::exp(contrast.base),
        other_value: libm::exp(contrast.other),
        ratio: libm::exp(difference),
        low: test.map(|(_, half)| libm::exp(difference - half)),
        high: test.map(|(_, half)| libm::exp(difference + half)),
        p_value: test.map(|(p_value, _)| p_value),
        // These depend on all metrics together.
        adjusted_p_value: None,
        runs_needed: None,
        outcome: contrast.conclusion_of_repeats(claim),
        basis: contrast.basis(claim),
    }
}

/// Applies Holm's correction and sets the conclusions.
fn correct(differences: &mut [Difference], stalls: &mut [StallDifference]) {
    let of_figures = differences.iter().filter_map(|one| one.p_value);
    let of_stalls = stalls.iter().filter_map(|one| one.p_value);
    let p_values: Vec<f64> = of_figures.chain(of_stalls).collect();
    let mut corrected = holm(&p_values).into_iter();
    for one in differences.iter_mut().filter(|one| one.p_value.is_some()) {
        one.adjusted_p_value = corrected.next();
        let test = one.adjusted_p_value.zip(one.low.zip(one.high));
        if let Some((adjusted, (low, high))) = test {
            let is_narrow = low >= 1.0 / (1.0 + SAME_RATIO) && high <= 1.0 + SAME_RATIO;
            one.outcome = Conclusion::of(is_found(adjusted), one.ratio > 1.0, is_narrow);
        }
    }
    for one in stalls.iter_mut().filter(|one| one.p_value.is_some()) {
        one.adjusted_p_value = corrected.next();
        one.conclude();
    }
}
