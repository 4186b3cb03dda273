//! The log of acknowledged writes: lines of text, each with a checksum.
//!
//! It may be on a computer that lost power, too, or come through a connection that broke: a line that is not whole is
//! counted and skipped. A missing line only makes the check milder, because it acknowledges nothing.

use std::collections::VecDeque;
use std::str::SplitAsciiWhitespace;

use cardmark_core::mix;

use super::{CutPlan, MOST_WRITES};

/// Version of the lines.
const VERSION: u32 = 1;
/// Number of times of acknowledgements that are kept: those of the last write to each place.
const MOST_TIMES: usize = 1 << 16;

/// Beginning of a cycle of writes before a cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutBegin {
    /// Places and content.
    pub plan: CutPlan,
    /// Id of the start of the operating system, if it is known.
    pub boot: Option<String>,
    /// Numbers that the kernel gave to the devices below the target when they appeared.
    pub disk: Option<String>,
    /// Time of day, in RFC 3339.
    pub at: Option<String>,
}

/// Reason why the writes ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutEnd {
    /// The device disappeared.
    Gone,
    /// The device returned errors.
    Errors,
    /// The device did not answer.
    NoAnswer,
    /// The user ended the test.
    Stopped,
    /// The time was over.
    Done,
}

/// Ends and their words in the log.
const ENDS: [(CutEnd, &str); 5] = [
    (CutEnd::Gone, "gone"),
    (CutEnd::Errors, "errors"),
    (CutEnd::NoAnswer, "no_answer"),
    (CutEnd::Stopped, "stopped"),
    (CutEnd::Done, "done"),
];

/// Result of a check, as later cycles need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutChecked {
    /// Seed of the cycle.
    pub seed: u64,
    /// True if there was a power cut.
    pub is_cut: bool,
    /// Number of acknowledged writes.
    pub acknowledged: u32,
    /// Number of acknowledged writes that were lost.
    pub lost: u32,
    /// Number of other places that changed.
    pub collateral: u32,
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogLine {
    /// A cycle begins.
    Begin(CutBegin),
    /// The area is filled.
    Ready {
        /// Time since the beginning, milliseconds.
        at_ms: u64,
    },
    /// All writes up to this number are acknowledged.
    Acknowledged {
        /// The number.
        number: u32,
        /// Time since the beginning, milliseconds.
        at_ms: u64,
    },
    /// The writes ended.
    End {
        /// The reason.
        end: CutEnd,
        /// Time since the beginning, milliseconds.
        at_ms: u64,
    },
    /// The last cycle was checked.
    Checked(CutChecked),
}

impl LogLine {
    /// Returns the line with its line feed.
    pub fn text(&self) -> String {
        let body = self.body();
        format!("{body} *{:08x}\n", checksum(&body))
    }

    fn body(&self) -> String {
        match self {
            Self::Begin(begin) => {
                let plan = begin.plan;
                let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
                format!(
                    "cardmark-power-cut {VERSION} seed {:016x} places {} batch {} boot {} disk {} at {}",
                    plan.seed(),
                    plan.places_count(),
                    plan.batch(),
                    known(&begin.boot),
                    known(&begin.disk),
                    known(&begin.at)
                )
            }
            Self::Ready { at_ms } => format!("ready {at_ms}"),
            Self::Acknowledged { number, at_ms } => format!("ack {number} {at_ms}"),
            Self::End { end, at_ms } => {
                let word = ENDS.iter().find(|(known, _)| known == end);
                format!("end {} {at_ms}", word.map_or("", |(_, word)| word))
            }
            Self::Checked(checked) => format!(
                "checked {:016x} cut {} acknowledged {} lost {} collateral {}",
                checked.seed,
                u8::from(checked.is_cut),
                checked.acknowledged,
                checked.lost,
                checked.collateral
            ),
        }
    }

    /// Parses a line without its line feed; `None` if it is not whole.
    pub fn parse(line: &str) -> Option<Self> {
        let (body, sum) = line.rsplit_once(" *")?;
        let is_whole = sum.len() == 8 && u32::from_str_radix(sum, 16) == Ok(checksum(body));
        if !is_whole {
            return None;
        }
        let mut words = body.split_ascii_whitespace();
        let parsed = match words.next()? {
            "cardmark-power-cut" => Self::Begin(begin(&mut words)?),
            "ready" => Self::Ready {
                at_ms: number(&mut words)?,
            },
            "ack" => Self::Acknowledged {
                number: number(&mut words).filter(|number| *number <= MOST_WRITES)?,
                at_ms: number(&mut words)?,
            },
            "end" => {
                let word = words.next()?;
                let (end, _) = ENDS.into_iter().find(|(_, known)| *known == word)?;
                let at_ms = number(&mut words)?;
                Self::End { end, at_ms }
            }
            "checked" => Self::Checked(CutChecked {
                seed: u64::from_str_radix(words.next()?, 16).ok()?,
                is_cut: named::<u8>(&mut words, "cut")? == 1,
                acknowledged: named(&mut words, "acknowledged")?,
                lost: named(&mut words, "lost")?,
                collateral: named(&mut words, "collateral")?,
            }),
            _ => return None,
        };
        words.next().is_none().then_some(parsed)
    }
}

