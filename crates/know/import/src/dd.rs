//! The last line of dd, from coreutils in any language, from busybox, macOS and BSD.

mod command;

use cardmark_core::{Finding, FindingKind, MIB, SECOND_NS, Severity};

use crate::form::{self, Role, Span};
use crate::number::{Number, digits, number_and_unit, power};
use crate::reading::{Found, Reading, byte_rate, doubtful, number_bits, printed, size};
use crate::text::{Damage, Line, numbers};
use command::{Command, Commands, Context, Direction, Event};
pub(crate) use command::{begins, without_prompt};

const TOOL: &str = "dd";
/// Size of the copy that the common script makes: 50k blocks of 8k.
const USUAL_COPY_BYTES: u64 = 400 * MIB;

/// Form of the last line of BSD.
const BSD: [&str; 1] = ["{-}{n} bytes transferred in {n} sec{-} ({} bytes/sec)"];
/// Forms of record counts and of commands.
const COUNTS: [&str; 1] = ["{n}+{n} "];
const COMMAND: [&str; 1] = ["{*}"];

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
    let printed = found.report_numbers();
    let mut commands = Commands::default();
    let mut events: Vec<(Event, bool)> = Vec::new();
    let mut results = Vec::new();
    // Lines with text directly above the copies, without record counts.
    let mut above = "";
    for (line, result) in copies(lines) {
        match result {
            Ok(Some(copy)) if !is_of_report => {
                events.push((Event::Copy(Some(copy.bytes)), false));
                results.push((line, above, Ok(copy)));
            }
            Err(damage) if !is_of_report => {
                events.push((Event::Copy(None), false));
                results.push((line, above, Err(damage)));
            }
            Ok(Some(copy)) if printed.contains(&number_bits(&copy.printed)) => {
                found.take(line, copy_spans(line.text, Role::Figure));
            }
            Ok(None) if !counts_records(line.text) => {
                above = line.text;
                let of_line = commands.read(line.text);
                if of_line.goes_on {
                    events.pop();
                }
                if of_line.is_command {
                    found.understand(line, &COMMAND);
                }
                let is_loop = of_line.is_loop;
                events.extend(of_line.events.into_iter().map(|event| (event, is_loop)));
            }
            Ok(_) | Err(_) => {}
        }
    }
    for (context, (line, above, result)) in command::contexts(events).iter().zip(results) {
        match result {
            Ok(copy) => {
                found.take(line, copy_spans(line.text, Role::Figure));
                found.add_or_damaged(copy.reading(line, context, above));
            }
            Err(damage) => found.damaged(damage),
        }
    }
    understand_counts(lines, found);
}

/// Bytes, span and rate of the last line of a copy, whose separators differ by language.
fn copy_spans(line: &str, role: Role) -> Vec<Span> {
    let of_bsd = form::spans(line, &BSD);
    if !of_bsd.is_empty() {
        return of_bsd;
    }
    let last = |text: &'_ str| {
        let ends = [", ", "，", "、"].into_iter();
        let ends = ends.filter_map(|end| text.rfind(end).map(|at| (at, at + end.len())));
        ends.max()
    };
    let number = |start: usize, role: Role| {
        let start = line.len() - line[start..].trim_start().len();
        Span::new(start..start + form::number_length(&line[start..]), role)
    };
    let rate = last(line);
    let span = rate.and_then(|(end, _)| last(&line[..end]));
    let (Some((_, rate)), Some((head, span))) = (rate, span) else {
        return Vec::new();
    };
    let bytes = line.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let bytes = number(bytes, Role::Known);
    let sizes = Span::new(bytes.range.end..head.max(bytes.range.end), Role::Text);
    vec![bytes, sizes, number(span, Role::Known), number(rate, role)]
}

