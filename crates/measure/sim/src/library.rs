//! The models that come with the program.

use crate::error::ModelError;

/// Pairs of the names of models and the texts of their files.
macro_rules! models {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../models/", $name, ".toml")))),*]
    };
}

/// Order: honest cards, cards that disturb a measurement, cards that break, cards that do not keep written
/// data, always or under load, cards with a known internal structure, cards on the border of a class.
const EMBEDDED: &[(&str, &str)] = models! {
    "a1-32gb" "a2-64gb" "c10-16gb" "usb2-32gb" "swaying-32gb" "worn-32gb" "lying-32gb" "v30-64gb"
    "hot-32gb" "failing-32gb" "vanishing-32gb" "silent-32gb" "patchy-32gb" "honest-2mb"
    "honest-1gb" "dead-1gb" "limbo-32gb" "wrap-16gb" "chain-16gb" "tiny-1tb" "cached-64gb"
    "loosely-cached-64gb" "devil-1tb" "loose-devil-1tb" "wrap-700mb" "huge-cache-64gb"
    "spotted-64gb" "rotten-64gb" "unreadable-64gb" "flipping-32gb" "readonly-32gb" "crossing-32gb"
    "forgetting-32gb" "spilling-32gb" "wearing-1gb" "fading-1gb" "units-16gb" "triple-64gb"
    "border-a1-32gb" "border-a2-64gb" "border-v30-64gb" "border-c10-16gb"
};

/// The models of single processes, each on an ordinary card: challenges for a method of measuring. Invented ones first, then those
/// fitted to real figures.
const ZOO: &[(&str, &str)] = models! {
    "stalls-often" "stalls-rare" "stalls-heavy" "freeze-2s" "freeze-700ms" "garbage" "regimes"
    "slow-sway" "slower-sway" "gentle-sway" "drift" "two-speeds" "slow-trials" "housekeeping"
    "switching" "ftl-4gb" "sd-stalls" "emmc-stalls" "pause-5mb" "pause-4gib" "read-retries"
    "runs-apart" "recorded-emmc" "soft-units-16gb" "hard-units-16gb"
};

/// A model or a board in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name, as in `sim:MODEL@BOARD`.
    pub name: &'static str,
    /// Description in one sentence.
    pub summary: String,
}

/// Names and texts: cards first, then processes.
pub(crate) fn texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    EMBEDDED.iter().chain(ZOO).copied()
}

/// Names of the models of single processes.
pub fn zoo() -> impl Iterator<Item = &'static str> {
    ZOO.iter().map(|&(name, _)| name)
}

/// Minimum similarity of a name that is suggested; 1 is equality.
const LIKE: f64 = 0.85;
/// Maximum number of suggestions.
const MOST_NEAR: usize = 3;

/// Similarity of a name with a word; one that begins with it, as `a1-32gb` with `a1`, is similar.
fn likeness(known: &str, word: &str) -> f64 {
    let alike = strsim::jaro_winkler(known, word);
    match !word.is_empty() && known.starts_with(word) {
        true => alike.max(LIKE),
        false => alike,
    }
}

/// The text of the embedded model of that name.
pub(crate) fn text(name: &str) -> Result<&'static str, ModelError> {
    let found = texts().find(|&(known, _)| known == name);
    let (_, text) = found.ok_or_else(|| {
        let known = texts().map(|(known, _)| (likeness(known, name), known));
        let mut near: Vec<(f64, &str)> = known.filter(|(likeness, _)| *likeness >= LIKE).collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        let near: Vec<&str> = near
            .into_iter()
            .map(|(_, known)| known)
            .take(MOST_NEAR)
            .collect();
        ModelError::Unknown {
            name: name.to_owned(),
            perhaps: match near.is_empty() {
                true => String::new(),
                false => format!("; perhaps {}", near.join(", ")),
            },
        }
    })?;
    Ok(text)
}
