//! Charts as pictures, for places that take no SVG.
//!
//! A renderer for all of SVG adds 3 MB to the program. Our charts are rectangles, lines, marks and
//! texts, drawn one by one.

use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash,
    Transform,
};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::canvas::{
    Anchor, Canvas, Line, Look, Point, SERIES_COUNT, SMALL_SIZE, Shape, TEXT_SIZE, TITLE_SIZE,
    Text, shape,
};
use super::colours::{DASHES, LINE_WIDTHS, MARK_EDGE, Palette, TEXT_EDGE};
use super::{Chart, Size};
use crate::text::style::clean;

/// The letters of the pictures, so that they are the same everywhere. Those it lacks become boxes.
const FONT: &[u8] = include_bytes!("../../fonts/Roboto-Regular-subset.ttf");
/// Dots of the picture for one of the chart.
const SCALE: f32 = 2.0;
const PALETTE: Palette = Palette::LIGHT;

/// The chart as PNG, light, 1520 dots wide: the same bytes for the same chart. `None` if no picture
/// can be as long as the chart.
pub fn png(chart: &Chart) -> Option<Vec<u8>> {
    picture(|canvas| (Size::Wide.width(), chart.draw(canvas, Size::Wide)))
}

/// A picture of what is drawn, of the size that `draw` returns.
pub(super) fn picture(draw: impl FnOnce(&mut dyn Canvas) -> Point) -> Option<Vec<u8>> {
    let mut picture = Picture {
        shapes: Vec::new(),
        face: Face::parse(FONT, 0).ok()?,
    };
    let size = draw(&mut picture);
    picture.finish(size)
}

/// A picture under construction.
struct Picture {
    shapes: Vec<Drawn>,
    face: Face<'static>,
}

/// A shape, filled or stroked.
struct Drawn {
    path: Path,
    stroke: Option<Stroke>,
    colour: &'static str,
}

impl Canvas for Picture {
    fn line(&mut self, line: Line, from: Point, to: Point) {
        let (width, colour) = match line {
            Line::Grid => (LINE_WIDTHS.grid, PALETTE.grid),
            Line::Axis | Line::Whisker => (LINE_WIDTHS.axis, PALETTE.ink),
            Line::Link => (LINE_WIDTHS.link, PALETTE.dim),
            Line::Leader => (LINE_WIDTHS.leader, PALETTE.dim),
            Line::Join => (LINE_WIDTHS.join, PALETTE.grid),
        };
        self.stroke(joined(&[from, to], false), plain(width), colour);
    }

    fn rectangle(&mut self, series: usize, corner: Point, size: Point) {
        let [x, y, width, height] = [corner.0, corner.1, size.0, size.1].map(dots);
        let rect = Rect::from_xywh(x, y, width, height);
        self.fill(rect.map(PathBuilder::from_rect), colour_of(series));
    }

    fn curve(&mut self, series: usize, points: &[Point]) {
        let spans = DASHES[series % SERIES_COUNT].split(' ');
        let spans: Vec<f32> = spans.filter_map(|span| span.parse().ok()).collect();
        let stroke = Stroke {
            dash: StrokeDash::new(spans, 0.0),
            ..plain(LINE_WIDTHS.curve)
        };
        self.stroke(joined(points, false), stroke, colour_of(series));
    }

    fn mark(&mut self, series: usize, (x, y): Point, _: &str) {
        let path = match shape(series) {
            Shape::Circle(radius) => PathBuilder::from_circle(dots(x), dots(y), dots(radius)),
            Shape::Polygon(corners) => {
                let corners: Vec<Point> = corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
                joined(&corners, true)
            }
        };
        self.fill(path.clone(), colour_of(series));
        self.stroke(path, plain(MARK_EDGE), PALETTE.paper);
    }

