//! Results of tests in the form of a record.

use cardmark_core::{
    BlockState, Integrity, IntegrityTest, PlaceSpeed, Record, StorageKind, SurfacePart,
};
use cardmark_integrity::{
    BLOCK_BYTES, Endure, Held, Probe, Speed, StorageVerdict, Surface, Verify,
};

/// Parts of an exact map at most; of more a coarse one is made.
const MOST_PARTS: usize = 8192;
/// Parts of a coarse map.
const COARSE_PARTS: u64 = 4096;

fn bytes(blocks: u64) -> u64 {
    blocks * BLOCK_BYTES as u64
}

/// A record's part of a test that found this.
fn integrity(
    test: IntegrityTest,
    kind: StorageKind,
    blocks_count: u64,
    real_blocks: u64,
) -> Integrity {
    Integrity {
        test,
        kind,
        size_bytes: bytes(blocks_count),
        real_bytes: bytes(real_blocks),
        module_bytes: None,
        hidden_cache_bytes: None,
        excluded_cache_bytes: None,
        blocks: None,
        sampling: None,
        cycles_count: None,
        milestones: Vec::new(),
        rested_ns: None,
        faded_count: None,
        written: Vec::new(),
        read: Vec::new(),
    }
}

/// The record of a probe.
pub(crate) fn of_probe(mut record: Record, probe: &Probe, blocks_count: u64) -> Record {
    record.bytes_written += bytes(probe.written_blocks);
    record.integrity = Some(Integrity {
        module_bytes: probe.module_blocks.map(bytes),
        hidden_cache_bytes: probe.cache_blocks.map(bytes),
        excluded_cache_bytes: probe.excluded_cache_blocks.map(bytes),
        sampling: probe.sampling,
        ..integrity(
            IntegrityTest::Probe,
            probe.kind,
            blocks_count,
            probe.real_blocks,
        )
    });
    record
}

/// The record of a verify that came to its end.
pub(crate) fn of_verify(mut record: Record, verify: &Verify, verdict: &StorageVerdict) -> Record {
    record.bytes_written = bytes(verify.written_blocks());
    record.surface = parts(verify.surface());
    record.integrity = Some(every_block(IntegrityTest::Verify, verify, verdict));
    record
}

/// The record of an endurance test that came to its end.
pub(crate) fn of_endure(mut record: Record, endure: &Endure, verdict: &StorageVerdict) -> Record {
    record.bytes_written = endure.written_bytes();
    record.surface = parts(endure.verify().surface());
    record.integrity = Some(Integrity {
        cycles_count: Some(endure.cycles()),
        milestones: endure.milestones().to_vec(),
        ..every_block(IntegrityTest::Endure, endure.verify(), verdict)
    });
    record
}

/// The record of a retention check that came to its end: what was read again, what the blocks held before
/// the rest, and how long that was.
pub(crate) fn of_retention(
    mut record: Record,
    again: &Verify,
    before: &Surface,
    rested_ns: u64,
    verdict: &StorageVerdict,
) -> Record {
    record.surface = parts(again.surface());
    record.integrity = Some(Integrity {
        rested_ns: Some(rested_ns),
        faded_count: Some(again.surface().bad_since(before)),
        ..every_block(IntegrityTest::Retention, again, verdict)
    });
    record
}

fn every_block(test: IntegrityTest, verify: &Verify, verdict: &StorageVerdict) -> Integrity {
    let (written, read) = verify.speeds();
    Integrity {
        module_bytes: verdict.module_blocks.map(bytes),
        blocks: Some(verdict.counts),
        written: speeds(written),
        read: speeds(read),
        ..integrity(
            test,
            verdict.kind,
            verify.blocks_count(),
            verdict.real_blocks,
        )
    }
}

fn speeds(speeds: &[Speed]) -> Vec<PlaceSpeed> {
    let speed = |speed: &Speed| PlaceSpeed {
        start_bytes: speed.span.offset_bytes(),
        size_bytes: speed.span.bytes(),
        span_ns: speed.span_ns,
    };
    speeds.iter().map(speed).collect()
}

fn state(held: Held, start: u64) -> BlockState {
    match held {
        Held::Good => BlockState::Good,
        Held::Changed => BlockState::Changed,
        Held::Other { block, .. } if block != start => BlockState::Overwritten,
        Held::Other { .. } | Held::Foreign => BlockState::Lost,
        Held::Unreadable { .. } => BlockState::Unreadable,
        Held::Refused { .. } => BlockState::Refused,
    }
}

/// The map: exact, unless it has too many parts for a record.
fn parts(surface: &Surface) -> Vec<SurfacePart> {
    let mut parts: Vec<SurfacePart> = Vec::new();
    for run in surface.runs() {
        let state = state(run.held, run.span.start);
        match parts.last_mut() {
            Some(last) if last.state == state => last.size_bytes += run.span.bytes(),
            _ => parts.push(SurfacePart {
                start_bytes: run.span.offset_bytes(),
                size_bytes: run.span.bytes(),
                state,
            }),
        }
    }
    if parts.len() > MOST_PARTS {
        parts = coarse(&parts, bytes(surface.blocks_count()));
    }
    parts
}

fn coarse(parts: &[SurfacePart], size_bytes: u64) -> Vec<SurfacePart> {
    let cell_bytes = bytes(
        (size_bytes / COARSE_PARTS)
            .div_ceil(BLOCK_BYTES as u64)
            .max(1),
    );
    let mut cells: Vec<SurfacePart> = (0..size_bytes.div_ceil(cell_bytes))
        .map(|index| SurfacePart {
            start_bytes: index * cell_bytes,
            size_bytes: cell_bytes.min(size_bytes - index * cell_bytes),
            state: BlockState::Good,
        })
        .collect();
    for part in parts {
        let end = part.start_bytes + part.size_bytes;
        let first = usize::try_from(part.start_bytes / cell_bytes).unwrap_or(usize::MAX);
        for cell in cells.iter_mut().skip(first) {
            if cell.start_bytes >= end {
                break;
            }
            cell.state = cell.state.max(part.state);
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use cardmark_integrity::{Extent, Span};

    use super::*;

    #[test]
    fn a_map_with_too_many_parts_is_made_coarse_and_hides_nothing() {
        let mut surface = Surface::default();
        let blocks = 4 * COARSE_PARTS * 8;
        for start in (0..blocks).step_by(2) {
            let held = if start % 400 == 0 {
                Held::Changed
            } else {
                Held::Good
            };
            surface.push(Extent::new(Span::new(start, 1), held));
            surface.push(Extent::new(Span::new(start + 1, 1), Held::Good));
        }
        assert!(parts(&surface).len() < MOST_PARTS);
        let mut torn = Surface::default();
        for start in (0..blocks).step_by(2) {
            torn.push(Extent::new(Span::new(start, 1), Held::Good));
            torn.push(Extent::new(Span::new(start + 1, 1), Held::Foreign));
        }
        let map = parts(&torn);
        assert_eq!(map.len() as u64, COARSE_PARTS);
        assert!(map.iter().all(|part| part.state == BlockState::Lost));
        let size: u64 = map.iter().map(|part| part.size_bytes).sum();
        assert_eq!(size, bytes(blocks));
    }
}
