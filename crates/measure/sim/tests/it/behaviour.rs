//! Behaviour of the models beyond their rates: faults, caches, heat, repeatability.

use cardmark_core::{Errno, Order, SECOND_NS, mix};
use cardmark_engine::{Backend, Clock, Op, OpKind, Sensors};
use cardmark_sim::{Model, ModelError, SimulatedCard, models};

use crate::support::{Rig, SPAN_BYTES, synced, workload};

/// Models with service times of their own.
const TIMED_COUNT: usize = 12;

fn card(name: &str, seed: u64) -> SimulatedCard {
    SimulatedCard::new(&Model::named(name).unwrap(), seed)
}

#[test]
fn every_embedded_model_can_be_read() {
    assert_eq!(models().len(), 67);
    for entry in models() {
        let model = Model::named(entry.name).unwrap();
        assert_eq!(model.name(), entry.name);
        assert!(!model.summary().is_empty() && !model.source().is_empty());
        assert!(model.run_deviation() > 0.0 && model.trial_deviation() > 0.0);
        assert!(model.capacity_bytes() > SPAN_BYTES || entry.name == "honest-2mb");
    }
}

#[test]
fn an_unknown_name_is_answered_with_similar_ones() {
    let error = Model::named("a1-23gb").unwrap_err();
    assert!(error.to_string().ends_with("perhaps a1-32gb"), "{error}");
    assert!(matches!(Model::parse("name = 3"), Err(ModelError::Text(_))));
}

#[test]
fn numbers_out_of_range_are_refused() {
    let text = include_str!("../../models/a1-32gb.toml");
    for (from, to) in [
        ("channels = 1", "channels = 0"),
        ("variation = 0.22", "variation = 0.0"),
        ("run_deviation = 0.02", "run_deviation = -0.02"),
    ] {
        assert!(text.contains(from));
        let refused = Model::parse(&text.replacen(from, to, 1));
        assert!(matches!(refused, Err(ModelError::Invalid { .. })), "{to}");
    }
    for no_number in ["nan", "inf"] {
        let to = format!("run_deviation = {no_number}");
        let refused = Model::parse(&text.replacen("run_deviation = 0.02", &to, 1));
        assert!(matches!(refused, Err(ModelError::Text(_))), "{to}");
    }
}

#[test]
fn a_seed_means_one_sequence() {
    for entry in models() {
        let spans = |seed| {
            let mut rig = Rig::new(card(entry.name, seed), 1);
            let mut spans = Vec::new();
            for depth in [1, 32] {
                let mixed = workload(20, Order::Random, 4096, depth);
                spans.extend(rig.trial(&mixed, SECOND_NS).latencies_ns);
                rig.backend.flush().unwrap();
            }
            spans
        };
        assert_eq!(spans(1), spans(1));
        assert_ne!(spans(1), spans(2));
    }
}

#[test]
fn the_numbers_are_the_same_on_every_platform() {
    let mut sum = 0u64;
    // Those that do not keep their data have the times of one of these.
    for entry in models().into_iter().take(TIMED_COUNT) {
        let mut rig = Rig::new(card(entry.name, 7), 8);
        let mixed = workload(50, Order::Random, 4096, 4);
        for latency_ns in rig.trial(&mixed, SECOND_NS).latencies_ns {
            sum = mix(sum ^ latency_ns);
        }
        let single = workload(50, Order::Random, 4096, 1);
        if let Some(truth) = rig.card.truth(&single) {
            sum = mix(sum ^ truth.rate_bytes_per_s.to_bits());
            sum = mix(sum ^ truth.p99_ns.unwrap().to_bits());
        }
    }
    // Changes with the models and with the simulation, and must then be updated; never with the platform or the
    // compiler.
    assert_eq!(sum, 0x193b_c659_e93a_59b8, "{sum:#x}");
}

#[test]
fn counters_count_what_was_moved() {
    let mut rig = Rig::new(card("a2-64gb", 1), 1);
    let before = rig.backend.counters().unwrap();
    let found = rig.trial(&workload(30, Order::Random, 4096, 32), SECOND_NS);
    let moved = rig.backend.counters().unwrap().since(before);
    assert_eq!(
        moved.read_bytes + moved.write_bytes,
        found.operations_count * 4096
    );
    assert!(moved.read_operations_count > 0 && moved.write_operations_count > 0);
}

#[test]
fn beyond_the_capacity_there_is_an_error() {
    let card = card("a1-32gb", 1);
    let (mut backend, ..) = card.ports();
    backend
        .prepare(&workload(100, Order::Random, 4096, 1))
        .unwrap();
    for (offset, outcome) in [
        (card.capacity_bytes() - 4096, Ok(4096)),
        (u64::MAX - 1, Err(Errno(5))),
    ] {
        backend.submit(Op {
            kind: OpKind::Read,
            offset,
            bytes: 4096,
            slot: 0,
            stream: 0,
        });
        assert_eq!(backend.reap().outcome, outcome);
    }
}

