//! Names of the two sides of a comparison.

use std::collections::BTreeSet;

use cardmark_catalog::product_name;
use cardmark_core::{OriginKind, Record};

use crate::run::summary::{minute, short_id};
use crate::text::style::clean;

/// Longest name of a sample that means nothing without the word.
const SHORT: usize = 2;
/// Conditions whose value is a name of its own.
const NAMING: [&str; 3] = ["product", "sample", "model"];

/// Returns names of two sides: the conditions that distinguish them in a command, else the first of product, sample, model,
/// board, setting, time and id in which they differ. `given` are the sides as a command names them.
pub fn side_names(given: [&str; 2], sides: [&[&Record]; 2]) -> [String; 2] {
    let [base, other] = given.map(conditions);
    let by_condition = [of_conditions(&base, &other), of_conditions(&other, &base)];
    if let [Some(base), Some(other)] = by_condition {
        return [base, other];
    }
    let candidates: [fn(&Record) -> Option<String>; 7] =
        [product, sample, model, board, setting, start, id];
    let by_property = candidates.into_iter().find_map(|of| {
        let [base, other] = sides.map(|side| shared(side, of));
        let (base, other) = (base?, other?);
        (base != other).then_some([base, other])
    });
    by_property.unwrap_or_else(|| ["the base", "the other side"].map(str::to_owned))
}

/// The answer that all records of a side share.
fn shared(side: &[&Record], of: fn(&Record) -> Option<String>) -> Option<String> {
    let answers: BTreeSet<Option<String>> = side.iter().map(|record| of(record)).collect();
    let first = answers.first().cloned().flatten();
    first
        .filter(|_| answers.len() == 1)
        .map(|name| clean(&name))
}

/// Names and values of `KEY=VALUE,KEY=VALUE`.
fn conditions(side: &str) -> Vec<(&str, &str)> {
    let parts = side.split(',').filter_map(|part| part.split_once('='));
    let parts = parts.map(|(key, value)| (key.trim(), value.trim()));
    parts.collect()
}

/// The values of the conditions that the other side does not have.
fn of_conditions(own: &[(&str, &str)], other: &[(&str, &str)]) -> Option<String> {
    let is_own = |condition: &&(&str, &str)| !other.contains(condition);
    let words = own.iter().filter(is_own).map(|&(key, value)| match key {
        "product" => product_name(value),
        key if NAMING.contains(&key) && value.chars().count() > SHORT => value.to_owned(),
        key => format!("{} {value}", key.replace('_', " ")),
    });
    let words: Vec<String> = words.map(|word| clean(&word)).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn product(record: &Record) -> Option<String> {
    record
        .labels
        .get("product")
        .map(|label| product_name(label))
}

fn sample(record: &Record) -> Option<String> {
    let sample = record.labels.get("sample")?;
    Some(match sample.chars().count() > SHORT {
        true => sample.clone(),
        false => format!("sample {sample}"),
    })
}

fn model(record: &Record) -> Option<String> {
    let source = || match record.origin.kind {
        OriginKind::Simulated => record.origin.source.clone(),
        _ => None,
    };
    let device = record.devices.first();
    device
        .and_then(|device| device.model.clone())
        .or_else(source)
}

fn board(record: &Record) -> Option<String> {
    record.board.as_ref()?.model.clone()
}

fn setting(record: &Record) -> Option<String> {
    let setting = record.labels.get("setting")?;
    Some(format!("setting {setting}"))
}

fn start(record: &Record) -> Option<String> {
    let minute = record.started_at.as_deref().and_then(minute)?;
    Some(format!("the run of {minute}"))
}

fn id(record: &Record) -> Option<String> {
    Some(format!("run {}", short_id(record)))
}

#[cfg(test)]
mod tests {
    use cardmark_core::{Origin, simulated_run_id};

    use super::*;

    fn run(labels: &[(&str, &str)], started_at: &str) -> Record {
        let id = simulated_run_id(&[started_at]);
        let mut record = Record::new(id, Origin::of(OriginKind::Measured));
        record.started_at = Some(started_at.to_owned());
        let labels = labels
            .iter()
            .map(|&(key, value)| (key.to_owned(), value.to_owned()));
        record.labels.extend(labels);
        record
    }

    #[test]
    fn sides_are_called_by_what_distinguishes_them() {
        let at = ["2026-11-01T10:00:00Z", "2026-11-02T10:00:00Z"];
        let red = run(&[("product", "Red 32"), ("sample", "1")], at[0]);
        let more = run(&[("product", "Red 32"), ("sample", "2")], at[1]);
        let blue = run(&[("product", "Blue 16"), ("sample", "one")], at[1]);
        let names =
            |given: [&str; 2], one: &Record, other: &Record| side_names(given, [&[one], &[other]]);
        let ids = ["0192aaaa", "0192bbbb"];
        assert_eq!(names(ids, &red, &blue), ["Red 32", "Blue 16"]);
        assert_eq!(names(ids, &red, &more), ["sample 1", "sample 2"]);
        let mut later = red.clone();
        later.started_at = Some(at[1].to_owned());
        let expected = ["the run of 2026-11-01 10:00", "the run of 2026-11-02 10:00"];
        assert_eq!(names(ids, &red, &later), expected);
        // Simulated runs have no time.
        let [first, second] = [0x12, 0xab].map(|byte| {
            let mut run = red.clone();
            run.id = cardmark_core::run_id_from_bytes([byte; 16]);
            run.started_at = None;
            run
        });
        assert_eq!(
            names(ids, &first, &second),
            ["run 12121212", "run abababab"]
        );
        assert_eq!(names(ids, &red, &red), ["the base", "the other side"]);
        let given = ["product=Red 32,reader=old", "product=Red 32,reader=new"];
        assert_eq!(names(given, &red, &later), ["reader old", "reader new"]);
        let given = ["sample=good", "sample=B"];
        assert_eq!(names(given, &red, &blue), ["good", "sample B"]);
        // A side that all conditions of the other one hold for.
        let given = ["board=Pi 4", "board=Pi 4,product=Blue 16"];
        assert_eq!(names(given, &red, &blue), ["Red 32", "Blue 16"]);
    }
}
