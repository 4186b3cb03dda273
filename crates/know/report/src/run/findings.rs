//! Findings as a person reads them: one entry per cause, with the lines that it concerns.

use std::collections::BTreeSet;

use cardmark_core::{Finding, FindingKind, Severity};

use crate::text::layout::wrap;
use crate::text::names::workload_name;
use crate::text::style::{Style, Tone, clean};

/// Least number of lines of a table that are not listed if a finding concerns all of them.
const LEAST_ROWS: usize = 3;
/// Causes that explain the symptoms of the same workloads.
const CAUSES: [FindingKind; 4] = [
    FindingKind::Throttled,
    FindingKind::SharedDevice,
    FindingKind::StolenTime,
    FindingKind::BusErrors,
];
/// Symptoms of something that changed during the run.
const SYMPTOMS: [FindingKind; 4] = [
    FindingKind::NotSettled,
    FindingKind::ReferenceMoved,
    FindingKind::OutlyingRound,
    FindingKind::WideInterval,
];
/// Findings whose sentences for several workloads differ in numbers alone, which a range can join.
const MEASURED: [FindingKind; 8] = [
    FindingKind::Throttled,
    FindingKind::StolenTime,
    FindingKind::SharedDevice,
    FindingKind::NotReached,
    FindingKind::NotSettled,
    FindingKind::CachedWrites,
    FindingKind::SlowPayload,
    FindingKind::TransitionCost,
];

/// Signs that other work on the computer lowered figures.
const BUSY: [FindingKind; 3] = [
    FindingKind::SharedDevice,
    FindingKind::StolenTime,
    FindingKind::BusyHost,
];

/// The findings to show, and what is not shown.
pub(crate) struct Selected {
    /// The findings, each cause once, the worst first.
    pub(crate) findings: Vec<Finding>,
    /// Names of the kinds that are not shown.
    pub(crate) hidden: Vec<String>,
    /// The entries that are not shown.
    pub(crate) others: Vec<Finding>,
}

/// All findings; those with the same words are one entry.
pub(crate) fn all(findings: &[Finding]) -> Selected {
    Selected {
        findings: merged(findings, |finding| finding.detail.clone()),
        hidden: Vec::new(),
        others: Vec::new(),
    }
}

/// The findings that a reader needs first: causes without their symptoms, and no notes that call for nothing. Notes on
/// workloads without a figure explain why it is missing.
pub(crate) fn selected(findings: &[Finding], has_figure: impl Fn(&str) -> bool) -> Selected {
    let is_needed = |finding: &&Finding| {
        let is_note = finding.severity == Severity::Note;
        let explains = finding.workloads.iter().any(|id| !has_figure(id));
        // The answer before the table has how far a long write got.
        let is_said = finding.kind == FindingKind::WrittenPart;
        let is_useful = !is_note || finding.advice.is_some() || explains;
        !is_said && !is_symptom(finding, findings) && is_useful
    };
    let (shown, others): (Vec<&Finding>, Vec<&Finding>) = findings.iter().partition(is_needed);
    let shown: Vec<Finding> = shown.into_iter().cloned().collect();
    let others: Vec<Finding> = others.into_iter().cloned().collect();
    let mut hidden: Vec<String> = others.iter().map(|finding| finding.kind.name()).collect();
    hidden.retain(|name| shown.iter().all(|finding| finding.kind.name() != *name));
    let (shown, more) = busy_in_one(shown);
    let others = [others, more].concat();
    Selected {
        findings: merged(&shown, shape),
        hidden,
        others: merged(&others, shape),
    }
}

/// Joins several kinds of signs of a busy computer in one entry, and returns those separately.
fn busy_in_one(findings: Vec<Finding>) -> (Vec<Finding>, Vec<Finding>) {
    let is_busy = |finding: &Finding| BUSY.contains(&finding.kind);
    let (busy, mut rest): (Vec<Finding>, Vec<Finding>) =
        findings.iter().cloned().partition(is_busy);
    let worst = busy.iter().max_by_key(|finding| finding.severity);
    let is_one_kind = busy.windows(2).all(|pair| pair[0].kind == pair[1].kind);
    let Some(worst) = worst.filter(|worst| worst.severity >= Severity::Warning && !is_one_kind)
    else {
        return (findings, Vec::new());
    };
    let mut one = Finding::new(
        worst.kind,
        worst.severity,
        "this computer was busy, so that figures may be low",
    )
    .advise("close other programs, and repeat the run");
    // A sign of the whole run concerns all workloads.
    if busy.iter().all(|finding| !finding.workloads.is_empty()) {
        let ids: BTreeSet<&String> = busy.iter().flat_map(|finding| &finding.workloads).collect();
        one.workloads = ids.into_iter().cloned().collect();
    }
    rest.push(one);
    (rest, busy)
}

