//! Known figures of each text, from the table `known.tsv`.

use crate::{K, M};

/// A text, our suite, and the figures of each record: ids and values.
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) text: String,
    pub(crate) suite: Option<&'static str>,
    pub(crate) records: Vec<Vec<(&'static str, f64)>>,
}

pub(crate) fn known() -> Vec<Known> {
    let mut all: Vec<Known> = Vec::new();
    let rows = include_str!("known.tsv")
        .lines()
        .filter(|row| !row.starts_with('#'));
    for row in rows {
        let cells: Vec<&str> = row.split('\t').collect();
        let [name, suite, record, id, expression] = cells[..] else {
            panic!("{row}")
        };
        if all.last().is_none_or(|known| known.name != name) {
            let path = format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
            all.push(Known {
                name,
                text: std::fs::read_to_string(path).unwrap(),
                suite: Some(suite).filter(|suite| *suite != "-"),
                records: Vec::new(),
            });
        }
        let records = &mut all.last_mut().unwrap().records;
        if records.len() < record.parse().unwrap() {
            records.push(Vec::new());
        }
        records.last_mut().unwrap().push((id, value(expression)));
    }
    all
}

/// The value of `20.62 * M` and the like.
fn value(expression: &str) -> f64 {
    let (mut value, mut divides) = (1.0, false);
    for word in expression.split(' ') {
        let factor = match word {
            "*" | "/" => {
                divides = word == "/";
                continue;
            }
            "K" => K,
            "M" => M,
            number => number.parse().unwrap(),
        };
        value = if divides {
            value / factor
        } else {
            value * factor
        };
    }
    value
}
