//! The program as its users meet it: good and bad targets, faults, signals, crashes, its store.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests"
)]

use std::fs;
use std::path::{Path, PathBuf};

mod applications;
mod beginner;
mod campaign;
mod classes;
mod clock;
mod common;
mod compare;
mod corpus;
mod devices;
mod digests;
mod documents;
mod evidence;
mod examples;
mod faults;
mod field_kit;
mod forgeries;
mod growth;
mod history;
mod hostile;
mod import;
mod info;
mod integrity;
mod job_kills;
mod kills;
mod old_tools;
mod paths;
mod pictures;
mod power_cut;
mod prepare;
mod public_texts;
mod recommend;
mod refusals;
mod security;
mod signals;
mod simulated;
mod statements;
mod store;
mod strace;
mod submit;
mod targets;
mod tmux;
mod traces;
mod undo;
mod unknown;
mod upgrade;
mod usage;
mod visits;

/// A file that is no module would be no test.
#[test]
fn every_file_here_is_a_module() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    for file in files(&folder) {
        // Where Rust looks for it: `mod bench;` for refusals/bench.rs stands in refusals.rs.
        let parent = match file.parent().unwrap() {
            top if top == folder => folder.join("main.rs"),
            inner => inner.with_extension("rs"),
        };
        let module = file.file_stem().unwrap().to_str().unwrap();
        let named = format!("\nmod {module};\n");
        assert!(
            file == parent || fs::read_to_string(&parent).unwrap().contains(&named),
            "{} is not compiled",
            file.display()
        );
    }
}

/// All Rust files in and below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
    found
}
