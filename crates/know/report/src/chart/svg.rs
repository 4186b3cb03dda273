//! Charts as SVG: elements, attributes, escaping, numbers.

use std::fmt::Write;

use cardmark_core::is_hidden;

use super::canvas::{Anchor, Canvas, Line, Look, Point, SERIES_COUNT, Shape, Text, shape};
use super::colours::{Theme, style};
use super::frame::Heading;

/// A document under construction.
#[derive(Debug, Default)]
pub(super) struct Svg {
    body: String,
}

impl Canvas for Svg {
    fn line(&mut self, line: Line, from: Point, to: Point) {
        let class = match line {
            Line::Grid => "grid",
            Line::Axis => "axis",
            Line::Whisker => "whisker",
            Line::Link => "link",
            Line::Leader => "leader",
            Line::Join => "join",
        };
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
        self.add(format_args!(
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        ));
    }

    fn rectangle(&mut self, series: usize, corner: Point, size: Point) {
        if size.0 <= 0.0 || size.1 <= 0.0 {
            return;
        }
        let series = series % SERIES_COUNT;
        let [x, y, width, height] = [corner.0, corner.1, size.0, size.1].map(number);
        self.add(format_args!(
            "<rect class=\"s{series}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        ));
    }

    fn curve(&mut self, series: usize, points: &[Point]) {
        if points.is_empty() {
            return;
        }
        let points: Vec<String> = points
            .iter()
            .map(|(x, y)| format!("{} {}", number(*x), number(*y)))
            .collect();
        let series = series % SERIES_COUNT;
        self.add(format_args!(
            "<path class=\"curve s{series}\" d=\"M{}\"/>",
            points.join("L")
        ));
    }

    fn mark(&mut self, series: usize, at: Point, title: &str) {
        let class = format!("mark s{}", series % SERIES_COUNT);
        let tip = tip(title);
        match shape(series) {
            Shape::Circle(radius) => {
                let (x, y) = (number(at.0), number(at.1));
                self.add(format_args!(
                    "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\">{tip}</circle>"
                ));
            }
            Shape::Polygon(corners) => {
                let corner =
                    |(dx, dy): &Point| format!("{},{}", number(at.0 + dx), number(at.1 + dy));
                let points: Vec<String> = corners.iter().map(corner).collect();
                self.add(format_args!(
                    "<polygon class=\"{class}\" points=\"{}\">{tip}</polygon>",
                    points.join(" ")
                ));
            }
        }
    }

    fn text(&mut self, text: &Text<'_>) {
        let class = match text.look {
            Look::Title => "text title",
            Look::Plain => "text",
            Look::Dim => "text dim",
            Look::Small => "text small",
            Look::SmallDim => "text dim small",
        };
        let anchor = match text.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y) = (number(text.at.0), number(text.at.1));
        let turn = match text.is_upright {
            true => format!(" transform=\"rotate(-90 {x} {y})\""),
            false => String::new(),
        };
        self.add(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\"{turn}>{}{}</text>",
            tip(text.tip),
            escaped(text.words)
        ));
    }
}

impl Svg {
    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.body, "{element}");
    }

    /// The document of that size.
    pub(super) fn finish(self, size: (f64, f64), heading: &Heading, theme: Theme) -> String {
        let (width, height) = (number(size.0), number(size.1));
        let style = match theme {
            Theme::Page => String::new(),
            theme => format!("<style>{}</style>\n", style(theme)),
        };
        let mut about = heading.about.clone();
        for circumstances in [&heading.subtitle, &heading.footer] {
            if !circumstances.is_empty() {
                about += &format!(" ({circumstances})");
            }
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\">\n<title>{}</title>\n<desc>{}</desc>\n\
             {style}<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{}</svg>\n",
            escaped(&heading.title),
            escaped(&about),
            self.body
        )
    }
}

fn tip(title: &str) -> String {
    if title.is_empty() {
        String::new()
    } else {
        format!("<title>{}</title>", escaped(title))
    }
}

/// Two decimals at most, and no sign before zero.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" || text.is_empty() {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// Text that may stand in an element or an attribute.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter if is_hidden(letter) => escaped.push('?'),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (1.0, "1"),
            (1.5, "1.5"),
            (-0.001, "0"),
            (10.0, "10"),
            (2.346, "2.35"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn foreign_text_stays_text() {
        assert_eq!(
            escaped("<b a='x'>&\"\u{7}\u{202e}"),
            "&lt;b a=&#39;x&#39;&gt;&amp;&quot;??"
        );
    }
}