fn begin(words: &mut SplitAsciiWhitespace<'_>) -> Option<CutBegin> {
    let version: u32 = number(words)?;
    if version != VERSION {
        return None;
    }
    let seed = u64::from_str_radix(after(words, "seed")?, 16).ok()?;
    let places_count = named(words, "places")?;
    let batch = named(words, "batch")?;
    let is_possible = (1..=MOST_TIMES).contains(&usize::try_from(places_count).ok()?)
        && (1..=MOST_WRITES).contains(&batch);
    let mut known = |name| {
        let word = after(words, name)?;
        Some((word != "-").then(|| word.to_owned()))
    };
    let begin = CutBegin {
        plan: CutPlan::new(seed, places_count, batch),
        boot: known("boot")?,
        disk: known("disk")?,
        at: known("at")?,
    };
    is_possible.then_some(begin)
}

fn after<'a>(words: &mut SplitAsciiWhitespace<'a>, name: &str) -> Option<&'a str> {
    (words.next()? == name).then(|| words.next())?
}

fn named<T: std::str::FromStr>(words: &mut SplitAsciiWhitespace<'_>, name: &str) -> Option<T> {
    after(words, name)?.parse().ok()
}

fn number<T: std::str::FromStr>(words: &mut SplitAsciiWhitespace<'_>) -> Option<T> {
    words.next()?.parse().ok()
}

fn checksum(text: &str) -> u32 {
    let sum = text.bytes().fold(1, |sum, byte| mix(sum ^ u64::from(byte)));
    u32::try_from(sum >> 32).unwrap_or(0)
}

/// A cycle as the log shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutCycle {
    /// Its beginning.
    pub begin: CutBegin,
    /// Number of acknowledged writes.
    pub acknowledged: u32,
    /// Time of the last line, milliseconds since the beginning.
    pub last_ms: u64,
    /// Reason of the end, if it is noted.
    pub end: Option<CutEnd>,
    /// Result of the last check.
    pub checked: Option<CutChecked>,
    /// Number and time of the last acknowledgements, by rising number.
    times: VecDeque<(u32, u64)>,
}

impl CutCycle {
    /// Returns the time between the acknowledgement of a write and the last one, milliseconds; `None` if the log does
    /// not show it.
    pub fn before_last_ms(&self, number: u32) -> Option<u64> {
        let index = self.times.partition_point(|(known, _)| *known < number);
        let (_, at_ms) = self.times.get(index)?;
        let (_, last_ms) = self.times.back()?;
        Some(last_ms.saturating_sub(*at_ms))
    }

    fn add(&mut self, line: &LogLine) {
        match *line {
            LogLine::Begin(_) => {}
            LogLine::Ready { at_ms } => self.last_ms = at_ms,
            LogLine::Acknowledged { number, at_ms } => {
                self.last_ms = at_ms;
                if number <= self.acknowledged {
                    return;
                }
                self.acknowledged = number;
                self.times.push_back((number, at_ms));
                if self.times.len() > MOST_TIMES {
                    self.times.pop_front();
                }
            }
            LogLine::End { end, at_ms } => {
                self.last_ms = at_ms;
                self.end = Some(end);
            }
            LogLine::Checked(checked) => {
                if checked.seed == self.begin.plan.seed() {
                    self.checked = Some(checked);
                }
            }
        }
    }
}

/// Sums over the cycles of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutTotals {
    /// Number of power cuts that were checked.
    pub cuts: u32,
    /// Number of cuts at which an acknowledged write was lost.
    pub losing_cuts: u32,
    /// Number of acknowledged writes before these cuts.
    pub acknowledged: u64,
    /// Number of those that were lost.
    pub lost: u64,
    /// Number of other places that changed.
    pub collateral: u64,
}

impl CutTotals {
    /// Adds a checked cycle. Without a cut it counts only if something was lost.
    pub fn add(&mut self, checked: &CutChecked) {
        let has_lost = checked.lost > 0 || checked.collateral > 0;
        if checked.is_cut || has_lost {
            self.cuts += u32::from(checked.is_cut);
            self.losing_cuts += u32::from(checked.is_cut && has_lost);
            self.acknowledged += u64::from(checked.acknowledged);
            self.lost += u64::from(checked.lost);
            self.collateral += u64::from(checked.collateral);
        }
    }
}

