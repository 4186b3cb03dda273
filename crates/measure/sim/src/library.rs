//! The models that come with the program.

use crate::error::ModelError;
use crate::zoo::ZOO;

/// Order: honest cards, cards that disturb a measurement, cards that break, cards that do not keep written
/// data, always or under load, cards with a known internal structure, cards on the border of a class.
const EMBEDDED: [(&str, &str); 42] = [
    ("a1-32gb", include_str!("../models/a1-32gb.toml")),
    ("a2-64gb", include_str!("../models/a2-64gb.toml")),
    ("c10-16gb", include_str!("../models/c10-16gb.toml")),
    ("usb2-32gb", include_str!("../models/usb2-32gb.toml")),
    ("swaying-32gb", include_str!("../models/swaying-32gb.toml")),
    ("worn-32gb", include_str!("../models/worn-32gb.toml")),
    ("lying-32gb", include_str!("../models/lying-32gb.toml")),
    ("v30-64gb", include_str!("../models/v30-64gb.toml")),
    ("hot-32gb", include_str!("../models/hot-32gb.toml")),
    ("failing-32gb", include_str!("../models/failing-32gb.toml")),
    (
        "vanishing-32gb",
        include_str!("../models/vanishing-32gb.toml"),
    ),
    ("silent-32gb", include_str!("../models/silent-32gb.toml")),
    ("patchy-32gb", include_str!("../models/patchy-32gb.toml")),
    ("honest-2mb", include_str!("../models/honest-2mb.toml")),
    ("honest-1gb", include_str!("../models/honest-1gb.toml")),
    ("dead-1gb", include_str!("../models/dead-1gb.toml")),
    ("limbo-32gb", include_str!("../models/limbo-32gb.toml")),
    ("wrap-16gb", include_str!("../models/wrap-16gb.toml")),
    ("chain-16gb", include_str!("../models/chain-16gb.toml")),
    ("tiny-1tb", include_str!("../models/tiny-1tb.toml")),
    ("cached-64gb", include_str!("../models/cached-64gb.toml")),
    (
        "loosely-cached-64gb",
        include_str!("../models/loosely-cached-64gb.toml"),
    ),
    ("devil-1tb", include_str!("../models/devil-1tb.toml")),
    (
        "loose-devil-1tb",
        include_str!("../models/loose-devil-1tb.toml"),
    ),
    ("wrap-700mb", include_str!("../models/wrap-700mb.toml")),
    (
        "huge-cache-64gb",
        include_str!("../models/huge-cache-64gb.toml"),
    ),
    ("spotted-64gb", include_str!("../models/spotted-64gb.toml")),
    ("rotten-64gb", include_str!("../models/rotten-64gb.toml")),
    (
        "unreadable-64gb",
        include_str!("../models/unreadable-64gb.toml"),
    ),
    (
        "flipping-32gb",
        include_str!("../models/flipping-32gb.toml"),
    ),
    (
        "readonly-32gb",
        include_str!("../models/readonly-32gb.toml"),
    ),
    (
        "crossing-32gb",
        include_str!("../models/crossing-32gb.toml"),
    ),
    (
        "forgetting-32gb",
        include_str!("../models/forgetting-32gb.toml"),
    ),
    (
        "spilling-32gb",
        include_str!("../models/spilling-32gb.toml"),
    ),
    ("wearing-1gb", include_str!("../models/wearing-1gb.toml")),
    ("fading-1gb", include_str!("../models/fading-1gb.toml")),
    ("units-16gb", include_str!("../models/units-16gb.toml")),
    ("triple-64gb", include_str!("../models/triple-64gb.toml")),
    (
        "border-a1-32gb",
        include_str!("../models/border-a1-32gb.toml"),
    ),
    (
        "border-a2-64gb",
        include_str!("../models/border-a2-64gb.toml"),
    ),
    (
        "border-v30-64gb",
        include_str!("../models/border-v30-64gb.toml"),
    ),
    (
        "border-c10-16gb",
        include_str!("../models/border-c10-16gb.toml"),
    ),
];

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
    EMBEDDED.iter().chain(&ZOO).copied()
}

/// Minimum similarity of a name that is suggested; 1 is equality.
const LIKE: f64 = 0.85;
/// Maximum number of suggestions.
const MOST_NEAR: usize = 3;

/// The text of the embedded model of that name.
pub(crate) fn text(name: &str) -> Result<&'static str, ModelError> {
    let found = texts().find(|&(known, _)| known == name);
    let (_, text) = found.ok_or_else(|| {
        let known = texts().map(|(known, _)| (strsim::jaro_winkler(known, name), known));
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
