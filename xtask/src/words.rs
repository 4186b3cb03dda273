//! One word per thing, and nothing tied to one machine. The rules are in `words.toml`.

use std::path::Path;

use serde::Deserialize;

use crate::{Checked, files, source};

const RULES: &str = "xtask/words.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    /// Parts of paths that are not looked at.
    skip: Vec<String>,
    words: Vec<WordRule>,
    places: Vec<PlaceRule>,
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

/// A host or folder of one machine.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaceRule {
    /// The text, in pieces so that the rule does not match itself.
    pieces: Vec<String>,
    why: String,
}

pub fn check(root: &Path) -> Checked {
    let rules: Rules = toml::from_str(&std::fs::read_to_string(root.join(RULES))?)?;
    let mut problems = Vec::new();
    for path in files::project_files(root)? {
        if let Some(text) = files::text(root, &path)? {
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
    if matches(&rules.skip, path) {
        return problems;
    }
    for place in &rules.places {
        let wrong = place.pieces.concat();
        for at in places(text, &wrong) {
            let line = source::line_of(text, at);
            problems.push(format!("{path}:{line}: `{wrong}`: {}", place.why));
        }
    }
    // The rules name the wrong words; only places are looked for there.
    if path == RULES {
        return problems;
    }
    for rule in rules
        .words
        .iter()
        .filter(|rule| !matches(&rule.except, path))
    {
        for wrong in &rule.wrong {
            for at in whole(text, wrong) {
                let line = source::line_of(text, at);
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

/// Where `place` is named: a folder only as the beginning of a path, a host also below another.
fn places<'a>(text: &'a str, place: &'a str) -> impl Iterator<Item = usize> + 'a {
    whole(text, place).filter(move |&at| {
        let before = text[..at].chars().next_back();
        let after = text[at + place.len()..].chars().next();
        !place.starts_with('/')
            || !(before.is_some_and(|c| c.is_alphanumeric() || "._-/}".contains(c))
                || after.is_some_and(|c| "_-".contains(c)))
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
            [[places]]
            pieces = ["zork", ".", "example"]
            why = "a registry"
            [[places]]
            pieces = ["/", "zfolder"]
            why = "a folder of one machine"
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
    fn hosts_and_folders_of_a_machine_are_caught() {
        let host = ["zork", ".example"].concat();
        for text in [
            host.clone(),
            format!("x://index.{host}/a"),
            "cd /zfolder/main".into(),
        ] {
            assert!(
                !look_at(&rules(), "docs/old.md", &text).is_empty(),
                "{text}"
            );
        }
        assert_eq!(look_at(&rules(), RULES, &host).len(), 1);
        for text in ["a/zfolder/b", "/zfolders", "/zfolder-x", "$HOME}/zfolder"] {
            assert_eq!(look_at(&rules(), "a.md", text), [""; 0], "{text}");
        }
    }

    #[test]
    fn the_committed_rules_can_be_read() {
        let text = std::fs::read_to_string(files::root().join(RULES)).unwrap();
        let rules: Rules = toml::from_str(&text).unwrap();
        for sample in [["12 KB", "/s"], ["12 kb", "/s"], ["12 Kb", "ps"]] {
            assert_eq!(
                look_at(&rules, "a.md", &sample.concat()).len(),
                1,
                "{sample:?}"
            );
        }
        for sample in [["crates", ".io"], ["/wo", "rk/main"], ["/fa", "rm"]] {
            assert_eq!(
                look_at(&rules, "a.md", &sample.concat()).len(),
                1,
                "{sample:?}"
            );
        }
    }
}
