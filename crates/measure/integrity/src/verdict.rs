//! Verdict on the kind of storage, from the content of its blocks.

use std::collections::BTreeMap;

use cardmark_core::{BlockCounts, StorageKind};
use serde::{Deserialize, Serialize};

use crate::{Extent, Held, Span, Surface};

/// A loss of less than this at the end of storage, blocks (1 MiB), is damage: a fake would be larger.
pub(crate) const LEAST_TAIL_BLOCKS: u64 = 2048;
/// Share of the misplaced blocks that must be where wrapping puts them.
const WRAPPED_SHARE: f64 = 0.95;
/// Share of the wrong blocks that must be refused writes for storage to be called read-only.
const REFUSED_SHARE: f64 = 0.95;

/// Share of the lost blocks at the end that must have been lost without an error for storage to be called a
/// fake: blocks with errors may have existed.
pub(crate) const SILENT_SHARE: f64 = 0.9;

/// Share of the blocks that a geometry may leave unexplained: single bad spots.
const UNEXPLAINED_SHARE: f64 = 0.01;

/// Kind of storage, and its real capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageVerdict {
    /// The kind.
    pub kind: StorageKind,
    /// Real number of blocks, from the first on: all that it reports, except with limbo, wraparound, chain,
    /// dead storage, and damage from some block on to its end. Damaged blocks among them count.
    pub real_blocks: u64,
    /// True if no regular geometry explains all blocks: `real_blocks` is an upper bound then.
    #[serde(default)]
    pub is_irregular: bool,
    /// Distance in blocks after which addresses repeat, if they do.
    pub wrap_blocks: Option<u64>,
    /// Number of blocks in each state.
    pub counts: BlockCounts,
}

/// Judges storage whose blocks were all written by rising address and then read. A geometry counts only if it explains all
/// blocks but single spots.
pub fn judge(surface: &Surface) -> StorageVerdict {
    let all = surface.blocks_count();
    let plain = counts(surface.runs(), None);
    let of = |kind, real_blocks| StorageVerdict {
        kind,
        real_blocks,
        is_irregular: false,
        wrap_blocks: None,
        counts: plain,
    };
    if plain.bad_count() == 0 {
        return of(StorageKind::Confirmed, all);
    }
    if takes_no_writes(surface, &plain) {
        return of(StorageKind::ReadOnly, all);
    }
    let module = module(surface.runs());
    if plain.good_count == 0 {
        return StorageVerdict {
            counts: counts(surface.runs(), module),
            ..of(StorageKind::Dead, 0)
        };
    }
    if let Some(module) = module {
        let kept = kept_of_module(surface, module);
        let (kind, real) = match module - kept < LEAST_TAIL_BLOCKS {
            true => (StorageKind::Wraparound, module),
            false => (StorageKind::Chain, kept),
        };
        if repeats(surface, module, real) {
            return StorageVerdict {
                wrap_blocks: Some(module),
                counts: counts(surface.runs(), Some(module)),
                ..of(kind, real)
            };
        }
    }
    let end = end_of_what_is_there(surface);
    let is_regular = is_there_up_to(surface, end);
    match all - end {
        missing if is_regular && missing < LEAST_TAIL_BLOCKS => of(StorageKind::Damaged, all),
        _ if !is_regular => StorageVerdict {
            is_irregular: true,
            ..of(StorageKind::Damaged, bound(surface, plain.good_count))
        },
        _ if is_lost_silently(surface, Span::between(end, all)) => of(StorageKind::Limbo, end),
        _ => of(StorageKind::Damaged, end),
    }
}

/// Returns whether the blocks up to `end` are there, but for single spots: no lost stretch of 1 MiB, and few lost blocks in
/// all. Blocks with errors may have existed.
fn is_there_up_to(surface: &Surface, end: u64) -> bool {
    let (mut lost, mut longest, mut length, mut last) = (0, 0, 0, 0);
    for run in surface.within(Span::new(0, end)) {
        if run.is_there() || run.has_failed() {
            continue;
        }
        length = match run.span.start == last {
            true => length + run.span.count,
            false => run.span.count,
        };
        last = run.span.end();
        longest = longest.max(length);
        lost += run.span.count;
    }
    longest < LEAST_TAIL_BLOCKS && lost as f64 <= UNEXPLAINED_SHARE * end as f64
}

/// Returns whether storage that repeats after `module` blocks, and keeps the first `kept` of each repetition, explains the
/// blocks: of the addresses that share a block, the last one written is good.
fn repeats(surface: &Surface, module: u64, kept: u64) -> bool {
    let all = surface.blocks_count();
    let mut unexplained = 0;
    for run in surface.runs() {
        let span = run.span;
        let is_repeated = run
            .shift()
            .is_some_and(|shift| shift > 0 && shift.unsigned_abs().is_multiple_of(module));
        let in_last = span
            .end()
            .saturating_sub(span.start.max(all.saturating_sub(module)));
        let real = span.count - missing_in(span, module, kept);
        unexplained += match run.held {
            _ if is_repeated => span.count - real,
            Held::Good | Held::Changed => span.count - in_last.min(real),
            _ => real,
        };
    }
    unexplained as f64 <= UNEXPLAINED_SHARE * kept.min(all) as f64
}