/// Returns whether a known cause explains the finding.
fn is_symptom(finding: &Finding, all: &[Finding]) -> bool {
    let causes = || {
        all.iter()
            .filter(|cause| CAUSES.contains(&cause.kind) && cause.severity >= Severity::Warning)
    };
    let is_caused = |id: &String| {
        causes().any(|cause| cause.workloads.is_empty() || cause.workloads.contains(id))
    };
    // A symptom of the whole run may have a cause in any part of it.
    SYMPTOMS.contains(&finding.kind)
        && causes().next().is_some()
        && finding.workloads.iter().all(is_caused)
}

/// Joins findings of one kind, severity, advice and key: their workloads, and the numbers of their sentences.
fn merged(findings: &[Finding], key: impl Fn(&Finding) -> String) -> Vec<Finding> {
    let mut groups: Vec<(String, Vec<&Finding>)> = Vec::new();
    for finding in findings {
        let key = key(finding);
        let same = groups.iter_mut().find(|(known, group)| {
            *known == key
                && group.first().is_some_and(|first| {
                    (first.kind, first.severity, &first.advice)
                        == (finding.kind, finding.severity, &finding.advice)
                })
        });
        match same {
            Some((_, group)) => group.push(finding),
            None => groups.push((key, vec![finding])),
        }
    }
    let mut merged: Vec<Finding> = groups
        .iter()
        .filter_map(|(_, group)| one_of(group))
        .collect();
    merged.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    merged
}

fn one_of(group: &[&Finding]) -> Option<Finding> {
    let (first, others) = group.split_first()?;
    let mut one = (*first).clone();
    for other in others {
        one.workloads.extend(other.workloads.iter().cloned());
    }
    let details: Vec<&str> = group
        .iter()
        .map(|finding| finding.detail.as_str())
        .collect();
    one.detail = with_ranges(&details);
    Some(one)
}

/// The sentence without its numbers if a range can join them, else the sentence.
fn shape(finding: &Finding) -> String {
    if !MEASURED.contains(&finding.kind) {
        return finding.detail.clone();
    }
    pieces(&finding.detail)
        .iter()
        .map(|piece| match number(piece) {
            Some(_) => "#",
            None => piece,
        })
        .collect()
}

/// Texts and numbers alternately.
fn pieces(text: &str) -> Vec<&str> {
    let is_of_number = |letter: char| letter.is_ascii_digit() || letter == '.';
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_number = is_of_number(first);
        let end = rest.find(|letter| is_of_number(letter) != is_number);
        let (piece, left) = rest.split_at(end.unwrap_or(rest.len()));
        pieces.push(piece);
        rest = left;
    }
    pieces
}

fn number(piece: &str) -> Option<f64> {
    piece
        .starts_with(|letter: char| letter.is_ascii_digit())
        .then(|| piece.parse().ok())
        .flatten()
}

