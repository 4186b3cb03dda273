//! The analytic truth against long simulations.

use cardmark_core::{Order, SECOND_NS};
use cardmark_sim::{Model, SimulatedCard, models};

use crate::support::{Rig, workload, workloads};

const STATIONARY: [&str; 7] = [
    "a1-32gb",
    "a2-64gb",
    "c10-16gb",
    "usb2-32gb",
    "swaying-32gb",
    "worn-32gb",
    "lying-32gb",
];

/// The model without its trial factors, whose noise would hide a small bias.
fn even(name: &str) -> Model {
    let path = format!("{}/models/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let line = text
        .lines()
        .find(|l| l.starts_with("trial_deviation"))
        .unwrap();
    Model::parse(&text.replace(line, "trial_deviation = 0.0")).unwrap()
}

/// Mean and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

#[test]
fn long_simulations_agree_with_the_truth() {
    let mut squares = Vec::new();
    for (seed, model) in STATIONARY.into_iter().enumerate() {
        let model = even(model);
        for (number, (name, workload)) in workloads().into_iter().enumerate() {
            let seed = (seed * 100 + number) as u64;
            let mut rig = Rig::new(SimulatedCard::new(&model, seed), seed + 1);
            let truth = rig.card.truth(&workload).unwrap().operations_per_s;
            // Long enough that the ends of a trial, where channels idle, do not matter.
            let noisy = ["swaying-32gb", "worn-32gb"].contains(&model.name());
            let span_ns = (if noisy { 30_000.0 } else { 10_000.0 } / truth * 1e9) as u64;
            let rates: Vec<f64> = (0..40)
                .map(|_| rig.trial(&workload, span_ns).rate())
                .collect();
            let (mean, error) = mean_and_error(&rates);
            let (difference, errors) = (mean / truth - 1.0, (mean - truth) / error);
            println!(
                "{:14} {name:18} {difference:+.5} {errors:+.2}",
                model.name()
            );
            assert!(
                difference.abs() < 0.005,
                "{} {name} {difference}",
                model.name()
            );
            assert!(errors.abs() < 3.0, "{} {name} {errors}", model.name());
            squares.push(errors * errors);
        }
    }
    // Were there a small bias anywhere, it would show here: the mean of squares is near one.
    let mean = squares.iter().sum::<f64>() / squares.len() as f64;
    println!("{mean}");
    assert!((0.6..1.5).contains(&mean), "{mean}");
}

#[test]
fn trials_differ_as_stated_and_their_mean_is_the_truth() {
    for name in STATIONARY {
        let model = Model::named(name).unwrap();
        let reads = workload(100, Order::Random, 4096, 1);
        let mut rig = Rig::new(SimulatedCard::new(&model, 31), 32);
        let truth = rig.card.truth(&reads).unwrap().operations_per_s;
        let trials: Vec<f64> = (0..800)
            .map(|_| rig.trial(&reads, SECOND_NS / 2).rate() / truth)
            .collect();
        let (mean, error) = mean_and_error(&trials);
        let deviation = error * 800f64.sqrt();
        println!("{name} {mean} {error} {deviation}");
        assert!((mean - 1.0).abs() < 3.0 * error, "{name} {mean} {error}");
        assert!(
            deviation > model.trial_deviation() && deviation < 0.06,
            "{name} {deviation}"
        );
    }
}

#[test]
fn quantiles_agree_with_the_truth() {
    for name in STATIONARY {
        let model = even(name);
        for (number, (name, workload)) in workloads().into_iter().enumerate() {
            let mut rig = Rig::new(SimulatedCard::new(&model, 21), number as u64);
            let truth = rig.card.truth(&workload).unwrap();
            let (Some(p50_ns), Some(p99_ns)) = (truth.p50_ns, truth.p99_ns) else {
                continue;
            };
            let span_ns = (250_000.0 / truth.operations_per_s * 1e9) as u64;
            let mut latencies = rig.trial(&workload, span_ns).latencies_ns;
            latencies.sort_unstable();
            for (share, expected_ns) in [(0.5, p50_ns), (0.99, p99_ns)] {
                let found_ns = latencies[(latencies.len() as f64 * share) as usize];
                let ratio = found_ns as f64 / expected_ns;
                println!(
                    "{} {name} {share} {expected_ns:.0} {ratio:.4}",
                    model.name()
                );
                assert!(
                    (ratio - 1.0).abs() < 0.01,
                    "{} {name} {share} {ratio}",
                    model.name()
                );
            }
        }
    }
}

#[test]
fn every_run_has_its_own_factor() {
    for model in STATIONARY {
        let model = Model::named(model).unwrap();
        let count = 20_000;
        let factors: Vec<f64> = (0..count)
            .map(|seed| SimulatedCard::new(&model, seed).run_factor())
            .collect();
        let mean = factors.iter().sum::<f64>() / count as f64;
        let logarithms: Vec<f64> = factors.iter().map(|f| f.ln()).collect();
        let middle = logarithms.iter().sum::<f64>() / count as f64;
        let variance = logarithms
            .iter()
            .map(|l| (l - middle) * (l - middle))
            .sum::<f64>()
            / count as f64;
        assert!((mean - 1.0).abs() < 0.001, "{mean}");
        assert!((variance.sqrt() / model.run_deviation() - 1.0).abs() < 0.02);
    }
}

#[test]
fn the_runs_truth_is_the_models_times_its_factor() {
    let model = Model::named("a2-64gb").unwrap();
    let card = SimulatedCard::new(&model, 5);
    let reads = workload(100, Order::Random, 4096, 1);
    let (own, general) = (card.truth(&reads).unwrap(), model.truth(&reads).unwrap());
    let factor = card.run_factor();
    assert!((own.operations_per_s / general.operations_per_s - factor).abs() < 1e-12);
    assert!((own.p99_ns.unwrap() * factor - general.p99_ns.unwrap()).abs() < 1e-6);
}

#[test]
fn published_figures_are_reproduced() {
    let model = Model::named("c10-16gb").unwrap();
    let rate = |w| model.truth(&w).unwrap().rate_bytes_per_s / 1e6;
    let read = rate(workload(100, Order::Random, 4096, 1));
    let write = rate(workload(0, Order::Random, 4096, 1));
    assert!((read / 5.75 - 1.0).abs() < 0.01, "{read}");
    assert!((write / 0.21 - 1.0).abs() < 0.01, "{write}");
    let write = rate(workload(0, Order::Sequential, 1 << 20, 1));
    assert!((write / 9.0 - 1.0).abs() < 0.02, "{write}");
}

#[test]
fn the_queue_helps_only_where_there_is_one() {
    let ratio = |name: &str, share| {
        let model = Model::named(name).unwrap();
        let at = |d| {
            model
                .truth(&workload(share, Order::Random, 4096, d))
                .unwrap()
        };
        at(32).operations_per_s / at(1).operations_per_s
    };
    assert!((ratio("a1-32gb", 100) - 1.0).abs() < 1e-12);
    assert!((2.9..3.3).contains(&ratio("a2-64gb", 100)));
    assert!((2.4..2.8).contains(&ratio("a2-64gb", 0)));
}

/// Returns whether it is like a stationary one, except for kept data or a rate.
fn is_like_stationary(name: &str) -> bool {
    let models = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let text = std::fs::read_to_string(models.join(name).with_extension("toml")).unwrap();
    let like = |known: &&str| text.contains(&format!("like = \"{known}\""));
    let differs = ["weak = ", "[units]", "\"drift\"", "[ftl]"]
        .iter()
        .any(|part| text.contains(part));
    STATIONARY.iter().any(like) && !differs
}

#[test]
fn only_stationary_models_have_a_truth() {
    let reads = workload(100, Order::Random, 4096, 1);
    for entry in models() {
        let model = Model::named(entry.name).unwrap();
        let is_stationary = STATIONARY.contains(&entry.name) || is_like_stationary(entry.name);
        let has_room = model.capacity_bytes() >= reads.span_bytes;
        let has_truth = model.truth(&reads).is_some();
        assert_eq!(has_truth, is_stationary && has_room, "{}", entry.name);
        for (name, workload) in workloads() {
            if let Some(truth) = model.truth(&workload) {
                println!(
                    "{:14} {:18} {:8.2} MB/s {:9.1}/s p50 {:9.0} p99 {:9.0} us",
                    entry.name,
                    name,
                    truth.rate_bytes_per_s / 1e6,
                    truth.operations_per_s,
                    truth.p50_ns.unwrap_or(0.0) / 1e3,
                    truth.p99_ns.unwrap_or(0.0) / 1e3,
                );
            }
        }
    }
}
