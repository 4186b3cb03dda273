//! Real output of the tools, imported, and damaged.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod agnostics;
mod bad_lines;
mod diskmark;
mod f3;
mod figures;
mod fio_text;
mod forms;
mod h2testw;
mod harm;
mod known;
mod meaning;
mod not_understood;
mod pasted;
mod pastes;
mod patterns;
mod pibenchmarks;
mod privacy;
mod round_trip;
mod twice;
mod typed;

use cardmark_core::{FindingKind, Metric};
use cardmark_import::Imported;

/// A file of what a tool printed.
macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/", $name))
    };
}
pub(crate) use fixture;

const K: f64 = 1024.0;
const M: f64 = K * K;

fn import(text: &str) -> Vec<Imported> {
    cardmark_import::import(text, &[]).records
}

fn one(text: &str) -> Imported {
    let records = import(text);
    let [one] = <[Imported; 1]>::try_from(records).unwrap_or_else(|all| panic!("{all:?}"));
    one
}

/// All fixtures that are output of a tool.
fn fixture_texts() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    let folders = [folder.to_owned(), format!("{folder}/pasted")];
    let files = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let paths = files.map(|file| file.unwrap().path());
    let ends = ["txt", "log", "json"].map(std::ffi::OsStr::new);
    let outputs = paths.filter(|path| path.extension().is_some_and(|end| ends.contains(&end)));
    let mut texts: Vec<(String, String)> = outputs
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    texts.sort();
    assert!(texts.len() > 80, "{}", texts.len());
    texts
}

/// Expected content of the first line that was not understood.
fn reason(text: &str) -> String {
    let lines = cardmark_import::import(text, &[]).not_understood;
    let mut reasons = lines.into_iter().filter_map(|line| line.reason);
    reasons
        .next()
        .unwrap_or_else(|| panic!("all understood: {text}"))
}

fn metric<'a>(one: &'a Imported, id: &str) -> &'a Metric {
    let found = one.metrics.iter().find(|metric| metric.id == id);
    found.unwrap_or_else(|| panic!("no {id} in {:?}", one.metrics))
}

fn value(one: &Imported, id: &str) -> f64 {
    metric(one, id).value
}

fn ids(one: &Imported) -> Vec<&str> {
    one.metrics.iter().map(|it| it.id.as_str()).collect()
}

fn kinds(one: &Imported) -> Vec<FindingKind> {
    one.findings.iter().map(|finding| finding.kind).collect()
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-9 * right.abs()
}
