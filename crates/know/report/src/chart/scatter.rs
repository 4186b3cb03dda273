//! One rate against another, both on logarithmic axes.

use super::canvas::{Anchor, Canvas, Line, Look, Text};
use super::frame::{
    Heading, SMALL_LINE, Sample, Size, cut_inside, head, lines, small_width, to_small,
};
use super::labels::Labels;
use super::plane::{Axis, Plane};

/// Widest name beside a spot, relative to the plane.
const MOST_NAME_SHARE: f64 = 0.6;
/// Most names of subjects whose spots on several boards are joined: more lines hide the spots.
const MOST_JOINED: usize = 24;

/// A thing with two rates.
#[derive(Clone, Debug, PartialEq)]
pub struct Spot {
    /// Name. Spots of one name are labelled once.
    pub name: String,
    /// Its rate on the level axis.
    pub x: f64,
    /// Its rate on the upright axis.
    pub y: f64,
    /// Index of its series in the chart.
    pub series: usize,
}

impl Spot {
    /// True if the other is at least as high in both rates, and higher in one.
    fn is_beaten_by(&self, other: &Self) -> bool {
        other.x >= self.x && other.y >= self.y && (other.x > self.x || other.y > self.y)
    }
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
    /// Names to write beside their spots; empty: all.
    pub named: Vec<String>,
}

/// A spot with its place.
type Placed<'a> = (&'a Spot, (f64, f64));

impl Scatter {
    /// Draws the chart; its height.
    pub(super) fn draw(&self, canvas: &mut dyn Canvas, size: Size) -> f64 {
        let top = head(canvas, size, &self.heading, &self.series, Sample::Mark) + 6.0;
        let height = match size {
            Size::Wide => 420.0,
            Size::Narrow => 340.0,
        };
        let axes = [
            Axis::fitted(&self.x_axis, self.spots.iter().map(|spot| spot.x)),
            Axis::fitted(&self.y_axis, self.spots.iter().map(|spot| spot.y)),
        ];
        let plane = Plane::new(size, top, height, axes);
        let height = plane.draw(canvas);
        let spots = self.spots.iter();
        let places: Vec<Placed<'_>> = spots
            .filter_map(|spot| Some((spot, plane.place((spot.x, spot.y))?)))
            .collect();
        join(canvas, &places);
        let missing = label(canvas, &plane, &places, &self.named);
        for (spot, at) in &places {
            canvas.mark(spot.series, *at, &spot.name);
        }
        unplaced(canvas, size, &missing, height)
    }
}

/// Joins the spots of each name by thin lines.
fn join(canvas: &mut dyn Canvas, places: &[Placed<'_>]) {
    let mut names: Vec<&str> = places.iter().map(|(spot, _)| spot.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() > MOST_JOINED {
        return;
    }
    for name in names {
        let of = places.iter().filter(|(spot, _)| spot.name == name);
        let of: Vec<(f64, f64)> = of.map(|(_, at)| *at).collect();
        for pair in of.windows(2) {
            if let [from, to] = pair {
                canvas.line(Line::Join, *from, *to);
            }
        }
    }
}

/// Writes each name once, the best first; returns those that found no room. `named` restricts the names, unless it is empty.
fn label<'a>(
    canvas: &mut dyn Canvas,
    plane: &Plane<'_>,
    places: &[Placed<'a>],
    named: &[String],
) -> Vec<&'a str> {
    let mut labels = Labels::new(plane, places.iter().map(|(_, at)| *at));
    let most_width = MOST_NAME_SHARE * (plane.right - plane.left);
    let (mut written, mut missing) = (Vec::new(), Vec::new());
    for (spot, at) in by_merit(places) {
        let is_left_out = !named.is_empty() && !named.contains(&spot.name);
        if is_left_out || written.contains(&spot.name.as_str()) {
            continue;
        }
        written.push(spot.name.as_str());
        let name = cut_inside(&spot.name, to_small(most_width));
        let width = small_width(&name);
        let near = labels.place(at, width);
        let placed = match is_best(spot, places) {
            true => near.or_else(|| labels.place_anywhere(at, width)),
            false => near,
        };
        let Some(placed) = placed else {
            missing.push(spot.name.as_str());
            continue;
        };
        if let Some((from, to)) = placed.leader {
            canvas.line(Line::Leader, from, to);
        }
        let tip = if name == spot.name { "" } else { &spot.name };
        canvas.text(&Text {
            tip,
            ..Text::new(Look::Small, placed.at, placed.anchor, &name)
        });
    }
    missing
}

/// The spots that no other beats, then those that no other of their series beats, then the others from the
/// top.
fn by_merit<'a>(places: &[Placed<'a>]) -> Vec<Placed<'a>> {
    let is_best_of_series = |spot: &Spot| {
        let mut others = places.iter().filter(|(one, _)| one.series == spot.series);
        !others.any(|(other, _)| spot.is_beaten_by(other))
    };
    let rank = |spot: &Spot| (!is_best(spot, places), !is_best_of_series(spot));
    let mut sorted = places.to_vec();
    sorted.sort_by(|a, b| {
        (rank(a.0), -a.0.y)
            .partial_cmp(&(rank(b.0), -b.0.y))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    sorted
}

/// True if no other is better in both rates.
fn is_best(spot: &Spot, places: &[Placed<'_>]) -> bool {
    !places.iter().any(|(other, _)| spot.is_beaten_by(other))
}

/// Lists names without room in the plane below the chart of that height; the height with them.
fn unplaced(canvas: &mut dyn Canvas, size: Size, names: &[&str], height: f64) -> f64 {
    if names.is_empty() {
        return height;
    }
    let margin = size.margin();
    let words = format!("Without a name in the chart: {}.", names.join("; "));
    let mut y = height - margin;
    for line in lines(&words, to_small(size.width() - 2.0 * margin)) {
        y += SMALL_LINE;
        canvas.text(&Text::new(
            Look::SmallDim,
            (margin, y),
            Anchor::Start,
            &line,
        ));
    }
    y + 6.0 + margin
}
