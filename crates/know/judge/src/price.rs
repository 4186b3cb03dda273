//! Prices, as users write them.

use serde::Serialize;

/// A price.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Price {
    /// The amount.
    pub amount: f64,
    /// The currency as written; empty if none was given.
    pub currency: String,
}

impl Price {
    /// Parses `12`, `12.99 EUR`, `€ 9,50`; `None` unless there is exactly one number.
    pub fn parse(text: &str) -> Option<Self> {
        let is_number = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
        let number: String = text.chars().filter(|c| is_number(*c)).collect();
        let pieces = text.split(|c| !is_number(c));
        let is_one = pieces.filter(|piece| !piece.is_empty()).count() == 1;
        let amount: f64 = number.replace(',', ".").parse().ok()?;
        let currency = text.replace(is_number, "").trim().to_owned();
        (is_one && amount > 0.0 && !currency.contains(['-', '+']))
            .then_some(Self { amount, currency })
    }

    /// True if it is at most a budget; `None` if the currencies are known to differ.
    pub fn is_within(&self, budget: &Self) -> Option<bool> {
        let is_silent = self.currency.is_empty() || budget.currency.is_empty();
        let is_alike = is_silent || self.currency.eq_ignore_ascii_case(&budget.currency);
        is_alike.then_some(self.amount <= budget.amount)
    }

    /// Returns the amount with its currency.
    pub fn text(&self) -> String {
        format!("{:.2} {}", self.amount, self.currency)
            .trim_end()
            .to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_have_one_number_and_perhaps_a_currency() {
        let read = |text: &str| Price::parse(text).map(|price| (price.amount, price.currency));
        assert_eq!(read("12"), Some((12.0, String::new())));
        assert_eq!(read("€ 9,50"), Some((9.5, "€".to_owned())));
        assert_eq!(read("12.99 EUR"), Some((12.99, "EUR".to_owned())));
        for text in ["", "EUR", "1 or 2", "-3", "0", "1,234.50"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
