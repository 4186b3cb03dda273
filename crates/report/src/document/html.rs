//! A report as one page: no script, nothing loaded from elsewhere, light and dark, for screens and paper.

use super::{Block, Column, Document, Side, Table};
use crate::chart::{Chart, Size, Theme, style};
use crate::style::clean;

const STYLE: &str = include_str!("page.css");

/// The report as a page of HTML that needs nothing besides.
#[must_use]
pub fn html(document: &Document) -> String {
    let title = text(&document.title);
    let mut body = String::new();
    for block in &document.blocks {
        match block {
            Block::Heading(heading) => body += &format!("<h2>{}</h2>\n", text(heading)),
            Block::Text(sentence) => body += &format!("<p>{}</p>\n", text(sentence)),
            Block::List(points) => body += &list(points),
            Block::Table { caption, table } => body += &lines(caption, table),
            Block::Chart(chart) => body += &figure(chart),
        }
    }
    let charts = style(Theme::Page);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"cardmark\">\n<title>{title}</title>\n\
         <style>\n{STYLE}{charts}\n</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{body}</main>\n\
         </body>\n</html>\n"
    )
}

fn list(points: &[String]) -> String {
    let points: String = points
        .iter()
        .map(|point| format!("<li>{}</li>\n", text(point)))
        .collect();
    format!("<ul>\n{points}</ul>\n")
}

fn lines(caption: &str, table: &Table) -> String {
    let class = |column: &Column| match column.side {
        Side::Left => "",
        Side::Right => " class=\"figure\"",
    };
    let heading = table.columns.iter().map(|column| {
        let title = breakable(&column.title);
        format!("<th scope=\"col\"{}>{title}</th>", class(column))
    });
    let row = |cells: &[String]| {
        let cells = cells.iter().zip(&table.columns).enumerate();
        let cells = cells.map(|(index, (cell, column))| match index {
            0 => format!("<th scope=\"row\">{}</th>", breakable(cell)),
            _ => format!("<td{}>{}</td>", class(column), text(cell)),
        });
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    // A wide table scrolls by itself, and can be reached by keyboard.
    format!(
        "<div class=\"table\" role=\"region\" aria-label=\"{caption}\" tabindex=\"0\">\n<table>\n\
         <caption>{caption}</caption>\n<thead><tr>{heading}</tr></thead>\n<tbody>\n{rows}</tbody>\n\
         </table>\n</div>\n",
        caption = text(caption),
        heading = heading.collect::<String>(),
        rows = table.rows.iter().map(|r| row(&r.cells)).collect::<String>()
    )
}

/// Twice, for wide and for narrow screens; the style shows one of them.
fn figure(chart: &Chart) -> String {
    format!(
        "<figure>\n<div class=\"wide\">{}</div>\n<div class=\"narrow\">{}</div>\n</figure>\n",
        chart.svg(Theme::Page, Size::Wide).trim_end(),
        chart.svg(Theme::Page, Size::Narrow).trim_end()
    )
}

/// An id may be broken behind each of its words.
fn breakable(cell: &str) -> String {
    text(cell).replace('_', "_<wbr>")
}

fn text(text: &str) -> String {
    crate::chart::escaped(&clean(text))
}
