//! Lines with numbers that nothing accounts for.
//!
//! A line is quiet if each of its numbers is in a record, named by a finding, or known to its reader as none that a
//! record keeps.

use std::collections::{BTreeMap, HashSet};

use cardmark_core::Quantity;

use crate::Imported;
use crate::form::{Role, Span};
use crate::number::{Number, number_and_unit, ungrouped};
use crate::text::{Line, Listed, listed};

/// A line with numbers that no reader understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotUnderstood {
    /// Number of the line, from 1.
    pub line: usize,
    /// Its numbers with their units.
    pub numbers: Vec<String>,
    /// Content that a reader expected in this line.
    pub reason: Option<String>,
}

/// Numbers of a size may count blocks of up to a gibibyte.
const MOST_BLOCK_POWER: u32 = 30;

/// Returns the lines that are not quiet, and the numbers of them that nothing accounts for.
pub(crate) fn not_understood(
    lines: &[Line],
    understood: &BTreeMap<usize, Vec<Span>>,
    mut reasons: BTreeMap<usize, String>,
    records: &[Imported],
) -> Vec<NotUnderstood> {
    let kept = Kept::of(records);
    let of_line = |line: &Line| {
        let numbers = listed(line.text);
        let open: Vec<String> = match understood.get(&line.number) {
            None => numbers.iter().map(Listed::to_string).collect(),
            Some(spans) => open(line.text, &numbers, spans, &kept),
        };
        let reason = reasons.remove(&line.number);
        let reason = reason.filter(|_| !understood.contains_key(&line.number));
        (!open.is_empty() || reason.is_some()).then_some(NotUnderstood {
            line: line.number,
            numbers: open,
            reason,
        })
    };
    lines.iter().filter_map(of_line).collect()
}

/// The numbers of a line that nothing accounts for.
fn open(line: &str, numbers: &[Listed], spans: &[Span], kept: &Kept) -> Vec<String> {
    let has_same = spans.iter().any(|span| {
        span.role == Role::Same
            && number_and_unit(&line[span.range.clone()])
                .is_some_and(|(number, _)| kept.has(number))
    });
    let is_quiet = |number: &&Listed| {
        let span = spans.iter().find(|span| span.range.contains(&number.start));
        match span.map(|span| span.role) {
            None => false,
            Some(Role::Known) => true,
            Some(Role::Text) => !number.is_rate(),
            Some(Role::Same) => has_same,
            Some(Role::Figure) => kept.has_text(number.number),
        }
    };
    let open = numbers.iter().filter(|number| !is_quiet(number));
    open.map(Listed::to_string).collect()
}

/// Numbers of the records, and those that their findings name.
struct Kept(HashSet<u64>);

impl Kept {
    fn of(records: &[Imported]) -> Self {
        let mut kept = Self(HashSet::new());
        for metric in records.iter().flat_map(|record| &record.metrics) {
            kept.put(metric.value);
            if let Some(printed) = &metric.printed {
                kept.put(printed.value);
            }
            if metric.quantity == Quantity::Size {
                for power in 1..=MOST_BLOCK_POWER {
                    kept.put(metric.value / f64::from(1u32 << power));
                }
            }
        }
        for finding in records.iter().flat_map(|record| &record.findings) {
            let quotes = finding.detail.split('`').skip(1).step_by(2);
            for number in quotes.flat_map(listed) {
                kept.0.extend(values(number.number).map(f64::to_bits));
            }
        }
        kept
    }

    fn put(&mut self, value: f64) {
        self.0.insert(value.to_bits());
    }

    fn has(&self, number: Number) -> bool {
        number.value == 0.0 || self.0.contains(&number.value.to_bits())
    }

    /// Returns whether one of the values that a printed number may have is kept. Nothing was measured where it is zero.
    fn has_text(&self, number: &str) -> bool {
        values(number).any(|value| value == 0.0 || self.0.contains(&value.to_bits()))
    }
}

/// The values of a printed number, whose signs may group its digits.
fn values(number: &str) -> impl Iterator<Item = f64> {
    let plain = number.replace('’', "");
    let grouped = ['.', ','].map(|decimal| ungrouped(&plain, Some(decimal)));
    let all = [Some(plain)].into_iter().chain(grouped).flatten();
    all.filter_map(|text| Number::parse(&text))
        .map(|number| number.value)
}
