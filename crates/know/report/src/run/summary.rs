//! Text after a run.

use cardmark_core::{
    CAPACITY_RULE, CLAIMS_LABEL, LayerKind, OriginKind, Record, Target, TargetKind, Verdict,
    VerdictOutcome,
};

use cardmark_judge::upheld;

use crate::answer::AnswerBlock;
use crate::run::again::{self, RateAgain};
use crate::run::prepared;
use crate::run::stalls;
use crate::run::workloads::{Columns, Workload};
use crate::run::{anatomy, answer, block_sizes, findings, integrity, workloads};
use crate::text::layout::{joined, painted, wrap};
use crate::text::names::origin_word;
use crate::text::style::{Style, Tone, clean};
use crate::text::{MISSING, SHORT_ID, amount, capacity, count_of};

/// Narrowest width that is kept to.
const LEAST_WIDTH: usize = 20;

/// What a terminal shows beside the figures of a run.
#[derive(Clone, Debug, Default)]
pub struct Beside<'a> {
    /// The ranges in which these rates lie when the card is measured again.
    pub again: &'a [RateAgain],
    /// The place of the run among known cards, in a line.
    pub place: Option<String>,
    /// The command that tests the capacity of this target.
    pub next: Option<String>,
    /// True to show all columns, ranges and notes.
    pub all: bool,
}

/// The record as a text of lines at most `width` columns wide: what was measured where, the answer, the table
/// of workloads, findings, bytes written.
pub fn terminal(record: &Record, width: usize, style: Style) -> String {
    terminal_with(record, &Beside::default(), width, style)
}

/// The same, with what is known of other runs, and in more detail on request.
pub fn terminal_with(record: &Record, beside: &Beside<'_>, width: usize, style: Style) -> String {
    let width = width.max(LEAST_WIDTH);
    let is_whole = beside.all || !has_short_form(record);
    let has_figure = |id: &str| record.metric(id).is_some();
    let selected = match is_whole {
        true => findings::all(&record.findings),
        false => findings::selected(&record.findings, has_figure),
    };
    let rows: Vec<Workload> = workloads::rows(record)
        .into_iter()
        .map(|row| row.without_warnings(&selected.hidden))
        .map(|row| if is_whole { row } else { row.without_marks() })
        .collect();
    let answer = answer_with_place(record, beside, &selected.hidden);
    let others = match is_whole {
        true => workloads::others(record, &rows),
        false => workloads::main_others(record, &rows),
    };
    let others = others
        .into_iter()
        .flat_map(|(name, value)| wrap(&format!("{name}: {value}"), width, 2));
    let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    let mut blocks = vec![heading(record, width, style), answer.lines(width, style)];
    blocks.extend(figures(record, &rows, is_whole, width, style));
    blocks.push(sentences(record, &rows, beside, is_whole, width));
    blocks.push(others.collect());
    let legend = match is_whole {
        true => workloads::legend(record, &rows),
        false => workloads::main_legend(&rows).collect(),
    };
    blocks.push(painted(&legend, width, style, Tone::Dim));
    blocks.push(verdict_lines(record, width, style));
    blocks.push(findings::lines(&selected.findings, &ids, width, style));
    let mut footer = footer(record);
    let all_count = findings::all(&record.findings).findings.len();
    let more_count = all_count.saturating_sub(selected.findings.len());
    footer.extend((!is_whole && !rows.is_empty()).then(|| more(record, more_count)));
    blocks.push(painted(&footer, width, style, Tone::Dim));
    joined(&blocks)
}

/// The answer, with the place of the run among known cards. Tests have their verdicts in the main part.
fn answer_with_place(record: &Record, beside: &Beside<'_>, hidden: &[String]) -> AnswerBlock {
    let is_run = record.integrity.is_none() && record.anatomy.is_none();
    let answer = is_run.then(|| answer::answer_of(record, beside.next.as_deref(), hidden));
    let mut answer = answer.flatten().unwrap_or_default();
    let mut texts: Vec<String> = std::mem::take(&mut answer.more);
    texts.extend(beside.place.clone());
    if answer.sentence.is_empty() && !texts.is_empty() {
        answer.sentence = texts.remove(0);
    }
    answer.more = texts;
    answer
}

/// Returns whether the record is one of our own runs, where some figures matter more than others. All that tests of
/// capacity and other tools say is shown.
fn has_short_form(record: &Record) -> bool {
    let is_own = matches!(
        record.origin.kind,
        OriginKind::Measured | OriginKind::Simulated
    );
    is_own && record.integrity.is_none() && record.anatomy.is_none()
}

