//! Counts of a trial: exact if service times are.

use cardmark_core::{Flush, KIB, MIB, StopReason, StopRule, Workload};
use cardmark_engine::{OpKind, TrialContext};

use crate::oracle::assert_agrees;
use crate::support::{Call, MS, ORIGIN_NS, Rig, Script, sequential, workload};

const CONTEXT: TrialContext = TrialContext {
    id: 3,
    round_index: 2,
    layout: false,
    run_started_ns: ORIGIN_NS,
    seed: 1,
    next_block: 0,
    limit_ns: 0,
};

#[test]
fn one_after_the_other_is_exact() {
    let mut rig = Rig::new(Script::constant(MS));
    let end = rig.trial(&workload("rand_read"), CONTEXT);
    assert_eq!(end.failure, None);
    let trial = end.trial;
    assert_eq!((trial.id, trial.round_index, trial.layout), (3, 2, false));
    assert_eq!(trial.stopped_by, StopReason::Goal);
    assert_eq!(
        (trial.started_ns, trial.span_ns),
        (10 * MS, 100 * MS),
        "the ramp is outside"
    );
    assert_eq!((trial.operations_count(), trial.bytes()), (100, 400 * KIB));
    assert_eq!((trial.latency.min_ns, trial.latency.max_ns), (MS, MS));
    assert_eq!(trial.latency.sum_ns, 100 * MS);
    assert_eq!(
        trial.untimed_bytes,
        40 * KIB,
        "the ramp; the drain was empty"
    );
    assert_eq!((trial.written_bytes, trial.flush_span_ns), (0, None));
    assert_eq!(trial.device_counters.unwrap().read_bytes, 440 * KIB);
    assert_agrees(&trial, rig.log());
}

#[test]
fn deep_queues_are_exact_on_any_number_of_channels() {
    // Completions within the span: one round of all channels each millisecond.
    for (channels, ramp) in [(1, 40), (2, 20), (4, 10), (32, 10)] {
        let mut rig = Rig::new(Script::constant(MS).channels(channels));
        let deep = Workload {
            queue_depth: 32,
            ramp_ns: ramp * MS,
            ..workload("rand_read")
        };
        let trial = rig.trial(&deep, CONTEXT).trial;
        let channels = channels as u64;
        // Complete turns of the queue from 100 ms on.
        let operations = (100 * channels).next_multiple_of(32);
        let span_ns = operations / channels * MS;
        assert_eq!((trial.started_ns, trial.span_ns), (ramp * MS, span_ns));
        assert_eq!(trial.operations_count(), operations);
        // In a full queue an operation waits for all before it: 32 of them, served `channels` at a time.
        let sojourn_ns = 32 / channels * MS;
        assert_eq!(
            (trial.latency.min_ns, trial.latency.max_ns),
            (sojourn_ns, sojourn_ns)
        );
        // One completion ends the ramp; the others at that moment are timed already.
        let ramped = (ramp - 1) * channels + 1;
        assert_eq!(
            trial.untimed_bytes,
            (ramped + 31) * 4 * KIB,
            "ramp and drain"
        );
        assert_agrees(&trial, rig.log());
    }
}

#[test]
fn what_is_in_flight_at_the_start_counts_and_at_the_end_does_not() {
    let mut rig = Rig::new(Script::constant(10 * MS).channels(4));
    let four = Workload {
        queue_depth: 4,
        ramp_ns: 0,
        stop: StopRule {
            least_span_ns: 30 * MS,
            least_operations_count: 1,
            most_bytes: None,
            longest_span_ns: None,
            ..StopRule::default()
        },
        ..workload("rand_read")
    };
    let trial = rig.trial(&four, CONTEXT).trial;
    // 4 at 10 ms, 4 at 20 ms; the last of those at 30 ms ends the trial.
    assert_eq!((trial.operations_count(), trial.span_ns), (12, 30 * MS));
    assert_eq!(trial.untimed_bytes, 3 * 4 * KIB);
    assert_eq!(
        rig.log().submitted.len(),
        15,
        "no operation starts at the end"
    );
    assert_agrees(&trial, rig.log());
    // Here operations begun in the ramp are still in flight when it ends.
    let mut rig = Rig::new(Script::of(
        |call| if call.number == 0 { MS } else { 10 * MS },
    ));
    let two = Workload {
        queue_depth: 2,
        ramp_ns: MS,
        ..four
    };
    let trial = rig.trial(&two, CONTEXT).trial;
    assert_eq!(trial.started_ns, 11 * MS, "once the queue has turned over");
    assert_eq!(
        trial.latency.min_ns,
        20 * MS,
        "counted from its own submission, in the ramp"
    );
    assert_agrees(&trial, rig.log());
}