/// A whole log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CutLog {
    /// Cycles, the oldest first.
    pub cycles: Vec<CutCycle>,
    /// Number of lines that are not whole.
    pub broken_lines: usize,
}

impl CutLog {
    /// Reads a log.
    pub fn read(text: &str) -> Self {
        let mut log = Self::default();
        for line in text.lines().filter(|line| !line.is_empty()) {
            match LogLine::parse(line) {
                Some(LogLine::Begin(begin)) => log.cycles.push(CutCycle {
                    begin,
                    acknowledged: 0,
                    last_ms: 0,
                    end: None,
                    checked: None,
                    times: VecDeque::new(),
                }),
                Some(line) => {
                    if let Some(cycle) = log.cycles.last_mut() {
                        cycle.add(&line);
                    }
                }
                None => log.broken_lines += 1,
            }
        }
        log
    }

    /// Returns the sums over all cycles but the last.
    pub fn earlier(&self) -> CutTotals {
        let mut totals = CutTotals::default();
        let earlier = self.cycles.len().saturating_sub(1);
        let cycles = self.cycles[..earlier].iter();
        cycles
            .filter_map(|cycle| cycle.checked.as_ref())
            .for_each(|checked| totals.add(checked));
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(seed: u64) -> LogLine {
        LogLine::Begin(CutBegin {
            plan: CutPlan::new(seed, 4096, 3),
            boot: Some("6a0e".to_owned()),
            disk: None,
            at: Some("2026-11-25T02:30:00Z".to_owned()),
        })
    }

    fn acknowledged(number: u32, at_ms: u64) -> LogLine {
        LogLine::Acknowledged { number, at_ms }
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let checked = CutChecked {
            seed: 7,
            is_cut: true,
            acknowledged: 900,
            lost: 3,
            collateral: 1,
        };
        let mut lines = vec![
            begin(7),
            LogLine::Ready { at_ms: 5 },
            acknowledged(3, 9),
            LogLine::Checked(checked),
        ];
        lines.extend(ENDS.map(|(end, _)| LogLine::End { end, at_ms: 77 }));
        for line in lines {
            let text = line.text();
            assert_eq!(LogLine::parse(text.trim_end()), Some(line));
        }
    }

    #[test]
    fn a_line_that_is_cut_or_changed_is_no_line() {
        let text = acknowledged(1234, 56_789).text();
        let whole = text.trim_end();
        for length in 0..whole.len() {
            assert_eq!(LogLine::parse(&whole[..length]), None, "{length}");
        }
        for index in 0..whole.len() {
            let mut bytes = whole.as_bytes().to_vec();
            bytes[index] ^= 1;
            let changed = String::from_utf8(bytes).unwrap();
            assert_eq!(LogLine::parse(&changed), None, "{changed}");
        }
    }

    #[test]
    fn what_follows_a_broken_line_still_counts() {
        let first = [begin(1), acknowledged(1, 10), acknowledged(2, 20)];
        let second = [begin(2), acknowledged(3, 7), acknowledged(6, 19)];
        let mut text: String = first.iter().map(LogLine::text).collect();
        text.truncate(text.len() - 5);
        text.push('\n');
        text.extend(second.iter().map(LogLine::text));
        let log = CutLog::read(&text);
        assert_eq!(log.broken_lines, 1);
        let acknowledged: Vec<u32> = log.cycles.iter().map(|cycle| cycle.acknowledged).collect();
        assert_eq!(acknowledged, [1, 6]);
        let last = &log.cycles[1];
        assert_eq!(last.before_last_ms(2), Some(12));
        assert_eq!(last.before_last_ms(6), Some(0));
        assert_eq!(last.before_last_ms(7), None);
    }

    #[test]
    fn only_the_last_check_of_each_cycle_counts() {
        let checked = |seed, lost| {
            LogLine::Checked(CutChecked {
                seed,
                is_cut: true,
                acknowledged: 100,
                lost,
                collateral: 0,
            })
        };
        let lines = [
            begin(1),
            checked(1, 9),
            checked(1, 0),
            checked(5, 50),
            begin(2),
            checked(2, 4),
            begin(3),
        ];
        let text: String = lines.iter().map(LogLine::text).collect();
        let expected = CutTotals {
            cuts: 2,
            losing_cuts: 1,
            acknowledged: 200,
            lost: 4,
            collateral: 0,
        };
        assert_eq!(CutLog::read(&text).earlier(), expected);
    }
}
