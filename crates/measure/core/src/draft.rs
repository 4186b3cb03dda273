//! Records from before the format was settled: trials, readings and buckets in other lists, fields with other names.
//!
//! Stores of those days keep such documents. All of them have a field `bytes_written`, and no settled record has.

use serde::de::Error;
use serde_json::{Map, Value, json};

use crate::trials::keep_places_of_blocks;
use crate::{Metric, Record, SensorSample, Slice, Trial, buckets};

/// Maximum size of such a document, bytes: its tree takes up to 80 times that in memory. The largest known has 694,644.
pub(crate) const MOST_BYTES: usize = 768 << 10;

const NS_PER_MS: u64 = 1_000_000;

/// Names of fields then and now.
const NAMES: [(&str, &str); 13] = [
    ("bytes_written", "written_bytes"),
    ("device_temperature_mc", "device_temperature_millicelsius"),
    ("least_count", "min_count"),
    ("least_ns", "min_ns"),
    ("module_bytes", "wrap_bytes"),
    ("most_count", "max_count"),
    ("most_frequency_hz", "max_frequency_hz"),
    ("most_lanes_count", "max_lanes_count"),
    ("most_megatransfers_per_s", "max_megatransfers_per_s"),
    ("most_ns", "max_ns"),
    ("offset", "offset_bytes"),
    ("step_bits_count", "step_bits"),
    ("temperature_mc", "temperature_millicelsius"),
];

/// Parts of a document that cannot become those of a settled one before its workloads are known.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// Trials one by one.
    trials: Vec<Trial>,
    /// Offsets of the slowest operations in the slices of trials in columns, bytes.
    offsets: Vec<Vec<Option<u64>>>,
}

/// Reads such a document; its workloads are still to be resolved, and then the rest to be added.
///
/// # Errors
/// If it is not JSON, or not of the shape that records had.
pub(crate) fn read(text: &str) -> Result<(Record, Rest), serde_json::Error> {
    let mut document: Map<String, Value> = serde_json::from_str(text)?;
    // Names of the user's own.
    let labels = document.remove("labels");
    let Value::Object(mut document) = renamed(Value::Object(document)) else {
        return Err(serde_json::Error::custom("no object"));
    };
    document.extend(labels.map(|labels| ("labels".to_owned(), labels)));
    let mut rest = Rest::default();
    let mut sensors = Vec::new();
    match document.remove("trials") {
        Some(Value::Array(rows)) => rest.trials = trials(rows, document.get("workloads"))?,
        Some(mut columns) => {
            rest.offsets = settle_columns(&mut columns)?;
            document.insert("trials".to_owned(), columns);
        }
        None => {}
    }
    match document.remove("sensors") {
        Some(Value::Array(rows)) => sensors = readings(rows)?,
        Some(mut columns) => {
            settle_times(&mut columns, "at_ns", "at_ms");
            document.insert("sensors".to_owned(), columns);
        }
        None => {}
    }
    if let Some(integrity) = document.get_mut("integrity") {
        settle_times(integrity, "rested_ns", "rested_ms");
    }
    // By way of a text: a tree would need all of the code that reads records once more.
    let mut record: Record = serde_json::from_str(&Value::Object(document).to_string())?;
    if !sensors.is_empty() {
        record.sensors = sensors;
    }
    record.metrics = record.metrics.into_iter().map(settled).collect();
    Ok((record, rest))
}

