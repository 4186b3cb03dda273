//! Suites that test what a label promises.

use cardmark_catalog::{class, suite, suite_names};
use cardmark_core::Record;

use crate::again::with_claims;
use crate::classes::families;
use crate::promises::{Promise, promised};

/// Returns the promises of the label about which a run says nothing, each with the suite that tests it. That a capacity is not
/// tested is part of every answer.
#[must_use]
pub fn untested_claims(record: &Record) -> Vec<(Promise, String)> {
    let derived = with_claims(record);
    let verdicts = derived.iter().flat_map(|derived| &derived.verdicts);
    let judged: Vec<&str> = verdicts.map(|verdict| verdict.rule.as_str()).collect();
    let open = promised(record).filter(|promise| !judged.contains(&promise.to_string().as_str()));
    open.filter_map(|promise| Some((promise.clone(), suite_for(&promise)?)))
        .collect()
}

/// Returns the suites that test these promises, each once; and the promises that none tests.
#[must_use]
pub fn suites_for(promises: &[Promise]) -> (Vec<String>, Vec<Promise>) {
    let mut suites = Vec::new();
    let mut left = Vec::new();
    for promise in promises {
        match suite_for(promise) {
            Some(suite) if !suites.contains(&suite) => suites.push(suite),
            Some(_) => {}
            None => left.push(promise.clone()),
        }
    }
    (suites, left)
}

fn suite_for(promise: &Promise) -> Option<String> {
    let id = match promise {
        Promise::Class(id) => id,
        Promise::Rate(_) => return Some("quick".to_owned()),
        Promise::Capacity(_) => return None,
    };
    let family = class(id)?.family;
    let mut tests = suite_names()
        .into_iter()
        .filter(|name| suite(name, None).is_ok_and(|suite| families(&suite).contains(&family)));
    tests.next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_that_nothing_tests_are_left() {
        let promises = ["64GB", "128GB"].map(|text| Promise::parse(text).unwrap());
        let (suites, left) = suites_for(&promises);
        assert!(suites.is_empty(), "{suites:?}");
        assert_eq!(left, promises);
    }
}
