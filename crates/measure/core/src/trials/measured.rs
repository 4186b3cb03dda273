//! Columns that hold measured values, as canonical JSON: members in the order of their names, `null` for a missing list.

use serde::Serialize;
use serde_json::Value;

use super::TrialColumns;

/// Measured values of trials.
#[derive(Serialize)]
pub(crate) struct Measured<'a> {
    errors: Vec<Value>,
    flush_span_ns: Option<&'a Vec<Option<u64>>>,
    latency: Latency<'a>,
    round_index: &'a Vec<u32>,
    slice_span_ns: Option<&'a Vec<u64>>,
    slices: Slices<'a>,
    span_ns: &'a Vec<u64>,
    started_ns: &'a Vec<u64>,
    streams: Streams<'a>,
    streams_count: Option<&'a Vec<u32>>,
    windows: Vec<Value>,
}

#[derive(Serialize)]
struct Latency<'a> {
    buckets: &'a Vec<Vec<i64>>,
    max_ns: &'a Vec<u64>,
    min_ns: &'a Vec<u64>,
    step_bits: Option<&'a Vec<u32>>,
    sum_ns: &'a Vec<u64>,
}

#[derive(Serialize)]
struct Slices<'a> {
    bytes: Option<&'a Vec<Vec<u64>>>,
    operations_count: &'a Vec<Vec<u64>>,
    slowest_block_index: &'a Vec<Vec<Option<u64>>>,
    slowest_ns: &'a Vec<Vec<u64>>,
}

#[derive(Serialize)]
struct Streams<'a> {
    bytes: &'a Vec<u64>,
    operations_count: &'a Vec<u64>,
    read_operations_count: &'a Vec<u64>,
    span_ns: Option<&'a Vec<u64>>,
}

fn there<T>(column: &Vec<T>) -> Option<&Vec<T>> {
    Some(column).filter(|column| !column.is_empty())
}

impl TrialColumns {
    /// The columns with measured values, and with these lists of windows and errors.
    pub(crate) fn measured(&self, windows: Vec<Value>, errors: Vec<Value>) -> Measured<'_> {
        let (latency, slices, streams) = (&self.latency, &self.slices, &self.streams);
        Measured {
            errors,
            flush_span_ns: there(&self.flush_span_ns),
            latency: Latency {
                buckets: &latency.buckets,
                max_ns: &latency.max_ns,
                min_ns: &latency.min_ns,
                step_bits: there(&latency.step_bits),
                sum_ns: &latency.sum_ns,
            },
            round_index: &self.round_index,
            slice_span_ns: there(&self.slice_span_ns),
            slices: Slices {
                bytes: there(&slices.bytes),
                operations_count: &slices.operations_count,
                slowest_block_index: &slices.slowest_block_index,
                slowest_ns: &slices.slowest_ns,
            },
            span_ns: &self.span_ns,
            started_ns: &self.started_ns,
            streams: Streams {
                bytes: &streams.bytes,
                operations_count: &streams.operations_count,
                read_operations_count: &streams.read_operations_count,
                span_ns: there(&streams.span_ns),
            },
            streams_count: there(&self.streams_count),
            windows,
        }
    }
}
