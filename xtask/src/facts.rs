//! Age of the facts of the catalogue: rows whose source was read over a year ago.

use std::path::Path;
use std::process::Command;

use toml::Value;

use crate::project::{self, Checked, Error};

/// Folders of the catalogue with rows that have `checked_on`.
const FOLDERS: [&str; 2] = [
    "crates/know/catalog/facts/",
    "crates/know/catalog/published/",
];

/// Lists the rows whose source was read more than a year before today.
pub(crate) fn check(root: &Path) -> Checked {
    let limit = year_before(&today()?).ok_or("`date` printed no day")?;
    let mut old = Vec::new();
    for path in project::project_files(root)? {
        if path.ends_with(".toml") && FOLDERS.iter().any(|folder| path.starts_with(folder)) {
            let text = std::fs::read_to_string(root.join(&path))?;
            let rows = rows(&Value::Table(toml::from_str(&text)?), "");
            let rows = rows
                .into_iter()
                .filter(|(_, checked_on)| *checked_on < limit);
            old.extend(rows.map(|(name, checked_on)| format!("{path}: {name}: {checked_on}")));
        }
    }
    Ok(old)
}

/// The day, as `2026-11-28`.
fn today() -> Result<String, Error> {
    let printed = Command::new("date").arg("+%F").output()?;
    Ok(String::from_utf8(printed.stdout)?.trim().to_owned())
}

/// The same day of the year before; days sort as text.
fn year_before(day: &str) -> Option<String> {
    let (year, rest) = day.split_once('-')?;
    let year: u32 = year.parse().ok()?;
    Some(format!("{:04}-{rest}", year.checked_sub(1)?))
}

/// Names of all tables with `checked_on`, and their day.
fn rows(value: &Value, name: &str) -> Vec<(String, String)> {
    match value {
        Value::Table(table) => {
            let text = |key: &str| table.get(key).and_then(Value::as_str);
            let own = ["id", "class", "source"].into_iter().find_map(text);
            let own = own.unwrap_or(name);
            let day = text("checked_on").map(|day| (own.to_owned(), day.to_owned()));
            let inner = table.iter().flat_map(|(key, value)| rows(value, key));
            day.into_iter().chain(inner).collect()
        }
        Value::Array(values) => values.iter().flat_map(|value| rows(value, name)).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_a_name_and_a_day() {
        let text = "id = \"a\"\nchecked_on = \"2026-11-21\"\n[[lines]]\nid = \"b\"\nchecked_on = \"2025-01-01\"\n\
                    [[lines]]\nid = \"c\"\n";
        let value = Value::Table(toml::from_str(text).unwrap());
        let pair = |name: &str, day: &str| (name.to_owned(), day.to_owned());
        assert_eq!(
            rows(&value, ""),
            [pair("a", "2026-11-21"), pair("b", "2025-01-01")]
        );
    }

    #[test]
    fn a_year_before_is_the_same_day() {
        assert_eq!(year_before("2026-11-28").as_deref(), Some("2025-11-28"));
        assert_eq!(year_before(""), None);
    }
}
