//! What all files of facts share: how they are read, and how parts of cards are compared.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

/// The rows of a file of facts, its tables `[[NAME]]`.
pub(crate) fn read<T: DeserializeOwned>(text: &str, name: &str) -> Result<Vec<T>, toml::de::Error> {
    let mut tables: BTreeMap<String, Vec<T>> = toml::from_str(text)?;
    Ok(tables.remove(name).unwrap_or_default())
}

/// The rows of a file that comes with the program. Its tests read every file, so that the empty
/// list is never seen.
pub(crate) fn embedded<T: DeserializeOwned>(text: &str, name: &str) -> Vec<T> {
    read(text, name).unwrap_or_default()
}

/// The row of those that fit whose own id, hexadecimal digits, is this one; else the row that has
/// none, and so is about all others.
pub(crate) fn most_specific<'a, T>(
    rows: impl Iterator<Item = &'a T> + Clone,
    own: fn(&T) -> Option<&String>,
    id: &str,
) -> Option<&'a T> {
    let is_own = |row: &&T| own(row).is_some_and(|own| own.eq_ignore_ascii_case(id));
    let mut known = rows.clone();
    known
        .find(is_own)
        .or_else(|| rows.into_iter().find(|row| own(row).is_none()))
}

/// The name of a product without what fills it up: spaces, and `?` for bytes that cannot be shown.
pub(crate) fn plain_name(product: &str) -> &str {
    product.trim_end_matches([' ', '?', '\0'])
}

/// Whether a month, such as `2021-07`, lies in the range; an end that is absent is open. A month
/// that is not known lies in no range that has an end.
pub(crate) fn lies_within(month: Option<&str>, from: Option<&str>, until: Option<&str>) -> bool {
    if from.is_none() && until.is_none() {
        return true;
    }
    // Such months sort as text.
    month.is_some_and(|month| {
        from.is_none_or(|from| month >= from) && until.is_none_or(|until| month <= until)
    })
}

#[cfg(test)]
pub(crate) mod checking;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_what_fills_them_up() {
        assert_eq!(plain_name("ASTC?"), "ASTC");
        assert_eq!(plain_name("SPCC "), "SPCC");
        assert_eq!(plain_name("AF SD"), "AF SD");
    }

    #[test]
    fn a_month_lies_in_ranges_with_open_ends() {
        let month = Some("2020-06");
        assert!(lies_within(month, Some("2020-06"), Some("2020-06")));
        assert!(lies_within(month, Some("2019-01"), None));
        assert!(!lies_within(month, Some("2020-07"), None));
        assert!(!lies_within(month, None, Some("2020-05")));
        assert!(lies_within(None, None, None));
        assert!(!lies_within(None, Some("2000-01"), None));
    }
}
