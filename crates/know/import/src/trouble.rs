//! Errors that tools and kernel print between their figures.
//!
//! One list of words for all tools. The result that an error belongs to gets a finding: of dd, f3 and fio the
//! next one of the tool, otherwise the one before. Errors that belong to no result are listed.

use std::collections::BTreeMap;

use cardmark_core::{Finding, FindingKind, Severity};

use crate::Imported;
use crate::reading::{Found, Reading, Report};
use crate::records::name_warnings;
use crate::text::{Line, Words};

/// Words of an error, in small letters.
const WORDS: [&str; 24] = [
    "input/output error",
    "i/o error",
    "remote i/o",
    "write failure",
    "read failure",
    "error writing",
    "error reading",
    "write error:",
    "read error:",
    "medium error",
    "not fully read due to",
    "ein-/ausgabefehler",
    "eingabe-/ausgabefehler",
    "eingabe/ausgabefehler",
    "erreur d'entrée/sortie",
    "erreur d’entrée/sortie",
    "error de entrada/salida",
    "errore di input/output",
    "erro de entrada/saída",
    "ошибка ввода/вывода",
    "помилка вводу",
    "błąd wejścia/wyjścia",
    "输入/输出错误",
    "入力/出力エラー",
];
/// The end of a full card, which a test that fills it always meets.
const FULL: [&str; 4] = [
    "no space left",
    "auf dem gerät ist kein speicherplatz",
    "aucun espace disponible",
    "no queda espacio",
];
/// Words before a number of faults, which counts if it is above zero.
const BEFORE_COUNT: [&str; 7] = [
    "bad-sector:",
    "bad areas:",
    "bad sectors:",
    "read errors:",
    "errsize:",
    "errors:",
    "bad blocks:",
];
/// Words behind a number of faults.
const BEHIND_COUNT: [&str; 5] = [
    " bad blocks found",
    " bad block found",
    " bad sectors",
    " bad areas",
    " read errors",
];
/// Parts of all of these words.
static PARTS: Words = Words::new(&[
    "error",
    "failure",
    "fehler",
    "remote i/o",
    "not fully",
    "no space",
    "aucun espace",
    "no queda espacio",
    "speicherplatz",
    "bad",
    "errsize",
    "erreur",
    "errore",
    "erro de",
    "ошибка",
    "помилка",
    "błąd",
    "错误",
    "エラー",
]);
/// Words that deny the words behind them.
const DENIALS: [&str; 9] = [
    "no", "without", "0", "zero", "any", "kein", "keine", "ohne", "not",
];

/// Notes the errors on the results that they belong to.
pub(crate) fn read(lines: &[Line], found: &mut Found) {
    let mut order: Vec<usize> = (0..found.readings.len())
        .filter(|&index| !found.readings[index].metrics.is_empty())
        .collect();
    order.sort_by_key(|&index| found.readings[index].line);
    let mut of_tools = BTreeMap::<&str, Vec<usize>>::new();
    for &index in &order {
        of_tools
            .entry(found.readings[index].tool)
            .or_default()
            .push(index);
    }
    let reports = report_lines(&found.reports);
    for line in lines {
        let Some(trouble) = trouble(line.text) else {
            continue;
        };
        let tool = tool(line.unquoted());
        let behind = order.partition_point(|&index| found.readings[index].line < line.number);
        let of_tool = tool.and_then(|tool| of_tools.get(tool));
        let next = of_tool.and_then(|all| {
            let at = all.partition_point(|&index| found.readings[index].line < line.number);
            all.get(at).copied()
        });
        let before = behind.checked_sub(1).map(|at| order[at]);
        let line_of = |index: usize| found.readings[index].line;
        let above = reports.partition_point(|(first, _)| *first < line.number);
        let report = above.checked_sub(1).map(|at| reports[at]);
        let report = report.filter(|(first, _)| before.is_none_or(|it| line_of(it) < *first));
        let index = next.or(before).or_else(|| order.get(behind).copied());
        match (index, report.filter(|_| next.is_none())) {
            (_, Some((_, report))) => note_report(&mut found.reports[report].one, &trouble),
            (Some(index), None) => note(&mut found.readings[index], &trouble),
            (None, None) => match found.reports.as_mut_slice() {
                [report] => note_report(&mut report.one, &trouble),
                _ => found.troubles.push((line.number, trouble.detail)),
            },
        }
    }
}

/// Reports by their first lines.
fn report_lines(reports: &[Report]) -> Vec<(usize, usize)> {
    let lines = reports.iter().enumerate();
    let lines = lines.filter_map(|(index, report)| Some((report.line?, index)));
    let mut lines: Vec<(usize, usize)> = lines.collect();
    lines.sort_unstable();
    lines
}

