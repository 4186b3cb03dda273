//! Reasons from rates: too slow for a use, far below other cards of the product, and fallen.

use std::collections::BTreeMap;

use cardmark_catalog::{Requirement, Use, class, product_name, use_of};
use cardmark_core::{FindingKind, Metric, OriginKind, Record, VerdictOutcome};
use cardmark_stats::{Conclusion, LEAST_BEFORE, RateTrend, student_t};

use super::cards::CardRuns;
use super::reasons::{Ground, Outlier, Reason, Shortfall};
use crate::answer::{Limit, System, is_near, labelled_use, system_of};
use crate::classes::host::obstacle;
use crate::classes::{ClassFigure, class_figures};
use crate::history::{histories_of, started_at_s};
use crate::notice::SUPER_SPEED_BITS_PER_S;
use crate::roles::ROLES;
use crate::spread::{known_elsewhere, known_pairs};
use crate::suitability::{Fit, fit};
use crate::unknown::{unknown_storage, upheld};

/// Use of a card without that label.
const BOOT: &str = "boot";
/// Level of the range in which rates of another card of a product lie.
const RANGE_LEVEL: f64 = 0.99;
/// Minimum number of other cards of a model: unlike a product it is what the devices call themselves.
const LEAST_OF_MODEL: usize = 5;
/// Rates that count for a fall, beside the four of the roles.
const ALSO_FALLING: [&str; 3] = ["rand_write_4k_long", "sync_write_4k", "settled_write"];
/// Findings of a link or board that slows any card down.
const SLOWED: [FindingKind; 5] = [
    FindingKind::SlowBus,
    FindingKind::SlowUsb,
    FindingKind::NoUas,
    FindingKind::Throttled,
    FindingKind::UnderVoltage,
];

/// Returns the reason if a card is too slow for its use, or near the limit, by the last run that decides.
pub(super) fn slow<'a>(card: &CardRuns<'a>) -> Option<Ground<'a>> {
    let mut labelled = card.runs.iter().rev().filter_map(|run| labelled_use(run));
    let wanted = labelled.next().or_else(|| use_of(BOOT))?;
    let mut judged = card
        .runs
        .iter()
        .rev()
        .filter_map(|run| Some((*run, judged(run, wanted)?)));
    let (run, judgement) = judged.next()?;
    let reason = match judgement {
        Judgement::Enough | Judgement::OfBoard(_) => return None,
        Judgement::TooSlow(shortfall) => Reason::TooSlow(shortfall),
        Judgement::AtTheLimit(shortfall) => Reason::AtTheLimit(shortfall),
    };
    Some(Ground { reason, run })
}

/// A run's verdict on a use.
enum Judgement {
    Enough,
    TooSlow(Shortfall),
    AtTheLimit(Shortfall),
    /// The board limits the rate of these operations.
    OfBoard(String),
}

/// Returns the verdict of a run; `None` if it does not decide. A rate that board or link limit is none of the card: the others
/// decide.
fn judged(run: &Record, wanted: &Use) -> Option<Judgement> {
    let found = by_answer(run, wanted).or_else(|| by_class(run, wanted))?;
    let (plain, is_of_board) = match &found {
        Judgement::Enough => return Some(found),
        Judgement::TooSlow(short) | Judgement::AtTheLimit(short) => (&short.plain, false),
        Judgement::OfBoard(plain) => (plain, true),
    };
    let need = wanted.needs.iter().find(|need| need.plain == *plain)?;
    if !is_of_board && !is_of_link(run, need) {
        return Some(found);
    }
    let mut others = run.clone();
    others
        .metrics
        .retain(|metric| !need.metrics.contains(&metric.id));
    judged(&others, wanted)
}

/// As the answer of the run begins.
fn by_answer(run: &Record, wanted: &Use) -> Option<Judgement> {
    Some(match system_of(run, wanted)? {
        System::MeetsClass(limit) if !may_fall_below(wanted, &limit) => Judgement::Enough,
        System::Rated(Fit::Poor | Fit::Slow, limit)
        | System::Border(limit)
        | System::MeetsClass(limit)
            if limit.board.is_some() =>
        {
            Judgement::OfBoard(limit.plain)
        }
        System::Rated(fit @ (Fit::Poor | Fit::Slow), limit) => {
            Judgement::TooSlow(shortfall(wanted, fit, &limit))
        }
        System::Border(limit) | System::MeetsClass(limit) => {
            Judgement::AtTheLimit(shortfall(wanted, Fit::Enough, &limit))
        }
        System::Rated(..) => Judgement::Enough,
        System::LosesData(_)
        | System::Fails(_)
        | System::Unknown(_)
        | System::Uneven(_)
        | System::Voided(..)
        | System::NotMeasured(_) => return None,
    })
}