#[test]
fn both_minima_must_be_reached() {
    for (span_ns, operations, expected) in [(5 * MS, 34, 34), (50 * MS, 34, 50), (0, 0, 1)] {
        let mut rig = Rig::new(Script::constant(MS));
        let stop = StopRule {
            least_span_ns: span_ns,
            least_operations_count: operations,
            most_bytes: None,
            longest_span_ns: None,
            ..StopRule::default()
        };
        let trial = rig
            .trial(
                &Workload {
                    stop,
                    ..workload("rand_read")
                },
                CONTEXT,
            )
            .trial;
        assert_eq!(
            (trial.operations_count(), trial.span_ns),
            (expected, expected * MS)
        );
        assert_agrees(&trial, rig.log());
    }
}

/// Writes exactly this number of bytes.
fn exact(queue_depth: u32, most_bytes: u64) -> Workload {
    let mut exact = Workload {
        queue_depth,
        ramp_ns: 0,
        ..sequential("seq_write", 0)
    };
    exact.stop.most_bytes = Some(most_bytes);
    exact
}

#[test]
fn exact_work_ends_with_its_last_completion() {
    for (depth, channels) in [(1, 1), (32, 4), (32, 1)] {
        let mut rig = Rig::new(Script::constant(MS).channels(channels));
        let trial = rig.trial(&exact(depth, MIB), CONTEXT).trial;
        assert_eq!(
            (trial.bytes(), trial.written_bytes, trial.untimed_bytes),
            (MIB, MIB, 0)
        );
        assert_eq!(
            (trial.started_ns, trial.span_ns),
            (0, 16 / channels as u64 * MS)
        );
        assert_agrees(&trial, rig.log());
    }
    // The slowest is submitted first; the trial waits for it.
    let mut rig =
        Rig::new(Script::of(|call| if call.number == 0 { 90 * MS } else { MS }).channels(2));
    let trial = rig.trial(&exact(2, MIB), CONTEXT).trial;
    assert_eq!((trial.bytes(), trial.span_ns), (MIB, 90 * MS));
    assert_agrees(&trial, rig.log());
}

#[test]
fn exact_work_smaller_than_the_queue_or_than_the_ramp_ends_too() {
    let mut rig = Rig::new(Script::constant(MS));
    let trial = rig.trial(&exact(32, 3 * 64 * KIB), CONTEXT).trial;
    assert_eq!((trial.operations_count(), trial.span_ns), (3, 3 * MS));
    let mut ramped = exact(4, 5 * 64 * KIB);
    ramped.ramp_ns = 100 * MS;
    for (workload, ramped_bytes) in [(ramped, 5 * 64 * KIB), (exact(4, 0), 0)] {
        let mut rig = Rig::new(Script::constant(MS));
        let end = rig.trial(&workload, CONTEXT);
        assert_eq!(end.failure, None);
        assert_eq!(
            (end.trial.bytes(), end.trial.untimed_bytes),
            (0, ramped_bytes)
        );
        assert!(!end.trial.is_whole(), "no figure uses it");
    }
}

#[test]
fn writes_of_ramp_and_drain_count_as_written() {
    let mut rig = Rig::new(Script::constant(MS).channels(4));
    let deep = Workload {
        read_share_percent: 0,
        queue_depth: 32,
        ..workload("rand_write")
    };
    let trial = rig.trial(&deep, CONTEXT).trial;
    assert_eq!(trial.written_bytes, trial.bytes() + trial.untimed_bytes);
    assert_eq!(trial.written_bytes, (37 + 416 + 31) * 4 * KIB);
    assert_eq!(
        trial.device_counters.unwrap().write_bytes,
        trial.written_bytes
    );
    assert_agrees(&trial, rig.log());
}

#[test]
fn a_fifth_of_a_mixed_workload_reads() {
    let mut rig = Rig::new(Script::constant(MS / 100));
    let mut mixed = Workload {
        read_share_percent: 20,
        ..workload("mixed")
    };
    mixed.stop.least_operations_count = 40_000;
    let trial = rig.trial(&mixed, CONTEXT).trial;
    let reads = trial.streams[0].read_operations_count as f64;
    let share = reads / trial.operations_count() as f64;
    // Deviation of a share of 40,000 draws: 0.2 %; the test allows four of them.
    assert!((share - 0.2).abs() < 0.008, "{share}");
    // Neither order nor offsets reveal the kind of an operation.
    let half = 2 * MIB;
    let low = rig
        .log()
        .submitted
        .iter()
        .filter(|(op, _)| op.offset < half);
    let (all, read) = low.fold((0.0, 0.0), |(all, read), (op, _)| {
        (
            all + 1.0,
            read + f64::from(u8::from(op.kind == OpKind::Read)),
        )
    });
    assert!((read / all - 0.2_f64).abs() < 0.012, "{read} of {all}");
    assert_agrees(&trial, rig.log());
}

