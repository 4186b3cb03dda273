//! The suites of the old tools on simulated cards: their figures follow from the model, by independent
//! formulas.

use cardmark_core::{
    Access, FigureOf, Flush, Order, Record, Suite, SuiteRef, TargetKind, Trial, Workload,
};
use cardmark_engine::{Request, TargetRoom, record};
use cardmark_sim::{Model, SimulatedCard};

use crate::support::{executed, head};

const SUITES: [&str; 5] = [
    "dramble",
    "raw-survey",
    "parallel4",
    "agnostics",
    "pibenchmarks",
];
/// Those whose rates are the same throughout a run.
const STEADY: [&str; 7] = [
    "a1-32gb",
    "a2-64gb",
    "c10-16gb",
    "usb2-32gb",
    "swaying-32gb",
    "worn-32gb",
    "lying-32gb",
];
/// These depend on earlier work: a cache that fills, a board that heats up.
const UNSTEADY: [&str; 2] = ["v30-64gb", "hot-32gb"];

/// Nanoseconds to copy a byte in the host's memory.
const COPY_NS: f64 = 0.25;
/// Requests of the kernel through its page cache.
const READ_AHEAD: u64 = 128 << 10;
const WRITE_BACK: u64 = 512 << 10;
/// A flush with nothing to flush.
const IDLE_FLUSH_NS: f64 = 60_000.0;
/// Allowed error of a figure in addition to chance.
const SLACK: f64 = 0.005;

