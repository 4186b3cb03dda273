//! Length of documents, in words as `wc -w` counts them.

use std::path::Path;

use crate::project::{self, Checked};

/// Most words of all documents but `RESULTS.md`.
const MOST_ALL: usize = 65_000;
/// Most words of `BENCHMARKS.md`: two pages.
const MOST_BENCHMARKS: usize = 1_600;
/// Most words of a `RESULTS.md` outside tables and code blocks.
const MOST_RESULTS: usize = 200;

pub(crate) fn check(root: &Path) -> Checked {
    let mut documents = Vec::new();
    for path in project::project_files(root)? {
        if path.ends_with(".md")
            && let Some(text) = project::text(root, &path)?
        {
            documents.push((path, text));
        }
    }
    Ok(too_long(&documents))
}

/// Problems of documents, each a path and its text.
fn too_long(documents: &[(String, String)]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut all = 0;
    for (path, text) in documents {
        let is_results = path == "RESULTS.md" || path.ends_with("/RESULTS.md");
        let (count, most) = match path.as_str() {
            _ if is_results => (prose(text), MOST_RESULTS),
            "BENCHMARKS.md" => (words(text), MOST_BENCHMARKS),
            _ => (words(text), MOST_ALL),
        };
        if count > most {
            problems.push(format!("{path}: {count} words (at most {most})"));
        }
        if !is_results {
            all += words(text);
        }
    }
    if all > MOST_ALL {
        problems.push(format!("all documents: {all} words (at most {MOST_ALL})"));
    }
    problems
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// Number of words outside tables and code blocks.
fn prose(text: &str) -> usize {
    let mut is_code = false;
    let mut count = 0;
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if !is_code && !line.starts_with('|') {
            count += words(line);
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(path: &str, words: usize) -> (String, String) {
        (path.to_owned(), "word ".repeat(words))
    }

    #[test]
    fn tables_and_code_are_no_prose() {
        assert_eq!(
            prose("# A b\n\n| c | d |\n|---|---|\n\n```text\ne f\n```\ng\n"),
            4
        );
    }

    #[test]
    fn each_limit_is_the_last_length_that_passes() {
        for (path, most) in [
            ("BENCHMARKS.md", MOST_BENCHMARKS),
            ("benchmarks/a/RESULTS.md", MOST_RESULTS),
            ("RESULTS.md", MOST_RESULTS),
        ] {
            assert_eq!(too_long(&[document(path, most)]), [""; 0], "{path}");
            let problems = too_long(&[document(path, most + 1)]);
            assert_eq!(
                problems,
                [format!("{path}: {} words (at most {most})", most + 1)]
            );
        }
    }

    #[test]
    fn all_documents_count_together_without_results() {
        let half = MOST_ALL / 2;
        let mut documents = vec![
            document("docs/a.md", half),
            document("docs/b.md", MOST_ALL - half),
            document("a/RESULTS.md", MOST_RESULTS),
        ];
        assert_eq!(too_long(&documents), [""; 0]);
        documents.push(document("docs/c.md", 1));
        assert_eq!(
            too_long(&documents),
            [format!(
                "all documents: {} words (at most {MOST_ALL})",
                MOST_ALL + 1
            )]
        );
    }
}
