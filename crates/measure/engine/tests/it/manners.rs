//! Habits of old tools: flushes inside the span, fixed orders, rests, first reads.

use cardmark_core::{
    Access, Errno, FindingKind, Flush, KIB, MIB, Object, Order, Passes, Start, StopReason,
    Workload, permutation,
};
use cardmark_engine::{Failure, OpKind, TrialContext};

use crate::support::{CONTEXT, EIO, MS, ORIGIN_NS, Rig, Script, list, plan, sequential, workload};

/// Sixteen blocks of 64 KiB, made durable inside the span.
fn in_span(read_share_percent: u8) -> Workload {
    let mut exact = sequential("exact", read_share_percent);
    exact.flush = Flush::InSpan;
    exact.ramp_ns = 0;
    exact.span_bytes = MIB;
    exact.stop.least_span_ns = 0;
    exact.stop.least_operations_count = 0;
    exact.stop.most_bytes = Some(MIB);
    exact
}

/// Script with operations of 1 ms and syncs of `sync_ns`.
fn syncing(sync_ns: u64) -> Script {
    Script::of(move |call| match call.op.kind {
        OpKind::Sync => sync_ns,
        _ => MS,
    })
}

#[test]
fn a_flush_in_the_span_is_part_of_it_and_of_nothing_else() {
    // iozone also makes data durable after reading.
    for (read_share_percent, written) in [(0, MIB), (100, 0)] {
        let mut rig = Rig::new(syncing(5 * MS));
        let end = rig.trial(&in_span(read_share_percent), CONTEXT);
        assert_eq!(end.failure, None);
        let trial = end.trial;
        assert_eq!((trial.started_ns, trial.span_ns), (0, 21 * MS));
        assert_eq!(trial.streams[0].span_ns, 21 * MS);
        assert_eq!(trial.flush_span_ns, Some(5 * MS));
        assert_eq!((trial.operations_count(), trial.bytes()), (16, MIB));
        assert_eq!((trial.written_bytes, trial.untimed_bytes), (written, 0));
        // A sync is not an operation: neither latencies nor slices contain it.
        assert_eq!((trial.latency.max_ns, trial.latency.sum_ns), (MS, 16 * MS));
        assert_eq!(trial.slices.iter().map(|slice| slice.1).sum::<u64>(), 16);
        let log = rig.log();
        assert_eq!(log.submitted.len(), 17);
        assert_eq!(log.submitted[16].0.kind, OpKind::Sync);
        assert_eq!(log.flushes_count, 0, "no further flush after it");
    }
}

#[test]
fn a_flush_in_the_span_that_fails_voids_the_trial() {
    let mut rig = Rig::new(syncing(5 * MS).failing(0, 16, Err(EIO)));
    let end = rig.trial(&in_span(0), CONTEXT);
    assert_eq!(end.failure, Some(Failure::Flush(EIO)));
    let trial = end.trial;
    assert_eq!(trial.stopped_by, StopReason::Error);
    assert_eq!((trial.flush_span_ns, trial.operations_count()), (None, 16));
    assert!(!trial.is_whole());
}

#[test]
fn what_is_in_flight_counts_where_the_flush_ends_the_span() {
    let script = Script::of(|call| match call.op.kind {
        OpKind::Sync => 7 * MS,
        _ => 10 * MS,
    });
    let mut rig = Rig::new(script.channels(4));
    let mut deep = in_span(0);
    deep.queue_depth = 4;
    deep.stop.least_span_ns = 30 * MS;
    deep.stop.least_operations_count = 1;
    deep.stop.most_bytes = None;
    let end = rig.trial(&deep, CONTEXT);
    assert_eq!(end.failure, None);
    let trial = end.trial;
    // Four each at 10, 20 and 30 ms. The last of those starts no operation; the other three did.
    assert_eq!(trial.operations_count(), 15);
    assert_eq!((trial.span_ns, trial.untimed_bytes), (47 * MS, 0));
    assert_eq!(trial.written_bytes, 15 * 64 * KIB);
}

