//! Bars, wrapping and cutting to a width, blocks of lines.

use crate::text::style::{Style, Tone};

/// A bar in eighths of a column, with the given number of columns at the share 1.
pub(crate) fn bar(share: f64, columns: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (0..=columns * 8)
        .take_while(|eighth| (*eighth as f64) <= share * (columns * 8) as f64)
        .last()
        .unwrap_or(0);
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// Width of a letter: a terminal counts columns, a chart estimates.
pub(crate) type LetterWidth = fn(char) -> f64;

/// Width of a letter on a terminal.
fn column(_: char) -> f64 {
    1.0
}

/// Breaks a text at spaces into lines of at most `width` columns, the later ones indented. Words
/// longer than a line are broken. A percent sign stays with its number.
pub fn wrap(text: &str, width: usize, indent: usize) -> Vec<String> {
    let width = width.max(1);
    let indent = if indent < width / 2 { indent } else { 0 };
    wrap_by(column, text, width as f64, indent)
}

/// Breaks a text into lines like [`wrap`], by widths of letters.
pub(crate) fn wrap_by(of: LetterWidth, text: &str, width: f64, indent: usize) -> Vec<String> {
    let text_width = |text: &str| text.chars().map(of).sum::<f64>();
    let margin = " ".repeat(indent);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0.0;
    let text = text.replace(" %", "\u{a0}%");
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let is_fresh = line.trim().is_empty();
        if !is_fresh && used + of(' ') + text_width(word) > width {
            lines.push(std::mem::replace(&mut line, margin.clone()));
            used = text_width(&margin);
        } else if !is_fresh {
            line.push(' ');
            used += of(' ');
        }
        for letter in word.chars() {
            let letter = if letter == '\u{a0}' { ' ' } else { letter };
            if used + of(letter) > width && !line.trim().is_empty() {
                lines.push(std::mem::replace(&mut line, margin.clone()));
                used = text_width(&margin);
            }
            line.push(letter);
            used += of(letter);
        }
    }
    if !line.trim().is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Wraps texts, and gives all lines a tone.
pub(crate) fn painted<T: AsRef<str>>(
    texts: &[T],
    width: usize,
    style: Style,
    tone: Tone,
) -> Vec<String> {
    let lines = texts.iter().flat_map(|text| wrap(text.as_ref(), width, 2));
    lines.map(|line| style.paint(tone, &line)).collect()
}

/// Wraps texts as points of a list.
pub(crate) fn points<T: AsRef<str>>(texts: &[T], width: usize) -> Vec<String> {
    let points = texts.iter().map(|text| format!("- {}", text.as_ref()));
    points.flat_map(|point| wrap(&point, width, 2)).collect()
}

/// A list below a heading; nothing without items.
pub(crate) fn section<T: AsRef<str>>(
    heading: &str,
    items: &[T],
    width: usize,
    style: Style,
) -> Vec<String> {
    if items.is_empty() {
        return Vec::new();
    }
    let heading = painted(&[heading], width, style, Tone::Heading);
    [heading, points(items, width)].concat()
}

/// Joins blocks of lines, with an empty line between those that are not empty.
pub(crate) fn joined(blocks: &[Vec<String>]) -> String {
    let blocks = blocks.iter().filter(|lines| !lines.is_empty());
    let blocks: Vec<String> = blocks.map(|lines| lines.join("\n")).collect();
    blocks.join("\n\n") + "\n"
}

/// The text cut to `width` columns, with an ellipsis where something is missing.
pub(crate) fn cut(text: &str, width: usize) -> String {
    cut_by(column, text, width as f64)
}

/// The text cut like [`cut`], by widths of letters.
pub(crate) fn cut_by(of: LetterWidth, text: &str, width: f64) -> String {
    if text.chars().map(of).sum::<f64>() <= width {
        return text.to_owned();
    }
    let mut used = of('…');
    let kept = text.chars().take_while(|letter| {
        used += of(*letter);
        used <= width
    });
    format!("{}…", kept.collect::<String>().trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_at_spaces_and_cuts_only_words_that_are_too_long() {
        assert_eq!(wrap("one two three", 7, 2), ["one two", "  three"]);
        assert_eq!(wrap("abcdefghij kl", 6, 1), ["abcdef", " ghij", " kl"]);
        assert_eq!(wrap("", 10, 2), [""]);
        assert_eq!(wrap("about 5.5 % of it", 8, 0), ["about", "5.5 % of", "it"]);
        assert_eq!(wrap("about 5.5 %", 9, 0), ["about", "5.5 %"]);
    }

    #[test]
    fn cutting_shows_that_something_is_missing() {
        assert_eq!(cut("sixteen letters!", 8), "sixteen…");
        assert_eq!(cut("short", 5), "short");
    }
}
