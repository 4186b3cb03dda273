//! The models that come with the program.

use crate::{Model, ModelError};

/// Honest cards first, then those that trouble a measurement, then those that break.
const EMBEDDED: [(&str, &str); 12] = [
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
];

/// A model or a board in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name, as in `sim:MODEL@BOARD`.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub summary: String,
}

/// The models there are, in a fixed order.
#[must_use]
pub fn models() -> Vec<Entry> {
    EMBEDDED
        .iter()
        .map(|&(name, text)| Entry {
            name,
            // A test parses every embedded model, so that the empty summary is never seen.
            summary: Model::parse(text)
                .map(|m| m.summary().to_owned())
                .unwrap_or_default(),
        })
        .collect()
}

/// The embedded model of that name.
pub(crate) fn named(name: &str) -> Result<Model, ModelError> {
    let found = EMBEDDED.iter().find(|(known, _)| *known == name);
    let (_, text) = found.ok_or_else(|| ModelError::Unknown {
        name: name.to_owned(),
        known: EMBEDDED.map(|(known, _)| known).join(", "),
    })?;
    Model::parse(text)
}
