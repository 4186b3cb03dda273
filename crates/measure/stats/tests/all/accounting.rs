//! Contradictions within a record of two trials, calculated by hand.

use cardmark_core::{METHOD, Offsets, Order, Record, Slice, Trial, TrialDraws, Untimed};
use cardmark_stats::{DiscrepancyKind, accounts, discrepancies};

use crate::support::{latencies, record, trial, workload};

const SEED: u64 = 7;
/// Operations of a trial, one every 200 ms: every other slice is empty.
const COUNT: u64 = 5;
const STEP_NS: u64 = 200_000_000;

fn honest(id: u32) -> Trial {
    honest_of(id, COUNT, STEP_NS)
}

/// A trial as the loop makes it, without ramp, with `count` operations that follow each other.
fn honest_of(id: u32, count: u64, step_ns: u64) -> Trial {
    let mut all = workload("rand_write_4k", 4096);
    all.stop.least_span_ns = count * step_ns;
    let draws = TrialDraws {
        seed: SEED,
        id,
        ..TrialDraws::default()
    };
    let mut offsets = Offsets::new(&all, draws);
    let steps = std::iter::repeat_n(step_ns, usize::try_from(count).unwrap());
    let mut trial = trial(id, count, latencies(steps));
    trial.workload = all.into();
    trial.untimed = Some(Untimed::default());
    trial.span_ns = count * step_ns;
    trial.streams[0].span_ns = trial.span_ns;
    let slice_at = |number: u64| usize::try_from(number * step_ns / trial.slice_span_ns).unwrap();
    trial.slices = vec![Slice::default(); slice_at(count) + 1];
    for number in 1..=count {
        trial.slices[slice_at(number)] = Slice(4096, 1, step_ns, Some(offsets.next_offset()));
    }
    trial
}

fn honest_record() -> Record {
    let mut record = record(vec![honest(0), honest(1)]);
    record.method = Some(METHOD);
    record.seed = Some(format!("{SEED:016x}"));
    record.written_bytes = 2 * COUNT * 4096;
    record
}

#[test]
fn an_honest_record_contradicts_nothing() {
    assert_eq!(discrepancies(&honest_record()), []);
}

/// 4,096 full slices would have been merged; with a last one that is not full they are not.
#[test]
fn a_trial_just_before_its_slices_are_merged_contradicts_nothing() {
    let trial = honest_of(0, 4095, 100_010_000);
    assert_eq!(trial.slices.len(), 4096);
    let mut record = honest_record();
    record.written_bytes = trial.written_bytes;
    record.trials = vec![trial];
    assert_eq!(discrepancies(&record), []);
    record.trials[0].slices.push(Slice::default());
    assert_ne!(discrepancies(&record), []);
}

#[test]
fn one_changed_number_is_a_contradiction() {
    use DiscrepancyKind::{Accounting, Order, Seed};
    type Change = fn(&mut Record);
    let changes: [(DiscrepancyKind, Change); 14] = [
        (Accounting, |r| r.trials[0].streams[0].operations_count += 1),
        (Accounting, |r| r.trials[0].streams[0].bytes += 1),
        (Accounting, |r| r.trials[0].latency.sum_ns += 1),
        (Accounting, |r| r.trials[0].latency.max_ns += 1),
        (Accounting, |r| r.trials[0].span_ns -= 1),
        (Accounting, |r| r.trials[0].slices[2].2 -= 1),
        (Accounting, |r| r.trials[0].slices.swap(3, 4)),
        (Accounting, |r| r.trials[0].written_bytes += 4096),
        (Accounting, |r| r.trials[0].slice_span_ns *= 2),
        (Accounting, |r| r.written_bytes -= 1),
        (Order, |r| r.trials[1].started_ns = 999_999_999),
        (Order, |r| r.trials[1].round_index = 0),
        (Order, |r| r.trials.truncate(0)),
        (Seed, |r| r.seed = Some("8".to_owned())),
    ];
    for (index, (kind, change)) in changes.into_iter().enumerate() {
        let mut record = honest_record();
        change(&mut record);
        if record.trials.is_empty() {
            record.trials = vec![honest(1)];
        }
        let found = discrepancies(&record);
        assert!(
            found.iter().any(|one| one.kind == kind),
            "{index}: {found:?}"
        );
    }
}

