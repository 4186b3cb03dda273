//! Runs of one card over time, with the trends of its rates.

use std::collections::{BTreeMap, BTreeSet};

use cardmark_core::{Context, DeviceInfo, Metric, OriginKind, Record, Trial};
use cardmark_stats::{HistoryRun, RateHistory, RateTrend, rate_point, rate_trends};

use crate::unknown::unknown_storage;

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

/// Runs under the same circumstances.
#[derive(Clone, Debug)]
pub struct HistoryGroup<'a> {
    /// The runs, in the order of time.
    pub runs: Vec<&'a Record>,
    /// Trend of each rate.
    pub trends: Vec<RateTrend>,
}

impl HistoryGroup<'_> {
    /// Returns whether a rate has another level since a day.
    pub fn has_shift(&self) -> bool {
        self.trends.iter().any(|trend| trend.shift.is_some())
    }
}

/// Groups runs, which are in the order of time, by their circumstances and returns the trends of their rates. The correction
/// for their number covers the rates of all groups. `metrics` restricts the rates, unless it is empty; runs
/// without any of them are left out, and those of storage that is not known.
pub fn history<'a>(runs: &'a [Record], metrics: &[String]) -> Vec<HistoryGroup<'a>> {
    let runs: Vec<&Record> = runs.iter().collect();
    let mut groups = histories_of(&[runs], metrics);
    groups.pop().unwrap_or_default()
}

/// As [`history`], for several cards at once: the correction covers the rates of all of them.
pub(crate) fn histories_of<'a>(
    cards: &[Vec<&'a Record>],
    metrics: &[String],
) -> Vec<Vec<HistoryGroup<'a>>> {
    let groups: Vec<Vec<Vec<&Record>>> = cards
        .iter()
        .map(|runs| by_circumstances(runs, metrics))
        .collect();
    let histories: Vec<Vec<RateHistory>> = groups
        .iter()
        .flatten()
        .map(|members| histories(members, metrics))
        .collect();
    let mut trends = rate_trends(&histories.concat()).into_iter();
    let mut counts = histories.iter().map(Vec::len);
    let mut with_trends = |runs| HistoryGroup {
        runs,
        trends: trends
            .by_ref()
            .take(counts.next().unwrap_or_default())
            .collect(),
    };
    groups
        .into_iter()
        .map(|groups| groups.into_iter().map(&mut with_trends).collect())
        .collect()
}

/// Groups the runs that have one of the rates and are of known storage.
fn by_circumstances<'a>(runs: &[&'a Record], metrics: &[String]) -> Vec<Vec<&'a Record>> {
    let mut groups: Vec<(Circumstances, Vec<&Record>)> = Vec::new();
    let has_rates =
        |run: &&Record| unknown_storage(run).is_none() && rates(run, metrics).next().is_some();
    for run in runs.iter().copied().filter(has_rates) {
        let key = circumstances(run);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(run),
            None => groups.push((key, vec![run])),
        }
    }
    groups.into_iter().map(|(_, runs)| runs).collect()
}

/// Adds the trials of their reference reads to runs, which are in the order of time, if a rate has another level: heads of
/// stores have no trials. `document` returns the whole record of a run, and is called for the last `most` runs; a run
/// without one stays as it is.
pub fn add_reference_reads(
    runs: &mut [Record],
    metrics: &[String],
    most: usize,
    mut document: impl FnMut(&Record) -> Option<Record>,
) {
    if !history(runs, metrics).iter().any(HistoryGroup::has_shift) {
        return;
    }
    let first = runs.len().saturating_sub(most);
    for run in &mut runs[first..] {
        if let Some(found) = document(run) {
            run.trials = found.trials;
            run.trials.retain(is_reference);
        }
    }
}

fn is_reference(trial: &Trial) -> bool {
    trial.workload.rounds.every_ns > 0
}

/// Start of a run, whole seconds since 1970-01-01 (UTC); `None` if it is unknown.
pub fn started_at_s(run: &Record) -> Option<i64> {
    let at: jiff::Timestamp = run.started_at.as_deref()?.parse().ok()?;
    Some(at.as_second())
}

/// Returns the first run whose time of start is not a time: it would be missing in the trends.
pub fn unreadable_start(runs: &[Record]) -> Option<&Record> {
    let is_damaged = |run: &&Record| run.started_at.is_some() && started_at_s(run).is_none();
    runs.iter().find(is_damaged)
}

