//! Size of the code: lines without blanks, comments and inline tests, packages, and module circles.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::modules::Modules;
use crate::project::{self, Checked, Error};
use crate::sources::{Source, sources};

/// Prints the sizes and returns a problem for each circle of modules.
pub(crate) fn check(root: &Path) -> Checked {
    let sources = sources(root)?;
    let mut crates = BTreeMap::<&str, Vec<&Source>>::new();
    for source in &sources {
        crates.entry(&source.folder).or_default().push(source);
    }
    let mut all = 0;
    for (folder, files) in &crates {
        let lines: usize = files.iter().map(|file| file.code.lines.len()).sum();
        println!("{lines:6}  {folder}");
        all += lines;
    }
    println!("{all:6}  lines of code");
    for (package, name) in [("cardmark-cli", "program"), ("cardmark-site", "site")] {
        let count = packages(root, package)?;
        println!("{count:6}  third-party packages of the {name}");
    }
    let mut problems = Vec::new();
    for (folder, files) in &crates {
        for circle in Modules::of(files.iter().copied()).circles() {
            let names: Vec<String> = circle.iter().map(|module| name(module)).collect();
            let names = names.join(", ");
            problems.push(format!("{folder}: modules depend on each other: {names}"));
        }
    }
    Ok(problems)
}

fn name(module: &[String]) -> String {
    if module.is_empty() {
        "the root".to_owned()
    } else {
        module.join("::")
    }
}

/// Number of third-party packages with which a package of the workspace is built.
fn packages(root: &Path, package: &str) -> Result<usize, Error> {
    let tree = format!("tree -p {package} -e normal,build --prefix none --locked");
    let arguments: Vec<&str> = tree.split(' ').collect();
    let text = String::from_utf8(project::cargo(root, &arguments)?)?;
    let lines = text.lines().map(|line| {
        line.trim_end_matches(" (*)")
            .trim_end_matches(" (proc-macro)")
    });
    let third: BTreeSet<&str> = lines
        .filter(|line| !line.is_empty() && !line.contains(" (/"))
        .collect();
    Ok(third.len())
}
