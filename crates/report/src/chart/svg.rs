//! Writing SVG: elements, attributes, escaping, numbers.

use std::fmt::Write;

use cardmark_core::is_hidden;

use super::colours::{Theme, style};
use super::frame::Heading;

/// How a text is aligned to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// A document under construction.
#[derive(Debug, Default)]
pub(super) struct Svg {
    body: String,
}

impl Svg {
    /// A straight line of that class.
    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let _ = writeln!(
            self.body,
            "<line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            number(from.0),
            number(from.1),
            number(to.0),
            number(to.1)
        );
    }

    /// A rectangle in the colour of a series; one without width leaves nothing.
    pub(super) fn rectangle(&mut self, series: usize, corner: (f64, f64), size: (f64, f64)) {
        if size.0 <= 0.0 || size.1 <= 0.0 {
            return;
        }
        let _ = writeln!(
            self.body,
            "<rect class=\"s{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            series % SERIES_COUNT,
            number(corner.0),
            number(corner.1),
            number(size.0),
            number(size.1)
        );
    }

    /// A line of a series through these points.
    pub(super) fn curve(&mut self, series: usize, points: &[(f64, f64)]) {
        if points.is_empty() {
            return;
        }
        let mut data = String::new();
        for (index, (x, y)) in points.iter().enumerate() {
            let command = if index == 0 { 'M' } else { 'L' };
            let _ = write!(data, "{command}{} {}", number(*x), number(*y));
        }
        let series = series % SERIES_COUNT;
        let _ = writeln!(self.body, "<path class=\"curve s{series}\" d=\"{data}\"/>");
    }

    /// A mark at a point; its shape tells series apart like its colour.
    pub(super) fn mark(&mut self, series: usize, at: (f64, f64), title: &str) {
        let (x, y) = at;
        let class = format!("mark s{}", series % SERIES_COUNT);
        let corners: &[(f64, f64)] = match series % SERIES_COUNT {
            0 => {
                let _ = writeln!(
                    self.body,
                    "<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"4.5\">{}</circle>",
                    number(x),
                    number(y),
                    tip(title)
                );
                return;
            }
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
        };
        let points: Vec<String> = corners
            .iter()
            .map(|(dx, dy)| format!("{},{}", number(x + dx), number(y + dy)))
            .collect();
        let _ = writeln!(
            self.body,
            "<polygon class=\"{class}\" points=\"{}\">{}</polygon>",
            points.join(" "),
            tip(title)
        );
    }

    /// A text at a point of its base line.
    pub(super) fn text(&mut self, class: &str, at: (f64, f64), anchor: Anchor, text: &str) {
        self.text_with_tip(class, at, anchor, text, "");
    }

    /// A text that stands for a longer one.
    pub(super) fn text_with_tip(
        &mut self,
        class: &str,
        at: (f64, f64),
        anchor: Anchor,
        text: &str,
        whole: &str,
    ) {
        let _ = writeln!(
            self.body,
            "<text class=\"{}\" x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}{}</text>",
            format!("text {class}").trim_end(),
            number(at.0),
            number(at.1),
            anchor.name(),
            tip(whole),
            escaped(text)
        );
    }

    /// A text turned to read upwards.
    pub(super) fn upright(&mut self, class: &str, at: (f64, f64), text: &str) {
        let (x, y) = (number(at.0), number(at.1));
        let _ = writeln!(
            self.body,
            "<text class=\"text {class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" \
             transform=\"rotate(-90 {x} {y})\">{}</text>",
            escaped(text)
        );
    }

    /// The document of that size.
    pub(super) fn finish(self, size: (f64, f64), heading: &Heading, theme: Theme) -> String {
        let (width, height) = (number(size.0), number(size.1));
        let style = match theme {
            Theme::Page => String::new(),
            theme => format!("<style>{}</style>\n", style(theme)),
        };
        let mut about = heading.about.clone();
        if !heading.subtitle.is_empty() {
            about += &format!(" ({})", heading.subtitle);
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

/// How many series have a colour of their own.
pub(super) const SERIES_COUNT: usize = 6;

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
