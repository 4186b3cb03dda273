//! Commands and links in the documents of the project, for the tests that check them.
//!
//! Every program parses its own commands in a unit test with its real arguments; `cargo`, scripts, and links are checked in the
//! tests of this crate.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a document that cannot be read fails its test"
)]

mod commands;
mod links;
mod shell;

use std::path::{Path, PathBuf};

pub use commands::{Command, Place, commands, commands_of, options_alone};
pub use links::{Link, anchors, links};

/// Folders with Markdown that is no document: build output, and templates of reports.
const OTHER_FOLDERS: [&str; 3] = ["target", "templates", "node_modules"];

/// A Markdown file of the repository.
#[derive(Debug)]
pub struct Document {
    /// Path from the top of the repository.
    pub path: String,
    /// Content.
    pub text: String,
}

/// Returns the top of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(3).unwrap().to_owned()
}

/// Returns all documents, sorted by path.
///
/// # Panics
///
/// If one cannot be read.
pub fn documents() -> Vec<Document> {
    let root = root();
    let mut paths = Vec::new();
    collect(&root, &mut paths);
    paths.sort();
    let read = |path: PathBuf| Document {
        text: std::fs::read_to_string(&path).unwrap(),
        path: path.strip_prefix(&root).unwrap().display().to_string(),
    };
    paths.into_iter().map(read).collect()
}

/// Adds the Markdown files in and below a folder; hidden folders are left out.
fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_str().unwrap();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() && !name.starts_with('.') && !OTHER_FOLDERS.contains(&name) {
            collect(&path, paths);
        } else if kind.is_file() && name.ends_with(".md") {
            paths.push(path);
        }
    }
}
