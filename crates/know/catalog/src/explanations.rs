//! Explanations of terms for users who want to know the meaning of a figure or a finding.

use std::borrow::Cow;
use std::sync::LazyLock;

use cardmark_cards::{Field, register_tables};
use cardmark_core::Quantity;
use serde::{Deserialize, Serialize};

use crate::facts::{embedded, inflated};
use crate::similar::{nearest, plain};
use crate::uses::{Requirement, Use, use_of};

static ROWS: LazyLock<Vec<Explanation>> = LazyLock::new(|| embedded(&text(), "explanations"));

/// The text of the file.
fn text() -> String {
    let text = inflated(include_bytes!(concat!(env!("OUT_DIR"), "/explanations")));
    text.trim_end_matches('\0').to_owned()
}

/// Sources of the fields of card registers.
const SD_ASSOCIATION: &str = "SD Specifications, Part 1, Physical Layer Simplified Specification 9.10, chapters \
                  4.10 and 5";
const JEDEC: &str = "JEDEC JESD84-B51A, chapter 7";
/// Day on which the source was read.
const CHECKED_ON: &str = "2026-11-20";

/// A part of the list of all terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// What a card is used for.
    Uses,
    /// How long a card lasts, and what to do for it.
    Care,
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
    pub const ALL: [Self; 12] = [
        Self::Uses,
        Self::Care,
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
            Self::Uses => "uses",
            Self::Care => "care",
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
            Self::Uses => "Uses, and what to buy",
            Self::Care => "Lifetime, care and repair",
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
    /// Questions in people's own words that it answers.
    #[serde(default)]
    pub questions: Vec<String>,
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

/// Returns the explanation of a term or phrase, of a field of card registers, or of a use. Ignores case, spaces,
/// hyphens and underscores, and the mark at the end of a question.
pub fn explanation(word: &str) -> Option<Cow<'static, Explanation>> {
    let asked = word.trim_end_matches('?');
    let word = plain(asked);
    let row = ROWS
        .iter()
        .find(|row| row.words().any(|known| plain(known) == word));
    let own = || field_explanation(&word).or_else(|| use_of(asked).map(use_explanation));
    row.map(Cow::Borrowed).or_else(|| own().map(Cow::Owned))
}

/// Returns the known terms that are similar to this one, the most similar first.
#[must_use]
pub fn nearest_terms(word: &str) -> Vec<&'static str> {
    let rows = ROWS.iter().flat_map(Explanation::words).map(String::as_str);
    let fields = fields().map(|(_, field)| field.name);
    nearest(word, rows.chain(fields))
}

impl Explanation {
    fn words(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.id).chain(&self.aliases)
    }
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
        questions: Vec::new(),
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

/// Returns the meaning of a use, from what it needs.
fn use_explanation(row: &Use) -> Explanation {
    let needs: Vec<String> = row.needs.iter().map(need).collect();
    let needs = match needs.as_slice() {
        [] => String::new(),
        needs => format!(" Enough is: {}.", needs.join("; ")),
    };
    Explanation {
        id: row.id.clone(),
        group: Group::Uses,
        aliases: row.vectors.clone(),
        questions: Vec::new(),
        title: format!("Use: {}", row.title),
        text: format!(
            "{}.{needs} `cardmark recommend --use {}` names the products that suit it best.",
            row.about, row.id
        ),
        source: row.source.clone(),
        checked_on: row.checked_on.clone(),
        vectors: row.vectors.clone(),
    }
}

/// Returns a rate that is enough, with its reason.
fn need(need: &Requirement) -> String {
    let rate = match need.quantity {
        Quantity::ByteRate => format!("{} MB/s of {}", need.enough / 1e6, need.plain),
        _ => format!("{} {} per second", need.enough, need.plain),
    };
    format!("{rate}, because {}", need.reason)
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
