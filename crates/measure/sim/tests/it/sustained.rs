//! The suite `sustained` on simulated cards: its findings match the model.

use cardmark_core::{FindingKind, Metric, Record, Severity, TargetKind};
use cardmark_engine::{Request, TargetRoom, record};
use cardmark_sim::{Model, SimulatedCard};

use crate::support::{executed, head};

/// Models without a cache: even ones, slow ones, one that sways, one that pauses.
const CACHELESS: [&str; 7] = [
    "a1-32gb",
    "a2-64gb",
    "c10-16gb",
    "usb2-32gb",
    "swaying-32gb",
    "worn-32gb",
    "lying-32gb",
];

fn measured(card: &SimulatedCard, seed: u64) -> Record {
    let suite = cardmark_catalog::suite("sustained", None).unwrap();
    let request = Request {
        seed,
        ..Request::default()
    };
    let place = TargetRoom::disk(TargetKind::Sim, card.capacity_bytes());
    let (_, outcome) = executed(card, &suite, request, place);
    record(head(), outcome, &suite)
}

/// A model with a cache of that size in front, behind which it is slower by that factor.
fn with_cache(like: &str, bytes: u64, slowdown: f64) -> Model {
    Model::parse(&format!(
        "name = \"cached\"\nlike = \"{like}\"\n\
         [cache]\nbytes = {bytes}\nslowdown = {slowdown:?}\ndrain_mb_per_s = 2.0\n"
    ))
    .unwrap()
}

fn holds(metric: &Metric, truth: f64) -> bool {
    metric.low.unwrap() <= truth && truth <= metric.high.unwrap()
}

fn kinds(record: &Record) -> Vec<FindingKind> {
    record.findings.iter().map(|finding| finding.kind).collect()
}

#[test]
fn a_cache_is_found_with_its_size_and_both_rates() {
    let models = [
        Model::named("v30-64gb").unwrap(),
        with_cache("a1-32gb", 1 << 30, 2.5),
        with_cache("c10-16gb", 512 << 20, 1.5),
        with_cache("swaying-32gb", 2 << 30, 2.0),
        with_cache("worn-32gb", 700 << 20, 3.0),
        with_cache("usb2-32gb", 3 << 30, 1.4),
    ];
    for (number, model) in models.iter().enumerate() {
        let (mut settled_held, seeds) = (0, 25);
        for seed in 0..seeds {
            let card = SimulatedCard::new(model, seed);
            let truth = card.course_truth(1 << 20).unwrap();
            let record = measured(&card, seed);
            let cache = record.metric("cache_bytes").unwrap();
            let (low, high) = (cache.low.unwrap(), cache.high.unwrap());
            let said = format!("model {number} seed {seed}: {cache:?} {truth:?}");
            assert!(holds(cache, truth.cache_bytes.unwrap()), "{said}");
            assert!(low <= cache.value && cache.value <= high, "{said}");
            let burst = record.metric("burst_write").unwrap().value;
            let burst_truth = truth.burst_bytes_per_s.unwrap();
            assert!((burst / burst_truth - 1.0).abs() < 0.04, "{burst} {said}");
            let settled = record.metric("settled_write").unwrap();
            let ratio = settled.value / truth.settled_bytes_per_s;
            assert!((ratio - 1.0).abs() < 0.02, "{ratio} {said}");
            settled_held += usize::from(holds(settled, truth.settled_bytes_per_s));
            assert!(!kinds(&record).contains(&FindingKind::NoCliff), "{said}");
            assert!(!kinds(&record).contains(&FindingKind::NotSettled), "{said}");
        }
        println!("model {number}: settled rate held {settled_held} of {seeds}");
        assert!(settled_held >= 21, "model {number}: {settled_held}");
    }
}

#[test]
fn no_cliff_is_found_where_there_is_no_cache() {
    for name in CACHELESS {
        let model = Model::named(name).unwrap();
        let mut held = 0;
        for seed in 0..200 {
            let card = SimulatedCard::new(&model, seed);
            let record = measured(&card, seed);
            assert_eq!(record.metric("cache_bytes"), None, "{name} {seed}");
            assert_eq!(record.metric("burst_write"), None, "{name} {seed}");
            let settled = record.metric("settled_write").unwrap();
            let truth = card.course_truth(1 << 20).unwrap();
            held += u32::from(holds(settled, truth.settled_bytes_per_s));
            let said = record
                .findings
                .iter()
                .find(|finding| finding.kind == FindingKind::NoCliff)
                .unwrap();
            assert_eq!(said.severity, Severity::Note);
            assert!(said.detail.starts_with("no cliff within "));
        }
        println!("{name}: {held} of 200");
        assert!((182..=200).contains(&held), "{name}: {held}");
    }
}

#[test]
fn at_least_the_share_and_the_minutes_are_written() {
    let card = SimulatedCard::new(&Model::named("a2-64gb").unwrap(), 1);
    let trial = &measured(&card, 1).trials[0];
    assert!(trial.bytes() >= card.capacity_bytes() / 10);
    assert!((300_000_000_000..360_000_000_000).contains(&trial.span_ns));
}

#[test]
fn a_cache_that_outlasts_the_test_is_not_made_up() {
    let model = with_cache("usb2-32gb", 20 << 30, 3.0);
    let record = measured(&SimulatedCard::new(&model, 1), 1);
    assert_eq!(record.metric("cache_bytes"), None);
    assert_eq!(record.metric("burst_write"), None);
    assert!(kinds(&record).contains(&FindingKind::NoCliff));
}

