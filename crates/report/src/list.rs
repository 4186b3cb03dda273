//! The listing of runs.

use cardmark_core::Quantity;

use crate::layout::{Grid, Side, cut, wrap};
use crate::style::{Style, Tone, clean, columns};
use crate::summary::{SHORT_ID, minute};
use crate::text::{MISSING, figure, in_unit, unit, value};

/// Columns for a target below which the listing is stacked.
const LEAST_TARGET: usize = 8;

/// One run of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunLine {
    /// Id of the run; its beginning is shown.
    pub id: String,
    /// When it began, RFC 3339, where known.
    pub started_at: Option<String>,
    /// The suite, such as `quick 1`, where there is one.
    pub suite: Option<String>,
    /// What was tested, in a few words.
    pub target: String,
    /// The figures that matter most, as [`headline`] makes them.
    pub headline: String,
}

/// The figures that matter most, from rates (id, value, quantity): of `quick` reading/writing in
/// sequence, then at random; the first two rates, with their ids, of any other suite.
#[must_use]
pub fn headline(rates: &[(String, f64, Quantity)]) -> String {
    let find = |id: &str| rates.iter().find(|(known, ..)| known == id);
    let pairs = [
        pair(find("seq_read_1m"), find("seq_write_1m")),
        pair(find("rand_read_4k"), find("rand_write_4k")),
    ];
    let mut parts: Vec<String> = pairs.into_iter().flatten().collect();
    if parts.is_empty() {
        let named = |(id, rate, quantity): &Rate| {
            let (id, rate) = (clean(id), value(id, *quantity, *rate));
            format!("{id} {rate}")
        };
        parts.extend(rates.iter().take(2).map(named));
    }
    if parts.is_empty() {
        MISSING.to_owned()
    } else {
        parts.join(", ")
    }
}

type Rate = (String, f64, Quantity);

/// `94.1/23.4 MB/s`; nothing when both are missing.
fn pair(read: Option<&Rate>, write: Option<&Rate>) -> Option<String> {
    let (id, _, quantity) = read.or(write)?;
    let cell = |rate: Option<&Rate>| {
        rate.map_or(MISSING.to_owned(), |(_, value, quantity)| {
            figure(in_unit(*quantity, *value))
        })
    };
    let unit = unit(id, *quantity);
    Some(format!("{}/{} {unit}", cell(read), cell(write)))
}

/// Runs as a table at most `width` columns wide; stacked where columns do not fit.
#[must_use]
pub fn list_table(runs: &[RunLine], width: usize, style: Style) -> String {
    if runs.is_empty() {
        return String::new();
    }
    let width = width.max(SHORT_ID);
    let lines = match fitting(runs, width) {
        Some(grid) => painted(&grid, style),
        None => stacked(runs, width, style),
    };
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

fn grid(runs: &[RunLine], target_width: usize) -> Grid {
    let heading = [
        "run",
        "started (UTC)",
        "suite",
        "target",
        "read/write, random 4 KiB",
    ]
    .map(str::to_owned);
    let mut rows = vec![heading.to_vec()];
    for run in runs {
        rows.push(vec![
            short_id(run),
            started(run),
            suite(run),
            cut(&clean(&run.target), target_width),
            clean(&run.headline),
        ]);
    }
    Grid {
        sides: vec![Side::Left; heading.len()],
        rows,
    }
}

/// The widest form that fits: targets are cut before columns are given up.
fn fitting(runs: &[RunLine], width: usize) -> Option<Grid> {
    let choices: [&[usize]; 2] = [&[0, 1, 2, 3, 4], &[0, 1, 3, 4]];
    let longest = runs
        .iter()
        .map(|run| columns(&clean(&run.target)))
        .max()
        .unwrap_or(0);
    for wanted in choices {
        let natural = grid(runs, longest).only(wanted);
        let excess = natural.width().saturating_sub(width);
        let target_width = longest.saturating_sub(excess);
        if target_width >= longest.min(LEAST_TARGET) {
            let cut = grid(runs, target_width).only(wanted);
            if cut.width() <= width {
                return Some(cut);
            }
        }
    }
    None
}

fn painted(grid: &Grid, style: Style) -> Vec<String> {
    let mut lines = grid.lines();
    if let Some(heading) = lines.first_mut() {
        *heading = style.paint(Tone::Dim, heading);
    }
    lines
}

fn stacked(runs: &[RunLine], width: usize, style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for run in runs {
        let title = format!("{}  {}  {}", short_id(run), started(run), suite(run));
        lines.extend(
            wrap(&title, width, 2)
                .iter()
                .map(|line| style.paint(Tone::Heading, line)),
        );
        for text in [&run.target, &run.headline] {
            let wrapped = wrap(&clean(text), width.saturating_sub(2), 0);
            lines.extend(wrapped.iter().map(|line| format!("  {line}")));
        }
    }
    lines
}

fn short_id(run: &RunLine) -> String {
    clean(&run.id).chars().take(SHORT_ID).collect()
}

fn started(run: &RunLine) -> String {
    let shown = |text: &str| minute(text).unwrap_or_else(|| clean(text));
    run.started_at.as_deref().map_or(MISSING.to_owned(), shown)
}

fn suite(run: &RunLine) -> String {
    run.suite.as_deref().map_or(MISSING.to_owned(), clean)
}