impl Rest {
    /// Adds the rest to the record, whose workloads are resolved.
    pub(crate) fn add_to(self, record: &mut Record) {
        if !self.trials.is_empty() {
            record.trials = self.trials;
        }
        for (trial, offsets) in record.trials.iter_mut().zip(self.offsets) {
            for (Slice(_, _, _, place), offset_bytes) in trial.slices.iter_mut().zip(offsets) {
                *place = offset_bytes;
            }
        }
        keep_places_of_blocks(&mut record.trials);
        if !record.is_shared() {
            record.share_workloads();
        }
    }
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

/// Reads trials that have a workload each, or its number.
fn trials(rows: Vec<Value>, workloads: Option<&Value>) -> Result<Vec<Trial>, serde_json::Error> {
    let settled = |mut row: Value| {
        if let Some(number) = row["workload"].as_u64() {
            let known = usize::try_from(number).ok();
            let known = known.and_then(|number| workloads?.get(number));
            let missing = || serde_json::Error::custom(format!("no workload {number}"));
            row["workload"] = known.ok_or_else(missing)?.clone();
        }
        if let Some(list) = row.pointer("/latency/buckets") {
            row["latency"]["buckets"] = json!(buckets::runs(&pairs(list)?));
        }
        serde_json::from_str(&row.to_string())
    };
    rows.into_iter().map(settled).collect()
}

/// Reads buckets that are pairs of index and count, or distances and counts in turn.
fn pairs(list: &Value) -> Result<Vec<(u32, u64)>, serde_json::Error> {
    let text = list.to_string();
    let mut pairs = match list.get(0).is_some_and(Value::is_array) {
        true => serde_json::from_str(&text)?,
        false => {
            let flat: Vec<u64> = serde_json::from_str(&text)?;
            of_distances(&flat).ok_or_else(|| serde_json::Error::custom("buckets without end"))?
        }
    };
    pairs.retain(|(_, count)| *count > 0);
    Ok(pairs)
}

fn of_distances(flat: &[u64]) -> Option<Vec<(u32, u64)>> {
    let mut index = 0_u32;
    let (all, []) = flat.as_chunks::<2>() else {
        return None;
    };
    let pair = |&[distance, count]: &[u64; 2]| {
        index = index.checked_add(u32::try_from(distance).ok()?)?;
        Some((index, count))
    };
    all.iter().map(pair).collect()
}

/// Reads readings one by one, to the millisecond.
fn readings(rows: Vec<Value>) -> Result<Vec<SensorSample>, serde_json::Error> {
    let text = Value::Array(rows).to_string();
    let mut readings: Vec<SensorSample> = serde_json::from_str(&text)?;
    for reading in &mut readings {
        reading.at_ns -= reading.at_ns % NS_PER_MS;
    }
    Ok(readings)
}

/// Settles columns of trials: numbers in place of flags, no places. Returns the offsets that were there.
fn settle_columns(columns: &mut Value) -> Result<Vec<Vec<Option<u64>>>, serde_json::Error> {
    if let Some(Value::Array(flags)) = columns.get("layout") {
        let trials = (0_u64..).zip(flags);
        let trials = trials.filter(|(_, flag)| **flag == json!(true));
        columns["layout"] = trials.map(|(index, _)| index).collect();
    }
    let Some(offsets) = columns.pointer_mut("/slices/slowest_offset_bytes") else {
        return Ok(Vec::new());
    };
    let offsets: Vec<Vec<Option<u64>>> = serde_json::from_str(&offsets.take().to_string())?;
    let none = |list: &Vec<Option<u64>>| json!(vec![Value::Null; list.len()]);
    columns["slices"]["slowest_block_index"] = offsets.iter().map(none).collect();
    Ok(offsets)
}

/// Moves a time, or a list of times, from nanoseconds to milliseconds.
fn settle_times(fields: &mut Value, then: &str, now: &str) {
    let whole = |time: &Value| json!(time.as_u64().map(|ns| ns / NS_PER_MS));
    let settled = match fields.get(then) {
        Some(Value::Array(times)) => times.iter().map(whole).collect(),
        Some(time) => whole(time),
        None => return,
    };
    fields[now] = settled;
}

/// The metric as it is derived now: with nine digits, and without stalls that were not seen.
fn settled(metric: Metric) -> Metric {
    let mut metric = metric.rounded();
    let parts = metric.parts.as_mut();
    if let Some(stalls) = parts.and_then(|parts| parts.stalls.as_mut()) {
        for longer in [&mut stalls.over_500ms, &mut stalls.over_1s] {
            *longer = longer.filter(|count| count.seen_count > 0);
        }
    }
    metric
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ParseError, parse_record, record_to_json};

