//! The published results that are part of the program, parsed from their two files each.

use std::sync::LazyLock;

use serde::Deserialize;
use thiserror::Error;

use crate::facts::{from_toml, inflated};
use crate::product;
use crate::published::{Publication, PublishedFigure, PublishedRun, Unit};

/// Description and figures of each source, one after the other.
static TEXTS: LazyLock<String> =
    LazyLock::new(|| inflated(include_bytes!(concat!(env!("OUT_DIR"), "/published"))));

/// Description and figures of each source.
fn texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut texts = TEXTS.split_terminator('\0');
    std::iter::from_fn(move || texts.next().zip(texts.next()))
}

static PUBLICATIONS: LazyLock<Vec<Publication>> = LazyLock::new(|| {
    // A test reads them one by one and shows errors.
    texts()
        .filter_map(|(about, figures)| read(about, figures).ok())
        .collect()
});

/// Returns all publications.
pub fn publications() -> &'static [Publication] {
    &PUBLICATIONS
}

/// Error in the files of a publication.
#[derive(Debug, Error)]
pub enum PublishedError {
    /// The description of the publication has the wrong form.
    #[error("not the description of a publication")]
    Shape(#[from] toml::de::Error),
    /// The table of figures has the wrong form.
    #[error("not a table of figures")]
    Table(#[from] csv::Error),
    /// A line contains an unknown name, or no number.
    #[error("line {line}: {what}")]
    Row {
        /// The line, from 1.
        line: u64,
        /// Description of the error.
        what: String,
    },
}

/// A line of the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    place: String,
    setting: String,
    product: String,
    name: String,
    run: u32,
    metric: String,
    value: String,
    unit: String,
    note: String,
}

/// Parses a publication from its description (TOML) and its figures (CSV).
///
/// # Errors
/// If either has the wrong form, or a line contains an unknown setting, product or unit, or no number.
fn read(about: &str, figures: &str) -> Result<Publication, PublishedError> {
    let mut publication: Publication = from_toml(about)?;
    let mut rows = csv::Reader::from_reader(figures.as_bytes());
    // The first line is the heading.
    for (line, row) in (2..).zip(rows.deserialize::<Row>()) {
        add(&mut publication, row?).map_err(|what| PublishedError::Row { line, what })?;
    }
    Ok(publication)
}

fn add(publication: &mut Publication, row: Row) -> Result<(), String> {
    if publication.setting(&row.setting).is_none() {
        return Err(format!("no setting `{}`", row.setting));
    }
    let known = product(&row.product).filter(|known| known.id == row.product);
    let product = known.ok_or_else(|| format!("no product `{}`", row.product))?;
    let figure = figure(&publication.units, &row)?;
    let is_same = |run: &PublishedRun| {
        run.setting == row.setting
            && run.product.id == row.product
            && run.name == row.name
            && run.run_index == row.run
    };
    let runs = &mut publication.runs;
    if let Some(run) = runs.iter_mut().find(|run| is_same(run)) {
        if run
            .figures
            .iter()
            .any(|known| known.metric == figure.metric)
        {
            return Err(format!("a second `{}` of the same run", figure.metric));
        }
        run.figures.push(figure);
        return Ok(());
    }
    runs.push(PublishedRun {
        place: row.place,
        setting: row.setting,
        product,
        name: row.name,
        run_index: row.run,
        figures: vec![figure],
    });
    Ok(())
}

fn figure(units: &[Unit], row: &Row) -> Result<PublishedFigure, String> {
    let number = number(&row.value).ok_or_else(|| format!("`{}` is no number", row.value))?;
    let unit = units
        .iter()
        .find(|unit| unit.printed == row.unit && unit.metrics.contains(&row.metric))
        .ok_or_else(|| format!("no unit `{}` for `{}`", row.unit, row.metric))?;
    let middle = 0.5 * (unit.least + unit.most);
    Ok(PublishedFigure {
        metric: row.metric.clone(),
        printed: row.value.clone(),
        unit: row.unit.clone(),
        note: row.note.clone(),
        number,
        quantity: unit.quantity,
        value: number * middle,
        doubt_ratio: (unit.most - middle) / middle,
    })
}

/// Parses a number with a point or a comma before its decimals.
fn number(text: &str) -> Option<f64> {
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','));
    let number: f64 = text.replace(',', ".").parse().ok()?;
    (plain && number > 0.0).then_some(number)
}

#[cfg(test)]
mod tests;
