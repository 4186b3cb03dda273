//! Numbers as people read them: three significant digits, decimal rates, binary block sizes.

pub(crate) mod layout;
pub(crate) mod names;
pub(crate) mod promised;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod times;
pub(crate) mod vocabulary;

use std::collections::BTreeSet;
use std::fmt::Display;

use cardmark_core::Quantity;

use crate::text::names::counted;
use crate::text::style::clean;

const KIB: f64 = 1024.0;
const UNITS_BINARY: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
const UNITS_DECIMAL: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];

/// Digits of an id that are shown.
pub(crate) const SHORT_ID: usize = 8;

/// Placeholder for a missing value.
pub const MISSING: &str = "–";

/// A figure without unit: three significant digits, whole numbers of four digits from 1,000 on.
pub fn figure(value: f64) -> String {
    if !value.is_finite() {
        return MISSING.to_owned();
    }
    if value < 0.0 {
        return format!("-{}", figure(-value));
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    if value < 5e-7 {
        return "<0.000001".to_owned();
    }
    // Rounding can carry into the next decade (9.996 is 10.0), so the decimals are taken from the
    // rounded figure.
    let decimals = decimals_of(value);
    let rounded: f64 = format!("{value:.decimals$}").parse().unwrap_or(value);
    if rounded >= 1000.0 {
        return whole(value);
    }
    format!("{value:.*}", decimals_of(rounded))
}

/// Decimals that give three significant digits, six at most.
fn decimals_of(value: f64) -> usize {
    let limits = [100.0, 10.0, 1.0, 0.1, 0.01, 0.001];
    limits
        .iter()
        .position(|limit| value >= *limit)
        .unwrap_or(limits.len())
}

/// A large figure, rounded to four digits.
fn whole(value: f64) -> String {
    let digits = format!("{value:.0}").len();
    let unit = 10_f64.powi(i32::try_from(digits.saturating_sub(4)).unwrap_or(0));
    format!("{:.0}", (value / unit).round() * unit)
}

/// A rate in MB/s, 10⁶ bytes a second.
pub fn rate(bytes_per_s: f64) -> String {
    format!("{} MB/s", figure(bytes_per_s / 1e6))
}

/// The unit in which a rate is shown: MB/s, or what the metric counts a second: operations on blocks
/// (IOPS), transactions, files. The one place that decides it.
pub fn unit(metric: &str, quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::ByteRate => "MB/s",
        _ => counted(metric),
    }
}

/// A rate in its unit, as a number.
pub fn in_unit(quantity: Quantity, value: f64) -> f64 {
    match quantity {
        Quantity::ByteRate => value / 1e6,
        _ => value,
    }
}

/// A metric's value with its unit.
pub fn value(metric: &str, quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::ByteRate | Quantity::OperationRate => {
            let number = figure(in_unit(quantity, value));
            format!("{number} {}", unit(metric, quantity))
        }
        Quantity::Span => latency(value),
        Quantity::Size => amount_of(value),
        Quantity::Count | Quantity::Ratio | Quantity::Other(_) => figure(value),
    }
}

/// A rate in a short form: `142/s`, `8.1 MB/s`.
pub fn per_second(quantity: Quantity, rate: f64) -> String {
    match quantity {
        Quantity::OperationRate => format!("{}/s", figure(rate)),
        _ => value("", quantity, rate),
    }
}

/// A whole number with its thousands apart: `17,222`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let letter = |(index, digit): (usize, char)| {
        let is_first = index == 0 || !(digits.len() - index).is_multiple_of(3);
        [(!is_first).then_some(','), Some(digit)]
    };
    let letters = digits.chars().enumerate().flat_map(letter);
    letters.flatten().collect()
}

/// Probability by chance: the sign before the number, and the number.
pub(crate) fn p_value(p_value: f64) -> (char, String) {
    if p_value < 0.001 {
        ('<', "0.001".to_owned())
    } else {
        ('=', format!("{p_value:.3}"))
    }
}

/// A unit for latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatencyUnit {
    /// µs
    Microseconds,
    /// ms
    Milliseconds,
    /// s
    Seconds,
}

impl LatencyUnit {
    /// The unit in which all of these latencies (nanoseconds) can be read.
    pub fn for_all(latencies_ns: &[f64]) -> Self {
        let least = latencies_ns.iter().copied().fold(f64::INFINITY, f64::min);
        let most = latencies_ns.iter().copied().fold(0.0, f64::max);
        if most < 999_500.0 {
            Self::Microseconds
        } else if least.is_finite() && least >= 999.5e6 {
            Self::Seconds
        } else {
            Self::Milliseconds
        }
    }

    /// The unit's sign.
    pub fn name(self) -> &'static str {
        match self {
            Self::Microseconds => "µs",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
        }
    }

    /// The figure of a latency (nanoseconds) in this unit.
    pub fn figure(self, latency_ns: f64) -> String {
        let unit_ns = match self {
            Self::Microseconds => 1e3,
            Self::Milliseconds => 1e6,
            Self::Seconds => 1e9,
        };
        figure(latency_ns / unit_ns)
    }
}

