//! Explanations of terms for users who want to know the meaning of a figure or a finding.

use std::borrow::Cow;
use std::sync::LazyLock;

use cardmark_cards::{Field, register_tables};
use serde::{Deserialize, Serialize};

use crate::facts::embedded;

const TEXT: &str = include_str!("../facts/explanations.toml");

static ROWS: LazyLock<Vec<Explanation>> = LazyLock::new(|| embedded(TEXT, "explanations"));

/// Sources of the fields of card registers.
const SD_ASSOCIATION: &str = "SD Specifications, Part 1, Physical Layer Simplified Specification 9.10, chapters \
                  4.10 and 5";
const JEDEC: &str = "JEDEC JESD84-B51A, chapter 7";
/// Day on which the source was read.
const CHECKED_ON: &str = "2026-11-20";

/// Minimum similarity for a suggestion; 1 is equality.
const LIKE: f64 = 0.85;

/// Maximum number of suggestions.
const MOST_SUGGESTIONS: usize = 3;

/// Maximum number of terms that a search finds.
const MOST_FOUND: usize = 8;

/// Words of a question without meaning of their own.
const FILLING: [&str; 16] = [
    "a", "an", "and", "are", "do", "does", "how", "in", "is", "it", "my", "of", "on", "the",
    "what", "why",
];

/// A part of the list of all terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// What is printed on a card.
    Labels,
    /// Metrics.
    Figures,
    /// Findings.
    Warnings,
    /// Capacity and damage.
    Fakes,
    /// What boards can do.
    Boards,
    /// Bus modes.
    Buses,
    /// Registers of a card.
    Registers,
    /// Figures of other tools.
    Tools,
    /// Checks of a results site.
    Checks,
    /// Everything else.
    Words,
}

impl Group {
    /// All groups, in the order of the list.
    pub const ALL: [Self; 10] = [
        Self::Labels,
        Self::Figures,
        Self::Warnings,
        Self::Fakes,
        Self::Boards,
        Self::Buses,
        Self::Registers,
        Self::Tools,
        Self::Checks,
        Self::Words,
    ];

    /// Returns the word for the group.
    pub fn name(self) -> &'static str {
        match self {
            Self::Labels => "labels",
            Self::Figures => "figures",
            Self::Warnings => "warnings",
            Self::Fakes => "fakes",
            Self::Boards => "boards",
            Self::Buses => "buses",
            Self::Registers => "registers",
            Self::Tools => "tools",
            Self::Checks => "checks",
            Self::Words => "words",
        }
    }

    /// Returns its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Labels => "Labels on a card",
            Self::Figures => "Speed figures",
            Self::Warnings => "Warnings and notes",
            Self::Fakes => "Fake and damaged cards",
            Self::Boards => "Boards",
            Self::Buses => "Bus modes",
            Self::Registers => "Registers",
            Self::Tools => "Figures of other tools",
            Self::Checks => "Checks of a results site",
            Self::Words => "Words and units",
        }
    }

    /// Returns the group of this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|group| plain(group.name()) == plain(name))
    }

    /// Returns its explanations, in the order of the file.
    pub fn rows(self) -> impl Iterator<Item = &'static Explanation> {
        ROWS.iter().filter(move |row| row.group == self)
    }
}

/// Explanation of a term.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    /// The term as written in records.
    pub id: String,
    /// Part of the list of all terms that it stands in.
    pub group: Group,
    /// Other terms with the same meaning.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Title, in a few words.
    pub title: String,
    /// Meaning, importance and advice.
    pub text: String,
    /// Source of the row.
    pub source: String,
    /// Day on which the source was read.
    pub checked_on: String,
    /// Spellings by users, used by a test.
    pub vectors: Vec<String>,
}

/// Returns all explanations, in the order of the file.
pub fn explanations() -> &'static [Explanation] {
    &ROWS
}

/// Returns the explanation of a term or phrase, or of a field of card registers. Ignores case, spaces,
/// hyphens and underscores, and the mark at the end of a question.
pub fn explanation(word: &str) -> Option<Cow<'static, Explanation>> {
    let word = plain(word.trim_end_matches('?'));
    let row = ROWS
        .iter()
        .find(|row| row.words().any(|known| plain(known) == word));
    row.map(Cow::Borrowed)
        .or_else(|| field_explanation(&word).map(Cow::Owned))
}

