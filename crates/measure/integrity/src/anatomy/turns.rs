//! Writes to several units in turn.

use cardmark_core::{OpenUnits, Rng, TurnTime};

use super::boundary::{median, to_ns};
use crate::{Content, Medium, Span, Trouble};

/// Size of a write, blocks: 64 KiB.
pub(super) const WRITE_BLOCKS: u64 = 128;
/// Writes to each unit; the first, which opens it, does not count.
const WRITES: u64 = 8;
/// Numbers of units that are written in turn.
const COUNTS: [u32; 18] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 24, 28, 32,
];
/// Number of rounds for each of them.
const ROUNDS: u64 = 3;
/// Factor of the time of a write, compared with any smaller number, from which on a number of units is too
/// large.
const COLLAPSE: f64 = 1.5;

/// Returns the maximum number of blocks written.
pub(super) fn wanted_blocks(blocks_count: u64) -> u64 {
    let units: u64 = COUNTS.iter().map(|&count| u64::from(count)).sum();
    (units * ROUNDS * WRITES * WRITE_BLOCKS).min(blocks_count)
}

/// The least size of a unit, blocks: the amount written to one.
pub(super) const LEAST_UNIT_BLOCKS: u64 = WRITES * WRITE_BLOCKS;

/// Result of the writes in turn.
pub(super) struct InTurn {
    pub(super) turns: Vec<TurnTime>,
    pub(super) written_blocks: u64,
}

/// Measures the time of a write with each number of units, by rising number; in rounds, so that disturbances
/// are spread over all numbers.
pub(super) fn measure(
    medium: &mut impl Medium,
    unit_blocks: u64,
    seed: u64,
    tell: &mut dyn FnMut(u64, u64),
) -> Result<InTurn, Trouble> {
    let units_count = medium.blocks_count() / unit_blocks;
    // Half of the units at most: others lie between them.
    let counts: Vec<u32> = COUNTS
        .into_iter()
        .filter(|&count| u64::from(count) <= units_count / 2)
        .collect();
    let wanted: u64 = counts.iter().map(|&count| u64::from(count) * WRITES).sum();
    let mut taken = Taken::new(units_count, seed);
    let units_in_all: u64 = counts.iter().map(|&count| u64::from(count)).sum::<u64>() * ROUNDS;
    let mut planned = taken.clone();
    let planned: Vec<Span> = (0..units_in_all)
        .map(|_| Span::new(planned.next() * unit_blocks, LEAST_UNIT_BLOCKS))
        .collect();
    medium.intend(&planned)?;
    let mut spans: Vec<Vec<f64>> = vec![Vec::new(); counts.len()];
    let mut done = 0;
    let mut written_blocks = 0;
    for round in 0..ROUNDS {
        let content = Content {
            seed,
            round: u32::try_from(round).unwrap_or(0),
        };
        for step in 0..counts.len() {
            // Up in one round and down in the next.
            let index = if round % 2 == 0 {
                step
            } else {
                counts.len() - 1 - step
            };
            let units: Vec<u64> = (0..counts[index])
                .map(|_| taken.next() * unit_blocks)
                .collect();
            spans[index].extend(in_turn(medium, &units, content, &mut written_blocks)?);
            done += units.len() as u64 * WRITES;
            tell(done, wanted * ROUNDS);
        }
    }
    let timed = counts.iter().zip(&mut spans);
    let timed = timed.filter(|(_, spans)| !spans.is_empty());
    let times = timed.map(|(&units_count, spans)| TurnTime {
        units_count,
        write_ns: to_ns(median(spans)),
        min_ns: to_ns(spans.iter().copied().fold(f64::INFINITY, f64::min)),
        max_ns: to_ns(spans.iter().copied().fold(0.0, f64::max)),
    });
    Ok(InTurn {
        turns: times.collect(),
        written_blocks,
    })
}

/// Writes a little to each of these units, repeatedly. Returns the mean span of a write, nanoseconds; `None` if
/// the storage refused one.
fn in_turn(
    medium: &mut impl Medium,
    units: &[u64],
    content: Content,
    written_blocks: &mut u64,
) -> Result<Option<f64>, Trouble> {
    let all: Vec<Span> = units
        .iter()
        .map(|&unit| Span::new(unit, LEAST_UNIT_BLOCKS))
        .collect();
    medium.expect(&all)?;
    let mut span_ns = 0;
    let mut is_refused = false;
    for number in 0..WRITES {
        for unit in units {
            let span = Span::new(unit + number * WRITE_BLOCKS, WRITE_BLOCKS);
            let answer = medium.write(span, content)?;
            is_refused |= !answer.runs.is_empty();
            let refused: u64 = answer.runs.iter().map(|run| run.span.count).sum();
            *written_blocks += span.count - refused;
            // The first writes may wait for earlier work.
            if number > 0 {
                span_ns += answer.span_ns;
            }
        }
        if is_refused {
            return Ok(None);
        }
    }
    // Deferred work of the card must not burden the next number.
    medium.flush()?;
    let writes = (WRITES - 1) * units.len() as u64;
    Ok(Some(span_ns as f64 / writes as f64))
}

/// Every second unit of the storage in turn, then the others.
#[derive(Clone)]
struct Taken {
    units_count: u64,
    next: u64,
}

impl Taken {
    fn new(units_count: u64, seed: u64) -> Self {
        let next = Rng::for_part(seed, "anatomy units", 0).below(units_count.max(1));
        Self { units_count, next }
    }

    fn next(&mut self) -> u64 {
        let unit = self.next;
        let further = unit + 2;
        self.next = match further.checked_sub(self.units_count) {
            None => further,
            // The other ones from here on.
            Some(_) => u64::from(unit.is_multiple_of(2)).min(self.units_count.saturating_sub(1)),
        };
        unit
    }
}

/// Derives the number of units that can be written in turn from the times of writes.
pub(super) fn found_open(turns: &[TurnTime]) -> Option<OpenUnits> {
    let last = turns.last()?;
    let is_collapse = |at: usize| {
        let before = turns[..at].iter().map(|time| time.write_ns).max();
        let after = turns[at..].iter().map(|time| time.write_ns).min();
        matches!((before, after), (Some(before), Some(after)) if after as f64 >= COLLAPSE * before as f64)
    };
    let collapse = (1..turns.len()).find(|&at| is_collapse(at));
    Some(collapse.map_or(
        OpenUnits {
            min_count: last.units_count,
            max_count: None,
        },
        |at| OpenUnits {
            min_count: turns[at - 1].units_count,
            max_count: Some(turns[at].units_count - 1),
        },
    ))
}