/// A model as text, without the chance between trials; and its numbers.
fn numbers(name: &str) -> (Model, toml::Table) {
    let path = format!("{}/models/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let chance = lines
        .find(|line| line.starts_with("trial_deviation"))
        .unwrap();
    let text = text.replace(chance, "trial_deviation = 0.0");
    (Model::parse(&text).unwrap(), text.parse().unwrap())
}

/// The record of a suite on a card, and the factor of that run.
fn measured(model: &Model, suite: &Suite, seed: u64) -> (Record, f64) {
    let card = SimulatedCard::new(model, seed);
    let request = Request {
        seed,
        ..Request::default()
    };
    let place = TargetRoom::disk(TargetKind::Sim, card.capacity_bytes());
    let (plan, outcome) = executed(&card, suite, request, place);
    assert!(outcome.is_complete(), "{:?}", outcome.findings);
    let header = Record {
        suite: Some(SuiteRef {
            name: suite.name.clone(),
            version: suite.version,
            digest: None,
            only: Vec::new(),
            tier: None,
        }),
        ..head()
    };
    (record(header, outcome, &plan.suite), card.run_factor())
}

/// Mean and standard deviation of one operation of the model, nanoseconds.
fn service(model: &toml::Table, workload: &Workload, bytes: u64, busy: f64) -> (f64, f64) {
    let kind = if workload.reads() { "read" } else { "write" };
    let order = match workload.order {
        Order::Sequential | Order::Spread => "sequential",
        Order::Random | Order::Permuted | Order::Other(_) => "random",
    };
    let service = model[kind][order].as_table().unwrap();
    let number = |name: &str| service.get(name).and_then(toml::Value::as_float);
    let bridge = |name: &str| Some(model.get("bridge")?[name].as_float().unwrap());
    let crowding = 1.0 + (busy - 1.0) * number("crowding").unwrap_or(0.0);
    let setup_us = number("setup_us").unwrap() + bridge("request_us").unwrap_or(0.0);
    let card_rate = number("rate_mb_per_s").unwrap();
    let rate = card_rate.min(bridge("rate_mb_per_s").unwrap_or(card_rate));
    let ordinary_ns = 1e3 * (setup_us * crowding + bytes as f64 / rate * busy);
    let deviation_ns = ordinary_ns * number("variation").unwrap();
    let Some(stall) = service.get("stall") else {
        return (ordinary_ns, deviation_ns);
    };
    let of_stall = |name: &str| stall[name].as_float().unwrap();
    let (p, low, high) = (
        of_stall("probability"),
        1e6 * of_stall("shortest_ms"),
        1e6 * of_stall("longest_ms"),
    );
    let square = p * (low * low + low * high + high * high) / 3.0;
    let mean = p * 0.5 * (low + high);
    let variance = deviation_ns * deviation_ns + square - mean * mean;
    (ordinary_ns + mean, variance.sqrt())
}

/// Span that the formulas give for a trial, and its standard deviation, nanoseconds.
fn span_ns(model: &toml::Table, trial: &Trial, factor: f64) -> (f64, f64) {
    let workload = &trial.workload;
    let channels = model["channels"].as_integer().unwrap() as f64;
    let bytes = trial.bytes() as f64;
    let (card_ns, variance) = if workload.manner.access == Access::Cached {
        let request = if workload.reads() {
            READ_AHEAD
        } else {
            WRITE_BACK
        };
        let on_card = bytes.min(workload.span_bytes as f64);
        let requests = (on_card / request as f64).ceil();
        let (mean, deviation) = service(model, workload, request, channels);
        (
            requests * mean / channels,
            requests * (deviation / channels).powi(2),
        )
    } else {
        let busy = f64::from(workload.in_flight_count()).min(channels);
        let (mean, deviation) = service(model, workload, workload.block_bytes, busy);
        let operations = trial.operations_count() as f64;
        (
            operations * mean / busy,
            operations * (deviation / busy).powi(2),
        )
    };
    let copy_ns = match workload.manner.access {
        Access::Cached => bytes * COPY_NS,
        Access::Direct | Access::Other(_) => 0.0,
    };
    let flush_ms = model["sync"]["flush_ms"].as_float().unwrap();
    let flush_ns = match (workload.flush, workload.writes() && flush_ms > 0.0) {
        (Flush::InSpan, true) => 1e6 * flush_ms / factor,
        (Flush::InSpan, false) => IDLE_FLUSH_NS,
        _ => 0.0,
    };
    let span_ns = card_ns / factor + copy_ns + flush_ns;
    let swaying = model.get("sway").map_or(0.0, |sway| {
        let of_sway = |name: &str| sway[name].as_float().unwrap();
        let times = span_ns / (1e6 * of_sway("correlation_ms"));
        of_sway("deviation") * (2.0 / times).sqrt() * span_ns
    });
    (
        span_ns,
        (variance / factor / factor + swaying * swaying).sqrt(),
    )
}

#[test]
fn figures_are_what_follows_from_the_model() {
    for name in STEADY {
        let (model, table) = numbers(name);
        for suite in SUITES {
            let suite = cardmark_catalog::suite(suite, None).unwrap();
            let (record, factor) = measured(&model, &suite, 5);
            for figure in &suite.figures {
                let metric = record.metric(&figure.id).unwrap();
                let trial = record
                    .trials
                    .iter()
                    .find(|t| metric.trials.contains(&t.id))
                    .unwrap();
                let (span_ns, deviation_ns) = span_ns(&table, trial, factor);
                let mut expected = trial.bytes() as f64 / span_ns * 1e9;
                match figure.of {
                    FigureOf::Rate
                    | FigureOf::Operations
                    | FigureOf::Parts
                    | FigureOf::Children => {}
                    FigureOf::Avg => expected /= trial.streams.len() as f64,
                    // Whose rates are somewhat below and above the mean, or include what is not counted.
                    FigureOf::Parent
                    | FigureOf::Min
                    | FigureOf::Max
                    | FigureOf::Slowest
                    | FigureOf::WorstWindow
                    | FigureOf::WorstVideoWindow
                    | FigureOf::Course(_) => continue,
                }
                let found = metric.rate_bytes_per_s.unwrap();
                let off = found / expected - 1.0;
                let allowed = SLACK + 4.0 * deviation_ns / span_ns;
                println!(
                    "{name:14} {:36} {:8.3} MB/s {off:+.4} of {allowed:.4}",
                    figure.id,
                    found / 1e6
                );
                assert!(
                    off.abs() < allowed,
                    "{name} {}: {off} of {allowed}",
                    figure.id
                );
            }
        }
    }
}

#[test]
fn every_figure_is_there_on_cards_that_change() {
    for name in UNSTEADY {
        let (model, _) = numbers(name);
        for suite in SUITES {
            let suite = cardmark_catalog::suite(suite, None).unwrap();
            let (record, _) = measured(&model, &suite, 5);
            for figure in &suite.figures {
                assert!(
                    record.metric(&figure.id).unwrap().value > 0.0,
                    "{name} {}",
                    figure.id
                );
            }
        }
    }
}

#[test]
fn after_its_first_read_the_cached_figure_is_that_of_memory() {
    for name in ["a1-32gb", "usb2-32gb", "c10-16gb"] {
        let (model, _) = numbers(name);
        let suite = cardmark_catalog::suite("dramble", None).unwrap();
        let (record, _) = measured(&model, &suite, 3);
        let is_it = |trial: &&Trial| trial.workload.id == "hdparm_T";
        let trial = record.trials.iter().find(is_it).unwrap();
        let block = trial.workload.block_bytes;
        let copy_ns = block / 4;
        let others = trial.operations_count() - 1;
        assert_eq!(
            (trial.latency.sum_ns - trial.latency.max_ns) / others,
            copy_ns
        );
        assert_eq!(trial.latency.min_ns, copy_ns);
        // The first comes from the card; only this part was moved by the card.
        assert!(trial.latency.max_ns > 20 * copy_ns, "{:?}", trial.latency);
        assert_eq!(trial.device_counters.unwrap().read_bytes, block);
    }
}
