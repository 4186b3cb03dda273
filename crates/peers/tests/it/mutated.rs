//! f3, KDiskMark and fio's human output with one byte changed, one line dropped, or cut off: what
//! comes out is the true figure or one that stands, with its unit, in the changed line.

use cardmark_peers::{F3Amount, KdiskmarkRate, ReadError, read_f3, read_fio_text, read_kdiskmark};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::said::{
    BLOCKS, F3_RATES, F3_SIZES, FIO_BYTES, FIO_RATES, FIXED, KDISKMARK_RATES, MS, OPERATIONS,
    PAGES, PLAIN, SECTORS, SPANS, US, Units, said,
};
use crate::{fixture, harm};

/// A figure that came out.
#[derive(Clone, Debug)]
struct Figure {
    kind: String,
    /// The job it is of, where that has a name.
    owner: Option<String>,
    value: f64,
    units: Units,
    /// How far it may be off where the better of two sources is missing.
    slack: f64,
}

impl Figure {
    fn new(kind: &str, value: f64, units: Units) -> Self {
        Self {
            kind: kind.to_owned(),
            owner: None,
            value,
            units,
            slack: 0.0,
        }
    }

    fn is_value_of(&self, other: &Self) -> bool {
        self.kind == other.kind && (self.value - other.value).abs() <= self.slack
    }

    fn is_known(&self, truth: &[Self]) -> bool {
        let is_owner = |known: &Self| self.owner.is_none() || self.owner == known.owner;
        truth
            .iter()
            .any(|known| self.is_value_of(known) && is_owner(known))
    }

    /// Whether the changed line says it: the name of its job, or the figure.
    fn is_said(&self, line: &str, truth: &[Self]) -> bool {
        let is_true = truth.iter().any(|known| self.is_value_of(known));
        let is_named = self
            .owner
            .as_ref()
            .is_some_and(|name| line.contains(name.as_str()));
        let is_close = |value: f64| (value - self.value).abs() <= 0.5 + 1e-9 * self.value;
        (is_true && is_named) || said(line, self.units).into_iter().any(is_close)
    }
}

type Read = fn(&str, Units) -> Result<Vec<Figure>, ReadError>;

fn f3(text: &str, blocks: Units) -> Result<Vec<Figure>, ReadError> {
    let output = read_f3(text)?;
    let mut figures = Vec::new();
    let mut put = |kind: &str, value: f64, units: Units| {
        figures.push(Figure::new(kind, value, units));
    };
    for write in output.writes {
        if let Some(bytes) = write.free_before_bytes {
            put("before", bytes as f64, F3_SIZES);
        }
        if let Some(bytes) = write.free_after_bytes {
            put("after", bytes as f64, F3_SIZES);
        }
        if let Some(rate) = write.average_rate {
            put("written", rate.bytes_per_s, F3_RATES);
        }
    }
    for read in output.reads {
        if let Some(found) = read.sectors {
            let mut amount = |kind: &str, amount: F3Amount| {
                assert_eq!(amount.bytes, amount.sectors_count * 512);
                put(kind, amount.bytes as f64, F3_SIZES);
            };
            amount("ok", found.ok);
            amount("lost", found.lost);
            amount("corrupted", found.corrupted);
            amount("changed", found.changed);
            amount("overwritten", found.overwritten);
        }
        if let Some(rate) = read.average_rate {
            put("read", rate.bytes_per_s, F3_RATES);
        }
    }
    for probe in output.probes {
        put("verdict", f64::from(probe.verdict as u8), FIXED);
        put("usable", probe.usable_bytes as f64, blocks);
        put("announced", probe.announced_bytes as f64, blocks);
        put("module", probe.module_bytes as f64, FIXED);
        put("cache", probe.cache_bytes as f64, blocks);
        put("block", probe.block_bytes as f64, FIXED);
        let operations = [("r", probe.reads), ("w", probe.writes), ("x", probe.resets)];
        for (kind, operation) in operations {
            if let Some(operation) = operation {
                put(&format!("{kind} count"), operation.count as f64, PLAIN);
                put(&format!("{kind} span"), operation.span_ns as f64, SPANS);
                put(&format!("{kind} mean"), operation.mean_ns as f64, SPANS);
            }
        }
    }
    Ok(figures)
}

