//! The text itself: what of it is kept.
//!
//! Lines of tools are kept only where each of their words is one that these tools print, so that
//! nothing of whoever ran them gets along. What programs call boards, systems and cards, and remarks
//! about these, is kept unless it looks like a path, an address, a name of a computer or a serial
//! number.

use cardmark_core::Metric;

use super::item::Item;

/// Most lines, and characters of each, that are kept.
const MOST_LINES: usize = 64;
const MOST_CHARS: usize = 200;
/// What stands for the name of a device.
const CUT: &str = "…";
/// Texts that announce which one device, computer or person it is.
const PRIVATE: [&str; 8] = [
    "serial", "wwn", "wwid", "uuid", "hostname", "eui", "alias", "mac addr",
];
/// Words that do.
const PRIVATE_WORDS: [&str; 7] = ["sn", "psn", "ser", "host", "ip", "ipv4", "ipv6"];
/// From so many characters on, letters and as many digits together look like a serial number.
const SERIAL_CHARS: usize = 10;
const SERIAL_DIGITS: usize = 4;
/// From so many digits on, letters and digits do whatever their number, and digits alone.
const MIXED_DIGITS: usize = 5;
const LONG_DIGITS: usize = 8;

/// Units of sizes, rates and spans, without what stands behind their slash.
const UNITS: [&str; 33] = [
    "b", "k", "m", "g", "t", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "tib", "byte", "bytes",
    "bps", "kbps", "mbps", "gbps", "kibps", "mibps", "iops", "s", "sec", "second", "seconds", "ms",
    "msec", "us", "usec", "ns", "nsec", "h",
];
/// What else is counted.
const COUNTED: [&str; 4] = ["sector", "sectors", "block", "blocks"];
/// The other words of the lines that figures stand in.
const WORDS: [&str; 110] = [
    // hdparm and dd
    "timing",
    "o",
    "direct",
    "cached",
    "buffered",
    "disk",
    "reads",
    "in",
    "offset",
    "copied",
    // ddrescue
    "remain",
    "size",
    "areas",
    "average",
    "current",
    "rate",
    "ipos",
    "opos",
    "non",
    "tried",
    "scraped",
    "trimmed",
    "usable",
    "announced",
    "split",
    "errors",
    "error",
    "bad",
    "rescued",
    "filled",
    "pct",
    "time",
    "since",
    "last",
    "successful",
    "read",
    "run",
    "remaining",
    "slow",
    "n",
    "a",
    // f3
    "writing",
    "reading",
    "write",
    "sequential",
    "speed",
    "data",
    "ok",
    "lost",
    "corrupted",
    "slightly",
    "changed",
    "overwritten",
    "warning",
    "not",
    "all",
    "was",
    "due",
    "to",
    "i",
    "news",
    "good",
    "the",
    "device",
    "is",
    "counterfeit",
    "of",
    "type",
    "limbo",
    "wraparound",
    "chain",
    "damaged",
    "real",
    "thing",
    // fio
    "bw",
    "io",
    "runt",
    "zone",
    "resets",
    "aggrb",
    "minb",
    "maxb",
    "mint",
    "maxt",
    // Raspberry Pi Diagnostics
    "prepare",
    "file",
    "seq",
    "rand",
    "random",
    "4k",
    "target",
    "pass",
    "fail",
    // PiBenchmarks
    "hdparm",
    "dd",
    "fio",
    "iozone",
    "score",
    "category",
    "test",
    "result",
    // iozone
    "children",
    "see",
    "throughput",
    "for",
    "initial",
    "writers",
    "rewriters",
    // KDiskMark
    "q",
    "mix",
];