/// One sentence for several that differ in their numbers: `by 5 to 7 %`; trials are counted together.
fn with_ranges(details: &[&str]) -> String {
    let all: Vec<Vec<&str>> = details.iter().map(|detail| pieces(detail)).collect();
    let Some(first) = all.first() else {
        return String::new();
    };
    let is_count = |index: usize| {
        let before = index.checked_sub(1).and_then(|before| first.get(before));
        let after = first.get(index + 1).copied().unwrap_or_default();
        before.is_some_and(|before| match after {
            " of " => before.ends_with(" in "),
            after => *before == " of " && after.starts_with(" trials"),
        })
    };
    let joined = first.iter().enumerate().map(|(index, piece)| {
        if is_count(index) {
            let here = all.iter().filter_map(|all| number(all.get(index)?));
            return format!("{:.0}", here.sum::<f64>());
        }
        let mut here: Vec<&str> = all
            .iter()
            .filter_map(|all| all.get(index).copied())
            .collect();
        here.sort_by(|a, b| {
            number(a)
                .partial_cmp(&number(b))
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        match (here.first(), here.last()) {
            (Some(least), Some(most)) if least != most => format!("{least} to {most}"),
            _ => (*piece).to_owned(),
        }
    });
    joined.collect()
}

/// The findings as lines; `rows` are the workloads of the table above them.
pub(crate) fn lines(
    findings: &[Finding],
    rows: &[&str],
    width: usize,
    style: Style,
) -> Vec<String> {
    let findings = findings.iter();
    findings
        .flat_map(|finding| finding_text(finding, rows, width, style))
        .collect()
}

/// Text of a finding; its kind if the text was withheld, as in public records.
pub(crate) fn wording(finding: &Finding) -> String {
    match finding.detail.is_empty() {
        true => finding.kind.name().replace('_', " "),
        false => reworded(&clean(&finding.detail)),
    }
}

/// Parts of the texts in records, and clearer ones for readers.
const REWORDED: [(&str, &str); 2] = [
    (
        "of its time was outside the timed spans",
        "of its time went into starting, ending and flushing its trials, which its rate leaves out",
    ),
    (
        ", unless it has a battery or capacitors",
        ", unless its maker promises protection against power loss",
    ),
];

fn reworded(text: &str) -> String {
    let words = REWORDED.iter();
    words.fold(text.to_owned(), |text, (old, new)| text.replace(old, new))
}

/// The findings as points of a list in a document, with advice.
pub(crate) fn points(findings: &[Finding], rows: &[&str]) -> Vec<String> {
    let point = |finding: &Finding| {
        let word: &str = match &finding.severity {
            Severity::Error => "Error",
            Severity::Warning => "Warning",
            Severity::Note => "Note",
            Severity::Other(word) => word,
        };
        let detail = wording(finding);
        let mut point = format!("{word}: {detail}{}", touched(finding, rows));
        if let Some(advice) = &finding.advice {
            point += &format!(" → {}", reworded(&clean(advice)));
        }
        point
    };
    findings.iter().map(point).collect()
}

fn finding_text(finding: &Finding, rows: &[&str], width: usize, style: Style) -> Vec<String> {
    let (word, tone) = match &finding.severity {
        Severity::Error => ("error", Some(Tone::Error)),
        Severity::Warning => ("warning", Some(Tone::Warning)),
        Severity::Note => ("note", None),
        Severity::Other(word) => (&**word, Some(Tone::Warning)),
    };
    let text = format!("{word}: {}{}", wording(finding), touched(finding, rows));
    let mut lines = wrap(&text, width, 2);
    if let (Some(tone), Some(first)) = (tone, lines.first_mut())
        && let Some(rest) = first.strip_prefix(word)
    {
        *first = format!("{}{rest}", style.paint(tone, word));
    }
    if let Some(advice) = &finding.advice {
        let advice = format!("→ {}", reworded(&clean(advice)));
        let advice = wrap(&advice, width.saturating_sub(2), 2);
        lines.extend(advice.iter().map(|line| format!("  {line}")));
    }
    lines
}

/// The lines of the table that a finding concerns, in parentheses.
fn touched(finding: &Finding, rows: &[&str]) -> String {
    let of = |id: &str| finding.workloads.iter().any(|known| known == id);
    if rows.len() >= LEAST_ROWS && rows.iter().all(|id| of(id)) {
        return " (all lines)".to_owned();
    }
    let names = finding.workloads.iter().map(|id| clean(workload_name(id)));
    let mut names: Vec<String> = names.collect();
    names.dedup();
    if names.is_empty() {
        return String::new();
    }
    format!(" ({})", names.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(kind: FindingKind, severity: Severity, detail: &str, workload: &str) -> Finding {
        let mut finding = Finding::new(kind, severity, detail);
        finding
            .workloads
            .extend((!workload.is_empty()).then(|| workload.to_owned()));
        finding
    }

    fn throttled(detail: &str, workload: &str) -> Finding {
        finding(FindingKind::Throttled, Severity::Warning, detail, workload).advise("let it cool")
    }

    fn fell(detail: &str, workload: &str) -> Finding {
        finding(FindingKind::NotSettled, Severity::Warning, detail, workload).advise("let it rest")
    }

    fn shown(findings: &[Finding], rows: &[&str]) -> String {
        let selected = selected(findings, |_| true);
        lines(&selected.findings, rows, 200, Style::Plain).join("|")
    }

    #[test]
    fn one_entry_for_each_cause_with_its_lines_and_ranges() {
        let findings = [
            throttled(
                "the board slowed itself down in 5 of 10 trials",
                "seq_read_1m",
            ),
            throttled(
                "the board slowed itself down in 8 of 10 trials",
                "rand_read_4k",
            ),
            throttled("the board slowed itself down in 8 of 9 trials", "mixed_4k"),
        ];
        let three = "warning: the board slowed itself down in 21 of 29 trials";
        let advice = "|  → let it cool";
        let rows = ["seq_read_1m", "rand_read_4k", "mixed_4k", "sync_write_4k"];
        let names = " (sequential read 1 MiB; random read 4 KiB; mixed 4 KiB, 20 % reads)";
        assert_eq!(shown(&findings, &rows), format!("{three}{names}{advice}"));
        assert_eq!(
            shown(&findings, &rows[..3]),
            format!("{three} (all lines){advice}")
        );
        let all = all(&findings);
        assert_eq!((all.findings.len(), all.others.len()), (3, 0));
    }

    #[test]
    fn numbers_are_joined_only_where_a_range_has_a_meaning() {
        let findings = [
            finding(
                FindingKind::KernelMessages,
                Severity::Warning,
                "sector 5",
                "a",
            ),
            finding(
                FindingKind::KernelMessages,
                Severity::Warning,
                "sector 9",
                "b",
            ),
            fell("the rate fell by 9.5 % of its mean over 10 trials", "a"),
            fell("the rate fell by 32 % of its mean over 10 trials", "b"),
            fell("the rate rose by 12 % of its mean over 10 trials", "c"),
        ];
        assert_eq!(
            shown(&findings, &[]),
            "warning: sector 5 (a)|warning: sector 9 (b)\
             |warning: the rate fell by 9.5 to 32 % of its mean over 10 trials (a; b)|  → let it rest\
             |warning: the rate rose by 12 % of its mean over 10 trials (c)|  → let it rest"
        );
    }

    #[test]
    fn a_withheld_text_is_replaced_by_the_kind() {
        let withheld = finding(FindingKind::IoError, Severity::Error, "", "a");
        assert_eq!(shown(&[withheld], &[]), "error: io error (a)");
    }

    #[test]
    fn a_cause_hides_the_symptoms_of_its_workloads() {
        let moved = finding(FindingKind::ReferenceMoved, Severity::Warning, "moved", "");
        let mut findings = vec![fell("fell by 5 %", "a"), fell("fell by 6 %", "b"), moved];
        let selected_of = |findings: &[Finding]| {
            let selected = selected(findings, |_| true);
            let details = selected.findings.into_iter().map(|finding| finding.detail);
            (
                details.collect::<Vec<_>>(),
                selected.hidden,
                selected.others.len(),
            )
        };
        let (details, hidden, hidden_count) = selected_of(&findings);
        assert_eq!((details.len(), hidden.len(), hidden_count), (2, 0, 0));
        findings.push(throttled("slowed", "a"));
        let (details, hidden, hidden_count) = selected_of(&findings);
        assert_eq!(details, ["fell by 6 %", "slowed"]);
        // `b` fell for another reason.
        assert_eq!(
            (hidden, hidden_count),
            (vec!["reference_moved".to_owned()], 2)
        );
        findings.push(throttled("slowed", "b"));
        assert_eq!(selected_of(&findings).0, ["slowed"]);
        // A note on the same device is no cause.
        findings.truncate(3);
        findings.push(finding(
            FindingKind::SharedDevice,
            Severity::Note,
            "shared",
            "a",
        ));
        assert_eq!(selected_of(&findings).0.len(), 2);
    }

    #[test]
    fn several_signs_of_a_busy_computer_are_one_line() {
        let of = |kind: FindingKind, detail: &str, workload: &str| {
            finding(kind, Severity::Warning, detail, workload)
        };
        let shared = |detail: &str, workload: &str| of(FindingKind::SharedDevice, detail, workload);
        let mut findings = vec![shared("moved 130 %", "a"), shared("moved 150 %", "b")];
        assert_eq!(shown(&findings, &[]), "warning: moved 130 to 150 % (a; b)");
        findings.push(of(FindingKind::StolenTime, "others took 20 %", "c"));
        findings.push(of(FindingKind::IoError, "failed", "a"));
        let expected = "warning: failed (a)|warning: this computer was busy, so that figures may be low (a; b; c)\
             |  → close other programs, and repeat the run";
        assert_eq!(shown(&findings, &[]), expected);
        let selected = selected(&findings, |_| true);
        assert_eq!((selected.others.len(), selected.hidden.len()), (2, 0));
        assert_eq!(all(&findings).findings.len(), 4);
    }

    #[test]
    fn notes_are_shown_if_they_advise_or_explain_a_missing_figure() {
        let note = |detail: &str, workload: &str| {
            finding(FindingKind::NotApplicable, Severity::Note, detail, workload)
        };
        let findings = [
            note("plain", "a"),
            note("why not", "gone"),
            note("do it", "a").advise("like this"),
            note("whole run", ""),
        ];
        let selected = selected(&findings, |id| id != "gone");
        let details: Vec<&str> = selected
            .findings
            .iter()
            .map(|f| f.detail.as_str())
            .collect();
        assert_eq!(details, ["why not", "do it"]);
        assert_eq!(selected.others.len(), 2);
    }
}