fn kdiskmark(text: &str, _: Units) -> Result<Vec<Figure>, ReadError> {
    let mut figures = Vec::new();
    let mut put = |kind: &str, value: f64, units: Units| {
        figures.push(Figure::new(kind, value, units));
    };
    for report in read_kdiskmark(text)? {
        for reading in report.readings {
            let of = |kind: &str| format!("{kind} {:?} {}", reading.direction, reading.is_random);
            if let KdiskmarkRate::Known(rate) = &reading.rate {
                put(&of("rate"), rate.bytes_per_s, KDISKMARK_RATES);
            }
            put(&of("operations"), reading.operations_per_s, PLAIN);
            put(&of("block"), reading.block_bytes as f64, BLOCKS);
            put(&of("depth"), f64::from(reading.queue_depth), PLAIN);
            put(&of("threads"), f64::from(reading.threads_count), PLAIN);
            if let Some(ns) = reading.latency_ns {
                put(&of("latency"), ns as f64, SPANS);
            }
        }
        if let Some(bytes) = report.size_bytes {
            put("size", bytes as f64, BLOCKS);
        }
        if let Some(count) = report.loops_count {
            put("loops", f64::from(count), PLAIN);
        }
    }
    Ok(figures)
}

fn fio_text(text: &str, percentiles: Units) -> Result<Vec<Figure>, ReadError> {
    let mut figures = Vec::new();
    for reading in read_fio_text(text)? {
        let mut put = |kind: &str, value: f64, units: Units| {
            figures.push(Figure {
                kind: format!("{kind} {:?}", reading.direction),
                owner: reading.job.clone(),
                slack: if kind == "operations a second" {
                    (0.005 * value).max(1.0)
                } else {
                    0.0
                },
                ..Figure::new("", value, units)
            });
        };
        put("rate", reading.rate.bytes_per_s, FIO_RATES);
        put("bytes", reading.bytes as f64, FIO_BYTES);
        put("span", reading.span_ns as f64, SPANS);
        put("operations a second", reading.operations_per_s, OPERATIONS);
        if let Some(count) = reading.operations_count {
            let per_s = count as f64 * 1e9 / reading.span_ns as f64;
            assert_eq!(reading.operations_per_s, per_s);
            put("operations", count as f64, PLAIN);
        }
        if let Some(setup) = &reading.setup {
            put("depth", f64::from(setup.queue_depth), PLAIN);
            if let Some(bytes) = setup.block_bytes {
                put("block", bytes as f64, BLOCKS);
            }
        }
        for percentile in &reading.percentiles {
            put("percent", percentile.percent, PLAIN);
            put("percentile", percentile.at_most_ns as f64, percentiles);
        }
    }
    Ok(figures)
}