#[test]
fn the_work_or_the_longest_span_ends_a_trial_whichever_comes_first() {
    for (longest_ns, expected) in [
        (Some(1000 * MS), 10),
        (Some(5 * MS), 5),
        (Some(5 * MS + 1), 6),
        (None, 10),
    ] {
        let mut rig = Rig::new(Script::constant(MS));
        let mut both = sequential("both", 100);
        both.ramp_ns = 0;
        // The minima do not apply to exact work.
        both.stop.least_operations_count = 7;
        both.stop.longest_span_ns = longest_ns;
        both.stop.most_bytes = Some(10 * both.block_bytes);
        let trial = rig.trial(&both, CONTEXT).trial;
        assert_eq!(trial.operations_count(), expected, "{longest_ns:?}");
        assert_eq!(trial.span_ns, expected * MS);
        assert!(trial.is_whole());
    }
}

/// Every block of 4 MiB once, in iozone's order.
fn permuted(read_share_percent: u8, queue_depth: u32) -> Workload {
    let mut permuted = workload("permuted");
    permuted.order = Order::Permuted;
    permuted.read_share_percent = read_share_percent;
    permuted.queue_depth = queue_depth;
    permuted.ramp_ns = 0;
    permuted.stop = in_span(0).stop;
    permuted.stop.most_bytes = Some(permuted.span_bytes);
    permuted
}

#[test]
fn a_permuted_order_visits_each_block_once_and_is_always_the_same() {
    let order: Vec<u64> = permutation(1024)
        .iter()
        .map(|&block| u64::from(block) * 4 * KIB)
        .collect();
    for depth in [1, 32] {
        let mut rig = Rig::new(Script::constant(MS));
        // Neither the trial's number, nor the seed, nor the end of the previous trial changes the order.
        for (id, share) in [(0, 100), (1, 0), (2, 100)] {
            let context = TrialContext {
                id,
                seed: u64::from(id) * 77,
                next_block: 5,
                ..CONTEXT
            };
            let trial = rig.trial(&permuted(share, depth), context).trial;
            assert_eq!((trial.operations_count(), trial.bytes()), (1024, 4 * MIB));
            assert_eq!(rig.backend.trials[id as usize].offsets(), order);
        }
    }
    // A shorter trial performs the beginning of the order.
    let mut rig = Rig::new(Script::constant(MS));
    let mut short = permuted(100, 1);
    short.stop.longest_span_ns = Some(100 * MS);
    rig.trial(&short, CONTEXT);
    assert_eq!(rig.log().offsets(), order[..100]);
}

#[test]
fn a_first_read_is_outside_of_clock_and_counts() {
    let mut rig = Rig::new(Script::of(
        |call| if call.number == 0 { 9 * MS } else { MS },
    ));
    let mut led = in_span(100);
    led.manner.lead_read = true;
    let trial = rig.trial(&led, CONTEXT).trial;
    assert_eq!((trial.started_ns, trial.span_ns), (9 * MS, 17 * MS));
    assert_eq!((trial.operations_count(), trial.bytes()), (16, MIB));
    assert_eq!(trial.untimed_bytes, 64 * KIB);
    assert_eq!(trial.latency.max_ns, MS);
    assert_eq!(trial.device_counters.unwrap().read_bytes, 17 * 64 * KIB);
    let offsets = rig.log().offsets();
    assert_eq!(offsets[..3], [0, 0, 64 * KIB], "the first block twice");
    assert_eq!(rig.log().submitted[0].0.kind, OpKind::Read);
}

#[test]
fn a_first_read_that_fails_is_the_trials_error() {
    let mut rig = Rig::new(Script::constant(MS).failing(0, 0, Err(EIO)));
    let mut led = in_span(100);
    led.manner.lead_read = true;
    let end = rig.trial(&led, CONTEXT);
    let [error] = end.trial.errors[..] else {
        panic!("{:?}", end.trial.errors)
    };
    assert_eq!(end.failure, Some(Failure::Operation(error)));
    assert_eq!((error.offset_bytes, error.errno), (0, EIO));
    assert_eq!(rig.log().submitted.len(), 1);
    assert!(!end.trial.is_whole());
}