    fn text(&mut self, text: &Text<'_>) {
        let size = match text.look {
            Look::Title => TITLE_SIZE,
            Look::Plain | Look::Dim => TEXT_SIZE,
            Look::Small | Look::SmallDim => SMALL_SIZE,
        };
        let ink = match text.look {
            Look::Dim | Look::SmallDim => PALETTE.dim,
            Look::Title | Look::Plain | Look::Small => PALETTE.ink,
        };
        let (path, width) = self.letters(&clean(text.words), size);
        let before = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5 * width,
            Anchor::End => width,
        };
        let (x, y) = (dots(text.at.0), dots(text.at.1));
        let turn = match text.is_upright {
            true => Transform::from_row(0.0, -1.0, 1.0, 0.0, x, y),
            false => Transform::from_translate(x, y),
        };
        let path = path.and_then(|path| path.transform(turn.pre_translate(-before, 0.0)));
        self.stroke(path.clone(), plain(TEXT_EDGE), PALETTE.paper);
        self.fill(path, ink);
    }
}

impl Picture {
    /// A shape without size leaves nothing.
    fn fill(&mut self, path: Option<Path>, colour: &'static str) {
        self.shapes.extend(path.map(|path| Drawn {
            path,
            stroke: None,
            colour,
        }));
    }

    fn stroke(&mut self, path: Option<Path>, stroke: Stroke, colour: &'static str) {
        self.shapes.extend(path.map(|path| Drawn {
            path,
            stroke: Some(stroke),
            colour,
        }));
    }

    /// Outlines of a text from its start on, and its width.
    fn letters(&self, words: &str, size: f64) -> (Option<Path>, f32) {
        let scale = dots(size) / f32::from(self.face.units_per_em());
        let mut letters = Letters {
            path: PathBuilder::new(),
            scale,
            x: 0.0,
        };
        for letter in words.chars() {
            let glyph = self.face.glyph_index(letter).unwrap_or(GlyphId(0));
            self.face.outline_glyph(glyph, &mut letters);
            let advance = self.face.glyph_hor_advance(glyph).unwrap_or(0);
            letters.x += f32::from(advance) * scale;
        }
        (letters.path.finish(), letters.x)
    }

    /// The file of a picture of that size.
    fn finish(self, size: Point) -> Option<Vec<u8>> {
        let [width, height] = [size.0, size.1].map(|length| (dots(length) * SCALE).ceil());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "lengths of a chart are positive, and too large ones are refused"
        )]
        let mut pixmap = Pixmap::new(width as u32, height as u32)?;
        pixmap.fill(colour(PALETTE.paper)?);
        let scale = Transform::from_scale(SCALE, SCALE);
        for Drawn {
            path,
            stroke,
            colour: of,
        } in self.shapes
        {
            let mut paint = Paint::default();
            paint.set_color(colour(of)?);
            match stroke {
                Some(stroke) => pixmap.stroke_path(&path, &paint, &stroke, scale, None),
                None => pixmap.fill_path(&path, &paint, FillRule::Winding, scale, None),
            }
        }
        pixmap.encode_png().ok()
    }
}

/// Outlines of letters, one behind the other.
struct Letters {
    path: PathBuilder,
    scale: f32,
    x: f32,
}

impl Letters {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, -y * self.scale)
    }
}

impl OutlineBuilder for Letters {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

fn joined(points: &[Point], is_closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    let (first, others) = points.split_first()?;
    path.move_to(dots(first.0), dots(first.1));
    for (x, y) in others {
        path.line_to(dots(*x), dots(*y));
    }
    if is_closed {
        path.close();
    }
    path.finish()
}

fn plain(width: f64) -> Stroke {
    Stroke {
        width: dots(width),
        line_cap: LineCap::Butt,
        line_join: LineJoin::Round,
        ..Stroke::default()
    }
}

/// A length in hundredths of a dot, as in the SVG.
#[expect(clippy::cast_possible_truncation, reason = "a place in a chart")]
fn dots(length: f64) -> f32 {
    ((length * 100.0).round() / 100.0) as f32
}

fn colour_of(series: usize) -> &'static str {
    PALETTE.series[series % SERIES_COUNT]
}

/// A colour as it is written in a style sheet.
fn colour(text: &str) -> Option<Color> {
    let part = |from: usize| u8::from_str_radix(text.get(from..from + 2)?, 16).ok();
    Some(Color::from_rgba8(part(1)?, part(3)?, part(5)?, 0xff))
}
