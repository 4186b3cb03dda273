//! Reads the files whose names are given and prints, for each, its bytes and the processor time of an import in seconds.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for the terminal"
)]

use std::process::ExitCode;

use cardmark_core::Quantity;
use cardmark_import::{KnownMetric, import, tool_metrics};

fn main() -> ExitCode {
    let mut known = tool_metrics();
    let ids = [
        "hdparm_t",
        "hdparm_T",
        "dd_write",
        "iozone_read",
        "iozone_random_read",
    ];
    known.extend(ids.map(|id| KnownMetric::new(id, Quantity::ByteRate)));
    for file in std::env::args().skip(1) {
        let Ok(bytes) = std::fs::read(&file) else {
            eprintln!("cannot read {file}");
            return ExitCode::FAILURE;
        };
        let text = String::from_utf8_lossy(&bytes);
        let began = processor_seconds();
        let records = import(&text, &known).records.len();
        let seconds = processor_seconds() - began;
        println!("{file}\t{}\t{seconds:.4}\t{records}", bytes.len());
    }
    ExitCode::SUCCESS
}

/// Processor time of this process, as the kernel of Linux counts it; not a number elsewhere.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let first = text.split_whitespace().next();
    let ns = first.and_then(|ns| ns.parse::<f64>().ok());
    ns.map_or(f64::NAN, |ns| ns / 1e9)
}
