//! The last line of dd, from coreutils in any language and from busybox.

use cardmark_core::{MIB, SECOND_NS};

use crate::number::{Number, number_and_unit, power};
use crate::reading::{Found, Reading, byte_rate, printed, size};
use crate::text::{Damage, Line};

const TOOL: &str = "dd";
/// Size of the copy that the common script makes: 50k blocks of 8k.
const USUAL_COPY_BYTES: u64 = 400 * MIB;

/// One copy.
pub(crate) struct Copy {
    bytes: u64,
    span_ns: u64,
    /// Bytes over span, which is more precise than the rate that dd rounds to three digits.
    pub(crate) bytes_per_s: f64,
    /// Number and unit as printed.
    pub(crate) printed: String,
}

/// Reads the copies, without the lines of `status=progress`. Next to a table of PiBenchmarks they
/// are part of its report.
pub(crate) fn read(lines: &[Line], is_of_report: bool, found: &mut Found) {
    let mut command = None;
    for (line, result) in copies(lines) {
        match result {
            Ok(Some(copy)) if !is_of_report => found.add(copy.reading(line, command.take())),
            Err(damage) if !is_of_report => {
                command = None;
                found.damaged(damage);
            }
            Ok(Some(_)) => found.understand(line),
            // A command belongs to the first copy below it.
            Ok(None) if line.text.contains("dd ") && line.text.contains("of=") => {
                command = Some(line.text);
                found.understand(line);
            }
            Ok(None) | Err(_) => {}
        }
    }
    for (index, line) in lines.iter().enumerate() {
        let is_progress = || {
            lines
                .get(index + 1)
                .is_some_and(|next| counts_records(next.text))
        };
        if counts_records(line.text) || is_progress() && matches!(copy(*line), Ok(Some(_))) {
            found.understand(*line);
        }
    }
}

/// Parses each line with text.
pub(crate) fn copies<'a>(
    lines: &[Line<'a>],
) -> impl Iterator<Item = (Line<'a>, Result<Option<Copy>, Damage>)> {
    let lines: Vec<Line<'a>> = lines
        .iter()
        .copied()
        .filter(|line| !line.text.trim().is_empty())
        .collect();
    (0..lines.len()).map(move |index| {
        let counts = |at: Option<usize>| {
            let line = at.and_then(|at| lines.get(at));
            line.is_some_and(|line| counts_records(line.text))
        };
        // The last line of a copy stands below the record counts, progress above them, with whole
        // seconds.
        let is_progress = !counts(index.checked_sub(1)) && counts(Some(index + 1));
        let is_last = |copy: &Copy| !is_progress || !copy.span_ns.is_multiple_of(SECOND_NS);
        let line = lines[index];
        (line, copy(line).map(|copy| copy.filter(is_last)))
    })
}

/// Returns whether a line begins like `51200+0 records in`, in any language.
fn counts_records(line: &str) -> bool {
    let word = line.split_whitespace().next().unwrap_or("");
    let is_count = |count: &str| count.parse::<u64>().is_ok();
    word.split_once('+')
        .is_some_and(|(whole, partial)| is_count(whole) && is_count(partial))
}

fn copy(line: Line) -> Result<Option<Copy>, Damage> {
    // Chinese and Japanese have their own comma.
    let text = line.text.replace('，', ", ");
    // Decimal commas have no space behind them.
    let mut parts = text.trim().rsplitn(3, ", ");
    let (Some(rate), Some(span), Some(head)) = (parts.next(), parts.next(), parts.next()) else {
        return Ok(None);
    };
    let head = head.trim_start_matches(['>', '|', ' ', '\t']);
    let digits = head.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || !rate.ends_with("B/s") {
        return Ok(None);
    }
    let bytes = head[..digits].parse();
    let bytes = bytes.map_err(|_| line.damage(TOOL, "a number of bytes"))?;
    let error = || line.damage(TOOL, "a span in seconds above zero, such as `40.4 s`");
    let (seconds, unit) = number_and_unit(span).ok_or_else(error)?;
    let span_ns = seconds.seconds_as_ns();
    let span_ns = span_ns.filter(|_| unit == "s" || unit == "seconds");
    Ok(Some(Copy {
        bytes,
        span_ns: span_ns.ok_or_else(error)?,
        bytes_per_s: bytes_per_s(line, bytes, seconds, rate)?,
        printed: rate.trim().to_owned(),
    }))
}

/// Bytes over span, unless the span is rounded more than the rate; both must agree.
fn bytes_per_s(line: Line, bytes: u64, seconds: Number, rate: &str) -> Result<f64, Damage> {
    let parsed =
        number_and_unit(rate).and_then(|(number, unit)| Some((number, unit_bytes(rate, unit)?)));
    let error = || line.damage(TOOL, "a rate such as `10.4 MB/s` at its end");
    let (printed, unit) = parsed.ok_or_else(error)?;
    let computed = bytes as f64 / seconds.value;
    let computed_half_step = computed * seconds.relative() / unit;
    if !printed.agrees(computed / unit, computed_half_step) {
        return Err(line.damage(TOOL, "bytes, span and rate that agree with each other"));
    }
    if printed.half_step < computed_half_step {
        Ok(printed.value * unit)
    } else {
        Ok(computed)
    }
}

/// Coreutils print `10.4 MB/s` in decimal units, busybox `9.9MB/s` in binary ones.
fn unit_bytes(rate: &str, unit: &str) -> Option<f64> {
    let base = match rate.trim().contains(' ') {
        true => 1000.0,
        false => 1024.0,
    };
    let units = ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"];
    power(base, &units, &unit.replacen('K', "k", 1))
}

impl Copy {
    fn reading(&self, line: Line, command: Option<&str>) -> Reading {
        let is_binary = !self.printed.contains(' ');
        let right = is_binary.then(|| match self.printed.as_str() {
            text if text.contains('G') => "GiB/s",
            text if text.contains('M') => "MiB/s",
            text if text.contains(['k', 'K']) => "KiB/s",
            _ => "B/s",
        });
        let printed = printed(TOOL, &self.printed, right);
        let metric = byte_rate(self.id(command), self.bytes_per_s, printed);
        Reading::new(TOOL, line.number, vec![metric])
    }

    /// dd prints neither direction nor block size; a command line above it does. A copy of the size
    /// that the common script makes is taken for its copy, unless such a line contradicts.
    fn id(&self, command: Option<&str>) -> String {
        let has = |word: &str| command.is_some_and(|line| line.contains(word));
        let is_script = has("if=/dev/zero") && has("bs=8k") && has("conv=fsync");
        let amount = size(self.bytes);
        if has("of=/dev/null") {
            format!("dd_read_{amount}")
        } else if self.bytes == USUAL_COPY_BYTES && (command.is_none() || is_script) {
            "dd_write".to_owned()
        } else if has("if=/dev/zero") || has("random") {
            format!("dd_write_{amount}")
        } else {
            format!("dd_{amount}")
        }
    }
}
