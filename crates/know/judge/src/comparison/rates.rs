//! The rates of a comparison that people ask for, over all places where both sides were measured.

use cardmark_catalog::equivalents_of;
use cardmark_stats::{Basis, Conclusion, Difference, SAME_RATIO, StallDifference};

use super::Compared;
use crate::roles::{LONG_SERIES_RATIO, LONG_WRITES, ROLES, Role, SYNCED_WRITES};
use crate::spread::known_pairs;

/// Rates that stand for the others where none of the four was measured.
const MOST_OTHERS: usize = 4;

/// Rates of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeyRates<'a> {
    /// The four rates as far as measured, the most important first; if there is none of them, the first other rates.
    pub main: Vec<RateContrast<'a>>,
    /// Random writes in one long series.
    pub long_writes: Option<RateContrast<'a>>,
    /// Synced writes.
    pub synced_writes: Option<RateContrast<'a>>,
    /// Stalls that differ, or that the rates leave out.
    pub stalls: Vec<&'a StallDifference>,
}

/// One rate on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct RateContrast<'a> {
    /// The rate that people ask for, if it is one.
    pub role: Option<&'static Role>,
    /// The differences, one of each place, all by one pattern of access; at least one.
    pub differences: Vec<&'a Difference>,
    /// Of each difference the rates with stalls, relative to those between stalls, which it is about; 1 without stalls.
    pub with_stalls: Vec<[f64; 2]>,
    /// Conclusion from all places.
    pub verdict: RateVerdict,
    /// The other side divided by the base; the geometric mean over places.
    pub ratio: f64,
    /// Of one place the ends of the 95 % interval of the ratio, if it has one; of several the least and the most.
    pub range: Option<[f64; 2]>,
}

/// Conclusion about a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateVerdict {
    /// The other side is faster.
    OtherFaster,
    /// The base is faster.
    BaseFaster,
    /// They are the same within 10 %, whether there is a difference below that or not.
    Same,
    /// In some places one side is faster, in others the other one.
    Depends,
    /// Nothing is decided.
    Undecided,
}

impl RateVerdict {
    /// Returns whether one side is faster.
    #[must_use]
    pub fn is_decided(self) -> bool {
        matches!(self, Self::OtherFaster | Self::BaseFaster)
    }
}

impl RateContrast<'_> {
    /// Returns the id of the metric in the first place.
    #[must_use]
    pub fn metric(&self) -> &str {
        self.differences.first().map_or("", |one| &one.metric)
    }

    /// Returns whether it is about rates between stalls that are lower with them.
    #[must_use]
    pub fn is_between_stalls(&self) -> bool {
        self.with_stalls.iter().flatten().any(|ratio| *ratio < 1.0)
    }

    /// Returns whether one run on a side decided.
    #[must_use]
    pub fn is_by_single_runs(&self) -> bool {
        let mut differences = self.differences.iter();
        differences.any(|one| one.basis == Basis::PublishedRepeats)
    }
}

impl KeyRates<'_> {
    /// Returns the long series of random writes if it deviates from the short trials: another side is faster, or one side
    /// slows down.
    #[must_use]
    pub fn deviating_long_writes(&self) -> Option<&RateContrast<'_>> {
        let long = self.long_writes.as_ref()?;
        let short = self.main.iter().find(|one| is_random_writes(one))?;
        if short.metric() != RANDOM_WRITES {
            return None;
        }
        let slows_down = short.differences.iter().any(|short| {
            let mut long = long.differences.iter();
            long.any(|long| {
                long.base_value < LONG_SERIES_RATIO * short.base_value
                    || long.other_value < LONG_SERIES_RATIO * short.other_value
            })
        });
        let is_new = long.verdict.is_decided() && long.verdict != short.verdict;
        (is_new || slows_down).then_some(long)
    }

    /// Returns the decided rate that leads, the most important first. A long series decides about random writes if short
    /// trials do not.
    #[must_use]
    pub fn leading(&self) -> Option<&RateContrast<'_>> {
        let is_decided = |one: &&RateContrast<'_>| one.verdict.is_decided();
        let short = self.main.first().filter(|one| is_random_writes(one));
        let long = self.long_writes.as_ref().filter(is_decided);
        if let (Some(short), Some(long)) = (short, long)
            && short.metric() == RANDOM_WRITES
            && !short.verdict.is_decided()
        {
            return Some(long);
        }
        let main = self.main.iter().find(is_decided);
        main.or_else(|| self.synced_writes.as_ref().filter(is_decided))
    }
}

/// The short trials that the long series belongs to.
const RANDOM_WRITES: &str = "rand_write_4k";

fn is_random_writes(of: &RateContrast<'_>) -> bool {
    of.role == ROLES.first()
}

/// Returns the rates that people ask for from the results of all places.
#[must_use]
pub fn key_rates<'a>(places: &[&'a Compared]) -> KeyRates<'a> {
    let mut main: Vec<RateContrast<'a>> = ROLES
        .iter()
        .filter_map(|role| of_role(role, places))
        .collect();
    if main.is_empty() {
        main = others(places);
    }
    let differs =
        |one: &StallDifference| matches!(one.outcome, Conclusion::Higher | Conclusion::Lower);
    let is_left_out = |one: &StallDifference| {
        let mut places = places.iter();
        places.any(|place| place.with_stalls.contains_key(&one.metric))
    };
    KeyRates {
        main,
        long_writes: of_role(&LONG_WRITES, places),
        synced_writes: of_role(&SYNCED_WRITES, places),
        stalls: match places {
            [only] => {
                let stalls = only.stalls.iter();
                let shown = stalls.filter(|one| differs(one) || is_left_out(one));
                shown.collect()
            }
            _ => Vec::new(),
        },
    }
}

