//! Printing of figures in the style of the old tools.

use cardmark_core::{KIB, MIB, PrintStyle, Printed, SECOND_NS};

/// Work done in a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// Bytes moved.
    pub bytes: u64,
    /// The span, nanoseconds.
    pub span_ns: u64,
    /// Operations completed.
    pub operations_count: u64,
}

impl Amount {
    /// Bytes alone, for the tools that do not count operations.
    pub fn of_bytes(bytes: u64, span_ns: u64) -> Self {
        Self {
            bytes,
            span_ns,
            operations_count: 0,
        }
    }

    /// The amount of a rate, as for iozone's sums over threads; good to a thousandth of a byte a
    /// second.
    #[must_use]
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float is cut to the range of the integer"
    )]
    pub fn of_rate(bytes_per_s: f64) -> Self {
        Self::of_bytes((bytes_per_s * 1000.0).round() as u64, 1000 * SECOND_NS)
    }

    fn bytes_per_s(self) -> f64 {
        self.bytes as f64 * SECOND_NS as f64 / self.span_ns as f64
    }

    fn whole_bytes_per_s(self) -> u128 {
        u128::from(self.bytes) * u128::from(SECOND_NS) / u128::from(self.span_ns)
    }

    /// fio keeps its span in milliseconds, the started one counted whole.
    fn fio_per_s(self, count: u64) -> u128 {
        u128::from(count) * 1000 / u128::from(self.span_ns.div_ceil(1_000_000))
    }
}

/// The figure as the tool of that style would print it; none where the span is zero.
pub fn print(style: PrintStyle, amount: Amount) -> Option<Printed> {
    if amount.span_ns == 0 {
        return None;
    }
    let kib = u128::from(KIB);
    let fio_kib = amount.fio_per_s(amount.bytes) / kib;
    let fio_iops = amount.fio_per_s(amount.operations_count);
    let iozone = amount.whole_bytes_per_s() / kib;
    Some(match style {
        PrintStyle::Hdparm => hdparm("hdparm", amount),
        PrintStyle::PibenchmarksHdparm => hdparm("PiBenchmarks", amount),
        PrintStyle::Dd => dd("dd", amount),
        PrintStyle::PibenchmarksDd => dd("PiBenchmarks", amount),
        PrintStyle::Iozone => mislabelled("iozone", &iozone.to_string(), "kB/sec", "KiB/s"),
        PrintStyle::PibenchmarksIozone => {
            mislabelled("PiBenchmarks", &iozone.to_string(), "KB/s", "KiB/s")
        }
        PrintStyle::IozoneThreads => {
            let number = format!("{:.2}", amount.bytes_per_s() / KIB as f64);
            mislabelled("iozone", &number, "kB/sec", "KiB/s")
        }
        PrintStyle::Ddrescue => ddrescue(amount),
        PrintStyle::PibenchmarksFio => Printed {
            meaning: Some(format!("{fio_iops} IOPS ({fio_kib} KiB/s)")),
            ..right(
                "PiBenchmarks",
                &fio_iops.to_string(),
                &format!("IOPS ({fio_kib} KB/s)"),
            )
        },
        PrintStyle::Agnostics => mislabelled("agnostics", &fio_kib.to_string(), "KB/sec", "KiB/s"),
        PrintStyle::AgnosticsIops => right("agnostics", &fio_iops.to_string(), "IOPS"),
    })
}

/// A figure with its true unit.
fn right(tool: &str, number: &str, unit: &str) -> Printed {
    Printed {
        tool: tool.to_owned(),
        text: format!("{number} {unit}"),
        // A number just formatted can be read again.
        value: number.parse().unwrap_or(f64::NAN),
        meaning: None,
    }
}

/// A figure with a misleading unit.
fn mislabelled(tool: &str, number: &str, unit: &str, right_unit: &str) -> Printed {
    Printed {
        meaning: Some(format!("{number} {right_unit}")),
        ..right(tool, number, unit)
    }
}

fn hdparm(tool: &str, amount: Amount) -> Printed {
    let rate = amount.bytes_per_s();
    // At one exactly it is still the smaller unit.
    if rate > MIB as f64 {
        let number = format!("{:.2}", rate / MIB as f64);
        mislabelled(tool, &number, "MB/sec", "MiB/s")
    } else {
        let number = format!("{:.2}", rate / KIB as f64);
        mislabelled(tool, &number, "kB/sec", "KiB/s")
    }
}

