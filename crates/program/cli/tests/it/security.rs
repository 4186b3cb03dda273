//! The tests that `SECURITY.md` names behind each defence exist.

use std::fs;
use std::path::{Path, PathBuf};

use crate::files;

/// Texts in backquotes of the last column of each row of "Defences".
fn named(page: &str) -> Vec<&str> {
    let (_, after) = page.split_once("\n## Defences\n").unwrap();
    let (section, _) = after.split_once("\n## ").unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let cells = rows.skip(1).filter_map(|row| row.split('|').nth(3));
    let words = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    words.collect()
}

#[test]
fn every_named_test_exists() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let page = fs::read_to_string(top.join("SECURITY.md")).unwrap();
    let mut sources: Vec<PathBuf> = files(&top.join("crates"));
    sources.extend(files(&top.join("fuzz/fuzz_targets")));
    let text_of = |path: &PathBuf| fs::read_to_string(path).unwrap();
    let texts: Vec<String> = sources.iter().map(text_of).collect();
    let named = named(&page);
    assert!(named.len() > 20, "{named:?}");
    for word in named {
        let is_there = if word.starts_with("benchmarks/") {
            top.join(word).exists()
        } else if let Some(script) = word.strip_prefix("scripts/") {
            let name = script.split(' ').next().unwrap();
            top.join("scripts").join(name).exists()
        } else if word.ends_with(".rs") {
            sources.iter().any(|path| path.ends_with(word)) || top.join(word).exists()
        } else {
            let is_target = |path: &PathBuf| path.ends_with(format!("{word}.rs"));
            let is_in = |text: &String| {
                text.contains(&format!("fn {word}(")) || text.contains(&format!("    {word}: "))
            };
            sources.iter().any(is_target) || texts.iter().any(is_in)
        };
        assert!(is_there, "SECURITY.md names `{word}`, which does not exist");
    }
}
