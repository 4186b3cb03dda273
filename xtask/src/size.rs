//! Size of the code: lines without blanks, comments and inline tests, packages, and module circles.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::code::{self, Code};
use crate::modules::{Modules, module_of};
use crate::{Checked, cargo, files};

/// Prints the sizes and returns a problem for each circle of modules.
pub(crate) fn check(root: &Path) -> Checked {
    let sources = sources(root)?;
    let mut lines = BTreeMap::<&str, usize>::new();
    let mut crates = BTreeMap::<&str, Vec<(&str, &Code)>>::new();
    for source in &sources {
        *lines.entry(&source.folder).or_default() += source.code.lines.len();
        let files = crates.entry(&source.folder).or_default();
        files.push((&source.below, &source.code));
    }
    for (folder, lines) in &lines {
        println!("{lines:6}  {folder}");
    }
    println!("{:6}  lines of code", lines.values().sum::<usize>());
    println!("{:6}  third-party packages of the program", packages(root)?);
    let circle = |(folder, files): (&&str, &Vec<(&str, &Code)>)| {
        let modules = files.iter().map(|(below, code)| (module_of(below), *code));
        let circles = Modules(modules.collect()).circles();
        let text = |circle: &Vec<Vec<String>>| {
            let name = |module: &Vec<String>| match module.as_slice() {
                [] => "the root".to_owned(),
                segments => segments.join("::"),
            };
            let names: Vec<String> = circle.iter().map(name).collect();
            format!(
                "{folder}: modules depend on each other: {}",
                names.join(", ")
            )
        };
        circles.iter().map(text).collect::<Vec<_>>()
    };
    Ok(crates.iter().flat_map(circle).collect())
}

/// A source file of a crate.
struct Source {
    /// The crate's folder.
    folder: String,
    /// The path below `src/`.
    below: String,
    code: Code,
}

/// Shipped sources of all crates: no tests, examples and modules of tests.
fn sources(root: &Path) -> Result<Vec<Source>, Box<dyn std::error::Error>> {
    let mut sources = Vec::new();
    for path in files::project_files(root)? {
        let Some((folder, below)) = path.split_once("/src/").filter(|_| path.ends_with(".rs"))
        else {
            continue;
        };
        let Some(text) = files::text(root, &path)? else {
            continue;
        };
        let code = code::parse(&text).map_err(|error| format!("{path}: {error}"))?;
        let (folder, below) = (folder.to_owned(), below.to_owned());
        sources.push(Source {
            folder,
            below,
            code,
        });
    }
    let tests: Vec<(String, String)> = sources.iter().flat_map(test_files).collect();
    sources.retain(|source| {
        let is_in = |(folder, prefix): &(String, String)| {
            *folder == source.folder && source.below.starts_with(prefix.as_str())
        };
        !tests.iter().any(is_in)
    });
    Ok(sources)
}

/// Prefixes of the files of the test modules that a file declares.
fn test_files(source: &Source) -> Vec<(String, String)> {
    let folder = module_of(&source.below).join("/");
    let prefix = match folder.as_str() {
        "" => String::new(),
        folder => format!("{folder}/"),
    };
    let files = source
        .code
        .test_modules
        .iter()
        .flat_map(|name| [format!("{prefix}{name}.rs"), format!("{prefix}{name}/")]);
    files.map(|file| (source.folder.clone(), file)).collect()
}

/// Number of third-party packages with which the program is built.
fn packages(root: &Path) -> Result<usize, Box<dyn std::error::Error>> {
    let output = Command::new(cargo())
        .args([
            "tree",
            "-p",
            "cardmark-cli",
            "-e",
            "normal,build",
            "--prefix",
            "none",
            "--locked",
        ])
        .current_dir(root)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let lines = text.lines().map(|line| {
        line.trim_end_matches(" (*)")
            .trim_end_matches(" (proc-macro)")
    });
    let third: std::collections::BTreeSet<&str> = lines
        .filter(|line| !line.is_empty() && !line.contains(" (/"))
        .collect();
    Ok(third.len())
}
