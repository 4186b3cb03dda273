//! One result of a tool, and everything that the readers found in a text.

use std::collections::{BTreeMap, BTreeSet};

use cardmark_core::{DeviceInfo, Finding, FindingKind, Metric, Printed, Quantity, Severity};

use crate::Imported;
use crate::form::{self, Span};
use crate::number::number_and_unit;
use crate::text::{Damage, Line};

/// From this block size on, a rate is given in bytes.
pub(crate) const BYTE_RATE_BLOCK_BYTES: f64 = 65_536.0;
/// Findings about damaged lines, for each tool.
const MOST_DAMAGED: usize = 16;

/// One result of a tool.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    /// Its first line, from 1.
    pub(crate) line: usize,
    pub(crate) tool: &'static str,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) findings: Vec<Finding>,
    /// Metrics whose unit has two meanings, and the ratio by which these differ from the middle.
    pub(crate) doubts: Vec<(String, f64)>,
    pub(crate) device: Option<DeviceInfo>,
    /// Size of the test file in bytes, if known.
    pub(crate) file_bytes: Option<u64>,
    /// Returns whether it stands for a line that could not be read.
    pub(crate) is_damaged: bool,
    /// True if size alone gives the direction of a copy.
    pub(crate) is_guess: bool,
    /// True unless the command of the tool is unknown or differs from that of our suites.
    pub(crate) is_of_suite: bool,
}

impl Reading {
    pub(crate) fn new(tool: &'static str, line: usize, metrics: Vec<Metric>) -> Self {
        Self {
            line,
            tool,
            metrics,
            findings: Vec::new(),
            doubts: Vec::new(),
            device: None,
            file_bytes: None,
            is_damaged: false,
            is_guess: false,
            is_of_suite: true,
        }
    }

    /// Adds a metric whose unit means something between two rates.
    pub(crate) fn put_between(&mut self, metric: Metric, least: f64, most: f64) {
        let middle = 0.5 * (least + most);
        if most <= least {
            self.metrics.push(metric);
            return;
        }
        let doubt = (most - middle) / middle;
        self.doubts.push((metric.id.clone(), doubt));
        // Operations are certain even if bytes are not.
        let is_bytes = metric.quantity == Quantity::ByteRate;
        self.metrics.push(Metric {
            value: if is_bytes { middle } else { metric.value },
            low: is_bytes.then_some(least),
            high: is_bytes.then_some(most),
            rate_bytes_per_s: Some(middle),
            rate_low_bytes_per_s: Some(least),
            rate_high_bytes_per_s: Some(most),
            ..metric
        });
    }

    /// Adds a finding about all metrics.
    pub(crate) fn note(&mut self, finding: Finding) {
        let ids = self.metrics.iter().map(|metric| metric.id.clone());
        self.findings.push(ids.fold(finding, Finding::on));
    }
}

/// A record of its own.
pub(crate) struct Report {
    /// Its first line, from 1; none for a row or column of a table.
    pub(crate) line: Option<usize>,
    pub(crate) one: Imported,
}

/// A line from which on results belong to another record.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub(crate) line: usize,
    /// The board that its heading or one above names.
    pub(crate) board: Option<String>,
    /// True if a record ends here.
    pub(crate) is_boundary: bool,
}

/// Everything that the readers found in a text.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) readings: Vec<Reading>,
    /// Whole reports, each a record of its own.
    pub(crate) reports: Vec<Report>,
    pub(crate) damages: Vec<Damage>,
    /// Lines with errors that belong to no result, and their reasons.
    pub(crate) troubles: Vec<(usize, String)>,
    /// Where another device, board or run begins.
    pub(crate) sections: Vec<Section>,
    /// Lines that a reader knows, and the parts that it took.
    pub(crate) understood: BTreeMap<usize, Vec<Span>>,
    damaged_counts: BTreeMap<&'static str, usize>,
}

impl Found {
    pub(crate) fn add(&mut self, reading: Reading) {
        self.readings.push(reading);
    }

    /// Adds a tool's whole report, which begins at this line.
    pub(crate) fn report(&mut self, line: usize, one: Imported) {
        let line = Some(line);
        self.reports.push(Report { line, one });
    }

    /// Adds records of a table.
    pub(crate) fn of_table(&mut self, records: impl IntoIterator<Item = Imported>) {
        let records = records.into_iter();
        let reports = records.map(|one| Report { line: None, one });
        self.reports.extend(reports);
    }

    /// Marks a line as one of a tool, and the numbers in it that a form has.
    pub(crate) fn understand(&mut self, line: Line, forms: &[&str]) {
        let has_digit = line.text.bytes().any(|byte| byte.is_ascii_digit());
        let forms = if has_digit { forms } else { &[] };
        self.take(line, form::spans(line.text, forms));
    }

    /// Marks a line, and the parts of it that were taken.
    pub(crate) fn take(&mut self, line: Line, spans: Vec<Span>) {
        self.understood.insert(line.number, spans);
    }

    /// Marks the lines of a result that was read, and leaves none.
    pub(crate) fn understand_all(&mut self, lines: &mut Vec<Line>, forms: &[&str]) {
        for line in lines.drain(..) {
            self.understand(line, forms);
        }
    }

