//! Lines of a text as a terminal shows them, and the numbers in them.

use std::borrow::Cow;
use std::fmt;

/// A line as a terminal shows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// From 1.
    pub(crate) number: usize,
    pub(crate) text: &'a str,
}

/// Reason for which a line of a tool could not be read.
#[derive(Clone, Debug)]
pub(crate) struct Damage {
    pub(crate) tool: &'static str,
    pub(crate) line: usize,
    pub(crate) expected: Cow<'static, str>,
}

impl<'a> Line<'a> {
    pub(crate) fn damage(
        self,
        tool: &'static str,
        expected: impl Into<Cow<'static, str>>,
    ) -> Damage {
        Damage {
            tool,
            line: self.number,
            expected: expected.into(),
        }
    }

    /// The text without quote marks, table borders and indentation.
    pub(crate) fn unquoted(self) -> &'a str {
        let text = self.text.trim_start_matches(['>', '|', ' ', '\t']);
        text.trim_end()
    }
}

/// Returns the lines of a text; after carriage returns, only what was printed last.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.split('\n').enumerate().map(|(index, line)| {
        let line = line.trim_end_matches('\r');
        Line {
            number: index + 1,
            text: line.rsplit('\r').next().unwrap_or(line),
        }
    })
}

/// Removes terminal escape sequences such as `ESC [ 1 m` and `ESC ( B`, and makes all white space
/// plain.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek().copied()) {
            ('\x1b', Some('[')) => {
                rest.next();
                // Cursor-up sequences end what was printed before.
                if rest.find(|c| ('@'..='~').contains(c)) == Some('A') {
                    plain.push('\r');
                }
            }
            ('\x1b', Some('(')) => {
                rest.nth(1);
            }
            ('\x1b' | '\x0f' | '\u{feff}' | '\u{200b}', _) => {}
            // Spaces of web pages and word processors, one for one: columns stay.
            (c, _) if c.is_whitespace() && !c.is_ascii() => plain.push(' '),
            _ => plain.push(c),
        }
    }
    plain
}

/// A reader looks closer at a line only if it has one of these words. They are looked for in one pass.
pub(crate) struct Words {
    words: &'static [&'static str],
    /// Pairs of bytes that begin a word.
    begins: [bool; PAIRS],
}

const PAIRS: usize = 1024;

const fn pair(first: u8, second: u8) -> usize {
    (((first as usize) << 4) ^ second as usize) % PAIRS
}

impl Words {
    /// Words of two bytes at least.
    pub(crate) const fn new(words: &'static [&'static str]) -> Self {
        let mut begins = [false; PAIRS];
        let mut place = 0;
        while place < words.len() {
            let word = words[place].as_bytes();
            begins[pair(word[0], word[1])] = true;
            place += 1;
        }
        Self { words, begins }
    }

    /// Returns whether one of the words stands in a text.
    pub(crate) fn any(&self, text: &str) -> bool {
        #[cfg(test)]
        work::count(text);
        let bytes = text.as_bytes();
        bytes.windows(2).enumerate().any(|(at, two)| {
            self.begins[pair(two[0], two[1])]
                && self
                    .words
                    .iter()
                    .any(|word| bytes[at..].starts_with(word.as_bytes()))
        })
    }
}

/// Bytes that the costly parts of the readers looked at, so that tests see time without a clock.
#[cfg(test)]
pub(crate) mod work {
    use std::cell::Cell;

    thread_local!(static BYTES: Cell<u64> = const { Cell::new(0) });

    pub(crate) fn count(text: &str) {
        BYTES.set(BYTES.get() + text.len() as u64 + 1);
    }

    pub(crate) fn take() -> u64 {
        BYTES.take()
    }
}

/// Units that are shown behind a number, in lower case, without their `/s`.
const UNITS: [&str; 30] = [
    "b", "k", "kb", "kib", "m", "mb", "mib", "g", "gb", "gib", "t", "tb", "tib", "byte", "bytes",
    "kbyte", "mbyte", "gbyte", "kbit", "mbit", "gbit", "ko", "mo", "go", "iops", "kiops", "s",
    "ms", "ns", "h",
];
/// The same, but never a rate.
const PLAIN_UNITS: [&str; 9] = [
    "us", "µs", "μs", "%", "min", "sec", "secs", "seconds", "sectors",
];
/// Endings of rates: per second and per minute.
const PER_TIME: [&str; 5] = ["/sec", "/min", "ps", "/s", "/秒"];
/// Longest word behind a number that is left out of the list, in characters. A serial number has
/// digits behind its letters.
const MOST_UNKNOWN_UNIT: usize = 12;

