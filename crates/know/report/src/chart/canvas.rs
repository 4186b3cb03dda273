//! Surface for charts: a few shapes and texts, whose looks are named by their purpose.

/// A place on a chart, or a size: to the right and down, dots.
pub(super) type Point = (f64, f64);

/// Number of series that have a colour of their own.
pub(super) const SERIES_COUNT: usize = 6;

/// Size of the text of a chart, dots.
pub(super) const TEXT_SIZE: f64 = 13.0;
/// Size of the figures at its axes, dots.
pub(super) const SMALL_SIZE: f64 = 11.5;
/// Size of its title, dots.
pub(super) const TITLE_SIZE: f64 = 15.0;

/// Purpose of a straight line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Grid,
    Axis,
    Whisker,
    Link,
    /// From a mark to its name.
    Leader,
    /// Between marks of one thing.
    Join,
}

/// Purpose of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Title,
    Plain,
    Dim,
    Small,
    SmallDim,
}

/// Part of a text that lies at its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A text at a point of its base line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a> {
    pub(super) look: Look,
    pub(super) at: Point,
    pub(super) anchor: Anchor,
    pub(super) words: &'a str,
    /// Longer text that it stands for; may be empty.
    pub(super) tip: &'a str,
    /// Turned to read upwards.
    pub(super) is_upright: bool,
}

impl<'a> Text<'a> {
    pub(super) fn new(look: Look, at: Point, anchor: Anchor, words: &'a str) -> Self {
        Self {
            look,
            at,
            anchor,
            words,
            tip: "",
            is_upright: false,
        }
    }
}

/// A surface to draw on. Series beyond the last colour begin again with the first.
pub(super) trait Canvas {
    /// Draws a straight line.
    fn line(&mut self, line: Line, from: Point, to: Point);
    /// Draws a rectangle in the colour of a series; one without area leaves nothing.
    fn rectangle(&mut self, series: usize, corner: Point, size: Point);
    /// Draws a line of a series through these points.
    fn curve(&mut self, series: usize, points: &[Point]);
    /// Draws the mark of a series at a point, with a tip that may be empty.
    fn mark(&mut self, series: usize, at: Point, tip: &str);
    /// Writes a text.
    fn text(&mut self, text: &Text<'_>);
}

/// Shape of a mark around its point.
pub(super) enum Shape {
    /// A circle of that radius.
    Circle(f64),
    /// A polygon of these corners.
    Polygon(&'static [Point]),
}

/// Returns the mark of a series: its shape distinguishes it, like its colour.
pub(super) fn shape(series: usize) -> Shape {
    Shape::Polygon(match series % SERIES_COUNT {
        0 => return Shape::Circle(4.5),
        1 => &[(-4.0, -4.0), (4.0, -4.0), (4.0, 4.0), (-4.0, 4.0)],
        2 => &[(0.0, -5.2), (5.0, 4.0), (-5.0, 4.0)],
        3 => &[(0.0, -5.6), (5.6, 0.0), (0.0, 5.6), (-5.6, 0.0)],
        4 => &[(-5.0, -4.0), (5.0, -4.0), (0.0, 5.2)],
        _ => &[
            (-2.0, -5.5),
            (2.0, -5.5),
            (2.0, -2.0),
            (5.5, -2.0),
            (5.5, 2.0),
            (2.0, 2.0),
            (2.0, 5.5),
            (-2.0, 5.5),
            (-2.0, 2.0),
            (-5.5, 2.0),
            (-5.5, -2.0),
            (-2.0, -2.0),
        ],
    })
}
