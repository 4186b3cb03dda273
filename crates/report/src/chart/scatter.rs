//! One rate against another, both on logarithmic axes.

use super::canvas::{Anchor, Canvas, Look, Text};
use super::frame::{Heading, LINE, Sample, Size, head, small_width};
use super::plane::{Axis, Plane};

/// A thing with two rates.
#[derive(Clone, Debug, PartialEq)]
pub struct Spot {
    /// Name.
    pub name: String,
    /// Its rate on the level axis.
    pub x: f64,
    /// Its rate on the upright axis.
    pub y: f64,
    /// Index of its series in the chart.
    pub series: usize,
}

/// One rate against another.
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// Heading.
    pub heading: Heading,
    /// Title of the horizontal axis, with its unit.
    pub x_axis: String,
    /// Title of the vertical axis, with its unit.
    pub y_axis: String,
    /// Names of the series; none or one: there is no legend.
    pub series: Vec<String>,
    /// Content; rates that are not positive are omitted.
    pub spots: Vec<Spot>,
}

impl Scatter {
    /// Draws the chart; its height.
    pub(super) fn draw(&self, canvas: &mut dyn Canvas, size: Size) -> f64 {
        let top = head(canvas, size, &self.heading, &self.series, Sample::Mark) + 6.0;
        let height = match size {
            Size::Wide => 420.0,
            Size::Narrow => 340.0,
        };
        let axes = [
            Axis::around(&self.x_axis, true, self.spots.iter().map(|spot| spot.x)),
            Axis::around(&self.y_axis, true, self.spots.iter().map(|spot| spot.y)),
        ];
        let plane = Plane::new(size, top, height, axes);
        let height = plane.draw(canvas);
        let places: Vec<(&Spot, (f64, f64))> = self
            .spots
            .iter()
            .filter_map(|spot| Some((spot, plane.place((spot.x, spot.y))?)))
            .collect();
        let mut taken: Vec<Area> = places.iter().map(|(_, at)| Area::of_mark(*at)).collect();
        let mut missing_count = 0;
        for (spot, at) in &places {
            if !label(canvas, &plane, &spot.name, *at, &mut taken) {
                missing_count += 1;
            }
        }
        for (spot, at) in &places {
            canvas.mark(spot.series, *at, &spot.name);
        }
        if missing_count == 0 {
            return height;
        }
        let remark = match missing_count {
            1 => "1 name has no room here".to_owned(),
            count => format!("{count} names have no room here"),
        };
        let middle = 0.5 * (plane.left + plane.right);
        canvas.text(&Text::new(
            Look::SmallDim,
            (middle, height + 6.0),
            Anchor::Middle,
            &remark,
        ));
        height + LINE
    }
}

/// An area that is taken.
#[derive(Clone, Copy)]
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Area {
    fn of_mark((x, y): (f64, f64)) -> Self {
        Self {
            left: x - 6.0,
            right: x + 6.0,
            top: y - 6.0,
            bottom: y + 6.0,
        }
    }

    fn of_text((x, y): (f64, f64), anchor: Anchor, width: f64) -> Self {
        let left = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - 0.5 * width,
            Anchor::End => x - width,
        };
        Self {
            left,
            right: left + width,
            top: y - 12.0,
            bottom: y + 4.0,
        }
    }

    fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn is_in(&self, plane: &Plane<'_>) -> bool {
        self.left >= plane.left
            && self.right <= plane.right
            && self.top >= plane.top
            && self.bottom <= plane.bottom
    }
}

/// Writes the name beside its mark. Returns false if there is no room; the tip of the mark still has it.
fn label(
    canvas: &mut dyn Canvas,
    plane: &Plane<'_>,
    name: &str,
    at: (f64, f64),
    taken: &mut Vec<Area>,
) -> bool {
    let (x, y) = at;
    let choices = [
        ((x + 9.0, y + 4.0), Anchor::Start),
        ((x - 9.0, y + 4.0), Anchor::End),
        ((x, y - 10.0), Anchor::Middle),
        ((x, y + 18.0), Anchor::Middle),
        ((x + 7.0, y - 8.0), Anchor::Start),
        ((x + 7.0, y + 16.0), Anchor::Start),
        ((x - 7.0, y - 8.0), Anchor::End),
        ((x - 7.0, y + 16.0), Anchor::End),
    ];
    let width = small_width(name);
    for (at, anchor) in choices {
        let area = Area::of_text(at, anchor, width);
        if area.is_in(plane) && !taken.iter().any(|other| other.meets(&area)) {
            canvas.text(&Text::new(Look::Small, at, anchor, name));
            taken.push(area);
            return true;
        }
    }
    false
}