/// A text, its reader, and the units of what is particular to it.
type Case = (&'static str, Read, Units);

const F3: [Case; 8] = [
    (fixture!("f3-7.2-write.txt"), f3, FIXED),
    (fixture!("f3-7.2-read-partial.txt"), f3, FIXED),
    (fixture!("f3-7-read-lost.txt"), f3, FIXED),
    (fixture!("f3-10.0-write-read.txt"), f3, FIXED),
    (fixture!("f3-8.0-probe-limbo.txt"), f3, SECTORS),
    (fixture!("f3-8.0-probe-damaged.txt"), f3, SECTORS),
    (fixture!("f3-8.0-probe-real.txt"), f3, SECTORS),
    (fixture!("f3-10.0-probe-real.txt"), f3, PAGES),
];

const KDISKMARK: [Case; 4] = [
    (fixture!("kdiskmark-3.0.0-default.txt"), kdiskmark, FIXED),
    (fixture!("kdiskmark-1.6.0-default.txt"), kdiskmark, FIXED),
    (fixture!("kdiskmark-2.2.1-one-test.txt"), kdiskmark, FIXED),
    (
        fixture!("kdiskmark-3.2.0-demo-no-heading.txt"),
        kdiskmark,
        FIXED,
    ),
];

const FIO: [Case; 6] = [
    (fixture!("fio-2.1.14-write.txt"), fio_text, US),
    (fixture!("fio-2-rand-read.txt"), fio_text, MS),
    (fixture!("fio-3.16-rand-read.txt"), fio_text, FIXED),
    (fixture!("fio-3.28-rand-write.txt"), fio_text, US),
    (fixture!("fio-3.33-randrw.txt"), fio_text, FIXED),
    (fixture!("fio-3.41-write.txt"), fio_text, MS),
];

fn cases() -> Vec<Case> {
    [F3.as_slice(), &KDISKMARK, &FIO].concat()
}

/// What comes out of a text that was changed in a line must be true or said there.
fn check(read: Read, units: Units, truth: &[Figure], text: &str, line: &str) {
    for figure in read(text, units).into_iter().flatten() {
        assert!(
            figure.value.is_finite() && figure.value >= 0.0,
            "{figure:?}"
        );
        let is_fair = figure.is_known(truth) || figure.is_said(line, truth);
        assert!(is_fair, "{figure:?} of `{line}`");
    }
}

/// The line around a place, with the next where the place is its end.
fn line_around(text: &[char], at: usize) -> String {
    let is_end = |c: &char| *c == '\n';
    let start = text[..at].iter().rposition(is_end).map_or(0, |end| end + 1);
    let length = text[at + 1..].iter().position(is_end);
    text[start..length.map_or(text.len(), |length| at + 1 + length)]
        .iter()
        .collect()
}

/// Bytes put at every place: what numbers, units and their neighbours are made of.
const BYTES: [char; 8] = ['0', '7', '.', 'k', 'M', 'u', 'n', ' '];

fn change_every_byte(cases: &[Case]) {
    for &(text, read, units) in cases {
        let truth = read(text, units).unwrap();
        let mut chars: Vec<char> = text.chars().collect();
        for at in 0..chars.len() {
            let kept = chars[at];
            for byte in BYTES {
                chars[at] = byte;
                let changed: String = chars.iter().collect();
                check(read, units, &truth, &changed, &line_around(&chars, at));
            }
            chars[at] = kept;
        }
    }
}

#[test]
fn f3_with_any_byte_changed() {
    change_every_byte(&F3);
}

#[test]
fn kdiskmark_with_any_byte_changed() {
    change_every_byte(&KDISKMARK);
}

#[test]
fn fio_text_with_any_byte_changed() {
    change_every_byte(&FIO);
}

#[test]
fn dropped_lines_and_cut_ends_change_no_figure() {
    for (text, read, units) in cases() {
        let truth = read(text, units).unwrap();
        for less in harm::without_a_line(text) {
            check(read, units, &truth, &less, "");
        }
        for start in harm::cut(text) {
            // A number cut in two says what is left of it, with the unit that is left.
            let line = start.lines().next_back().unwrap_or("");
            check(read, units, &truth, start, line);
        }
    }
}

proptest! {
    #[test]
    fn any_character_changed(
        which in 0..cases().len(),
        at in any::<Index>(),
        put in harm::any_char(),
    ) {
        let (text, read, units) = cases()[which];
        let truth = read(text, units).unwrap();
        let changed = harm::changed(text, at, put);
        let place = at.index(text.chars().count());
        let before: Vec<char> = text.chars().collect();
        let after: Vec<char> = changed.chars().collect();
        // Where a line was parted or two were joined, what was one is one still.
        let (start, end) = (
            before[..place].iter().rposition(|c| *c == '\n').map_or(0, |end| end + 1),
            before[place + 1..].iter().position(|c| *c == '\n'),
        );
        let end = end.map_or(after.len(), |length| place + 1 + length);
        let line: String = after[start..end].iter().collect();
        check(read, units, &truth, &changed, &line);
    }

    #[test]
    fn any_texts_do_not_panic(text in "\\PC*", which in 0..cases().len(), at in any::<Index>()) {
        let (known, read, units) = cases()[which];
        let _ = read(&text, units);
        let mut mixed: Vec<char> = known.chars().collect();
        let at = at.index(mixed.len());
        mixed.splice(at..at, text.chars());
        let _ = read(&mixed.into_iter().collect::<String>(), units);
    }
}
