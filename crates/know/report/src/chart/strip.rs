//! A rate of many things as dots on one axis, a few of them named.

use super::canvas::{Anchor, Canvas, Line, Look, Point, Text};
use super::frame::{
    Heading, LINE, SMALL_LINE, Sample, Size, TICK, cut_inside, head, lines, small_width, to_small,
};
use super::rows::Mark;
use super::scale::{Scale, tick};

/// Least distance of two dots, which are stacked if they are closer, and height of the lowest one above the axis.
const DOT: f64 = 10.0;
/// Space between the ends of the axis and the margins.
const END: f64 = 16.0;
/// Least gap between the figures of the axis.
const GAP: f64 = 6.0;
/// Look of named dots; the others have that before it.
const NAMED: usize = 1;

/// A thing with its rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Dot {
    /// Name.
    pub name: String,
    /// Its rate; one that is not positive is left out.
    pub value: f64,
    /// True if its name is written.
    pub is_named: bool,
}

/// Dots on one logarithmic axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// Heading.
    pub heading: Heading,
    /// Title of the axis, with its unit.
    pub axis: String,
    /// Content.
    pub dots: Vec<Dot>,
    /// Lines across, by rising value; those beyond the axis are left out.
    pub marks: Vec<Mark>,
}

impl Strip {
    /// Draws the chart; its height.
    pub(super) fn draw(&self, canvas: &mut dyn Canvas, size: Size) -> f64 {
        let (left, right) = (size.margin() + END, size.width() - size.margin() - END);
        let scale = self.scale(left, right);
        let placed = stacked(&self.dots, &scale);
        let mut named: Vec<&Placed<'_>> = placed.iter().filter(|one| one.dot.is_named).collect();
        // A line from a name in the middle passes no name further out.
        let from_middle = |one: &Placed<'_>| (one.x - 0.5 * size.width()).abs();
        named.sort_by(|a, b| from_middle(b).total_cmp(&from_middle(a)));
        let levels = placed.iter().map(|one| one.level + 1.0).fold(1.0, f64::max);
        let top = head(canvas, size, &self.heading, &[], Sample::Mark);
        let first = top + SMALL_LINE * named.len() as f64;
        let marked = first + SMALL_LINE * f64::from(u8::from(!self.marks.is_empty()));
        let bottom = marked + GAP + DOT * (levels + 0.5);
        let height = self.axis(canvas, size, &scale, (marked, bottom));
        self.lines_across(canvas, &scale, (marked, bottom));
        let at = |one: &Placed<'_>| (one.x, bottom - DOT * (one.level + 1.0));
        for (row, one) in named.iter().enumerate() {
            let base = top + SMALL_LINE * (row as f64 + 0.8);
            name(canvas, size, one.dot, (at(one), base));
        }
        let mut others: Vec<&Placed<'_>> = placed.iter().collect();
        others.sort_by_key(|one| one.dot.is_named);
        for one in others {
            let series = if one.dot.is_named { NAMED } else { 0 };
            canvas.mark(series, at(one), &one.dot.name);
        }
        height
    }

    fn scale(&self, left: f64, right: f64) -> Scale {
        let values = || self.dots.iter().map(|dot| dot.value);
        let drawn = || values().filter(|value| *value > 0.0 && value.is_finite());
        let least = drawn().fold(f64::INFINITY, f64::min);
        Scale::fitted(least, drawn().fold(0.0, f64::max), left, right)
    }

    /// Grid, figures and name of the axis; the height of the chart.
    fn axis(&self, canvas: &mut dyn Canvas, size: Size, scale: &Scale, ends: Point) -> f64 {
        let (top, bottom) = ends;
        let (left, right) = (size.margin(), size.width() - size.margin());
        let mut free_from = left;
        for value in scale.ticks() {
            let (x, words) = (scale.place(value), tick(value));
            canvas.line(Line::Grid, (x, top), (x, bottom));
            let half = 0.5 * small_width(&words);
            if x - half >= free_from && x + half <= right {
                free_from = x + half + GAP;
                let at = (x, bottom + TICK);
                canvas.text(&Text::new(Look::SmallDim, at, Anchor::Middle, &words));
            }
        }
        canvas.line(Line::Axis, (left, bottom), (right, bottom));
        let mut y = bottom + TICK;
        for line in lines(&format!("{} (log scale)", self.axis), right - left) {
            y += LINE;
            let at = (0.5 * (left + right), y);
            canvas.text(&Text::new(Look::Dim, at, Anchor::Middle, &line));
        }
        y + 6.0 + size.margin()
    }

