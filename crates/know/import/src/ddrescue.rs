//! The screen of GNU ddrescue, and its log of rates.

use crate::form::{self, Role, Span};
use crate::number::{self, number_and_unit, unit_bytes};
use crate::reading::{Found, Reading, byte_rate, printed};
use crate::text::{Damage, Line, Words};

const TOOL: &str = "ddrescue";
/// Words of the lines of its screen.
static SCREEN: Words = Words::new(&[
    "GNU ddrescue",
    "ipos:",
    "opos:",
    "non-tried:",
    "rescued:",
    "filled size:",
    "remain size:",
    "remaining size:",
    "current pos:",
    "time since last",
    "Copying non-tried",
]);
/// Beginnings of other lines between two states of a run. In brackets stand messages of the kernel.
const BETWEEN: [&str; 9] = [
    "Copying ",
    "Trimming ",
    "Scraping ",
    "Retrying ",
    "Filling ",
    "Press Ctrl-C",
    "Initial status",
    "Current status",
    "[",
];
/// Words of the lines that are read.
static READ: Words = Words::new(&["average rate:", "run time:", "rescued:", "filled size:"]);

/// Reads the runs; of each, what was printed last. Without its first line, a run begins with a state below other text, or
/// if time or size go back.
pub(crate) fn read(lines: &[Line], found: &mut Found) {
    let mut run = Ok(Run::default());
    let mut screen = Vec::new();
    for line in lines {
        let text = line.text;
        if text.contains("GNU ddrescue") {
            let next = Run {
                is_log: text.contains("Rates Logfile"),
                ..Run::default()
            };
            end(std::mem::replace(&mut run, Ok(next)), &mut screen, found);
        }
        let is_of_run =
            run.as_ref().is_ok_and(|run| run.is_log) && is_log_line(text) || SCREEN.any(text);
        run = run.and_then(|run| run.read(*line));
        if is_of_run && run.is_ok() {
            screen.push(*line);
        }
        let is_log_over = text.starts_with("# End time") && run.as_ref().is_ok_and(|it| it.is_log);
        let next = match &mut run {
            Ok(run) if is_log_over => Some(std::mem::take(run)),
            Ok(run) => run.before.take().map(|before| *before),
            Err(_) => None,
        };
        if let Some(before) = next {
            let rate_line = run.as_ref().ok().and_then(Run::rate_line);
            let of_next = screen
                .iter()
                .position(|line| rate_line.is_some_and(|rate| line.number >= rate));
            let of_next = screen.split_off(of_next.unwrap_or(screen.len()));
            end(Ok(before), &mut screen, found);
            screen = of_next;
        }
    }
    end(run, &mut screen, found);
}

/// Adds the run. Without a result, the lines of its screen are listed.
fn end(run: Result<Run, Damage>, screen: &mut Vec<Line>, found: &mut Found) {
    let result = run.and_then(Run::end);
    if let Ok(Some(reading)) = &result {
        for line in screen.drain(..) {
            found.take(line, spans(line.text, line.number == reading.line));
        }
    }
    screen.clear();
    found.add_or_damaged(result);
}

/// Forms of the lines of a log: seconds, position, both rates, and bad areas and their size.
const LOG: [&str; 3] = ["#{*}", "{i} {t} {i} {} {i} {i}", "{i} {t} {i} {}"];
/// Labels of rates on the screen.
const RATES: [&str; 3] = ["current rate", "average rate", "error rate"];

/// The parts of a line. Only the last average rate is a figure, the others are progress.
fn spans(line: &str, is_last: bool) -> Vec<Span> {
    let role = if is_last { Role::Figure } else { Role::Known };
    if is_log_line(line) {
        let mut spans = form::spans(line, &LOG);
        spans
            .iter_mut()
            .filter(|it| it.role == Role::Figure)
            .for_each(|it| it.role = role);
        return spans;
    }
    let fields = line.split(", ").map(|field| {
        let label = field.split(':').next().unwrap_or("").trim();
        if !RATES.contains(&label) {
            return Span::of(line, field, Role::Text);
        }
        let number = field.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
        let end = field[number..]
            .find(' ')
            .map_or(field.len(), |end| number + end);
        let role = if label == "average rate" {
            role
        } else {
            Role::Known
        };
        Span::of(line, &field[number..end], role)
    });
    fields.collect()
}

fn is_log_line(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('#') || text.starts_with(|c: char| c.is_ascii_digit())
}

/// A rate in bytes per second, and how it was printed.
#[derive(Clone)]
struct Rate {
    bytes_per_s: f64,
    printed: String,
}

/// Known parts of a run.
#[derive(Default)]
struct Run<'a> {
    is_log: bool,
    rate: Option<(Line<'a>, Rate)>,
    has_span: bool,
    size_bytes: u64,
    /// What the screen showed last.
    last: Option<State<'a>>,
    /// True if other text follows it.
    is_over: bool,
    /// The run above this one, which no line separates from it.
    before: Option<Box<Run<'a>>>,
}

