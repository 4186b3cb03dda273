//! Tiers: size, duration and position of a procedure's workloads.

use cardmark_core::{
    CardFacts, Figure, FigureOf, KIB, MIB, Passes, Region, SECOND_NS, Start, Suite, TargetKind,
    TargetNeed, Tier, TierPart, Window, Workload,
};
use cardmark_engine::{Plan, PlanError, Request, TargetRoom, Units, make_plan};

use crate::suite_rules::broken_rule;
use crate::support::{CONTEXT, EIO, LIMIT_NS, MS, Rig, Script, list, sequential, workload};

const CARD_BYTES: u64 = 1000 * MIB + 4096;

fn part(workload: &str, span_bytes: Option<u64>, percent: Option<u8>) -> TierPart {
    TierPart {
        workload: workload.to_owned(),
        span_bytes,
        span_percent: percent,
        least_span_ns: None,
    }
}

/// Fills the target, writes a region in it and reads there; fills it again, writes windows at a drawn
/// position and reads them.
fn procedure() -> Suite {
    let at = |region, mut workload: Workload| {
        workload.manner.region = region;
        workload.ramp_ns = 0;
        workload.span_bytes = 0;
        workload.stop.most_bytes = Some(0);
        workload
    };
    let mut fill = at(Region::Front, sequential("fill", 0));
    fill.manner.start = Start::Erased;
    let again = Workload {
        id: "fill_again".to_owned(),
        ..fill.clone()
    };
    let mut windows = at(Region::DrawnAligned, sequential("windows", 0));
    windows.manner.window_bytes = MIB;
    windows.manner.video_window_bytes = 3 * MIB;
    let mut read = at(Region::Same, workload("read"));
    read.stop.most_bytes = None;
    let workloads = vec![
        fill,
        at(Region::Drawn, sequential("region", 0)),
        read,
        again,
        windows,
        at(Region::Same, sequential("read_windows", 100)),
    ];
    let tier = |name: &str, needs, parts| Tier {
        name: name.to_owned(),
        needs,
        file_bytes: 64 * MIB,
        is_full: false,
        parts,
        deviations: vec!["it is a test".to_owned()],
    };
    let timed = TierPart {
        least_span_ns: Some(2 * SECOND_NS),
        ..part("read", Some(8 * MIB), None)
    };
    let half = vec![
        part("fill", None, Some(75)),
        part("region", Some(8 * MIB), None),
        timed,
        part("fill_again", None, Some(100)),
        part("windows", Some(12 * MIB), None),
        part("read_windows", Some(12 * MIB), None),
    ];
    let small = vec![part("windows", Some(64 * MIB), None)];
    let figure = |id: &str, of| Figure {
        id: id.to_owned(),
        workload: id.to_owned(),
        of,
        printed: None,
        least: None,
        weight: None,
    };
    let suite = Suite {
        file_bytes: 64 * MIB,
        figures: vec![
            figure("read", FigureOf::Operations),
            figure("windows", FigureOf::WorstWindow),
        ],
        tiers: vec![
            tier("half", TargetNeed::Device, half),
            tier("small", TargetNeed::Directory, small),
        ],
        ..list(workloads, Passes::Count(1))
    };
    assert_eq!(broken_rule(&suite), None);
    suite
}

fn planned(seed: u64, only: &[&str], place: TargetRoom) -> Result<Plan, PlanError> {
    let request = Request {
        seed,
        limit_ns: LIMIT_NS,
        only: only.iter().map(|&id| id.to_owned()).collect(),
        ..Request::default()
    };
    make_plan(&procedure(), &request, place)
}

fn card() -> TargetRoom {
    TargetRoom::disk(TargetKind::Device, CARD_BYTES)
}

fn ids(plan: &Plan) -> Vec<&str> {
    plan.workloads.iter().map(|w| w.id.as_str()).collect()
}