#[test]
fn a_rate_that_goes_up_and_down_for_long_is_said_not_to_settle() {
    let model = Model::parse(
        "name = \"restless\"\nlike = \"a1-32gb\"\n\
         sway = { deviation = 0.5, correlation_ms = 12_000.0 }\n",
    )
    .unwrap();
    let card = SimulatedCard::new(&model, 1);
    let record = measured(&card, 1);
    assert_eq!(record.metric("settled_write"), None);
    let finding = record
        .findings
        .iter()
        .find(|finding| finding.kind == FindingKind::NotSettled)
        .unwrap();
    assert_eq!(finding.severity, Severity::Warning);
    assert!(
        finding
            .detail
            .starts_with("the rate had not settled after ")
    );
    assert!(record.metric("longest_pause").is_some());
    // Sixty minutes, not longer.
    let span_s = record.trials[0].span_ns as f64 / 1e9;
    assert!((3_600.0..3_610.0).contains(&span_s), "{span_s}");
}

#[test]
fn pauses_are_those_of_the_model() {
    let text = |probability: f64| {
        format!(
            "name = \"pausing\"\nlike = \"a1-32gb\"\n\
             [write]\nrandom = {{ setup_us = 1_004.0, rate_mb_per_s = 38.0, variation = 0.3 }}\n\
             [write.sequential]\nsetup_us = 500.0\nrate_mb_per_s = 32.5\nvariation = 0.1\n\
             stall = {{ probability = {probability:?}, shortest_ms = 50.0, longest_ms = 1_550.0 }}\n"
        )
    };
    let model = Model::parse(&text(0.02)).unwrap();
    let (mut sums, seeds) = ([0.0; 3], 20);
    for seed in 0..seeds {
        let record = measured(&SimulatedCard::new(&model, seed), seed);
        for (sum, id) in sums.iter_mut().zip([
            "pauses_100ms_per_gib",
            "pauses_500ms_per_gib",
            "pauses_1s_per_gib",
        ]) {
            *sum += record.metric(id).unwrap().value;
        }
        let longest_ms = record.metric("longest_pause").unwrap().value / 1e6;
        assert!((1_300.0..1_680.0).contains(&longest_ms), "{longest_ms}");
    }
    // An ordinary write is the mean one, pauses included: longer by 2 % of 800 ms.
    let mean_ms = 0.02 * 800.0;
    for (sum, limit_ms) in sums.into_iter().zip([100.0, 500.0, 1_000.0]) {
        let share = (1_550.0 - limit_ms - mean_ms) / 1_500.0;
        let expected = 1_024.0 * 0.02 * share;
        let ratio = sum / seeds as f64 / expected;
        assert!((0.93..1.07).contains(&ratio), "{limit_ms} {ratio}");
    }
    let even = measured(
        &SimulatedCard::new(&Model::parse(&text(0.0)).unwrap(), 1),
        1,
    );
    assert!(even.metric("pauses_100ms_per_gib").unwrap().value.abs() < 1e-9);
}

#[test]
fn behind_a_cliff_it_rests_and_fills_the_cache_again() {
    let model = with_cache("a1-32gb", 1 << 30, 2.5);
    let record = measured(&SimulatedCard::new(&model, 1), 1);
    // 2 MB/s are emptied at rest: 60 and 240 MB.
    let bytes = |id: &str| record.metric(id).unwrap().value / 1e6;
    assert!((40.0..140.0).contains(&bytes("refill_30s_bytes")));
    assert!((200.0..400.0).contains(&bytes("refill_120s_bytes")));
    let flat = SimulatedCard::new(&Model::named("a1-32gb").unwrap(), 1);
    let record = measured(&flat, 1);
    assert_eq!(record.trials.len(), 1);
    assert_eq!(record.metric("refill_30s_bytes"), None);
    assert!(kinds(&record).contains(&FindingKind::NotApplicable));
}

/// The limit holds for the procedure as a whole: what is left of it behind a cliff is for the refills.
#[test]
fn refills_stay_within_the_bytes_that_were_asked_for() {
    let model = with_cache("a1-32gb", 1 << 30, 2.5);
    let suite = cardmark_catalog::suite("sustained", None).unwrap();
    for most_bytes in [3 << 30, 5 << 30] {
        let card = SimulatedCard::new(&model, 1);
        let request = Request {
            seed: 1,
            most_bytes: Some(most_bytes),
            ..Request::default()
        };
        let place = TargetRoom::disk(TargetKind::Sim, card.capacity_bytes());
        let (_, outcome) = executed(&card, &suite, request, place);
        let written: u64 = outcome.trials.iter().map(|trial| trial.written_bytes).sum();
        assert!(written <= most_bytes, "{written} of {most_bytes}");
    }
}

/// The announced bytes include the layout of a file that only reads need.
#[test]
fn no_selection_of_workloads_writes_more_than_announced() {
    let suite = cardmark_catalog::suite("quick", None).unwrap();
    for workload in &suite.workloads {
        let card = SimulatedCard::new(&Model::named("a1-32gb").unwrap(), 1);
        let request = Request {
            seed: 1,
            only: vec![workload.id.clone()],
            ..Request::default()
        };
        let place = TargetRoom::disk(TargetKind::Sim, card.capacity_bytes());
        let (plan, outcome) = executed(&card, &suite, request, place);
        let written: u64 = outcome.trials.iter().map(|trial| trial.written_bytes).sum();
        let announced = plan.wear().bytes;
        assert!(
            written <= announced,
            "{}: {written} of {announced}",
            workload.id
        );
        assert!(announced <= 4 << 30, "{}: {announced}", workload.id);
    }
}
