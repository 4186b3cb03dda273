//! The verdict of f3probe and what it measured.

use super::span::{Span, span};
use super::{Printed, TOOL, after_label, count};
use crate::read::{Line, ReadError};

/// What f3probe takes a device for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum F3Verdict {
    /// The real thing: all that is announced is usable.
    Real,
    /// Damaged: nothing is usable.
    Damaged,
    /// Counterfeit: what is written beyond the usable size is lost.
    Limbo,
    /// Counterfeit: what is written beyond it overwrites what is below.
    Wraparound,
    /// Counterfeit: some of it is lost, some overwrites what is below.
    Chain,
}

/// A run of f3probe.
#[derive(Clone, Debug, PartialEq)]
pub struct F3Probe {
    /// Number of the line with the verdict, from 1.
    pub line: usize,
    /// The verdict. It follows from the sizes.
    pub verdict: F3Verdict,
    /// What keeps data, bytes.
    pub usable_bytes: u64,
    /// What the device says that it has, bytes.
    pub announced_bytes: u64,
    /// The power of two at which its addresses begin anew, bytes.
    pub module_bytes: u64,
    /// Its cache, bytes; a guess, and no less than the true one.
    pub cache_bytes: u64,
    /// Its block, bytes.
    pub block_bytes: u64,
    /// Reads, with `--time-ops`.
    pub reads: Option<F3Operation>,
    /// Writes, with `--time-ops`.
    pub writes: Option<F3Operation>,
    /// Resets, with `--time-ops`, to version 9.
    pub resets: Option<F3Operation>,
}

/// Time spent on one kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct F3Operation {
    /// Blocks read or written, however many at a time, or resets.
    pub count: u64,
    /// All together, nanoseconds, cut to the step printed.
    pub span_ns: u64,
    /// Each, nanoseconds, cut to the step printed.
    pub mean_ns: u64,
}

/// How the line of the verdict ends.
const VERDICTS: [(&str, F3Verdict); 5] = [
    ("is the real thing", F3Verdict::Real),
    ("is damaged", F3Verdict::Damaged),
    ("is a counterfeit of type limbo", F3Verdict::Limbo),
    ("is a counterfeit of type wraparound", F3Verdict::Wraparound),
    ("is a counterfeit of type chain", F3Verdict::Chain),
];

/// The lines of the geometry.
const GEOMETRY: [&str; 5] = [
    "*Usable* size:",
    "Announced size:",
    "Module:",
    "Approximate cache size:",
    "Physical block size:",
];

const OPERATIONS: [&str; 3] = ["Read:", "Write:", "Reset:"];

/// A size of the geometry, and its line.
type Size<'a> = (Line<'a>, Printed<'a>);

