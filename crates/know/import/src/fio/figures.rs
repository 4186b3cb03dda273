//! The line of a direction: operations, rate, bytes and span.

use cardmark_core::SECOND_NS;

use super::job::{Direction, TOOL};
use crate::number::{Number, plain_number_and_unit, power, unit_bytes};
use crate::text::{Damage, Line};

const NS_PER_MS: u64 = 1_000_000;

/// Rules by which a version shortens numbers and names their units.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Two,
    Three,
}

/// A number that fio shortened, and the range that it may stand for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    pub(super) value: f64,
    least: f64,
    most: f64,
    /// True if it may stand for almost a unit more: before 3.26, 12.97 is printed as 12.0.
    may_be_low: bool,
}

impl Shown {
    fn new(number: Number, unit: f64, style: Style) -> Self {
        let Number { value, half_step } = number;
        let has_decimals = half_step < 0.5;
        let may_be_low = has_decimals && style == Style::Three && value.fract() == 0.0;
        // Each division cuts what is below a thousandth.
        let (value, least, most) = if has_decimals && style == Style::Two {
            // 8904.95 is printed as 8904.1: 968 of 1024 remain, and one digit has room.
            (value.floor(), value.floor(), value.floor() + 1.0)
        } else if may_be_low || (unit <= 1.0 && !has_decimals) {
            (value, value - half_step.min(0.05), value + 1.0)
        } else {
            (value, value - half_step, value + half_step + 0.001)
        };
        Self {
            value: value * unit,
            least: least * unit * (1.0 - 1e-9),
            most: most * unit * (1.0 + 1e-9),
            may_be_low,
        }
    }

    /// The same a second, if this was moved in a span.
    fn per_s(self, span_ns: u64) -> Self {
        let per_s = |count: f64| per_s(count, span_ns);
        Self {
            value: per_s(self.value),
            least: per_s(self.least),
            most: per_s(self.most),
            may_be_low: self.may_be_low,
        }
    }

    fn agrees(self, other: Self) -> bool {
        self.least <= other.most && other.least <= self.most
    }

    pub(super) fn may_be(self, value: f64) -> bool {
        (self.least..=self.most).contains(&value)
    }
}

pub(super) fn per_s(count: f64, span_ns: u64) -> f64 {
    count * SECOND_NS as f64 / span_ns as f64
}

/// The figures of a line.
pub(super) struct Figures {
    pub(super) operations: Shown,
    pub(super) bytes_per_s: f64,
    /// Less than the rate if its prefix may be decimal.
    pub(super) least_bytes_per_s: f64,
    /// The rate in the more precise of its two units.
    pub(super) printed: String,
    pub(super) span_ns: u64,
}

/// The figures of a line, and the direction that they are of; none for trims. Sums over groups are in capitals.
pub(super) fn direction(text: &str) -> Option<(Option<Direction>, &str)> {
    let (name, figures) = text.split_once(':')?;
    let figures = figures.trim_start();
    let direction = match name.trim_end() {
        "read" => Some(Direction::Read),
        "write" => Some(Direction::Write),
        "mixed" => Some(Direction::Mixed),
        "trim" => None,
        _ => return None,
    };
    let is_ours = figures.starts_with("IOPS=") || figures.starts_with("io=");
    is_ours.then_some((direction, figures))
}

impl Figures {
    pub(super) fn parse(line: Line, text: &str) -> Result<Self, Damage> {
        let parts = Parts::of_three(text).or_else(|| Parts::of_two(text));
        let figures = parts.and_then(|parts| parts.figures());
        let expected = "`IOPS=3110, BW=12.1MiB/s (12.7MB/s)(16.0MiB/1317msec)` with units that are \
                        known and figures that agree, or what version 2 prints";
        figures.ok_or_else(|| line.damage(TOOL, expected))
    }
}

/// The words of a line.
struct Parts<'a> {
    style: Style,
    operations: &'a str,
    rate: &'a str,
    /// The rate once more, in the other units, from version 3.
    other_rate: Option<&'a str>,
    bytes: &'a str,
    span_ms: &'a str,
}

