//! Overhead of the measuring loop; `benchmarks/overhead/run` compares it with fio.
//!
//! `overhead null` · `overhead fill DEVICE` · `overhead read DEVICE QUEUE_DEPTH SECONDS` ·
//! `overhead watched|sampled DEVICE QUEUE_DEPTH SECONDS`, which is `read` with a second thread that sleeps, like
//! the program's watch, or that reads the sensors · `overhead bare DEVICE SECONDS`, only calls of `pread`: the
//! maximum rate of a loop at depth 1

#![allow(clippy::print_stdout, reason = "a program that prints figures")]

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread::{park, sleep, spawn};
use std::time::{Duration, Instant};

use cardmark_core::{
    Flush, MIB, Manner, Order, PAYLOAD_POOL_BYTES, Payload, SECOND_NS, StopRule, Workload,
    fill_payload, stamp_payload,
};
use cardmark_device::{MonotonicClock, NullBackend, RealBackend, open_device_readonly};
use cardmark_engine::{Backend, Clock, Pulse, Sensors, TrialContext, run_trial};
use cardmark_host::{HostSensors, Root};
use rustix::fs::OFlags;
use rustix::io::pread;

/// Size of the part of the device that is read, as in the script.
const SPAN_BYTES: u64 = 256 * MIB;
/// Seed of offsets and payload.
const SEED: u64 = 20_251_121;
/// Size of a read in [`bare_rate`], bytes.
const BLOCK_BYTES: usize = 4096;
/// Number of trials of the null back end; the median counts.
const NULL_TRIALS_COUNT: usize = 9;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["null"] => {
            println!("{:.2}", null_cost_ns()?);
            Ok(())
        }
        ["fill", device] => fill(Path::new(device)),
        [
            how @ ("read" | "watched" | "sampled"),
            device,
            queue_depth,
            seconds,
        ] => {
            let _sensors = (how == "sampled").then(|| sensors(device));
            if how == "watched" {
                // The kernel looks up files more slowly for a process with several threads.
                drop(spawn(park));
            }
            let target = open_device_readonly(Path::new(device))?;
            let mut backend = RealBackend::new(target, SEED, Box::new(|| None));
            let span_ns = seconds.parse::<u64>()? * SECOND_NS;
            let cost = measure(&mut backend, queue_depth.parse()?, span_ns)?;
            println!("{:.1} {:.2}", cost.operations_per_s, cost.cpu_ns);
            Ok(())
        }
        ["bare", device, seconds] => {
            println!("{:.1} 0", bare_rate(Path::new(device), seconds.parse()?)?);
            Ok(())
        }
        _ => Err("usage: overhead null | fill DEVICE | bare DEVICE SECONDS \
             | read|watched|sampled DEVICE QUEUE_DEPTH SECONDS"
            .into()),
    }
}

/// Starts the sensors of this host and of a device, as in a run; they work until dropped.
fn sensors(device: &str) -> HostSensors {
    let name = Path::new(device).file_name().unwrap_or_default();
    let names = [name.to_string_lossy().into_owned()];
    let clock = MonotonicClock::new();
    let now = Box::new(move || clock.clone().now_ns());
    let mut sensors = HostSensors::start(&Root::system(), &names, now);
    // The first reading takes the kernel's whole log; a run has it before its first trial.
    let mut patience = 1000;
    while sensors.take().is_empty() && patience > 0 {
        patience -= 1;
        sleep(Duration::from_millis(1));
    }
    sensors
}

/// Results of a trial.
struct Cost {
    operations_per_s: f64,
    /// User and system time of this thread per operation, nanoseconds.
    cpu_ns: f64,
}

/// Runs one trial of random 4 KiB reads, as the program does.
fn measure(backend: &mut impl Backend, queue_depth: u32, span_ns: u64) -> Outcome<Cost> {
    let workload = Workload {
        id: "rand_read_4k".to_owned(),
        read_share_percent: 100,
        order: Order::Random,
        block_bytes: 4096,
        queue_depth,
        span_bytes: SPAN_BYTES,
        flush: Flush::AfterTrial,
        payload: Payload::Incompressible,
        ramp_ns: 0,
        stop: StopRule {
            least_span_ns: span_ns,
            least_operations_count: 200,
            most_bytes: None,
            longest_span_ns: None,
            ..StopRule::default()
        },
        latency_metrics: true,
        manner: Manner::default(),
        procedure: None,
        rounds: cardmark_core::Rounds::default(),
    };
    let context = TrialContext {
        seed: SEED,
        limit_ns: 60 * SECOND_NS,
        ..TrialContext::default()
    };
    let before = cpu_ns()?;
    let end = run_trial(
        backend,
        &mut MonotonicClock::new(),
        &Pulse::new(),
        &workload,
        context,
    );
    let cpu = cpu_ns()? - before;
    if let Some(failure) = end.failure {
        return Err(format!("{failure:?}").into());
    }
    let totals = &end.trial.streams[0];
    let operations = totals.operations_count as f64;
    Ok(Cost {
        operations_per_s: operations * SECOND_NS as f64 / totals.span_ns as f64,
        cpu_ns: cpu as f64 / operations,
    })
}

/// Returns the rate of random 4 KiB reads per second in a loop that records nothing and reads the clock once in
/// 1,024 calls.
fn bare_rate(device: &Path, seconds: u64) -> Outcome<f64> {
    let file = File::options()
        .read(true)
        .custom_flags(OFlags::DIRECT.bits().cast_signed())
        .open(device)?;
    let mut memory = vec![0; 2 * BLOCK_BYTES];
    let aligned = memory.as_ptr().align_offset(BLOCK_BYTES);
    let block = &mut memory[aligned..aligned + BLOCK_BYTES];
    let blocks_count = SPAN_BYTES / BLOCK_BYTES as u64;
    let (mut state, mut operations_count) = (SEED, 0_u64);
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(seconds) {
        for _ in 0..1024 {
            // Multiplier and increment of Knuth's MMIX.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let address = (state >> 33) % blocks_count * BLOCK_BYTES as u64;
            if pread(&file, &mut *block, address)? != BLOCK_BYTES {
                return Err("a read ended early".into());
            }
        }
        operations_count += 1024;
    }
    Ok(operations_count as f64 / started.elapsed().as_secs_f64())
}

/// Returns the processor time of this thread so far, nanoseconds.
fn cpu_ns() -> Outcome<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text
        .split_whitespace()
        .next()
        .ok_or("empty schedstat")?
        .parse()?)
}

/// Returns the duration of one operation of the null back end, including one reading of the clock, in
/// nanoseconds of wall-clock time: median of trials.
fn null_cost_ns() -> Outcome<f64> {
    let mut costs = Vec::new();
    for _ in 0..NULL_TRIALS_COUNT {
        let cost = measure(&mut NullBackend::new(), 1, SECOND_NS / 4)?;
        costs.push(SECOND_NS as f64 / cost.operations_per_s);
    }
    costs.sort_by(f64::total_cmp);
    Ok(costs[costs.len() / 2])
}

/// Fills the part that is read with our payload.
fn fill(device: &Path) -> Outcome<()> {
    let mut file = File::options().write(true).open(device)?;
    let mut pool = vec![0; PAYLOAD_POOL_BYTES];
    fill_payload(SEED, &mut pool);
    let mut address = 0;
    while address < SPAN_BYTES {
        stamp_payload(&mut pool, address, 0);
        file.write_all(&pool)?;
        address += pool.len() as u64;
    }
    Ok(file.sync_all()?)
}
