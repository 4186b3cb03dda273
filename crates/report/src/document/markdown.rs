//! A report as Markdown, to be pasted. Charts are left out: they are files of their own.

use super::{Block, Document, Side, Table};
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
            Block::Table { caption, table } => blocks.push(lines(caption, table)),
            Block::Chart(_) => {}
        }
    }
    blocks.join("\n\n") + "\n"
}

fn lines(caption: &str, table: &Table) -> String {
    let row = |cells: &mut dyn Iterator<Item = &String>| {
        let cells: Vec<String> = cells.map(|cell| plain(cell)).collect();
        format!("| {} |", cells.join(" | "))
    };
    let sides = table.columns.iter().map(|column| match column.side {
        Side::Left => "---",
        Side::Right => "---:",
    });
    let mut lines = vec![row(&mut table.columns.iter().map(|column| &column.title))];
    lines.push(format!("|{}|", sides.collect::<Vec<_>>().join("|")));
    lines.extend(table.rows.iter().map(|r| row(&mut r.cells.iter())));
    format!("{}\n\n{}", plain(caption), lines.join("\n"))
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
