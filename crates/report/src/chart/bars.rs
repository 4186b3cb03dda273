//! Bars beside each other, with whiskers.

use super::canvas::{Anchor, Canvas, Line, Look, Text};
use super::frame::{Heading, Sample, Size, head};
use super::rows::Rows;
use crate::text::figure;

/// Space for the figures behind the bars.
const FIGURE_WIDTH: f64 = 64.0;
/// Height of a bar.
const BAR_HEIGHT: f64 = 14.0;

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Name of the subject.
    pub name: String,
    /// Its length.
    pub value: f64,
    /// The ends of its whisker.
    pub ends: Option<(f64, f64)>,
    /// Index of its series in the chart.
    pub series: usize,
}

/// Bars beside each other, the first at the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// Heading.
    pub heading: Heading,
    /// Title of the axis, with its unit.
    pub axis: String,
    /// Names of the series; none or one: there is no legend.
    pub series: Vec<String>,
    /// The bars.
    pub bars: Vec<Bar>,
}

impl Bars {
    /// Draws the chart; its height.
    pub(super) fn draw(&self, canvas: &mut dyn Canvas, size: Size) -> f64 {
        let top = head(canvas, size, &self.heading, &self.series, Sample::Block);
        let names: Vec<&str> = self.bars.iter().map(|bar| bar.name.as_str()).collect();
        let most = self.bars.iter().map(Bar::reach).fold(0.0, f64::max);
        let rows = Rows::new(size, top, &names, most, FIGURE_WIDTH);
        let height = rows.axis(canvas, self.bars.len(), &self.axis);
        for (index, bar) in self.bars.iter().enumerate() {
            bar.draw(canvas, &rows, index);
        }
        height
    }
}

impl Bar {
    fn reach(&self) -> f64 {
        self.ends
            .map_or(self.value, |(_, high)| self.value.max(high))
    }

    fn draw(&self, canvas: &mut dyn Canvas, rows: &Rows, index: usize) {
        let middle = rows.name(canvas, index, &self.name);
        let (zero, end) = (rows.scale.place(0.0), rows.scale.place(self.value));
        let corner = (zero, middle - 0.5 * BAR_HEIGHT);
        canvas.rectangle(self.series, corner, (end - zero, BAR_HEIGHT));
        let mut behind = end;
        if let Some((low, high)) = self.ends {
            let (from, to) = (rows.scale.place(low), rows.scale.place(high));
            canvas.line(Line::Whisker, (from, middle), (to, middle));
            for x in [from, to] {
                canvas.line(Line::Whisker, (x, middle - 4.0), (x, middle + 4.0));
            }
            behind = behind.max(to);
        }
        let at = (behind + 6.0, middle + 4.5);
        canvas.text(&Text::new(
            Look::Plain,
            at,
            Anchor::Start,
            &figure(self.value),
        ));
    }
}
