//! Places for names beside the spots of a chart.

use super::canvas::{Anchor, Point};
use super::plane::Plane;

/// Half the size of a mark, and height of a name above and below its base line.
const MARK: f64 = 6.0;
const RISE: f64 = 12.0;
const FALL: f64 = 4.0;
/// Distances of a name from its spot: the first without a line between them.
const DISTANCES: [f64; 9] = [0.0, 16.0, 28.0, 42.0, 58.0, 78.0, 102.0, 132.0, 170.0];
/// Distance of the places that are tried all over the plane.
const RASTER: f64 = 8.0;
/// Steps in which lines are checked for what they cross.
const CHECKS_COUNT: u32 = 24;

/// A place for a name.
pub(super) struct Place {
    pub(super) at: Point,
    pub(super) anchor: Anchor,
    /// Line from the spot to the name, where they are not side by side.
    pub(super) leader: Option<(Point, Point)>,
}

/// What is taken in a plane: by marks, names, and lines to names.
pub(super) struct Labels<'a> {
    plane: &'a Plane<'a>,
    marks: Vec<Area>,
    taken: Vec<Area>,
    lines: Vec<(Point, Point)>,
}

impl<'a> Labels<'a> {
    /// Nothing is taken but by marks at these places.
    pub(super) fn new(plane: &'a Plane<'a>, marks: impl Iterator<Item = Point>) -> Self {
        Self {
            plane,
            marks: marks.map(Area::of_mark).collect(),
            taken: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// Takes the nearest free place for a name of that width; `None` if there is none.
    pub(super) fn place(&mut self, spot: Point, width: f64) -> Option<Place> {
        let near = DISTANCES.iter().find_map(|distance| {
            let mut places = around(spot, *distance).into_iter();
            places.find(|place| self.is_free(place, width) && self.is_clear(place, spot))
        })?;
        self.take(&near, width);
        Some(near)
    }

    /// Takes the free place in the plane that is nearest to a spot, whatever its line crosses.
    pub(super) fn place_anywhere(&mut self, spot: Point, width: f64) -> Option<Place> {
        let mut best: Option<(f64, Place)> = None;
        let mut base = self.plane.top + RISE;
        while base + FALL < self.plane.bottom {
            let mut left = self.plane.left + 2.0;
            while left + width < self.plane.right {
                let (distance, place) = raster_place(spot, left, base, width);
                let is_nearer = best.as_ref().is_none_or(|(known, _)| distance < *known);
                if is_nearer && self.is_free(&place, width) {
                    best = Some((distance, place));
                }
                left += RASTER;
            }
            base += RASTER;
        }
        let (_, found) = best?;
        self.take(&found, width);
        Some(found)
    }

    fn take(&mut self, place: &Place, width: f64) {
        self.taken
            .push(Area::of_text(place.at, place.anchor, width));
        self.lines.extend(place.leader);
    }

    /// True if a name covers nothing.
    fn is_free(&self, place: &Place, width: f64) -> bool {
        let area = Area::of_text(place.at, place.anchor, width);
        let is_crossed = |line: &(Point, Point)| crosses(*line, &area);
        let mut others = self.marks.iter().chain(&self.taken);
        area.is_in(self.plane)
            && !others.any(|other| other.meets(&area))
            && !self.lines.iter().any(is_crossed)
    }

    /// True if its line crosses nothing.
    fn is_clear(&self, place: &Place, spot: Point) -> bool {
        let own = Area::of_mark(spot);
        let crosses_nothing = |leader: &(Point, Point)| {
            let others = self.marks.iter().filter(|mark| **mark != own);
            !others.chain(&self.taken).any(|area| crosses(*leader, area))
        };
        place.leader.as_ref().is_none_or(crosses_nothing)
    }
}

/// Places at that distance from a spot, the best to read first.
fn around((x, y): Point, distance: f64) -> Vec<Place> {
    const SIDES: [(f64, f64, Anchor); 12] = [
        (1.0, 0.0, Anchor::Start),
        (-1.0, 0.0, Anchor::End),
        (0.0, -1.0, Anchor::Middle),
        (0.0, 1.0, Anchor::Middle),
        (0.75, -0.75, Anchor::Start),
        (0.75, 0.75, Anchor::Start),
        (-0.75, -0.75, Anchor::End),
        (-0.75, 0.75, Anchor::End),
        (1.0, -0.4, Anchor::Start),
        (1.0, 0.4, Anchor::Start),
        (-1.0, -0.4, Anchor::End),
        (-1.0, 0.4, Anchor::End),
    ];
    let place = |(right, down, anchor): (f64, f64, Anchor)| {
        let (dx, dy) = (right * (9.0 + distance), down * (14.0 + distance));
        let at = (x + dx, y + dy + 4.0);
        let end = match anchor {
            Anchor::Start => (x + dx - 2.0, y + dy),
            Anchor::End => (x + dx + 2.0, y + dy),
            Anchor::Middle if down < 0.0 => (x, at.1 + FALL),
            Anchor::Middle => (x, at.1 - RISE),
        };
        Place {
            at,
            anchor,
            leader: (distance > 0.0).then_some(((x, y), end)),
        }
    };
    SIDES.into_iter().map(place).collect()
}

/// A place for a name with that left end and base line, and its distance from a spot. The name is anchored on the
/// side of the spot, because its width is an estimate.
fn raster_place((x, y): Point, left: f64, base: f64, width: f64) -> (f64, Place) {
    let right = left + width;
    let (anchor, at) = if x < left {
        (Anchor::Start, left)
    } else if x > right {
        (Anchor::End, right)
    } else {
        (Anchor::Middle, 0.5 * (left + right))
    };
    let end = match anchor {
        Anchor::Start => (left - 2.0, base - FALL),
        Anchor::End => (right + 2.0, base - FALL),
        Anchor::Middle => (at, y.clamp(base - RISE, base + FALL)),
    };
    let place = Place {
        at: (at, base),
        anchor,
        leader: Some(((x, y), end)),
    };
    (libm::hypot(end.0 - x, end.1 - y), place)
}

/// True if a line passes through an area.
fn crosses((from, to): (Point, Point), area: &Area) -> bool {
    (0..=CHECKS_COUNT).any(|step| {
        let share = f64::from(step) / f64::from(CHECKS_COUNT);
        let x = from.0 + share * (to.0 - from.0);
        let y = from.1 + share * (to.1 - from.1);
        (area.left..area.right).contains(&x) && (area.top..area.bottom).contains(&y)
    })
}

/// An area that is taken.
#[derive(Clone, Copy, PartialEq)]
struct Area {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Area {
    fn of_mark((x, y): Point) -> Self {
        Self {
            left: x - MARK,
            right: x + MARK,
            top: y - MARK,
            bottom: y + MARK,
        }
    }

    fn of_text((x, y): Point, anchor: Anchor, width: f64) -> Self {
        let left = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - 0.5 * width,
            Anchor::End => x - width,
        };
        Self {
            left,
            right: left + width,
            top: y - RISE,
            bottom: y + FALL,
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
