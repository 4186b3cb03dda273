//! The screen of GNU ddrescue, and its log of rates.

use super::number::{self, number_and_unit};
use super::{Line, Parts, Rate, ReadError, lines, whole};

const TOOL: &str = "ddrescue";

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct DdrescueReading {
    /// Number of the line with the rate, from 1.
    pub line: usize,
    /// Bytes rescued, or filled, cut to the unit printed; the log of rates does not tell them.
    pub bytes: Option<u64>,
    /// The average rate. At its end ddrescue 1.27 divides by one second more than `span_ns`.
    pub average_rate: Rate,
    /// The run time, nanoseconds; ddrescue counts whole seconds.
    pub span_ns: u64,
}

/// Reads the runs in a text, in order; of each, what was printed last.
///
/// # Errors
/// When there is none, or one is not whole.
pub fn read_ddrescue(text: &str) -> Result<Vec<DdrescueReading>, ReadError> {
    let expected = "`average rate:` and `run time:`, or a log of rates";
    whole(ddrescue_parts(text), TOOL, expected)
}

/// The runs that are whole, and of each other one its first line that is not.
pub(crate) fn ddrescue_parts(text: &str) -> Parts<Vec<DdrescueReading>> {
    let (mut readings, mut errors) = (Vec::new(), Vec::new());
    let mut run = Ok(Run::default());
    let mut end = |run: Result<Run, ReadError>| match run.and_then(Run::end) {
        Ok(reading) => readings.extend(reading),
        Err(error) => errors.push(error),
    };
    for line in lines(text) {
        if line.text.contains("GNU ddrescue") {
            let is_log = line.text.contains("Rates Logfile");
            let next = Run {
                is_log,
                ..Run::default()
            };
            end(std::mem::replace(&mut run, Ok(next)));
        }
        run = run.and_then(|run| run.read(line));
    }
    end(run);
    (readings, errors)
}

/// What is known of a run so far.
#[derive(Default)]
struct Run<'a> {
    is_log: bool,
    bytes: Option<u64>,
    rate: Option<(Line<'a>, Rate)>,
    span_ns: Option<u64>,
}

impl<'a> Run<'a> {
    fn read(mut self, line: Line<'a>) -> Result<Self, ReadError> {
        if self.is_log {
            self.read_log(line)?;
            return Ok(self);
        }
        if let Some(text) = field(line.text, "average rate:") {
            self.rate = Some((line, rate(line, text)?));
        }
        if let Some(text) = field(line.text, "run time:") {
            let span = span_ns(text);
            self.span_ns =
                Some(span.ok_or_else(|| line.error(TOOL, "a run time such as `1m 5s`"))?);
        }
        // Not `pct rescued:`, which is a share.
        let rescued = field(line.text, "rescued:").filter(|_| !line.text.contains("pct rescued:"));
        if let Some(text) = rescued.or_else(|| field(line.text, "filled size:")) {
            let size = number_and_unit(text)
                .and_then(|(number, unit)| number::whole(number.value * unit_bytes(unit)?));
            self.bytes = Some(size.ok_or_else(|| line.error(TOOL, "a size such as `1073 MB`"))?);
        }
        Ok(self)
    }

    /// A line of the log: time, place, current and average rate, bad areas, bad size.
    fn read_log(&mut self, line: Line<'a>) -> Result<(), ReadError> {
        let text = line.text.trim();
        if text.is_empty() || text.starts_with('#') {
            return Ok(());
        }
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [seconds, _, _, rate, ..] = fields.as_slice() else {
            return Err(line.error(TOOL, "time, position, current rate and average rate"));
        };
        let (Ok(seconds), Ok(bytes_per_s)) = (seconds.parse::<u32>(), rate.parse::<u64>()) else {
            return Err(line.error(TOOL, "a time in whole seconds and whole rates"));
        };
        self.span_ns = Some(u64::from(seconds) * cardmark_core::SECOND_NS);
        let rate = Rate {
            bytes_per_s: bytes_per_s as f64,
            printed: format!("{rate} B/s"),
        };
        self.rate = Some((line, rate));
        Ok(())
    }

    fn end(self) -> Result<Option<DdrescueReading>, ReadError> {
        let Some((line, average_rate)) = self.rate else {
            return Ok(None);
        };
        let span_ns = self
            .span_ns
            .ok_or_else(|| line.error(TOOL, "`run time:` with it"))?;
        Ok(Some(DdrescueReading {
            line: line.number,
            bytes: self.bytes,
            average_rate,
            span_ns,
        }))
    }
}

/// What stands behind a label, up to the next comma and space.
fn field<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(label)?;
    Some(
        rest.split(", ")
            .next()
            .unwrap_or(rest)
            .trim()
            .trim_end_matches(','),
    )
}

fn rate(line: Line, text: &str) -> Result<Rate, ReadError> {
    let bytes_per_s = number_and_unit(text)
        .and_then(|(number, unit)| Some(number.value * unit_bytes(unit.strip_suffix("/s")?)?));
    let bytes_per_s = bytes_per_s.ok_or_else(|| line.error(TOOL, "a rate such as `14221 kB/s`"))?;
    Ok(Rate {
        bytes_per_s,
        printed: text.to_owned(),
    })
}

/// Decimal, or binary with the `i` that `-B` prints.
fn unit_bytes(unit: &str) -> Option<f64> {
    let prefix = unit.strip_suffix('B')?;
    let (base, prefix): (f64, _) = match prefix.strip_suffix('i') {
        Some(prefix) => (1024.0, prefix),
        None => (1000.0, prefix),
    };
    let power = match prefix {
        "" if base < 1024.0 => 0,
        "k" if base < 1024.0 => 1,
        "K" if base > 1000.0 => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return None,
    };
    Some(base.powi(power))
}

/// `3s`, `1m  5s`, `2h 10m`, and `2 s` or `1.53 h` of old versions.
fn span_ns(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let (number, unit) = number_and_unit(rest)?;
        let mut letters = unit.chars();
        let unit_seconds = match letters.next()? {
            's' => 1.0,
            'm' => 60.0,
            'h' => 3600.0,
            'd' => 86_400.0,
            _ => return None,
        };
        seconds += number.value * unit_seconds;
        rest = letters.as_str().trim_start();
    }
    (!text.trim().is_empty()).then(|| number::whole(seconds * cardmark_core::SECOND_NS as f64))?
}
