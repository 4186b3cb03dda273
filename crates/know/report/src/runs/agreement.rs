//! Comparison of the original tools with cardmark.

use cardmark_stats::{AGREEMENT_OVERLAP, AGREEMENT_POINT, Agreement};

use crate::text::layout::{joined, painted};
use crate::text::style::{Style, Tone, clean};
use crate::text::table::{Column, Row, Table};
use crate::text::{MISSING, percent, value};

/// The table of agreements, at most `width` columns wide where that is possible.
pub fn agreement_table(agreements: &[Agreement], width: usize, style: Style) -> String {
    joined(&[
        table(agreements).lines(width, style),
        painted(&legend(agreements), width, style, Tone::Dim),
    ])
}

/// Legend of the marks that occur.
fn legend(agreements: &[Agreement]) -> Vec<String> {
    let mut lines =
        vec!["ratio: median of ours ÷ original; ±: half the range of a tool's own runs".to_owned()];
    if agreements.iter().any(|c| c.agrees() == Some(false)) {
        let (low, high) = AGREEMENT_OVERLAP;
        let (least, most) = AGREEMENT_POINT;
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
    let rate = |rate: f64| value(&agreement.id, agreement.quantity, rate);
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
