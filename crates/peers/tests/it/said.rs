//! What the numbers of a line say, by the units that tools have. These are written down here apart
//! from the readers, so that a wrong unit of theirs is found.

/// Words and what they make of the number before them; the empty one leaves any number as it is.
pub(crate) type Units = &'static [(&'static str, f64)];

const K: f64 = 1024.0;
pub(crate) const PLAIN: Units = &[("", 1.0)];
pub(crate) const F3_SIZES: Units = &[
    ("Byte", 1.0),
    ("Bytes", 1.0),
    ("KB", K),
    ("MB", K * K),
    ("GB", K * K * K),
    ("TB", K * K * K * K),
    ("PB", K * K * K * K * K),
    ("EB", K * K * K * K * K * K),
    ("sector", 512.0),
    ("sectors", 512.0),
];
pub(crate) const F3_RATES: Units = &[
    ("Byte/s", 1.0),
    ("KB/s", K),
    ("MB/s", K * K),
    ("GB/s", K * K * K),
    ("TB/s", K * K * K * K),
    ("PB/s", K * K * K * K * K),
    ("EB/s", K * K * K * K * K * K),
];
pub(crate) const SPANS: Units = &[
    ("s", 1e9),
    ("ms", 1e6),
    ("us", 1e3),
    ("ns", 1.0),
    ("msec", 1e6),
];
pub(crate) const KDISKMARK_RATES: Units = &[("MB/s", 1_024_000.0)];
pub(crate) const BLOCKS: Units = &[
    ("", 1.0),
    ("K", K),
    ("KiB", K),
    ("M", K * K),
    ("MiB", K * K),
    ("G", K * K * K),
    ("GiB", K * K * K),
];
pub(crate) const FIO_BYTES: Units = &[
    ("B", 1.0),
    ("KB", K),
    ("KiB", K),
    ("MB", K * K),
    ("MiB", K * K),
    ("GB", K * K * K),
    ("GiB", K * K * K),
];
pub(crate) const FIO_RATES: Units = &[
    ("B/s", 1.0),
    ("KB/s", K),
    ("KiB/s", K),
    ("MiB/s", K * K),
    ("GiB/s", K * K * K),
    ("kB/s", 1e3),
    ("MB/s", 1e6),
    ("GB/s", 1e9),
];
pub(crate) const OPERATIONS: Units = &[("", 1.0), ("k", 1e3), ("K", 1e3), ("M", 1e6), ("G", 1e9)];
/// Percentiles in microseconds and milliseconds; their unit stands in the heading.
pub(crate) const US: Units = &[("", 1e3)];
pub(crate) const MS: Units = &[("", 1e6)];
/// What the blocks of f3probe are worth stands in another line.
pub(crate) const SECTORS: Units = &[("blocks", 512.0)];
pub(crate) const PAGES: Units = &[("blocks", 4096.0)];
/// Nothing that may come out changed: it stands there twice.
pub(crate) const FIXED: Units = &[];

/// What the numbers of a line say with the words behind them.
pub(crate) fn said(line: &str, units: Units) -> Vec<f64> {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut values = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find(is_number) {
        rest = &rest[start..];
        let end = rest.find(|c: char| !is_number(c)).unwrap_or(rest.len());
        let (number, behind) = rest.split_at(end);
        rest = behind;
        let word = behind.trim_start();
        let length = word.find(|c: char| !c.is_ascii_alphabetic() && c != '/');
        // `3916KiB/349msec`: the slash parts two of them.
        let word = word[..length.unwrap_or(word.len())].trim_end_matches('/');
        let Ok(number) = number.parse::<f64>() else {
            continue;
        };
        for (unit, factor) in units {
            if unit.is_empty() || *unit == word {
                // Version 2 of fio prints no decimals that mean anything.
                values.extend([number * factor, number.trunc() * factor]);
            }
        }
    }
    if units.contains(&("us", 1e3)) {
        values.extend(clock(line));
    }
    values
}

/// Spans such as `2'13"` and `1:34:05`, nanoseconds.
fn clock(line: &str) -> Vec<f64> {
    let words = line.split(|c: char| !(c.is_ascii_digit() || "'\":".contains(c)));
    let mut values = Vec::new();
    for word in words {
        let parts = word.trim_matches(['"', ':']).split(['\'', ':']);
        let numbers: Option<Vec<f64>> = parts.map(|part| part.parse().ok()).collect();
        if let Some(numbers) = numbers.filter(|numbers| numbers.len() > 1) {
            let seconds = numbers.iter().fold(0.0, |sum: f64, part| sum * 60.0 + part);
            // `2:05` are hours and minutes, `2'05"` minutes and seconds.
            values.extend([seconds * 1e9, seconds * 60.0 * 1e9]);
        }
    }
    values
}
