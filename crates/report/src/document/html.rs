//! A report as one page: no script, nothing loaded from elsewhere, light and dark, for screens and paper.

use super::{Block, Document, Table};
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
            Block::Table(table) => body += &lines(table),
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

fn lines(table: &Table) -> String {
    let class = |index: usize| {
        if index < table.names_count {
            ""
        } else {
            " class=\"figure\""
        }
    };
    let heading: String = table
        .heading
        .iter()
        .enumerate()
        .map(|(index, cell)| format!("<th scope=\"col\"{}>{}</th>", class(index), breakable(cell)))
        .collect();
    let row = |cells: &Vec<String>| {
        let cells: String = cells
            .iter()
            .enumerate()
            .map(|(index, cell)| match index {
                0 => format!("<th scope=\"row\">{}</th>", breakable(cell)),
                _ => format!("<td{}>{}</td>", class(index), text(cell)),
            })
            .collect();
        format!("<tr>{cells}</tr>\n")
    };
    let rows: String = table.rows.iter().map(row).collect();
    // A wide table scrolls by itself, and can be reached by keyboard.
    format!(
        "<div class=\"table\" role=\"region\" aria-label=\"{caption}\" tabindex=\"0\">\n<table>\n\
         <caption>{caption}</caption>\n<thead><tr>{heading}</tr></thead>\n<tbody>\n{rows}</tbody>\n\
         </table>\n</div>\n",
        caption = text(&table.caption)
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
