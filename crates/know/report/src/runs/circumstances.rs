//! Circumstances of runs as people read them: with their units.

use std::collections::BTreeSet;

use cardmark_core::ContextRow;

use crate::text::capacity;
use crate::text::style::clean;

/// Returns the answers of each side with their units, such as `268 MB (256 MiB)` or `47 °C`. Sizes
/// that differ by less than is shown are given in bytes.
pub fn circumstances(row: &ContextRow) -> Vec<Vec<String>> {
    let all = |form: fn(&str, &str) -> String| -> Vec<Vec<String>> {
        let side = |side: &Vec<String>| side.iter().map(|answer| form(&row.name, answer)).collect();
        row.sides.iter().map(side).collect()
    };
    let shown = all(short);
    let count = |sides: &[Vec<String>]| sides.iter().flatten().collect::<BTreeSet<_>>().len();
    match count(&shown) < count(&row.sides) {
        true => all(exact),
        false => shown,
    }
}

fn short(name: &str, answer: &str) -> String {
    match answer.parse() {
        Ok(bytes) if name == "span" => capacity(bytes),
        _ => exact(name, answer),
    }
}

fn exact(name: &str, answer: &str) -> String {
    let is_number = answer.parse::<i64>().is_ok();
    match name {
        "span" if is_number => format!("{answer} B"),
        "temperature" if is_number => format!("{answer} °C"),
        _ => clean(answer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str, sides: &[&[&str]]) -> Vec<Vec<String>> {
        let side = |side: &&[&str]| side.iter().map(|&answer| answer.to_owned()).collect();
        circumstances(&ContextRow {
            name: name.to_owned(),
            must_match: true,
            sides: sides.iter().map(side).collect(),
        })
    }

    #[test]
    fn every_number_has_its_unit() {
        let spans = shown("span", &[&["268435456"], &["1073741824", "unknown"]]);
        let expected = [vec!["268 MB (256 MiB)"], vec!["1.07 GB (1 GiB)", "unknown"]];
        assert_eq!(spans, expected);
        assert_eq!(shown("temperature", &[&["-3", "47"]]), [["-3 °C", "47 °C"]]);
        assert_eq!(shown("temperature", &[&["unknown"]]), [["unknown"]]);
        assert_eq!(shown("method", &[&["2"]]), [["2"]]);
        assert_eq!(shown("fill", &[&["30 %"]]), [["30 %"]]);
        assert_eq!(shown("kernel", &[&["6.12\u{1b}"]]), [["6.12?"]]);
    }

    #[test]
    fn what_differs_is_never_shown_alike() {
        let spans = shown("span", &[&["31914983424"], &["31910264832"]]);
        assert_eq!(spans, [["31914983424 B"], ["31910264832 B"]]);
    }
}
