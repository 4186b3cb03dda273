//! Addresses of pages.

use cardmark_catalog::Use;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use uuid::Uuid;

/// A product.
pub fn product(key: &str) -> String {
    format!("/products/{}", encoded(key))
}

/// A run.
pub fn run(id: Uuid) -> String {
    format!("/runs/{id}")
}

/// A board.
pub fn board(model: &str) -> String {
    format!("/boards/{}", encoded(model))
}

/// The products for a use.
pub fn choice(wanted: &Use) -> String {
    format!("/for/{}", wanted.id)
}

/// The products for a use on a board of the catalogue.
pub fn choice_on(wanted: &Use, board: &str) -> String {
    with(&choice(wanted), &[("board", Some(board))])
}

/// History of a card, by the name that `cardmark history` takes; only the personal instance has it.
pub fn history(card: &str) -> String {
    format!("/history/{}", encoded(card))
}

/// The record of a run of this computer, as it is stored; only the personal instance has it.
pub fn record(id: Uuid) -> String {
    format!("{}/record", run(id))
}

/// The badge of a product or run at this address.
pub fn badge(of: &str) -> String {
    format!("{of}/badge.svg")
}

/// The picture for previews of a product or run at this address.
pub fn preview(of: &str) -> String {
    format!("{of}/preview.png")
}

/// A ranking.
pub fn ranking(metric: &str, context: &str) -> String {
    with(
        "/rankings",
        &[("metric", Some(metric)), ("context", Some(context))],
    )
}

/// An act of a moderator.
pub fn act(number: i64) -> String {
    format!("/audit/{number}")
}

/// A path with the parameters that have a value.
pub fn with(path: &str, parameters: &[(&str, Option<&str>)]) -> String {
    let given = parameters.iter().filter_map(|(name, value)| {
        let value = value.filter(|value| !value.is_empty())?;
        Some(format!("{name}={}", encoded(value)))
    });
    let given: Vec<String> = given.collect();
    match given.is_empty() {
        true => path.to_owned(),
        false => format!("{path}?{}", given.join("&")),
    }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_one_part_of_an_address() {
        assert_eq!(product("~ä/b?c"), "/products/%7E%C3%A4%2Fb%3Fc");
        let parameters = [("a", Some("x&y")), ("b", None), ("c", Some(""))];
        assert_eq!(with("/runs", &parameters), "/runs?a=x%26y");
        assert_eq!(with("/runs", &[]), "/runs");
    }
}
