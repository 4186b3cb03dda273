//! Where figures come from: the line below each chart, the list of publications, and the title.

use std::collections::{BTreeMap, BTreeSet};

use cardmark_catalog::{Publication, publications};
use cardmark_core::{OriginKind, Record};

use super::subjects::{Subject, suite_of};
use crate::document::{Block, Source};
use crate::text::count_of;
use crate::text::names::{capitalised, origin_word};

/// The publication of a run, if the catalogue has it.
pub(crate) fn publication_of(record: &Record) -> Option<&'static Publication> {
    let wanted = record.labels.get("publication")?;
    publications().iter().find(|known| known.id == *wanted)
}

/// True if cardmark measured it, or simulated that.
pub(super) fn is_own(record: &Record) -> bool {
    let kind = &record.origin.kind;
    matches!(kind, OriginKind::Measured | OriginKind::Simulated)
}

/// The author without further remarks.
fn author_of(publication: &Publication) -> &str {
    let author = &publication.author;
    author.split(';').next().unwrap_or(author)
}

/// Publications of these runs, each once.
fn known(records: &[&Record]) -> Vec<&'static Publication> {
    let mut known: Vec<&'static Publication> = Vec::new();
    for publication in records.iter().filter_map(|record| publication_of(record)) {
        if known.iter().all(|one| one.id != publication.id) {
            known.push(publication);
        }
    }
    known
}

/// A title for a report on these runs.
pub fn survey_title(records: &[Record]) -> String {
    let all: Vec<&Record> = records.iter().collect();
    let published = known(&all);
    match published.as_slice() {
        [one]
            if records
                .iter()
                .all(|record| publication_of(record).is_some()) =>
        {
            format!("{}, by {}", one.title, author_of(one))
        }
        _ if records.iter().all(is_own) => "Storage measured by cardmark".to_owned(),
        _ if records.iter().any(is_own) => "Storage measured by cardmark and others".to_owned(),
        _ => "Published and imported results".to_owned(),
    }
}

/// The line below a chart of these subjects by a metric: who measured what when, how often, and by which suite.
pub(super) fn footer(subjects: &[Subject<'_>], is_shown: impl Fn(&Record) -> bool) -> String {
    let by_subject = subjects.iter().map(|subject| {
        let records = subject.records.iter().copied();
        records.filter(|record| is_shown(record)).collect()
    });
    let by_subject: Vec<Vec<&Record>> = by_subject.collect();
    let records: Vec<&Record> = by_subject.concat();
    let tools: BTreeSet<String> = records
        .iter()
        .filter_map(|record| record.tool.as_ref())
        .map(|tool| format!("{} {}", tool.name, tool.version))
        .collect();
    let mut parts: Vec<String> = tools.into_iter().collect();
    let counts = by_subject
        .iter()
        .map(|records| records.len())
        .filter(|count| *count > 0);
    let (least, most) = (counts.clone().min(), counts.max());
    if let (Some(least), Some(most), false) = (least, most, parts.is_empty()) {
        parts.push(match least == most {
            true => format!("{} each", count_of(least, "run", "runs")),
            false => format!("{least} to {most} runs each"),
        });
    }
    parts.extend(days(&records));
    let mut own = records.iter().filter(|record| is_own(record));
    let suites: BTreeSet<String> = own.clone().filter_map(|record| suite_of(record)).collect();
    parts.extend(suites);
    parts.extend(authors(&records));
    let is_plain = |kind: &OriginKind| *kind == OriginKind::Measured;
    let others = records
        .iter()
        .filter(|record| !is_plain(&record.origin.kind) && publication_of(record).is_none());
    let origins: BTreeSet<&str> = others
        .map(|record| origin_word(&record.origin.kind))
        .collect();
    parts.extend(origins.into_iter().map(str::to_owned));
    match own.next() {
        Some(_) => parts.join(" · "),
        None => capitalised(&parts.join(" · ")),
    }
}

/// Day of the runs, or the first and the last.
pub(super) fn days(records: &[&Record]) -> Option<String> {
    let days = records
        .iter()
        .filter_map(|record| record.started_at.as_deref()?.get(..10));
    let days: BTreeSet<&str> = days.collect();
    let (first, last) = (days.first()?, days.last()?);
    Some(match first == last {
        true => (*first).to_owned(),
        false => format!("{first} to {last}"),
    })
}

/// `figures of Jeff Geerling (2019); Daniel Kulesz`, of one publication with its title.
pub(super) fn authors(records: &[&Record]) -> Option<String> {
    let known = known(records);
    let mut years = BTreeMap::<&str, BTreeSet<&str>>::new();
    for publication in &known {
        let date = publication.published.as_deref();
        let year = date.and_then(|date| date.get(..4));
        years
            .entry(author_of(publication))
            .or_default()
            .extend(year);
    }
    let named = years.into_iter().map(|(author, years)| {
        let title = match known.as_slice() {
            [one] => format!(", “{}”", one.title),
            _ => String::new(),
        };
        let years: Vec<&str> = years.into_iter().collect();
        match years.as_slice() {
            [] => author.to_owned() + &title,
            years => format!("{author}{title} ({})", years.join(", ")),
        }
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| format!("figures of {}", named.join("; ")))
}

/// The publications with author, title, date, address and licence, below a heading; nothing without one.
pub(super) fn section(records: &[Record]) -> Vec<Block> {
    let all: Vec<&Record> = records.iter().collect();
    let sources: Vec<Source> = known(&all).into_iter().map(source).collect();
    if sources.is_empty() {
        return Vec::new();
    }
    vec![
        Block::Heading("Sources".to_owned()),
        Block::Sources(sources),
    ]
}

fn source(publication: &Publication) -> Source {
    let date = match &publication.published {
        Some(date) => format!("published {date}"),
        None => "undated".to_owned(),
    };
    Source {
        name: format!("{}: {}", publication.author, publication.title),
        address: publication.address.clone(),
        about: format!(
            "{date}; licence: {}; read on {}",
            publication.licence, publication.checked_on
        ),
    }
}
