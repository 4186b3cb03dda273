//! A screen with colours as SVG: a terminal with a background of its own, for light and dark pages.

use std::fmt::Write;

/// Width of a character and height of a line, in pixels, and the border around the screen.
const CELL: f64 = 8.4;
const LINE: f64 = 18.0;
const BORDER: f64 = 16.0;
const FONT: &str = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
const BACKGROUND: &str = "#1b1f24";
const FOREGROUND: &str = "#d7dce2";
/// Colours 0 to 7 and their bright forms.
const COLOURS: [&str; 16] = [
    "#4a525c", "#ff7b72", "#6fd08c", "#e3b341", "#79b8ff", "#d2a8ff", "#56d4dd", "#d7dce2",
    "#8b949e", "#ffa198", "#8ee6a4", "#f2cc60", "#a5d0ff", "#e2c5ff", "#9aecf2", "#ffffff",
];

/// Look of a piece of text.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Look {
    colour: Option<usize>,
    is_bold: bool,
    is_dim: bool,
    is_underlined: bool,
}

impl Look {
    /// Applies the parameters of an escape sequence.
    fn apply(&mut self, parameters: &str) {
        for parameter in parameters.split(';') {
            match parameter.parse().unwrap_or(0) {
                0 => *self = Self::default(),
                1 => self.is_bold = true,
                2 => self.is_dim = true,
                4 => self.is_underlined = true,
                22 => (self.is_bold, self.is_dim) = (false, false),
                24 => self.is_underlined = false,
                code @ 30..=37 => self.colour = Some(code - 30),
                39 => self.colour = None,
                // The background stays.
                49 => {}
                code @ 90..=97 => self.colour = Some(code - 90 + 8),
                other => panic!("unknown parameter {other} of an escape sequence"),
            }
        }
    }

    fn attributes(self) -> String {
        let mut text = String::new();
        if let Some(colour) = self.colour {
            write!(text, " fill=\"{}\"", COLOURS[colour]).unwrap();
        }
        if self.is_bold {
            text += " font-weight=\"bold\"";
        }
        if self.is_dim {
            text += " opacity=\"0.65\"";
        }
        if self.is_underlined {
            text += " text-decoration=\"underline\"";
        }
        text
    }
}

/// Returns a picture of a prompt with the command, and the screen after it.
pub(crate) fn terminal(command: &str, screen: &str, columns: u32) -> String {
    let width = f64::from(columns) * CELL + 2.0 * BORDER;
    let lines_count = u32::try_from(screen.lines().count()).unwrap() + 1;
    let height = f64::from(lines_count) * LINE + 2.0 * BORDER;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\">\n\
         <title>{command}</title>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n\
         <g font-family=\"{FONT}\" font-size=\"14\" fill=\"{FOREGROUND}\" xml:space=\"preserve\">\n"
    );
    let prompt = format!("\u{1b}[32m$\u{1b}[0m \u{1b}[1m{command}\u{1b}[0m");
    let mut look = Look::default();
    for (number, line) in std::iter::once(prompt.as_str())
        .chain(screen.lines())
        .enumerate()
    {
        let y = BORDER + LINE * (f64::from(u32::try_from(number).unwrap()) + 0.75);
        let mut column = 0;
        for (piece, its_look) in pieces(line, &mut look) {
            push(&mut svg, &piece, its_look, column, y);
            column += u32::try_from(piece.chars().count()).unwrap();
        }
    }
    svg + "</g>\n</svg>\n"
}

/// Pieces of a line with one look each; `look` is that at its begin, then at its end.
fn pieces(line: &str, look: &mut Look) -> Vec<(String, Look)> {
    let mut parts = line.split('\u{1b}');
    let mut pieces = vec![(parts.next().unwrap_or_default().to_owned(), *look)];
    for part in parts {
        let sequence = part.strip_prefix('[').and_then(|rest| rest.split_once('m'));
        let Some((parameters, text)) = sequence else {
            // Another character set, for lines.
            panic!("unknown escape sequence: {part:?}");
        };
        look.apply(parameters);
        pieces.push((text.to_owned(), *look));
    }
    pieces
}

/// Adds a piece of text. Its length is given, so that columns stay in line in any font.
fn push(svg: &mut String, piece: &str, look: Look, column: u32, y: f64) {
    let text = piece.trim();
    if text.is_empty() {
        return;
    }
    let before = piece.chars().take_while(|it| it.is_whitespace()).count();
    let column = column + u32::try_from(before).unwrap();
    let x = BORDER + CELL * f64::from(column);
    let length = CELL * f64::from(u32::try_from(text.chars().count()).unwrap());
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    // Spaces that follow each other would be one.
    let text = text.replace(' ', "\u{a0}");
    writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\" lengthAdjust=\"spacingAndGlyphs\"{}>{text}</text>",
        look.attributes()
    )
    .unwrap();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_columns_are_kept() {
        let svg = terminal("x", "ab \u{1b}[1;31mc<\u{1b}[0m  d", 80);
        assert!(svg.contains("<text x=\"16.0\" y=\"47.5\" textLength=\"16.8\" lengthAdjust=\"spacingAndGlyphs\">ab</text>"), "{svg}");
        assert!(
            svg.contains(" fill=\"#ff7b72\" font-weight=\"bold\">c&lt;</text>"),
            "{svg}"
        );
        assert!(svg.contains("<text x=\"74.8\" y=\"47.5\""), "{svg}");
    }
}
