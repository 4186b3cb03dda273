//! The text itself: what of it is kept.

use super::item::Item;

/// Most lines, and characters of each, that are kept.
const MOST_LINES: usize = 64;
const MOST_CHARS: usize = 200;
/// What stands for something that is not kept.
const CUT: &str = "…";
/// Words of lines that tell which one device, computer or person it is.
const PRIVATE: [&str; 9] = [
    "serial",
    "wwn",
    "wwid",
    "uuid",
    "hostname",
    "host name",
    "eui",
    "alias",
    "mac addr",
];
/// From so many characters on, letters and digits together look like a serial number.
const SERIAL_CHARS: usize = 10;
const SERIAL_DIGITS: usize = 4;
/// From so many digits on, a number alone does.
const LONG_DIGITS: usize = 15;

/// The text without the codes that colour it on a terminal: `ESC [ 1 m`, `ESC ( B`.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek().copied()) {
            ('\x1b', Some('[')) => {
                rest.next();
                // Codes that move upwards end what was printed before.
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

/// The lines that the figures stand in.
pub(super) fn printed(items: &[Item], lines: &[&str]) -> String {
    let mut kept: Vec<String> = Vec::new();
    for item in items {
        if let Some(said) = &item.said {
            kept.extend(public(said));
            continue;
        }
        let numbers = item.lines.clone().filter_map(|line| line.checked_sub(1));
        let of_item = numbers.filter_map(|index| lines.get(index));
        kept.extend(of_item.filter_map(|line| public(line)));
    }
    kept.dedup();
    kept.truncate(MOST_LINES);
    kept.join("\n")
}

/// A line as it may be kept; none where it would tell which one device, computer or person it is
/// about. Paths are cut out.
pub(super) fn public(line: &str) -> Option<String> {
    if names(line).any(is_like_serial) {
        return None;
    }
    fact(line)
}

/// What a program calls a model or a system, which may look like a serial number.
pub(super) fn fact(line: &str) -> Option<String> {
    let line = line.trim_end_matches('\r');
    let line = line.rsplit('\r').next().unwrap_or(line);
    let plain = |c: &char| !c.is_control() || *c == '\t';
    let line: String = line.chars().filter(plain).collect();
    let lower = line.to_lowercase();
    if PRIVATE.iter().any(|word| lower.contains(word)) {
        return None;
    }
    let words = line
        .split_whitespace()
        .map(|word| match word.contains('@') {
            true => CUT.to_owned(),
            false => without_path(word),
        });
    let line: String = words.collect::<Vec<_>>().join(" ");
    let line: String = line.chars().take(MOST_CHARS).collect();
    (!line.is_empty()).then_some(line)
}

fn names(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != ':')
}

/// Serial numbers, UUIDs, network addresses.
fn is_like_serial(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let plain = word.bytes().filter(u8::is_ascii_alphanumeric).count();
    let hex = word.bytes().filter(u8::is_ascii_hexdigit).count();
    let marks = word.len() - plain;
    let is_uuid = marks >= 4 && hex + marks == word.len() && hex >= 12;
    let pieces = word.split(['-', ':']);
    let mut mixed = pieces.filter(|piece| {
        let digits = piece.bytes().filter(u8::is_ascii_digit).count();
        piece.len() >= SERIAL_CHARS && digits >= SERIAL_DIGITS && digits < piece.len()
    });
    is_uuid || mixed.next().is_some() || (marks == 0 && digits >= LONG_DIGITS)
}

/// A word without the path in it: one begins with a slash that no letter or digit stands before.
fn without_path(word: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || c == '.' || c == '_';
    let mut before = None;
    for (at, c) in word.char_indices() {
        let rest = &word[at + c.len_utf8()..];
        let is_open = before.is_none_or(|before: char| !before.is_alphanumeric() && before != '%');
        if c == '/' && is_open && rest.starts_with(is_name) {
            return format!("{}{CUT}", word[..at].trim_end_matches(['~', '.']));
        }
        before = Some(c);
    }
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_tell_whose_they_are_are_not_kept() {
        for line in [
            " Serial Number:      S4EVNX0R123456K",
            "SerialNo=X",
            "Samsung SSD S4EVNX0R123456K 21.3 MB/s",
            "dd to 6f2a1c3e-77aa-4bde-9a01-0123456789ab 11.4 MB/s",
            "b8:27:eb:12:34:56 hdparm 21 MB/s",
            "UUID=1234-ABCD",
            "Alias (leave blank for Anonymous): Bob",
        ] {
            assert_eq!(public(line), None, "{line}");
        }
    }

    #[test]
    fn figures_are_kept() {
        for line in [
            "419430400 bytes (419 MB, 400 MiB) copied, 30.2417 s, 13.9 MB/s",
            "Timing buffered disk reads: 132 MB in 3.03 seconds = 43.56 MB/sec",
            "8192 64 11699 11813 11450 11771 12942468 12316176",
            "FIO 4k random read 3110 IOPS (12440 KB/s)",
            "Average sequential write speed: 18.20 MB/s (5242880 sectors / 2'20\")",
            "*Usable* size: 1.00 TB (2147483648 blocks)",
            "[Mix] Read 70%/Write 30%",
        ] {
            assert_eq!(public(line).as_deref(), Some(line));
        }
    }

    #[test]
    fn paths_and_names_of_computers_are_cut_out() {
        let cases = [
            ("/dev/mmcblk0:", "…"),
            ("The device `/dev/sdb' is real", "The device `… is real"),
            ("iozone -f=/mnt/card/x -e", "iozone -f=… -e"),
            ("pi@kitchen:~ $ dd of=~/x", "… $ dd of=…"),
            ("8.09 MB/s\r9.10 MB/s", "9.10 MB/s"),
        ];
        for (line, kept) in cases {
            assert_eq!(public(line).as_deref(), Some(kept));
        }
    }

    #[test]
    fn colours_are_no_text() {
        assert_eq!(plain("\x1b[33mHDParm\x1b(B\x1b[m 3\x0f"), "HDParm 3");
    }
}