/// The lines that the figures stand in; the figures alone where a line says more.
pub(super) fn printed(items: &[Item], lines: &[&str]) -> String {
    let mut kept: Vec<String> = Vec::new();
    for item in items {
        if let Some(said) = &item.said {
            kept.push(said.chars().take(MOST_CHARS).collect());
            continue;
        }
        let numbers = item.lines.clone().filter_map(|line| line.checked_sub(1));
        let mut of_item = numbers
            .filter_map(|index| lines.get(index))
            .filter_map(|line| of_tool(line))
            .peekable();
        if of_item.peek().is_some() {
            kept.extend(of_item);
        } else {
            kept.extend(item.metrics.iter().filter_map(figure));
        }
    }
    kept.dedup();
    kept.truncate(MOST_LINES);
    kept.join("\n")
}

/// A figure without its line.
fn figure(metric: &Metric) -> Option<String> {
    let printed = metric.printed.as_ref()?;
    Some(format!("{}: {}", metric.id, printed.text))
}

/// A line of a tool; none where it has a word or a number that the tools do not print.
fn of_tool(line: &str) -> Option<String> {
    let line = without_device(&last_shown(line));
    let pieces = pieces(&line);
    let is_plain = |c: char| c.is_ascii() || CUT.contains(c);
    if line.is_empty() || !line.chars().all(is_plain) || is_private(&line) {
        return None;
    }
    let is_table = line
        .chars()
        .all(|c| c.is_ascii_digit() || c.is_ascii_whitespace());
    let is_known = |at: usize| {
        let (before, piece) = pieces[at];
        let piece = piece.to_ascii_lowercase();
        if WORDS.contains(&piece.as_str()) || is_counted(&piece) {
            return true;
        }
        let behind = pieces
            .get(at + 1)
            .map(|(_, next)| next.to_ascii_lowercase());
        let is_behind = behind.is_some_and(|next| is_counted(&next));
        let is_named = at > 0 && pieces[at - 1].1 == "target";
        let is_placed = before.is_some_and(|c| "=:;/'".contains(c)) || is_named;
        match number(&piece) {
            Some((digits, "")) if digits < LONG_DIGITS => is_behind || is_placed || is_table,
            Some((_, "")) => is_behind || is_table,
            Some((_, unit)) => is_counted(unit),
            None => false,
        }
    };
    let is_known = (0..pieces.len()).all(is_known);
    is_known.then(|| line.chars().take(MOST_CHARS).collect())
}

