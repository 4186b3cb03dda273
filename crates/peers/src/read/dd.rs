//! The last line of dd, of coreutils in any language, and of busybox.

use cardmark_core::SECOND_NS;

use super::number::{Number, number_and_unit};
use super::{Line, Parts, Rate, ReadError, lines, sift, whole};

const TOOL: &str = "dd";

/// One copy.
#[derive(Clone, Debug, PartialEq)]
pub struct DdReading {
    /// Number of its line, from 1.
    pub line: usize,
    /// Bytes copied.
    pub bytes: u64,
    /// The span, nanoseconds, as good as printed.
    pub span_ns: u64,
    /// The rate: bytes over span, which says more than the rate that dd rounds to three digits.
    pub rate: Rate,
}

/// Reads the copies in a text, in order. The lines that `status=progress` prints on the way are
/// passed over.
///
/// # Errors
/// When there is no copy, or one is not whole.
pub fn read_dd(text: &str) -> Result<Vec<DdReading>, ReadError> {
    let expected = "a line `… bytes … copied, 40.4 s, 10.4 MB/s`";
    whole(dd_parts(text), TOOL, expected)
}

/// The copies that are whole, and those that are not.
pub(crate) fn dd_parts(text: &str) -> Parts<Vec<DdReading>> {
    let lines: Vec<_> = lines(text)
        .filter(|line| !line.text.trim().is_empty())
        .collect();
    sift(lines.iter().enumerate().filter_map(|(index, line)| {
        let counts = |at: Option<usize>| {
            at.and_then(|at| lines.get(at))
                .is_some_and(|line| counts_records(line.text))
        };
        // The last line of a copy stands behind its counts, those on the way before them, with
        // whole seconds.
        let on_the_way = !counts(index.checked_sub(1)) && counts(Some(index + 1));
        let is_last =
            |reading: &DdReading| !on_the_way || !reading.span_ns.is_multiple_of(SECOND_NS);
        let found = copy(*line).map(|reading| reading.filter(is_last));
        found.transpose()
    }))
}

/// Whether a line begins like `51200+0 records in`, in any language.
fn counts_records(line: &str) -> bool {
    let mut counts = line.split_whitespace().next().unwrap_or("").splitn(2, '+');
    let mut is_count = || {
        counts
            .next()
            .is_some_and(|count| count.parse::<u64>().is_ok())
    };
    is_count() && is_count()
}

fn copy(line: Line) -> Result<Option<DdReading>, ReadError> {
    // Chinese and Japanese have their own comma.
    let text = line.text.replace('，', ", ");
    // Decimal commas have no space behind.
    let mut parts = text.trim().rsplitn(3, ", ");
    let (Some(rate), Some(span), Some(head)) = (parts.next(), parts.next(), parts.next()) else {
        return Ok(None);
    };
    let head = head.trim_start_matches(['>', '|', ' ', '\t']);
    let digits = head.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || !rate.ends_with("B/s") {
        return Ok(None);
    }
    let bytes = head[..digits]
        .parse()
        .map_err(|_| line.error(TOOL, "a number of bytes"))?;
    let expected = "a span in seconds above zero, such as `40.4 s`";
    let (seconds, unit) = number_and_unit(span).ok_or_else(|| line.error(TOOL, expected))?;
    let span_ns = seconds
        .seconds_as_ns()
        .filter(|_| unit == "s" || unit == "seconds")
        .ok_or_else(|| line.error(TOOL, expected))?;
    let bytes_per_s = bytes_per_s(line, bytes, seconds, rate)?;
    let printed = rate.trim().to_owned();
    Ok(Some(DdReading {
        line: line.number,
        bytes,
        span_ns,
        rate: Rate {
            bytes_per_s,
            printed,
        },
    }))
}

/// Bytes over span, unless the span is rounded more than the rate; both must agree.
fn bytes_per_s(line: Line, bytes: u64, seconds: Number, rate: &str) -> Result<f64, ReadError> {
    let parsed =
        number_and_unit(rate).and_then(|(number, unit)| Some((number, unit_bytes(rate, unit)?)));
    let (printed, unit) =
        parsed.ok_or_else(|| line.error(TOOL, "a rate such as `10.4 MB/s` at its end"))?;
    let computed = bytes as f64 / seconds.value;
    let computed_half_step = computed * seconds.relative() / unit;
    if !printed.agrees(computed / unit, computed_half_step) {
        return Err(line.error(TOOL, "bytes, span and rate that agree with each other"));
    }
    if printed.half_step < computed_half_step {
        Ok(printed.value * unit)
    } else {
        Ok(computed)
    }
}

/// Coreutils print `10.4 MB/s` in decimal units, busybox `9.9MB/s` in binary ones.
fn unit_bytes(rate: &str, unit: &str) -> Option<f64> {
    let base: f64 = if rate.trim().contains(' ') {
        1000.0
    } else {
        1024.0
    };
    let power = match unit.strip_suffix("B/s")? {
        "" => 0,
        "k" | "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return None,
    };
    Some(base.powi(power))
}
