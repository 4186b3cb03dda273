//! Several streams and the stone wall, calculated by hand.

use cardmark_core::{
    KIB, OperationError, Order, Start, StopReason, StopRule, Trial, Workload, permutation,
};
use cardmark_engine::{Failure, OpKind};

use crate::support::{CONTEXT, EIO, MS, Rig, Script, sequential};

/// A tenth of a millisecond.
const U: u64 = MS / 10;
/// Duration of an operation of each stream.
const EACH: [u64; 3] = [10 * U, 23 * U, 41 * U];
const SYNC: u64 = 5 * U;
const BLOCK: u64 = 64 * KIB;

/// Three streams of eight blocks each.
fn three_streams(read_share_percent: u8) -> Workload {
    let mut streams = sequential("streams", read_share_percent);
    streams.ramp_ns = 0;
    streams.span_bytes = 8 * BLOCK;
    streams.stop = StopRule {
        most_bytes: Some(8 * BLOCK),
        ..StopRule::default()
    };
    streams.manner.streams_count = 3;
    streams
}

fn script() -> Script {
    let service = Script::of(|call| match call.op.kind {
        OpKind::Sync => SYNC,
        _ => EACH[call.op.stream as usize],
    });
    service.channels(3)
}

/// Returns the offsets of one stream in blocks; checks that it was made durable once, at its end.
fn of_stream(rig: &Rig, stream: u32) -> Vec<u64> {
    let mut ops = rig.log().submitted.iter().map(|(op, _)| *op);
    let mut blocks = Vec::new();
    while let Some(op) = ops.find(|op| op.stream == stream && op.kind != OpKind::Sync) {
        assert_eq!(op.slot, stream);
        blocks.push(op.offset / BLOCK);
    }
    let kinds = rig
        .log()
        .submitted
        .iter()
        .filter(|(op, _)| op.stream == stream);
    let syncs: Vec<bool> = kinds.map(|(op, _)| op.kind == OpKind::Sync).collect();
    assert_eq!(syncs.iter().filter(|is_sync| **is_sync).count(), 1);
    assert_eq!(syncs.last(), Some(&true));
    blocks
}

/// Until the first stream finishes, at 80: eight, three (at 23, 46, 69) and one (at 41). The second sees the
/// wall at 92, the third at 82.
fn assert_counted(trial: &Trial) {
    let counted: Vec<(u64, u64)> = trial
        .streams
        .iter()
        .map(|stream| (stream.bytes / BLOCK, stream.span_ns / U))
        .collect();
    assert_eq!(counted, [(8, 80), (3, 92), (1, 82)]);
    let operations = trial.streams.iter().map(|stream| stream.operations_count);
    assert_eq!(operations.collect::<Vec<_>>(), [8, 3, 1]);
    assert_eq!(trial.bytes(), 12 * BLOCK);
    assert_eq!(trial.slices.iter().map(|slice| slice.1).sum::<u64>(), 12);
    let latencies_ns = 8 * EACH[0] + 3 * EACH[1] + EACH[2];
    assert_eq!(trial.latency.sum_ns, latencies_ns);
    assert_eq!((trial.started_ns, trial.flush_span_ns), (0, None));
    assert_eq!(trial.stopped_by, StopReason::Goal);
}

#[test]
fn writers_go_on_uncounted_behind_the_wall() {
    let mut first = three_streams(0);
    first.manner.start = Start::Empty;
    let mut random = three_streams(0);
    random.order = Order::Permuted;
    let straight: Vec<u64> = (0..8).collect();
    let permuted: Vec<u64> = permutation(8).into_iter().map(u64::from).collect();
    for (workload, order) in [(first, straight), (random, permuted)] {
        let mut rig = Rig::new(script());
        let end = rig.trial(&workload, CONTEXT);
        assert_eq!(end.failure, None);
        assert_counted(&end.trial);
        // The trial ends when the last stream is complete and durable: 8 × 41 and 5.
        assert_eq!(end.trial.span_ns, 333 * U);
        assert_eq!(end.trial.untimed_bytes, (5 + 7) * BLOCK);
        assert_eq!(end.trial.written_bytes, 24 * BLOCK);
        for stream in 0..3 {
            assert_eq!(of_stream(&rig, stream), order);
        }
        assert_eq!(
            rig.log().flushes_count,
            0,
            "each stream made itself durable"
        );
    }
}