/// Digits of the largest number before its decimal sign.
const MOST_DIGITS: usize = 20;

pub(crate) fn is_unit(text: &str) -> bool {
    let is_in = |list: &[&str], text: &str| list.iter().any(|it| it.eq_ignore_ascii_case(text));
    let is_rate = |end: &str| without_end(text, end).is_some_and(|base| is_in(&UNITS, base));
    is_in(&UNITS, text) || is_in(&PLAIN_UNITS, text) || PER_TIME.iter().any(|end| is_rate(end))
}

/// The text before an ending, whatever its capitals.
fn without_end<'a>(text: &'a str, end: &str) -> Option<&'a str> {
    let (base, last) = text.split_at_checked(text.len().checked_sub(end.len())?)?;
    last.eq_ignore_ascii_case(end).then_some(base)
}

/// A number in a line.
pub(crate) struct Listed<'a> {
    /// Its first byte, from the start of the line.
    pub(crate) start: usize,
    pub(crate) number: &'a str,
    /// Its unit, perhaps empty.
    pub(crate) unit: &'a str,
    is_close: bool,
}

impl Listed<'_> {
    /// Returns whether its unit is that of a rate.
    pub(crate) fn is_rate(&self) -> bool {
        let ends = |end: &&str| without_end(self.unit, end).is_some();
        PER_TIME.iter().chain(&["iops"]).any(ends)
    }
}

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let space = if self.is_close || self.unit.is_empty() {
            ""
        } else {
            " "
        };
        write!(f, "{}{space}{}", self.number, self.unit)
    }
}

/// Returns the numbers of a line, each with the unit behind it, and nothing else of the line.
pub(crate) fn numbers(text: &str) -> Vec<String> {
    let listed = listed(text).into_iter();
    listed.map(|it| it.to_string()).collect()
}

/// Returns the numbers of a line and their places.
pub(crate) fn listed(text: &str) -> Vec<Listed<'_>> {
    #[cfg(test)]
    work::count(text);
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    let words = text.split(is_between).map(bare).flat_map(parts);
    let mut words = words.filter(|word| !word.is_empty()).peekable();
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        let Some((number, unit)) = number_in(word) else {
            continue;
        };
        let next = words.next_if(|next| number == word && is_unit(next));
        found.push(Listed {
            start: (number.as_ptr() as usize).saturating_sub(text.as_ptr() as usize),
            number,
            unit: next.unwrap_or(unit),
            is_close: next.is_none(),
        });
    }
    found
}

fn is_between(c: char) -> bool {
    match c {
        '(' | ')' | '[' | ']' | '<' | '>' | '{' | '}' | '|' | ';' | '=' | '"' | '\'' | '`' => true,
        c if c.is_ascii() => c.is_ascii_whitespace(),
        c => c.is_whitespace() || "，。（）：".contains(c),
    }
}

/// A word without signs around it and without a label: `speed:~22.7`.
fn bare(word: &str) -> &str {
    let is_sign = |c: char| match c {
        c if c.is_ascii() => matches!(
            c,
            ',' | ':' | '.' | '*' | '_' | '~' | '+' | '@' | '?' | '!' | '/' | '\\' | '-'
        ),
        c => "≈≤≥±–—…".contains(c),
    };
    let word = word.trim_matches(is_sign);
    match word.rsplit_once(':') {
        Some((label, rest)) if !label.contains(|c: char| c.is_ascii_digit()) => {
            rest.trim_start_matches(is_sign)
        }
        _ => word,
    }
}

/// Both numbers of `22.7/23.1` and of a range, otherwise the word.
fn parts(word: &str) -> Vec<&str> {
    if !word.bytes().any(|byte| byte.is_ascii_digit()) {
        return vec![word];
    }
    let pair = ['/', '–', '…', '-'].iter().find_map(|&sign| {
        let (left, right) = word.split_once(sign)?;
        let ((_, unit), (_, right_unit)) = (number_in(left)?, number_in(right)?);
        // Not a date, nor a part of a serial number.
        let is_pair = word.contains(['.', ',']) || is_unit(unit) || is_unit(right_unit);
        is_pair.then_some(vec![left, right])
    });
    pair.unwrap_or_else(|| cells(word))
}