/// Sorts runs, which are in the order of storing, by their start. A run of an unknown start stays behind the one that was
/// stored before it.
pub fn sort_by_start(runs: &mut [Record]) {
    let mut before = None;
    let of_run = |run: &Record| {
        before = started_at_s(run).or(before);
        (run.id, before)
    };
    let starts: BTreeMap<_, _> = runs.iter().map(of_run).collect();
    runs.sort_by_key(|run| starts[&run.id]);
}

/// Returns whether runs are of more than one card by their labels `sample`, or else their ids; runs
/// without an id do not count as runs of a card that has one.
pub fn are_of_several_cards(runs: &[Record]) -> bool {
    let labels: Option<BTreeSet<&String>> =
        runs.iter().map(|run| run.labels.get("sample")).collect();
    let id = |run: &Record| {
        run.devices
            .first()
            .and_then(DeviceInfo::card_id)
            .map(str::to_owned)
    };
    let count = labels.map_or_else(
        || runs.iter().map(id).collect::<BTreeSet<_>>().len(),
        |labels| labels.len(),
    );
    count > 1
}

/// Returns the runs of each card by its id, sorted by their start. Runs of cards without an id are left out.
pub fn by_card(runs: Vec<Record>) -> BTreeMap<String, Vec<Record>> {
    let mut cards = BTreeMap::<String, Vec<Record>>::new();
    for run in runs {
        let id = run.devices.first().and_then(DeviceInfo::card_id);
        if let Some(id) = id.map(str::to_owned) {
            cards.entry(id).or_default().push(run);
        }
    }
    cards.values_mut().for_each(|runs| sort_by_start(runs));
    cards
}

/// Circumstances that must be equal in runs whose rates are combined: the context, the board, because another
/// one is not a change of the card, and the model.
type Circumstances = (BTreeMap<String, String>, Option<String>, Option<String>);

fn circumstances(run: &Record) -> Circumstances {
    let model = run.devices.first().and_then(|device| device.model.clone());
    let board = run.board.as_ref().and_then(|board| board.model.clone());
    (Context::of(run).must, board, model)
}

/// Returns those of a card's runs, without the record itself, that repeat it under the same circumstances. Of a
/// simulated card each seed counts once: with the same seed its figures repeat.
pub fn repeats_of(record: &Record, mut runs: Vec<Record>) -> Vec<Record> {
    let own = circumstances(record);
    runs.retain(|run| run.id != record.id && circumstances(run) == own);
    if record.origin.kind == OriginKind::Simulated {
        let mut seeds = BTreeSet::from([record.seed.clone()]);
        runs.retain(|run| seeds.insert(run.seed.clone()));
    }
    runs
}

fn rates<'a>(run: &'a Record, wanted: &'a [String]) -> impl Iterator<Item = &'a Metric> {
    let is_wanted = |id: &String| wanted.is_empty() || wanted.contains(id);
    let metrics = run.metrics.iter();
    metrics.filter(move |metric| metric.quantity.is_rate() && is_wanted(&metric.id))
}

/// Rate of a run's reference reads, which are repeated at intervals; `None` without any.
fn reference_rate(run: &Record) -> Option<f64> {
    let all = run.trials.iter();
    let trials: Vec<&Trial> = all.filter(|trial| is_reference(trial)).collect();
    Some(rate_point(&trials)?.1)
}

/// Each rate with the moments and values of the runs that have both.
fn histories(runs: &[&Record], wanted: &[String]) -> Vec<RateHistory> {
    let mut histories: Vec<RateHistory> = Vec::new();
    for run in runs {
        for metric in rates(run, wanted) {
            let alike = |known: &RateHistory| {
                known.metric == metric.id && known.quantity == metric.quantity
            };
            let index = histories.iter().position(alike).unwrap_or_else(|| {
                histories.push(RateHistory {
                    metric: metric.id.clone(),
                    quantity: metric.quantity,
                    runs: Vec::new(),
                });
                histories.len() - 1
            });
            if let Some(second) = started_at_s(run) {
                histories[index].runs.push(HistoryRun {
                    at_days: second as f64 / DAY_S,
                    value: metric.value,
                    kernel: run.host.as_ref().and_then(|host| host.kernel.clone()),
                    reference: reference_rate(run),
                });
            }
        }
    }
    histories
}
