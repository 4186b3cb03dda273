//! Curves: a rate over time, or how many operations take longer than a latency.

use super::canvas::Canvas;
use super::frame::{Heading, Sample, Size, head};
use super::plane::{Axis, Plane};

const HEIGHT: f64 = 300.0;

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name of the subject.
    pub name: String,
    /// Its points, in the order of the level axis.
    pub points: Vec<(f64, f64)>,
}

/// Curves in one frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// Heading.
    pub heading: Heading,
    /// Title of the horizontal axis, with its unit.
    pub x_axis: String,
    /// Title of the vertical axis, with its unit.
    pub y_axis: String,
    /// True for logarithmic axes: horizontal, vertical.
    pub is_log: (bool, bool),
    /// The curves.
    pub curves: Vec<Curve>,
}

impl Curves {
    /// Draws the chart; its height.
    pub(super) fn draw(&self, canvas: &mut dyn Canvas, size: Size) -> f64 {
        let names: Vec<String> = self.curves.iter().map(|curve| curve.name.clone()).collect();
        let top = head(canvas, size, &self.heading, &names, Sample::Curve) + 6.0;
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let axes = [
            Axis::around(&self.x_axis, self.is_log.0, points().map(|point| point.0)),
            Axis::around(&self.y_axis, self.is_log.1, points().map(|point| point.1)),
        ];
        let plane = Plane::new(size, top, HEIGHT, axes);
        let height = plane.draw(canvas);
        for (index, curve) in self.curves.iter().enumerate() {
            let places = curve.points.iter().filter_map(|point| plane.place(*point));
            canvas.curve(index, &places.collect::<Vec<_>>());
        }
        height
    }
}
