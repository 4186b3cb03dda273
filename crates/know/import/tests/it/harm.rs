//! Texts that are damaged in one place.

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// The text with another character somewhere.
pub(crate) fn changed(text: &str, at: Index, put: char) -> String {
    let at = at.index(text.chars().count());
    let chars = text.chars().enumerate();
    chars
        .map(|(index, c)| if index == at { put } else { c })
        .collect()
}

/// Any character, mostly one that could be mistaken for what belongs there.
pub(crate) fn any_char() -> impl Strategy<Value = char> {
    let likely: Vec<char> = "0123456789.,;:=-/()| \r\nkKMGBsecpI4é\u{1b}"
        .chars()
        .collect();
    prop_oneof![3 => select(likely), 1 => any::<char>()]
}

/// The text without one of its lines, each in turn.
pub(crate) fn without_a_line(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let without = |at: usize| {
        let mut lines = lines.clone();
        lines.remove(at);
        lines.join("\n")
    };
    (0..lines.len()).map(without).collect()
}
