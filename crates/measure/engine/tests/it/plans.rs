//! From a request to a plan.

use cardmark_core::{
    FindingKind, KIB, MIB, Object, Passes, Severity, Start, Suite, TargetKind, TargetNeed, Workload,
};
use cardmark_engine::{Plan, PlanError, Request, TargetRoom, Units, make_plan};

use crate::suite_rules::broken_rule;
use crate::support::{LIMIT_NS, MS, Rig, Script, list, sequential, three, workload};

fn place(kind: TargetKind, usable_bytes: u64, disk_bytes: Option<u64>) -> TargetRoom {
    TargetRoom {
        kind,
        usable_bytes,
        disk_bytes,
        units: Units::default(),
    }
}

fn request(only: &[&str], passes_count: Option<u32>) -> Request {
    Request {
        only: only.iter().map(|&id| id.to_owned()).collect(),
        limit_ns: LIMIT_NS,
        passes_count,
        ..Request::default()
    }
}

/// Reads the whole disk, the whole target, and a piece of it.
fn spans() -> Suite {
    let whole = |id: &str, object: Object| {
        let mut whole = sequential(id, 100);
        whole.span_bytes = 0;
        whole.stop.most_bytes = Some(0);
        whole.manner.object = object;
        whole
    };
    let mut most = whole("most", Object::Target);
    most.stop.most_bytes = Some(MIB);
    let piece = Workload {
        span_bytes: 2 * MIB,
        ..workload("piece")
    };
    let workloads = vec![
        whole("disk", Object::Disk),
        whole("target", Object::Target),
        most,
        piece,
    ];
    let suite = list(workloads, Passes::Count(1));
    assert_eq!(broken_rule(&suite), None);
    suite
}

fn spans_of(plan: &Plan) -> Vec<(&str, u64, Option<u64>)> {
    let workloads = plan.workloads.iter();
    workloads
        .map(|w| (w.id.as_str(), w.span_bytes, w.stop.most_bytes))
        .collect()
}

#[test]
fn a_span_of_zero_is_all_of_the_object_in_whole_blocks() {
    let odd = 16 * MIB + 5 * KIB;
    // The suite sets the size of a directory's file; its disk has a size of its own.
    let directory = place(TargetKind::Directory, u64::MAX, Some(odd));
    let plan = make_plan(&spans(), &request(&[], None), directory).unwrap();
    let expected = [
        ("disk", 16 * MIB, Some(16 * MIB)),
        ("target", 4 * MIB, Some(4 * MIB)),
        ("most", 4 * MIB, Some(MIB)),
        ("piece", 2 * MIB, None),
    ];
    assert_eq!(spans_of(&plan), expected);
    assert!(plan.suite_ref.only.is_empty());
    for kind in [TargetKind::Device, TargetKind::Sim] {
        let plan = make_plan(&spans(), &request(&[], None), TargetRoom::disk(kind, odd)).unwrap();
        let expected = [
            ("disk", 16 * MIB, Some(16 * MIB)),
            ("target", 16 * MIB, Some(16 * MIB)),
            ("most", 16 * MIB, Some(MIB)),
            ("piece", 2 * MIB, None),
        ];
        assert_eq!(spans_of(&plan), expected);
    }
}

#[test]
fn a_span_larger_than_its_disk_is_cut() {
    let mut suite = spans();
    suite.workloads[0].span_bytes = 64 * MIB;
    suite.workloads[0].stop.most_bytes = Some(32 * MIB);
    let small = place(TargetKind::Directory, u64::MAX, Some(16 * MIB));
    let plan = make_plan(&suite, &request(&["disk"], None), small).unwrap();
    assert_eq!(spans_of(&plan), [("disk", 16 * MIB, Some(16 * MIB))]);
}

