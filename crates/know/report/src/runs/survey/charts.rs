//! The charts of a report on runs.

use std::collections::BTreeSet;

use cardmark_catalog::{class, equivalents_of};
use cardmark_core::{Quantity, Trial};
use cardmark_stats::merged_histogram;

use super::anatomy;
use super::answer::{BURSTS, IN_BURSTS, LONG, OVER};
use super::curves::{Source, curve_of, curves_of, heading, seconds, trials};
use super::methods::{Method, Rate};
use super::place::over_position;
use super::repeats;
use super::sources::is_own;
use super::subjects::{QUEUE_ON, Subject, boards};
use crate::chart::{
    Bar, Bars, Chart, Curve, Curves, Dumbbell, Dumbbells, Group, Mark, Scatter, Spot,
};
use crate::text::names::{capitalised, file_name, plain_name, title_name, workload_name};
use crate::text::{figure, in_unit, latency, unit};

/// Most boards in one chart: the number of colours and shapes.
const MOST_BOARDS: usize = 6;
/// The beginning of most names of boards, left out where there is little space.
const MAKER: &str = "Raspberry ";
/// Points of a curve over time, and the least span and number of blocks that one stands for: fewer blocks would
/// show as steps.
const MOST_POINTS: f64 = 100.0;
const LEAST_SPAN_S: f64 = 0.5;
const LEAST_BLOCKS: f64 = 8.0;
/// Bars in one chart: more fill a page.
const MOST_BARS: usize = 40;
/// Spots in one chart up to which all have their names: more hide each other.
const MOST_NAMED: usize = 40;
/// Charts of rates that a page begins with.
const MOST_SHOWN: usize = 5;
/// Workloads whose rate over time, or whose latencies, are worth a picture. A run of the last has no other subject.
const SUSTAINED: &str = "sustained_write";
const OVER_TIME: [&str; 3] = ["seq_write_1m", "dd_write", SUSTAINED];
const LATENCIES: [&str; 2] = ["rand_write_4k", "sync_write_4k"];
/// Names of the colours of figures of others and of own ones.
const OWN_OR_NOT: [&str; 2] = ["Published or imported", "Own runs"];
/// Ratio of the rates in bursts and in a long series below which both are drawn.
const LONG_RATIO: f64 = 0.7;
/// Ratio of rates in one run from which their course is shown, and a latency that people notice.
const UNEVEN_RATIO: f64 = 1.5;
const STALL_NS: f64 = 1e9;

/// All charts that these subjects have figures for, the most important first.
pub(super) struct Charts {
    /// The five that compare cards, and what a suite is about.
    pub(super) shown: Vec<Chart>,
    /// Those that make another point, with a line of text on it.
    pub(super) folded: Vec<(String, Chart)>,
    /// All others.
    pub(super) rest: Vec<Chart>,
}

impl Charts {
    pub(super) fn of(subjects: &[Subject<'_>], methods: &[Method<'_>], rates: &[Rate]) -> Self {
        let mut charts = Self {
            shown: Vec::new(),
            folded: Vec::new(),
            rest: Vec::new(),
        };
        match subjects {
            [one] => charts.shown.extend(repeats::charts(one).map(Chart::Bars)),
            _ => charts.add_comparisons(subjects, methods, rates),
        }
        charts.add_courses(subjects);
        charts.distinguish();
        charts
    }

    /// All in order.
    pub(super) fn into_all(self) -> Vec<Chart> {
        let folded = self.folded.into_iter().map(|(_, chart)| chart);
        self.shown
            .into_iter()
            .chain(folded)
            .chain(self.rest)
            .collect()
    }

