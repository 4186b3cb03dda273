//! Two rates of each of several things, joined: with a command queue and without, on one board and on
//! another.

use super::canvas::{Anchor, Canvas, Line, Look, Text};
use super::frame::{Heading, Sample, Size, head};
use super::rows::{RowOf, Rows};
use crate::text::figure;

/// Space for the figures and the ratio behind each row.
const RATIO_WIDTH: f64 = 170.0;
/// Least distance of two marks at one height, and how far closer ones are moved apart.
const LEAST_DISTANCE: f64 = 9.0;
const APART: f64 = 4.0;

/// A thing with two rates.
#[derive(Clone, Debug, PartialEq)]
pub struct Dumbbell {
    /// Name.
    pub name: String,
    /// The rate on the first side.
    pub base: f64,
    /// The rate on the second side.
    pub other: f64,
}

/// Pairs of rates, the first at the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Dumbbells {
    /// Heading.
    pub heading: Heading,
    /// Title of the axis, with its unit.
    pub axis: String,
    /// Names of the two sides.
    pub sides: [String; 2],
    /// Content.
    pub dumbbells: Vec<Dumbbell>,
}

impl Dumbbells {
    /// Draws the chart; its height.
    pub(super) fn draw(&self, canvas: &mut dyn Canvas, size: Size) -> f64 {
        let top = head(canvas, size, &self.heading, &self.sides, Sample::Mark);
        let names = self.dumbbells.iter().map(|one| one.name.as_str());
        let named: Vec<RowOf<'_>> = names.map(|name| (name, 1)).collect();
        let rates = self.dumbbells.iter().flat_map(|one| [one.base, one.other]);
        let rows = Rows::new(size, top, &named, rates.fold(0.0, f64::max), RATIO_WIDTH);
        let height = rows.axis(canvas, &self.axis);
        for (index, one) in self.dumbbells.iter().enumerate() {
            let y = rows.name(canvas, index, &one.name);
            let ends = [rows.scale.place(one.base), rows.scale.place(one.other)];
            let is_close = (ends[0] - ends[1]).abs() < LEAST_DISTANCE;
            let heights = match is_close {
                true => [y - APART, y + APART],
                false => [y, y],
            };
            if !is_close {
                canvas.line(Line::Link, (ends[0], y), (ends[1], y));
            }
            for (series, side) in self.sides.iter().enumerate() {
                canvas.mark(series, (ends[series], heights[series]), side);
            }
            let mut words = format!("{} to {}", figure(one.base), figure(one.other));
            if one.base > 0.0 {
                words += &format!(", ×{}", figure(one.other / one.base));
            }
            let at = (size.width() - size.margin(), y + 4.5);
            canvas.text(&Text::new(Look::Dim, at, Anchor::End, &words));
        }
        height
    }
}
