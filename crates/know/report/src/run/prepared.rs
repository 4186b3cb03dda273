//! Preparation of a device in words.

use cardmark_core::{DeviceInfo, Fill, Preparation, Record};

use crate::text::amount;
use crate::text::style::clean;

/// Preparation in words: `filled with 0xFF`.
pub fn fill_words(fill: &Fill) -> &str {
    match fill {
        Fill::Ff => "filled with 0xFF",
        Fill::Zero => "filled with zeros",
        Fill::Random => "filled with random content",
        Fill::Discard => "discarded",
        Fill::Other(word) => word,
    }
}

/// A line for each device of the record that is known to have been prepared.
pub(crate) fn lines(record: &Record) -> Vec<String> {
    let line = |device: &DeviceInfo| {
        let prepared = words(device.prepared.as_ref()?);
        Some(if record.devices.len() > 1 {
            format!("{} prepared: {prepared}", clean(&device.name))
        } else {
            format!("prepared: {prepared}")
        })
    };
    record.devices.iter().filter_map(line).collect()
}

/// `filled with 0xFF on 2026-11-21`, or how far that came.
fn words(preparation: &Preparation) -> String {
    let done = fill_words(&preparation.fill);
    let day = |time: &str| clean(time.split_once('T').map_or(time, |(day, _)| day));
    match &preparation.finished_at {
        Some(time) => format!("{done} on {}", day(time)),
        None => format!(
            "partly {done} ({} %, {} of {}), begun on {}",
            preparation.done_percent(),
            amount(preparation.done_bytes),
            amount(preparation.size_bytes),
            day(&preparation.started_at)
        ),
    }
}
