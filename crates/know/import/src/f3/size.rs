//! Sizes and labels as all programs of f3 print them.

use cardmark_core::{Finding, FindingKind, Severity};

use crate::number::{Number, plain_number_and_unit, power};

pub(super) const TOOL: &str = "f3";

pub(super) fn data_lost(detail: impl Into<String>) -> Finding {
    Finding::new(FindingKind::DataLost, Severity::Warning, detail)
}

/// A rounded size and behind it the exact one: `1.02 GB (2131424 sectors)`.
#[derive(Clone, Copy)]
pub(super) struct Size<'a> {
    number: Number,
    unit: f64,
    /// The text in the brackets.
    pub(super) exact: &'a str,
}

impl<'a> Size<'a> {
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let (size, rest) = text.split_once('(')?;
        let (exact, _) = rest.split_once(')')?;
        let (number, unit) = plain_number_and_unit(size)?;
        Some(Self {
            number,
            unit: unit_bytes(unit)?,
            exact,
        })
    }

    /// Returns whether this number of bytes would be printed in this form.
    pub(super) fn is(&self, bytes: u64) -> bool {
        self.number.agrees(bytes as f64 / self.unit, 0.0)
    }
}

/// Parses `2131424 sectors`, and from version 10 `1 sector`.
pub(super) fn count(text: &str, noun: &str) -> Option<u64> {
    let text = text.strip_suffix('s').unwrap_or(text);
    text.strip_suffix(noun)?.trim_end().parse().ok()
}

/// The text behind a label, whose capitals differ between versions.
pub(super) fn after_label<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    let is_labelled = text.get(..label.len())?.eq_ignore_ascii_case(label);
    is_labelled.then(|| text[label.len()..].trim())
}

pub(super) fn unit_bytes(unit: &str) -> Option<f64> {
    let units = ["Byte", "KB", "MB", "GB", "TB", "PB", "EB"];
    let unit = if unit == "Bytes" { units[0] } else { unit };
    power(1024.0, &units, unit)
}