    /// The marks, with their names above; a name that would cover the one before it is left out with its line.
    fn lines_across(&self, canvas: &mut dyn Canvas, scale: &Scale, (top, bottom): Point) {
        let mut free_from = f64::NEG_INFINITY;
        for mark in self.marks.iter().filter(|mark| scale.holds(mark.value)) {
            let x = scale.place(mark.value);
            let half = 0.5 * small_width(&mark.label);
            if x - half < free_from {
                continue;
            }
            free_from = x + half + GAP;
            canvas.line(Line::Leader, (x, top), (x, bottom));
            let at = (x, top - 3.0);
            canvas.text(&Text::new(Look::SmallDim, at, Anchor::Middle, &mark.label));
        }
    }
}

/// A dot with its place.
struct Placed<'a> {
    dot: &'a Dot,
    x: f64,
    /// Number of dots below it.
    level: f64,
}

/// The dots from left to right, each on the lowest level on which it touches none; named ones first, at the bottom.
fn stacked<'a>(dots: &'a [Dot], scale: &Scale) -> Vec<Placed<'a>> {
    let mut drawn: Vec<&Dot> = dots
        .iter()
        .filter(|dot| dot.value > 0.0 && dot.value.is_finite())
        .collect();
    drawn.sort_by(|a, b| {
        let named = b.is_named.cmp(&a.is_named);
        named.then(a.value.total_cmp(&b.value))
    });
    let mut placed: Vec<Placed<'_>> = Vec::new();
    for dot in drawn {
        let x = scale.place(dot.value);
        let mut level = 0.0;
        let touches = |level: f64| {
            let mut beside = placed.iter().filter(|one| (one.x - x).abs() < DOT);
            beside.any(|one| (one.level - level).abs() < 0.5)
        };
        while touches(level) {
            level += 1.0;
        }
        placed.push(Placed { dot, x, level });
    }
    placed
}

/// Writes the name of a dot above it, towards the middle of the chart, with a line between the two.
fn name(canvas: &mut dyn Canvas, size: Size, dot: &Dot, (at, base): (Point, f64)) {
    let is_left = at.0 < 0.5 * size.width();
    let room = if is_left { size.width() - at.0 } else { at.0 } - size.margin() - 6.0;
    let shown = cut_inside(&dot.name, to_small(room));
    let (x, anchor) = match is_left {
        true => (at.0 + 6.0, Anchor::Start),
        false => (at.0 - 6.0, Anchor::End),
    };
    canvas.line(Line::Leader, at, (at.0, base - 10.0));
    let tip = if shown == dot.name { "" } else { &dot.name };
    canvas.text(&Text {
        tip,
        ..Text::new(Look::Small, (x, base), anchor, &shown)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_that_touch_are_stacked_and_the_named_one_is_at_the_bottom() {
        let dot = |value: f64, is_named: bool| Dot {
            name: String::new(),
            value,
            is_named,
        };
        let dots = [
            dot(10.0, false),
            dot(10.1, true),
            dot(10.2, false),
            dot(900.0, false),
            dot(0.0, false),
        ];
        let scale = Scale::fitted(10.0, 900.0, 0.0, 300.0);
        let placed = stacked(&dots, &scale);
        let levels: Vec<(f64, f64)> = placed
            .iter()
            .map(|one| (one.dot.value, one.level))
            .collect();
        assert_eq!(
            levels,
            [(10.1, 0.0), (10.0, 1.0), (10.2, 2.0), (900.0, 0.0)]
        );
    }
}
