//! Words with one meaning, and people's words for uses (`facts/synonyms.toml`).

use serde::Deserialize;

use crate::facts::embedded;

const TEXT: &str = include_str!("../facts/synonyms.toml");

/// A row of words.
#[derive(Deserialize)]
pub(crate) struct Words {
    pub(crate) words: Vec<String>,
    /// Id of the use that they name.
    #[serde(rename = "use")]
    use_id: Option<String>,
}

/// Returns the rows of a table: `synonyms` or `small`.
pub(crate) fn rows_of(table: &str) -> Vec<Words> {
    embedded(TEXT, table)
}

/// Returns the words of people for a use.
pub(crate) fn words_of_use(id: &str) -> impl Iterator<Item = String> {
    let rows = rows_of("synonyms").into_iter();
    let rows = rows.filter(move |row| row.use_id.as_deref() == Some(id));
    rows.flat_map(|row| row.words)
}

/// Ids of uses that rows of synonyms name.
#[cfg(test)]
pub(crate) fn uses_of_words() -> impl Iterator<Item = String> {
    let rows = rows_of("synonyms").into_iter();
    rows.filter_map(|row| row.use_id)
}
