//! The verdict of f3probe and the sizes that it measured.

use cardmark_core::{DeviceInfo, Finding, FindingKind, Metric, Quantity, Severity};

use super::size::{Size, TOOL, after_label, count, data_lost};
use crate::reading::Reading;
use crate::text::{Damage, Line};

#[derive(Clone, Copy, PartialEq, Eq)]
enum ProbeVerdict {
    Real,
    /// Nothing is usable.
    Damaged,
    /// Data beyond the usable size are lost.
    Limbo,
    /// Data beyond it overwrite data below.
    Wraparound,
    /// Some of it is lost, some overwrites what is below.
    Chain,
}

/// Ends of the line of the verdict.
const VERDICTS: [(&str, ProbeVerdict); 5] = [
    ("is the real thing", ProbeVerdict::Real),
    ("is damaged", ProbeVerdict::Damaged),
    ("is a counterfeit of type limbo", ProbeVerdict::Limbo),
    (
        "is a counterfeit of type wraparound",
        ProbeVerdict::Wraparound,
    ),
    ("is a counterfeit of type chain", ProbeVerdict::Chain),
];

/// The lines of the geometry.
const GEOMETRY: [&str; 5] = [
    "*Usable* size:",
    "Announced size:",
    "Module:",
    "Approximate cache size:",
    "Physical block size:",
];

/// Known parts of a run.
#[derive(Default)]
pub(super) struct Probing<'a> {
    verdict: Option<(Line<'a>, ProbeVerdict)>,
    geometry: [Option<(Line<'a>, Size<'a>)>; 5],
}

impl<'a> Probing<'a> {
    pub(super) fn is_open(&self) -> bool {
        self.verdict.is_some()
    }

    /// Reads a line. If another run begins with it, returns the one before.
    pub(super) fn read(
        &mut self,
        line: Line<'a>,
        text: &'a str,
    ) -> Result<Option<Reading>, Damage> {
        if let Some(verdict) = verdict(line, text)? {
            let before = std::mem::take(self);
            self.verdict = Some((line, verdict));
            return before.end();
        }
        let mut labels = GEOMETRY.iter().enumerate();
        let size = labels.find_map(|(place, label)| Some((place, after_label(text, label)?)));
        if let Some((place, printed)) = size {
            self.size(line, place, printed)?;
        }
        Ok(None)
    }

    fn size(&mut self, line: Line<'a>, place: usize, printed: &'a str) -> Result<(), Damage> {
        if self.verdict.is_none() && place > 0 {
            return Ok(());
        }
        if self.verdict.is_none() || self.geometry[place].is_some() {
            return Err(line.damage(TOOL, "`Good news: …` or `Bad news: …` before this"));
        }
        let expected = "a size and in brackets the same, exactly: `3.00 MB (6144 blocks)`";
        let size = Size::parse(printed).ok_or_else(|| line.damage(TOOL, expected))?;
        self.geometry[place] = Some((line, size));
        Ok(())
    }

    pub(super) fn end(self) -> Result<Option<Reading>, Damage> {
        let Some((line, verdict)) = self.verdict else {
            return Ok(None);
        };
        let [usable, announced, module, cache, block] = self.geometry;
        let (Some(usable), Some(announced), Some(module)) = (usable, announced, module) else {
            let expected = "with it the lines from `*Usable* size:` to `Module:`";
            return Err(line.damage(TOOL, expected));
        };
        // People leave out the last lines: the sizes before the brackets show the size of a block.
        let block_bytes = match block {
            Some(block) => exact(block, power)?,
            None => block_bytes([usable, announced]).ok_or_else(|| {
                line.damage(
                    TOOL,
                    "with it `Physical block size:`, or sizes that show it",
                )
            })?,
        };
        let blocks = |text: &str| count(text, "block")?.checked_mul(block_bytes);
        if let Some(cache) = cache {
            exact(cache, blocks)?;
        }
        let (usable, announced) = (exact(usable, blocks)?, exact(announced, blocks)?);
        if verdict_of(usable, announced, exact(module, power)?) != verdict {
            return Err(line.damage(TOOL, "a verdict that follows from the sizes below"));
        }
        let sizes = [("f3_usable", usable), ("f3_announced", announced)];
        let metrics = sizes.map(|(id, bytes)| Metric::new(id, Quantity::Size, bytes as f64));
        let mut reading = Reading::new(TOOL, line.number, metrics.into());
        reading.device = Some(DeviceInfo {
            size_bytes: Some(announced),
            ..DeviceInfo::default()
        });
        reading.findings.extend(finding(verdict, usable, announced));
        Ok(Some(reading))
    }
}

fn finding(verdict: ProbeVerdict, usable: u64, announced: u64) -> Option<Finding> {
    let fate = match verdict {
        ProbeVerdict::Real => return None,
        ProbeVerdict::Damaged => {
            let detail = format!("f3probe found no block of {announced} bytes that keeps data");
            return Some(data_lost(detail));
        }
        ProbeVerdict::Limbo => "anything written past that point is lost",
        ProbeVerdict::Wraparound => "anything written past that point overwrites earlier data",
        ProbeVerdict::Chain => {
            "anything written past that point is lost or overwrites earlier data"
        }
    };
    let detail =
        format!("f3probe found that {usable} of the {announced} bytes announced keep data; {fate}");
    let kind = FindingKind::FalseCapacity;
    Some(Finding::new(kind, Severity::Warning, detail))
}

/// The verdict as f3probe comes to it. Addresses wrap at the module.
fn verdict_of(usable: u64, announced: u64, module: u64) -> ProbeVerdict {
    if usable == announced {
        ProbeVerdict::Real
    } else if usable == 0 {
        ProbeVerdict::Damaged
    } else if module <= usable {
        ProbeVerdict::Wraparound
    } else if module < announced {
        ProbeVerdict::Chain
    } else {
        ProbeVerdict::Limbo
    }
}

fn verdict(line: Line, text: &str) -> Result<Option<ProbeVerdict>, Damage> {
    let starts = ["Good news: The device ", "Bad news: The device "];
    if !starts.iter().any(|start| text.starts_with(*start)) {
        return Ok(None);
    }
    let known = VERDICTS.iter().find(|(end, _)| text.ends_with(*end));
    let expected = "at its end `is the real thing`, `is damaged` or the type of a counterfeit";
    let (_, verdict) = known.ok_or_else(|| line.damage(TOOL, expected))?;
    Ok(Some(*verdict))
}

/// The only power of two from 512 bytes to 1 MiB that fits these sizes as the size of a block.
fn block_bytes(sizes: [(Line, Size); 2]) -> Option<u64> {
    let fits = |bytes: &u64| {
        let size = |size: Size| count(size.exact, "block")?.checked_mul(*bytes);
        sizes
            .iter()
            .all(|(_, it)| size(*it).is_some_and(|size| size > 0 && it.is(size)))
    };
    let mut fitting = (9..=20).map(|order| 1u64 << order).filter(fits);
    fitting.next().filter(|_| fitting.next().is_none())
}

/// The bytes in the brackets, if they would be printed as they are before them.
fn exact(
    (line, printed): (Line, Size),
    bytes: impl Fn(&str) -> Option<u64>,
) -> Result<u64, Damage> {
    let bytes = bytes(printed.exact).filter(|&bytes| printed.is(bytes));
    bytes.ok_or_else(|| line.damage(TOOL, "a size and in brackets the same, exactly"))
}

/// Parses `2^41 Bytes`.
fn power(text: &str) -> Option<u64> {
    let order = count(text.strip_prefix("2^")?, "Byte")?;
    1u64.checked_shl(u32::try_from(order).ok()?)
}