/// As a test of the class that the use asks for shows, so that two suites do not contradict each other about a card. Rates that
/// reach the class leave others open.
fn by_class(run: &Record, wanted: &Use) -> Option<Judgement> {
    let derived = upheld(run)?;
    let is_failed = |id: &&str| {
        let mut verdicts = derived.verdicts.iter();
        verdicts.any(|verdict| verdict.rule == *id && verdict.outcome == VerdictOutcome::Fail)
    };
    let too_low = wanted.needs.iter().filter_map(|need| {
        let class = class(need.class.as_deref().filter(is_failed)?)?;
        let mut figures = class_figures(run, class).into_iter();
        let figure = figures.find(|figure| need.plain.strip_suffix('s') == Some(figure.words))?;
        (figure.value < figure.least).then_some((need, figure))
    });
    let share = |one: &(&Requirement, ClassFigure)| one.1.value / one.1.least;
    let (need, figure) = too_low.min_by(|one, other| share(one).total_cmp(&share(other)))?;
    let shortfall = Shortfall {
        use_id: wanted.id.clone(),
        fit: fit(figure.value / need.enough),
        plain: need.plain.clone(),
        quantity: figure.quantity,
        value: figure.value,
        asked: figure.least,
        class: need.class.clone(),
    };
    Some(match is_near(figure.value, figure.least) {
        true => Judgement::AtTheLimit(shortfall),
        false => Judgement::TooSlow(shortfall),
    })
}

fn shortfall(wanted: &Use, fit: Fit, limit: &Limit) -> Shortfall {
    let class = limit.class.clone();
    Shortfall {
        use_id: wanted.id.clone(),
        fit,
        plain: limit.plain.clone(),
        quantity: limit.quantity,
        value: limit.value,
        asked: class.as_ref().map_or(limit.enough, |(_, rate)| *rate),
        class: class.map(|(name, _)| name),
    }
}

/// Returns whether a slow way to the card may limit a rate: that of reads, or of sequential writes. For others the card takes
/// much longer than any link.
fn is_of_link(run: &Record, need: &Requirement) -> bool {
    let class = need.class.as_deref().and_then(class);
    let is_obstructed = || class.is_some_and(|class| obstacle(run, class).is_some());
    let is_fast = need.plain.ends_with("reads") || need.plain.starts_with("sequential");
    is_fast && (is_slowed(run) || is_obstructed())
}

/// Returns whether link or board slow any card down in this run.
fn is_slowed(run: &Record) -> bool {
    let mut findings = run.findings.iter();
    let device = run.devices.first();
    let usb = device.and_then(|device| device.reader.as_ref()?.usb.as_ref());
    let link = usb.and_then(|usb| usb.link_bits_per_s);
    findings.any(|finding| SLOWED.contains(&finding.kind))
        || link.is_some_and(|link| link < SUPER_SPEED_BITS_PER_S)
}

/// Returns whether one of ten repeats would be below the class.
fn may_fall_below(wanted: &Use, limit: &Limit) -> bool {
    let need = wanted.needs.iter().find(|need| need.plain == limit.plain);
    let metric = need.and_then(|need| need.metrics.first());
    let pairs = metric.and_then(|metric| known_pairs(metric, limit.quantity));
    let Some(((_, asked), pairs)) = limit.class.as_ref().zip(pairs) else {
        return false;
    };
    limit.value * libm::exp(-pairs.p90) < *asked
}

/// Rates of cards by product, or else by model, on one kind of board.
pub(super) struct Peers<'a> {
    rates: BTreeMap<Group<'a>, Vec<(usize, f64)>>,
}

/// Cards whose rates can be compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Group<'a> {
    product: Option<String>,
    model: Option<&'a str>,
    board: Option<&'a str>,
    is_simulated: bool,
    metric: &'a str,
}

