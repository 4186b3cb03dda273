//! Columns, wrapping and cutting to a width.

use crate::style::columns;

/// On which side of its column a cell stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// Space between two columns.
const GAP: usize = 2;

/// A bar of eighths of a column, of so many columns at the share 1.
pub(crate) fn bar(share: f64, columns: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (0..=columns * 8)
        .take_while(|eighth| (*eighth as f64) <= share * (columns * 8) as f64)
        .last()
        .unwrap_or(0);
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// Rows of cells, the first of them the heading.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    pub(crate) sides: Vec<Side>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Grid {
    /// The same rows with these columns only.
    pub(crate) fn only(&self, wanted: &[usize]) -> Self {
        let pick = |row: &Vec<String>| {
            wanted
                .iter()
                .filter_map(|index| row.get(*index).cloned())
                .collect()
        };
        Self {
            sides: wanted
                .iter()
                .filter_map(|index| self.sides.get(*index).copied())
                .collect(),
            rows: self.rows.iter().map(pick).collect(),
        }
    }

    fn widths(&self) -> Vec<usize> {
        let width = |index| {
            let cells = self.rows.iter().filter_map(|row| row.get(index));
            cells.map(|cell: &String| columns(cell)).max().unwrap_or(0)
        };
        (0..self.sides.len()).map(width).collect()
    }

    /// Columns the widest line takes.
    pub(crate) fn width(&self) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
    }

    /// The lines, without space at their ends.
    pub(crate) fn lines(&self) -> Vec<String> {
        let widths = self.widths();
        let line = |row: &Vec<String>| {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .zip(&self.sides)
                .map(|((cell, width), side)| match side {
                    Side::Left => format!("{cell:<width$}"),
                    Side::Right => format!("{cell:>width$}"),
                })
                .collect();
            cells.join(&" ".repeat(GAP)).trim_end().to_owned()
        };
        self.rows.iter().map(line).collect()
    }
}

/// Breaks a text at spaces into lines of at most `width` columns, the later ones indented. Words
/// longer than a line are cut. A percent sign stays with its number.
#[must_use]
pub fn wrap(text: &str, width: usize, indent: usize) -> Vec<String> {
    let width = width.max(1);
    let indent = if indent < width / 2 { indent } else { 0 };
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    let text = text.replace(" %", "\u{a0}%");
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let is_fresh = line.trim().is_empty();
        if !is_fresh && used + 1 + columns(word) > width {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
            used = indent;
        } else if !is_fresh {
            line.push(' ');
            used += 1;
        }
        for letter in word.chars() {
            if used == width {
                lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
                used = indent;
            }
            line.push(if letter == '\u{a0}' { ' ' } else { letter });
            used += 1;
        }
    }
    if !line.trim().is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// The text cut to `width` columns, with an ellipsis where something is missing.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
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
