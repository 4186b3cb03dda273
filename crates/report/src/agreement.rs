//! How the original tools and ours compare.

use cardmark_core::Quantity;
use serde::Serialize;

use crate::layout::wrap;
use crate::style::{Style, Tone, clean};
use crate::table::{Column, Row, Table};
use crate::text::{MISSING, percent, value};

/// The interval of the ratio has to reach into this range …
const OVERLAP: (f64, f64) = (0.98, 1.02);
/// … and the point has to lie in this one.
const POINT: (f64, f64) = (0.97, 1.03);

/// One figure by an original tool and by us.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// Name of our metric.
    pub id: String,
    /// Pairs of runs.
    pub pairs_count: usize,
    /// Median of our figure over the original's.
    pub ratio: f64,
    /// Lower end of its interval of at least 95 %; absent with fewer than six pairs.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Median of the original's figures: bytes, or operations of fio, a second.
    pub original: f64,
    /// Median of ours.
    pub ours: f64,
    /// How far the original's own runs differ: half of their range over their median.
    pub original_spread_ratio: f64,
    /// How far ours differ.
    pub ours_spread_ratio: f64,
}

/// An agreement as programs read it.
#[derive(Debug, Serialize)]
pub struct AgreementRow<'a> {
    #[serde(flatten)]
    agreement: &'a Agreement,
    /// What the figures are: `bytes_per_s` or `operations_per_s`.
    unit: &'static str,
    /// Whether both say the same.
    agrees: Option<bool>,
}

impl Agreement {
    /// The same, with its unit and its outcome.
    #[must_use]
    pub fn row(&self) -> AgreementRow<'_> {
        AgreementRow {
            agreement: self,
            unit: match self.quantity() {
                Quantity::OperationRate => "operations_per_s",
                _ => "bytes_per_s",
            },
            agrees: self.agrees(),
        }
    }

    /// fio's figures are operations, all others bytes a second.
    fn quantity(&self) -> Quantity {
        match self.id.starts_with("fio_") {
            true => Quantity::OperationRate,
            false => Quantity::ByteRate,
        }
    }

    /// Whether both say the same: the interval of the ratio overlaps 0.98–1.02 and the point lies
    /// in 0.97–1.03. `None` without an interval.
    #[must_use]
    pub fn agrees(&self) -> Option<bool> {
        let (low, high) = self.low.zip(self.high)?;
        let overlaps = low <= OVERLAP.1 && high >= OVERLAP.0;
        Some(overlaps && (POINT.0..=POINT.1).contains(&self.ratio))
    }
}

/// The table of agreements, at most `width` columns wide where that is possible.
#[must_use]
pub fn agreement_table(agreements: &[Agreement], width: usize, style: Style) -> String {
    let mut text = table(agreements).lines(width, style).join("\n") + "\n";
    text.push('\n');
    for line in legend(agreements)
        .iter()
        .flat_map(|line| wrap(line, width, 2))
    {
        text.push_str(&style.paint(Tone::Dim, &line));
        text.push('\n');
    }
    text
}

/// What the marks mean, as far as they occur.
fn legend(agreements: &[Agreement]) -> Vec<String> {
    let mut lines =
        vec!["ratio: median of ours ÷ original; ±: half the range of a tool's own runs".to_owned()];
    if agreements.iter().any(|c| c.agrees() == Some(false)) {
        let (low, high) = OVERLAP;
        let (least, most) = POINT;
        lines.push(format!(
            "! differs: the interval misses {low}–{high}, or the ratio lies outside of {least}–{most}"
        ));
    }
    if agreements.iter().any(|c| c.agrees().is_none()) {
        lines.push(format!("{MISSING} fewer than six pairs have no interval"));
    }
    lines
}

fn table(agreements: &[Agreement]) -> Table {
    Table {
        columns: vec![
            Column::left(""),
            Column::right("original").priority(1),
            Column::right("ours").priority(1),
            Column::right("ratio"),
            Column::right("95 % interval"),
            Column::right("pairs").priority(2),
            Column::right("original ±").priority(2),
            Column::right("ours ±").priority(2),
        ],
        rows: agreements.iter().map(row).collect(),
    }
}

fn row(agreement: &Agreement) -> Row {
    let rate = |rate: f64| value(&agreement.id, agreement.quantity(), rate);
    let (name, ends) = (name(agreement), ends(agreement));
    let ratio = format!("{:.3}", agreement.ratio);
    let stacked = format!("{name}: {ratio} ({ends})");
    Row::new(vec![
        name,
        rate(agreement.original),
        rate(agreement.ours),
        ratio,
        ends,
        agreement.pairs_count.to_string(),
        percent(agreement.original_spread_ratio),
        percent(agreement.ours_spread_ratio),
    ])
    .stacked(vec![stacked])
}

fn name(agreement: &Agreement) -> String {
    let mark = if agreement.agrees() == Some(false) {
        " !"
    } else {
        ""
    };
    format!("{}{mark}", clean(&agreement.id))
}

fn ends(agreement: &Agreement) -> String {
    match agreement.low.zip(agreement.high) {
        Some((low, high)) => format!("{low:.3}–{high:.3}"),
        None => MISSING.to_owned(),
    }
}
