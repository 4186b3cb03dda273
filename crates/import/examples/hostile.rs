//! Reads the files whose names are given and prints, for each, its bytes and the seconds of an import.

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
        let began = std::time::Instant::now();
        let records = import(&text, &known).records.len();
        let seconds = began.elapsed().as_secs_f64();
        println!("{file}\t{}\t{seconds:.4}\t{records}", bytes.len());
    }
    ExitCode::SUCCESS
}
