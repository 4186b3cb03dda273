//! Verdicts: pure functions of a record and the rules of its suite.
//!
//! So far those of the old tools: the marks of Raspberry Pi Diagnostics and the score of
//! PiBenchmarks. Both are taken from figures *as printed*, because that is what the tools do.

mod marks;
mod score;

use cardmark_core::{Derived, Record, Suite};

/// Version of the judge: it changes when a verdict could come out otherwise.
pub const JUDGE_VERSION: u32 = 1;

/// What a suite's rules say about a record; `None` where the suite has none.
#[must_use]
pub fn judge(record: &Record, suite: &Suite) -> Option<Derived> {
    let verdicts: Vec<_> = [marks::verdict(record, suite), score::verdict(record, suite)]
        .into_iter()
        .flatten()
        .collect();
    (!verdicts.is_empty()).then_some(Derived {
        judge_version: JUDGE_VERSION,
        verdicts,
    })
}
