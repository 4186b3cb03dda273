//! The last line of dd, from coreutils in any language, from busybox, macOS and BSD.

use cardmark_core::{MIB, SECOND_NS};

use crate::number::{Number, digits, number_and_unit, power};
use crate::reading::{Found, Reading, byte_rate, doubtful, printed, size};
use crate::text::{Damage, Line, numbers};

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
    let mut is_cache_dropped = false;
    for (line, result) in copies(lines) {
        is_cache_dropped |= line.text.contains("drop_caches");
        match result {
            Ok(Some(copy)) if !is_of_report => {
                let command = command.take().map(Command::parse);
                found.add_or_damaged(copy.reading(line, command.as_ref(), is_cache_dropped));
            }
            Err(damage) if !is_of_report => {
                command = None;
                found.damaged(damage);
            }
            Ok(Some(copy)) if found.reports_print(&copy.printed) => found.understand(line),
            // A command belongs to the first copy below it.
            Ok(None) if is_command(line.text) => {
                command = Some(line.text);
                found.understand(line);
            }
            Ok(_) | Err(_) => {}
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

/// Returns whether a line is a command, without a result in it.
fn is_command(line: &str) -> bool {
    let has_rate = || numbers(line).iter().any(|number| number.contains("/s"));
    line.contains("dd ") && (line.contains("of=") || line.contains("if=")) && !has_rate()
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
    if let Some(parts) = bsd_parts(line.unquoted()) {
        return of_bsd(line, parts).map(Some);
    }
    // Chinese and Japanese have their own comma and second, Russian its own letter.
    let text = line
        .text
        .replace(['，', '、'], ", ")
        .replace(['秒', 'с'], "s");
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

/// Bytes, seconds and rate of `1073741824 bytes transferred in 1.640524 secs (654511500 bytes/sec)`.
fn bsd_parts(text: &str) -> Option<[&str; 3]> {
    let (bytes, rest) = text.split_once(" bytes transferred in ")?;
    let (seconds, rate) = rest.split_once(" secs (")?;
    Some([bytes, seconds, rate.strip_suffix(" bytes/sec)")?])
}

fn of_bsd(line: Line, parts: [&str; 3]) -> Result<Copy, Damage> {
    let [bytes, seconds, rate] = parts;
    let numbers = || {
        Some((
            digits(bytes)?,
            Number::parse(seconds)?,
            Number::parse(rate)?,
        ))
    };
    let numbers = numbers().and_then(|(bytes, seconds, rate)| {
        let bytes_per_s = bytes as f64 / seconds.value;
        // The rate is cut, and computed from a span that is not rounded.
        let half_step = bytes_per_s * seconds.relative() + 0.5;
        let is_whole = rate.agrees(bytes_per_s, half_step);
        is_whole.then_some((bytes, seconds.seconds_as_ns()?, rate.value))
    });
    let expected = "bytes, seconds and a rate that agree with each other";
    let (bytes, span_ns, bytes_per_s) = numbers.ok_or_else(|| line.damage(TOOL, expected))?;
    Ok(Copy {
        bytes,
        span_ns,
        bytes_per_s,
        printed: format!("{rate} B/s"),
    })
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

/// Source and target of a copy, and whether its time includes the card.
#[derive(Default)]
struct Command<'a> {
    source: Option<&'a str>,
    target: Option<&'a str>,
    /// True for the block size and the sync of the common script.
    is_script: bool,
    is_synced: bool,
    is_read_direct: bool,
}

impl<'a> Command<'a> {
    fn parse(line: &'a str) -> Self {
        let mut command = Self::default();
        let is_end = |c: char| c.is_whitespace() || "\"'`;&|".contains(c);
        let has = |list: &str, wanted: &[&str]| list.split(',').any(|it| wanted.contains(&it));
        let mut is_8k = false;
        for word in line.split(is_end) {
            match word.split_once('=') {
                Some(("if", source)) => command.source = Some(source),
                Some(("of", target)) => command.target = Some(target),
                Some(("bs", size)) => is_8k = size == "8k",
                Some(("conv", list)) => {
                    command.is_script |= has(list, &["fsync"]);
                    command.is_synced |= has(list, &["fsync", "fdatasync"]);
                }
                Some(("oflag", list)) => {
                    command.is_synced |= has(list, &["direct", "sync", "dsync"]);
                }
                Some(("iflag", list)) => command.is_read_direct = has(list, &["direct"]),
                _ if word == "/dev/null" => command.target = Some(word),
                _ => {}
            }
        }
        command.is_script &= is_8k && command.source == Some("/dev/zero");
        command
    }

    /// Returns whether the source is made by the kernel.
    fn is_made(&self) -> bool {
        let made = ["/dev/zero", "/dev/urandom", "/dev/random"];
        self.source.is_some_and(|source| made.contains(&source))
    }

    fn is_dropped(&self) -> bool {
        let nowhere = ["/dev/null", "/dev/zero"];
        self.target.is_some_and(|target| nowhere.contains(&target))
    }

    /// Returns whether a device is copied to a file.
    fn is_saved(&self) -> bool {
        let is_device = |path: &str| path.starts_with("/dev/");
        let is_card = self.source.is_some_and(is_device) && !self.is_made();
        is_card && self.target.is_some_and(|it| !is_device(it))
    }
}

impl Copy {
    fn reading(
        &self,
        line: Line,
        command: Option<&Command>,
        is_cache_dropped: bool,
    ) -> Result<Option<Reading>, Damage> {
        if command.is_some_and(|it| it.is_made() && it.is_dropped()) {
            return Err(line.damage(TOOL, "a file or device in the command above this"));
        }
        let is_binary = !self.printed.contains(' ');
        let right = is_binary.then(|| match self.printed.as_str() {
            text if text.contains('G') => "GiB/s",
            text if text.contains('M') => "MiB/s",
            text if text.contains(['k', 'K']) => "KiB/s",
            _ => "B/s",
        });
        let printed = printed(TOOL, &self.printed, right);
        let metric = byte_rate(self.id(command), self.bytes_per_s, printed);
        let mut reading = Reading::new(TOOL, line.number, vec![metric]);
        if let Some(command) = command {
            let from_cache = command.is_dropped() && !command.is_read_direct && !is_cache_dropped;
            if from_cache {
                reading.note(doubtful(FROM_CACHE));
            } else if command.is_made() && !command.is_synced {
                reading.note(doubtful(TO_CACHE));
            }
        }
        Ok(Some(reading))
    }

    /// dd prints neither direction nor block size; a command line above it does. A copy of the size
    /// that the common script makes is taken for its copy, unless such a line contradicts.
    fn id(&self, command: Option<&Command>) -> String {
        let amount = size(self.bytes);
        let is_script = command.is_none_or(|it| it.is_script);
        let is_dropped = command.is_some_and(Command::is_dropped);
        if !is_dropped && self.bytes == USUAL_COPY_BYTES && is_script {
            "dd_write".to_owned()
        } else if is_dropped || command.is_some_and(Command::is_saved) {
            format!("dd_read_{amount}")
        } else if command.is_some_and(Command::is_made) {
            format!("dd_write_{amount}")
        } else {
            format!("dd_{amount}")
        }
    }
}

/// Findings about copies whose data may have stayed in memory.
const TO_CACHE: &str = "dd did not wait until the data were on the card: its command has neither \
    `conv=fsync`, `conv=fdatasync` nor `oflag=direct`, so that the rate is partly that of the page cache";
const FROM_CACHE: &str = "the data may come from the page cache: the command has no `iflag=direct`, and \
    the text does not drop the cache before it";