#[test]
fn a_rest_lets_time_pass_and_the_pulse_beat() {
    let mut rig = Rig::new(Script::constant(MS));
    let mut rested = in_span(100);
    rested.manner.rest_ns = 1950 * MS;
    let (before, _) = rig.pulse.reading();
    let trial = rig.trial(&rested, CONTEXT).trial;
    assert_eq!((trial.started_ns, trial.span_ns), (1950 * MS, 17 * MS));
    assert_eq!(rig.log().submitted[0].1, ORIGIN_NS + 1950 * MS);
    let (after, _) = rig.pulse.reading();
    assert!(after - before >= 20 + 17, "the watch sees progress");
}

#[test]
fn a_stop_ends_a_rest_within_a_tenth_of_a_second() {
    let mut rig = Rig::new(Script::constant(MS));
    rig.stop_at_ns = Some(ORIGIN_NS + 730 * MS);
    let mut rested = in_span(0);
    rested.manner.rest_ns = 60_000 * MS;
    let end = rig.trial(&rested, CONTEXT);
    assert_eq!(end.failure, Some(Failure::Stopped));
    assert_eq!(end.trial.stopped_by, StopReason::Interrupted);
    assert_eq!(end.trial.started_ns, 800 * MS);
    assert!(rig.log().submitted.is_empty());
    assert_eq!(rig.log().flushes_count, 0);
}

#[test]
fn the_more_lies_in_the_page_cache_the_longer_a_flush_may_take() {
    // 64 MiB in pieces of 8 MiB: nine time limits.
    let with = |access: Access, sync_ns: u64| {
        let mut rig = Rig::new(syncing(sync_ns));
        let mut cached = in_span(0);
        cached.block_bytes = MIB;
        cached.span_bytes = 64 * MIB;
        cached.stop.most_bytes = Some(64 * MIB);
        cached.manner.access = access;
        let context = TrialContext {
            limit_ns: 100 * MS,
            ..CONTEXT
        };
        let failure = rig.trial(&cached, context).failure;
        assert_eq!(rig.pulse.limits_count(), 1, "only for this wait");
        (failure, rig.log().limits.clone())
    };
    assert_eq!(with(Access::Cached, 900 * MS), (None, vec![1, 9]));
    let (failure, _) = with(Access::Cached, 900 * MS + 1);
    assert!(
        matches!(failure, Some(Failure::NoAnswer { .. })),
        "{failure:?}"
    );
    // Without the page cache no data is left to be written.
    assert_eq!(with(Access::Direct, 100 * MS), (None, vec![1, 1]));
    let (failure, _) = with(Access::Direct, 100 * MS + 1);
    assert!(
        matches!(failure, Some(Failure::NoAnswer { .. })),
        "{failure:?}"
    );
}

#[test]
fn writing_the_file_before_the_clock_may_take_as_long() {
    let mut rig = Rig::new(Script::constant(MS));
    let mut written = in_span(100);
    written.span_bytes = 80 * MIB;
    written.manner.start = Start::Written;
    rig.trial(&written, CONTEXT);
    assert_eq!(rig.log().limits, [11, 1]);
}

#[test]
fn what_is_written_before_the_clock_counts_as_written_and_not_as_measured() {
    let mut script = Script::constant(MS);
    script.written_bytes = 7 * MIB;
    let mut rig = Rig::new(script);
    let read = rig.trial(&in_span(100), CONTEXT).trial;
    assert_eq!((read.bytes(), read.written_bytes), (MIB, 7 * MIB));
    assert_eq!(read.untimed_bytes, 0, "the counters are read after it");
    let write = rig.trial(&in_span(0), CONTEXT).trial;
    assert_eq!(write.written_bytes, 8 * MIB);
}

#[test]
fn a_disk_without_a_node_is_told_and_the_others_go_on() {
    let mut disk = sequential("disk", 100);
    disk.manner.object = Object::Disk;
    let suite = list(vec![disk, sequential("own", 100)], Passes::Count(1));
    let mut script = Script::constant(MS);
    script.prepare = Box::new(|trial| {
        if trial == 0 {
            Err(Errno::NOENT)
        } else {
            Ok(())
        }
    });
    let outcome = Rig::new(script).run(&plan(&suite));
    assert_eq!(outcome.trials.len(), 2);
    let finding = &outcome.findings[0];
    assert_eq!(finding.kind, FindingKind::NotApplicable);
    assert!(outcome.is_complete(), "{finding:?}");
}
