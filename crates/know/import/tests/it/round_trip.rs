//! Figures printed in the style of a tool are read as what they were, within the printed steps.

use cardmark_core::{PrintStyle, Printed, SECOND_NS};
use cardmark_stats::{Amount, print};
use proptest::prelude::*;

use crate::one;

fn text(style: PrintStyle, amount: Amount) -> Printed {
    print(style, amount).unwrap()
}

/// A span of a millisecond to three hours, at any scale.
fn span_ns() -> impl Strategy<Value = u64> {
    (6u32..13, 0u64..9 * SECOND_NS).prop_map(|(digits, part)| {
        let unit = 10u64.pow(digits);
        unit + u64::try_from(u128::from(part) * u128::from(unit) / u128::from(SECOND_NS)).unwrap()
    })
}

/// As dd prints its span.
fn six_digits(seconds: f64) -> String {
    if seconds < 1.0 {
        return format!("{seconds:.5e}");
    }
    let (mut places, mut end) = (5, 10.0);
    while seconds >= end && places > 0 {
        places -= 1;
        end *= 10.0;
    }
    format!("{seconds:.places$}")
}

fn rate(amount: Amount) -> f64 {
    amount.bytes as f64 * SECOND_NS as f64 / amount.span_ns as f64
}

fn within(read: f64, truth: f64, step: f64) -> bool {
    (read - truth).abs() <= step * 1.001 + truth * 1e-9
}

proptest! {
    #[test]
    fn hdparm(iterations in 1u64..100_000, span_ms in 3000u64..20_000) {
        let amount = Amount::of_bytes(iterations << 21, span_ms * 1_000_000);
        let printed = text(PrintStyle::Hdparm, amount);
        let seconds = span_ms as f64 / 1000.0;
        let line = format!(
            " Timing buffered disk reads: {:3} MB in {seconds:5.2} seconds = {}",
            iterations * 2, printed.text,
        );
        let metric = one(&line).metrics.remove(0);
        prop_assert_eq!(metric.printed.as_ref(), Some(&printed));
        let unit = if printed.text.ends_with("MB/sec") { 1_048_576.0 } else { 1024.0 };
        prop_assert!(within(metric.value, rate(amount), 0.005 * unit));
    }

    #[test]
    fn dd(bytes in 1u64..1 << 39, span_ns in span_ns()) {
        let amount = Amount::of_bytes(bytes, span_ns);
        let printed = text(PrintStyle::Dd, amount);
        let seconds = span_ns as f64 / 1e9;
        let seconds = six_digits(seconds);
        let line = format!("{bytes} bytes copied, {seconds} s, {}", printed.text);
        let metric = one(&line).metrics.remove(0);
        prop_assert_eq!(metric.printed.as_ref(), Some(&printed));
        prop_assert!(within(metric.value, rate(amount), 1e-5 * rate(amount)));
    }

    #[test]
    fn ddrescue(bytes in 0u64..1 << 39, span_ns in span_ns()) {
        let amount = Amount::of_bytes(bytes, span_ns);
        let printed = text(PrintStyle::Ddrescue, amount);
        let screen = format!(
            "     opos:    14221 kB, non-scraped:        0 B,  average rate: {:>10}\n  \
             rescued:    14221 kB,   bad areas:        0,        run time:          1s\n",
            printed.text,
        );
        prop_assume!(printed.value > 0.0);
        let metric = one(&screen).metrics.remove(0);
        prop_assert_eq!(metric.printed.as_ref(), Some(&printed));
        let step = metric.value / printed.value;
        prop_assert!(within(metric.value, rate(amount), step.max(1.0)));
        prop_assert!(metric.value <= rate(amount));
    }

    #[test]
    fn iozone(bytes in 0u64..1 << 39, span_ns in span_ns()) {
        let amount = Amount::of_bytes(bytes, span_ns);
        let printed = text(PrintStyle::Iozone, amount);
        let number = printed.text.strip_suffix(" kB/sec").unwrap();
        let table = format!(
            "              kB  reclen    write  rewrite    read    reread\n\
             {:>16}{:>8} {number:>8} {number:>8} {number:>8} {number:>8}\n",
            102_400, 4,
        );
        prop_assume!(printed.value > 0.0);
        for metric in one(&table).metrics {
            prop_assert!(within(metric.value, rate(amount), 1024.0));
            prop_assert!(metric.value <= rate(amount));
        }
        let printed = text(PrintStyle::IozoneThreads, amount);
        let block = format!("\tChildren see throughput for 4 re-readers \t= {:>18}\n", printed.text);
        let metric = one(&block).metrics.remove(0);
        prop_assert_eq!(metric.printed.as_ref(), Some(&printed));
        prop_assert!(within(metric.value, rate(amount), 0.005 * 1024.0));
    }

    #[test]
    fn fio(blocks in 1u64..1 << 30, span_ms in 1u64..10_000_000) {
        let amount = Amount {
            bytes: blocks * 4096,
            span_ns: span_ms * 1_000_000,
            operations_count: blocks,
        };
        let kib = text(PrintStyle::Agnostics, amount);
        let iops = text(PrintStyle::AgnosticsIops, amount);
        let figures = format!("{};{};{};{span_ms}", blocks * 4, kib.value, iops.value);
        let line = format!("3;fio-3.33;job;0;0;{figures};{}0;0;0;0", "0;".repeat(37));
        prop_assume!(kib.value > 0.0 && iops.value > 0.0);
        let metric = one(&line).metrics.remove(0);
        prop_assert_eq!(metric.printed.map(|it| it.text), kib.meaning);
        prop_assert_eq!(metric.operations_per_s, Some(iops.value));
        prop_assert!(within(metric.rate_bytes_per_s.unwrap(), rate(amount), 1024.0));
    }
}
