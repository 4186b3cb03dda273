//! Shipped source files: no tests, examples and modules of tests.

use std::path::Path;

use crate::code::{self, Code};
use crate::project::{self, Error};

/// A module's path below its crate; empty for the root.
pub(crate) type Module = Vec<String>;

/// A source file of a crate.
pub(crate) struct Source {
    /// The crate's folder, such as `crates/measure/core`.
    pub folder: String,
    /// The path below `src/`.
    pub below: String,
    pub code: Code,
}

impl Source {
    /// Parses a file; `None` if the path is not that of a source file.
    pub(crate) fn parse(path: &str, text: &str) -> Result<Option<Self>, Error> {
        let Some((folder, below)) = path.split_once("/src/").filter(|_| path.ends_with(".rs"))
        else {
            return Ok(None);
        };
        Ok(Some(Self {
            folder: folder.to_owned(),
            below: below.to_owned(),
            code: code::parse(text).map_err(|error| format!("{path}: {error}"))?,
        }))
    }

    /// Folder and path prefixes of the files of the test modules that a file declares.
    fn test_files(&self) -> Vec<(String, String)> {
        let file = |name: &String| {
            let mut module = module_of(&self.below);
            module.push(name.clone());
            module.join("/")
        };
        let files = self.code.test_modules.iter().map(file);
        files
            .flat_map(|file| [format!("{file}.rs"), format!("{file}/")])
            .map(|prefix| (self.folder.clone(), prefix))
            .collect()
    }
}

/// Returns the module of a file below `src/`, such as `a/b.rs` or `a/mod.rs`.
pub(crate) fn module_of(path: &str) -> Module {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    let mut segments: Module = stem.split('/').map(str::to_owned).collect();
    if ["lib", "main", "mod"].contains(&segments.last().map_or("", String::as_str)) {
        segments.pop();
    }
    segments
}

/// Returns the shipped sources of all crates.
pub(crate) fn sources(root: &Path) -> Result<Vec<Source>, Error> {
    let mut sources = Vec::new();
    for path in project::project_files(root)? {
        if let Some(text) = project::text(root, &path)? {
            sources.extend(Source::parse(&path, &text)?);
        }
    }
    Ok(without_tests(sources))
}

/// Removes the files of test modules.
pub(crate) fn without_tests(mut sources: Vec<Source>) -> Vec<Source> {
    let tests: Vec<(String, String)> = sources.iter().flat_map(Source::test_files).collect();
    sources.retain(|source| {
        let is_in = |(folder, prefix): &(String, String)| {
            *folder == source.folder && source.below.starts_with(prefix.as_str())
        };
        !tests.iter().any(is_in)
    });
    sources
}