#[test]
fn shares_are_whole_blocks_of_the_target_and_regions_lie_in_what_was_filled() {
    let mut starts = Vec::new();
    for seed in 0..200 {
        let plan = planned(seed, &[], card()).unwrap();
        assert_eq!(plan.suite_ref.tier.as_deref(), Some("half"));
        assert!(plan.suite_ref.only.is_empty());
        let spans: Vec<u64> = plan.workloads.iter().map(|w| w.span_bytes).collect();
        let whole = 1000 * MIB;
        assert_eq!(
            spans,
            [750 * MIB, 8 * MIB, 8 * MIB, whole, 12 * MIB, 12 * MIB]
        );
        let start = |index: usize| plan.workloads[index].manner.start_bytes;
        assert_eq!((start(0), start(3)), (0, 0));
        assert_eq!(start(1), start(2));
        assert_eq!(start(4), start(5));
        assert_eq!(start(1) % 4096, 0);
        assert!(start(1) + 8 * MIB <= 750 * MIB);
        // A multiple of both windows.
        assert_eq!(start(4) % (3 * MIB), 0);
        assert!(start(4) + 12 * MIB <= whole);
        starts.push((start(1), start(4)));
        let again = planned(seed, &[], card()).unwrap();
        assert_eq!(again.workloads, plan.workloads);
    }
    let (small, large): (Vec<u64>, Vec<u64>) = starts.into_iter().unzip();
    for drawn in [small, large] {
        assert!(drawn.iter().any(|&at| at < 100 * MIB));
        assert!(drawn.iter().any(|&at| at > 600 * MIB));
    }
}

#[test]
fn the_target_decides_where_no_tier_is_asked_for() {
    let directory = TargetRoom {
        kind: TargetKind::Directory,
        usable_bytes: u64::MAX,
        disk_bytes: None,
        units: Units::default(),
    };
    let plan = planned(1, &[], directory).unwrap();
    assert_eq!(plan.suite_ref.tier.as_deref(), Some("small"));
    assert_eq!(plan.suite.file_bytes, 64 * MIB);
    assert_eq!(plan.workloads[0].span_bytes, 64 * MIB);
    let small = TargetRoom::disk(TargetKind::Device, 63 * MIB);
    let error = planned(1, &[], small).unwrap_err();
    assert!(matches!(error, PlanError::TooSmall { .. }), "{error}");
    let asked = |tier: &str, place| {
        let request = Request {
            tier: Some(tier.to_owned()),
            ..Request::default()
        };
        make_plan(&procedure(), &request, place)
    };
    let wrong = asked("small", card()).unwrap_err();
    assert!(matches!(wrong, PlanError::WrongTarget { .. }), "{wrong}");
    let unknown = asked("best", card()).unwrap_err().to_string();
    assert_eq!(
        unknown,
        "suite `test` has no tier `best`; it has half, small"
    );
}

#[test]
fn what_is_asked_for_alone_is_prepared_too() {
    let plan = planned(1, &["read"], card()).unwrap();
    assert_eq!(ids(&plan), ["fill", "region", "read"]);
    assert_eq!(plan.suite_ref.only, ["read"]);
    let whole = planned(1, &[], card()).unwrap();
    assert_eq!(plan.workloads[..], whole.workloads[..3]);
    let request = Request {
        only: vec!["read".to_owned()],
        ..Request::default()
    };
    assert!(request.writes(&procedure()));
}

#[test]
fn windows_are_those_of_the_card() {
    let facts = |allocation: u64, video: u64| CardFacts {
        allocation_unit_bytes: Some(allocation),
        video_allocation_unit_bytes: Some(video),
        ..CardFacts::default()
    };
    for (allocation, video, window_bytes, video_window_bytes) in [
        (2 * MIB, 21 * MIB, 2 * MIB, 7 * MIB),
        (4 * MIB, 27 * MIB, 4 * MIB, 9 * MIB),
        (16 * MIB, 30 * MIB, 4 * MIB, 10 * MIB),
        (64 * MIB, 64 * MIB, 4 * MIB, 8 * MIB),
    ] {
        let units = Units::of(&facts(allocation, video));
        let plan = planned(3, &["windows"], card().with_units(units)).unwrap();
        let manner = plan.workloads[1].manner;
        assert_eq!(manner.window_bytes, window_bytes);
        assert_eq!(manner.video_window_bytes, video_window_bytes);
        assert_eq!(manner.start_bytes % window_bytes, 0);
        assert_eq!(manner.start_bytes % video_window_bytes, 0);
    }
    // Smaller than the block size: the suite's own window applies.
    let units = Units::of(&facts(16 * KIB, 0));
    let plan = planned(3, &["windows"], card().with_units(units)).unwrap();
    assert_eq!(plan.workloads[1].manner.window_bytes, MIB);
}