/// At least kilobytes; one decimal while that makes four characters at most. Rounding comes last,
/// so that it can print 1000 of a unit. (Where the span is a whole number of seconds to the
/// nanosecond, dd rounds to whole units from 10 on; no clock shows that.)
fn dd(tool: &str, amount: Amount) -> Printed {
    let rate = amount.bytes_per_s();
    let mut prefixes = "kMGTPE".chars();
    let (mut prefix, mut unit) = (prefixes.next().unwrap_or_default(), 1e3);
    for larger in prefixes {
        if rate < unit * 1e3 {
            break;
        }
        (prefix, unit) = (larger, unit * 1e3);
    }
    let mut number = format!("{:.1}", rate / unit);
    if number.len() > 4 {
        number = format!("{:.0}", rate / unit);
    }
    right(tool, &number, &format!("{prefix}B/s"))
}

/// Whole units, cut off; a larger unit only beyond five digits.
fn ddrescue(amount: Amount) -> Printed {
    let mut number = amount.whole_bytes_per_s();
    let mut unit = "B/s".to_owned();
    for prefix in "kMGTPE".chars() {
        if number <= 99_999 {
            break;
        }
        number /= 1000;
        unit = format!("{prefix}B/s");
    }
    right("ddrescue", &number.to_string(), &unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(style: PrintStyle, bytes: u64, span_ns: u64, operations_count: u64) -> String {
        let amount = Amount {
            bytes,
            span_ns,
            operations_count,
        };
        print(style, amount).expect("a span").text
    }

    #[test]
    fn no_span_is_no_rate() {
        assert_eq!(print(PrintStyle::Dd, Amount::of_bytes(1, 0)), None);
    }

    #[test]
    fn iozone_cuts_off() {
        let almost = 5211 * KIB - 1;
        assert_eq!(
            text(PrintStyle::Iozone, almost, SECOND_NS, 0),
            "5210 kB/sec"
        );
        let printed = print(PrintStyle::Iozone, Amount::of_bytes(almost, SECOND_NS));
        let printed = printed.expect("a span");
        assert_eq!(printed.value, 5210.0);
        assert_eq!(printed.meaning.as_deref(), Some("5210 KiB/s"));
    }

    #[test]
    fn threads_keep_two_decimals_of_a_sum() {
        let amount = Amount::of_rate(12_992.28 * 1024.0);
        let printed = print(PrintStyle::IozoneThreads, amount).expect("a span");
        assert_eq!(printed.text, "12992.28 kB/sec");
        assert_eq!(printed.meaning.as_deref(), Some("12992.28 KiB/s"));
    }

    #[test]
    fn fio_counts_a_started_millisecond() {
        // Line of rand-4k-write of the fixture: 16,384 KiB in 1,314 ms.
        let of_fixture = |style| text(style, 16_384 * KIB, 1_313_000_001, 4096);
        assert_eq!(of_fixture(PrintStyle::Agnostics), "12468 KB/sec");
        assert_eq!(of_fixture(PrintStyle::AgnosticsIops), "3117 IOPS");
        assert_eq!(
            of_fixture(PrintStyle::PibenchmarksFio),
            "3117 IOPS (12468 KB/s)"
        );
    }

    #[test]
    fn a_wrong_unit_has_a_meaning_and_a_right_one_none() {
        let meaning = |style| {
            let amount = Amount {
                bytes: 14_160 * KIB,
                span_ns: SECOND_NS,
                operations_count: 213,
            };
            print(style, amount).expect("a span").meaning
        };
        assert_eq!(meaning(PrintStyle::Hdparm).as_deref(), Some("13.83 MiB/s"));
        assert_eq!(
            meaning(PrintStyle::Agnostics).as_deref(),
            Some("14160 KiB/s")
        );
        assert_eq!(
            meaning(PrintStyle::PibenchmarksIozone).as_deref(),
            Some("14160 KiB/s")
        );
        assert_eq!(
            meaning(PrintStyle::PibenchmarksFio).as_deref(),
            Some("213 IOPS (14160 KiB/s)")
        );
        for style in [
            PrintStyle::Dd,
            PrintStyle::PibenchmarksDd,
            PrintStyle::Ddrescue,
            PrintStyle::AgnosticsIops,
        ] {
            assert_eq!(meaning(style), None, "{style:?}");
        }
    }
}
