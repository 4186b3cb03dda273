//! Results of tests in the form of a record.

use cardmark_core::{Integrity, IntegrityTest, PlaceSpeed, Record, StorageKind};
use cardmark_integrity::{BLOCK_BYTES, Endure, Map, Probe, Reading, Speed, StorageVerdict, Verify};

fn bytes(blocks: u64) -> u64 {
    blocks * BLOCK_BYTES as u64
}

/// Whole milliseconds, rounded up.
fn milliseconds(ns: u64) -> u64 {
    ns.div_ceil(1_000_000)
}

/// The record of a probe.
pub(crate) fn of_probe(mut record: Record, probe: &Probe, blocks_count: u64) -> Record {
    record.written_bytes += bytes(probe.written_blocks);
    record.integrity = Some(Integrity {
        is_irregular: probe.is_irregular,
        read_within_ms: Some(milliseconds(probe.span_ns)),
        waited_ms: (probe.waited_ns > 0).then(|| milliseconds(probe.waited_ns)),
        wrap_bytes: probe.wrap_blocks.map(bytes),
        hidden_cache_bytes: probe.cache_blocks.map(bytes),
        excluded_cache_bytes: probe.excluded_cache_blocks.map(bytes),
        sampling: probe.sampling,
        ..Integrity::new(
            IntegrityTest::Probe,
            probe.kind,
            bytes(blocks_count),
            bytes(probe.real_blocks),
        )
    });
    record
}

/// The record of a verify that came to its end.
pub(crate) fn of_verify(mut record: Record, verify: &Verify, verdict: &StorageVerdict) -> Record {
    record.written_bytes = bytes(verify.written_blocks());
    let integrity = every_block(&mut record, IntegrityTest::Verify, verify, verdict);
    let load = verify.load();
    let discarding = load.filter(|load| load.discards);
    record.integrity = Some(Integrity {
        waited_ms: (verify.waited_ns() > 0).then(|| milliseconds(verify.waited_ns())),
        read_within_ms: verify.read_within_ns().map(milliseconds),
        pattern: load.map(|load| load.pattern),
        queue_depth: load.map(|load| load.queue_depth),
        discarded_bytes: discarding.map(|_| bytes(verify.discarded_blocks())),
        ..integrity
    });
    record
}

/// What a test of every block has found so far, if its device fails.
pub(super) fn so_far(test: IntegrityTest, verify: &Verify) -> Integrity {
    let (written, read) = verify.speeds();
    let size_bytes = bytes(verify.blocks_count());
    Integrity {
        from_bytes: verify.part_start().map(bytes),
        written: speeds(written),
        read: speeds(read),
        ..Integrity::new(test, StorageKind::Unfinished, size_bytes, size_bytes)
    }
}

/// The record of an endurance test that came to its end.
pub(crate) fn of_endure(mut record: Record, endure: &Endure, verdict: &StorageVerdict) -> Record {
    record.written_bytes = endure.written_bytes();
    let integrity = every_block(&mut record, IntegrityTest::Endure, endure.verify(), verdict);
    record.integrity = Some(Integrity {
        cycles_count: Some(endure.cycles()),
        milestones: endure.milestones().to_vec(),
        ..integrity
    });
    record
}

/// The record of a retention check that came to its end: what was read again after `rested_ms`, and what the blocks
/// held before, at the end of an endurance test.
pub(crate) fn of_retention(
    mut record: Record,
    again: &Verify,
    before: &Endure,
    rested_ms: u64,
    verdict: &StorageVerdict,
) -> Record {
    let integrity = every_block(&mut record, IntegrityTest::Retention, again, verdict);
    let faded_count = again.surface().bad_since(before.verify().surface());
    record.integrity = Some(Integrity {
        rested_ms: Some(rested_ms),
        faded_count: Some(faded_count),
        milestones: before.milestones().to_vec(),
        ..integrity
    });
    record
}

/// The record of a test that only read and came to its end.
pub(crate) fn of_reading(
    mut record: Record,
    reading: &Reading,
    verdict: &StorageVerdict,
) -> Record {
    let pass = reading.pass();
    let map = Map::of(&reading.surface());
    record.surface = map.parts;
    record.integrity = Some(Integrity {
        from_bytes: pass.part_start().map(bytes),
        blocks: Some(verdict.counts),
        map_cell_bytes: Some(map.cell_bytes),
        read: speeds(pass.speeds().1),
        slow: speeds(&reading.slow()),
        differing_bytes: reading.excused_blocks().map(bytes),
        ..Integrity::new(
            IntegrityTest::Read,
            verdict.kind,
            bytes(pass.blocks_count()),
            bytes(verdict.real_blocks),
        )
    });
    record
}

/// Adds the map to the record. Returns the record's part of a test of every block.
fn every_block(
    record: &mut Record,
    test: IntegrityTest,
    verify: &Verify,
    verdict: &StorageVerdict,
) -> Integrity {
    let (written, read) = verify.speeds();
    let map = Map::of(verify.surface());
    record.surface = map.parts;
    Integrity {
        is_irregular: verdict.is_irregular,
        from_bytes: verify.part_start().map(bytes),
        wrap_bytes: verdict.wrap_blocks.map(bytes),
        blocks: Some(verdict.counts),
        map_cell_bytes: Some(map.cell_bytes),
        written: speeds(written),
        read: speeds(read),
        ..Integrity::new(
            test,
            verdict.kind,
            bytes(verify.blocks_count()),
            bytes(verdict.real_blocks),
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
