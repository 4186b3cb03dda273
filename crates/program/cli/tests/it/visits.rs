//! Visits of five people, in `docs/visits/`: what each sees in a terminal of 120, 80 and 40 columns.
//!
//! A page has a block of commands for each width. The test enters them in a
//! terminal (tmux) and compares the screens.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use cardmark_testkit::{Program, needs};
use tempfile::TempDir;

use crate::common::{program, scratch};
use crate::tmux::{self, Style};

const FENCE: &str = "```";
const BEGIN: &str = "```console";
const PROMPT: &str = "$ ";
const WIDTHS: [u32; 3] = [120, 80, 40];
/// Most commands of a visit.
const MOST_COMMANDS: usize = 3;
/// Pages, each with a word of its last screen: what the person came for.
const VISITS: [(&str, &str); 5] = [
    ("blogger.md", "report.html"),
    ("engineer.md", "p99"),
    ("owner-of-200-boards.md", "FALSE CAPACITY"),
    ("owner-of-a-fake.md", "sfdisk"),
    ("raspberry-pi-owner.md", "Samsung Evo+ 32 GB"),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/visits")
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

/// The page with the current screens.
fn visited_again(text: &str) -> String {
    let mut made = String::new();
    let mut widths = WIDTHS.into_iter();
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

fn check(name: &str, wanted: &str) {
    let path = folder().join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    for block in text.split(BEGIN).skip(1) {
        let commands = block.lines().filter(|line| line.starts_with(PROMPT));
        assert!(commands.count() <= MOST_COMMANDS, "{name}");
    }
    let expected = visited_again(&text);
    for screens in expected.split(BEGIN).skip(1) {
        let last = screens.rsplit(PROMPT).next().unwrap();
        assert!(
            last.contains(wanted),
            "{name} does not end with `{wanted}`: {last}"
        );
    }
    if std::env::var_os("CARDMARK_WRITE").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap();
    assert!(
        found == expected,
        "{name} is not what the terminal shows; to rewrite it: \
         CARDMARK_WRITE=1 cargo test -p cardmark-cli --test it visits"
    );
}

#[test]
fn the_screens_of_each_visit_are_those_of_the_program() {
    needs!(Tmux);
    let pages = std::fs::read_dir(folder()).unwrap();
    let pages = pages.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<String> = pages.collect();
    pages.sort();
    assert_eq!(pages, VISITS.map(|(name, _)| name.to_owned()));
    std::thread::scope(|scope| {
        for (name, wanted) in VISITS {
            scope.spawn(move || check(name, wanted));
        }
    });
}