#[test]
fn operations_before_the_clock_fill_the_ramp() {
    let accounting = |change: fn(&mut Untimed)| {
        let mut record = honest_record();
        let trial = &mut record.trials[0];
        trial.workload.ramp_ns = 2 * STEP_NS;
        trial.untimed_bytes = 2 * 4096;
        trial.written_bytes += 2 * 4096;
        record.written_bytes += 2 * 4096;
        let mut untimed = Untimed {
            ramp_span_ns: 2 * STEP_NS,
            ramp_operations_count: 2,
            ramp_longest_ns: STEP_NS,
            ..Untimed::default()
        };
        change(&mut untimed);
        record.trials[0].untimed = Some(untimed);
        let found = discrepancies(&record).into_iter();
        let accounting = found.filter(|one| one.kind == DiscrepancyKind::Accounting);
        let what: Vec<String> = accounting.map(|one| one.what).collect();
        what.join("; ")
    };
    assert_eq!(accounting(|_| ()), "");
    let took = accounting(|untimed| untimed.ramp_longest_ns /= 2);
    assert!(took.contains("before the clock took"), "{took}");
    let early = accounting(|untimed| {
        untimed.ramp_longest_ns /= 2;
        untimed.ramp_span_ns /= 2;
    });
    assert!(early.contains("the clock started after"), "{early}");
}

#[test]
fn operations_in_flight_bound_the_latencies() {
    let mut record = honest_record();
    for trial in &mut record.trials {
        trial.workload.queue_depth = 2;
    }
    let found = discrepancies(&record);
    let what: Vec<String> = found.iter().map(ToString::to_string).collect();
    let needs = "latencies add up to 1000000000 ns, but 2 in flight need 2000000000 ns";
    assert!(what.iter().any(|what| what.ends_with(needs)), "{what:?}");
}

#[test]
fn records_of_older_methods_follow_other_rules() {
    let mut record = honest_record();
    record.method = Some(METHOD - 1);
    record.trials[0].span_ns = 1;
    assert_eq!(discrepancies(&record).len(), 1);
    for trial in &mut record.trials {
        trial.untimed = None;
    }
    assert_eq!(discrepancies(&record), []);
}

/// Numbers of a hostile file overflow nothing and take no time.
#[test]
fn the_largest_numbers_are_contradictions() {
    let mut record = honest_record();
    let trial = &mut record.trials[0];
    trial.span_ns = u64::MAX;
    trial.started_ns = u64::MAX;
    trial.written_bytes = u64::MAX;
    trial.untimed_bytes = u64::MAX;
    trial.streams[0].operations_count = u64::MAX;
    trial.streams[0].bytes = u64::MAX;
    trial.slices = vec![Slice(u64::MAX, u64::MAX, u64::MAX, Some(u64::MAX)); 2];
    trial.latency.max_ns = u64::MAX;
    trial.slice_span_ns = 0;
    assert!(!discrepancies(&record).is_empty());
}

#[test]
fn trials_at_random_places_are_counted() {
    let drawn = |change: fn(&mut Record)| {
        let mut record = honest_record();
        change(&mut record);
        accounts(&record).drawn_trials_count
    };
    assert_eq!(drawn(|_| ()), 2);
    // Nothing is compared in these.
    assert_eq!(drawn(|record| record.seed = None), 0);
    assert_eq!(drawn(|record| record.method = Some(METHOD - 1)), 0);
    for order in [Order::Sequential, Order::Permuted, Order::Spread] {
        let mut record = honest_record();
        record.trials[0].workload.order = order;
        assert_eq!(accounts(&record).drawn_trials_count, 1, "{order:?}");
    }
    let without = |record: &mut Record| {
        let slices = record.trials[1].slices.iter_mut();
        slices.for_each(|slice| slice.3 = None);
    };
    assert_eq!(drawn(without), 1);
}
