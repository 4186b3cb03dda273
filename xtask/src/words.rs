//! Spelling of units and names. The rules are in `words.toml`.

use std::path::Path;

use serde::Deserialize;

use crate::project::{self, Checked};

const RULES: &str = "xtask/words.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    /// Parts of paths that are not looked at.
    skip: Vec<String>,
    words: Vec<WordRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WordRule {
    /// What must not be written, letter for letter, as a word of its own.
    wrong: Vec<String>,
    /// What to write instead.
    right: String,
    /// Parts of paths where it may be written nevertheless.
    #[serde(default)]
    except: Vec<String>,
}

pub(crate) fn check(root: &Path) -> Checked {
    let rules: Rules = toml::from_str(&std::fs::read_to_string(root.join(RULES))?)?;
    let mut problems = Vec::new();
    for path in project::project_files(root)? {
        if let Some(text) = project::text(root, &path)? {
            problems.extend(look_at(&rules, &path, &text));
        }
    }
    Ok(problems)
}

fn matches(parts: &[String], path: &str) -> bool {
    parts.iter().any(|part| path.contains(part.as_str()))
}

fn look_at(rules: &Rules, path: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    // The rules name the wrong words.
    if path == RULES || matches(&rules.skip, path) {
        return problems;
    }
    for rule in rules
        .words
        .iter()
        .filter(|rule| !matches(&rule.except, path))
    {
        for wrong in &rule.wrong {
            for at in whole(text, wrong) {
                let line = text[..at].matches('\n').count() + 1;
                problems.push(format!("{path}:{line}: `{wrong}`: write {}", rule.right));
            }
        }
    }
    problems
}

/// Where `wrong` stands with no letter or digit beside its own letters.
fn whole<'a>(text: &'a str, wrong: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(wrong)
        .map(|(at, _)| at)
        .filter(move |&at| {
            let joined = |mine: Option<char>, other: Option<char>| {
                mine.is_some_and(char::is_alphanumeric) && other.is_some_and(char::is_alphanumeric)
            };
            let end = at + wrong.len();
            !joined(wrong.chars().next(), text[..at].chars().next_back())
                && !joined(wrong.chars().next_back(), text[end..].chars().next())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        toml::from_str(
            r#"
            skip = ["/fixtures/"]
            [[words]]
            wrong = ["Zb/s", "zork"]
            right = "ZB/s"
            except = ["docs/old.md"]
            "#,
        )
        .unwrap()
    }

    #[test]
    fn a_wrong_word_is_caught_with_line_and_right_one() {
        let problems = look_at(&rules(), "docs/a.md", "fine\n12 Zb/s\n");
        assert_eq!(problems, ["docs/a.md:2: `Zb/s`: write ZB/s"]);
        assert_eq!(look_at(&rules(), "a.rs", "let zork_count = 1;").len(), 1);
    }

    #[test]
    fn parts_of_words_and_exceptions_pass() {
        assert_eq!(look_at(&rules(), "a.md", "zorks, XZb/s"), [""; 0]);
        assert_eq!(look_at(&rules(), "docs/old.md", "Zb/s"), [""; 0]);
        assert_eq!(look_at(&rules(), "a/fixtures/b", "Zb/s"), [""; 0]);
        assert_eq!(look_at(&rules(), RULES, "Zb/s"), [""; 0]);
    }

    #[test]
    fn the_committed_rules_can_be_read() {
        let text = std::fs::read_to_string(project::root().join(RULES)).unwrap();
        let rules: Rules = toml::from_str(&text).unwrap();
        for sample in [["12 KB", "/s"], ["12 kb", "/s"], ["12 Kb", "ps"]] {
            assert_eq!(
                look_at(&rules, "a.md", &sample.concat()).len(),
                1,
                "{sample:?}"
            );
        }
    }
}
