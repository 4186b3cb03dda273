//! Several runs of one card: their joint verdict, and a chart of the rates that people choose by.

use cardmark_core::{Estimate, Finding, IntervalKind, Metric, Quantity, RateParts, Record, Trial};
use cardmark_judge::{ROLES, Role};
use cardmark_stats::{joint_rate, whole_rate};

use super::curves::{Source, heading};
use super::sources::is_own;
use super::subjects::Subject;
use crate::chart::{Bar, Bars, Group};
use crate::text::names::{capitalised, file_name};
use crate::text::{count_of, figure, in_unit};

/// Returns a record that stands for all these runs of one suite on one board: the last one, with the mean of each rate and its
/// interval between runs, and the findings of all. `None` if they are no repeats of one test of speed.
pub(super) fn joined(subjects: &[Subject<'_>]) -> Option<Record> {
    let [Subject { records, .. }] = subjects else {
        return None;
    };
    let [.., last] = records.as_slice() else {
        return None;
    };
    let is_repeat = |record: &&Record| {
        let is_speed = record.integrity.is_none() && record.anatomy.is_none();
        is_own(record) && is_speed && record.suite.is_some() && record.suite == last.suite
    };
    if records.len() < 2 || !records.iter().all(is_repeat) {
        return None;
    }
    let mut joined = Record::clone(last);
    joined.trials = in_turn(records);
    joined
        .metrics
        .iter_mut()
        .for_each(|metric| join(metric, records));
    for finding in records.iter().flat_map(|record| &record.findings) {
        let is_alike =
            |known: &Finding| known.kind == finding.kind && known.workloads == finding.workloads;
        if !joined.findings.iter().any(is_alike) {
            joined.findings.push(finding.clone());
        }
    }
    Some(joined)
}

/// Returns the trials of all runs as if one run followed the other.
fn in_turn(records: &[&Record]) -> Vec<Trial> {
    let (mut all, mut begin_ns) = (Vec::new(), 0_u64);
    for record in records {
        let ends = record.trials.iter();
        let ends = ends.map(|trial| trial.started_ns.saturating_add(trial.span_ns));
        let end_ns = ends.max().unwrap_or(0);
        all.extend(record.trials.iter().map(|trial| Trial {
            started_ns: trial.started_ns.saturating_add(begin_ns),
            ..trial.clone()
        }));
        begin_ns = begin_ns.saturating_add(end_ns);
    }
    all
}

/// Gives a rate the mean over all runs, and the worst of their long runs: what one run does not promise, several do not.
fn join(metric: &mut Metric, records: &[&Record]) {
    let found = records
        .iter()
        .filter_map(|record| record.metric(&metric.id));
    let found: Vec<&Metric> = found.collect();
    let is_voided = found.iter().any(|one| one.voided_by().is_some());
    let long_runs = found.iter().filter_map(|one| one.parts.as_ref()?.long_run);
    let low = |long_run: &Estimate| long_run.low.unwrap_or(long_run.value);
    let long_run = long_runs.min_by(|one, other| low(one).total_cmp(&low(other)));
    let runs: Vec<_> = found.into_iter().map(whole_rate).collect();
    let joint = joint_rate(&runs).filter(|_| metric.quantity.is_rate() && !is_voided);
    if let Some((value, ends)) = joint {
        metric.value = value;
        (metric.low, metric.high) = ends.unzip();
        metric.interval_kind = IntervalKind::BetweenRounds;
        metric.parts = metric
            .parts
            .take()
            .map(|parts| RateParts { long_run, ..parts });
    }
}

/// Charts of the rates that people choose by: one for each unit.
pub(super) fn charts(subject: &Subject<'_>) -> impl Iterator<Item = Bars> {
    let units = [
        (Quantity::OperationRate, "Random reads and writes", "IOPS"),
        (Quantity::ByteRate, "Sequential reads and writes", "MB/s"),
    ];
    units
        .into_iter()
        .filter_map(|(quantity, title, unit)| chart(subject, quantity, title, unit))
}

fn chart(subject: &Subject<'_>, quantity: Quantity, title: &str, unit: &str) -> Option<Bars> {
    let count = subject.rated_count();
    let bars = ROLES
        .iter()
        .filter_map(|role| Some((role.name, measured(subject, role, quantity)?)));
    let bars: Vec<(&str, &Metric)> = bars.collect();
    let (_, first) = bars.first().filter(|_| count > 1)?;
    let group = |(name, metric): &(&str, &Metric)| {
        let (value, ends) = subject.rate(&metric.id)?;
        let in_unit = |value: f64| in_unit(quantity, value);
        let bar = Bar {
            value: in_unit(value),
            ends: ends.map(|(low, high)| (in_unit(low), in_unit(high))),
            series: 0,
            label: String::new(),
        };
        Some(Group {
            name: capitalised(name),
            bars: vec![bar],
        })
    };
    let groups: Vec<Group> = bars.iter().filter_map(group).collect();
    let values = groups.iter().flat_map(|group| {
        let bars = group.bars.iter();
        bars.map(|bar| format!("{} {} {unit}", group.name, figure(bar.value)))
    });
    let about = format!(
        "{title} of {}: {}",
        subject.name,
        values.collect::<Vec<_>>().join(", ")
    );
    let runs = count_of(count, "run", "runs");
    Some(Bars {
        heading: heading(
            Source::of(std::slice::from_ref(subject)).by(&first.id),
            &file_name(title),
            format!("{title}, mean of {runs} (higher is better)"),
            about,
        ),
        axis: format!("{unit}, whiskers: 95 % interval between runs"),
        series: Vec::new(),
        groups,
        marks: Vec::new(),
    })
}

/// The first metric of a role that the card has in this quantity.
fn measured<'a>(subject: &Subject<'a>, role: &Role, quantity: Quantity) -> Option<&'a Metric> {
    let found = role.metrics.iter().filter(|id| !subject.is_voided(id));
    let mut found = found.filter_map(|id| subject.measuring(id).next());
    found.find(|metric| metric.quantity == quantity)
}
