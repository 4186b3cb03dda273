//! Names similar to a word, for suggestions.

/// Minimum similarity for a suggestion; 1 is equality.
const LIKE: f64 = 0.85;

/// Similarity of a word and a name that begins with it.
const START: f64 = 0.97;

/// Similarity of two words that differ by one letter, or by two neighbours exchanged.
const SLIP: f64 = 0.95;

/// Maximum number of suggestions.
const MOST_SUGGESTIONS: usize = 3;

/// Returns the names that are similar to this word, the most similar first. Ignores case, spaces, hyphens and
/// underscores; a name that begins with the word, or ends with it, counts as similar.
#[must_use]
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let word = plain(word);
    let mut found: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| (likeness(&plain(name), &word), name))
        .filter(|(likeness, _)| *likeness >= LIKE)
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut names = Vec::new();
    for (_, name) in found {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.truncate(MOST_SUGGESTIONS);
    names
}

/// Returns the names that a word may mean as a clause, such as `perhaps media`, or else all.
#[must_use]
pub fn meant(word: &str, names: &[&str]) -> String {
    match nearest(word, names.iter().copied()).as_slice() {
        [] => format!("there is {}", names.join(", ")),
        near => format!("perhaps {}", near.join(", ")),
    }
}

/// Similarity of two plain words, 0 to 1.
fn likeness(name: &str, word: &str) -> f64 {
    let least = match word.len() {
        0 | 1 => 0.0,
        3.. if name.starts_with(word) => START,
        3.. if is_one_slip(name, word) => SLIP,
        _ if name.starts_with(word) || name.ends_with(word) => LIKE,
        _ => 0.0,
    };
    strsim::jaro_winkler(name, word).max(least)
}

/// True if two words differ by one letter, or by two neighbours exchanged.
pub(crate) fn is_one_slip(one: &str, other: &str) -> bool {
    // A letter has at most four bytes; the distance of long texts costs the product of their lengths.
    one.len().abs_diff(other.len()) <= 4 && strsim::osa_distance(one, other) == 1
}

/// The word in lower case, without spaces, hyphens and underscores.
pub(crate) fn plain(word: &str) -> String {
    word.chars()
        .filter(|c| !matches!(c, ' ' | '-' | '_'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Splits a name into words of letters and numbers in lower case; `+` is the word `plus`.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last: Option<bool> = None;
    for letter in name.replace('+', " plus ").chars() {
        let kind = letter.is_alphanumeric().then(|| letter.is_numeric());
        if let Some(is_digit) = kind {
            if last != Some(is_digit) {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(letter.to_lowercase());
            }
        }
        last = kind;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["quick", "sustained", "app-class", "speed-class", "a1-32gb"];

    #[test]
    fn slips_and_parts_are_understood() {
        assert_eq!(nearest("quik", NAMES), ["quick"]);
        assert_eq!(nearest("rnu", ["rank", "run", "recover"])[0], "run");
        assert_eq!(nearest("SUSTAIND", NAMES), ["sustained"]);
        assert_eq!(nearest("a1", NAMES), ["a1-32gb"]);
        assert_eq!(nearest("appclass", NAMES), ["app-class"]);
        let classes = nearest("class", NAMES);
        assert!(classes.contains(&"app-class") && classes.contains(&"speed-class"));
        for word in ["", "zeppelin", "x"] {
            assert!(nearest(word, NAMES).is_empty(), "{word}");
        }
    }

    #[test]
    fn no_more_than_three_are_named_and_none_twice() {
        let names = ["card", "cards", "carda", "cardb", "card"];
        let found = nearest("card", names);
        assert_eq!(found.len(), MOST_SUGGESTIONS);
        assert_eq!(found[0], "card");
        assert!(!found[1..].contains(&"card"), "{found:?}");
    }
}
