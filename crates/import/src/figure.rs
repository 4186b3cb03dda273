//! Typed figures: a metric's id, a number and its unit.

use std::collections::BTreeSet;

use cardmark_core::{Finding, FindingKind, Metric, Printed, Quantity, Severity};
use thiserror::Error;

use crate::Imported;
use crate::metrics::{KnownMetric, metric, near};
use crate::number::{plain_number_and_unit, unit_bytes};
use crate::reading::{byte_rate, operation_rate};

/// The tool of typed figures.
const TYPED: &str = "typed";

/// Reason for the refusal of a typed figure.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FigureError {
    /// No metric has this id.
    #[error("unknown metric `{id}`")]
    UnknownMetric {
        /// The id.
        id: String,
        /// Ids that are like it, the most similar first.
        near: Vec<String>,
    },
    /// Text that is no number with a unit.
    #[error("`{text}` is not a number with a unit")]
    NoNumber {
        /// The text.
        text: String,
    },
    /// A comma with three digits behind it.
    #[error("`{text}` has a comma that could separate thousands or decimals")]
    Comma {
        /// The text.
        text: String,
    },
    /// A unit that the metric does not have.
    #[error("`{id}` is measured in {units}, not as in `{text}`")]
    Unit {
        /// Id of the metric.
        id: String,
        /// The text.
        text: String,
        /// The units that it has.
        units: &'static str,
    },
    /// The same metric twice.
    #[error("metric `{id}` is given twice")]
    Twice {
        /// The id.
        id: String,
    },
}

/// Makes a record of typed figures: ids, and numbers with their units.
///
/// # Errors
/// If an id is unknown or given twice, or a text is not a number with a unit of its metric.
pub fn figures(typed: &[(String, String)], known: &[KnownMetric]) -> Result<Imported, FigureError> {
    let mut one = Imported {
        tools: vec![TYPED.to_owned()],
        ..Imported::default()
    };
    let mut ids = BTreeSet::new();
    for (id, text) in typed {
        let Some(metric) = metric(known, id) else {
            return Err(FigureError::UnknownMetric {
                id: id.clone(),
                near: near(known, id),
            });
        };
        if !ids.insert(id) {
            return Err(FigureError::Twice { id: id.clone() });
        }
        put(&mut one, metric, text, None)?;
    }
    Ok(one)
}

/// Adds a figure; `unit` is its unit if the text has none.
pub(crate) fn put(
    one: &mut Imported,
    known: &KnownMetric,
    text: &str,
    unit: Option<&str>,
) -> Result<(), FigureError> {
    let text = text.trim();
    let no_number = || FigureError::NoNumber {
        text: text.to_owned(),
    };
    let (number, own_unit) = plain_number_and_unit(text).ok_or_else(no_number)?;
    let digits = text.strip_suffix(own_unit).unwrap_or(text).trim_end();
    let behind_comma = digits.split_once(',').map(|(_, decimals)| decimals.len());
    if behind_comma == Some(3) {
        return Err(FigureError::Comma {
            text: text.to_owned(),
        });
    }
    let unit = match own_unit {
        "" => unit.unwrap_or(""),
        unit => unit,
    };
    let (units, factor) = factor(known.quantity, unit);
    let factor = factor.ok_or_else(|| FigureError::Unit {
        id: known.id.clone(),
        text: text.to_owned(),
        units,
    })?;
    let value = number.value * factor;
    if known.quantity.is_rate() && value <= 0.0 {
        return Err(no_number());
    }
    let shown = format!("{digits} {unit}");
    let printed = Some(Printed {
        tool: TYPED.to_owned(),
        text: shown.trim_end().to_owned(),
        value: number.value,
        meaning: None,
    });
    let metric = match known.quantity {
        Quantity::ByteRate => byte_rate(&known.id, value, printed),
        Quantity::OperationRate => operation_rate(&known.id, value, None, printed),
        quantity => Metric {
            printed,
            ..Metric::new(&known.id, quantity, value)
        },
    };
    one.metrics.push(metric);
    one.findings.extend(mislabelled(&known.id, unit));
    Ok(())
}

/// The units of a quantity, in words, and what one of them is in the unit of a record.
fn factor(quantity: Quantity, unit: &str) -> (&'static str, Option<f64>) {
    let unit = unit.trim();
    match quantity {
        Quantity::ByteRate => {
            let unit = unit
                .strip_suffix("/s")
                .or_else(|| unit.strip_suffix("/sec"));
            (
                "B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s or GiB/s",
                unit.and_then(unit_bytes),
            )
        }
        Quantity::Size => ("B, kB, MB, GB, TB, KiB, MiB, GiB or TiB", unit_bytes(unit)),
        Quantity::OperationRate => ("IOPS", (unit == "IOPS" || unit == "/s").then_some(1.0)),
        Quantity::Span => {
            let ns = match unit {
                "ns" => Some(1.0),
                "us" | "µs" | "μs" => Some(1e3),
                "ms" => Some(1e6),
                "s" => Some(1e9),
                _ => None,
            };
            ("ns, µs, ms or s", ns)
        }
        Quantity::Count | Quantity::Ratio | Quantity::Other(_) => {
            ("a number without unit", unit.is_empty().then_some(1.0))
        }
    }
}

/// Tools that print units of 1,024 under the name of those of 1,000, as ids begin.
const BINARY: [&str; 6] = [
    "hdparm_",
    "iozone_",
    "f3_",
    "pibenchmarks_hdparm",
    "pibenchmarks_iozone",
    "agnostics_seq",
];

fn mislabelled(id: &str, unit: &str) -> Option<Finding> {
    let is_decimal = ["kB", "MB", "GB"].iter().any(|it| unit.starts_with(it));
    let is_binary = BINARY.iter().any(|begin| id.starts_with(begin));
    let right = unit.replacen('B', "iB", 1).replacen('k', "K", 1);
    let detail = format!(
        "{unit} is taken for units of 1,000; the tool prints units of 1,024 under this name: write \
         {right} for a number as the tool prints it"
    );
    let finding = Finding::new(FindingKind::AmbiguousUnit, Severity::Note, detail);
    (is_decimal && is_binary).then(|| finding.on(id))
}