    fn add_comparisons(
        &mut self,
        subjects: &[Subject<'_>],
        methods: &[Method<'_>],
        rates: &[Rate],
    ) {
        let mut drawn: Vec<String> = Vec::new();
        for method in methods {
            let main = method.rates();
            for rate in main.iter().filter(|(id, _)| !drawn.contains(id)) {
                self.shown.extend(ranking(subjects, rate).map(Chart::Bars));
            }
            drawn.extend(main.iter().map(|(id, _)| id.clone()));
            self.shown.extend(against(method).map(Chart::Scatter));
        }
        self.rest = self.shown.split_off(self.shown.len().min(MOST_SHOWN));
        let others = rates.iter().filter(|(id, _)| !drawn.contains(id));
        self.rest.extend(
            others
                .filter_map(|rate| ranking(subjects, rate))
                .map(Chart::Bars),
        );
        let changes = rates.iter().filter_map(|rate| change(subjects, rate));
        self.rest.extend(changes.map(Chart::Dumbbells));
    }

    /// Charts of what happens within a run, or within a card.
    fn add_courses(&mut self, subjects: &[Subject<'_>]) {
        self.shown
            .extend(anatomy::charts(subjects).map(Chart::Curves));
        self.shown
            .extend(over_position(subjects).map(Chart::Curves));
        if let Some((curves, point)) = over_time(subjects) {
            self.put(Chart::Curves(curves), point);
        }
        if let Some((curves, point)) = latencies(subjects) {
            self.put(Chart::Curves(curves), point);
        }
    }

    fn put(&mut self, chart: Chart, point: Point) {
        match point {
            Point::Subject => self.shown.push(chart),
            Point::Made(text) => self.folded.push((text, chart)),
            Point::None => self.rest.push(chart),
        }
    }

    /// Numbers equal names.
    fn distinguish(&mut self) {
        let folded = self.folded.iter_mut().map(|(_, chart)| chart);
        let all = self.shown.iter_mut().chain(folded).chain(&mut self.rest);
        let mut known: Vec<String> = Vec::new();
        for chart in all {
            let heading = chart.heading_mut();
            let count = known.iter().filter(|name| **name == heading.name).count();
            known.push(heading.name.clone());
            if count > 0 {
                heading.name += &format!("-{}", count + 1);
            }
        }
    }
}

/// What a chart of a course shows.
enum Point {
    /// What the run was about.
    Subject,
    /// Something that a line of text can name.
    Made(String),
    None,
}

/// Boards as series of a chart; none if there are too many for colours.
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

    /// Series of the subject, or the board that needs a label of its own.
    fn place(&self, subject: &Subject<'_>) -> (usize, String) {
        match self.0.iter().position(|board| *board == subject.board) {
            Some(series) => (series, String::new()),
            None => {
                let board = subject.board.as_str();
                (0, board.strip_prefix(MAKER).unwrap_or(board).to_owned())
            }
        }
    }
}

/// Bars by card, the card with the best first, with a bar for each board.
fn ranking(subjects: &[Subject<'_>], (metric, quantity): &Rate) -> Option<Bars> {
    let measured = subjects
        .iter()
        .filter(|subject| subject.measuring(metric).next().is_some());
    let subjects: Vec<Subject<'_>> = measured.cloned().collect();
    let series = Series::of(&subjects);
    let long = long_beside(&subjects, &series, metric);
    let (mut groups, count) = groups(&subjects, &series, (metric, long), *quantity);
    if count < 2 {
        return None;
    }
    let unit = unit(metric, *quantity);
    let about = about(&groups, count, &title_name(metric), unit);
    let whiskers = whiskers(&subjects, &groups);
    let mut heading = heading(
        Source::of(&subjects).by(metric),
        &file_name(&plain_name(metric)),
        format!("{} (higher is better)", title_name(metric)),
        about,
    );
    let watched: BTreeSet<String> = subjects
        .iter()
        .filter(|subject| subject.advice.is_some())
        .map(|subject| marked(&subjects, &subject.name))
        .collect();
    if let Some(part) = cut(&mut groups, &watched) {
        heading.subtitle = [heading.subtitle, part]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(" · ");
    }
    let kinds = long.map(|_| [IN_BURSTS, OVER].map(capitalised).to_vec());
    let mut bars = Bars {
        heading,
        axis: format!("{unit}{whiskers}"),
        series: kinds.unwrap_or(series.0),
        groups,
        marks: class_marks(metric, *quantity),
    };
    let own: BTreeSet<String> = subjects
        .iter()
        .filter(|subject| subject.records.iter().any(|record| is_own(record)))
        .map(|subject| marked(&subjects, &subject.name))
        .collect();
    bars.highlight(OWN_OR_NOT, |group| own.contains(&group.name));
    Some(bars)
}

/// Returns the rates that classes ask for in the operations of a metric: A1 one at a time, A2 with a command queue.
#[must_use]
pub fn class_marks(metric: &str, quantity: Quantity) -> Vec<Mark> {
    let Some(pattern) = equivalents_of(metric) else {
        return Vec::new();
    };
    let names: &[&str] = match pattern.id.as_str() {
        "random_read" | "random_write" => &["A1"],
        "random_read_q32" | "random_write_q32" => &["A1", "A2"],
        _ => &[],
    };
    let mark = |name: &&str| {
        let class = class(name)?;
        let least = match pattern.id.starts_with("random_read") {
            true => class.least_read_operations_per_s,
            false => class.least_write_operations_per_s,
        };
        let rate = pattern.converted(Quantity::OperationRate, quantity, least? as f64)?;
        Some(Mark {
            value: in_unit(quantity, rate),
            label: class.id.clone(),
        })
    };
    names.iter().filter_map(mark).collect()
}

/// The rate of the long series, if it is to be drawn beside that of bursts: on one board, if all have both and they differ.
fn long_beside(subjects: &[Subject<'_>], series: &Series, metric: &str) -> Option<&'static str> {
    let both = |subject: &Subject<'_>| {
        let [burst, long] =
            [BURSTS, LONG].map(|id| subject.rate(id).filter(|_| !subject.is_voided(id)));
        Some((burst?.0, long?.0))
    };
    let all: Option<Vec<(f64, f64)>> = subjects.iter().map(both).collect();
    let differ =
        |(burst, long): &(f64, f64)| long / burst < LONG_RATIO || burst / long < LONG_RATIO;
    let is_drawn = metric == BURSTS && series.0.len() == 1 && all?.iter().any(differ);
    is_drawn.then_some(LONG)
}

/// The bars by name, the best name first, boards in the order of the series; and the number of subjects. With a long series a
/// card is as good as its lower rate.
fn groups(
    subjects: &[Subject<'_>],
    series: &Series,
    (metric, long): (&str, Option<&str>),
    quantity: Quantity,
) -> (Vec<Group>, usize) {
    let mut groups: Vec<Group> = Vec::new();
    let mut count = 0;
    let in_unit = |value: f64| in_unit(quantity, value);
    let bar = |(value, ends): Estimated, series: usize, label: String| Bar {
        value: in_unit(value),
        ends: ends.map(|(low, high)| (in_unit(low), in_unit(high))),
        series,
        label,
    };
    for subject in subjects {
        let Some(rate) = subject.rate(metric) else {
            continue;
        };
        let (series, label) = series.place(subject);
        let name = marked(subjects, &subject.name);
        let second = long.and_then(|long| subject.rate(long));
        let bars = std::iter::once(bar(rate, series, label));
        let bars = bars.chain(second.map(|rate| bar(rate, 1, String::new())));
        count += 1;
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.bars.extend(bars),
            None => groups.push(Group {
                name,
                bars: bars.collect(),
            }),
        }
    }
    for group in &mut groups {
        let order = |a: &Bar, b: &Bar| a.series.cmp(&b.series).then(b.value.total_cmp(&a.value));
        group.bars.sort_by(order);
    }
    let deciding = |group: &Group| match long {
        Some(_) => group
            .bars
            .iter()
            .map(|bar| bar.value)
            .fold(f64::INFINITY, f64::min),
        None => best(group),
    };
    groups.sort_by(|a, b| deciding(b).total_cmp(&deciding(a)));
    (groups, count)
}

/// Name of a card, with a mark if one of its subjects is to be replaced.
fn marked(subjects: &[Subject<'_>], name: &str) -> String {
    let mut alike = subjects.iter().filter(|subject| subject.name == name);
    let faulty = alike.find(|subject| subject.is_faulty());
    faulty.map_or_else(|| name.to_owned(), |subject| subject.marked(name))
}

/// A rate with the ends of its interval.
type Estimated = (f64, Option<(f64, f64)>);

fn best(group: &Group) -> f64 {
    group.bars.iter().map(|bar| bar.value).fold(0.0, f64::max)
}

/// Keeps the groups that fit: those of cards that need attention, then by turns the best and the slowest of the others. Returns
/// in words which those are, if any was left out.
fn cut(groups: &mut Vec<Group>, watched: &BTreeSet<String>) -> Option<String> {
    let all: usize = groups.iter().map(|group| group.bars.len()).sum();
    if all <= MOST_BARS {
        return None;
    }
    let cards = groups.len();
    for group in groups.iter_mut() {
        group.bars.truncate(MOST_BARS);
    }
    if let [only] = groups.as_slice() {
        return Some(format!("the first {} of {all}", only.bars.len()));
    }
    let is_watched = |index: &usize| watched.contains(&groups[*index].name);
    let (flagged, others): (Vec<usize>, Vec<usize>) = (0..groups.len()).partition(is_watched);
    // Of those that need attention the slowest first.
    let order = flagged.into_iter().rev().chain(ends_first(&others));
    let mut kept = BTreeSet::new();
    let mut room = MOST_BARS;
    for index in order {
        let bars = groups[index].bars.len();
        if bars <= room {
            room -= bars;
            kept.insert(index);
        }
    }
    let middle = (0..groups.len()).find(|index| !kept.contains(index) && others.contains(index));
    let middle = middle.unwrap_or(groups.len());
    let of = |fits: &dyn Fn(usize) -> bool| kept.iter().filter(|index| fits(**index)).count();
    let parts = [
        (
            of(&|index| watched.contains(&groups[index].name)),
            "that need attention",
        ),
        (
            of(&|index| others.contains(&index) && index < middle),
            "the best",
        ),
        (
            of(&|index| others.contains(&index) && index > middle),
            "the slowest",
        ),
    ];
    let mut index = 0;
    groups.retain(|_| {
        index += 1;
        kept.contains(&(index - 1))
    });
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(count, words)| match words.strip_prefix("the ") {
            Some(word) => format!("the {count} {word}"),
            None => format!("{count} {words}"),
        })
        .collect();
    Some(format!(
        "{} of {cards} cards: {}",
        groups.len(),
        parts.join(", ")
    ))
}

/// By turns from both ends.
fn ends_first(of: &[usize]) -> Vec<usize> {
    let pairs = of.iter().zip(of.iter().rev());
    let half = of.len().div_ceil(2);
    let mut order: Vec<usize> = pairs
        .take(half)
        .flat_map(|(one, other)| [*one, *other])
        .collect();
    order.truncate(of.len());
    order
}

/// The chart in a sentence.
fn about(groups: &[Group], count: usize, name: &str, unit: &str) -> String {
    let (Some(first), Some(last)) = (groups.first(), groups.last()) else {
        return String::new();
    };
    format!(
        "{name}: {count} bars, from {} with {} {unit} to {} with {} {unit}",
        first.name,
        figure(best(first)),
        last.name,
        figure(best(last)),
    )
}

/// What whiskers are, behind the unit of the axis.
fn whiskers(subjects: &[Subject<'_>], groups: &[Group]) -> &'static str {
    let single = |subject: &Subject<'_>| subject.records.len() == 1;
    let is_mixed = subjects.iter().any(single) && !subjects.iter().all(single);
    let mut bars = groups.iter().flat_map(|group| &group.bars);
    match (bars.any(|bar| bar.ends.is_some()), is_mixed) {
        (false, _) => "",
        (true, false) if subjects.iter().all(single) => ", whiskers: 95 % interval within the run",
        (true, false) => ", whiskers: 95 % interval between runs",
        (true, true) => ", whiskers: 95 % interval between runs, or within one",
    }
}

/// Writing at random against reading at random.
fn against(method: &Method<'_>) -> Option<Scatter> {
    let ((x, x_of), (y, y_of)) = (method.random_read()?, method.random_write()?);
    let subjects = &method.subjects;
    let series = Series::of(subjects);
    let name_of = |subject: &Subject<'_>| {
        let name = [subject.marked(&subject.name), series.place(subject).1];
        let named = name.into_iter().filter(|text| !text.is_empty());
        named.collect::<Vec<_>>().join(", ")
    };
    let spots: Vec<Spot> = subjects
        .iter()
        .filter_map(|subject| {
            let series = series.place(subject).0;
            Some(Spot {
                name: name_of(subject),
                x: in_unit(*x_of, subject.rate(x)?.0),
                y: in_unit(*y_of, subject.rate(y)?.0),
                series,
            })
        })
        .collect();
    let name = format!("{} vs {}", plain_name(y), plain_name(x));
    let watched = subjects.iter().filter(|subject| subject.advice.is_some());
    let named: Vec<String> = match spots.len() > MOST_NAMED {
        true => watched.map(name_of).collect(),
        false => Vec::new(),
    };
    let remark = match named.is_empty() {
        true => "up and right is better",
        false => "up and right is better; named: cards that need attention",
    };
    (spots.len() > 1).then(|| Scatter {
        heading: heading(
            Source::of(subjects).by(y),
            &file_name(&name),
            format!("{} vs. {} ({remark})", title_name(y), plain_name(x)),
            format!(
                "{} cards on their boards; the best are at the top on the right",
                spots.len()
            ),
        ),
        x_axis: format!("{}, {}", plain_name(x), unit(x, *x_of)),
        y_axis: format!("{}, {}", plain_name(y), unit(y, *y_of)),
        series: series.0,
        spots,
        named,
    })
}

/// The same cards on two boards, or on one board in two settings; the largest gain first.
fn change(subjects: &[Subject<'_>], (metric, quantity): &Rate) -> Option<Dumbbells> {
    let measured = subjects
        .iter()
        .filter(|subject| subject.measuring(metric).next().is_some());
    let subjects: Vec<Subject<'_>> = measured.cloned().collect();
    let [base, other] = <[String; 2]>::try_from(boards(&subjects)).ok()?;
    let rate = |name: &String, board: &String| {
        let subject = subjects
            .iter()
            .find(|s| s.name == *name && s.board == *board)?;
        Some(in_unit(*quantity, subject.rate(metric)?.0))
    };
    let names = subjects.iter().filter(|subject| subject.board == base);
    let mut dumbbells: Vec<Dumbbell> = names
        .filter_map(|subject| {
            Some(Dumbbell {
                name: subject.name.clone(),
                base: rate(&subject.name, &base)?,
                other: rate(&subject.name, &other)?,
            })
        })
        .collect();
    let ratio = |one: &Dumbbell| one.other / one.base;
    dumbbells.sort_by(|one, other| ratio(other).total_cmp(&ratio(one)));
    let how = difference(&subjects, [&base, &other]);
    (!dumbbells.is_empty()).then(|| Dumbbells {
        heading: heading(
            Source::of(&subjects).by(metric),
            &file_name(&format!("{} {how}", plain_name(metric))),
            format!("{} {how} (higher is better)", title_name(metric)),
            format!(
                "{} cards: {base} and {other}, with the ratio",
                dumbbells.len()
            ),
        ),
        axis: unit(metric, *quantity).to_owned(),
        sides: [base, other],
        dumbbells,
    })
}

/// What differs between two boards by their names in a report: settings follow the name of the board.
fn difference(subjects: &[Subject<'_>], sides: [&String; 2]) -> &'static str {
    let of = |board: &String| subjects.iter().find(|subject| subject.board == *board);
    let [one, other] = sides.map(of);
    let computers = one
        .zip(other)
        .map(|(one, other)| (&one.computer, &other.computer));
    let queues = sides.iter().filter(|side| side.contains(QUEUE_ON)).count();
    match computers.is_some_and(|(one, other)| one == other) {
        true if queues == 1 => "with the command queue on and off",
        true => "in two settings",
        false => "on two boards",
    }
}

/// The first of these workloads that any run has.
fn first_measured<'a>(workloads: &'a [&'a str], subjects: &[Subject<'_>]) -> Option<&'a str> {
    let is_there = |workload: &&&str| {
        let mut records = subjects.iter().flat_map(|subject| &subject.records);
        records.any(|record| !trials(record, workload).is_empty())
    };
    workloads.iter().find(is_there).copied()
}

/// The rate over the seconds of work, the most uneven runs first, and the point it makes.
fn over_time(subjects: &[Subject<'_>]) -> Option<(Curves, Point)> {
    let workload = first_measured(&OVER_TIME, subjects)?;
    let curve = |subject: &Subject<'_>| {
        let points = rates_of(&trials(subject.records.first()?, workload));
        curve_of(subject, points)
    };
    let drawn = curves_of(
        subjects,
        curve,
        |curve| unevenness(&curve.points),
        "the most uneven",
    )?;
    let point = match drawn.curves.first() {
        _ if workload == SUSTAINED => Point::Subject,
        Some(first) if unevenness(&first.points) >= UNEVEN_RATIO => Point::Made(format!(
            "{} over time: the rate of {} varies by a factor of {}",
            capitalised(workload_name(workload)),
            first.name,
            figure(unevenness(&first.points))
        )),
        _ => Point::None,
    };
    let name = workload_name(workload);
    let curves = Curves {
        heading: heading(
            Source::of(subjects).by_trials(workload),
            &file_name(&format!("{name} over time")),
            format!(
                "{} over time{} (higher is better)",
                capitalised(name),
                drawn.remark
            ),
            "rate over the seconds of work of the first run's trials, one after the other"
                .to_owned(),
        ),
        x_axis: "seconds measured".to_owned(),
        y_axis: "MB/s".to_owned(),
        is_log: (false, false),
        curves: drawn.curves,
    };
    Some((curves, point))
}

/// Ratio of the rate that a tenth of the points exceeds to the rate that a tenth falls below.
fn unevenness(points: &[(f64, f64)]) -> f64 {
    let mut rates: Vec<f64> = points.iter().map(|point| point.1).collect();
    rates.sort_by(f64::total_cmp);
    let beyond = rates.len() / 10;
    let (low, high) = (rates.get(beyond), rates.iter().rev().nth(beyond));
    match (low, high) {
        (Some(low), Some(high)) if *low > 0.0 => high / low,
        _ => 1.0,
    }
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
        let least_bytes = LEAST_BLOCKS * trial.workload.block_bytes as f64;
        let (mut from_s, mut bytes) = (0.0, 0.0);
        for (number, slice) in (1_u32..).zip(&trial.slices) {
            bytes += slice.0 as f64;
            // The last slice ends with its trial.
            let to_s = (f64::from(number) * slice_s).min(end_s);
            let is_last = number as usize == trial.slices.len();
            // A short rest belongs to what is before it.
            let is_long = to_s - from_s >= least_s && bytes >= least_bytes;
            let is_enough = is_long && end_s - to_s >= 0.5 * least_s;
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

/// Share of operations above a latency: stalls show as a tail to the right; and the point it makes.
fn latencies(subjects: &[Subject<'_>]) -> Option<(Curves, Point)> {
    let workload = first_measured(&LATENCIES, subjects)?;
    let slowest_ms = |curve: &Curve| curve.points.last().map_or(0.0, |point| point.0);
    let drawn = curves_of(
        subjects,
        |subject| latency_curve(subject, workload),
        slowest_ms,
        "the slowest",
    )?;
    let point = match drawn.curves.first() {
        Some(first) if slowest_ms(first) * 1e6 >= STALL_NS => Point::Made(format!(
            "Latencies of {}: {}",
            workload_name(workload),
            first.name
        )),
        _ => Point::None,
    };
    let name = workload_name(workload);
    let curves = Curves {
        heading: heading(
            Source::of(subjects).by_trials(workload),
            &file_name(&format!("{name} latencies")),
            format!(
                "{}: latencies{} (left is better)",
                title_name(workload),
                drawn.remark
            ),
            "share of the operations that take longer than a latency".to_owned(),
        ),
        x_axis: "latency, milliseconds".to_owned(),
        y_axis: "operations slower than this, %".to_owned(),
        is_log: (true, true),
        curves: drawn.curves,
    };
    Some((curves, point))
}

fn latency_curve(subject: &Subject<'_>, workload: &str) -> Option<Curve> {
    let records = subject.records.iter();
    let of_all = records.flat_map(|record| trials(record, workload));
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
}
