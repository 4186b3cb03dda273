//! Picture of damaged storage: one sign per cell, by the share of its bytes that are bad.

use std::collections::BTreeMap;

use cardmark_core::{BlockCounts, BlockState, IntegrityTest, Record, SurfacePart};

use crate::text::amount;
use crate::text::layout::wrap;

/// Size of a block, bytes.
pub(crate) const BLOCK_BYTES: u64 = 512;
/// Signs in a line of the map, and lines, at most.
const MAP_COLUMNS: usize = 64;
const MAP_LINES: usize = 4;
/// Shades: sign, and the share of bad bytes below which it stands.
const SHADES: [(char, f64, &str); 3] = [
    (':', 0.01, "less than 1 % bad"),
    ('+', 0.1, "less than 10 % bad"),
    ('*', 0.5, "less than half bad"),
];
/// Sign of a cell without bad bytes.
const GOOD: char = '.';
/// Signs of cells that are at least half bad, by the most frequent state.
const LETTERS: [(char, BlockState, &str); 5] = [
    ('c', BlockState::Changed, "corrupted"),
    ('o', BlockState::Overwritten, "overwritten"),
    ('l', BlockState::Lost, "lost"),
    ('x', BlockState::Unreadable, "unreadable"),
    ('w', BlockState::Refused, "not writable"),
];
/// Sign of a state that this version does not know.
const UNKNOWN: char = '?';

/// A picture of the tested storage, with a legend; empty if all of it is good.
pub(crate) fn map(record: &Record, width: usize) -> Vec<String> {
    let surface = &record.surface;
    let all: u64 = surface.iter().map(|part| part.size_bytes).sum();
    let is_good = surface.iter().all(|part| part.state == BlockState::Good);
    if all == 0 || is_good {
        return Vec::new();
    }
    let columns = MAP_COLUMNS.min(width.saturating_sub(2)).max(8);
    let cells = columns * MAP_LINES;
    let densities = densities(record);
    let place = |index: usize| u128::from(all) * index as u128 / cells as u128;
    let signs: Vec<char> = (0..cells)
        .map(|index| sign(surface, place(index), place(index + 1), &densities))
        .collect();
    let is_coarse = densities.values().any(|density| *density < 1.0);
    let mut lines = wrap(
        &legend(record, &signs, all / cells as u64, is_coarse),
        width,
        2,
    );
    lines.extend(signs.chunks(columns).map(|line| line.iter().collect()));
    lines
}

/// Meanings of the signs that occur.
fn legend(record: &Record, signs: &[char], cell_bytes: u64, is_coarse: bool) -> String {
    let found = record.integrity.as_ref();
    let is_read = found.is_some_and(|found| found.test == IntegrityTest::Read);
    let good = if is_read {
        "read twice alike"
    } else {
        "intact"
    };
    let shades = SHADES.map(|(sign, _, meaning)| (sign, meaning));
    let letters = LETTERS.map(|(sign, state, meaning)| match state {
        BlockState::Changed if is_read => (sign, "different when read again"),
        _ => (sign, meaning),
    });
    let all = [(GOOD, good)]
        .into_iter()
        .chain(shades)
        .chain(letters)
        .chain([(UNKNOWN, "unknown")]);
    let used = all.filter(|(sign, _)| signs.contains(sign));
    let meanings: Vec<String> = used
        .map(|(sign, meaning)| format!("{sign} {meaning}"))
        .collect();
    let estimate = match is_coarse {
        true => " (shares estimated: bad places are too many to list)",
        false => "",
    };
    let each = amount(cell_bytes);
    format!(
        "map, one sign per {each}: {}{estimate}",
        meanings.join(", ")
    )
}

/// Share of the bytes of parts in each state that are in that state: 1 in an exact map. A part of a coarse map has the
/// worst state of its blocks, and the counts of blocks give the mean share.
fn densities(record: &Record) -> BTreeMap<BlockState, f64> {
    let mut marked = BTreeMap::<BlockState, u64>::new();
    for part in &record.surface {
        *marked.entry(part.state).or_default() += part.size_bytes;
    }
    let counts = record.integrity.as_ref().and_then(|found| found.blocks);
    let density = |(state, bytes): (BlockState, u64)| {
        let counted = counts.and_then(|counts| blocks_in(&counts, state));
        let counted_bytes = counted.map_or(bytes, |count| count.saturating_mul(BLOCK_BYTES));
        let share = counted_bytes as f64 / bytes.max(1) as f64;
        (state, share.min(1.0))
    };
    marked.into_iter().map(density).collect()
}

/// Number of blocks in a bad state.
fn blocks_in(counts: &BlockCounts, state: BlockState) -> Option<u64> {
    match state {
        BlockState::Changed => Some(counts.changed_count),
        BlockState::Overwritten => Some(counts.wrapped_count + counts.overwritten_count),
        BlockState::Lost => Some(counts.lost_count),
        BlockState::Unreadable => Some(counts.unreadable_count),
        BlockState::Refused => Some(counts.refused_count),
        BlockState::Good | BlockState::Other(_) => None,
    }
}

/// The sign of the cell between these places.
fn sign(
    surface: &[SurfacePart],
    from: u128,
    to: u128,
    densities: &BTreeMap<BlockState, f64>,
) -> char {
    let to = to.max(from + 1);
    let start = |part: &SurfacePart| u128::from(part.start_bytes);
    let end = |part: &SurfacePart| start(part) + u128::from(part.size_bytes);
    let first = surface.partition_point(|part| end(part) <= from);
    let here = surface[first..].iter().take_while(|part| start(part) < to);
    let mut bad = BTreeMap::<BlockState, f64>::new();
    for part in here.filter(|part| part.state != BlockState::Good) {
        let bytes = end(part).min(to) - start(part).max(from);
        let density = densities.get(&part.state).copied().unwrap_or(1.0);
        *bad.entry(part.state).or_default() += bytes as f64 * density;
    }
    let share = bad.values().sum::<f64>() / (to - from) as f64;
    let Some((state, _)) = bad.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return GOOD;
    };
    let shade = SHADES.iter().find(|(_, below, _)| share < *below);
    let letter = || LETTERS.iter().find(|(_, of, _)| *of == state);
    shade
        .map(|(sign, ..)| *sign)
        .or_else(|| letter().map(|(sign, ..)| *sign))
        .unwrap_or(UNKNOWN)
}
