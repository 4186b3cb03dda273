//! Metrics of the readers and the patterns of the catalogue.

use std::collections::BTreeSet;

use cardmark_catalog::{equivalents_of, reason_apart};
use cardmark_import::tool_metrics;

use crate::{fixture_texts, import};

#[test]
fn every_metric_that_is_read_has_a_pattern_or_a_reason_to_have_none() {
    let texts = fixture_texts();
    let records = texts.iter().flat_map(|(_, text)| import(text));
    let read = records.flat_map(|record| record.metrics).map(|one| one.id);
    let known = tool_metrics().into_iter().map(|one| one.id);
    let all: BTreeSet<String> = read.chain(known).collect();
    assert!(all.len() > 100, "{}", all.len());
    let is_orphan = |id: &&String| equivalents_of(id).is_none() && reason_apart(id).is_none();
    let orphans: Vec<&String> = all.iter().filter(is_orphan).collect();
    assert!(orphans.is_empty(), "{orphans:?}");
}