    pub(crate) fn is_understood(&self, line: Line) -> bool {
        self.understood.contains_key(&line.number)
    }

    /// The printed numbers of all reports, for `number_bits`.
    pub(crate) fn report_numbers(&self) -> BTreeSet<Option<u64>> {
        let metrics = self.reports.iter().flat_map(|report| &report.one.metrics);
        let printed = metrics.filter_map(|metric| metric.printed.as_ref());
        printed
            .map(|printed| Some(printed.value.to_bits()))
            .collect()
    }

    pub(crate) fn damaged(&mut self, damage: Damage) {
        self.damaged_with(damage, "it is left out");
    }

    /// Notes a line that costs its whole report. Further ones of the report have no finding.
    pub(crate) fn damaged_report(&mut self, damage: Damage, is_damaged: &mut bool) {
        if std::mem::replace(is_damaged, true) {
            self.damages.push(damage);
        } else {
            self.damaged_with(damage, "all of its report is left out");
        }
    }

    /// Notes a line that cannot be read. The finding names the tool, because metrics that were read
    /// are not in doubt.
    fn damaged_with(&mut self, damage: Damage, outcome: &str) {
        let Damage {
            tool,
            line,
            expected,
        } = damage.clone();
        self.damages.push(damage);
        self.understood.remove(&line);
        let count = self.damaged_counts.entry(tool).or_default();
        *count += 1;
        if *count > MOST_DAMAGED + 1 {
            return;
        }
        let detail =
            format!("line {line} is not as {tool} prints it: expected {expected}; {outcome}");
        self.readings.push(Reading {
            findings: vec![doubtful(detail).on(tool)],
            is_damaged: true,
            ..Reading::new(tool, line, Vec::new())
        });
    }

    /// Adds the result, or notes why there is none.
    pub(crate) fn add_or_damaged(&mut self, result: Result<Option<Reading>, Damage>) {
        match result {
            Ok(Some(reading)) => self.add(reading),
            Ok(None) => {}
            Err(damage) => self.damaged(damage),
        }
    }

    /// Adds the number of damaged lines that have no finding to the last finding of each tool.
    pub(crate) fn count_damaged(&mut self) {
        for (&tool, &count) in &self.damaged_counts {
            let of_tool = |reading: &&mut Reading| reading.is_damaged && reading.tool == tool;
            let last = self.readings.iter_mut().rev().find(of_tool);
            let more = count.saturating_sub(MOST_DAMAGED + 1);
            if let Some(finding) = last.and_then(|last| last.findings.first_mut())
                && more > 0
            {
                finding.detail += &format!(", and so are {more} further lines");
            }
        }
    }
}

/// The number of a figure, to look up.
pub(crate) fn number_bits(figure: &str) -> Option<u64> {
    number_and_unit(figure).map(|(number, _)| number.value.to_bits())
}

/// A finding about a figure that was not understood or that another one contradicts.
pub(crate) fn doubtful(detail: impl Into<String>) -> Finding {
    Finding::new(FindingKind::DoubtfulFigure, Severity::Warning, detail)
}

/// A rate in bytes per second.
pub(crate) fn byte_rate(
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

/// A rate in operations per second.
pub(crate) fn operation_rate(
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

/// A rate in operations for small blocks, in bytes for large ones.
pub(crate) fn rate(
    id: impl Into<String>,
    operations_per_s: f64,
    bytes_per_s: f64,
    is_small: bool,
    printed: Option<Printed>,
) -> Metric {
    if is_small {
        return operation_rate(id, operations_per_s, Some(bytes_per_s), printed);
    }
    Metric {
        operations_per_s: Some(operations_per_s).filter(|&rate| rate > 0.0),
        ..byte_rate(id, bytes_per_s, printed)
    }
}

/// Number and unit as in the text. `right_unit` is what the number means if the tool prints
/// another unit.
pub(crate) fn printed(tool: &str, text: &str, right_unit: Option<&str>) -> Option<Printed> {
    let (number, unit) = number_and_unit(text)?;
    let digits = text.trim().strip_suffix(unit)?.trim_end();
    Some(Printed {
        tool: tool.to_owned(),
        text: text.trim().to_owned(),
        value: number.value,
        meaning: right_unit.map(|right| format!("{digits} {right}")),
    })
}

/// Bytes in the largest binary unit that divides them: `4k`, `16m`, `1000b`.
pub(crate) fn size(bytes: u64) -> String {
    let units = [(1 << 30, "g"), (1 << 20, "m"), (1 << 10, "k"), (1, "b")];
    let mut fitting = units.iter().filter(|(unit, _)| bytes.is_multiple_of(*unit));
    let (unit, letter) = fitting.next().copied().unwrap_or((1, "b"));
    format!("{}{letter}", bytes / unit)
}

/// Operations per second of records of that size.
pub(crate) fn operations(bytes_per_s: f64, record_bytes: Option<u64>) -> Option<f64> {
    let record_bytes = record_bytes.filter(|&bytes| bytes > 0)?;
    Some(bytes_per_s / record_bytes as f64)
}
