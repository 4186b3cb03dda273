//! Large records: `records largest FROM TO` repeats the trials of a record until it is almost as large as is legal;
//! `records read FILE` prints the time of reading a record in milliseconds, and the most memory that this took
//! beyond the text itself, MiB. See `benchmarks/records/run`.

#![allow(clippy::print_stdout, reason = "a program for the hand")]

use std::error::Error;
use std::fs;
use std::time::Instant;

use cardmark_core::{MOST_RECORD_BYTES, Record, parse_record, record_to_json};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["largest", from, to] => {
            let record = parse_record(&fs::read_to_string(from)?)?;
            fs::write(to, largest(record)?)?;
        }
        ["read", file] => {
            let text = fs::read_to_string(file)?;
            let before = most_memory_kib()?;
            let start = Instant::now();
            let record = parse_record(&text)?;
            let span = start.elapsed();
            let more_kib = most_memory_kib()?.saturating_sub(before);
            assert!(!record.trials.is_empty());
            println!(
                "{:.1} {}",
                1e3 * span.as_secs_f64(),
                more_kib.div_ceil(1024)
            );
        }
        _ => return Err("usage: records largest FROM TO | read FILE".into()),
    }
    Ok(())
}

/// The record with its trials repeated as often as is legal.
fn largest(mut record: Record) -> Result<String, Box<dyn Error>> {
    let trials = record.trials.clone();
    let mut text = record_to_json(&record)?;
    let most = MOST_RECORD_BYTES / text.len();
    for _ in 1..most {
        record.trials.extend(trials.iter().cloned());
    }
    for (trial, id) in record.trials.iter_mut().zip(0..) {
        trial.id = id;
    }
    text = record_to_json(&record)?;
    while text.len() > MOST_RECORD_BYTES {
        record.trials.pop();
        text = record_to_json(&record)?;
    }
    Ok(text)
}

/// The most memory that this process has had so far, KiB.
fn most_memory_kib() -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(number.ok_or("no VmHWM")?.parse()?)
}
