//! The charts of a report on runs.

use cardmark_core::{Quantity, Trial};
use cardmark_stats::merged_histogram;

use super::anatomy;
use super::curves::{curve_of, curves_of, heading, seconds, trials};
use super::place::over_position;
use super::subjects::{Subject, boards};
use crate::chart::{Bar, Bars, Chart, Curve, Curves, Dumbbell, Dumbbells, Scatter, Spot};
use crate::names::workload_name;
use crate::text::{figure, in_unit, latency, unit};

/// Most boards in one chart: the number of colours and shapes.
const MOST_BOARDS: usize = 6;
/// Points of a curve over time, and the least span that one stands for.
const MOST_POINTS: f64 = 100.0;
const LEAST_SPAN_S: f64 = 0.5;
/// Bars in one chart: more fill a page.
const MOST_BARS: usize = 40;
/// The metrics that a scatter sets against each other, the first pair that there is.
const AGAINST: [(&str, &str); 3] = [
    ("rand_read_4k", "rand_write_4k"),
    ("iozone_random_read", "iozone_random_write"),
    ("iozone_random_read_4k", "iozone_random_write_4k"),
];
/// Workloads whose rate over time, or whose latencies, are worth a picture.
const OVER_TIME: [&str; 3] = ["seq_write_1m", "dd_write", "sustained_write"];
const LATENCIES: [&str; 2] = ["rand_write_4k", "sync_write_4k"];