/// The differences of a role by the first pattern that was measured, those at known queue depths first.
fn of_role<'a>(role: &'static Role, places: &[&'a Compared]) -> Option<RateContrast<'a>> {
    // A file from elsewhere may call anything by the name of a rate.
    let is_it = |one: &&Difference, id: &str| one.metric == id && one.quantity.is_rate();
    let is_measured = |id: &&&str| {
        let mut all = places.iter().flat_map(|place| &place.differences);
        all.any(|one| is_it(&one, id))
    };
    let measured: Vec<&str> = role.metrics.iter().filter(is_measured).copied().collect();
    let has_pattern = |id: &&&str| equivalents_of(id).is_some();
    let first = *measured.iter().find(has_pattern).or(measured.first())?;
    let in_pattern = |id: &str| match (equivalents_of(first), equivalents_of(id)) {
        (Some(wanted), Some(found)) => wanted.id == found.id,
        _ => id == first,
    };
    let of_place = |place: &&'a Compared| {
        let mut ids = measured.iter().filter(|id| in_pattern(id));
        let found = ids.find_map(|id| place.differences.iter().find(|one| is_it(one, id)))?;
        let with_stalls = place.with_stalls.get(&found.metric);
        Some((found, with_stalls.copied().unwrap_or([1.0; 2])))
    };
    let (differences, with_stalls) = places.iter().filter_map(of_place).unzip();
    Some(RateContrast {
        with_stalls,
        ..contrast(Some(role), differences)?
    })
}

/// The first rates of any kind.
fn others<'a>(places: &[&'a Compared]) -> Vec<RateContrast<'a>> {
    let all = places.iter().flat_map(|place| &place.differences);
    let mut ids: Vec<&str> = Vec::new();
    for one in all.filter(|one| one.quantity.is_rate() && one.basis != Basis::Listed) {
        if !ids.contains(&one.metric.as_str()) {
            ids.push(&one.metric);
        }
    }
    ids.truncate(MOST_OTHERS);
    let of = |id: &str| {
        let found = places
            .iter()
            .filter_map(|place| place.differences.iter().find(|one| one.metric == id));
        contrast(None, found.collect())
    };
    ids.into_iter().filter_map(of).collect()
}

fn contrast<'a>(
    role: Option<&'static Role>,
    differences: Vec<&'a Difference>,
) -> Option<RateContrast<'a>> {
    if differences.is_empty() {
        return None;
    }
    let ratios = || differences.iter().map(|one| one.ratio);
    let logarithms: f64 = ratios().map(libm::log).sum();
    let ratio = libm::exp(logarithms / differences.len() as f64);
    let range = match differences.as_slice() {
        [only] => only.low.zip(only.high).map(<[f64; 2]>::from),
        _ => Some([
            ratios().fold(f64::INFINITY, f64::min),
            ratios().fold(0.0, f64::max),
        ]),
    };
    Some(RateContrast {
        role,
        with_stalls: vec![[1.0; 2]; differences.len()],
        verdict: verdict(&differences),
        differences,
        ratio,
        range,
    })
}

fn verdict(differences: &[&Difference]) -> RateVerdict {
    let count = |outcome: Conclusion| {
        let found = differences.iter().filter(|one| outcome_of(one) == outcome);
        found.count()
    };
    let [higher, lower] = [Conclusion::Higher, Conclusion::Lower].map(count);
    let sum: f64 = differences.iter().map(|one| libm::log(one.ratio)).sum();
    match (higher, lower) {
        (1.., 1..) => RateVerdict::Depends,
        (0, 0) if count(Conclusion::Same) == differences.len() => RateVerdict::Same,
        (0, 0) if !is_beyond_repeats(differences, sum) => RateVerdict::Undecided,
        // The mean of all places points to the other side.
        (1.., 0) if sum <= 0.0 => RateVerdict::Depends,
        (0, 1..) if sum >= 0.0 => RateVerdict::Depends,
        _ if sum > 0.0 => RateVerdict::OtherFaster,
        _ => RateVerdict::BaseFaster,
    }
}

/// Returns the outcome of a difference; one that is certainly below 10 % is none.
#[must_use]
pub fn outcome_of(difference: &Difference) -> Conclusion {
    let ends = difference.low.zip(difference.high);
    let is_small =
        ends.is_some_and(|(low, high)| low >= 1.0 / (1.0 + SAME_RATIO) && high <= 1.0 + SAME_RATIO);
    match is_small {
        true => Conclusion::Same,
        false => difference.outcome,
    }
}

/// Returns whether the mean over several places, each with one run on a side, is beyond what repeats of one card differ by:
/// independent repeats differ by chance in either direction, so that the limit for their mean falls with the root of
/// their number.
fn is_beyond_repeats(differences: &[&Difference], sum: f64) -> bool {
    let limit = |one: &&Difference| {
        let repeats = known_pairs(&one.metric, one.quantity)?;
        (one.basis == Basis::PublishedRepeats).then_some(repeats.p99)
    };
    let limits: Option<Vec<f64>> = differences.iter().map(limit).collect();
    let limits = limits.filter(|limits| limits.len() > 1);
    let most = |limits: Vec<f64>| limits.into_iter().fold(0.0, f64::max);
    limits.is_some_and(|limits| {
        let count = limits.len() as f64;
        sum.abs() / count > most(limits) / libm::sqrt(count)
    })
}
