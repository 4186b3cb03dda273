//! The suite that a record states.

use cardmark_core::{Record, Suite};

/// The suite that a record names, if this site knows it, and whether it has the content that the record states.
pub(super) fn stated_suite(record: &Record) -> Option<(Suite, bool)> {
    let stated = record.suite.as_ref()?;
    let suite = cardmark_catalog::suite(&stated.name, Some(stated.version)).ok()?;
    let is_same = stated.digest.is_none() || stated.digest == suite.digest;
    Some((suite, is_same))
}
