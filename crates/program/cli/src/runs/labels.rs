//! Labels from arguments.

use std::collections::BTreeSet;

use cardmark_core::CLAIMS_LABEL;

/// Remarks and claims as labels of the record.
pub(crate) fn labels(remarks: &[(String, String)], claims: &[String]) -> Vec<(String, String)> {
    let mut labels = remarks.to_vec();
    labels.extend(class_label(CLAIMS_LABEL, claims));
    labels
}

/// The label that holds names of classes, each once; none where there are none.
pub(crate) fn class_label(label: &str, classes: &[String]) -> Option<(String, String)> {
    let mut seen = BTreeSet::new();
    let each: Vec<&str> = classes
        .iter()
        .map(String::as_str)
        .filter(|class| seen.insert(*class))
        .collect();
    (!each.is_empty()).then(|| (label.to_owned(), each.join(" ")))
}
