//! Forms of lines: the numbers of a line that a reader takes, and those that it knows.
//!
//! A form is text with places in braces:
//!
//! | place | content | a number there is listed |
//! |---|---|---|
//! | `{}` | a number | unless a record keeps it |
//! | `{=}` | a number, perhaps in another unit once more | unless a record keeps one of them |
//! | `{n}` | a number | never |
//! | `{i}` | a whole number without a unit | never |
//! | `{t}` | a time or an address, from a digit on | never |
//! | `{*}` | any text | if it is a rate |
//! | `{!}` | any text | never |
//! | `{-}` | any text | always |
//!
//! A space stands for any white space, or none. What stands behind the form is listed.

use std::ops::Range;

/// Role of a part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Numbers that a record keeps.
    Figure,
    /// One number in several units. A record keeps one of them.
    Same,
    /// Text of a tool: no number there is a figure, but for rates.
    Text,
    /// Numbers that the reader knows, and that no record keeps.
    Known,
}

/// Part of a line, in bytes from its start.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) range: Range<usize>,
    pub(crate) role: Role,
}

impl Span {
    pub(crate) fn new(range: Range<usize>, role: Role) -> Self {
        Self { range, role }
    }

    /// The span of a part of a line.
    pub(crate) fn of(line: &str, part: &str, role: Role) -> Self {
        let start = (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
        Self::new(start..start + part.len(), role)
    }
}

/// Places of a text that are tried for each `{*}` and `{-}`.
const MOST_TRIES: usize = 4;

/// The spans of the first form that fits a line; none if no form fits.
pub(crate) fn spans(line: &str, forms: &[&str]) -> Vec<Span> {
    let start = line.len() - line.trim_start_matches(['>', '|', ' ', '\t']).len();
    let mut spans = Vec::new();
    for form in forms {
        if fits(line, start, form, &mut spans) {
            break;
        }
        spans.clear();
    }
    spans
}

/// Returns whether a form fits from `at` on, and adds its spans.
fn fits(line: &str, at: usize, form: &str, spans: &mut Vec<Span>) -> bool {
    #[cfg(test)]
    crate::text::work::count(form);
    let (literal, rest) = form.split_once('{').unwrap_or((form, ""));
    let Some(at) = behind(line, at, literal) else {
        return false;
    };
    let Some((place, rest)) = rest.split_once('}') else {
        return true;
    };
    let role = match place {
        "" => Some(Role::Figure),
        "=" => Some(Role::Same),
        "*" => Some(Role::Text),
        "-" => None,
        _ => Some(Role::Known),
    };
    if matches!(place, "*" | "-" | "!") {
        return fits_text(line, at, rest, role, spans);
    }
    let start = at + spaces(&line[at..]);
    let length = match place {
        "t" => time_length(&line[start..]),
        "i" => whole_length(&line[start..]),
        _ => number_length(&line[start..]),
    };
    if length == 0 {
        return false;
    }
    let end = start + length;
    spans.extend(role.map(|role| Span::new(start..end, role)));
    fits(line, end, rest, spans)
}

/// The same for a form with any text before it.
fn fits_text(line: &str, at: usize, form: &str, role: Option<Role>, spans: &mut Vec<Span>) -> bool {
    let span = |end: usize| role.map(|role| Span::new(at..end, role));
    let literal = form.split('{').next().unwrap_or(form);
    let word = literal.split(' ').find(|word| !word.is_empty());
    if word.is_none() && form.trim_start().is_empty() {
        spans.extend(span(line.len()));
        return true;
    }
    let known = spans.len();
    let mut from = at;
    for _ in 0..MOST_TRIES {
        #[cfg(test)]
        crate::text::work::count(&line[from..]);
        let found = match word {
            Some(word) => line[from..].find(word),
            None => line[from..].find(|c: char| c.is_ascii_digit()),
        };
        let Some(found) = found.map(|found| from + found) else {
            return false;
        };
        spans.truncate(known);
        spans.extend(span(found));
        if fits(line, found, form.trim_start_matches(' '), spans) {
            return true;
        }
        let length = line[found..].chars().next().map_or(1, char::len_utf8);
        from = found + length;
    }
    false
}

/// The place behind a literal text at `at`, whatever its capitals.
fn behind(line: &str, mut at: usize, literal: &str) -> Option<usize> {
    for (index, word) in literal.split(' ').enumerate() {
        if index > 0 {
            at += spaces(&line[at..]);
        }
        let end = at + word.len();
        line.get(at..end)?
            .eq_ignore_ascii_case(word)
            .then_some(())?;
        at = end;
    }
    Some(at)
}

fn spaces(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// Length of a number at the start of a text, with a unit that stands close: `4k`, `52.8MiB/s`.
pub(crate) fn number_length(text: &str) -> usize {
    let is_digit = |c: char| c.is_ascii_digit();
    if !text.starts_with(is_digit) {
        return 0;
    }
    let length_of =
        |text: &str, is_in: fn(char) -> bool| text.find(|c: char| !is_in(c)).unwrap_or(text.len());
    let digits = length_of(text, |c| c.is_ascii_digit() || ".,’".contains(c));
    let digits = text[..digits].trim_end_matches(['.', ',', '’']).len();
    let is_unit = |c: char| c.is_alphabetic() || "%µ".contains(c);
    let mut end = digits + length_of(&text[digits..], is_unit);
    if let Some(power) = text[..end].strip_suffix(['e', 'E']) {
        let sign = text[end..].trim_start_matches(['+', '-']);
        if sign.starts_with(is_digit) && power.len() == digits {
            end = text.len() - sign.len();
            end += length_of(sign, |c| c.is_ascii_digit());
        }
    }
    match text[end..].strip_prefix('/') {
        Some(rest) => {
            let per = length_of(rest, is_unit);
            if per == 0 { end } else { end + 1 + per }
        }
        None => end,
    }
}

/// Length of a whole number at the start of a text, if it is a word by itself.
fn whole_length(text: &str) -> usize {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let is_word = |c: char| c.is_alphanumeric() || ".,/%’".contains(c);
    if text[end..].starts_with(is_word) {
        0
    } else {
        end
    }
}

/// Length of `1:33:48`, `2'20"`, `0x0D010000` and the like at the start of a text.
fn time_length(text: &str) -> usize {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return 0;
    }
    let is_end = |c: char| !(c.is_ascii_alphanumeric() || ".:'\"’”µ".contains(c));
    text.find(is_end).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts of a line by their roles.
    fn parts<'a>(line: &'a str, form: &str) -> Vec<(&'a str, Role)> {
        let spans = spans(line, &[form]);
        let parts = spans.into_iter();
        parts.map(|it| (&line[it.range], it.role)).collect()
    }