#[test]
fn readers_and_rewriters_end_at_the_wall() {
    for (share, written) in [(100, 0), (0, 8 + 4 + 2)] {
        let mut rig = Rig::new(script());
        let end = rig.trial(&three_streams(share), CONTEXT);
        assert_eq!(end.failure, None);
        assert_counted(&end.trial);
        // The second ends its operation at 92 and is durable at 97.
        assert_eq!(end.trial.span_ns, 97 * U);
        // Operations in flight at the wall are not counted.
        assert_eq!(end.trial.untimed_bytes, 2 * BLOCK);
        assert_eq!(end.trial.written_bytes, written * BLOCK);
        for (stream, count) in [(0, 8), (1, 4), (2, 2)] {
            let blocks: Vec<u64> = (0..count).collect();
            assert_eq!(of_stream(&rig, stream), blocks);
        }
        let reads: u64 = end
            .trial
            .streams
            .iter()
            .map(|s| s.read_operations_count)
            .sum();
        assert_eq!(reads, if share == 100 { 12 } else { 0 });
    }
}

#[test]
fn an_error_in_one_stream_ends_all() {
    let mut script = script();
    // The third operation of the second stream, which ends at 69.
    script.outcome = Box::new(|call| {
        let op = call.op;
        (op.stream == 1 && op.offset == 2 * BLOCK).then_some(Err(EIO))
    });
    let mut rig = Rig::new(script);
    let end = rig.trial(&three_streams(0), CONTEXT);
    let error = OperationError {
        offset_bytes: 2 * BLOCK,
        errno: EIO,
        at_ns: 69 * U,
    };
    assert_eq!(end.failure, Some(Failure::Operation(error)));
    assert_eq!(end.trial.errors, [error]);
    assert_eq!(end.trial.stopped_by, StopReason::Error);
    assert_eq!(end.trial.span_ns, 69 * U);
    let counted: Vec<u64> = end
        .trial
        .streams
        .iter()
        .map(|s| s.operations_count)
        .collect();
    assert_eq!(counted, [6, 2, 1]);
    let log = rig.log();
    assert_eq!(
        log.reaped.len(),
        log.submitted.len(),
        "the run waited for all"
    );
    assert!(log.submitted.iter().all(|(op, _)| op.kind != OpKind::Sync));
    assert_eq!(end.trial.untimed_bytes, 2 * BLOCK);
}

#[test]
fn an_object_that_cannot_be_made_durable_voids_the_trial() {
    let mut script = script();
    script.outcome =
        Box::new(|call| (call.op.kind == OpKind::Sync && call.op.stream == 2).then_some(Err(EIO)));
    let end = Rig::new(script).trial(&three_streams(0), CONTEXT);
    assert_eq!(end.failure, Some(Failure::Flush(EIO)));
    assert!(!end.trial.is_whole());
}

#[test]
fn a_stop_ends_all_streams_at_their_next_operation() {
    let mut script = script();
    script.stop_at = Some((0, 7));
    let mut rig = Rig::new(script);
    let end = rig.trial(&three_streams(0), CONTEXT);
    assert_eq!(end.failure, Some(Failure::Stopped));
    assert_eq!(end.trial.stopped_by, StopReason::Interrupted);
    let log = rig.log();
    assert_eq!(log.reaped.len(), log.submitted.len());
    assert!(log.submitted.len() <= 7 + 3, "{}", log.submitted.len());
}

#[test]
fn streams_of_the_same_speed_are_all_through() {
    let mut rig = Rig::new(Script::constant(MS).channels(3));
    let trial = rig.trial(&three_streams(100), CONTEXT).trial;
    // The first completion ends the counting; the others complete their last operation uncounted.
    let counted: Vec<(u64, u64)> = trial
        .streams
        .iter()
        .map(|stream| (stream.operations_count, stream.span_ns))
        .collect();
    assert_eq!(counted, [(8, 8 * MS), (7, 8 * MS), (7, 8 * MS)]);
    assert_eq!(trial.untimed_bytes, 2 * BLOCK);
}
