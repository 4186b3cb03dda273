//! Fields of card registers, explained from the tables that decode them.

use cardmark_core::{Field, register_tables};

use super::{Explanation, plain};

/// Source of the tables.
const SD_ASSOCIATION: &str = "SD Specifications, Part 1, Physical Layer Simplified Specification 9.10, chapters \
                  4.10 and 5";
const JEDEC: &str = "JEDEC JESD84-B51A, chapter 7";
/// Day on which the source was read.
const CHECKED_ON: &str = "2026-11-20";

/// Returns the names of all named fields.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    fields().map(|(_, field)| field.name)
}

/// Returns the meaning of a field in each register that contains it.
pub(super) fn explanation(word: &str) -> Option<Explanation> {
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