/// The main part: the table, or the result of a test.
fn figures(
    record: &Record,
    rows: &[Workload],
    is_whole: bool,
    width: usize,
    style: Style,
) -> Vec<Vec<String>> {
    let columns = match is_whole {
        true => Columns::All,
        false => Columns::Main,
    };
    if record.integrity.is_some() {
        integrity::blocks(record, width, style)
    } else if record.anatomy.is_some() {
        anatomy::blocks(record, width, style)
    } else if rows.is_empty() {
        vec![vec!["no figures".to_owned()]]
    } else {
        vec![workloads::lines(rows, columns, width, style)]
    }
}

/// Sentences on stalls and on other runs of the card.
fn sentences(
    record: &Record,
    rows: &[Workload],
    beside: &Beside<'_>,
    is_whole: bool,
    width: usize,
) -> Vec<String> {
    let mut sentences: Vec<String> = block_sizes::sentence(record).into_iter().collect();
    if is_whole {
        sentences.extend(stalls::quiet(record));
    }
    sentences.extend(stalls::sentences(record, is_whole));
    if is_whole {
        let lowest = workloads::lowest_long_run(rows).map(|(name, rate)| {
            format!(
                "stalls too rare for so short a test could lower these rates: {name} to {rate} at worst"
            )
        });
        sentences.extend(lowest);
        sentences.extend(again::sentence(record, beside.again));
    }
    let lines = sentences.iter().flat_map(|text| wrap(text, width, 2));
    lines.collect()
}

/// How to see what is not shown.
fn more(record: &Record, findings_count: usize) -> String {
    let what = match findings_count {
        0 => "all columns".to_owned(),
        count => format!(
            "all columns and {}",
            count_of(count, "more finding", "more findings")
        ),
    };
    format!("`cardmark show {} --all` shows {what}", short_id(record))
}

fn heading(record: &Record, width: usize, style: Style) -> Vec<String> {
    let suite = match (&record.suite, &record.integrity) {
        (Some(suite), _) => {
            let tier = suite.tier.as_deref().map(clean);
            let tier = tier.map_or_else(String::new, |tier| format!(" {tier}"));
            format!("{} {}{tier}", clean(&suite.name), suite.version)
        }
        (None, Some(found)) => integrity::test_name(&found.test).to_owned(),
        (None, None) if record.anatomy.is_some() => "anatomy".to_owned(),
        (None, None) => "no suite".to_owned(),
    };
    let mut parts = vec![suite, format!("run {}", short_id(record))];
    parts.extend(record.started_at.as_deref().map(moment));
    parts.extend(origin(record));
    let mut lines = painted(&[parts.join(" · ")], width, style, Tone::Heading);
    let place = place(record);
    if !place.is_empty() {
        lines.extend(wrap(&place.join(" · "), width, 2));
    }
    lines.extend(layers(record).iter().flat_map(|text| wrap(text, width, 2)));
    let prepared = prepared::lines(record);
    lines.extend(prepared.iter().flat_map(|text| wrap(text, width, 2)));
    lines
}

pub(crate) fn short_id(record: &Record) -> String {
    record.id.to_string().chars().take(SHORT_ID).collect()
}

/// `2025-03-04 12:00 UTC` from a time in UTC; any other text as it is.
fn moment(started_at: &str) -> String {
    minute(started_at).map_or_else(|| clean(started_at), |minute| format!("{minute} UTC"))
}

/// `2025-03-04 12:00` from a time in UTC.
pub(crate) fn minute(started_at: &str) -> Option<String> {
    let (day, time) = started_at.strip_suffix('Z')?.split_once('T')?;
    Some(clean(&format!("{day} {}", time.get(..5)?)))
}

fn origin(record: &Record) -> Option<String> {
    let origin = &record.origin;
    if origin.kind == OriginKind::Measured {
        return None;
    }
    let word = origin_word(&origin.kind);
    let from = origin.source.as_ref().or(origin.tool.as_ref());
    Some(from.map_or(word.to_owned(), |from| format!("{word} ({})", clean(from))))
}

/// Tested target: kind, devices, board.
fn place(record: &Record) -> Vec<String> {
    let mut parts = Vec::new();
    parts.extend(record.target.as_ref().and_then(target));
    for device in &record.devices {
        let model = device
            .model
            .as_deref()
            .map_or_else(|| clean(&device.name), clean);
        let size = device
            .size_bytes
            .map(|bytes| format!(", {}", capacity(bytes)));
        parts.push(format!("{model}{}", size.unwrap_or_default()));
    }
    parts.extend(
        record
            .board
            .as_ref()
            .and_then(|board| board.model.as_deref())
            .map(clean),
    );
    parts
}