fn note_report(one: &mut Imported, trouble: &Trouble) {
    let finding = trouble.finding();
    if !one.findings.contains(&finding) {
        name_warnings(&mut one.metrics, std::slice::from_ref(&finding));
        one.findings.push(finding);
    }
}

fn note(reading: &mut Reading, trouble: &Trouble) {
    let is_known = |it: &Finding| it.kind == trouble.kind && it.severity >= trouble.severity;
    if !reading.findings.iter().any(is_known) {
        reading.note(trouble.finding());
    }
}

/// The tool that prints a message before its result.
fn tool(line: &str) -> Option<&'static str> {
    let line = line.trim_start_matches("sudo: ");
    let begins = |begins: &[&str]| begins.iter().any(|begin| line.starts_with(begin));
    if begins(&["dd:"]) || line.contains(" dd: ") {
        Some("dd")
    } else if begins(&["Creating file ", "Validating file ", "f3"]) {
        Some("f3")
    } else if begins(&["fio:"]) {
        Some("fio")
    } else if begins(&["bad-sector:", "read errors:", "bad areas:"]) || line.contains("bad areas:")
    {
        Some("ddrescue")
    } else {
        None
    }
}

struct Trouble {
    kind: FindingKind,
    severity: Severity,
    detail: String,
}

impl Trouble {
    fn new(kind: FindingKind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            severity: Severity::Warning,
            detail: detail.into(),
        }
    }

    fn finding(&self) -> Finding {
        Finding::new(self.kind, self.severity, self.detail.clone())
    }
}

/// The error that a line reports.
fn trouble(line: &str) -> Option<Trouble> {
    let line = match line.is_ascii() {
        true => line.to_ascii_lowercase(),
        false => line.to_lowercase(),
    };
    if !PARTS.any(&line) {
        return None;
    }
    if let Some((_, rest)) = line.split_once(" bad blocks found") {
        let counts = rest.split_once('(').map_or("", |(_, counts)| counts);
        let corrupt = counts.split('/').nth(2).and_then(number_at_start);
        if corrupt.is_some_and(|count| count > 0.0) {
            let detail = "badblocks found blocks whose data changed";
            return Some(Trouble::new(FindingKind::DataLost, detail));
        }
    }
    // The end of a card that a test fills is an error to the tool only.
    if FULL.iter().any(|word| is_affirmed(&line, word)) {
        let detail = "the text reports that no space was left";
        return Some(Trouble {
            severity: Severity::Note,
            ..Trouble::new(FindingKind::IoError, detail)
        });
    }
    if let Some(word) = WORDS.iter().find(|word| is_affirmed(&line, word)) {
        let detail = format!(
            "the text reports an error: `{}`",
            word.trim_end_matches(':')
        );
        return Some(Trouble::new(FindingKind::IoError, detail));
    }
    let before = BEFORE_COUNT.iter().find(|label| {
        let behind = line.split_once(**label).map(|(_, behind)| behind);
        behind
            .and_then(number_at_start)
            .is_some_and(|count| count > 0.0)
    });
    let behind = BEHIND_COUNT.iter().find(|label| {
        let around = line.split_once(**label);
        // With a colon, the number stands behind.
        let before = around.filter(|(_, behind)| !behind.starts_with(':'));
        let number = before.and_then(|(before, _)| before.rsplit(' ').next());
        number
            .and_then(number_at_start)
            .is_some_and(|count| count > 0.0)
    });
    if let Some(label) = before.or(behind) {
        let label = label.trim().trim_end_matches(':');
        let detail = format!("the text reports faults: `{label}` above zero");
        return Some(Trouble::new(FindingKind::IoError, detail));
    }
    None
}

/// Returns whether words stand in a line, without a denial before them.
fn is_affirmed(line: &str, words: &str) -> bool {
    line.match_indices(words).any(|(at, _)| {
        let before = line[..at].trim_end_matches([' ', '"', '\'', '(']);
        let last = before.rsplit(|c: char| !c.is_alphanumeric()).next();
        !last.is_some_and(|word| DENIALS.contains(&word))
    })
}

/// The number at the start of a text such as `5242 MB` or `17`.
fn number_at_start(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    text[..end.unwrap_or(text.len())].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_has_a_part_that_is_looked_for() {
        let words = WORDS
            .iter()
            .chain(&FULL)
            .chain(&BEFORE_COUNT)
            .chain(&BEHIND_COUNT);
        for word in words {
            assert!(PARTS.any(word), "{word}");
        }
    }
}