#[test]
fn writes_are_made_durable_one_by_one_or_once_outside_the_clock() {
    let cases = [
        (0, Flush::EachOperation, OpKind::WriteSync, None),
        (0, Flush::AfterTrial, OpKind::Write, Some(7 * MS)),
        (100, Flush::AfterTrial, OpKind::Read, None),
        (100, Flush::EachOperation, OpKind::Read, None),
    ];
    for (read_share_percent, flush, kind, flush_span_ns) in cases {
        let mut script = Script::constant(MS);
        script.flush = Box::new(|_| Ok(7 * MS));
        let mut rig = Rig::new(script);
        let one = Workload {
            read_share_percent,
            flush,
            ..workload("one")
        };
        let trial = rig.trial(&one, CONTEXT).trial;
        assert!(rig.log().submitted.iter().all(|(op, _)| op.kind == kind));
        assert_eq!(trial.flush_span_ns, flush_span_ns);
        assert_eq!(rig.log().flushes_count, u32::from(flush_span_ns.is_some()));
        assert_eq!(trial.span_ns, 100 * MS);
        assert_agrees(&trial, rig.log());
    }
}

#[test]
fn slices_show_when_and_where_it_was_slow() {
    // After a ramp of 10 operations, operation 150 takes 120 ms.
    let slow = |number: u64| number == 159;
    let mut rig = Rig::new(Script::of(
        move |call| if slow(call.number) { 120 * MS } else { MS },
    ));
    let mut long = workload("rand_read");
    long.stop.least_span_ns = 450 * MS;
    let trial = rig.trial(&long, CONTEXT).trial;
    let operations: Vec<u64> = trial.slices.iter().map(|slice| slice.1).collect();
    // An operation that ends on a border belongs to the next slice: 1–99 ms, 100–149, 269–299, 300–399,
    // 400–450.
    assert_eq!(trial.slice_span_ns, 100 * MS);
    assert_eq!(operations, [99, 50, 31, 100, 51]);
    let slice = trial.slices[2];
    assert_eq!(
        (slice.2, slice.3),
        (120 * MS, Some(rig.log().submitted[159].0.offset))
    );
    assert_agrees(&trial, rig.log());
}

#[test]
fn without_counters_there_are_none() {
    let mut script = Script::constant(MS);
    script.counted = None;
    let trial = Rig::new(script)
        .trial(&workload("rand_read"), CONTEXT)
        .trial;
    assert_eq!(trial.device_counters, None);
}

#[test]
fn the_pulse_beats_with_every_operation() {
    let mut rig = Rig::new(Script::constant(MS));
    let (before, _) = rig.pulse.reading();
    rig.trial(&workload("rand_read"), CONTEXT);
    let (after, waiting) = rig.pulse.reading();
    assert!(after - before >= 110 && !waiting, "{before} to {after}");
}

/// Writes until the rate has been settled for 5 s, with a minimum number of operations.
fn settling(least_operations_count: u64) -> Workload {
    let mut settling = sequential("write", 0);
    settling.ramp_ns = 0;
    settling.stop = StopRule {
        least_operations_count,
        most_bytes: Some(100_000 * settling.block_bytes),
        longest_span_ns: Some(60_000 * MS),
        settled_span_ns: Some(5_000 * MS),
        ..StopRule::default()
    };
    settling
}

#[test]
fn a_series_ends_once_its_rate_has_settled_and_not_before_its_least() {
    for (least, span_ms) in [(0, 5_000), (5_100, 6_000), (9_000, 9_000)] {
        let mut rig = Rig::new(Script::constant(MS));
        let trial = rig.trial(&settling(least), CONTEXT).trial;
        assert_eq!(trial.span_ns, span_ms * MS, "{least}");
        assert!(trial.is_whole());
        // The span of 64 blocks was repeated many times.
        assert!(trial.bytes() > 70 * 4 * MIB);
        assert_agrees(&trial, rig.log());
    }
}

#[test]
fn a_series_that_never_settles_ends_at_its_limits() {
    // A second at 1 ms, four seconds at 4 ms, and so on.
    let waves = |call: &Call<'_>| match call.number / 1_000 % 2 {
        0 => MS,
        _ => 4 * MS,
    };
    let mut rig = Rig::new(Script::of(waves));
    let trial = rig.trial(&settling(0), CONTEXT).trial;
    assert!(trial.span_ns >= 60_000 * MS && trial.span_ns < 60_005 * MS);
    let mut few = settling(0);
    few.stop.most_bytes = Some(9_000 * few.block_bytes);
    let mut rig = Rig::new(Script::of(waves));
    let trial = rig.trial(&few, CONTEXT).trial;
    assert_eq!(trial.operations_count(), 9_000);
}
