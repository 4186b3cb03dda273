//! Measures a directory whose device the kernel limits to a known rate, with the workloads of `quick` in
//! longer trials: the kernel enforces the limit in slices of 100 ms, so trials must be long. Prints one row
//! per workload, and fails if the point is not within 1 % of the cap or the half-width is above 3 %.
//!
//! Usage: `known_truth DIRECTORY CAP_BYTES_PER_S ID…`

#![allow(clippy::print_stdout, reason = "a program that prints a table")]

use std::path::Path;
use std::process::ExitCode;

use cardmark_benchmarks::ended;
use cardmark_core::{Origin, OriginKind, Record, SECOND_NS, Suite, TargetKind, run_id_from_bytes};
use cardmark_device::{MonotonicClock, RealBackend, TestFile};
use cardmark_engine::{
    Event, Observer, Ports, Pulse, Request, Sensors, TargetRoom, execute, make_plan, record,
};

/// Ramp of a trial: it uses up the allowance that the kernel accumulated while the device was idle.
const RAMP_NS: u64 = SECOND_NS;
/// Span of a trial.
const SPAN_NS: u64 = 10 * SECOND_NS;
/// Number of rounds.
const ROUNDS: u32 = 3;

struct Quiet;

impl Observer for Quiet {
    fn event(&mut self, _: &Event<'_>) {}
}

impl Sensors for Quiet {
    fn take(&mut self) -> Vec<cardmark_core::SensorSample> {
        Vec::new()
    }
}

/// Returns `quick` with longer trials.
fn suite(cap_bytes_per_s: u64) -> Result<Suite, String> {
    let mut suite = cardmark_catalog::suite("quick", None).map_err(|error| error.to_string())?;
    suite.looks = vec![ROUNDS];
    suite.layout_trials_count = 1;
    suite.budget_ns = 3600 * SECOND_NS;
    for workload in &mut suite.workloads {
        workload.ramp_ns = RAMP_NS;
        workload.stop.least_span_ns = SPAN_NS;
    }
    // The file is laid out under the cap too, so a small one is used.
    let blocks = cap_bytes_per_s.div_ceil(16 << 20).clamp(1, 4);
    suite.file_bytes = blocks * (64 << 20);
    for workload in &mut suite.workloads {
        workload.span_bytes = workload.span_bytes.min(suite.file_bytes);
    }
    Ok(suite)
}

fn measure(directory: &Path, suite: &Suite, only: &[String]) -> Result<Record, String> {
    let request = Request {
        only: only.to_vec(),
        seed: 1,
        limit_ns: 60 * SECOND_NS,
        passes_count: None,
        read_only: false,
        tier: None,
        most_bytes: None,
        until_settled: false,
    };
    let place = TargetRoom {
        kind: TargetKind::Directory,
        usable_bytes: u64::MAX,
        disk_bytes: None,
        units: cardmark_engine::Units::default(),
    };
    let plan = make_plan(suite, &request, place).map_err(|error| error.to_string())?;
    let file = TestFile::create(directory, suite.file_bytes).map_err(|error| error.to_string())?;
    let mut backend = RealBackend::new(file, plan.seed, Box::new(|| None));
    let pulse = Pulse::new();
    let ports = Ports {
        backend: &mut backend,
        clock: &mut MonotonicClock::new(),
        sensors: &mut Quiet,
        observer: &mut Quiet,
        pulse: &pulse,
    };
    let outcome = execute(&plan, ports);
    if !outcome.is_complete() {
        return Err(format!("{:?}", outcome.findings));
    }
    let header = Record::new(run_id_from_bytes([0; 16]), Origin::of(OriginKind::Measured));
    Ok(record(header, outcome, suite))
}

fn rows(words: &[String]) -> Result<bool, String> {
    let [directory, cap, only @ ..] = words else {
        return Err("usage: known_truth DIRECTORY CAP_BYTES_PER_S ID…".to_owned());
    };
    let cap: u64 = cap.parse().map_err(|_| format!("`{cap}` is no rate"))?;
    let suite = suite(cap)?;
    let record = measure(Path::new(directory), &suite, only)?;
    let mut is_met = true;
    for id in only {
        let metric = record.metric(id).ok_or(format!("no metric {id}"))?;
        let rates = (
            metric.rate_bytes_per_s,
            metric.rate_low_bytes_per_s,
            metric.rate_high_bytes_per_s,
        );
        let (Some(point), Some(low), Some(high)) = rates else {
            return Err(format!("no interval for {id}"));
        };
        let ratio = point / cap as f64;
        let half_width = (high - low) / 2.0 / point;
        let met = (ratio - 1.0).abs() <= 0.01 && half_width <= 0.03;
        is_met &= met;
        println!(
            "| {id} | {:.1} MB/s | {:.3} MB/s | {ratio:.4} | ± {:.2} % | {} |",
            cap as f64 / 1e6,
            point / 1e6,
            100.0 * half_width,
            if met { "met" } else { "MISSED" }
        );
    }
    Ok(is_met)
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    ended(rows(&words))
}
