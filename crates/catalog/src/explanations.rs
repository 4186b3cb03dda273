//! Words, explained for people who want to know what a figure or a finding means.

mod fields;

use std::borrow::Cow;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::facts::embedded;

const TEXT: &str = include_str!("../facts/explanations.toml");

static ROWS: LazyLock<Vec<Explanation>> = LazyLock::new(|| embedded(TEXT, "explanations"));

/// From this likeness on a word is worth suggesting, 1 being the same.
const LIKE: f64 = 0.85;

/// Words suggested at most.
const MOST_SUGGESTIONS: usize = 3;

/// What a word means.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    /// The word, as records write it.
    pub id: String,
    /// Other words that mean it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// What it is, in a few words.
    pub title: String,
    /// What it means, why it matters, what to do.
    pub text: String,
    /// Where it is from.
    pub source: String,
    /// The day it was read there.
    pub checked_on: String,
    /// How people write it, which a test looks up.
    pub vectors: Vec<String>,
}

/// All explanations, in the order of the file.
#[must_use]
pub fn explanations() -> &'static [Explanation] {
    &ROWS
}

/// The explanation of a word or phrase, or of a field of card registers; capitals, spaces, hyphens
/// and underscores do not matter.
#[must_use]
pub fn explanation(word: &str) -> Option<Cow<'static, Explanation>> {
    let word = plain(word);
    let row = ROWS
        .iter()
        .find(|row| row.words().any(|known| plain(known) == word));
    row.map(Cow::Borrowed)
        .or_else(|| fields::explanation(&word).map(Cow::Owned))
}

/// Known words that are much like this one, the likest first.
#[must_use]
pub fn nearest(word: &str) -> Vec<&'static str> {
    let word = plain(word);
    let rows = ROWS.iter().filter_map(|row| row.likest(&word));
    let fields = fields::names().map(|name| (likeness(name, &word), name));
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

impl Explanation {
    fn words(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.id).chain(&self.aliases)
    }

    /// That of its words which is most like this one.
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

#[cfg(test)]
mod tests;