/// One latency with the unit that suits it.
pub fn latency(latency_ns: f64) -> String {
    let unit = LatencyUnit::for_all(&[latency_ns]);
    format!("{} {}", unit.figure(latency_ns), unit.name())
}

/// The size of a block or buffer: `4 KiB`, `1 MiB`.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub fn size(bytes: u64) -> String {
    scaled(bytes as f64, KIB, &UNITS_BINARY)
}

/// An amount of data in decimal units: `1.61 GB`.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub fn amount(bytes: u64) -> String {
    amount_of(bytes as f64)
}

/// An amount of data that was computed, in decimal units.
pub(crate) fn amount_of(bytes: f64) -> String {
    scaled(bytes, 1000.0, &UNITS_DECIMAL)
}

/// A capacity both ways: `63.9 GB (59.5 GiB)`.
pub fn capacity(bytes: u64) -> String {
    format!("{} ({})", amount(bytes), size(bytes))
}

fn scaled(bytes: f64, step: f64, units: &[&str]) -> String {
    let mut value = bytes;
    let mut units = units.iter().peekable();
    let mut unit = units.next().copied().unwrap_or_default();
    // 999.5 would be shown as 1000, 1023.5 as 1024.
    while value >= step - 0.5
        && let Some(next) = units.next()
    {
        value /= step;
        unit = next;
    }
    let shown = figure(value);
    let short = if shown.contains('.') {
        shown.trim_end_matches('0').trim_end_matches('.')
    } else {
        &shown
    };
    format!("{short} {unit}")
}

/// A span of time: `0.35 s`, `48 s`, `1 min 12 s`, `2 h 5 min`, `3 d 4 h`.
pub fn span(span_ns: u64) -> String {
    const SECOND_NS: u64 = 1_000_000_000;
    if span_ns < 9_950_000_000 {
        return short_span(span_ns);
    }
    let seconds = span_ns / SECOND_NS + u64::from(span_ns % SECOND_NS >= SECOND_NS / 2);
    // Minutes are rounded before hours are shown, hours before days.
    let minutes = (seconds + 30) / 60;
    let hours = (minutes + 30) / 60;
    if seconds < 60 {
        format!("{seconds} s")
    } else if seconds < 3600 {
        pair(seconds, 60, "min", "s")
    } else if minutes < 24 * 60 {
        pair(minutes, 60, "h", "min")
    } else {
        pair(hours, 24, "d", "h")
    }
}

/// A span below ten seconds, two significant digits.
fn short_span(span_ns: u64) -> String {
    if span_ns < 999_500 {
        format!("{} µs", (span_ns + 500) / 1000)
    } else if span_ns < 99_500_000 {
        format!("{} ms", (span_ns + 500_000) / 1_000_000)
    } else if span_ns < 995_000_000 {
        let hundredths = (span_ns + 5_000_000) / 10_000_000;
        format!("0.{hundredths:02} s")
    } else {
        let tenths = (span_ns + 50_000_000) / 100_000_000;
        format!("{}.{} s", tenths / 10, tenths % 10)
    }
}

fn pair(count: u64, step: u64, large: &str, small: &str) -> String {
    match (count / step, count % step) {
        (whole, 0) => format!("{whole} {large}"),
        (whole, rest) => format!("{whole} {large} {rest} {small}"),
    }
}

/// A share in percent, two significant digits: `±3.1 %` without its sign.
pub fn percent(ratio: f64) -> String {
    let value = ratio * 100.0;
    if !value.is_finite() {
        MISSING.to_owned()
    } else if value >= 9.95 {
        format!("{value:.0} %")
    } else {
        format!("{value:.1} %")
    }
}

/// Returns a number of things, such as `1 run` or `3 runs`.
pub fn count_of<N: Copy + Display + PartialEq + From<u8>>(
    count: N,
    one: &str,
    many: &str,
) -> String {
    let what = if count == N::from(1) { one } else { many };
    format!("{count} {what}")
}

/// Returns `on a Raspberry Pi 5`, or the number of boards, such as `on 3 boards`, unknown ones counted as one; empty if none is known.
pub fn on_boards<'a>(boards: impl Iterator<Item = Option<&'a str>>) -> String {
    let boards: BTreeSet<Option<&str>> = boards.collect();
    match boards.iter().next_back() {
        Some(Some(only)) if boards.len() == 1 => {
            let is_vowel = only.starts_with(['A', 'E', 'I', 'O', 'U']);
            format!("on {} {}", if is_vowel { "an" } else { "a" }, clean(only))
        }
        Some(Some(_)) => format!("on {} boards", boards.len()),
        _ => String::new(),
    }
}