fn target(target: &Target) -> Option<String> {
    match target.kind {
        TargetKind::Directory => Some("file in a directory".to_owned()),
        TargetKind::Device => Some("raw device".to_owned()),
        TargetKind::Sim => Some("simulated card".to_owned()),
        TargetKind::Unknown => None,
        TargetKind::Other(word) => Some(word.to_string()),
    }
}

/// `ext4 on mmcblk0p2 on mmcblk0`.
fn layers(record: &Record) -> Option<String> {
    let target = record.target.as_ref()?;
    let mut parts: Vec<String> = target
        .filesystem
        .as_deref()
        .map(clean)
        .into_iter()
        .collect();
    for layer in target
        .layers
        .iter()
        .filter(|layer| layer.kind != LayerKind::Mount)
    {
        parts.push(clean(&layer.name()));
    }
    parts.dedup();
    (!parts.is_empty()).then(|| parts.join(" on "))
}

/// Verdicts, with their reasons below.
pub(crate) fn verdict_lines(record: &Record, width: usize, style: Style) -> Vec<String> {
    let derived = upheld(record);
    let verdicts = derived.iter().flat_map(|derived| &derived.verdicts);
    // The result of a test of capacity has its own lines.
    let is_claimed = record.labels.contains_key(CLAIMS_LABEL);
    let is_shown = |verdict: &&Verdict| {
        is_claimed || record.integrity.is_none() || verdict.rule != CAPACITY_RULE
    };
    let verdicts = verdicts.filter(is_shown);
    let mut lines = Vec::new();
    for verdict in verdicts {
        let (word, tone) = outcome_words(verdict);
        let head = format!("{}: {word}", clean(&verdict.rule));
        lines.extend(painted(&[head], width, style, tone));
        for reason in &verdict.reasons {
            let wrapped = wrap(&clean(reason), width.saturating_sub(2), 2);
            lines.extend(wrapped.iter().map(|line| format!("  {line}")));
        }
    }
    lines.extend(deviation_lines(record, width));
    lines
}

/// The word for an outcome.
pub(crate) fn outcome_words(verdict: &Verdict) -> (String, Tone) {
    match verdict.outcome {
        VerdictOutcome::Pass => ("pass".to_owned(), Tone::Heading),
        VerdictOutcome::LikelyPass => ("likely pass (short test)".to_owned(), Tone::Heading),
        VerdictOutcome::Fail => ("fail".to_owned(), Tone::Error),
        VerdictOutcome::NotTestable => ("not testable".to_owned(), Tone::Warning),
        VerdictOutcome::Borderline => ("borderline".to_owned(), Tone::Warning),
        VerdictOutcome::Score => {
            let score = verdict
                .score
                .map_or(MISSING.to_owned(), |s| format!("{s:.0}"));
            (format!("score {score}"), Tone::Heading)
        }
        VerdictOutcome::Usual => ("nothing unusual".to_owned(), Tone::Heading),
        VerdictOutcome::Unusual => ("unusual".to_owned(), Tone::Warning),
        VerdictOutcome::Other(word) => (word.to_string(), Tone::Plain),
    }
}

/// Deviations of the run from the standard.
fn deviation_lines(record: &Record, width: usize) -> Vec<String> {
    let deviations = record.derived.iter().flat_map(|d| &d.deviations);
    let points = deviations.flat_map(|deviation| {
        let wrapped = wrap(
            &format!("- {}", clean(deviation)),
            width.saturating_sub(2),
            2,
        );
        wrapped.into_iter().map(|line| format!("  {line}"))
    });
    let mut lines: Vec<String> = points.collect();
    if !lines.is_empty() {
        lines.splice(0..0, wrap(&not_conformant(record), width, 2));
    }
    lines
}

/// Limits of a tier.
pub(crate) fn not_conformant(record: &Record) -> String {
    let tier = record
        .suite
        .as_ref()
        .and_then(|suite| suite.tier.as_deref());
    let tier = tier.map_or_else(String::new, |tier| format!(" (tier {})", clean(tier)));
    format!("not the whole procedure of the SD Association{tier}:")
}

fn footer(record: &Record) -> Vec<String> {
    let mut parts = Vec::new();
    if record.written_bytes > 0 {
        parts.push(format!(
            "written to the target: {}",
            amount(record.written_bytes)
        ));
    }
    if !record.labels.is_empty() {
        let labels: Vec<String> = record
            .labels
            .iter()
            .map(|(key, value)| format!("{}={}", clean(key), clean(value)))
            .collect();
        parts.push(format!("labels: {}", labels.join(", ")));
    }
    parts
}