impl<'a> Peers<'a> {
    /// Collects the rates of all cards in one pass.
    pub(super) fn of(cards: &[CardRuns<'a>]) -> Self {
        let mut rates = BTreeMap::<_, Vec<_>>::new();
        for (index, card) in cards.iter().enumerate() {
            for (group, _, metric) in figures(card) {
                rates.entry(group).or_default().push((index, metric.value));
            }
        }
        Self { rates }
    }

    /// Returns the rate of a card that is lowest relative to those of the others, if it lies below the range in which that of
    /// another card of the product lies.
    pub(super) fn far_below(&self, index: usize, card: &CardRuns<'a>) -> Option<Ground<'a>> {
        let found = figures(card)
            .into_iter()
            .filter_map(|(group, run, metric)| {
                let others = self
                    .rates
                    .get(&group)?
                    .iter()
                    .filter(|(other, _)| *other != index);
                let mut others: Vec<f64> = others.map(|(_, value)| *value).collect();
                others.sort_by(f64::total_cmp);
                let least = if group.product.is_some() {
                    1
                } else {
                    LEAST_OF_MODEL
                };
                let usual = cardmark_stats::median(&others).filter(|_| others.len() >= least)?;
                let lowest = usual * lowest_ratio(metric, others.len())?;
                (metric.value < lowest).then(|| (outlier(metric, usual, others.len()), run))
            });
        let share = |one: &(Outlier, &Record)| one.0.value / one.0.usual;
        let (outlier, run) = found.min_by(|one, other| share(one).total_cmp(&share(other)))?;
        Some(Ground {
            reason: Reason::FarBelowProduct(outlier),
            run,
        })
    }
}

fn outlier(metric: &Metric, usual: f64, others_count: usize) -> Outlier {
    Outlier {
        metric: metric.id.clone(),
        quantity: metric.quantity,
        value: metric.value,
        usual,
        others_count,
    }
}

/// Returns the lower end of the range of another card's rate, relative to the rates of this number of cards.
fn lowest_ratio(metric: &Metric, count: usize) -> Option<f64> {
    let between = known_elsewhere(&metric.id, metric.quantity)?.sample;
    let deviation = between.deviation * libm::sqrt(1.0 + 1.0 / count as f64);
    Some(libm::exp(
        -student_t(RANGE_LEVEL, between.degrees) * deviation,
    ))
}

/// Returns the last figure of each of the four rates that answers for the card, and not for a slow link.
fn figures<'a>(card: &CardRuns<'a>) -> Vec<(Group<'a>, &'a Record, &'a Metric)> {
    let is_fit = |run: &&&Record| !is_slowed(run) && unknown_storage(run).is_none();
    let runs: Vec<&'a Record> = card.runs.iter().rev().filter(is_fit).copied().collect();
    let last = |metrics: &[&str]| {
        runs.iter().find_map(|run| {
            let mut found = metrics.iter().filter_map(|id| run.metric(id));
            Some((
                *run,
                found.find(|metric| metric.voided_by().is_none() && metric.value > 0.0)?,
            ))
        })
    };
    let rates = ROLES.iter().filter_map(|role| last(role.metrics));
    rates
        .map(|(run, metric)| (Group::of(card, run, &metric.id), run, metric))
        .collect()
}

impl<'a> Group<'a> {
    fn of(card: &CardRuns<'a>, run: &'a Record, metric: &'a str) -> Self {
        let product = card
            .runs
            .iter()
            .rev()
            .find_map(|run| run.labels.get("product"));
        let device = run.devices.first();
        let model = device.and_then(|device| device.model.as_deref());
        Self {
            model: model.filter(|_| product.is_none()),
            product: product.map(|name| product_name(name)),
            board: run.board.as_ref().and_then(|board| board.model.as_deref()),
            is_simulated: run.origin.kind == OriginKind::Simulated,
            metric,
        }
    }
}

/// Returns for each card the rate that has fallen most. The correction for the number of rates covers all cards.
pub(super) fn falling<'a>(cards: &[CardRuns<'a>]) -> Vec<Option<Ground<'a>>> {
    let main = ROLES.iter().filter_map(|role| role.metrics.first());
    let metrics: Vec<String> = main
        .chain(&ALSO_FALLING)
        .map(|id| (*id).to_owned())
        .collect();
    // With fewer runs there is neither a trend nor a change of level.
    let dated = |card: &CardRuns<'a>| -> Vec<&'a Record> {
        let runs = card.runs.iter().copied();
        let runs: Vec<_> = runs.filter(|run| started_at_s(run).is_some()).collect();
        match runs.len() >= LEAST_BEFORE {
            true => runs,
            false => Vec::new(),
        }
    };
    let dated: Vec<Vec<&Record>> = cards.iter().map(dated).collect();
    let histories = histories_of(&dated, &metrics);
    let fallen = histories.into_iter().map(|groups| {
        let last = |runs: &[&Record]| runs.last().and_then(|run| started_at_s(run));
        // The present circumstances are those of the last run.
        let group = groups.into_iter().max_by_key(|group| last(&group.runs))?;
        let run = *group.runs.last()?;
        let falls = group.trends.iter().filter_map(fall);
        let (change_ratio, since_days, metric) =
            falls.min_by(|one, other| one.0.total_cmp(&other.0))?;
        let metric = metric.to_owned();
        Some(Ground {
            reason: Reason::Falling {
                metric,
                change_ratio,
                since_days,
            },
            run,
        })
    });
    fallen.collect()
}

/// The change of a rate that has fallen, and the day since which it is lower. If the reference reads changed alike, something
/// else is slower.
fn fall(trend: &RateTrend) -> Option<(f64, Option<f64>, &str)> {
    let shift = trend
        .shift
        .as_ref()
        .filter(|shift| shift.change_ratio < 0.0 && shift.is_in_reference() != Some(true));
    let by_shift = shift.map(|shift| (shift.change_ratio, Some(shift.at_days)));
    let is_lower = trend.outcome == Some(Conclusion::Lower);
    let by_trend = trend
        .change_ratio
        .filter(|_| is_lower && trend.shift.is_none());
    let (change_ratio, since) = by_shift.or(by_trend.map(|ratio| (ratio, None)))?;
    Some((change_ratio, since, trend.metric.as_str()))
}

#[cfg(test)]
mod tests {
    use cardmark_core::Quantity;

    use super::*;

    #[test]
    fn the_range_of_another_card_narrows_with_the_number_of_known_ones() {
        let metric = Metric::new("rand_write_4k", Quantity::OperationRate, 900.0);
        let [one, ten] = [1, 10].map(|count| lowest_ratio(&metric, count).unwrap());
        assert!(0.2 < one && one < ten && ten < 0.6, "{one} {ten}");
    }
}
