//! Each number of a text is in a record, known to its reader, or listed.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;
use std::path::Path;

use cardmark_core::{Quantity, Rng};

use crate::form::{Role, Span};
use crate::quiet::not_understood;
use crate::text::{Line, lines, plain, work};
use crate::{Imported, KnownMetric, NotUnderstood, found, import, normal, records};

/// A rate that no fixture has.
const RATE: &str = "7919.31 MB/s";
const NUMBER: &str = "7919.31";

pub(crate) fn known() -> Vec<KnownMetric> {
    let ids = [
        "hdparm_t",
        "hdparm_T",
        "dd_write",
        "iozone_read",
        "iozone_write",
        "iozone_random_read",
        "iozone_random_write",
    ];
    ids.map(|id| KnownMetric::new(id, Quantity::ByteRate))
        .to_vec()
}

/// All fixtures that are output of a tool, as text for the readers.
fn fixtures() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let folders = [folder.join("pasted"), folder];
    let files = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut texts: Vec<(String, String)> = files
        .map(|file| file.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|end| ["txt", "log", "json"].iter().any(|it| end == *it))
        })
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, plain(&normal::normalised(&text)))
        })
        .collect();
    texts.sort();
    assert!(texts.len() > 80, "{}", texts.len());
    texts
}

/// A text that was read.
struct Read<'a> {
    lines: Vec<Line<'a>>,
    understood: BTreeMap<usize, Vec<Span>>,
    records: Vec<Imported>,
}

impl<'a> Read<'a> {
    fn of(text: &'a str) -> Self {
        let lines: Vec<Line> = lines(text).collect();
        let mut found = found(text, &lines, &known());
        let understood = std::mem::take(&mut found.understood);
        Self {
            records: records::records(found),
            understood,
            lines,
        }
    }

    fn listed(&self, records: &[Imported]) -> Vec<NotUnderstood> {
        not_understood(&self.lines, &self.understood, BTreeMap::new(), records)
    }
}

/// Each figure is taken from its record in turn. JSON has no lines of its own: a job that is missing there is damage.
#[test]
fn a_figure_that_is_in_no_record_is_listed() {
    let mut figures_count = 0;
    let mut hidden = Vec::new();
    for (name, text) in fixtures() {
        let read = Read::of(&text);
        let metrics = read.records.iter().flat_map(|record| &record.metrics);
        let printed = metrics.filter_map(|metric| metric.printed.as_ref());
        for printed in printed.filter(|_| !name.ends_with(".json")) {
            let mut records = read.records.clone();
            for record in &mut records {
                record.metrics.retain(|metric| {
                    let own = metric.printed.as_ref().map(|printed| printed.value);
                    own != Some(printed.value) && metric.value.to_bits() != printed.value.to_bits()
                });
            }
            let after = read.listed(&records);
            let number = printed.text.split(' ').next().unwrap();
            let shows = |it: &NotUnderstood| it.numbers.iter().any(|it| it.starts_with(number));
            if !after.iter().any(shows) {
                hidden.push(format!("{name}: {}", printed.text));
            }
            figures_count += 1;
        }
    }
    assert_eq!(hidden, Vec::<String>::new());
    assert!(figures_count > 500, "{figures_count}");
}

/// Lines of a text that were read, and a change in each: a seed decides which and where.
fn changed<'a>(read: &'a Read, chance: &mut Rng) -> Vec<(&'a Line<'a>, usize)> {
    const LINES: usize = 5;
    let mut known: Vec<&Line> = read
        .lines
        .iter()
        .filter(|it| read.understood.contains_key(&it.number))
        .collect();
    known.retain(|line| !line.text.is_empty());
    let mut places = Vec::new();
    for _ in 0..LINES.min(known.len()) {
        let index = usize::try_from(chance.next_u64() % known.len() as u64).unwrap();
        let line = known.swap_remove(index);
        let mut ends: Vec<usize> = line.text.match_indices(' ').map(|(at, _)| at).collect();
        ends.push(line.text.len());
        let at = ends[usize::try_from(chance.next_u64() % ends.len() as u64).unwrap()];
        places.extend([(line, at), (line, line.text.len())]);
    }
    places
}