#[test]
fn what_has_no_object_is_left_out_and_said_to_be_so() {
    let nowhere = place(TargetKind::Directory, u64::MAX, None);
    let tiny = place(TargetKind::Directory, u64::MAX, Some(4 * KIB));
    for place in [nowhere, tiny] {
        let plan = make_plan(&spans(), &request(&[], None), place).unwrap();
        assert_eq!(plan.absent, ["disk"]);
        assert!(plan.suite_ref.only.is_empty(), "it was requested");
        let outcome = Rig::new(Script::constant(MS)).run(&plan);
        assert_eq!(outcome.trials.len(), 3);
        let [finding] = &outcome.findings[..] else {
            panic!("{:?}", outcome.findings)
        };
        assert_eq!(
            (finding.kind, finding.severity, &finding.workloads[..]),
            (
                FindingKind::NotApplicable,
                Severity::Note,
                &["disk".to_owned()][..]
            )
        );
        assert!(
            outcome.is_complete(),
            "no workload that could be measured is missing"
        );
    }
    // Alone, it results in an empty run, without a message about writing.
    let plan = make_plan(&spans(), &request(&["disk"], None), nowhere).unwrap();
    assert_eq!(
        (plan.workloads.len(), &plan.suite_ref.only[..]),
        (0, &["disk".to_owned()][..])
    );
    let outcome = Rig::new(Script::constant(MS)).run(&plan);
    assert_eq!((outcome.trials.len(), outcome.findings.len()), (0, 1));
    assert!(outcome.is_complete());
}

#[test]
fn a_suite_on_another_kind_of_target_is_refused() {
    let on = |needs: TargetNeed, kind: TargetKind| {
        let suite = Suite { needs, ..spans() };
        let place = place(kind, 64 * MIB, Some(64 * MIB));
        make_plan(&suite, &request(&[], None), place).map(|_| ())
    };
    let wrong = |wants| {
        Err(PlanError::WrongTarget {
            suite: "test".to_owned(),
            wants,
        })
    };
    use {TargetKind as Kind, TargetNeed as Need};
    assert_eq!(
        on(Need::Directory, Kind::Device),
        wrong("files in a directory")
    );
    assert_eq!(
        on(Need::Device, Kind::Directory),
        wrong("a whole block device")
    );
    for kind in [Kind::Device, Kind::Sim] {
        let suite = "test".to_owned();
        let refused = PlanError::NoFilesystem { suite, kind };
        assert_eq!(on(Need::Filesystem, kind), Err(refused));
    }
    for (needs, kind) in [
        (Need::Filesystem, Kind::Directory),
        (Need::Directory, Kind::Directory),
        (Need::Device, Kind::Device),
        (Need::Directory, Kind::Sim),
        (Need::Device, Kind::Sim),
        (Need::Any, Kind::Directory),
        (Need::Any, Kind::Device),
    ] {
        assert_eq!(on(needs, kind), Ok(()), "{needs:?} {kind:?}");
    }
}

#[test]
fn only_a_list_can_be_told_how_often() {
    let sim = place(TargetKind::Sim, 64 * MIB, Some(64 * MIB));
    let passes =
        |suite: &Suite| make_plan(suite, &request(&[], Some(3)), sim).map(|plan| plan.suite.passes);
    assert_eq!(passes(&spans()), Ok(Some(Passes::Count(3))));
    let refused = Err(PlanError::OwnPasses {
        suite: "test".to_owned(),
    });
    assert_eq!(passes(&three()), refused);
    let mut until_good = spans();
    until_good.passes = Some(Passes::UntilGood(3));
    assert_eq!(passes(&until_good), refused);
}

#[test]
fn what_makes_the_file_is_run_too_and_yields_no_figure() {
    let mut write = sequential("write", 0);
    write.manner.start = Start::Empty;
    let workloads = vec![write, sequential("rewrite", 0), sequential("read", 100)];
    let suite = list(workloads, Passes::Count(1));
    let only = |kind| {
        let request = Request {
            only: vec!["read".to_owned()],
            ..Request::default()
        };
        make_plan(&suite, &request, TargetRoom::disk(kind, suite.file_bytes)).unwrap()
    };
    let ids =
        |plan: &Plan| -> Vec<String> { plan.workloads.iter().map(|w| w.id.clone()).collect() };
    let plan = only(TargetKind::Sim);
    assert_eq!(ids(&plan), ["write", "read"]);
    assert_eq!(plan.suite_ref.only, ["read"]);
    assert_eq!(
        ids(&only(TargetKind::Device)),
        ["read"],
        "a device exists already"
    );
}

#[test]
fn what_only_reads_asks_for_no_leave_to_write() {
    let workloads = vec![sequential("write", 0), sequential("read", 100)];
    let suite = list(workloads, Passes::Count(1));
    let asked = |only: &[&str], read_only| Request {
        read_only,
        ..request(only, None)
    };
    assert!(asked(&[], false).writes(&suite));
    assert!(asked(&["write"], false).writes(&suite));
    assert!(!asked(&["read"], false).writes(&suite));
    assert!(!asked(&[], true).writes(&suite));
    // A suite with a layout writes its file for every request.
    assert!(asked(&["rand_read"], false).writes(&three()));
}