/// What is last shown of a line on a terminal, with single spaces.
fn last_shown(line: &str) -> String {
    let line = line.trim_end_matches('\r');
    let line = line.rsplit('\r').next().unwrap_or(line);
    let plain = |c: &char| !c.is_control() || *c == '\t';
    let line: String = line.chars().filter(plain).collect();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// f3probe's line without the name of the device: it stands between a backquote and the last quote.
fn without_device(line: &str) -> String {
    let ends = line.find("`/").zip(line.rfind('\''));
    match ends {
        Some((begin, end)) if begin < end => {
            format!("{}`{CUT}{}", &line[..begin], &line[end..])
        }
        _ => line.to_owned(),
    }
}

/// Words and numbers, each with the last character before it that is no space.
fn pieces(line: &str) -> Vec<(Option<char>, &str)> {
    let mut pieces = Vec::new();
    let is_of_piece = |c: char| c.is_alphanumeric() || c == '.' || c == ',';
    let mut at = 0;
    while let Some(begin) = line[at..].find(is_of_piece) {
        let begin = at + begin;
        let rest = &line[begin..];
        let length = rest.find(|c| !is_of_piece(c)).unwrap_or(rest.len());
        let piece = rest[..length].trim_matches(['.', ',']);
        if !piece.is_empty() {
            pieces.push((line[..begin].trim_end().chars().last(), piece));
        }
        at = begin + length;
    }
    pieces
}

fn is_counted(word: &str) -> bool {
    UNITS.contains(&word) || COUNTED.contains(&word)
}

/// Digits of a number and what follows it at once; none where it has more than one point or comma.
fn number(piece: &str) -> Option<(usize, &str)> {
    let is_of_number = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let end = piece.find(|c| !is_of_number(c)).unwrap_or(piece.len());
    let (number, behind) = piece.split_at(end);
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    let whole = number.find(['.', ',']).unwrap_or(number.len());
    (digits > 0 && number.len() - digits <= 1).then_some((whole, behind))
}

/// A typed number as it may be repeated; none where it may be an address or a serial number.
pub(super) fn typed_number(text: &str) -> Option<&str> {
    let (digits, behind) = number(text)?;
    (digits < LONG_DIGITS && behind.is_empty()).then_some(text)
}

/// A typed unit as it may be repeated; none where it is another word.
pub(super) fn typed_unit(text: &str) -> Option<&str> {
    let lower = text.to_ascii_lowercase();
    lower.split('/').all(is_counted).then_some(text)
}

/// A remark; none where it would tell which one device, computer or person it is about.
pub(super) fn public(text: &str) -> Option<String> {
    if names(text).any(is_like_serial) {
        return None;
    }
    fact(text)
}

/// What a program calls a model or a system, which may look like a serial number.
pub(super) fn fact(text: &str) -> Option<String> {
    let text = last_shown(text);
    if text.is_empty() || is_private(&text) {
        return None;
    }
    Some(text.chars().take(MOST_CHARS).collect())
}

/// Whether a text has a path, an address, the name of a computer, or a word that announces one of
/// these or a serial number.
fn is_private(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    let is_announced = |sign: &str| {
        lower.match_indices(sign).any(|(at, _)| {
            let before = lower[..at].chars().last();
            before.is_none_or(|c| !c.is_alphanumeric())
        })
    };
    PRIVATE.iter().any(|text| lower.contains(text))
        || words.any(|word| PRIVATE_WORDS.contains(&word))
        || ["s/n", "s.n", "host name"].into_iter().any(is_announced)
        || text
            .split(|c: char| c.is_whitespace() || "()[]<>,;|".contains(c))
            .any(is_place)
}

/// Paths, addresses and names of computers.
fn is_place(word: &str) -> bool {
    let chars: Vec<char> = word.chars().collect();
    let is_name = |c: char| c.is_alphanumeric() || "._~$*-".contains(c);
    let has = |is: &dyn Fn(Option<char>, char, Option<char>) -> bool| {
        (0..chars.len()).any(|at| {
            let before = at.checked_sub(1).map(|before| chars[before]);
            is(before, chars[at], chars.get(at + 1).copied())
        })
    };
    let count = |sign: char| chars.iter().filter(|c| **c == sign).count();
    let is_root = has(&|before, c, next| {
        let is_open = before.is_none_or(|c| !c.is_alphanumeric() && c != '%');
        c == '/' && is_open && next.is_some_and(is_name)
    });
    let is_home = has(&|_, c, next| {
        c == '~' && next.is_some_and(|next| next.is_alphabetic() || "/_".contains(next))
    });
    let is_host = has(&|before, c, next| {
        let is_letter = |c: Option<char>| c.is_some_and(char::is_alphabetic);
        c == '.' && is_letter(before) && is_letter(next)
    });
    let mut runs = word.split(|c: char| !c.is_ascii_digit() && c != '.');
    let is_address = runs.any(|run| run.split('.').filter(|part| !part.is_empty()).count() >= 4);
    is_root
        || is_home
        || is_host
        || is_address
        || word.contains(['@', '\\'])
        || (word.trim_matches(['"', '\'', '`']).starts_with('-') && word.contains('/'))
        || count('/') >= 2
        || count(':') >= 2
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != ':')
}