/// Returns a place in a ranking, such as `3`, or the range that it may have, such as `2–5`.
pub fn place_text([first, last]: [usize; 2]) -> String {
    if first == last {
        return first.to_string();
    }
    format!("{first}–{last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_keep_all_digits() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1415, "1,415"),
            (1_000_000, "1,000,000"),
        ];
        for (number, shown) in cases {
            assert_eq!(grouped(number), shown);
        }
    }

    #[test]
    fn figures_keep_three_digits_across_the_edges_of_rounding() {
        let cases = [
            (0.0, "0"),
            (1e-9, "<0.000001"),
            (0.000_123_4, "0.000123"),
            (0.009_996, "0.0100"),
            (0.051_23, "0.0512"),
            (0.999_6, "1.00"),
            (9.994, "9.99"),
            (9.996, "10.0"),
            (99.96, "100"),
            (999.4, "999"),
            (999.95, "1000"),
            (1234.4, "1234"),
            (12_345.0, "12350"),
            (99_996.0, "100000"),
            (1e15, "1000000000000000"),
            (-2.5, "-2.50"),
            (f64::NAN, "–"),
            (f64::INFINITY, "–"),
        ];
        for (value, shown) in cases {
            assert_eq!(figure(value), shown, "{value}");
        }
    }

    #[test]
    fn rates_are_decimal() {
        assert_eq!(rate(23_400_000.0), "23.4 MB/s");
        assert_eq!(rate(999_950_000.0), "1000 MB/s");
        assert_eq!(rate(512.0), "0.000512 MB/s");
    }

    #[test]
    fn a_value_has_the_unit_of_its_metric() {
        let cases = [
            ("seq_read_1m", Quantity::ByteRate, 43.71e6, "43.7 MB/s"),
            ("rand_read_4k", Quantity::OperationRate, 2250.0, "2250 IOPS"),
            (
                "sqlite_tps",
                Quantity::OperationRate,
                61.0,
                "61.0 transactions/s",
            ),
            ("files_per_s", Quantity::OperationRate, 213.0, "213 files/s"),
            (
                "append_sync_per_s",
                Quantity::OperationRate,
                88.0,
                "88.0 lines/s",
            ),
            ("longest_pause", Quantity::Span, 1.2e9, "1.20 s"),
            ("cache_bytes", Quantity::Size, 3.2e9, "3.2 GB"),
            ("pauses_1s_per_gib", Quantity::Count, 0.25, "0.250"),
        ];
        for (metric, quantity, of, shown) in cases {
            assert_eq!(value(metric, quantity, of), shown);
        }
    }

    #[test]
    fn a_latency_has_the_unit_that_suits_it() {
        assert_eq!(latency(850.0), "0.850 µs");
        assert_eq!(latency(999_499.0), "999 µs");
        assert_eq!(latency(999_500.0), "1.00 ms");
        assert_eq!(latency(12_340_000.0), "12.3 ms");
        assert_eq!(latency(2.5e9), "2.50 s");
        assert_eq!(
            LatencyUnit::for_all(&[200_000.0, 1.3e9]),
            LatencyUnit::Milliseconds
        );
        assert_eq!(LatencyUnit::for_all(&[]), LatencyUnit::Microseconds);
    }

    #[test]
    fn sizes_are_binary_and_capacities_both() {
        assert_eq!(size(512), "512 B");
        assert_eq!(size(4096), "4 KiB");
        assert_eq!(size(1 << 20), "1 MiB");
        assert_eq!(size((1 << 20) - 1), "1 MiB");
        assert_eq!(size(268_435_456), "256 MiB");
        assert_eq!(amount(999_950), "1 MB");
        assert_eq!(amount(0), "0 B");
        assert_eq!(capacity(63_864_569_856), "63.9 GB (59.5 GiB)");
        assert_eq!(capacity(u64::MAX), "18450 PB (16780000 TiB)");
    }

    #[test]
    fn spans_round_before_they_carry() {
        let cases = [
            (0, "0 µs"),
            (999_499, "999 µs"),
            (999_500, "1 ms"),
            (99_499_999, "99 ms"),
            (350_000_000, "0.35 s"),
            (994_999_999, "0.99 s"),
            (995_000_000, "1.0 s"),
            (9_949_999_999, "9.9 s"),
            (9_950_000_000, "10 s"),
            (59_499_999_999, "59 s"),
            (59_500_000_000, "1 min"),
            (72_000_000_000, "1 min 12 s"),
            (3_599_500_000_000, "1 h"),
            (7_500_000_000_000, "2 h 5 min"),
            (86_399_000_000_000, "1 d"),
            (273_600_000_000_000, "3 d 4 h"),
        ];
        for (span_ns, shown) in cases {
            assert_eq!(span(span_ns), shown, "{span_ns}");
        }
        assert!(span(u64::MAX).contains(" d"));
    }

    #[test]
    fn percents_have_two_digits() {
        assert_eq!(percent(0.0312), "3.1 %");
        assert_eq!(percent(0.0996), "10 %");
        assert_eq!(percent(0.0), "0.0 %");
        assert_eq!(percent(f64::NAN), "–");
    }
}
