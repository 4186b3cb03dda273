//! An SVG read back: what stands where.

use roxmltree::{Document, Node};

pub(crate) type Point = (f64, f64);

/// A text with the area that it takes, by a width for each letter.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) class: String,
    at: (f64, f64),
    anchor: String,
    /// Left, top, right, bottom.
    area: [f64; 4],
}

/// What is drawn.
#[derive(Debug)]
pub(crate) struct Drawing {
    size: (f64, f64),
    pub(crate) texts: Vec<Text>,
    /// Right end and left end of the rectangles that belong to series.
    pub(crate) rectangles: Vec<(f64, f64)>,
    /// Middles of marks.
    pub(crate) marks: Vec<(f64, f64)>,
    pub(crate) curves: Vec<Vec<(f64, f64)>>,
    lines: Vec<(String, Point, Point)>,
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

fn pair(text: &str, between: char) -> (f64, f64) {
    let (x, y) = text.split_once(between).unwrap();
    (x.parse().unwrap(), y.parse().unwrap())
}

impl Drawing {
    pub(crate) fn of(svg: &str) -> Self {
        let document = Document::parse(svg).unwrap();
        let root = document.root_element();
        let view: Vec<f64> = root
            .attribute("viewBox")
            .unwrap()
            .split(' ')
            .map(|part| part.parse().unwrap())
            .collect();
        let mut drawing = Self {
            size: (view[2], view[3]),
            texts: Vec::new(),
            rectangles: Vec::new(),
            marks: Vec::new(),
            curves: Vec::new(),
            lines: Vec::new(),
        };
        for node in root.descendants().filter(Node::is_element) {
            drawing.add(node);
        }
        drawing
    }

    fn add(&mut self, node: Node<'_, '_>) {
        let class = node.attribute("class").unwrap_or_default();
        match node.tag_name().name() {
            "text" => self.texts.push(Text::of(node)),
            "rect" if class != "paper" => {
                let left = number(node, "x");
                self.rectangles.push((left + number(node, "width"), left));
            }
            "circle" => self.marks.push((number(node, "cx"), number(node, "cy"))),
            "polygon" => {
                let corners = node.attribute("points").unwrap().split(' ');
                let corners: Vec<_> = corners.map(|corner| pair(corner, ',')).collect();
                let middle = |of: fn(&(f64, f64)) -> f64| {
                    let values = || corners.iter().map(of);
                    let ends = values().fold((f64::MAX, f64::MIN), |ends, value| {
                        (ends.0.min(value), ends.1.max(value))
                    });
                    0.5 * (ends.0 + ends.1)
                };
                self.marks.push((middle(|p| p.0), middle(|p| p.1)));
            }
            "path" => {
                let data = node.attribute("d").unwrap();
                let points = data.split(['M', 'L']).skip(1);
                self.curves
                    .push(points.map(|point| pair(point, ' ')).collect());
            }
            "line" => self.lines.push((
                class.to_owned(),
                (number(node, "x1"), number(node, "y1")),
                (number(node, "x2"), number(node, "y2")),
            )),
            _ => {}
        }
    }

    pub(crate) fn lines_of(&self, class: &str) -> Vec<(Point, Point)> {
        let lines = self.lines.iter().filter(|line| line.0 == class);
        lines.map(|line| (line.1, line.2)).collect()
    }

    fn ticks(&self, anchor: &str) -> impl Iterator<Item = &Text> {
        let ticks = self
            .texts
            .iter()
            .filter(|text| text.class == "text dim small");
        let ticks = ticks.filter(|text| text.text.parse::<f64>().is_ok());
        ticks.filter(move |text| text.anchor == anchor)
    }

    /// Place and figure of each tick of the level axis.
    pub(crate) fn level_ticks(&self) -> Vec<(f64, f64)> {
        let ticks = self.ticks("middle");
        ticks
            .map(|text| (text.at.0, text.text.parse().unwrap()))
            .collect()
    }

    /// Of the upright axis: its grid lines are where the figures mean.
    pub(crate) fn upright_ticks(&self) -> Vec<(f64, f64)> {
        let level = self.lines_of("grid");
        let lines = level.iter().filter(|line| line.0.1 == line.1.1);
        lines
            .zip(self.ticks("end"))
            .map(|(line, text)| {
                assert!((line.0.1 - text.at.1).abs() < 6.0, "{text:?}");
                (line.0.1, text.text.parse().unwrap())
            })
            .collect()
    }

    pub(crate) fn axis_names(&self) -> Vec<&Text> {
        let named = self.texts.iter().filter(|text| text.class == "text dim");
        named.filter(|text| text.anchor == "middle").collect()
    }

    /// Each text is within the view box, and none is written over another.
    #[track_caller]
    pub(crate) fn assert_readable(&self) {
        for (index, text) in self.texts.iter().enumerate() {
            let [left, top, right, bottom] = text.area;
            assert!(
                left >= 0.0 && top >= 0.0 && right <= self.size.0 && bottom <= self.size.1,
                "{text:?} leaves {:?}",
                self.size
            );
            for other in &self.texts[index + 1..] {
                let is_apart = right <= other.area[0]
                    || other.area[2] <= left
                    || bottom <= other.area[1]
                    || other.area[3] <= top;
                assert!(is_apart, "{text:?} over {other:?}");
            }
        }
    }
}

impl Text {
    fn of(node: Node<'_, '_>) -> Self {
        let class = node.attribute("class").unwrap().to_owned();
        // What a tip says is not drawn.
        let own = node.children().filter(Node::is_text);
        let text: String = own.filter_map(|child| child.text()).collect();
        let at = (number(node, "x"), number(node, "y"));
        let anchor = node.attribute("text-anchor").unwrap().to_owned();
        let is_upright = node.attribute("transform").is_some();
        let size = match class.as_str() {
            class if class.contains("title") => 15.0 * 1.1,
            class if class.contains("small") => 11.5,
            _ => 13.0,
        };
        // DejaVu Sans is the widest of the fonts that are asked for.
        let width: f64 = text.chars().map(dejavu_width).sum::<f64>() * size;
        let before = match anchor.as_str() {
            "start" => 0.0,
            "middle" => 0.5 * width,
            _ => width,
        };
        let (x, y) = at;
        let (rise, fall) = (0.76 * size, 0.2 * size);
        let area = if is_upright {
            [x - rise, y - before, x + fall, y - before + width]
        } else {
            [x - before, y - rise, x - before + width, y + fall]
        };
        Self {
            text,
            class,
            at,
            anchor,
            area,
        }
    }
}

/// Advance of a letter of DejaVu Sans, of its size.
fn dejavu_width(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' => 0.278,
        ' ' | '.' | ',' => 0.32,
        '(' | ')' | 'r' | 't' | 'f' | '-' | '/' => 0.41,
        'm' => 0.974,
        'M' | 'w' => 0.863,
        'W' => 0.989,
        '%' => 0.95,
        '×' => 0.838,
        '…' => 1.0,
        '0'..='9' => 0.636,
        letter if letter.is_uppercase() => 0.7,
        _ => 0.62,
    }
}
