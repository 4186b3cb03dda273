use cardmark_core::{
    Flush, LatencyHistogram, MIB, Manner, Order, Payload, Rounds, SECOND_NS, StopReason, StopRule,
    StreamTotals, Suite, TargetKind, TargetNeed, Trial, Workload,
};
use cardmark_engine::{Request, TargetRoom, make_plan};

use super::*;
use crate::voice::Silent;

const FILE_BYTES: u64 = 200 * MIB;

fn workload() -> Workload {
    Workload {
        id: "seq_write_1m".to_owned(),
        read_share_percent: 0,
        order: Order::Sequential,
        block_bytes: MIB,
        queue_depth: 1,
        span_bytes: FILE_BYTES,
        flush: Flush::AfterTrial,
        payload: Payload::Incompressible,
        ramp_ns: 0,
        stop: StopRule {
            least_span_ns: SECOND_NS,
            least_operations_count: 1,
            ..StopRule::default()
        },
        latency_metrics: false,
        manner: Manner::default(),
        procedure: None,
        rounds: Rounds::default(),
    }
}

/// A plan that is announced as 50 s of rounds and 200 MiB at 20 MB/s: 60.5 s.
fn plan(layout: &str) -> Plan {
    let suite = Suite {
        name: "test".to_owned(),
        version: 1,
        digest: None,
        summary: String::new(),
        file_bytes: FILE_BYTES,
        layout: layout.to_owned(),
        layout_trials_count: 1,
        looks: vec![1],
        goal_percent: 3.0,
        budget_ns: 50 * SECOND_NS,
        workloads: vec![workload()],
        needs: TargetNeed::Any,
        passes: None,
        longest_ns: 0,
        read_back_bytes: 0,
        figures: Vec::new(),
        score: None,
        tiers: Vec::new(),
        deviations: Vec::new(),
    };
    let room = TargetRoom::disk(TargetKind::Sim, 1 << 33);
    make_plan(&suite, &Request::default(), room).unwrap()
}

fn layout_trial(bytes: u64) -> Trial {
    Trial {
        id: 0,
        workload: workload().into(),
        round_index: 0,
        layout: true,
        started_ns: 0,
        span_ns: SECOND_NS,
        streams: vec![StreamTotals {
            bytes,
            ..StreamTotals::default()
        }],
        latency: LatencyHistogram::default(),
        slice_span_ns: SECOND_NS,
        slices: Vec::new(),
        device_counters: None,
        untimed_bytes: 0,
        untimed: None,
        written_bytes: bytes,
        flush_span_ns: None,
        windows: Vec::new(),
        errors: Vec::new(),
        stopped_by: StopReason::Goal,
    }
}

#[test]
fn a_time_that_differs_by_a_fifth_is_corrected() {
    let plan = plan("seq_write_1m");
    let at = |mb_per_s: u64| corrected(&plan, 8 * mb_per_s * 1_000_000, Duration::from_secs(8));
    assert_eq!(
        at(2).unwrap(),
        "this target writes 2.00 MB/s: it takes about 2 min 35 s in all"
    );
    // 73.3 s are 1.21 times what was announced, 71 s are 1.17 times.
    assert!(at(9).is_some());
    assert_eq!(at(10), None);
    assert_eq!(at(20), None);
    assert_eq!(at(0), None);
}

#[test]
fn a_layout_is_looked_at_after_eight_seconds_within_a_piece() {
    let (pulse, begin) = (Pulse::new(), Instant::now());
    pulse.beat();
    let mut layout = Layout {
        bytes: 100,
        span: Duration::from_secs(3),
        piece: Some((begin, pulse.reading().0)),
        is_over: false,
    };
    for _ in 0..5 {
        pulse.beat();
    }
    let at_ms =
        |layout: &Layout, ms: u64| layout.so_far(begin + Duration::from_millis(ms), &pulse, 10);
    assert_eq!(at_ms(&layout, 4_999), None);
    assert_eq!(at_ms(&layout, 5_000), Some((150, Duration::from_secs(8))));
    layout.piece = None;
    assert_eq!(at_ms(&layout, 60_000), None);
}

#[test]
fn pieces_of_the_layout_add_up_and_other_trials_do_not() {
    let (mut inner, pulse) = (Silent, Arc::new(Pulse::new()));
    let mut announced = Announced::around(&mut inner, &Silent, &pulse);
    let plan = plan("seq_write_1m");
    let started = |layout: bool| Event::TrialStarted {
        workload: "seq_write_1m",
        round_index: 0,
        expected_ns: 0,
        remaining_ns: 0,
        layout,
        operations_count: None,
        longest_ns: None,
    };
    announced.event(&Event::Started { plan: &plan });
    for bytes in [7, 5] {
        announced.event(&started(true));
        assert!(announced.thread.is_some() && announced.lock().piece.is_some());
        let trial = layout_trial(bytes);
        announced.event(&Event::TrialEnded { trial: &trial });
        assert!(announced.lock().piece.is_none());
    }
    let other = Trial {
        layout: false,
        ..layout_trial(1_000)
    };
    announced.event(&Event::TrialEnded { trial: &other });
    assert_eq!(announced.lock().bytes, 12);
    assert!(
        announced.lock().span > Duration::ZERO,
        "the pieces took time"
    );
    assert!(!announced.lock().is_over);
    announced.event(&started(false));
    assert!(announced.lock().is_over && announced.thread.is_none());
}

#[test]
fn a_plan_without_a_layout_is_not_looked_at() {
    let (mut inner, pulse) = (Silent, Arc::new(Pulse::new()));
    let mut announced = Announced::around(&mut inner, &Silent, &pulse);
    announced.event(&Event::Started { plan: &plan("") });
    assert!(announced.plan.is_none() && announced.thread.is_none());
}