/// Serial numbers, UUIDs, network addresses.
fn is_like_serial(word: &str) -> bool {
    let plain = word.bytes().filter(u8::is_ascii_alphanumeric).count();
    let hex = word.bytes().filter(u8::is_ascii_hexdigit).count();
    let marks = word.len() - plain;
    let is_hex = hex + marks == word.len();
    let is_uuid = is_hex && (marks >= 4 && hex >= 12 || marks == 1 && word.find('-') == Some(4));
    let mut pieces = word.split(['-', ':']);
    let is_serial = pieces.any(|piece| {
        let digits = piece.bytes().filter(u8::is_ascii_digit).count();
        let is_mixed = digits < piece.len();
        digits >= LONG_DIGITS
            || is_mixed && digits >= MIXED_DIGITS
            || is_mixed && digits >= SERIAL_DIGITS && piece.len() >= SERIAL_CHARS
    });
    is_uuid || is_serial
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tells_whose_it_is_is_not_kept() {
        for text in [
            " Serial Number:      S4EVNX0R123456K",
            "SerialNo=X",
            "Samsung SSD S4EVNX0R123456K",
            "6f2a1c3e-77aa-4bde-9a01-0123456789ab",
            "b8:27:eb:12:34:56",
            "UUID=1234-ABCD",
            "1A2B-3C4D",
            "Alias (leave blank for Anonymous): Bob",
            "S/N 12345678",
            "s/n: AB",
            "SN AB12345",
            "PSN=99",
            "card 12345678",
            "card AB12345",
            "192.168.1.17",
            "at 10.0.0.1:8080",
            "fe80::1c2",
            "2001:db8:0:1:2:3:4:5",
            "host kitchen",
            "kitchen.example.org",
            "C:\\Users\\bob\\x",
            "C:/Users/bob",
            "\\\\server\\card",
            "~bob/z",
            "~/z",
            "-f/home/bob/q",
            "-f=/home/bob/q",
            "on \"/media/bob/x\"",
            "on `/dev/sdb",
            "/media/bob/My Secret Card/test",
            "home/bob/card",
            "pi@kitchen:~ $ dd",
        ] {
            assert_eq!(public(text), None, "{text}");
            assert_eq!(of_tool(text), None, "{text}");
        }
    }

    #[test]
    fn remarks_are_kept() {
        for text in [
            "worn 16 GB card",
            "A1 Class 10 U1",
            "08/2019",
            "Raspberry Pi 4 Model B Rev 1.1",
            "Debian GNU/Linux 12 (bookworm)",
            "SC16G",
            "WD Blue SN570",
        ] {
            assert_eq!(public(text).as_deref(), Some(text));
        }
    }

    #[test]
    fn lines_of_tools_are_kept() {
        for line in [
            "419430400 bytes (419 MB, 400 MiB) copied, 30.2417 s, 13.9 MB/s",
            "Timing buffered disk reads: 132 MB in 3.03 seconds = 43.56 MB/sec",
            "8192 64 11699 11813 11450 11771 12942468 12316176",
            "FIO 4k random read 3110 IOPS (12440 KB/s)",
            "Average sequential write speed: 18.20 MB/s (5242880 sectors / 2'20\")",
            "*Usable* size: 1.00 TB (2147483648 blocks)",
        ] {
            assert_eq!(of_tool(line).as_deref(), Some(line));
        }
        let cases = [
            ("8.09 MB/s\r9.10 MB/s", "9.10 MB/s"),
            (
                "Good news: The device `/media/My Card/x' is the real thing",
                "Good news: The device `…' is the real thing",
            ),
        ];
        for (line, kept) in cases {
            assert_eq!(of_tool(line).as_deref(), Some(kept));
        }
    }

    #[test]
    fn lines_with_more_are_not_kept() {
        for line in [
            "Bob: Timing buffered disk reads: 132 MB in 3.03 seconds = 43.56 MB/sec",
            "4711 Timing buffered disk reads: 132 MB in 3.03 seconds = 43.56 MB/sec",
            "12345678 MB/s: 12345678",
            "10-20-30 MB/s",
            "Gerät 13.9 MB/s",
        ] {
            assert_eq!(of_tool(line), None, "{line}");
        }
    }
}