impl<'a> Parts<'a> {
    /// `IOPS=3110, BW=12.1MiB/s (12.7MB/s)(16.0MiB/1317msec)`, behind it perhaps `; 0 zone resets`.
    fn of_three(text: &'a str) -> Option<Self> {
        let (operations, rest) = text.strip_prefix("IOPS=")?.split_once(", BW=")?;
        let (rate, rest) = rest.split_once(" (")?;
        let (other_rate, rest) = rest.split_once(")(")?;
        let (bytes, rest) = rest.split_once('/')?;
        let (span_ms, rest) = rest.split_once("msec)")?;
        (rest.is_empty() || rest.starts_with(';')).then_some(Self {
            style: Style::Three,
            operations,
            rate,
            other_rate: Some(other_rate),
            bytes,
            span_ms,
        })
    }

    /// `io=16384KB, bw=12440KB/s, iops=3110, runt=  1317msec`.
    fn of_two(text: &'a str) -> Option<Self> {
        let (bytes, rest) = text.strip_prefix("io=")?.split_once(", bw=")?;
        let (rate, rest) = rest.split_once(", iops=")?;
        let (operations, rest) = rest.split_once(", runt=")?;
        Some(Self {
            style: Style::Two,
            operations,
            rate,
            other_rate: None,
            bytes,
            span_ms: rest.strip_suffix("msec")?,
        })
    }

    fn figures(&self) -> Option<Figures> {
        let operations = operations(self.operations, self.style)?;
        let bytes = bytes(self.bytes, self.style)?;
        let rate_of = |text: &str| bytes_of_rate(text, self.style);
        let mut printed = self.rate;
        let mut rate = rate_of(printed)?;
        let span_ms: u64 = self.span_ms.trim().parse().ok()?;
        let span_ns = span_ms.checked_mul(NS_PER_MS).filter(|&ns| ns > 0)?;
        let computed = bytes.per_s(span_ns);
        computed.agrees(rate).then_some(())?;
        if let Some(other_printed) = self.other_rate {
            let other = rate_of(other_printed)?;
            (other.agrees(rate) && computed.agrees(other)).then_some(())?;
            if rate.may_be_low && !other.may_be_low {
                (printed, rate) = (other_printed, other);
            }
        }
        let share = match self.style {
            Style::Two => decimal_share(printed),
            Style::Three => 1.0,
        };
        Some(Figures {
            operations,
            bytes_per_s: rate.value,
            least_bytes_per_s: rate.value * share,
            printed: printed.to_owned(),
            span_ns,
        })
    }
}

/// Ratio of a rate with decimal prefixes to the same with binary ones.
fn decimal_share(rate: &str) -> f64 {
    let power = match rate.find(['K', 'k', 'M', 'G']) {
        None => 0,
        Some(at) if rate[at..].starts_with('M') => 2,
        Some(at) if rate[at..].starts_with('G') => 3,
        Some(_) => 1,
    };
    (1000.0 / 1024.0_f64).powi(power)
}

/// `3110`, `11.5k` or `1245k`.
fn operations(text: &str, style: Style) -> Option<Shown> {
    let (number, unit) = plain_number_and_unit(text)?;
    let unit = match unit {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => return None,
    };
    Some(Shown::new(number, unit, style))
}

fn bytes_of_rate(text: &str, style: Style) -> Option<Shown> {
    bytes(text.strip_suffix("/s")?, style)
}

/// `16384KB` by version 2, `16.0MiB` or `16.8MB` from version 3. The P of version 2 is its T.
fn bytes(text: &str, style: Style) -> Option<Shown> {
    let (number, unit) = plain_number_and_unit(text)?;
    let unit_bytes = match style {
        Style::Two => power(1024.0, &["B", "KB", "MB", "GB"], unit)?,
        Style::Three => unit_bytes(unit)?,
    };
    Some(Shown::new(number, unit_bytes, style))
}
