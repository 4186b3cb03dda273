//! Lines of a text as a terminal shows them, and the numbers in them.

use crate::number::Number;

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
    pub(crate) expected: &'static str,
}

impl<'a> Line<'a> {
    pub(crate) fn damage(self, tool: &'static str, expected: &'static str) -> Damage {
        Damage {
            tool,
            line: self.number,
            expected,
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

/// Removes terminal escape sequences such as `ESC [ 1 m` and `ESC ( B`.
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
            ('\x1b' | '\x0f', _) => {}
            _ => plain.push(c),
        }
    }
    plain
}

/// Units that are shown behind a number.
const UNITS: [&str; 29] = [
    "B", "k", "kB", "KB", "KiB", "M", "MB", "MiB", "G", "GB", "GiB", "TB", "TiB", "B/s", "kB/s",
    "KB/s", "KiB/s", "MB/s", "MiB/s", "GB/s", "kB/sec", "KB/sec", "MB/sec", "IOPS", "s", "ms",
    "us", "ns", "%",
];

/// Returns the numbers of a line, each with the unit behind it, and nothing else of the line.
pub(crate) fn numbers(text: &str) -> Vec<String> {
    let is_between = |c: char| c.is_whitespace() || "()[]<>{}|;=\"'`".contains(c);
    let words = text.split(is_between).filter(|word| !word.is_empty());
    let mut words = words
        .map(|word| word.trim_matches([',', ':', '.']))
        .peekable();
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        let end = word.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',');
        let (number, unit) = word.split_at(end.unwrap_or(word.len()));
        if Number::parse(number).is_none() || !(unit.is_empty() || UNITS.contains(&unit)) {
            continue;
        }
        let next = words.next_if(|next| unit.is_empty() && UNITS.contains(next));
        found.push(match next {
            Some(unit) => format!("{number} {unit}"),
            None => word.to_owned(),
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{numbers, plain};

    #[test]
    fn colours_are_no_text() {
        assert_eq!(plain("\x1b[33mHDParm\x1b(B\x1b[m 3\x0f"), "HDParm 3");
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
        ] {
            assert!(numbers(text).is_empty(), "{text}");
        }
    }
}
