//! The list of licences in each archive.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use super::parts;
use super::target::Target;
use super::tools::Tools;
use crate::project::Error;

/// Beginnings of the names of licence files, in capitals.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "UNLICENSE"];

const HEAD: &str = "Licences of everything in this program that others wrote.

Each entry: name, version, licence as an SPDX expression, and the numbers of its licence texts below. The standard library of Rust
and packages without a text of their own are used under the Apache License 2.0 or the MIT licence, see LICENSE-APACHE and
LICENSE-MIT. SQLite is in the public domain.

";

/// Returns the list for one target. Equal texts appear once.
pub(super) fn text(root: &Path, tools: &Tools, target: &Target) -> Result<String, Error> {
    let mut list = HEAD.to_owned();
    let mut numbers = BTreeMap::<String, usize>::new();
    let mut texts = String::new();
    for part in parts::of(root, tools, target)? {
        let mut own = Vec::new();
        for text in licence_texts(&part.folder)? {
            let next = numbers.len() + 1;
            let number = *numbers.entry(text.clone()).or_insert(next);
            if number == next {
                writeln!(texts, "\n---- {number} ----\n\n{text}")?;
            }
            own.push(number.to_string());
        }
        let own = own.join(" ");
        writeln!(
            list,
            "{} {}  {}  {own}",
            part.name, part.version, part.licence
        )?;
    }
    Ok(list + &texts)
}

/// Texts of the licence files in a folder, sorted by file name.
fn licence_texts(folder: &Path) -> Result<Vec<String>, Error> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.to_uppercase();
        if path.is_file() && NAMES.iter().any(|begin| name.starts_with(begin)) {
            files.push(path);
        }
    }
    files.sort();
    let texts = files.iter().map(|file| {
        let text = String::from_utf8_lossy(&fs::read(file)?).replace("\r\n", "\n");
        Ok(text.trim().to_owned())
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_licences_are_found_in_order() {
        let texts = licence_texts(&crate::project::root()).unwrap();
        assert_eq!(texts.len(), 2);
        assert!(texts[0].contains("Apache License"));
        assert!(texts[1].contains("Permission is hereby granted"));
    }
}
