//! What one reading of a tool gives a record.

use std::ops::RangeInclusive;

use cardmark_core::{DeviceInfo, Finding, FindingKind, Metric, Printed, Quantity, Severity};

use crate::ReadError;
use crate::read::number::number_and_unit;

/// What one reading gives.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Its lines, from 1.
    pub(super) lines: RangeInclusive<usize>,
    pub(super) tool: &'static str,
    pub(super) metrics: Vec<Metric>,
    pub(super) findings: Vec<Finding>,
    /// Metrics whose unit has two readings, and by which ratio these differ from the middle.
    pub(super) doubts: Vec<(String, f64)>,
    /// What a row of a table calls what was measured.
    pub(super) named: Option<String>,
    pub(super) device: Option<DeviceInfo>,
    /// Size of the file that was worked on, bytes, where it is told.
    pub(super) file_bytes: Option<u64>,
    /// What is kept as printed, where that is not the lines; nothing private is in it.
    pub(super) said: Option<String>,
    /// Whether it stands for what could not be read, so that its figures are not known.
    pub(super) is_lost: bool,
}

impl Item {
    /// An item without figures.
    pub(super) fn new(tool: &'static str, line: usize) -> Self {
        Self {
            lines: line..=line,
            tool,
            metrics: Vec::new(),
            findings: Vec::new(),
            doubts: Vec::new(),
            named: None,
            device: None,
            file_bytes: None,
            said: None,
            is_lost: false,
        }
    }

    /// An item with these figures.
    pub(super) fn of(tool: &'static str, line: usize, metrics: Vec<Metric>) -> Self {
        Self {
            metrics,
            ..Self::new(tool, line)
        }
    }

    /// The line it begins with.
    pub(super) fn first(&self) -> usize {
        *self.lines.start()
    }

    /// Whether both may have a figure of the same test.
    pub(super) fn is_again(&self, other: &Self) -> bool {
        let mut metrics = self.metrics.iter();
        (self.tool == other.tool && self.is_lost != other.is_lost)
            || metrics.any(|metric| other.metrics.iter().any(|known| known.id == metric.id))
    }

    /// Adds a figure that means something between two rates.
    pub(super) fn put_between(&mut self, metric: Metric, least: f64, most: f64) {
        let middle = 0.5 * (least + most);
        if most <= least {
            self.metrics.push(metric);
            return;
        }
        self.doubts
            .push((metric.id.clone(), (most - middle) / middle));
        // Operations are certain where bytes are not.
        let is_bytes = metric.quantity == Quantity::ByteRate;
        self.metrics.push(Metric {
            low: is_bytes.then_some(least),
            high: is_bytes.then_some(most),
            rate_low_bytes_per_s: Some(least),
            rate_high_bytes_per_s: Some(most),
            ..metric
        });
    }
}

/// A finding about a figure that is not understood, or that another one contradicts.
pub(super) fn doubtful(detail: impl Into<String>) -> Finding {
    Finding::new(FindingKind::DoubtfulFigure, Severity::Warning, detail)
}

/// Most lines of a tool that are told one by one.
const MOST_UNREAD: usize = 16;

/// What is there but cannot be read, while the rest of it can.
pub(super) fn unread(errors: &[ReadError]) -> Vec<Item> {
    let (told, more) = errors.split_at(errors.len().min(MOST_UNREAD));
    let told = told
        .iter()
        .filter_map(|error| lost(error, "it is left out"));
    let others = match more.len() {
        0 | 1 => "it is left out".to_owned(),
        count => format!("it is left out, and so are {} further lines", count - 1),
    };
    let more = more.first().and_then(|error| lost(error, &others));
    told.chain(more).collect()
}

/// What cannot be read, and nothing of that tool with it; nothing where a reader found nothing.
pub(super) fn unreadable(error: &ReadError) -> Option<Item> {
    lost(error, "all of its report is left out")
}

/// A line that cannot be read. It is not repeated: it may say whose it is. The finding is on the
/// tool, as no figure that is there is in doubt for it.
fn lost(error: &ReadError, outcome: &str) -> Option<Item> {
    let ReadError::Line {
        tool,
        line,
        expected,
        ..
    } = error
    else {
        return None;
    };
    let detail = format!("line {line} is not as {tool} prints it: expected {expected}; {outcome}");
    Some(Item {
        findings: vec![doubtful(detail).on(*tool)],
        is_lost: true,
        ..Item::new(tool, *line)
    })
}

/// A rate in bytes a second.
pub(super) fn byte_rate(
    id: impl Into<String>,
    bytes_per_s: f64,
    printed: Option<Printed>,
) -> Metric {
    Metric {
        rate_bytes_per_s: Some(bytes_per_s),
        printed,
        ..Metric::new(id, Quantity::ByteRate, bytes_per_s)
    }
}

/// A rate in operations a second.
pub(super) fn operation_rate(
    id: impl Into<String>,
    operations_per_s: f64,
    bytes_per_s: Option<f64>,
    printed: Option<Printed>,
) -> Metric {
    Metric {
        rate_bytes_per_s: bytes_per_s,
        operations_per_s: Some(operations_per_s),
        printed,
        ..Metric::new(id, Quantity::OperationRate, operations_per_s)
    }
}

/// A number and its unit as in the text; what it means where the unit is not what it says.
pub(super) fn printed(tool: &str, text: &str, right_unit: Option<&str>) -> Option<Printed> {
    let (number, unit) = number_and_unit(text)?;
    let digits = text.trim().strip_suffix(unit)?.trim_end();
    Some(Printed {
        tool: tool.to_owned(),
        text: text.trim().to_owned(),
        value: number.value,
        meaning: right_unit.map(|right| format!("{digits} {right}")),
    })
}

/// Bytes in the largest binary unit that holds them whole: `4k`, `16m`; `1000b` else.
pub(super) fn size(bytes: u64) -> String {
    let units = [(1 << 30, "g"), (1 << 20, "m"), (1 << 10, "k"), (1, "b")];
    let mut fitting = units.iter().filter(|(unit, _)| bytes.is_multiple_of(*unit));
    let (unit, letter) = fitting.next().copied().unwrap_or((1, "b"));
    format!("{}{letter}", bytes / unit)
}
