//! Rows of names along a common level axis.

use super::canvas::{Anchor, Canvas, Line, Look, Text};
use super::frame::{LINE, Size, TICK, cut_inside, lines, small_width, text_width};
use super::scale::{Scale, tick};

/// Narrowest and widest column of names.
const LEAST_NAME_WIDTH: f64 = 60.0;
const MOST_NAME_WIDTH: f64 = 320.0;
/// Least gap between the figures of an axis.
const LEAST_GAP: f64 = 4.0;
/// Height of a row with one bar, and of each further bar in it.
const ROW_HEIGHT: f64 = 25.0;
pub(super) const STEP: f64 = 17.0;
/// Height of a name above its row where names have no column.
const NAME_HEIGHT: f64 = 17.0;

/// A row: its name, and the number of bars in it.
pub(super) type RowOf<'a> = (&'a str, usize);

/// A value on the axis that a class asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The value, in the unit of the axis.
    pub value: f64,
    /// Its name, such as `A1`.
    pub label: String,
}

/// Position of the rows.
pub(super) struct Rows {
    size: Size,
    /// The top of each row, and the bottom of the last.
    tops: Vec<f64>,
    left: f64,
    right: f64,
    name_width: f64,
    pub(super) scale: Scale,
}

impl Rows {
    /// Below `top`, for figures up to `most`, with that much space behind.
    pub(super) fn new(size: Size, top: f64, rows: &[RowOf<'_>], most: f64, behind: f64) -> Self {
        let margin = size.margin();
        let right = size.width() - margin - behind;
        let widest = rows.iter().map(|(name, _)| text_width(name));
        let mut tops = vec![top];
        let mut bottom = top;
        for (_, count) in rows {
            bottom += ROW_HEIGHT + STEP * count.saturating_sub(1) as f64 + above(size);
            tops.push(bottom);
        }
        let (name_width, left) = match size {
            Size::Wide => {
                let width = widest.fold(LEAST_NAME_WIDTH, f64::max).min(MOST_NAME_WIDTH);
                (width, margin + width + 8.0)
            }
            Size::Narrow => (size.width() - 2.0 * margin, margin + 4.0),
        };
        Self {
            size,
            tops,
            left,
            right,
            name_width,
            scale: Scale::linear(most, left, right),
        }
    }

    /// Grid, figures and name of the axis below the rows; the height of the chart.
    pub(super) fn axis(&self, canvas: &mut dyn Canvas, tells: &str) -> f64 {
        let ends = (self.tops.first(), self.tops.last());
        let (top, bottom) = (*ends.0.unwrap_or(&0.0), *ends.1.unwrap_or(&0.0));
        let ticks = self.scale.ticks();
        let widest = ticks.iter().map(|value| small_width(&tick(*value)));
        let needed = widest.fold(0.0, f64::max) + LEAST_GAP;
        let every = (needed / self.distance(&ticks)).ceil().max(1.0);
        for (index, value) in ticks.into_iter().enumerate() {
            let x = self.scale.place(value);
            canvas.line(Line::Grid, (x, top), (x, bottom));
            if index as f64 % every > 0.0 {
                continue;
            }
            canvas.text(&Text::new(
                Look::SmallDim,
                (x, bottom + TICK),
                Anchor::Middle,
                &tick(value),
            ));
        }
        canvas.line(Line::Axis, (self.left, top), (self.left, bottom));
        let (middle, margin) = (0.5 * (self.left + self.right), self.size.margin());
        // A text around the middle leaves the chart on the nearer side first.
        let beside = middle.min(self.size.width() - middle) - margin;
        let mut y = bottom + TICK;
        for line in lines(tells, 2.0 * beside) {
            y += LINE;
            canvas.text(&Text::new(Look::Dim, (middle, y), Anchor::Middle, &line));
        }
        y + 6.0 + margin
    }

    /// Draws lines across all rows, with their names above; a name that would cover the one before it is left out with its line.
    pub(super) fn marks(&self, canvas: &mut dyn Canvas, marks: &[Mark]) {
        let ends = (self.tops.first(), self.tops.last());
        let (top, bottom) = (*ends.0.unwrap_or(&0.0), *ends.1.unwrap_or(&0.0));
        let mut free_from = self.left;
        for mark in marks.iter().filter(|mark| self.scale.holds(mark.value)) {
            let x = self.scale.place(mark.value);
            let half = 0.5 * small_width(&mark.label);
            if x - half < free_from {
                continue;
            }
            free_from = x + half + LEAST_GAP;
            canvas.line(Line::Leader, (x, top), (x, bottom));
            let at = (x, top - LEAST_GAP);
            canvas.text(&Text::new(Look::SmallDim, at, Anchor::Middle, &mark.label));
        }
    }

    /// Distance of two ticks.
    fn distance(&self, ticks: &[f64]) -> f64 {
        match ticks {
            [first, second, ..] => self.scale.place(*second) - self.scale.place(*first),
            _ => f64::INFINITY,
        }
    }

    /// Writes the name of a row; the height of the middle of its first bar.
    pub(super) fn name(&self, canvas: &mut dyn Canvas, index: usize, name: &str) -> f64 {
        let [start, end] = [index, index + 1].map(|at| self.tops.get(at).copied().unwrap_or(0.0));
        let bars = start + above(self.size);
        let shown = cut_inside(name, self.name_width);
        let tip = if shown == name { "" } else { name };
        let (at, anchor) = match self.size {
            Size::Wide => ((self.left - 8.0, 0.5 * (bars + end) + 4.5), Anchor::End),
            Size::Narrow => ((self.left + 2.0, bars + 1.0), Anchor::Start),
        };
        canvas.text(&Text {
            tip,
            ..Text::new(Look::Plain, at, anchor, &shown)
        });
        bars + 0.5 * ROW_HEIGHT
    }
}

/// Height of a name above its row.
fn above(size: Size) -> f64 {
    match size {
        Size::Wide => 0.0,
        Size::Narrow => NAME_HEIGHT,
    }
}