/// The cells of `name,22.5,10.4`, otherwise the word: a comma within a number is none between two.
fn cells(word: &str) -> Vec<&str> {
    let has_cells = word.contains(',') && number_in(word).is_none();
    match has_cells {
        true => word.split(',').map(bare).collect(),
        false => vec![word],
    }
}

/// The number at the start of a word, and its unit. An unknown unit of letters is left out.
fn number_in(word: &str) -> Option<(&str, &str)> {
    if !word.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '’');
    let end = word.find(|c: char| !is_of_number(c));
    let (number, unit) = word.split_at(end.unwrap_or(word.len()));
    if !is_number(number) && !is_grouped(number) {
        return None;
    }
    if unit.is_empty() || is_unit(unit) {
        return Some((number, unit));
    }
    let is_word = unit
        .chars()
        .all(|c| c.is_alphabetic() || "/*_%²³".contains(c));
    (is_word && unit.chars().count() <= MOST_UNKNOWN_UNIT).then_some((number, ""))
}

/// Returns whether digits with one decimal sign at most are a number of the tools.
fn is_number(text: &str) -> bool {
    let (whole, decimals) = text.split_once(['.', ',']).unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_short = whole.len() <= MOST_DIGITS || whole.trim_start_matches('0').len() <= MOST_DIGITS;
    !whole.is_empty() && is_digits(whole) && is_digits(decimals) && is_short
}

/// Returns whether digits are grouped by threes: `1,107.5`, `22’700`. Four groups with points could be an
/// address.
fn is_grouped(number: &str) -> bool {
    let whole = match number.rsplit_once(['.', ',']) {
        Some((whole, decimals)) if decimals.len() != 3 => whole,
        _ => number,
    };
    let mut groups = whole.split(['.', ',', '’']);
    let count = whole.matches(['.', ',', '’']).count();
    let is_digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    (1..3).contains(&count)
        && groups
            .next()
            .is_some_and(|first| (1..4).contains(&first.len()) && is_digits(first))
        && groups.all(|group| group.len() == 3 && is_digits(group))
}

#[cfg(test)]
mod tests {
    use super::{numbers, plain};

    #[test]
    fn colours_are_no_text() {
        assert_eq!(plain("\x1b[33mHDParm\x1b(B\x1b[m 3\x0f"), "HDParm 3");
    }

    #[test]
    fn white_space_is_plain() {
        assert_eq!(
            plain("\u{feff}a\u{a0}b\u{202f}\u{2007}c\u{3000}d\te"),
            "a b  c d\te"
        );
    }

    #[test]
    fn a_line_upwards_ends_what_was_printed() {
        assert_eq!(plain("8.09 MB/s\x1b[A9.10 MB/s"), "8.09 MB/s\r9.10 MB/s");
    }

    #[test]
    fn numbers_come_with_their_units_only() {
        assert_eq!(
            numbers("Bob's card (SN AB123): 21,5 MB/s, 3110 IOPS at 5s; 10.4MB/s or 7."),
            ["21,5 MB/s", "3110 IOPS", "5s", "10.4MB/s", "7"]
        );
        for text in [
            "S4EVNX0R123456K",
            "2024-08-12 12:45",
            "192.168.1.17",
            "/dev/sda1",
            "1.2.3",
            "0x15b6d8f2",
            "10.100.200.117",
        ] {
            assert!(numbers(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn numbers_are_listed_whatever_stands_around_them() {
        let cases = [
            (
                "16.5MiB/sec 1.2GiB/s 900kBps",
                "16.5MiB/sec|1.2GiB/s|900kBps",
            ),
            ("93.875Mb, 640 Mbps, 3.1kIOPS", "93.875Mb|640 Mbps|3.1kIOPS"),
            ("~22.7MB/s ≈23 **24.1** _25_", "22.7MB/s|23|24.1|25"),
            ("22.7/23.1 MB/s, 21-22MB/s", "22.7|23.1 MB/s|21|22MB/s"),
            ("1,107.5 MB/s, 22’700 kB/s", "1,107.5 MB/s|22’700 kB/s"),
            ("2097152/ speed:44.1 字节(1.1 GB)", "2097152|44.1|1.1 GB"),
            ("16.5furlongs", "16.5"),
            ("card,22.5,10.4MB/s", "22.5|10.4MB/s"),
            ("7,22.5,10.4", "7|22.5|10.4"),
            ("21,5", "21,5"),
        ];
        for (text, expected) in cases {
            assert_eq!(numbers(text).join("|"), expected);
        }
    }
}
