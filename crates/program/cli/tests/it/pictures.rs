//! Pictures of the README: a terminal and a chart, made again from the program.
//!
//! `scripts/pictures` writes them, and the picture of the site.

mod svg;

use std::path::Path;

use cardmark_testkit::needs;

use crate::common::{program, scratch, text};
use crate::tmux::{self, Style};

/// Columns of the terminal.
const COLUMNS: u32 = 80;
const COMMAND: &str = "cardmark run sim:a1-32gb";
/// Arguments of the report whose chart is shown.
const CHART: [&str; 5] = [
    "report",
    "publication=geerling-a2",
    "setting=pi4",
    "--chart",
    "random-write",
];

/// Compares a picture with that of the program, or with CARDMARK_WRITE writes it.
#[track_caller]
fn compare(name: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../docs/pictures")
        .join(name);
    if std::env::var_os("CARDMARK_WRITE").is_some() {
        std::fs::write(&path, expected).unwrap();
        return;
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == expected,
        "{name} is not what the program shows; to rewrite it: scripts/pictures"
    );
}

#[test]
fn the_terminal_is_that_of_the_program() {
    needs!(Tmux);
    let scratch = scratch();
    let program = program(&scratch);
    let screen = tmux::screen(&program, scratch.path(), COLUMNS, COMMAND, Style::Coloured);
    assert!(screen.contains("\u{1b}["), "no colours: {screen}");
    compare("terminal.svg", &svg::terminal(COMMAND, &screen, COLUMNS));
}

#[test]
fn the_chart_is_that_of_the_program() {
    let scratch = scratch();
    let program = program(&scratch);
    let file = program.file("chart.svg");
    let mut arguments = CHART.to_vec();
    arguments.extend(["-o", text(&file)]);
    let output = program.run(&arguments);
    assert_eq!(output.code, 0, "{output}");
    compare("chart.svg", &std::fs::read_to_string(&file).unwrap());
}
