//! Charts as pictures, for places that take no SVG.
//!
//! A renderer for all of SVG adds 3 MB to the program. Our charts are rectangles, lines, marks and
//! texts of few classes: they are read back from the SVG, so that a picture shows the same, and drawn
//! one by one.

use roxmltree::{Document, Node};
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash,
    Transform,
};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::colours::{DASHES, LINE_WIDTHS, MARK_EDGE, Palette, TEXT_EDGE};
use super::frame::{SMALL_SIZE, TEXT_SIZE, TITLE_SIZE};
use super::{Chart, Size, Theme};

/// The letters of the pictures, so that they are the same everywhere. Those it lacks become boxes.
const FONT: &[u8] = include_bytes!("../../fonts/Roboto-Regular-subset.ttf");
/// Dots of the picture for one of the chart.
const SCALE: f32 = 2.0;
const PALETTE: Palette = Palette::LIGHT;

/// The chart as PNG, light, 1520 dots wide: the same bytes for the same chart. `None` if no picture
/// can be as long as the chart.
#[must_use]
pub fn png(chart: &Chart) -> Option<Vec<u8>> {
    let svg = chart.svg(Theme::Page, Size::Wide);
    let document = Document::parse(&svg).ok()?;
    let root = document.root_element();
    let length = |name| Some((number(root, name)? * SCALE).ceil());
    let (width, height) = (length("width")?, length("height")?);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "lengths of a chart are positive, and too large ones are refused"
    )]
    let mut pixmap = Pixmap::new(width as u32, height as u32)?;
    pixmap.fill(colour(PALETTE.paper)?);
    let mut picture = Picture {
        pixmap,
        face: Face::parse(FONT, 0).ok()?,
    };
    for node in root.descendants().filter(Node::is_element) {
        // What has no size leaves nothing.
        let _ = picture.draw(node);
    }
    picture.pixmap.encode_png().ok()
}

/// A picture under construction.
struct Picture {
    pixmap: Pixmap,
    face: Face<'static>,
}

impl Picture {
    fn draw(&mut self, node: Node<'_, '_>) -> Option<()> {
        let class = node.attribute("class")?;
        let of = |name| number(node, name);
        match node.tag_name().name() {
            "rect" => {
                let rect = Rect::from_xywh(of("x")?, of("y")?, of("width")?, of("height")?)?;
                self.fill(&PathBuilder::from_rect(rect), series_colour(class)?);
            }
            "line" => {
                let points = [(of("x1")?, of("y1")?), (of("x2")?, of("y2")?)];
                let (width, colour) = line_look(class)?;
                self.stroke(&joined(&points, false)?, &plain(width), colour);
            }
            "path" => {
                let data = node.attribute("d")?.split(['M', 'L']).skip(1);
                let points: Vec<_> = data.filter_map(|point| pair(point, ' ')).collect();
                let stroke = Stroke {
                    dash: dash(class),
                    ..plain(LINE_WIDTHS.curve)
                };
                self.stroke(&joined(&points, false)?, &stroke, series_colour(class)?);
            }
            "circle" => self.mark(
                &PathBuilder::from_circle(of("cx")?, of("cy")?, of("r")?)?,
                class,
            )?,
            "polygon" => {
                let corners = node.attribute("points")?.split(' ');
                let corners: Vec<_> = corners.filter_map(|corner| pair(corner, ',')).collect();
                self.mark(&joined(&corners, true)?, class)?;
            }
            "text" => self.text(node, class)?,
            _ => {}
        }
        Some(())
    }

    fn mark(&mut self, path: &Path, class: &str) -> Option<()> {
        self.fill(path, series_colour(class)?);
        self.stroke(path, &plain(MARK_EDGE), PALETTE.paper);
        Some(())
    }

