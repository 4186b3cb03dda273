//! Runs of a card, grouped by their circumstances.

use cardmark_core::{
    Board, DeviceInfo, Flush, LatencyHistogram, Manner, Metric, Order, Origin, OriginKind, Payload,
    Quantity, Record, Rounds, SECOND_NS, Sample, StopReason, StopRule, Trial, Workload,
    run_id_from_bytes,
};
use cardmark_judge::{
    add_reference_reads, are_of_several_cards, history, repeats_of, sort_by_start, started_at_s,
};

/// A run of a month of 2026, with two rates and a latency.
fn run(month: u8) -> Record {
    let id = run_id_from_bytes([month; 16]);
    let mut run = Record::new(id, Origin::of(OriginKind::Measured));
    run.started_at = Some(format!("2026-{month:02}-03T10:00:00Z"));
    run.devices = vec![DeviceInfo {
        sample: Some(Sample::of_card("aaaaaa")),
        ..DeviceInfo::default()
    }];
    run.metrics = vec![
        Metric::new("seq_read_1m", Quantity::ByteRate, 4e7),
        Metric::new("rand_write_4k", Quantity::OperationRate, 900.0),
        Metric::new("rand_write_4k_p99", Quantity::Span, 5e6),
    ];
    run
}

#[test]
fn runs_under_other_circumstances_are_kept_apart() {
    let mut runs: Vec<Record> = (1..=6).rev().map(run).collect();
    runs[1].board = Some(Board {
        model: Some("Raspberry Pi 5".to_owned()),
        ..Board::default()
    });
    runs[4].devices[0].model = Some("SN64G".to_owned());
    sort_by_start(&mut runs);
    let groups = history(&runs, &[]);
    let starts: Vec<Vec<&str>> = groups
        .iter()
        .map(|group| {
            let starts = group.runs.iter();
            starts
                .map(|run| &run.started_at.as_ref().unwrap()[5..7])
                .collect()
        })
        .collect();
    assert_eq!(
        starts,
        [vec!["01", "03", "04", "06"], vec!["02"], vec!["05"]]
    );
    for group in &groups {
        let metrics: Vec<&str> = group.trends.iter().map(|it| it.metric.as_str()).collect();
        assert_eq!(metrics, ["seq_read_1m", "rand_write_4k"]);
    }
}

/// A trial of reads, repeated at this interval; 0 for those of rounds.
fn reads(every_ns: u64) -> Trial {
    let workload = Workload {
        id: "rand_read_4k".to_owned(),
        read_share_percent: 100,
        order: Order::Random,
        block_bytes: 4096,
        queue_depth: 1,
        span_bytes: 1 << 28,
        flush: Flush::AfterTrial,
        payload: Payload::Incompressible,
        ramp_ns: 0,
        stop: StopRule::default(),
        latency_metrics: false,
        manner: Manner::default(),
        procedure: None,
        rounds: Rounds {
            every_ns,
            ..Rounds::default()
        },
    };
    Trial {
        id: 0,
        workload: workload.into(),
        round_index: 0,
        layout: false,
        started_ns: 0,
        span_ns: SECOND_NS,
        streams: Vec::new(),
        latency: LatencyHistogram::default(),
        slice_span_ns: SECOND_NS,
        slices: Vec::new(),
        device_counters: None,
        untimed_bytes: 0,
        untimed: None,
        written_bytes: 0,
        flush_span_ns: None,
        windows: Vec::new(),
        errors: Vec::new(),
        stopped_by: StopReason::Goal,
    }
}

#[test]
fn documents_are_read_for_their_reference_reads_if_a_level_changed() {
    let read_by = |factor: f64, most: usize| {
        let mut runs: Vec<Record> = (1..=9).map(run).collect();
        for run in &mut runs[6..] {
            run.metrics[1].value *= factor;
        }
        let mut asked = Vec::new();
        add_reference_reads(&mut runs, &[], most, |run| {
            asked.push(run.started_at.as_ref().unwrap()[5..7].to_owned());
            let document = Record {
                trials: vec![reads(0), reads(10 * SECOND_NS)],
                ..run.clone()
            };
            (asked.len() > 1).then_some(document)
        });
        let every = |run: &Record| {
            let trials = run.trials.iter();
            trials
                .map(|trial| trial.workload.rounds.every_ns)
                .sum::<u64>()
        };
        let counts: Vec<usize> = runs.iter().map(|run| run.trials.len()).collect();
        let is_reference = runs
            .iter()
            .all(|run| every(run) == 10 * SECOND_NS * run.trials.len() as u64);
        (asked, counts, is_reference)
    };
    assert_eq!(read_by(1.0, 9), (Vec::new(), vec![0; 9], true));
    // The first of the last four cannot be read.
    let (asked, counts, is_reference) = read_by(0.5, 4);
    assert_eq!(asked, ["06", "07", "08", "09"]);
    assert_eq!(counts, [0, 0, 0, 0, 0, 0, 1, 1, 1]);
    assert!(is_reference);
    assert_eq!(read_by(0.5, 100).0.len(), 9);
}

#[test]
fn only_the_wanted_rates_are_followed() {
    let mut runs = [run(1), run(2)];
    runs[1].metrics.truncate(1);
    let wanted = ["rand_write_4k".to_owned()];
    let groups = history(&runs, &wanted);
    assert_eq!(groups.len(), 1);
    assert_eq!((groups[0].runs.len(), groups[0].trends.len()), (1, 1));
    assert!(history(&runs, &["tps".to_owned()]).is_empty());
}

#[test]
fn a_label_names_the_card_better_than_its_id() {
    let mut runs = [run(1), run(2)];
    assert!(!are_of_several_cards(&runs));
    runs[1].devices[0].sample = None;
    assert!(are_of_several_cards(&runs), "one of them is unknown");
    for run in &mut runs {
        let sample = ("sample".to_owned(), "A".to_owned());
        run.labels.extend([sample]);
    }
    assert!(!are_of_several_cards(&runs));
}

#[test]
fn a_start_that_is_no_time_is_unknown() {
    assert_eq!(started_at_s(&run(1)), Some(1_767_434_400));
    for wrong in [None, Some("later"), Some("2026-13-01T00:00:00Z")] {
        let started_at = wrong.map(str::to_owned);
        let run = Record {
            started_at,
            ..run(1)
        };
        assert_eq!(started_at_s(&run), None, "{wrong:?}");
    }
}

#[test]
fn each_seed_of_a_simulated_card_counts_once() {
    let simulated = |month, seed: &str| {
        let mut run = run(month);
        run.origin = Origin::of(OriginKind::Simulated);
        run.seed = Some(seed.to_owned());
        run
    };
    let own = simulated(1, "1");
    let others = [(1, "1"), (2, "1"), (3, "2"), (4, "2"), (5, "3")];
    let others = others.map(|(month, seed)| simulated(month, seed));
    let seeds = |runs: Vec<Record>| -> Vec<String> {
        runs.into_iter().filter_map(|run| run.seed).collect()
    };
    assert_eq!(seeds(repeats_of(&own, others.to_vec())), ["2", "3"]);
    let measured = (1..=3).map(run).collect();
    assert_eq!(repeats_of(&run(1), measured).len(), 2);
}