/// All charts that these subjects have figures for.
pub(super) fn charts(subjects: &[Subject<'_>], metrics: &[(String, Quantity)]) -> Vec<Chart> {
    let mut charts: Vec<Chart> = Vec::new();
    if subjects.len() > 1 {
        let rankings = metrics
            .iter()
            .filter_map(|(id, of)| ranking(subjects, id, *of));
        charts.extend(rankings.map(Chart::Bars));
        charts.extend(against(subjects, metrics).map(Chart::Scatter));
        let changes = metrics
            .iter()
            .filter_map(|(id, of)| change(subjects, id, *of));
        charts.extend(changes.map(Chart::Dumbbells));
    }
    charts.extend(anatomy::charts(subjects).map(Chart::Curves));
    charts.extend(over_time(subjects).map(Chart::Curves));
    charts.extend(over_position(subjects).map(Chart::Curves));
    charts.extend(latencies(subjects).map(Chart::Curves));
    charts
}

/// Boards as series of a chart; if there are too many, each name includes its board.
struct Series(Vec<String>);

impl Series {
    fn of(subjects: &[Subject<'_>]) -> Self {
        let boards = boards(subjects);
        Self(if boards.len() > MOST_BOARDS {
            Vec::new()
        } else {
            boards
        })
    }

    /// Name of the subject in the chart, and its series.
    fn name(&self, subject: &Subject<'_>) -> (String, usize) {
        match self.0.iter().position(|board| *board == subject.board) {
            Some(series) => (subject.name.clone(), series),
            None => (format!("{}, {}", subject.name, subject.board), 0),
        }
    }
}

/// Bars from the best to the worst.
fn ranking(subjects: &[Subject<'_>], metric: &str, quantity: Quantity) -> Option<Bars> {
    let series = Series::of(subjects);
    let single = |subject: &Subject<'_>| subject.records.len() == 1;
    let is_mixed = subjects.iter().any(single) && !subjects.iter().all(single);
    let mut bars: Vec<Bar> = subjects
        .iter()
        .filter_map(|subject| {
            let (value, ends) = subject.rate(metric)?;
            let in_unit = |value: f64| in_unit(quantity, value);
            let (mut name, series) = series.name(subject);
            if is_mixed && single(subject) && ends.is_some() {
                name += " (1 run)";
            }
            Some(Bar {
                name,
                value: in_unit(value),
                ends: ends.map(|(low, high)| (in_unit(low), in_unit(high))),
                series,
            })
        })
        .collect();
    bars.sort_by(|a, b| b.value.total_cmp(&a.value));
    let (best, worst) = (bars.first()?, bars.last()?);
    let count = bars.len();
    if count < 2 {
        return None;
    }
    let name = workload_name(metric);
    let unit = unit(metric, quantity);
    let about = format!(
        "{name}: {count} bars, from {} with {} {unit} to {} with {} {unit}",
        best.name,
        figure(best.value),
        worst.name,
        figure(worst.value),
    );
    let has_whiskers = bars.iter().any(|bar| bar.ends.is_some());
    let whiskers = match (has_whiskers, is_mixed) {
        (false, _) => "",
        (true, false) if subjects.iter().all(single) => ", whiskers: 95 % interval within the run",
        (true, false) => ", whiskers: 95 % interval between runs",
        (true, true) => ", whiskers: 95 % interval between runs, or within one",
    };
    bars.truncate(MOST_BARS);
    let title = if count > MOST_BARS {
        format!("{name}: the first {MOST_BARS} of {count}")
    } else {
        name.to_owned()
    };
    Some(Bars {
        heading: heading(title, about, subjects),
        axis: format!("{unit}{whiskers}"),
        series: series.0,
        bars,
    })
}

/// Reading at random against writing at random.
fn against(subjects: &[Subject<'_>], metrics: &[(String, Quantity)]) -> Option<Scatter> {
    let quantity = |id: &str| {
        metrics
            .iter()
            .find(|(known, _)| known == id)
            .map(|(_, of)| *of)
    };
    let (x, y, x_of, y_of) = AGAINST
        .iter()
        .find_map(|(x, y)| Some((*x, *y, quantity(x)?, quantity(y)?)))?;
    let series = Series::of(subjects);
    let spots: Vec<Spot> = subjects
        .iter()
        .filter_map(|subject| {
            let (name, series) = series.name(subject);
            Some(Spot {
                name,
                x: in_unit(x_of, subject.rate(x)?.0),
                y: in_unit(y_of, subject.rate(y)?.0),
                series,
            })
        })
        .collect();
    (spots.len() > 1).then(|| Scatter {
        heading: heading(
            format!("{} against {}", workload_name(y), workload_name(x)),
            format!(
                "{} cards; the best are at the top on the right",
                spots.len()
            ),
            subjects,
        ),
        x_axis: format!("{}, {}", workload_name(x), unit(x, x_of)),
        y_axis: format!("{}, {}", workload_name(y), unit(y, y_of)),
        series: series.0,
        spots,
    })
}

/// The same cards in two settings.
fn change(subjects: &[Subject<'_>], metric: &str, quantity: Quantity) -> Option<Dumbbells> {
    let boards = boards(subjects);
    let [base, other] = <[String; 2]>::try_from(boards).ok()?;
    let rate = |name: &String, board: &String| {
        let subject = subjects
            .iter()
            .find(|s| s.name == *name && s.board == *board)?;
        Some(in_unit(quantity, subject.rate(metric)?.0))
    };
    let names = subjects.iter().filter(|subject| subject.board == base);
    let dumbbells: Vec<Dumbbell> = names
        .filter_map(|subject| {
            Some(Dumbbell {
                name: subject.name.clone(),
                base: rate(&subject.name, &base)?,
                other: rate(&subject.name, &other)?,
            })
        })
        .collect();
    (!dumbbells.is_empty()).then(|| Dumbbells {
        heading: heading(
            format!("{} in two settings", workload_name(metric)),
            format!(
                "{} cards: {base} and {other}, with the ratio",
                dumbbells.len()
            ),
            subjects,
        ),
        axis: unit(metric, quantity).to_owned(),
        sides: [base, other],
        dumbbells,
    })
}

/// The first of these workloads that any run has.
fn first_measured<'a>(workloads: &'a [&'a str], subjects: &[Subject<'_>]) -> Option<&'a str> {
    let is_there = |workload: &&&str| {
        let mut records = subjects.iter().flat_map(|subject| &subject.records);
        records.any(|record| !trials(record, workload).is_empty())
    };
    workloads.iter().find(is_there).copied()
}

/// The rate over the seconds of work.
fn over_time(subjects: &[Subject<'_>]) -> Option<Curves> {
    let workload = first_measured(&OVER_TIME, subjects)?;
    let curve = |subject: &Subject<'_>| {
        let points = rates_of(&trials(subject.records.first()?, workload));
        curve_of(subject, points)
    };
    let (curves, remark) = curves_of(subjects, curve)?;
    Some(Curves {
        heading: heading(
            format!("{} over time{remark}", workload_name(workload)),
            "rate over the seconds of work of the first run's trials, one after the other"
                .to_owned(),
            subjects,
        ),
        x_axis: "seconds of work".to_owned(),
        y_axis: "MB/s".to_owned(),
        is_log: (false, false),
        curves,
    })
}

/// The trials one after the other: the middle of a span, seconds, and its rate, MB/s. Slices are
/// joined until they are long enough for a slow card, and few enough to be drawn.
fn rates_of(trials: &[&Trial]) -> Vec<(f64, f64)> {
    let whole_s: f64 = trials.iter().map(|trial| seconds(trial.span_ns)).sum();
    let least_s = (whole_s / MOST_POINTS).max(LEAST_SPAN_S);
    let mut points = Vec::new();
    let mut begin_s = 0.0;
    for trial in trials {
        let end_s = seconds(trial.span_ns);
        let slice_s = seconds(trial.slice_span_ns);
        let (mut from_s, mut bytes) = (0.0, 0.0);
        for (number, slice) in (1_u32..).zip(&trial.slices) {
            bytes += slice.0 as f64;
            // The last slice ends with its trial.
            let to_s = (f64::from(number) * slice_s).min(end_s);
            let is_last = number as usize == trial.slices.len();
            // A short rest belongs to what is before it.
            let is_enough = to_s - from_s >= least_s && end_s - to_s >= 0.5 * least_s;
            if to_s > from_s && (is_enough || is_last) {
                let rate = bytes / (to_s - from_s) / 1e6;
                points.push((begin_s + 0.5 * (from_s + to_s), rate));
                (from_s, bytes) = (to_s, 0.0);
            }
        }
        begin_s += end_s;
    }
    points
}

/// Share of operations above a latency: stalls show as a tail to the right.
fn latencies(subjects: &[Subject<'_>]) -> Option<Curves> {
    let workload = first_measured(&LATENCIES, subjects)?;
    let curve = |subject: &Subject<'_>| {
        let of_all = subject
            .records
            .iter()
            .flat_map(|record| trials(record, workload));
        let histogram = merged_histogram(&of_all.collect::<Vec<_>>())?;
        let least = 1.0 / histogram.count() as f64;
        let mut points = Vec::new();
        let mut share = 1.0;
        while share > least {
            points.push((histogram.quantile(1.0 - share)? / 1e6, 100.0 * share));
            share *= 0.85;
        }
        let slowest_ns = histogram.max_ns()? as f64;
        points.push((slowest_ns / 1e6, 100.0 * least));
        Some(Curve {
            name: format!("{}, slowest {}", subject.name, latency(slowest_ns)),
            points,
        })
    };
    let (curves, remark) = curves_of(subjects, curve)?;
    Some(Curves {
        heading: heading(
            format!("latencies of {}{remark}", workload_name(workload)),
            "share of the operations that take longer than a latency".to_owned(),
            subjects,
        ),
        x_axis: "latency, milliseconds".to_owned(),
        y_axis: "slower operations, %".to_owned(),
        is_log: (true, true),
        curves,
    })
}