#[test]
fn a_lie_about_flushing_is_cheap() {
    let flush_ns = |name| {
        let mut rig = Rig::new(card(name, 1), 1);
        let synced_rate = rig.trial(&synced(), 5 * SECOND_NS).rate();
        rig.trial(&workload(0, Order::Random, 4096, 1), SECOND_NS);
        let before_ns = rig.clock.now_ns();
        rig.backend.flush().unwrap();
        (rig.clock.now_ns() - before_ns, synced_rate)
    };
    let (honest_ns, honest_rate) = flush_ns("a1-32gb");
    let (lying_ns, lying_rate) = flush_ns("lying-32gb");
    assert!(honest_ns > 5_000_000 && lying_ns < 100_000);
    assert!((300.0..400.0).contains(&honest_rate) && (850.0..950.0).contains(&lying_rate));
}

#[test]
fn the_video_cards_cache_ends_within_the_file() {
    let mut rig = Rig::new(card("v30-64gb", 1), 1);
    let layout = workload(0, Order::Sequential, 1 << 20, 1);
    let spans = rig.trial(&layout, 6 * SECOND_NS).latencies_ns;
    let rate = |part: &[u64]| part.len() as f64 * 1.048_576e9 / part.iter().sum::<u64>() as f64;
    let (fast, settled) = (rate(&spans[..160]), rate(&spans[160..]));
    assert!((84.0..96.0).contains(&fast), "{fast}");
    assert!((28.0..32.0).contains(&settled), "{settled}");
    // Ten seconds of reading empty 20 MiB or so.
    rig.trial(&workload(100, Order::Random, 4096, 1), 10 * SECOND_NS);
    let spans = rig.trial(&layout, SECOND_NS).latencies_ns;
    let quick_count = spans.iter().filter(|&&ns| ns < 20_000_000).count();
    assert!((17..=21).contains(&quick_count), "{quick_count}");
}

#[test]
fn the_hot_board_slows_down_and_says_so() {
    let card = card("hot-32gb", 1);
    let (.., mut sensors) = card.ports();
    let mut rig = Rig::new(card, 1);
    let reads = workload(100, Order::Random, 4096, 1);
    let cool = rig.trial(&reads, 15 * SECOND_NS).rate();
    assert!(sensors.take().iter().all(|s| s.throttled == Some(false)));
    rig.trial(&reads, 15 * SECOND_NS);
    let samples = sensors.take();
    assert!(
        samples
            .windows(2)
            .all(|pair| pair[1].at_ns - pair[0].at_ns == SECOND_NS)
    );
    assert!(
        samples
            .iter()
            .any(|s| s.throttled == Some(true) && s.temperature_millicelsius >= Some(80_000))
    );
    assert!(cool / rig.trial(&reads, 5 * SECOND_NS).rate() > 1.5);
}

#[test]
fn a_cool_board_stays_cool() {
    let card = card("a1-32gb", 1);
    let (.., mut sensors) = card.ports();
    let mut rig = Rig::new(card, 1);
    rig.trial(&workload(100, Order::Random, 4096, 1), 60 * SECOND_NS);
    let samples = sensors.take();
    assert_eq!(samples.len(), 61);
    assert!(
        samples
            .iter()
            .all(|s| s.throttled == Some(false) && s.temperature_millicelsius < Some(60_000))
    );
}

#[test]
fn the_failing_card_fails_where_stated() {
    let mut rig = Rig::new(card("failing-32gb", 1), 1);
    let found = rig.trial(&workload(0, Order::Sequential, 1 << 20, 1), 60 * SECOND_NS);
    assert_eq!(found.errors, [(153 << 20, Errno::IO)]);
    let reads = workload(100, Order::Random, 4096, 1);
    assert!(rig.trial(&reads, SECOND_NS).errors.is_empty());
}

#[test]
fn the_vanishing_card_vanishes() {
    let mut rig = Rig::new(card("vanishing-32gb", 1), 1);
    let reads = workload(100, Order::Random, 4096, 4);
    let found = rig.trial(&reads, 60 * SECOND_NS);
    assert!(
        found.errors.iter().all(|&(_, errno)| errno == Errno::NODEV) && !found.errors.is_empty()
    );
    let now_ns = rig.clock.now_ns();
    assert!((20 * SECOND_NS..21 * SECOND_NS).contains(&now_ns));
    assert_eq!(rig.backend.prepare(&reads), Err(Errno(19)));
    assert_eq!(rig.backend.flush(), Err(Errno(19)));
    assert!(rig.backend.counters().is_some());
}

#[test]
fn the_silent_card_keeps_us_waiting_once() {
    let mut rig = Rig::new(card("silent-32gb", 1), 1);
    let found = rig.trial(&workload(0, Order::Random, 4096, 1), 620 * SECOND_NS);
    let long = found
        .latencies_ns
        .iter()
        .filter(|&&ns| ns > 10 * SECOND_NS)
        .collect::<Vec<_>>();
    assert_eq!(long, [&(600 * SECOND_NS)]);
}
