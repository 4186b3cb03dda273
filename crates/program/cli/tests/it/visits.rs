//! Visits of five people, in `docs/visits/`: what each sees in a terminal of 120, 80 and 40 columns.
//!
//! A page has a block of commands as a terminal of 80 columns shows it; `fixtures/visits` has the
//! same in the other widths. The test enters them in a terminal (tmux) and compares the screens.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use cardmark_testkit::{Program, needs};
use tempfile::TempDir;

use crate::common::{program, scratch};
use crate::tmux::{self, Style};

const FENCE: &str = "```";
const BEGIN: &str = "```console";
const PROMPT: &str = "$ ";
/// Columns of the blocks of a page.
const PAGE_WIDTHS: &[u32] = &[80];
/// Columns of the blocks of its fixture.
const OTHER_WIDTHS: &[u32] = &[120, 40];
/// Most commands of a visit.
const MOST_COMMANDS: usize = 3;
/// Pages, each with a word of its last screen: what the person came for.
const VISITS: [(&str, &str); 5] = [
    ("blogger", "report.html"),
    ("engineer", "p99"),
    ("owner-of-200-boards", "fake: 1.78 GB"),
    ("owner-of-a-fake", "sfdisk"),
    ("raspberry-pi-owner", "Raspberry Pi 64 GB"),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/visits")
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/visits")
}

/// A place with the files that the people have, and the program.
struct Home {
    scratch: TempDir,
    program: Program,
}

impl Home {
    fn new() -> Self {
        let scratch = scratch();
        let program = program(&scratch);
        let home = Self { scratch, program };
        home.copy("simulated-campaign.toml");
        home.boards();
        home
    }

    fn copy(&self, name: &str) {
        let from = folder().join("..").join(name);
        std::fs::copy(from, self.scratch.path().join(name)).unwrap();
    }

    /// Records of other computers, as `cardmark export` writes them there.
    fn boards(&self) {
        let other = scratch();
        let other = program(&other);
        for (model, board) in [
            ("a1-32gb", "sample=board-1"),
            ("limbo-32gb", "sample=board-2"),
            ("a2-64gb", "sample=board-3"),
            ("wrap-16gb", "sample=board-4"),
        ] {
            let probe = other.run(&["probe", &format!("sim:{model}")]);
            assert!(probe.code <= 1, "{probe}");
            assert_eq!(other.run(&["label", "last", board]).code, 0);
        }
        let boards = other.run(&["export"]);
        assert_eq!(boards.code, 0, "{boards}");
        std::fs::write(self.scratch.path().join("boards.jsonl"), boards.stdout).unwrap();
    }
}

/// The text with the current screens, a block for each width.
fn visited_again(text: &str, widths: &[u32]) -> String {
    let mut made = String::new();
    let mut widths = widths.iter().copied();
    let mut here = None;
    for line in text.lines() {
        match (line.strip_prefix(PROMPT), &here) {
            (Some(command), Some((width, home))) => {
                let home: &Home = home;
                let screen = tmux::screen(
                    &home.program,
                    home.scratch.path(),
                    *width,
                    command,
                    Style::Plain,
                );
                writeln!(made, "{line}\n{screen}").unwrap();
            }
            (_, Some(_)) if line != FENCE => {}
            _ => writeln!(made, "{line}").unwrap(),
        }
        if line == BEGIN {
            let width = widths.next().expect("a block for each width");
            here = Some((width, Home::new()));
        } else if line == FENCE {
            here = None;
        }
    }
    assert_eq!(widths.next(), None, "a block is missing");
    made
}

/// The commands of a text with screens.
fn commands(text: &str) -> Vec<&str> {
    let lines = text.lines();
    lines.filter(|line| line.starts_with(PROMPT)).collect()
}

fn check(path: &Path, widths: &[u32], wanted: &str) {
    let name = path.display();
    let text = std::fs::read_to_string(path).unwrap();
    for block in text.split(BEGIN).skip(1) {
        assert!(commands(block).len() <= MOST_COMMANDS, "{name}");
    }
    let expected = visited_again(&text, widths);
    for screens in expected.split(BEGIN).skip(1) {
        let last = screens.rsplit(PROMPT).next().unwrap();
        assert!(
            last.contains(wanted),
            "{name} does not end with `{wanted}`: {last}"
        );
    }
    if std::env::var_os("CARDMARK_WRITE").is_some() {
        std::fs::write(path, &expected).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap();
    assert!(
        found == expected,
        "{name} is not what the terminal shows; to rewrite it: \
         CARDMARK_WRITE=1 cargo test -p cardmark-cli --test it visits"
    );
}

#[test]
fn the_screens_of_each_visit_are_those_of_the_program() {
    needs!(Tmux);
    for (folder, ending) in [(folder(), "md"), (fixtures(), "txt")] {
        let files = std::fs::read_dir(folder).unwrap();
        let files = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut files: Vec<String> = files.collect();
        files.sort();
        assert_eq!(files, VISITS.map(|(name, _)| format!("{name}.{ending}")));
    }
    for (name, _) in VISITS {
        let page = std::fs::read_to_string(folder().join(format!("{name}.md"))).unwrap();
        let other = std::fs::read_to_string(fixtures().join(format!("{name}.txt"))).unwrap();
        let page = commands(&page);
        assert_eq!(commands(&other), [&page[..], &page[..]].concat(), "{name}");
    }
    std::thread::scope(|scope| {
        for (name, wanted) in VISITS {
            let page = folder().join(format!("{name}.md"));
            let other = fixtures().join(format!("{name}.txt"));
            scope.spawn(move || check(&page, PAGE_WIDTHS, wanted));
            scope.spawn(move || check(&other, OTHER_WIDTHS, wanted));
        }
    });
}