/// A whole state of the screen.
#[derive(Clone)]
struct State<'a> {
    /// Time in nanoseconds and size in bytes, which grow during a run.
    progress: (u64, u64),
    rate: (Line<'a>, Rate),
}

impl<'a> Run<'a> {
    fn read(mut self, line: Line<'a>) -> Result<Self, Damage> {
        if self.is_log {
            self.read_log(line)?;
            return Ok(self);
        }
        if !READ.any(line.text) {
            let text = line.unquoted();
            let is_of_run = SCREEN.any(text) || BETWEEN.iter().any(|it| text.starts_with(it));
            self.is_over |= self.last.is_some() && !text.is_empty() && !is_of_run;
            return Ok(self);
        }
        let mut span = None;
        if let Some(text) = field(line.text, "average rate:") {
            self.rate = Some((line, rate(line, text)?));
        }
        if let Some(text) = field(line.text, "run time:") {
            let error = || line.damage(TOOL, "a run time such as `1m 5s`");
            span = Some(span_ns(text).ok_or_else(error)?);
            self.has_span = true;
        }
        // Not `pct rescued:`, which is a share.
        let rescued = field(line.text, "rescued:").filter(|_| !line.text.contains("pct rescued:"));
        if let Some(text) = rescued.or_else(|| field(line.text, "filled size:")) {
            let size = number_and_unit(text)
                .and_then(|(number, unit)| number::whole(number.value * unit_bytes(unit)?));
            let expected = "a size such as `1073 MB`";
            self.size_bytes = size.ok_or_else(|| line.damage(TOOL, expected))?;
        }
        Ok(match span {
            Some(span_ns) => self.state(span_ns),
            None => self,
        })
    }

    /// Takes a whole state of the screen, which the run time completes.
    fn state(mut self, span_ns: u64) -> Self {
        let Some(rate) = self.rate.clone() else {
            return self;
        };
        let progress = (span_ns, self.size_bytes);
        let is_back = |last: &State| progress < last.progress;
        let is_next = self.is_over || self.last.as_ref().is_some_and(is_back);
        let state = State { progress, rate };
        if !is_next {
            self.last = Some(state);
            return self;
        }
        let next = Self {
            rate: Some(state.rate.clone()),
            has_span: true,
            size_bytes: self.size_bytes,
            last: Some(state),
            ..Self::default()
        };
        self.rate = self.last.take().map(|last| last.rate);
        Self {
            before: Some(Box::new(self)),
            ..next
        }
    }

    fn rate_line(&self) -> Option<usize> {
        self.rate.as_ref().map(|(line, _)| line.number)
    }

    /// A line of the log: time, place, current and average rate, bad areas, bad size.
    fn read_log(&mut self, line: Line<'a>) -> Result<(), Damage> {
        let text = line.text.trim();
        if text.is_empty() || text.starts_with('#') {
            return Ok(());
        }
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [seconds, _, _, rate, ..] = fields.as_slice() else {
            return Err(line.damage(TOOL, "time, position, current rate and average rate"));
        };
        let (Ok(_), Ok(bytes_per_s)) = (seconds.parse::<u32>(), rate.parse::<u64>()) else {
            return Err(line.damage(TOOL, "a time in whole seconds and whole rates"));
        };
        self.has_span = true;
        let rate = Rate {
            bytes_per_s: bytes_per_s as f64,
            printed: format!("{rate} B/s"),
        };
        self.rate = Some((line, rate));
        Ok(())
    }

    fn end(self) -> Result<Option<Reading>, Damage> {
        let Some((line, rate)) = self.rate else {
            return Ok(None);
        };
        if !self.has_span {
            return Err(line.damage(TOOL, "`run time:` with it"));
        }
        let printed = printed(TOOL, &rate.printed, None);
        let metric = byte_rate("ddrescue", rate.bytes_per_s, printed);
        Ok(Some(Reading::new(TOOL, line.number, vec![metric])))
    }
}

/// The text behind a label, up to the next comma and space.
fn field<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(label)?;
    let field = rest.split(", ").next().unwrap_or(rest);
    Some(field.trim().trim_end_matches(','))
}

fn rate(line: Line, text: &str) -> Result<Rate, Damage> {
    let bytes_per_s = number_and_unit(text)
        .and_then(|(number, unit)| Some(number.value * unit_bytes(unit.strip_suffix("/s")?)?));
    let error = || line.damage(TOOL, "a rate such as `14221 kB/s`");
    Ok(Rate {
        bytes_per_s: bytes_per_s.ok_or_else(error)?,
        printed: text.to_owned(),
    })
}

/// Parses `3s`, `1m  5s`, `2h 10m`, and `2 s` or `1.53 h` of old versions.
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
