//! Processor time of a submission by part: `parts [FILE] [TIMES]`. FILE is a record, plain or packed with zstd; without it the
//! run that `load` submits. See `benchmarks/site/run`.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for the hand"
)]

use std::hint::black_box;

use cardmark_core::{Record, parse_record};
use cardmark_judge::derive_again_with;
use cardmark_share::{derive, read_submission, write_submission};
use cardmark_stats::discrepancies;
use rustix::time::{ClockId, clock_gettime};
use sha2::{Digest, Sha256};

fn main() {
    let mut words = std::env::args().skip(1);
    let default = || format!("{}/fixtures/run-quick.json.zst", env!("CARGO_MANIFEST_DIR"));
    let file = words.next().unwrap_or_else(default);
    let times: u32 = words.next().map_or(50, |text| text.parse().unwrap());
    let (text, _) = write_submission(&read(&file), 1, &[]).unwrap();
    let packed = zstd::bulk::compress(text.as_bytes(), 3).unwrap();
    println!("{} bytes, {} packed", text.len(), packed.len());
    let submission = read_submission(&text).unwrap();
    let found = discrepancies(&submission.record);
    let derived = || {
        let mut record = submission.record.clone();
        black_box(derive_again_with(&mut record, &found));
    };
    print("unpack", times, || {
        black_box(zstd::bulk::decompress(&packed, 16 << 20).unwrap());
    });
    print("read, and compare with the public form", times, || {
        black_box(read_submission(&text).unwrap());
    });
    print("contradictions, draws of the seed", times, || {
        black_box(discrepancies(&submission.record));
    });
    print("figures, findings, verdicts", times, derived);
    print("all derived (with the two before)", times, || {
        black_box(derive(&submission, "2026-12-01"));
    });
    print("digests", times, || {
        black_box(Sha256::digest(text.as_bytes()));
        black_box(Sha256::digest(text.as_bytes()));
    });
    print("pack", times, || {
        black_box(zstd::bulk::compress(text.as_bytes(), 3).unwrap());
    });
}

fn read(file: &str) -> Record {
    let bytes = std::fs::read(file).unwrap();
    let bytes = zstd::bulk::decompress(&bytes, 16 << 20).unwrap_or(bytes);
    parse_record(&String::from_utf8(bytes).unwrap()).unwrap()
}

/// Prints the median processor time of one of `times` calls.
fn print(part: &str, times: u32, mut call: impl FnMut()) {
    let mut all: Vec<f64> = (0..times)
        .map(|_| {
            let start = processor_ms();
            call();
            processor_ms() - start
        })
        .collect();
    all.sort_by(f64::total_cmp);
    println!("{part}: {:.3} ms", all[all.len() / 2]);
}

fn processor_ms() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}
