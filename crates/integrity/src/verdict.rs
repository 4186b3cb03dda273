//! What kind of storage it is, from what its blocks hold.

use std::collections::BTreeMap;

use cardmark_core::{BlockCounts, StorageKind};
use serde::{Deserialize, Serialize};

use crate::{Held, Run, Span, Surface};

/// Less than this at the end of storage, blocks (1 MiB), is damage: nobody sells that as more.
pub(crate) const LEAST_TAIL_BLOCKS: u64 = 2048;
/// So much of what stands in wrong places must be where wrapping put it.
const WRAPPED_SHARE: f64 = 0.95;
/// So much of what is wrong must be refused writes for storage to be called read-only.
const REFUSED_SHARE: f64 = 0.95;

/// So much of an end that does not hold what was written must have been lost without an error for storage
/// to be called a fake: what a card refuses to give out may have been there.
pub(crate) const SILENT_SHARE: f64 = 0.9;

/// What kind of storage it is, and how much of it there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The kind.
    pub kind: StorageKind,
    /// How many blocks there are, from the first on: all that it says, but for limbo, wraparound, chain,
    /// what is dead, and what is damaged from some block on to its end. Damaged blocks among them count.
    pub real_blocks: u64,
    /// After how many blocks addresses repeat, where they do.
    pub module_blocks: Option<u64>,
    /// How many blocks are in which state.
    pub counts: BlockCounts,
}

/// Judges storage every block of which was written by rising address and then read.
#[must_use]
pub fn judge(surface: &Surface) -> Verdict {
    let all = surface.blocks_count();
    let module = module(surface.runs());
    let counts = counts(surface.runs(), module);
    let (kind, real_blocks) = match module {
        _ if counts.bad_count() == 0 => (StorageKind::Confirmed, all),
        _ if takes_no_writes(surface, &counts) => (StorageKind::ReadOnly, all),
        _ if counts.good_count == 0 => (StorageKind::Dead, 0),
        Some(module) => match kept_of_module(surface, module) {
            kept if module - kept < LEAST_TAIL_BLOCKS => (StorageKind::Wraparound, module),
            kept => (StorageKind::Chain, kept),
        },
        None => match end_of_what_is_there(surface) {
            end if all - end < LEAST_TAIL_BLOCKS => (StorageKind::Damaged, all),
            end if is_lost_silently(surface, Span::between(end, all)) => (StorageKind::Limbo, end),
            end => (StorageKind::Damaged, end),
        },
    };
    Verdict {
        kind,
        real_blocks,
        module_blocks: module
            .filter(|_| matches!(kind, StorageKind::Wraparound | StorageKind::Chain)),
        counts,
    }
}

/// Whether what is wrong is that from some moment on it took no writes.
fn takes_no_writes(surface: &Surface, counts: &BlockCounts) -> bool {
    let is_last = surface
        .runs()
        .last()
        .is_some_and(|run| matches!(run.held, Held::Refused { .. }));
    is_last && counts.refused_count as f64 >= REFUSED_SHARE * counts.bad_count() as f64
}

/// After how many blocks addresses repeat: the greatest step that explains where almost all of the
/// displaced blocks stand. Of each address the last one written is left, which is the highest.
fn module(runs: &[Run]) -> Option<u64> {
    let mut by_shift = BTreeMap::<i64, u64>::new();
    for run in runs {
        if let Some(shift) = run.shift() {
            *by_shift.entry(shift).or_default() += run.span.count;
        }
    }
    let all: u64 = by_shift.values().sum();
    let up = by_shift.iter().filter(|&(&shift, _)| shift > 0);
    let mut by_count: Vec<(u64, u64)> = up
        .map(|(&shift, &count)| (count, shift.unsigned_abs()))
        .collect();
    by_count.sort_unstable_by(|a, b| b.cmp(a));
    // From the most frequent shift down, so that single blocks in wrong places spoil nothing.
    let (mut step, mut explained) = (0, 0);
    for (count, shift) in by_count {
        if explained as f64 >= WRAPPED_SHARE * all as f64 {
            break;
        }
        step = greatest_common_divisor(step, shift);
        explained += count;
    }
    let is_enough = explained as f64 >= WRAPPED_SHARE * all as f64;
    (step >= LEAST_TAIL_BLOCKS && is_enough).then_some(step)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

/// How many blocks are in which state, where addresses repeat after `module` blocks.
pub(crate) fn counts(runs: &[Run], module: Option<u64>) -> BlockCounts {
    let mut counts = BlockCounts::default();
    for run in runs {
        let is_wrapped = run
            .shift()
            .zip(module)
            .is_some_and(|(shift, module)| shift > 0 && shift.unsigned_abs() % module == 0);
        let count = match run.held {
            Held::Good => &mut counts.good_count,
            Held::Changed => &mut counts.changed_count,
            Held::Unreadable { .. } => &mut counts.unreadable_count,
            Held::Refused { .. } => &mut counts.refused_count,
            _ if is_wrapped => &mut counts.wrapped_count,
            _ if run.is_lost() => &mut counts.lost_count,
            _ => &mut counts.overwritten_count,
        };
        *count += run.span.count;
    }
    counts
}

/// Where the last block ends that there is storage for.
fn end_of_what_is_there(surface: &Surface) -> u64 {
    let last = surface.runs().iter().rfind(|run| run.is_there());
    last.map_or(0, |run| run.span.end())
}

/// Whether these blocks, which do not hold what was written, were taken and given out without an error.
fn is_lost_silently(surface: &Surface, tail: Span) -> bool {
    let failed = surface.within(tail).filter(|run| run.has_failed());
    let failed_count: u64 = failed.map(|run| run.span.count).sum();
    (tail.count - failed_count) as f64 >= SILENT_SHARE * tail.count as f64
}

/// The verdict on storage that held all that was written to it before: whatever it has lost since, it is
/// no fake.
pub(crate) fn of_once_whole(verdict: Verdict, surface: &Surface) -> Verdict {
    match verdict.kind {
        StorageKind::Limbo | StorageKind::Wraparound | StorageKind::Chain => Verdict {
            kind: StorageKind::Damaged,
            real_blocks: end_of_what_is_there(surface),
            module_blocks: None,
            counts: counts(surface.runs(), None),
        },
        _ => verdict,
    }
}

/// How much of each repetition is kept: good blocks stand in the last one, and their places tell.
fn kept_of_module(surface: &Surface, module: u64) -> u64 {
    let all = surface.blocks_count();
    let last = Span::between(all.saturating_sub(module), all);
    let ends = surface
        .within(last)
        .filter(|run| run.held == Held::Good)
        .map(|run| {
            let reaches_on = run.span.start / module < (run.span.end() - 1) / module;
            if reaches_on {
                module
            } else {
                (run.span.end() - 1) % module + 1
            }
        });
    ends.max().unwrap_or(0)
}
