//! One form for every answer: a sentence, its key figures, and what was not tested. Terminal, report and pages show the same.

use serde_json::{Value, json};

pub use crate::document::Weight;
use crate::document::{Block, Column, Row, Table};
use crate::text::layout::{cut, wrap};
use crate::text::style::{Style, Tone, columns};

/// Least width of a heading on a terminal, columns.
const LEAST_HEADING: usize = 10;

/// The answer to a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerBlock {
    /// How grave it is.
    pub weight: Weight,
    /// The answer in one sentence, without full stop.
    pub sentence: String,
    /// At most three more sentences, without full stops.
    pub more: Vec<String>,
    /// Headings of the columns of the key figures: one per side, without that of the names.
    pub sides: Vec<String>,
    /// Key figures, the most important first.
    pub figures: Vec<KeyFigure>,
    /// What was not tested, or limits the answer; sentences without full stops.
    pub open: Vec<String>,
    /// The command that tells more.
    pub next: Option<String>,
}

/// A figure that decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyFigure {
    /// Id of the metric.
    pub id: String,
    /// Plain name, such as `random writes`.
    pub name: String,
    /// The value of each side, with its unit.
    pub cells: Vec<String>,
    /// The meaning, such as `18 times faster (16–19)`; may be empty.
    pub word: String,
}

impl AnswerBlock {
    /// Returns the lines of a terminal of that width.
    #[must_use]
    pub fn lines(&self, width: usize, style: Style) -> Vec<String> {
        let tone = match self.weight {
            Weight::Plain => Tone::Heading,
            Weight::Warning => Tone::Warning,
            Weight::Error => Tone::Error,
        };
        let painted = |tone: Tone, text: &str| {
            let lines = wrap(text, width, 2);
            lines.into_iter().map(move |line| style.paint(tone, &line))
        };
        let mut lines: Vec<String> = match self.sentence.as_str() {
            "" => Vec::new(),
            sentence => painted(tone, sentence).collect(),
        };
        lines.extend(self.more.iter().flat_map(|text| painted(Tone::Plain, text)));
        let longest = self.sides.iter().map(|side| columns(side)).max();
        let widths = (LEAST_HEADING..=longest.unwrap_or(0)).rev();
        let mut tables = widths.filter_map(|most| self.table(most));
        let fitting = tables.find(|table| table.fit(width).is_some());
        if let Some(table) = fitting.or_else(|| self.table(usize::MAX)) {
            lines.extend(table.lines(width, style));
        }
        lines.extend(self.open.iter().flat_map(|text| painted(Tone::Dim, text)));
        let next = self.next.iter().map(|command| format!("→ {command}"));
        lines.extend(next.flat_map(|text| wrap(&text, width, 2)));
        lines
    }

    /// Returns the same for a report or a page: one block.
    #[must_use]
    pub fn blocks(&self) -> Vec<Block> {
        let sentences = |texts: &[String]| -> Vec<Block> {
            let texts = texts.iter();
            texts.map(|text| Block::Text(format!("{text}."))).collect()
        };
        let mut blocks = match self.sentence.as_str() {
            "" => Vec::new(),
            _ => sentences(std::slice::from_ref(&self.sentence)),
        };
        blocks.extend(sentences(&self.more));
        blocks.extend(self.table(usize::MAX).map(|table| Block::Table {
            caption: String::new(),
            table,
        }));
        blocks.extend(sentences(&self.open));
        blocks.extend(self.next.clone().map(Block::Command));
        vec![Block::Answer {
            weight: self.weight,
            blocks,
        }]
    }

    /// Returns the same for programs.
    #[must_use]
    pub fn json(&self) -> Value {
        let figures = self.figures.iter().map(|figure| {
            json!({ "metric": figure.id, "name": figure.name, "values": figure.cells, "meaning": figure.word })
        });
        json!({
            "sentence": self.sentence,
            "more": self.more,
            "sides": self.sides,
            "figures": figures.collect::<Vec<_>>(),
            "not_tested": self.open,
            "next": self.next,
        })
    }

    /// The key figures, with headings of at most `most` columns.
    fn table(&self, most: usize) -> Option<Table> {
        if self.figures.is_empty() {
            return None;
        }
        let mut columns = vec![Column::left("")];
        let headings = self.sides.iter().map(|side| cut(side, most));
        columns.extend(headings.map(Column::right));
        columns.extend([Column::left(""), Column::left("").priority(1)]);
        Some(Table {
            rows: self.figures.iter().map(|figure| self.row(figure)).collect(),
            columns,
        })
    }

    /// Name, value of each side, meaning; in stacked form `good 910/s, old 53/s`.
    fn row(&self, figure: &KeyFigure) -> Row {
        let mut cells = vec![figure.name.clone()];
        cells.extend(figure.cells.iter().cloned());
        // A range in brackets is the first to go where there is no room.
        let (word, range) = match figure.word.split_once(" (") {
            Some((word, range)) => (word.to_owned(), format!("({range}")),
            None => (figure.word.clone(), String::new()),
        };
        cells.extend([word, range]);
        let headline = match figure.word.as_str() {
            "" => figure.name.clone(),
            word => format!("{}: {word}", figure.name),
        };
        let sides = self.sides.iter().zip(&figure.cells);
        let sides: Vec<String> = sides.map(|(side, cell)| format!("{side} {cell}")).collect();
        let stacked = vec![headline, sides.join(", ").trim().to_owned()];
        Row::new(cells).stacked(stacked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> AnswerBlock {
        AnswerBlock {
            sentence: "A writes randomly 18 times faster than B (16–19)".to_owned(),
            sides: vec!["A".to_owned(), "B".to_owned()],
            figures: vec![KeyFigure {
                id: "rand_write_4k".to_owned(),
                name: "random writes".to_owned(),
                cells: vec!["930/s".to_owned(), "52/s".to_owned()],
                word: "18 times faster".to_owned(),
            }],
            open: vec!["Not tested: whether they keep data".to_owned()],
            ..AnswerBlock::default()
        }
    }

    #[test]
    fn the_sentence_comes_first_in_every_form() {
        let block = block();
        assert_eq!(block.lines(80, Style::Plain)[0], block.sentence);
        let first = Block::Text(format!("{}.", block.sentence));
        let given = block.blocks();
        let [Block::Answer { blocks, .. }] = given.as_slice() else {
            panic!("{given:?}");
        };
        assert_eq!(blocks[0], first);
        assert_eq!(block.json()["sentence"], json!(block.sentence));
    }

    #[test]
    fn every_line_fits() {
        for width in 30..120 {
            let lines = block().lines(width, Style::Plain);
            let widest = lines.iter().map(|line| line.chars().count()).max();
            assert!(widest <= Some(width), "{width}: {lines:?}");
        }
    }

    #[test]
    fn no_figure_is_lost() {
        let lines = block().lines(80, Style::Plain).join("\n");
        for text in ["930/s", "52/s", "18 times faster", "Not tested"] {
            assert!(lines.contains(text), "{lines}");
        }
    }
}