#[test]
fn operations_lie_in_their_region() {
    let plan = planned(5, &[], card()).unwrap();
    let mut rig = Rig::new(Script::constant(MS));
    let outcome = rig.run(&plan);
    assert!(outcome.is_complete(), "{:?}", outcome.findings);
    for log in &rig.backend.trials {
        let (start, span) = (log.workload.manner.start_bytes, log.workload.span_bytes);
        let offsets = log.offsets();
        assert!(offsets.iter().all(|at| (start..start + span).contains(at)));
        if log.workload.id != "read" {
            let blocks = 0..span / log.workload.block_bytes;
            let all: Vec<u64> = blocks
                .map(|b| start + b * log.workload.block_bytes)
                .collect();
            assert_eq!(offsets, all);
        }
    }
    // Erasing a part of a device gets several time limits; everything else gets one.
    let limits: Vec<_> = rig.backend.trials.iter().map(|log| log.limits[0]).collect();
    assert_eq!(limits, [4, 1, 1, 4, 1, 1]);
    let read = &outcome.trials[2];
    assert!(read.span_ns >= 2 * SECOND_NS && read.span_ns < 3 * SECOND_NS);
    let written: u64 = outcome.trials.iter().map(|trial| trial.written_bytes).sum();
    assert_eq!(written, plan.wear().bytes);
}

/// A MiB consists of 16 operations of 1 ms, except for one of 5 ms and one of 9 ms.
#[test]
fn windows_are_timed_exactly() {
    let mut windows = sequential("windows", 0);
    windows.ramp_ns = 0;
    windows.span_bytes = 10 * MIB + 64 * KIB;
    windows.stop.most_bytes = Some(windows.span_bytes);
    windows.manner.start_bytes = 40 * MIB;
    windows.manner.window_bytes = MIB;
    windows.manner.video_window_bytes = 4 * MIB;
    let script = Script::of(|call| match call.number {
        // The last of window 3, and the first of window 7.
        63 => 5 * MS,
        112 => 9 * MS,
        _ => MS,
    });
    let mut rig = Rig::new(script);
    let trial = rig.trial(&windows, CONTEXT).trial;
    let [small, large] = &trial.windows[..] else {
        panic!("{:?}", trial.windows);
    };
    assert_eq!((small.window_bytes, small.windows_count), (MIB, 10));
    assert_eq!((large.window_bytes, large.windows_count), (4 * MIB, 2));
    let window = |mib: u64, ms: u64| Window {
        start_bytes: mib * MIB,
        span_ns: ms * MS,
    };
    assert_eq!(small.slowest[..2], [window(47, 24), window(43, 20)]);
    assert!(small.slowest[2..].iter().all(|w| w.span_ns == 16 * MS));
    assert_eq!(small.slowest.len(), 10);
    assert_eq!(large.slowest, [window(44, 72), window(40, 68)]);
}

#[test]
fn only_the_slowest_windows_are_kept() {
    let mut windows = sequential("windows", 0);
    windows.ramp_ns = 0;
    windows.span_bytes = 100 * MIB;
    windows.stop.most_bytes = Some(windows.span_bytes);
    windows.manner.window_bytes = 64 * KIB;
    // Durations rise and fall, and none occurs twice.
    let script = Script::of(|call| MS + call.number * 7919 % 1600 * 1000);
    let mut rig = Rig::new(script);
    let trial = rig.trial(&windows, CONTEXT).trial;
    assert_eq!(trial.windows[0].windows_count, 1600);
    let spans: Vec<u64> = trial.windows[0].slowest.iter().map(|w| w.span_ns).collect();
    let expected: Vec<u64> = (1584..1600).rev().map(|step| MS + step * 1000).collect();
    assert_eq!(spans, expected);
}

#[test]
fn after_a_failure_the_rest_waits_for_the_next_preconditioning() {
    for (failing, expected) in [
        (0, &["fill", "fill_again", "windows", "read_windows"][..]),
        (
            1,
            &["fill", "region", "fill_again", "windows", "read_windows"],
        ),
        (4, &["fill", "region", "read", "fill_again", "windows"]),
    ] {
        let plan = planned(1, &[], card()).unwrap();
        let mut rig = Rig::new(Script::constant(MS).failing(failing, 3, Err(EIO)));
        let outcome = rig.run(&plan);
        let ids: Vec<&str> = outcome
            .trials
            .iter()
            .map(|t| t.workload.id.as_str())
            .collect();
        assert_eq!(ids, expected);
        assert!(!outcome.is_complete());
    }
}
