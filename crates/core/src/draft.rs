//! Records from before the format was settled: trials, readings and buckets in other lists, fields with other names.
//!
//! Stores of those days keep such documents. All of them have a field `bytes_written`, and no settled record has.

use serde::de::Error;
use serde_json::{Map, Value, json};

use crate::{Record, SensorSample, Trial};

/// Field by which such a document is known.
pub(crate) const MARK: &str = "bytes_written";

/// Names of fields then and now.
const NAMES: [(&str, &str); 12] = [
    (MARK, "written_bytes"),
    ("device_temperature_mc", "device_temperature_millicelsius"),
    ("least_count", "min_count"),
    ("least_ns", "min_ns"),
    ("module_bytes", "wrap_bytes"),
    ("most_count", "max_count"),
    ("most_frequency_hz", "max_frequency_hz"),
    ("most_megatransfers_per_s", "max_megatransfers_per_s"),
    ("most_ns", "max_ns"),
    ("offset", "offset_bytes"),
    ("step_bits_count", "step_bits"),
    ("temperature_mc", "temperature_millicelsius"),
];

/// Reads such a document.
///
/// # Errors
/// If it is not JSON, or not of the shape that records had.
pub(crate) fn read(text: &str) -> Result<Record, serde_json::Error> {
    let mut document: Map<String, Value> = serde_json::from_str(text)?;
    let labels = document.remove("labels");
    let mut document = renamed(Value::Object(document));
    if let Some(labels) = labels {
        document["labels"] = labels;
    }
    let workloads = document["workloads"].clone();
    let mut rows = take_rows(&mut document, "trials");
    let readings = take_rows(&mut document, "sensors");
    if let Some(rest) = document
        .pointer_mut("/integrity/rested_ns")
        .map(Value::take)
    {
        document["integrity"]["rested_ms"] = json!(rest.as_u64().map(|ns| ns / 1_000_000));
    }
    if document["trials"].is_object() {
        settle_columns(&mut document["trials"], &workloads);
    }
    if let Some(times) = document.pointer_mut("/sensors/at_ns").map(Value::take) {
        let times = times.as_array().into_iter().flatten();
        let at_ms: Value = times
            .map(|at| at.as_u64().map(|at_ns| at_ns / 1_000_000))
            .collect();
        document["sensors"]["at_ms"] = at_ms;
    }
    let mut record: Record = serde_json::from_value(document)?;
    let missing = |(trial, number)| {
        format!("trial {trial} names workload {number}, which the record does not hold")
    };
    record
        .resolve_workloads()
        .map_err(|named| serde_json::Error::custom(missing(named)))?;
    for row in &mut rows {
        settle_row(row, &workloads);
    }
    if !rows.is_empty() {
        record.trials = serde_json::from_value::<Vec<Trial>>(Value::Array(rows))?;
        crate::trials::keep_places_of_blocks(&mut record.trials);
        record.share_workloads();
    }
    if !readings.is_empty() {
        record.sensors = serde_json::from_value::<Vec<SensorSample>>(Value::Array(readings))?;
        for sample in &mut record.sensors {
            sample.at_ns -= sample.at_ns % 1_000_000;
        }
    }
    let metrics = std::mem::take(&mut record.metrics).into_iter();
    record.metrics = metrics.map(crate::Metric::rounded).collect();
    let parts = record
        .metrics
        .iter_mut()
        .filter_map(|metric| metric.parts.as_mut());
    for stalls in parts.filter_map(|parts| parts.stalls.as_mut()) {
        for longer in [&mut stalls.over_500ms, &mut stalls.over_1s] {
            *longer = longer.filter(|count| count.seen_count > 0);
        }
    }
    Ok(record)
}

fn renamed(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let name = |name: String| {
                let now = NAMES.iter().find(|(then, _)| *then == name);
                now.map_or(name, |(_, now)| (*now).to_owned())
            };
            let fields = fields.into_iter();
            Value::Object(fields.map(|(key, one)| (name(key), renamed(one))).collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(renamed).collect()),
        other => other,
    }
}

/// Takes a list of objects out of the document; columns stay there.
fn take_rows(document: &mut Value, field: &str) -> Vec<Value> {
    match document.get_mut(field).map(Value::take) {
        Some(Value::Array(rows)) => {
            document[field] = Value::Null;
            document.as_object_mut().map(|fields| fields.remove(field));
            rows
        }
        Some(columns) => {
            document[field] = columns;
            Vec::new()
        }
        None => Vec::new(),
    }
}

/// Gives a trial its workload, and its buckets the form of runs.
fn settle_row(row: &mut Value, workloads: &Value) {
    if let Some(number) = row["workload"].as_u64() {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        row["workload"] = workloads[number].clone();
    }
    if let Some(Value::Array(list)) = row.pointer("/latency/buckets") {
        let runs = crate::buckets::runs(&buckets(list));
        row["latency"]["buckets"] = json!(runs);
    }
}

/// Buckets as pairs of index and count, or as distances and counts in turn.
fn buckets(list: &[Value]) -> Vec<(u32, u64)> {
    let pair = |pair: &[Value]| {
        let index = u32::try_from(pair.first()?.as_u64()?).ok()?;
        Some((index, pair.get(1)?.as_u64()?))
    };
    if list.first().is_some_and(Value::is_array) {
        let pairs = list.iter().filter_map(Value::as_array);
        return pairs
            .filter_map(|one| pair(one))
            .filter(|(_, count)| *count > 0)
            .collect();
    }
    let mut index = 0_u32;
    let distances = list.chunks(2).filter_map(pair);
    distances
        .map(|(distance, count)| {
            index = index.saturating_add(distance);
            (index, count)
        })
        .filter(|(_, count)| *count > 0)
        .collect()
}

/// Columns of trials: numbers in place of flags, blocks in place of offsets.
fn settle_columns(columns: &mut Value, workloads: &Value) {
    if let Some(Value::Array(flags)) = columns.get("layout") {
        let trials = (0..).zip(flags).filter(|(_, flag)| **flag == json!(true));
        let trials: Value = trials.map(|(index, _): (u64, _)| index).collect();
        columns["layout"] = trials;
    }
    let Some(Value::Array(lists)) = columns.pointer("/slices/slowest_offset_bytes") else {
        return;
    };
    let numbers = columns["workload"].as_array().into_iter().flatten();
    let blocks = lists.iter().zip(numbers).map(|(offsets, number)| {
        let number = number
            .as_u64()
            .and_then(|number| usize::try_from(number).ok());
        let workload = &workloads[number.unwrap_or(usize::MAX)];
        let start_bytes = workload["manner"]["start_bytes"].as_u64().unwrap_or(0);
        let block_bytes = workload["block_bytes"].as_u64().unwrap_or(1);
        let block = |offset: &Value| {
            let place = offset.as_u64()?.checked_sub(start_bytes)?;
            place.checked_div(block_bytes)
        };
        let offsets = offsets.as_array().into_iter().flatten();
        offsets.map(block).collect::<Value>()
    });
    let blocks: Value = blocks.collect();
    columns["slices"]["slowest_block_index"] = blocks;
}