/// Marks the record counts, and progress above them.
fn understand_counts(lines: &[Line], found: &mut Found) {
    for (index, line) in lines.iter().enumerate() {
        let is_progress = || {
            lines
                .get(index + 1)
                .is_some_and(|next| counts_records(next.text))
        };
        if counts_records(line.text) {
            found.understand(*line, &COUNTS);
        } else if is_progress() && matches!(copy(*line), Ok(Some(_))) && !found.is_understood(*line)
        {
            found.take(*line, copy_spans(line.text, Role::Known));
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
    // Each form has a rate, and bytes and span before it.
    let is_end = |byte: &u8| matches!(byte, b',' | b'(') || !byte.is_ascii();
    if !line.text.contains('/') || !line.text.bytes().any(|byte| is_end(&byte)) {
        return Ok(None);
    }
    if let Some(parts) = bsd_parts(line.unquoted()) {
        return of_bsd(line, parts).map(Some);
    }
    // Chinese and Japanese have their own comma and second, Russian its own letter.
    let text = line
        .text
        .replace(['，', '、'], ", ")
        .replace(['秒', 'с'], "s")
        // Old Russian catalogues have a Latin letter.
        .replace(" c,", " s,");
    let text = match text.trim_end().strip_suffix("B/c") {
        Some(rest) => format!("{rest}B/s"),
        None => text,
    };
    // Decimal commas have no space behind them.
    let mut parts = text.trim().rsplitn(3, ", ");
    let (Some(rate), Some(span), Some(head)) = (parts.next(), parts.next(), parts.next()) else {
        return Ok(None);
    };
    let head = from_bytes(head.trim_start_matches(['>', '|', ' ', '\t']));
    let digits = head.bytes().take_while(u8::is_ascii_digit).count();
    let units = ["B/s", "K/s", "k/s", "M/s", "G/s"];
    if digits == 0 || !units.iter().any(|unit| rate.ends_with(unit)) {
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

/// The text from the number of bytes on: some languages have the verb before it.
fn from_bytes(head: &str) -> &str {
    const MOST_WORDS: usize = 3;
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let mut rest = head;
    for _ in 0..=MOST_WORDS {
        let (word, behind) = rest.split_once(' ').unwrap_or((rest, ""));
        if is_number(word) && (rest.len() == head.len() || behind.contains('(')) {
            return rest;
        }
        if word.is_empty() || !word.chars().all(char::is_alphabetic) {
            break;
        }
        rest = behind;
    }
    head
}

/// Bytes, seconds and rate of `1073741824 bytes transferred in 1.640524 secs (654511500 bytes/sec)`.
fn bsd_parts(text: &str) -> Option<[&str; 3]> {
    let (bytes, rest) = text.split_once(" bytes transferred in ")?;
    // coreutils up to 5 print `seconds`.
    let split = rest.split_once(" secs (");
    let (seconds, rate) = split.or_else(|| rest.split_once(" seconds ("))?;
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

/// Coreutils print `10.4 MB/s` in decimal units, busybox `9.9MB/s` and toybox `24 M/s` in binary ones.
fn unit_bytes(rate: &str, unit: &str) -> Option<f64> {
    let base = if is_binary(rate) { 1024.0 } else { 1000.0 };
    let units = ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"];
    let unit = unit.replacen('K', "k", 1);
    let unit = match unit.strip_suffix("/s").filter(|unit| !unit.ends_with('B')) {
        Some(letter) => format!("{letter}B/s"),
        None => unit,
    };
    power(base, &units, &unit)
}

fn is_binary(rate: &str) -> bool {
    let rate = rate.trim();
    !rate.contains(' ') || !rate.ends_with("B/s")
}

impl Copy {
    fn reading(
        &self,
        line: Line,
        context: &Context,
        above: &str,
    ) -> Result<Option<Reading>, Damage> {
        let command = match context {
            Context::Of(command) => Some(command),
            Context::Open { .. } | Context::Absent => None,
        };
        if command.is_some_and(Command::is_without_card) {
            return Err(line.damage(TOOL, "a file or device in the command above this"));
        }
        let right = is_binary(&self.printed).then(|| match self.printed.as_str() {
            text if text.contains('G') => "GiB/s",
            text if text.contains('M') => "MiB/s",
            text if text.contains(['k', 'K']) => "KiB/s",
            _ => "B/s",
        });
        let printed = printed(TOOL, &self.printed, right);
        let is_usual = self.bytes == USUAL_COPY_BYTES;
        let is_guess = is_usual && matches!(context, Context::Absent) && !names_reading(above);
        let is_script = is_usual && command.is_some_and(|it| it.is_script && !it.is_dropped());
        let amount = size(self.bytes);
        let id = match command.and_then(Command::direction) {
            _ if is_guess || is_script => "dd_write".to_owned(),
            Some(Direction::Read) => format!("dd_read_{amount}"),
            Some(Direction::Write) => format!("dd_write_{amount}"),
            None => format!("dd_{amount}"),
        };
        let metric = byte_rate(id, self.bytes_per_s, printed);
        let mut reading = Reading::new(TOOL, line.number, vec![metric]);
        reading.is_guess = is_guess;
        let (is_from_cache, is_to_cache) = match context {
            Context::Of(command) => (command.is_from_cache(), command.is_to_cache()),
            Context::Open {
                is_from_cache,
                is_to_cache,
            } => {
                reading.note(open_direction(SEVERAL));
                (*is_from_cache, *is_to_cache)
            }
            Context::Absent => {
                if is_usual && !is_guess {
                    reading.note(open_direction(NONE));
                }
                (false, false)
            }
        };
        if is_from_cache {
            reading.note(doubtful(FROM_CACHE));
        } else if is_to_cache {
            reading.note(doubtful(TO_CACHE));
        }
        Ok(Some(reading))
    }
}

/// Returns whether a line above a copy is about reading and not about writing.
fn names_reading(line: &str) -> bool {
    if line.contains("Timing ") || numbers(line).iter().any(|number| number.contains("/s")) {
        return false;
    }
    let line = line.to_lowercase();
    let has = |words: &[&str]| {
        let mut of_line = line.split(|c: char| !c.is_alphabetic());
        of_line.any(|word| words.contains(&word))
    };
    has(&[
        "read",
        "reads",
        "reading",
        "lesen",
        "lecture",
        "lectura",
        "чтение",
    ]) && !has(&["write", "writes", "writing"])
}

/// A finding about a copy whose direction the text does not show. Its rate is not in doubt.
fn open_direction(detail: &str) -> Finding {
    Finding::new(FindingKind::DoubtfulFigure, Severity::Note, detail)
}

/// Drops the direction that was guessed from the size of a copy.
pub(crate) fn forget_guess(reading: &mut Reading) {
    for metric in &mut reading.metrics {
        metric.id = format!("dd_{}", size(USUAL_COPY_BYTES));
    }
    reading.note(open_direction(NONE));
}

const SEVERAL: &str = "the text does not show whether dd read or wrote: its commands are not as many as its \
    copies, or stand in prose";
const NONE: &str =
    "the text does not show whether dd read or wrote: it has no command of this copy";
/// Findings about copies whose data may have stayed in memory.
const TO_CACHE: &str = "dd did not wait until the data were on the card: its command has neither \
    `conv=fsync`, `conv=fdatasync` nor `oflag=direct`, so that the rate is partly that of the page cache";
const FROM_CACHE: &str = "the data may come from the page cache: the command has no `iflag=direct`, and \
    the text does not drop the cache directly before it";
