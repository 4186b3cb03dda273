//! Typed figures: a metric's id, a number and its unit.

use std::collections::BTreeSet;

use cardmark_core::{Finding, FindingKind, Metric, Printed, Quantity, Severity};
use thiserror::Error;

use crate::Imported;
use crate::metrics::{KnownMetric, metric, near};
use crate::number::{Number, plain_number_and_unit, ungrouped, unit_bytes};
use crate::reading::{Reading, byte_rate, operation_rate};

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
        put(&mut one, metric, text)?;
    }
    Ok(one)
}

/// Adds a typed figure.
fn put(one: &mut Imported, known: &KnownMetric, text: &str) -> Result<(), FigureError> {
    let text = text.trim();
    let (number, unit) = plain_number_and_unit(text).ok_or_else(|| no_number(text))?;
    let digits = text.strip_suffix(unit).unwrap_or(text).trim_end();
    let behind_comma = digits.split_once(',').map(|(_, decimals)| decimals.len());
    if behind_comma == Some(3) {
        return Err(FigureError::Comma {
            text: text.to_owned(),
        });
    }
    let shown = (text, format!("{digits} {unit}"));
    let metric = metric_of(known, number.value, unit, shown)?;
    one.metrics.push(metric);
    one.findings.extend(mislabelled(&known.id, unit));
    Ok(())
}

/// Adds a figure of a table to a reading; `unit` is that of its heading, `decimal` the decimal sign of
/// its table. A unit with two meanings stays open.
pub(crate) fn put_cell(
    reading: &mut Reading,
    known: &KnownMetric,
    text: &str,
    unit: Option<&str>,
    decimal: Option<char>,
) -> Result<(), FigureError> {
    let (digits, own_unit) = digits_and_unit(text);
    let unit = match own_unit {
        "" => unit.unwrap_or(""),
        unit => unit,
    };
    let plain = ungrouped(digits, decimal).ok_or_else(|| FigureError::Comma {
        text: text.to_owned(),
    })?;
    let number = Number::parse(&plain).filter(|_| !plain.contains(['e', 'E']));
    let number = number.ok_or_else(|| no_number(text))?;
    let shown = if plain.len() == digits.len() {
        digits
    } else {
        &plain
    };
    let shown = (text, format!("{shown} {unit}"));
    let meant = unit.replacen("KB", "kB", 1).replacen("/S", "/s", 1);
    let metric = metric_of(known, number.value, &meant, shown)?;
    let ratio = match known.quantity {
        Quantity::ByteRate => most_ratio(&known.id, unit),
        _ => 1.0,
    };
    let least = metric.value;
    reading.put_between(metric, least, least * ratio);
    Ok(())
}

/// Digits with their signs at the start of a text, and the unit behind them.
pub(crate) fn digits_and_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',');
    let (digits, unit) = text.split_at(end.unwrap_or(text.len()));
    (digits, unit.trim())
}

/// The largest that a unit may mean, relative to its decimal meaning: people write `KB/s` for both, and the
/// units of tools that print binary ones under decimal names.
fn most_ratio(id: &str, unit: &str) -> f64 {
    let is_binary = BINARY.iter().any(|begin| id.starts_with(begin));
    let powers = [("KB", 1), ("kB", 1), ("MB", 2), ("GB", 3)];
    let power = powers.iter().find(|(begin, _)| unit.starts_with(begin));
    match power {
        Some((begin, power)) if is_binary || *begin == "KB" => 1.024f64.powi(*power),
        _ => 1.0,
    }
}

fn no_number(text: &str) -> FigureError {
    FigureError::NoNumber {
        text: text.to_owned(),
    }
}

/// The metric of a number in a unit, which is `shown` as in the text and as printed.
fn metric_of(
    known: &KnownMetric,
    number: f64,
    unit: &str,
    (text, shown): (&str, String),
) -> Result<Metric, FigureError> {
    let (units, factor) = factor(known.quantity, unit);
    let factor = factor.ok_or_else(|| FigureError::Unit {
        id: known.id.clone(),
        text: text.to_owned(),
        units,
    })?;
    let value = number * factor;
    if known.quantity.is_rate() && value <= 0.0 {
        return Err(no_number(text));
    }
    let printed = Some(Printed {
        tool: TYPED.to_owned(),
        text: shown.trim_end().to_owned(),
        value: number,
        meaning: None,
    });
    Ok(match known.quantity {
        Quantity::ByteRate => byte_rate(&known.id, value, printed),
        Quantity::OperationRate => operation_rate(&known.id, value, None, printed),
        quantity => Metric {
            printed,
            ..Metric::new(&known.id, quantity, value)
        },
    })
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
const BINARY: [&str; 7] = [
    "hdparm_",
    "iozone_",
    "f3_",
    "h2testw_",
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
