//! Labels of figures, and the figures behind them.

use super::super::IozoneTest;
use super::CommentFigure;
use super::tokens::{Kind, Token};
use super::units::{is_like_rate, is_like_unit};

/// What a label names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) figure: CommentFigure,
    pub(super) is_test_told: bool,
    pub(super) record_bytes: Option<u64>,
}

/// A number and its unit as in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Printed<'a> {
    pub(super) number: &'a str,
    pub(super) unit: Option<&'a str>,
    /// Whether nothing parts the two.
    pub(super) is_unit_close: bool,
}

/// A label in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Labelled<'a> {
    pub(super) label: Label,
    /// None where no figure follows.
    pub(super) printed: Option<Printed<'a>>,
    /// Tokens of the line up to its end.
    pub(super) end: usize,
}

/// The labels of a line, in order.
pub(super) fn labelled<'a>(tokens: &[Token<'a>]) -> Vec<Labelled<'a>> {
    let mut found = Vec::new();
    let (mut at, mut last_end) = (0, 0);
    while at < tokens.len() {
        let label = label(&tokens[at..]).filter(|_| !is_of_other(&tokens[last_end..at]));
        let Some((label, length)) = label else {
            at += 1;
            continue;
        };
        at += length;
        let behind = printed(&tokens[at..]);
        at += behind.map_or(0, |(_, length)| length);
        last_end = at;
        found.push(Labelled {
            label,
            printed: behind.map(|(printed, _)| printed),
            end: at,
        });
    }
    found
}

/// Words that belong to a tool's label.
const BEHIND_HDPARM: &[&str] = &["buffered", "read", "reads"];
const BEHIND_DD: &[&str] = &["write", "writes"];

/// Whether the words before a label make it one of another test: another record size, another tool.
fn is_of_other(before: &[Token]) -> bool {
    let sizes = ["k", "kb", "kib", "m", "mb", "mib"];
    let tools = ["fio", "seq", "sequential", "cached"];
    match before {
        [.., number, unit] if number.kind == Kind::Number && unit.is_any(&sizes) => true,
        [.., word] => word.is_any(&tools),
        [] => false,
    }
}

/// The label that the tokens begin with, and how many it has.
fn label(tokens: &[Token]) -> Option<(Label, usize)> {
    label_of_tool(tokens).or_else(|| label_of_records(tokens))
}

fn label_of_tool(tokens: &[Token]) -> Option<(Label, usize)> {
    let first = tokens.first()?;
    let (figure, more) = if first.is("hdparm") {
        (CommentFigure::Hdparm, BEHIND_HDPARM)
    } else if first.is_any(&["dd", "ddwrite"]) {
        (CommentFigure::Dd, BEHIND_DD)
    } else {
        return None;
    };
    // `-t`; `-T` is another test.
    let is_option = matches!(
        tokens,
        [_, dash, letter, ..] if dash.text == "-" && letter.text == "t" && letter.is_close
    );
    let begin = if is_option { 3 } else { 1 };
    let more = tokens[begin..].iter().take_while(|word| word.is_any(more));
    let label = Label {
        figure,
        is_test_told: true,
        record_bytes: None,
    };
    Some((label, begin + more.count()))
}

fn label_of_records(tokens: &[Token]) -> Option<(Label, usize)> {
    let (mut at, mut is_4k, mut is_random) = (0, false, false);
    loop {
        let rest = &tokens[at..];
        if !is_4k && begins_with_4k(rest) {
            is_4k = true;
            at += 2;
        } else if !is_random && begins_with_random(rest) {
            is_random = true;
            at += 1;
        } else {
            break;
        }
    }
    let word = tokens.get(at).filter(|_| is_4k || is_random)?;
    let test = if word.is("read") {
        IozoneTest::RandomRead
    } else if word.is("write") {
        IozoneTest::RandomWrite
    } else {
        return None;
    };
    at += 1;
    if !is_4k && begins_with_4k(&tokens[at..]) {
        is_4k = true;
        at += 2;
    }
    let label = Label {
        figure: CommentFigure::Iozone(test),
        is_test_told: is_random,
        record_bytes: is_4k.then_some(4096),
    };
    Some((label, at))
}