/// What is known of a run.
#[derive(Default)]
pub(super) struct Probing<'a> {
    verdict: Option<(Line<'a>, F3Verdict)>,
    geometry: [Option<Size<'a>>; 5],
    has_operations: bool,
    operations: [Option<F3Operation>; 3],
}

impl<'a> Probing<'a> {
    /// Reads a line. Where another run begins with it, the one before is whole.
    pub(super) fn read(
        &mut self,
        line: Line<'a>,
        text: &'a str,
    ) -> Result<Option<F3Probe>, ReadError> {
        if let Some(verdict) = verdict(line, text)? {
            let before = std::mem::take(self);
            self.verdict = Some((line, verdict));
            return before.end();
        }
        if let Some((place, printed)) = labelled(text, &GEOMETRY) {
            self.size(line, place, printed)?;
        } else if text.starts_with("Operation: total time / ") {
            self.has_operations = self.verdict.is_some();
        } else if let Some((place, printed)) = labelled(text, &OPERATIONS)
            // Behind words of this kind from elsewhere is no fraction.
            && self.has_operations
            && printed.contains(" / ")
        {
            let expected = "a span, a count and their quotient: `2'13\" / 80012 = 1.6ms`";
            let operation = operation(printed).ok_or_else(|| line.error(TOOL, expected))?;
            self.operations[place] = Some(operation);
        }
        Ok(None)
    }

    fn size(&mut self, line: Line<'a>, place: usize, printed: &'a str) -> Result<(), ReadError> {
        if self.verdict.is_none() && place > 0 {
            return Ok(());
        }
        if self.verdict.is_none() || self.geometry[place].is_some() {
            return Err(line.error(TOOL, "`Good news: …` or `Bad news: …` before this"));
        }
        let expected = "a size and in brackets the same, exactly: `3.00 MB (6144 blocks)`";
        let printed = Printed::parse(printed).ok_or_else(|| line.error(TOOL, expected))?;
        self.geometry[place] = Some((line, printed));
        Ok(())
    }

    pub(super) fn end(self) -> Result<Option<F3Probe>, ReadError> {
        let Some((line, verdict)) = self.verdict else {
            return Ok(None);
        };
        let [
            Some(usable),
            Some(announced),
            Some(module),
            Some(cache),
            Some(block),
        ] = self.geometry
        else {
            let expected = "with it the five lines from `*Usable* size:` to `Physical block size:`";
            return Err(line.error(TOOL, expected));
        };
        let block_bytes = exact(block, power)?;
        let blocks = |text: &str| count(text, "block")?.checked_mul(block_bytes);
        let [reads, writes, resets] = self.operations;
        let probe = F3Probe {
            line: line.number,
            verdict,
            usable_bytes: exact(usable, blocks)?,
            announced_bytes: exact(announced, blocks)?,
            module_bytes: exact(module, power)?,
            cache_bytes: exact(cache, blocks)?,
            block_bytes,
            reads,
            writes,
            resets,
        };
        if probe.verdict_of_sizes() != verdict {
            return Err(line.error(TOOL, "a verdict that follows from the sizes below"));
        }
        Ok(Some(probe))
    }
}

impl F3Probe {
    /// The verdict as f3probe comes to it.
    fn verdict_of_sizes(&self) -> F3Verdict {
        let (usable, announced) = (self.usable_bytes, self.announced_bytes);
        if usable == announced {
            F3Verdict::Real
        } else if usable == 0 {
            F3Verdict::Damaged
        } else if self.module_bytes <= usable {
            F3Verdict::Wraparound
        } else if self.module_bytes < announced {
            F3Verdict::Chain
        } else {
            F3Verdict::Limbo
        }
    }
}

fn verdict(line: Line, text: &str) -> Result<Option<F3Verdict>, ReadError> {
    let starts = ["Good news: The device ", "Bad news: The device "];
    if !starts.iter().any(|start| text.starts_with(*start)) {
        return Ok(None);
    }
    let known = VERDICTS.iter().find(|(end, _)| text.ends_with(*end));
    let expected = "at its end `is the real thing`, `is damaged` or the type of a counterfeit";
    let (_, verdict) = known.ok_or_else(|| line.error(TOOL, expected))?;
    Ok(Some(*verdict))
}

/// Which of the labels a text begins with, and what stands behind it.
fn labelled<'a>(text: &'a str, labels: &[&str]) -> Option<(usize, &'a str)> {
    let mut labels = labels.iter().enumerate();
    labels.find_map(|(place, label)| Some((place, after_label(text, label)?)))
}

/// The bytes that the brackets say, if they are what was printed before them.
fn exact(size: Size, bytes: impl Fn(&str) -> Option<u64>) -> Result<u64, ReadError> {
    let (line, printed) = size;
    let bytes = bytes(printed.exact).filter(|&bytes| printed.is(bytes));
    bytes.ok_or_else(|| line.error(TOOL, "a size and in brackets the same, exactly"))
}

/// `2^41 Bytes`.
fn power(text: &str) -> Option<u64> {
    let order = count(text.strip_prefix("2^")?, "Byte")?;
    1u64.checked_shl(u32::try_from(order).ok()?)
}

/// `2'13" / 80012 = 1.6ms`.
fn operation(text: &str) -> Option<F3Operation> {
    let (total, rest) = text.split_once(" / ")?;
    let (count, mean) = rest.split_once(" = ")?;
    let count = count.trim().parse::<u64>().ok()?;
    let (total, mean) = (span(total)?, span(mean)?);
    is_quotient(total, count, mean).then_some(F3Operation {
        count,
        span_ns: total.ns,
        mean_ns: mean.ns,
    })
}

/// Whether a mean is that of a count of operations, both spans being cut.
fn is_quotient(total: Span, count: u64, mean: Span) -> bool {
    if count == 0 {
        return mean.ns == 0;
    }
    // From where a span begins to where it ends if all that was cut is added.
    let ends = |span: Span| {
        let least = u128::from(span.ns);
        (least, least + u128::from(span.step_ns))
    };
    let ((least_total, most_total), (least, most)) = (ends(total), ends(mean));
    let times = |ns: u128| ns.saturating_mul(u128::from(count));
    times(least) <= most_total && least_total < times(most)
}