fn with_line(read: &Read, number: usize, changed: &str) -> String {
    let lines = read.lines.iter().map(|line| match line.number == number {
        true => changed,
        false => line.text,
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn is_listed(listed: &[NotUnderstood], line: &Line) -> bool {
    listed.iter().any(|it| it.line == line.number)
}

fn keeps(records: &[Imported]) -> bool {
    let metrics = records.iter().flat_map(|record| &record.metrics);
    let printed = metrics.filter_map(|metric| metric.printed.as_ref().map(|it| &it.text));
    let labels = records.iter().flat_map(|record| record.labels.values());
    printed.chain(labels).any(|text| text.contains(NUMBER))
}

#[test]
fn a_rate_within_a_line_that_was_read_is_listed() {
    let mut chance = Rng::new(39);
    let mut hidden = Vec::new();
    for (name, text) in fixtures() {
        let read = Read::of(&text);
        for (line, at) in changed(&read, &mut chance) {
            let (before, behind) = line.text.split_at(at);
            let changed = format!("{before} {RATE} {behind}");
            let imported = import(&with_line(&read, line.number, &changed), &known());
            if !is_listed(&imported.not_understood, line) && !keeps(&imported.records) {
                hidden.push(format!("{name}: {changed}"));
            }
        }
    }
    assert_eq!(hidden, Vec::<String>::new());
}

/// A number without a unit may be one of the words of a tool, but nowhere else.
#[test]
fn a_number_behind_a_line_that_was_read_is_listed() {
    let mut chance = Rng::new(40);
    let mut tried_count = 0;
    let mut hidden = Vec::new();
    for (name, text) in fixtures() {
        let read = Read::of(&text);
        for (line, at) in changed(&read, &mut chance) {
            let is_text = |span: &Span| span.range.end == at && matches!(span.role, Role::Text);
            // Without a digit, nothing was looked for.
            let has_digit = line.text.contains(|c: char| c.is_ascii_digit());
            if at < line.text.len()
                || !has_digit
                || read.understood[&line.number].iter().any(is_text)
            {
                continue;
            }
            let changed = format!("{} {NUMBER}", line.text);
            let imported = import(&with_line(&read, line.number, &changed), &known());
            if !is_listed(&imported.not_understood, line) && !keeps(&imported.records) {
                hidden.push(format!("{name}: {changed}"));
            }
            tried_count += 1;
        }
    }
    assert_eq!(hidden, Vec::<String>::new());
    assert!(tried_count > 200, "{tried_count}");
}

fn metrics_count(records: &[Imported]) -> usize {
    records.iter().map(|record| record.metrics.len()).sum()
}

/// For each byte of a fixture, the readers look at as many bytes if it is repeated four times as often.
#[test]
fn work_grows_as_a_fixture_is_repeated() {
    /// Bytes of the shorter text, at least one fixture.
    const BYTES: usize = 4096;
    let known = known();
    for (name, text) in fixtures() {
        let count = (BYTES / (text.len() + 1)).max(1);
        let work_of = |count: usize| {
            let text = format!("{text}\n").repeat(count);
            work::take();
            let _ = import(&text, &known);
            work::take() as f64 / text.len() as f64
        };
        if text.len() < 4 * BYTES {
            let (short, long) = (work_of(count), work_of(4 * count));
            assert!(long < 1.5 * short + 50.0, "{name}: {short} {long}");
        }
    }
}

/// A letter stands in a figure: its reader cannot read it, and the line is listed.
#[test]
fn a_line_whose_figure_cannot_be_read_is_listed() {
    let mut figures_count = 0;
    let mut hidden = Vec::new();
    for (name, text) in fixtures() {
        let read = Read::of(&text);
        let mut lines: Vec<&Line> = read.lines.iter().collect();
        let has_figure = |spans: &Vec<Span>| spans.iter().any(|it| it.role == Role::Figure);
        lines.retain(|line| read.understood.get(&line.number).is_some_and(has_figure));
        for line in lines.into_iter().step_by(2) {
            let spans = read.understood[&line.number].iter();
            let mut figures = spans.filter(|it| it.role == Role::Figure);
            let range = figures.next().unwrap().range.clone();
            let digit = line.text[range.clone()].find(|c: char| c.is_ascii_digit());
            let Some(at) = digit.map(|digit| range.start + digit) else {
                continue;
            };
            let changed = format!("{}x{}", &line.text[..at], &line.text[at + 1..]);
            let imported = import(&with_line(&read, line.number, &changed), &known());
            // A figure that the text shows twice is still there.
            let is_kept = metrics_count(&imported.records) == metrics_count(&read.records);
            if !is_listed(&imported.not_understood, line) && !is_kept {
                hidden.push(format!("{name}: {changed}"));
            }
            figures_count += 1;
        }
    }
    assert_eq!(hidden, Vec::<String>::new());
    assert!(figures_count > 150, "{figures_count}");
}
