//! Rows of names along a common level axis.

use super::canvas::{Anchor, Canvas, Line, Look, Text};
use super::frame::{LINE, Size, TICK, cut_inside, lines, text_width};
use super::scale::{Scale, tick};

/// Narrowest and widest column of names.
const LEAST_NAME_WIDTH: f64 = 60.0;
const MOST_NAME_WIDTH: f64 = 320.0;
/// Height of what is drawn in a row, and of a name above it where names have no column.
const ROW_HEIGHT: f64 = 25.0;
const NAME_HEIGHT: f64 = 17.0;

/// Position of the rows.
pub(super) struct Rows {
    size: Size,
    top: f64,
    left: f64,
    right: f64,
    name_width: f64,
    pub(super) scale: Scale,
}

impl Rows {
    /// Below `top`, for figures up to `most`, with that much space behind.
    pub(super) fn new(size: Size, top: f64, names: &[&str], most: f64, behind: f64) -> Self {
        let margin = size.margin();
        let right = size.width() - margin - behind;
        let widest = names.iter().map(|name| text_width(name));
        let (name_width, left) = match size {
            Size::Wide => {
                let width = widest.fold(LEAST_NAME_WIDTH, f64::max).min(MOST_NAME_WIDTH);
                (width, margin + width + 8.0)
            }
            Size::Narrow => (size.width() - 2.0 * margin, margin + 4.0),
        };
        Self {
            size,
            top,
            left,
            right,
            name_width,
            scale: Scale::linear(most, left, right),
        }
    }

    /// Grid, figures and name of the axis below that many rows; the height of the chart.
    pub(super) fn axis(&self, canvas: &mut dyn Canvas, count: usize, tells: &str) -> f64 {
        let bottom = self.top + self.height() * count as f64;
        for value in self.scale.ticks() {
            let x = self.scale.place(value);
            canvas.line(Line::Grid, (x, self.top), (x, bottom));
            canvas.text(&Text::new(
                Look::SmallDim,
                (x, bottom + TICK),
                Anchor::Middle,
                &tick(value),
            ));
        }
        canvas.line(Line::Axis, (self.left, self.top), (self.left, bottom));
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

    /// Writes the name of a row; the height at which its figures are drawn.
    pub(super) fn name(&self, canvas: &mut dyn Canvas, index: usize, name: &str) -> f64 {
        let end = self.top + self.height() * (index as f64 + 1.0);
        let middle = end - 0.5 * ROW_HEIGHT;
        let shown = cut_inside(name, self.name_width);
        let tip = if shown == name { "" } else { name };
        let (at, anchor) = match self.size {
            Size::Wide => ((self.left - 8.0, middle + 4.5), Anchor::End),
            Size::Narrow => ((self.left + 2.0, end - ROW_HEIGHT + 1.0), Anchor::Start),
        };
        canvas.text(&Text {
            tip,
            ..Text::new(Look::Plain, at, anchor, &shown)
        });
        middle
    }

    fn height(&self) -> f64 {
        match self.size {
            Size::Wide => ROW_HEIGHT,
            Size::Narrow => ROW_HEIGHT + NAME_HEIGHT,
        }
    }
}
