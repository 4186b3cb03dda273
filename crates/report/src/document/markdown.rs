//! A report as Markdown, to be pasted. Charts are left out: they are files of their own.

use super::{Block, Document, Table};
use crate::style::clean;

/// The report as Markdown with tables (GitHub's).
#[must_use]
pub fn markdown(document: &Document) -> String {
    let mut blocks = vec![format!("# {}", plain(&document.title))];
    for block in &document.blocks {
        match block {
            Block::Heading(text) => blocks.push(format!("## {}", plain(text))),
            Block::Text(text) => blocks.push(plain(text)),
            Block::List(points) => {
                let points: Vec<String> =
                    points.iter().map(|p| format!("- {}", plain(p))).collect();
                blocks.push(points.join("\n"));
            }
            Block::Table(table) => blocks.push(lines(table)),
            Block::Chart(_) => {}
        }
    }
    blocks.join("\n\n") + "\n"
}

fn lines(table: &Table) -> String {
    let row = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| plain(cell)).collect();
        format!("| {} |", cells.join(" | "))
    };
    let sides = (0..table.heading.len()).map(|index| {
        if index < table.names_count {
            "---"
        } else {
            "---:"
        }
    });
    let mut lines = vec![row(&table.heading)];
    lines.push(format!("|{}|", sides.collect::<Vec<_>>().join("|")));
    lines.extend(table.rows.iter().map(|cells| row(cells)));
    format!("{}\n\n{}", plain(&table.caption), lines.join("\n"))
}

/// Text of foreign origin that could be taken for markup stays text.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for letter in clean(text).chars() {
        if matches!(
            letter,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~' | '&' | '$'
        ) {
            plain.push('\\');
        }
        plain.push(letter);
    }
    plain
}
