//! Common parts of all charts: sizes, title and legend, widths of texts.

use super::canvas::{Anchor, Canvas, Look, SMALL_SIZE, TEXT_SIZE, TITLE_SIZE, Text};
use crate::text::layout::{cut_by, wrap_by};

/// Width of bold text relative to plain text, roughly.
pub(super) const BOLD: f64 = 1.1;
/// Height of a line of text.
pub(super) const LINE: f64 = 20.0;
/// The same of small text.
pub(super) const SMALL_LINE: f64 = 17.0;
/// From a level axis down to the base line of its figures.
pub(super) const TICK: f64 = 18.0;
/// Width of a sample in the legend, and of the space behind each name.
const SAMPLE_WIDTH: f64 = 26.0;
const LEGEND_GAP: f64 = 16.0;

/// The room that a chart is laid out for. Its text has the same size in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// A page or a picture.
    Wide,
    /// A phone.
    Narrow,
}

impl Size {
    /// Width of the chart.
    pub fn width(self) -> f64 {
        match self {
            Self::Wide => 760.0,
            Self::Narrow => 360.0,
        }
    }

    /// Space around it.
    pub(super) fn margin(self) -> f64 {
        match self {
            Self::Wide => 16.0,
            Self::Narrow => 6.0,
        }
    }
}

/// Texts above a chart and about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    /// Name by its content, as of a file: `random-write-4k`.
    pub name: String,
    /// Title.
    pub title: String,
    /// What all figures share, such as the board. May be empty.
    pub subtitle: String,
    /// Source and conditions, below the chart: it is passed on without the page around it. May be empty.
    pub footer: String,
    /// Description for people who cannot see it.
    pub about: String,
}

/// Look of a series in the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sample {
    Block,
    Mark,
    Curve,
}

/// Title, subtitle and legend from the top on; the height that they take.
pub(super) fn head(
    canvas: &mut dyn Canvas,
    size: Size,
    heading: &Heading,
    series: &[String],
    sample: Sample,
) -> f64 {
    let (margin, width) = (size.margin(), size.width());
    let mut y = margin + 14.0;
    let room = (width - 2.0 * margin) * TEXT_SIZE / TITLE_SIZE / BOLD;
    for line in lines(&heading.title, room) {
        canvas.text(&Text::new(Look::Title, (margin, y), Anchor::Start, &line));
        y += LINE;
    }
    if !heading.subtitle.is_empty() {
        for line in lines(&heading.subtitle, width - 2.0 * margin) {
            canvas.text(&Text::new(Look::Dim, (margin, y), Anchor::Start, &line));
            y += LINE;
        }
    }
    let has_legend = series.len() > 1 || (sample == Sample::Curve && !series.is_empty());
    if !has_legend {
        return y - 4.0;
    }
    let mut x = margin;
    for (index, name) in series.iter().enumerate() {
        let room = (width - 2.0 * margin - SAMPLE_WIDTH) / TEXT_SIZE;
        let name = cut_by(letter_width, name, room);
        let end = x + SAMPLE_WIDTH + text_width(&name);
        if x > margin && end > width - margin {
            x = margin;
            y += LINE;
        }
        match sample {
            Sample::Block => canvas.rectangle(index, (x + 4.0, y - 10.0), (16.0, 11.0)),
            Sample::Mark => canvas.mark(index, (x + 12.0, y - 4.5), ""),
            Sample::Curve => canvas.curve(index, &[(x, y - 4.5), (x + 22.0, y - 4.5)]),
        }
        canvas.text(&Text::new(
            Look::Plain,
            (x + SAMPLE_WIDTH, y),
            Anchor::Start,
            &name,
        ));
        x += SAMPLE_WIDTH + text_width(&name) + LEGEND_GAP;
    }
    y + LINE - 4.0
}

/// Source and conditions below a chart of that height; the height with them.
pub(super) fn foot(canvas: &mut dyn Canvas, size: Size, heading: &Heading, height: f64) -> f64 {
    let margin = size.margin();
    let room = to_small(size.width() - 2.0 * margin);
    let mut y = height - margin;
    if heading.footer.is_empty() {
        return height;
    }
    for line in lines(&heading.footer, room) {
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

/// About how wide a letter is at a size of one: fonts differ, so it is estimated on the wide side.
fn letter_width(letter: char) -> f64 {
    match letter {
        'i' | 'l' | 'j' | '.' | ',' | ' ' | '\'' | '|' | '(' | ')' => 0.4,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 1.0,
        letter if letter.is_uppercase() => 0.74,
        letter if letter.is_ascii() => 0.64,
        _ => 1.0,
    }
}

/// About how wide a text is.
pub(super) fn text_width(text: &str) -> f64 {
    text.chars().map(letter_width).sum::<f64>() * TEXT_SIZE
}

/// The same of the small size.
pub(super) fn small_width(text: &str) -> f64 {
    text_width(text) * SMALL_SIZE / TEXT_SIZE
}

/// Converts a width for small text to one for plain text.
pub(super) fn to_small(width: f64) -> f64 {
    width * TEXT_SIZE / SMALL_SIZE
}

/// Cuts a text in its middle: its end is as important as its beginning.
pub(super) fn cut_inside(text: &str, width: f64) -> String {
    if text_width(text) <= width {
        return text.to_owned();
    }
    let half = 0.5 * (width - text_width("…"));
    let fitting = |letters: &mut dyn Iterator<Item = char>| -> Vec<char> {
        let mut used = 0.0;
        letters
            .take_while(|letter| {
                used += text_width(&letter.to_string());
                used <= half
            })
            .collect()
    };
    let begin: String = fitting(&mut text.chars()).into_iter().collect();
    let end: String = fitting(&mut text.chars().rev()).into_iter().rev().collect();
    format!("{}…{}", begin.trim_end(), end.trim_start())
}

/// Cuts a text at its end.
pub(super) fn cut_end(text: &str, width: f64) -> String {
    if text_width(text) <= width {
        return text.to_owned();
    }
    let mut left = width - text_width("…");
    let fits = |letter: &char| {
        left -= text_width(&letter.to_string());
        left >= 0.0
    };
    let begin: String = text.chars().take_while(fits).collect();
    format!("{}…", begin.trim_end_matches([' ', ',']))
}

/// A text in lines of a width.
pub(super) fn lines(text: &str, width: f64) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    wrap_by(letter_width, &words.join(" "), width / TEXT_SIZE, 0)
}
