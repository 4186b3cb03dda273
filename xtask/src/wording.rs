//! Habits of wording in prose: doc comments, Markdown and strings, per 1,000 lines.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::project::{self, Checked};

/// A habit, and the most lines per 1,000 that may have it.
struct Habit {
    name: &'static str,
    pattern: Regex,
    most_per_1000: f64,
}

static HABITS: LazyLock<Vec<Habit>> = LazyLock::new(|| {
    let habit = |name, pattern, most_per_1000| {
        let pattern = Regex::new(pattern).ok()?;
        Some(Habit {
            name,
            pattern,
            most_per_1000,
        })
    };
    let all = [
        habit(
            "begin with a question word",
            r"^(What|Whether|How|Where|Why|Which|Who|Of which)\b",
            15.0,
        ),
        habit(
            "tell or say",
            r"(?i)\b(tell|tells|told|say|says|said|speaks?|spoken)\b",
            4.0,
        ),
        habit(
            "use 'so many', 'anew', 'of which' and the like",
            r"(?i)\b(so|as) (many|much)\b(?:$|[^ ]| [^a]| a[^s])|\bthe same (again|holds)\b|\banew\b|\bof which\b|\bnobody\b|\bbesides\b|\btold apart\b",
            1.0,
        ),
    ];
    all.into_iter().flatten().collect()
});

static STRING: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#""((?:[^"\\]|\\.){12,})""#).ok());

/// Prints the rates, with `lists` also the lines, and returns a problem for each rate above its limit.
pub(crate) fn check(root: &Path, lists: bool) -> Checked {
    let mut lines_count = 0_u32;
    let mut counts = vec![0_u32; HABITS.len()];
    for path in project::project_files(root)? {
        let is_prose = [".rs", ".md", ".toml"]
            .iter()
            .any(|end| path.ends_with(end));
        if !is_prose || path.contains("/fixtures/") || path.contains("/published/") {
            continue;
        }
        let Some(text) = project::text(root, &path)? else {
            continue;
        };
        for (number, line) in (1..).zip(text.lines()) {
            let Some(prose) = prose(&path, line) else {
                continue;
            };
            lines_count += 1;
            let mut is_listed = false;
            for (habit, count) in HABITS.iter().zip(&mut counts) {
                let has = habit.pattern.is_match(prose);
                *count += u32::from(has);
                is_listed |= has;
            }
            if lists && is_listed {
                println!("{path}:{number}: {prose}");
            }
        }
    }
    let mut problems = Vec::new();
    for (habit, count) in HABITS.iter().zip(counts) {
        let rate = 1000.0 * f64::from(count) / f64::from(lines_count.max(1));
        let text = format!(
            "{rate:.1} of 1,000 lines {} (at most {})",
            habit.name, habit.most_per_1000
        );
        println!("{text}");
        if rate > habit.most_per_1000 {
            problems.push(text);
        }
    }
    Ok(problems)
}

/// The prose of a line: text of a comment, of Markdown, or of a string of several words.
fn prose<'a>(path: &str, line: &'a str) -> Option<&'a str> {
    let line = line.trim();
    if path.ends_with(".md") {
        let text = line.trim_start_matches(['-', '*', '#', '>', ' ']);
        return (!line.starts_with("|--") && !line.starts_with("```") && !text.is_empty())
            .then_some(text);
    }
    if path.ends_with(".rs")
        && let Some(comment) = line.strip_prefix("//")
    {
        let text = comment.strip_prefix(['/', '!']).unwrap_or(comment);
        let text = text.strip_prefix(' ').unwrap_or(text);
        return (!text.is_empty()).then_some(text);
    }
    let least_spaces = if path.ends_with(".rs") { 1 } else { 3 };
    let text = STRING.as_ref()?.captures(line)?.get(1)?.as_str();
    (text.matches(' ').count() >= least_spaces).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn habits(path: &str, line: &str) -> Vec<usize> {
        let Some(prose) = prose(path, line) else {
            return Vec::new();
        };
        let has = |(index, habit): (usize, &Habit)| habit.pattern.is_match(prose).then_some(index);
        HABITS.iter().enumerate().filter_map(has).collect()
    }

    #[test]
    fn habits_are_found_in_comments_markdown_and_strings() {
        assert_eq!(HABITS.len(), 3);
        assert_eq!(habits("a.rs", "    /// What it is."), [0]);
        assert_eq!(habits("a.rs", "//! Who told so many lies."), [0, 1, 2]);
        assert_eq!(habits("a.md", "- How it says so"), [0, 1]);
        assert_eq!(habits("a.rs", r#"let x = "which tells, besides";"#), [1, 2]);
        assert_eq!(habits("a.toml", r#"x = "it is told apart here""#), [1, 2]);
    }

    #[test]
    fn code_and_plain_sentences_have_none() {
        for line in [
            "let told = say();",
            "/// Returns as many as there are.",
            "/// Number of trials.",
        ] {
            assert_eq!(habits("a.rs", line), [0; 0], "{line}");
        }
        assert_eq!(habits("a.md", "```What"), [0; 0]);
    }
}