/// Returns the number of blocks of a span that are behind the first `kept` of their repetition.
fn missing_in(span: Span, module: u64, kept: u64) -> u64 {
    let before = |end: u64| end / module * (module - kept) + (end % module).saturating_sub(kept);
    before(span.end()) - before(span.start)
}

/// Returns the upper bound of irregular storage: not more than the good blocks, and nothing from the first place on that
/// lost its data, or that is known to have overwritten a lower one.
fn bound(surface: &Surface, good_blocks: u64) -> u64 {
    let places = surface.runs().iter().filter_map(|run| match run.held {
        Held::Good | Held::Changed => None,
        Held::Other { block, .. } if run.shift().is_some() => Some(block.max(run.span.start)),
        _ => Some(run.span.start),
    });
    places.min().unwrap_or(u64::MAX).min(good_blocks)
}

/// Returns the verdict on storage that still holds earlier content where new content was written: it no longer stores, and
/// its capacity is not in doubt.
pub(crate) fn of_ignored(surface: &Surface) -> StorageVerdict {
    StorageVerdict {
        kind: StorageKind::IgnoresWrites,
        real_blocks: surface.blocks_count(),
        is_irregular: false,
        wrap_blocks: None,
        counts: counts(surface.runs(), None),
    }
}

/// Returns whether the fault is that from some moment on the storage accepted no writes.
fn takes_no_writes(surface: &Surface, counts: &BlockCounts) -> bool {
    let is_last = surface
        .runs()
        .last()
        .is_some_and(|run| matches!(run.held, Held::Refused { .. }));
    is_last && counts.refused_count as f64 >= REFUSED_SHARE * counts.bad_count() as f64
}

/// Returns the number of blocks after which addresses repeat: the greatest step that explains the positions of
/// almost all displaced blocks. Of each address, the last written block remains, which is the highest.
fn module(runs: &[Extent]) -> Option<u64> {
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

/// Returns the number of blocks in each state, if addresses repeat after `module` blocks.
pub(crate) fn counts(runs: &[Extent], module: Option<u64>) -> BlockCounts {
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

/// Returns the end of the last block for which storage exists.
fn end_of_what_is_there(surface: &Surface) -> u64 {
    let last = surface.runs().iter().rfind(|run| run.is_there());
    last.map_or(0, |run| run.span.end())
}

/// Returns whether these lost blocks were written and read without an error.
fn is_lost_silently(surface: &Surface, tail: Span) -> bool {
    let failed = surface.within(tail).filter(|run| run.has_failed());
    let failed_count: u64 = failed.map(|run| run.span.count).sum();
    (tail.count - failed_count) as f64 >= SILENT_SHARE * tail.count as f64
}

/// Returns the verdict on storage that held all of its data before: it is no fake, even if it has lost data
/// since.
pub(crate) fn of_once_whole(verdict: StorageVerdict, surface: &Surface) -> StorageVerdict {
    let all = surface.blocks_count();
    match verdict.kind {
        StorageKind::Limbo | StorageKind::Wraparound | StorageKind::Chain => {}
        StorageKind::Damaged if verdict.is_irregular => {}
        _ => return verdict,
    }
    StorageVerdict {
        kind: StorageKind::Damaged,
        real_blocks: match end_of_what_is_there(surface) {
            end if all - end < LEAST_TAIL_BLOCKS => all,
            end => end,
        },
        is_irregular: false,
        wrap_blocks: None,
        counts: counts(surface.runs(), None),
    }
}

/// Returns the verdict on a part of storage. It does not show the capacity of the whole: the end of a fake keeps nothing,
/// and is neither dead nor the whole card.
pub(crate) fn of_part(verdict: StorageVerdict, surface: &Surface) -> StorageVerdict {
    let kind = match verdict.kind {
        kind @ (StorageKind::Confirmed | StorageKind::ReadOnly | StorageKind::IgnoresWrites) => {
            kind
        }
        _ => StorageKind::Damaged,
    };
    StorageVerdict {
        kind,
        real_blocks: surface.blocks_count(),
        is_irregular: false,
        wrap_blocks: None,
        counts: counts(surface.runs(), None),
    }
}

/// Returns the verdict on storage that was only read.
pub(crate) fn of_reading(surface: &Surface) -> StorageVerdict {
    let counts = counts(surface.runs(), None);
    let kind = match counts.bad_count() {
        0 => StorageKind::Readable,
        _ => StorageKind::Damaged,
    };
    StorageVerdict {
        kind,
        real_blocks: surface.blocks_count(),
        is_irregular: false,
        wrap_blocks: None,
        counts,
    }
}

/// Returns the size of the kept part of each repetition: good blocks are in the last one, and their positions
/// determine it.
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