    fn draft(trials: &Value) -> String {
        let workload = json!({
            "id": "w", "read_share_percent": 0, "order": "sequential", "block_bytes": 4096, "queue_depth": 1,
            "span_bytes": 8192, "flush": "in_span", "payload": "zeros", "stop": {}, "manner": {"start_bytes": 512},
        });
        json!({
            "format": 1, "id": "67e55044-10b1-426f-9247-bb680e5fe0c8", "origin": {"kind": "measured"},
            "bytes_written": 7, "workloads": [workload], "labels": {"offset": "mine"}, "trials": trials,
            "sensors": [{"at_ns": 1_999_999, "temperature_mc": 40_000}],
            "integrity": {
                "test": "retention", "kind": "dead", "size_bytes": 1, "real_bytes": 1, "rested_ns": 5_000_000,
            },
        })
        .to_string()
    }

    fn row(workload: u64, buckets: &Value) -> Value {
        json!([{
            "id": 0, "workload": workload, "round_index": 0, "started_ns": 0, "span_ns": 9, "streams": [],
            "latency": {"step_bits_count": 7, "min_ns": 3, "max_ns": 5, "sum_ns": 8, "buckets": buckets},
            "slice_span_ns": 100, "slices": [[0, 0, 0, 4608], [0, 0, 0, 1]], "bytes_written": 7, "stopped_by": "goal",
            "errors": [{"offset": 1, "errno": 5, "at_ns": 2}],
        }])
    }

    #[test]
    fn fields_have_their_present_names_and_units() {
        let text = draft(&row(0, &json!([[3, 1], [9, 2]])));
        let record = parse_record(&text).unwrap();
        assert_eq!(record.written_bytes, 7);
        assert_eq!(record.labels["offset"], "mine");
        assert_eq!(record.sensors[0].at_ns, 1_000_000);
        assert_eq!(record.sensors[0].temperature_millicelsius, Some(40_000));
        assert_eq!(record.integrity.as_ref().unwrap().rested_ms, Some(5));
        let trial = &record.trials[0];
        assert_eq!(trial.workload.id, "w");
        assert_eq!(trial.latency.buckets, [(3, 1), (9, 2)]);
        assert_eq!(trial.errors[0].offset_bytes, 1);
        let places: Vec<Option<u64>> = trial.slices.iter().map(|slice| slice.3).collect();
        assert_eq!(places, [Some(4608), None], "no block begins at byte 1");
        let flat = draft(&row(0, &json!([3, 1, 6, 2])));
        assert_eq!(parse_record(&flat).unwrap(), record);
        let mut again = parse_record(&record_to_json(&record).unwrap()).unwrap();
        again.labels.clone_from(&record.labels);
        assert_eq!(again, record);
    }

    #[test]
    fn broken_drafts_are_refused() {
        for buckets in [
            json!([3]),
            json!([[3]]),
            json!([u32::MAX, 1, 1, 1]),
            json!("x"),
        ] {
            assert!(
                parse_record(&draft(&row(0, &buckets))).is_err(),
                "{buckets}"
            );
        }
        assert!(parse_record(&draft(&row(1, &json!([])))).is_err());
        assert!(parse_record(&draft(&json!({}))).is_err());
        let large = draft(&row(0, &json!([]))).replace("mine", &" ".repeat(60_000));
        let large = large.replacen(':', &format!(":{}", " ".repeat(MOST_BYTES)), 1);
        let error = parse_record(&large).unwrap_err();
        assert!(matches!(error, ParseError::LargeDraft), "{error}");
    }
}
