//! Reading of all facts files, and comparison of card properties.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::LazyLock;

use serde::de::DeserializeOwned;

/// Parses TOML by way of JSON, whose readers the program has for records: those of `toml` take 0.4 MB more.
pub(crate) fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, toml::de::Error> {
    let value: serde_json::Value = toml::from_str(text)?;
    serde_json::from_value(value).map_err(serde::de::Error::custom)
}

/// Parses the rows of a facts file, its tables `[[NAME]]`.
pub(crate) fn read<T: DeserializeOwned>(text: &str, name: &str) -> Result<Vec<T>, toml::de::Error> {
    let mut tables: BTreeMap<String, Vec<T>> = from_toml(text)?;
    Ok(tables.remove(name).unwrap_or_default())
}

/// Files that `build.rs` packed, in its order.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Packed {
    Boards,
    Endurance,
    Lines,
    Quirks,
    Readers,
}

/// Returns the text of a packed file.
pub(crate) fn unpacked(file: Packed) -> &'static str {
    static ALL: LazyLock<String> =
        LazyLock::new(|| inflated(include_bytes!(concat!(env!("OUT_DIR"), "/facts"))));
    ALL.split('\0').nth(file as usize).unwrap_or_default()
}

/// Returns the texts of files that `build.rs` packed, each with a zero behind it. Tests read every file, so the fallback of an empty
/// text is never used.
pub(crate) fn inflated(packed: &[u8]) -> String {
    let mut text = String::new();
    let read = flate2::read::DeflateDecoder::new(packed).read_to_string(&mut text);
    read.map(|_| text).unwrap_or_default()
}

/// Parses a file that is part of the program. Its tests read every file, so the fallback of an empty list is
/// never used.
pub(crate) fn embedded<T: DeserializeOwned>(text: &str, name: &str) -> Vec<T> {
    read(text, name).unwrap_or_default()
}

/// Returns the matching row with this id (hexadecimal digits), otherwise the matching row without an id,
/// which applies to all others.
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

/// Returns the name of a product without padding: spaces, and `?` for bytes that cannot be displayed.
pub(crate) fn plain_name(product: &str) -> &str {
    product.trim_end_matches([' ', '?', '\0'])
}

/// True if a month, such as `2021-07`, lies in the range; a missing end is open. An unknown month lies only
/// in a range without ends.
pub(crate) fn lies_within(month: Option<&str>, from: Option<&str>, until: Option<&str>) -> bool {
    if from.is_none() && until.is_none() {
        return true;
    }
    // These months sort as text.
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

    /// Tables without a source of their own: calculated from others, our reasons, or words.
    const OWN: [&str; 6] = [
        "any_class",
        "apart",
        "elsewhere",
        "small",
        "spreads",
        "synonyms",
    ];

    #[test]
    fn every_row_of_facts_has_the_day_on_which_its_source_was_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/facts");
        let mut count = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let tables: toml::Table = text.parse().unwrap();
            for (name, rows) in tables
                .iter()
                .filter(|(name, _)| !OWN.contains(&name.as_str()))
            {
                for row in rows.as_array().unwrap() {
                    let day = row.get("checked_on").and_then(toml::Value::as_str);
                    let is_day = day.is_some_and(checking::is_day);
                    assert!(is_day, "{}: {name}: {row:?}", path.display());
                    count += 1;
                }
            }
        }
        assert!(count > 700, "{count}");
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