    #[test]
    fn a_form_parts_a_line() {
        use Role::{Figure, Known, Same, Text};
        let line = "> Timing disk reads:  66 MB in  3.06 seconds =  21.57 MB/sec";
        let form = "{-}Timing {*}: {n} MB in {n} seconds = {}";
        assert_eq!(
            parts(line, form),
            [
                ("disk reads", Text),
                ("66", Known),
                ("3.06", Known),
                ("21.57", Figure)
            ]
        );
        let line = "write: IOPS=17.7k, BW=69.1MiB/s (72.5MB/s)(1024MiB/14813msec); 0";
        let form = "write : IOPS={n}, BW={=} ({=})({n}/{n})";
        assert_eq!(
            parts(line, form),
            [
                ("17.7k", Known),
                ("69.1MiB/s", Same),
                ("72.5MB/s", Same),
                ("1024MiB", Known),
                ("14813msec", Known)
            ]
        );
        // A first place that does not fit is not the last one.
        let line = "a, b, 5 s";
        assert_eq!(parts(line, "{*}, {n} s"), [("a, b", Text), ("5", Known)]);
        assert_eq!(
            parts("Probe time: 2'14\" 7", "Probe time: {t}"),
            [("2'14\"", Known)]
        );
        assert_eq!(parts("1.5e-05s", "{n}"), [("1.5e-05", Known)]);
        assert_eq!(parts("Timing: none", "Timing: {n}"), []);
    }
}