    fn text(&mut self, node: Node<'_, '_>, class: &str) -> Option<()> {
        let has = |name: &str| class.split(' ').any(|word| word == name);
        let size = match () {
            () if has("title") => TITLE_SIZE,
            () if has("small") => SMALL_SIZE,
            () => TEXT_SIZE,
        };
        let words: String = node
            .children()
            .filter(Node::is_text)
            .filter_map(|child| child.text())
            .collect();
        #[expect(clippy::cast_possible_truncation, reason = "a size of letters")]
        let scale = size as f32 / f32::from(self.face.units_per_em());
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
        let before = match node.attribute("text-anchor")? {
            "middle" => 0.5 * letters.x,
            "end" => letters.x,
            _ => 0.0,
        };
        let (x, y) = (number(node, "x")?, number(node, "y")?);
        let turn = if node.attribute("transform").is_some() {
            Transform::from_row(0.0, -1.0, 1.0, 0.0, x, y)
        } else {
            Transform::from_translate(x, y)
        };
        let path = letters.path.finish()?;
        let path = path.transform(turn.pre_translate(-before, 0.0))?;
        self.stroke(&path, &plain(TEXT_EDGE), PALETTE.paper);
        let ink = if has("dim") { PALETTE.dim } else { PALETTE.ink };
        self.fill(&path, ink);
        Some(())
    }

    fn fill(&mut self, path: &Path, of: &str) {
        let scale = Transform::from_scale(SCALE, SCALE);
        let paint = paint(of);
        self.pixmap
            .fill_path(path, &paint, FillRule::Winding, scale, None);
    }

    fn stroke(&mut self, path: &Path, stroke: &Stroke, of: &str) {
        let scale = Transform::from_scale(SCALE, SCALE);
        self.pixmap
            .stroke_path(path, &paint(of), stroke, scale, None);
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

fn joined(points: &[(f32, f32)], is_closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    let (first, others) = points.split_first()?;
    path.move_to(first.0, first.1);
    for (x, y) in others {
        path.line_to(*x, *y);
    }
    if is_closed {
        path.close();
    }
    path.finish()
}

fn number(node: Node<'_, '_>, name: &str) -> Option<f32> {
    node.attribute(name)?.parse().ok()
}

fn pair(text: &str, between: char) -> Option<(f32, f32)> {
    let (x, y) = text.split_once(between)?;
    Some((x.parse().ok()?, y.parse().ok()?))
}

fn series(class: &str) -> Option<usize> {
    let name = class.split(' ').find_map(|word| word.strip_prefix('s'))?;
    name.parse().ok()
}

fn series_colour(class: &str) -> Option<&'static str> {
    PALETTE.series.get(series(class)?).copied()
}

/// Width and colour of a straight line.
fn line_look(class: &str) -> Option<(f64, &'static str)> {
    Some(match class {
        "grid" => (LINE_WIDTHS.grid, PALETTE.grid),
        "axis" | "whisker" => (LINE_WIDTHS.axis, PALETTE.ink),
        "link" => (LINE_WIDTHS.link, PALETTE.dim),
        _ => return None,
    })
}

fn dash(class: &str) -> Option<StrokeDash> {
    let spans = DASHES.get(series(class)?)?.split(' ');
    let spans: Vec<f32> = spans.filter_map(|span| span.parse().ok()).collect();
    StrokeDash::new(spans, 0.0)
}

fn plain(width: f64) -> Stroke {
    Stroke {
        #[expect(clippy::cast_possible_truncation, reason = "a width of a few dots")]
        width: width as f32,
        line_cap: LineCap::Butt,
        line_join: LineJoin::Round,
        ..Stroke::default()
    }
}

fn paint(of: &str) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color(colour(of).unwrap_or(Color::BLACK));
    paint
}

/// A colour as it is written in a style sheet.
fn colour(text: &str) -> Option<Color> {
    let part = |from: usize| u8::from_str_radix(text.get(from..from + 2)?, 16).ok();
    Some(Color::from_rgba8(part(1)?, part(3)?, part(5)?, 0xff))
}