/// Returns the known terms that are similar to this one, the most similar first.
pub fn nearest(word: &str) -> Vec<&'static str> {
    let word = plain(word);
    let rows = ROWS.iter().filter_map(|row| row.likest(&word));
    let fields = fields().map(|(_, field)| (likeness(field.name, &word), field.name));
    let mut found: Vec<(f64, &str)> = rows
        .chain(fields)
        .filter(|(likeness, _)| *likeness >= LIKE)
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.dedup();
    found
        .into_iter()
        .take(MOST_SUGGESTIONS)
        .map(|(_, known)| known)
        .collect()
}

/// Returns the explanations that contain all words of a question, those with the words in their titles first.
pub fn search(question: &str) -> Vec<&'static Explanation> {
    let question = question.to_lowercase();
    let words: Vec<&str> = parts(&question)
        .filter(|word| !FILLING.contains(word))
        .collect();
    if words.is_empty() {
        return Vec::new();
    }
    let holds = |text: &str| {
        let text = text.to_lowercase();
        words
            .iter()
            .all(|word| parts(&text).any(|part| part.starts_with(word)))
    };
    let title = |row: &&Explanation| {
        holds(&format!(
            "{} {} {}",
            row.id,
            row.aliases.join(" "),
            row.title
        ))
    };
    let (mut found, others): (Vec<_>, Vec<_>) = ROWS.iter().partition(title);
    found.extend(others.into_iter().filter(|row| holds(&row.text)));
    found.truncate(MOST_FOUND);
    found
}

/// Words of a text, without punctuation.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|part| !part.is_empty())
}

impl Explanation {
    fn words(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.id).chain(&self.aliases)
    }

    /// Returns the row's term that is most similar to this one.
    fn likest(&self, word: &str) -> Option<(f64, &str)> {
        self.words()
            .map(|known| (likeness(known, word), known.as_str()))
            .max_by(|a, b| a.0.total_cmp(&b.0))
    }
}

fn likeness(known: &str, word: &str) -> f64 {
    strsim::jaro_winkler(&plain(known), word)
}

fn plain(word: &str) -> String {
    word.chars()
        .filter(|c| !matches!(c, ' ' | '-' | '_'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Returns the meaning of a field in each register that contains it.
fn field_explanation(word: &str) -> Option<Explanation> {
    let found: Vec<_> = fields()
        .filter(|(_, field)| plain(field.name) == word)
        .collect();
    let (_, first) = found.first()?;
    let places: Vec<String> = found
        .iter()
        .map(|(register, field)| format!("{register}, {}: {}", bits(field), field.about))
        .collect();
    let of = |emmc: bool| {
        let mut registers = found.iter().map(|(register, _)| register);
        registers.any(|register| register.contains("eMMC") == emmc)
    };
    let sources = [(of(false), SD_ASSOCIATION), (of(true), JEDEC)];
    let sources: Vec<&str> = sources
        .into_iter()
        .filter(|(is_there, _)| *is_there)
        .map(|(_, source)| source)
        .collect();
    Some(Explanation {
        id: first.name.to_owned(),
        group: Group::Registers,
        aliases: Vec::new(),
        title: format!("{}, a field of a card's registers", first.name),
        text: format!(
            "{}. `cardmark info --json` shows its value if the reader lets the registers \
             through.",
            places.join("; ")
        ),
        source: sources.join("; "),
        checked_on: CHECKED_ON.to_owned(),
        vectors: vec![first.name.to_owned()],
    })
}

/// Returns all named fields with their registers.
fn fields() -> impl Iterator<Item = (&'static str, &'static Field)> {
    let all = register_tables()
        .into_iter()
        .flat_map(|(register, table)| table.iter().map(move |field| (register, field)));
    all.filter(|(_, field)| !field.name.starts_with("RESERVED_"))
}

fn bits(field: &Field) -> String {
    if field.high == field.low {
        return format!("bit {}", field.low);
    }
    format!("bits {} to {}", field.high, field.low)
}

#[cfg(test)]
mod tests;
