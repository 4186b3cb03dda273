//! A plane between a level and an upright axis.

use super::canvas::{Anchor, Canvas, Line, Look, Text};
use super::frame::{LINE, Size, TICK, small_width};
use super::scale::{Scale, tick};

/// Space for the name of the upright axis, and between its figures and the plane.
const NAME_WIDTH: f64 = 18.0;
const GAP: f64 = 6.0;

/// One axis: its name with the unit, the least and the most of its figures, and whether it is
/// logarithmic.
pub(super) struct Axis<'a> {
    pub(super) name: &'a str,
    pub(super) least: f64,
    pub(super) most: f64,
    pub(super) is_log: bool,
    /// True if it ends shortly behind its figures, not at a round one. Only logarithmic axes can.
    is_fitted: bool,
}

impl<'a> Axis<'a> {
    /// Around these figures; those that it cannot show do not count.
    pub(super) fn around(name: &'a str, is_log: bool, values: impl Iterator<Item = f64>) -> Self {
        let mut axis = Self {
            name,
            least: f64::INFINITY,
            most: 0.0,
            is_log,
            is_fitted: false,
        };
        for value in values.filter(|value| axis_shows(is_log, *value)) {
            axis.least = axis.least.min(value);
            axis.most = axis.most.max(value);
        }
        axis
    }

    /// Logarithmic, and hardly longer than from the least to the most of these figures.
    pub(super) fn fitted(name: &'a str, values: impl Iterator<Item = f64>) -> Self {
        Self {
            is_fitted: true,
            ..Self::around(name, true, values)
        }
    }

    fn shows(&self, value: f64) -> bool {
        axis_shows(self.is_log, value)
    }

    fn label(&self) -> String {
        let scale = if self.is_log { " (log scale)" } else { "" };
        format!("{}{scale}", self.name)
    }

    fn scale(&self, start: f64, end: f64) -> Scale {
        if self.is_fitted {
            Scale::fitted(self.least, self.most, start, end)
        } else if self.is_log {
            Scale::logarithmic(self.least, self.most, start, end)
        } else {
            Scale::linear(self.most, start, end)
        }
    }
}

fn axis_shows(is_log: bool, value: f64) -> bool {
    value.is_finite() && (!is_log || value > 0.0)
}

/// Position of the plane and the scales of its axes.
pub(super) struct Plane<'a> {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    margin: f64,
    axes: [Axis<'a>; 2],
    scales: [Scale; 2],
}

impl<'a> Plane<'a> {
    /// Below `top`, of that height; as wide as the figures of the upright axis let it be.
    pub(super) fn new(size: Size, top: f64, height: f64, axes: [Axis<'a>; 2]) -> Self {
        let margin = size.margin();
        let bottom = top + height;
        let upright = axes[1].scale(bottom, top);
        let widths = upright.ticks().into_iter().map(|v| small_width(&tick(v)));
        let left = margin + NAME_WIDTH + widths.fold(0.0, f64::max) + GAP;
        // The last figure of the level axis stands half behind the end, in the margin if need be.
        let level = axes[0].scale(left, size.width() - margin).ticks();
        let last = level.last().map_or(0.0, |v| small_width(&tick(*v)));
        let right = size.width() - margin - (0.5 * last - margin).max(14.0);
        Self {
            left,
            right,
            top,
            bottom,
            margin,
            scales: [axes[0].scale(left, right), upright],
            axes,
        }
    }

    /// The place of a pair of figures; none where an axis cannot show it.
    pub(super) fn place(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        (self.axes[0].shows(x) && self.axes[1].shows(y))
            .then(|| (self.scales[0].place(x), self.scales[1].place(y)))
    }

    /// Grid, figures and names of the axes; the height of the chart.
    pub(super) fn draw(&self, canvas: &mut dyn Canvas) -> f64 {
        let (left, right, top, bottom) = (self.left, self.right, self.top, self.bottom);
        for value in self.scales[0].ticks() {
            let x = self.scales[0].place(value);
            canvas.line(Line::Grid, (x, top), (x, bottom));
            let at = (x, bottom + TICK);
            canvas.text(&Text::new(Look::SmallDim, at, Anchor::Middle, &tick(value)));
        }
        for value in self.scales[1].ticks() {
            let y = self.scales[1].place(value);
            canvas.line(Line::Grid, (left, y), (right, y));
            let at = (left - GAP, y + 4.0);
            canvas.text(&Text::new(Look::SmallDim, at, Anchor::End, &tick(value)));
        }
        canvas.line(Line::Axis, (left, top), (left, bottom));
        canvas.line(Line::Axis, (left, bottom), (right, bottom));
        let below = (0.5 * (left + right), bottom + TICK + LINE);
        canvas.text(&Text::new(
            Look::Dim,
            below,
            Anchor::Middle,
            &self.axes[0].label(),
        ));
        let beside = (self.margin + 11.0, 0.5 * (top + bottom));
        let label = self.axes[1].label();
        canvas.text(&Text {
            is_upright: true,
            ..Text::new(Look::Dim, beside, Anchor::Middle, &label)
        });
        below.1 + 6.0 + self.margin
    }
}