fn begins_with_4k(tokens: &[Token]) -> bool {
    matches!(tokens, [four, k, ..] if four.text == "4" && k.is_any(&["k", "kb", "kib"]))
}

fn begins_with_random(tokens: &[Token]) -> bool {
    matches!(tokens, [word, ..] if word.is_any(&["random", "rand"]))
}

/// The figure that the tokens behind a label begin with, and how many they are.
fn printed<'a>(tokens: &[Token<'a>]) -> Option<(Printed<'a>, usize)> {
    let mut at = signs(tokens);
    let mut unit = unit_in_brackets(&tokens[at..]);
    if unit.is_some() {
        at += 3;
        at += signs(&tokens[at..]);
    }
    let number = tokens.get(at).filter(|token| token.kind == Kind::Number)?;
    // `dd | 4k random read`: there it belongs to the next label.
    if label(&tokens[at..]).is_some() {
        return None;
    }
    at += 1;
    let behind = tokens.get(at).filter(|token| token.kind == Kind::Word);
    let behind = behind
        .filter(|token| token.is_close || is_like_unit(token))
        .filter(|_| unit.is_none());
    if let Some(word) = behind {
        unit = Some(word.text);
        at += 1;
    }
    let printed = Printed {
        number: number.text,
        unit,
        is_unit_close: behind.is_some_and(|word| word.is_close),
    };
    Some((printed, at))
}

/// How many signs that may part a label from its figure the tokens begin with.
fn signs(tokens: &[Token]) -> usize {
    let parting = [":", "=", "-", "–", "—", "|", "~", "*", "`"];
    let signs = tokens
        .iter()
        .take_while(|token| parting.contains(&token.text));
    signs.count()
}

/// `(MB/s)` at the beginning.
fn unit_in_brackets<'a>(tokens: &[Token<'a>]) -> Option<&'a str> {
    match tokens {
        [open, unit, close, ..] if open.text == "(" && close.text == ")" && is_like_unit(unit) => {
            Some(unit.text)
        }
        _ => None,
    }
}

/// `(in kBps)`, `(kBps)` or `in kBps` at the end of a line: the unit of all that have none.
pub(super) fn unit_at_end<'a>(tokens: &[Token<'a>]) -> Option<&'a str> {
    let unit = match tokens {
        [.., open, unit, close] if open.text == "(" && close.text == ")" => unit,
        [.., word, unit, close] if word.is("in") && close.text == ")" => unit,
        [.., word, unit] if word.is("in") => unit,
        _ => return None,
    };
    is_like_unit(unit).then_some(unit.text)
}

/// The figures that a line of a table ends with; all have a unit or none has, and no further number
/// stands before them.
pub(super) fn figures_at_end<'a>(tokens: &[Token<'a>], count: usize) -> Option<Vec<Printed<'a>>> {
    let mut rest: Vec<Token> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        // `18.5|MB/s`: the sign parts them, so that this is no busybox.
        let is_parted = token.kind == Kind::Word && at > 0 && tokens[at - 1].text == "|";
        let is_close = token.is_close && !is_parted;
        rest.extend((token.text != "|").then_some(Token { is_close, ..*token }));
    }
    let mut figures = Vec::new();
    for _ in 0..count {
        // `32GB` before them is a size.
        let unit = rest.pop_if(|token| is_like_rate(token));
        let number = rest.pop_if(|token| token.kind == Kind::Number && !token.is_close)?;
        figures.push(Printed {
            number: number.text,
            unit: unit.map(|unit| unit.text),
            is_unit_close: unit.is_some_and(|unit| unit.is_close),
        });
    }
    figures.reverse();
    let with_unit = figures
        .iter()
        .filter(|figure| figure.unit.is_some())
        .count();
    let is_even = with_unit == 0 || with_unit == count;
    let is_first = rest.last().is_none_or(|token| token.kind != Kind::Number);
    (is_even && is_first).then_some(figures)
}
