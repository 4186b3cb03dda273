//! Trials in columns, as a record holds them.

use std::sync::Arc;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

mod measured;
mod slices;

pub(crate) use measured::Measured;

use slices::{SliceColumns, block_at};

use crate::buckets;
use crate::columns::{check_length, column, set, spread, unless};
use crate::{
    LatencyHistogram, OperationError, SharedWorkload, StopReason, StreamTotals, Trial, Windows,
    Workload,
};

/// Binary logarithm of the steps an octave, if a record does not name it.
const USUAL_STEP_BITS: u32 = 7;
/// Span of one slice, if a record does not name it, nanoseconds.
const USUAL_SLICE_NS: u64 = 100_000_000;

/// Timed executions in columns: element *n* of each list belongs to trial *n*. A list that would hold nothing but its
/// default is missing.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(crate) struct TrialColumns {
    /// Numbers of the trials in the run; by default 0, 1, 2 and so on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    id: Vec<u32>,
    /// The patterns as executed: indices in the record's `workloads`.
    workload: Vec<u32>,
    /// The rounds, from 0; trials of the layout count as rounds of their workload.
    round_index: Vec<u32>,
    /// Indices of the trials that laid out the file; by default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    layout: Vec<u32>,
    /// Starts, relative to the run's start on the monotonic clock, nanoseconds.
    started_ns: Vec<u64>,
    /// Spans from the first submission after the ramp to the last completion, nanoseconds.
    span_ns: Vec<u64>,
    /// Numbers of streams; by default 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    streams_count: Vec<u32>,
    /// Totals of the streams, those of trial 0 first.
    streams: StreamColumns,
    /// Latencies of all operations.
    latency: LatencyColumns,
    /// Spans of one slice, nanoseconds; by default 100,000,000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    slice_span_ns: Vec<u64>,
    /// Work done in each slice.
    slices: SliceColumns,
    /// Counters of the block layer between start (ramp included) and end (flush included).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    device_counters: Option<CounterColumns>,
    /// Bytes moved by the ramp before and the drain after the span: outside the clock, but inside
    /// the counters.
    untimed_bytes: Vec<u64>,
    /// Work of the ramp and the drain; `null` with several streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    untimed: Option<UntimedColumns>,
    /// Bytes written, ramp and drain included.
    written_bytes: Vec<u64>,
    /// Times of the flush after the trial, nanoseconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    flush_span_ns: Vec<Option<u64>>,
    /// Times per window, for each of the sizes that the workload requests; by default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    windows: Vec<Vec<Windows>>,
    /// Operations that failed; by default none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Vec<OperationError>>,
    /// Reasons for the end; by default `goal`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    stopped_by: Vec<StopReason>,
}

/// Totals of streams in columns.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
struct StreamColumns {
    /// Bytes moved.
    bytes: Vec<u64>,
    /// Operations completed.
    operations_count: Vec<u64>,
    /// Of these, reads.
    read_operations_count: Vec<u64>,
    /// Spans of the streams, nanoseconds; by default those of their trials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    span_ns: Vec<u64>,
}

/// Latencies of trials in columns. Bucket `i` of the log-linear layout with `2^bits` steps an octave holds the
/// value `i` itself below `2^bits`; above, with `o = i >> bits` and `s = i & (2^bits - 1)`, the
/// range starts at `(2^bits + s) << (o - 1)` and is `1 << (o - 1)` wide.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
struct LatencyColumns {
    /// Binary logarithms of the steps an octave; by default 7.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    step_bits: Vec<u32>,
    /// Smallest latencies, nanoseconds, exact.
    min_ns: Vec<u64>,
    /// Largest latencies, nanoseconds, exact.
    max_ns: Vec<u64>,
    /// Sums of all latencies, nanoseconds.
    sum_ns: Vec<u64>,
    /// Numbers of operations of the buckets, from bucket 0 on: −n stands for n empty buckets.
    buckets: Vec<Vec<i64>>,
}

/// Counters of the block layer in columns; `null` for a trial without them.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
struct CounterColumns {
    /// Reads completed.
    read_operations_count: Vec<Option<u64>>,
    /// Bytes read.
    read_bytes: Vec<Option<u64>>,
    /// Writes completed.
    write_operations_count: Vec<Option<u64>>,
    /// Bytes written.
    write_bytes: Vec<Option<u64>>,
}

/// Ramp and drain in columns: operations before and after the timed span; `null` for a trial without them.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
struct UntimedColumns {
    /// From the first submission to the start of the timed span, nanoseconds.
    ramp_span_ns: Vec<Option<u64>>,
    /// Operations completed in the ramp.
    ramp_operations_count: Vec<Option<u64>>,
    /// Longest latencies in the ramp, nanoseconds.
    ramp_longest_ns: Vec<Option<u64>>,
    /// From the end of the timed span to the last completion, nanoseconds.
    drain_span_ns: Vec<Option<u64>>,
    /// Longest latencies in the drain, nanoseconds.
    drain_longest_ns: Vec<Option<u64>>,
}

impl From<&[Trial]> for TrialColumns {
    fn from(trials: &[Trial]) -> Self {
        let numbers = |value: fn(&Trial) -> u64| trials.iter().map(value).collect::<Vec<u64>>();
        let is_counted = (0_u32..)
            .zip(trials)
            .all(|(number, trial)| trial.id == number);
        let ids = trials.iter().filter(|_| !is_counted);
        let layout = (0..).zip(trials).filter(|(_, trial)| trial.layout);
        let streams_count = |trial: &Trial| u32::try_from(trial.streams.len()).unwrap_or(u32::MAX);
        Self {
            id: ids.map(|trial| trial.id).collect(),
            workload: trials.iter().map(workload_number).collect(),
            round_index: trials.iter().map(|trial| trial.round_index).collect(),
            layout: layout.map(|(index, _)| index).collect(),
            started_ns: numbers(|trial| trial.started_ns),
            span_ns: numbers(|trial| trial.span_ns),
            streams_count: unless(trials, streams_count, |count| *count == 1),
            streams: StreamColumns::from(trials),
            latency: LatencyColumns::from(trials),
            slice_span_ns: unless(
                trials,
                |trial| trial.slice_span_ns,
                |span_ns| *span_ns == USUAL_SLICE_NS,
            ),
            slices: SliceColumns::from(trials),
            device_counters: CounterColumns::of(trials),
            untimed_bytes: numbers(|trial| trial.untimed_bytes),
            untimed: UntimedColumns::of(trials),
            written_bytes: numbers(|trial| trial.written_bytes),
            flush_span_ns: column(trials, |trial| trial.flush_span_ns),
            windows: unless(trials, |trial| trial.windows.clone(), Vec::is_empty),
            errors: unless(trials, |trial| trial.errors.clone(), Vec::is_empty),
            stopped_by: unless(
                trials,
                |trial| trial.stopped_by,
                |reason| *reason == StopReason::Goal,
            ),
        }
    }
}

impl From<&[Trial]> for StreamColumns {
    fn from(trials: &[Trial]) -> Self {
        let all = || trials.iter().flat_map(|trial| &trial.streams);
        let numbers = |value: fn(&StreamTotals) -> u64| all().map(value).collect();
        let is_default = trials.iter().all(|trial| {
            let mut spans = trial.streams.iter().map(|stream| stream.span_ns);
            spans.all(|span_ns| span_ns == trial.span_ns)
        });
        Self {
            bytes: numbers(|stream| stream.bytes),
            operations_count: numbers(|stream| stream.operations_count),
            read_operations_count: numbers(|stream| stream.read_operations_count),
            span_ns: match is_default {
                true => Vec::new(),
                false => numbers(|stream| stream.span_ns),
            },
        }
    }
}

impl From<&[Trial]> for LatencyColumns {
    fn from(trials: &[Trial]) -> Self {
        let numbers = |value: fn(&LatencyHistogram) -> u64| {
            trials.iter().map(|trial| value(&trial.latency)).collect()
        };
        let runs = trials
            .iter()
            .map(|trial| buckets::runs(&trial.latency.buckets));
        Self {
            step_bits: unless(
                trials,
                |trial| trial.latency.step_bits,
                |bits| *bits == USUAL_STEP_BITS,
            ),
            min_ns: numbers(|latency| latency.min_ns),
            max_ns: numbers(|latency| latency.max_ns),
            sum_ns: numbers(|latency| latency.sum_ns),
            buckets: runs.collect(),
        }
    }
}

impl CounterColumns {
    /// Returns `None` if no trial has counters.
    fn of(trials: &[Trial]) -> Option<Self> {
        let is_counted = trials.iter().any(|trial| trial.device_counters.is_some());
        is_counted.then(|| Self {
            read_operations_count: column(trials, |t| {
                t.device_counters.map(|c| c.read_operations_count)
            }),
            read_bytes: column(trials, |t| t.device_counters.map(|c| c.read_bytes)),
            write_operations_count: column(trials, |t| {
                t.device_counters.map(|c| c.write_operations_count)
            }),
            write_bytes: column(trials, |t| t.device_counters.map(|c| c.write_bytes)),
        })
    }

    fn spread<E: Error>(self, trials: &mut [Trial]) -> Result<(), E> {
        spread(trials, self.read_operations_count, |trial, value| {
            if let Some(value) = value {
                let counters = trial.device_counters.get_or_insert_default();
                counters.read_operations_count = value;
            }
        })?;
        spread(trials, self.read_bytes, |trial, value| {
            if let Some(value) = value {
                trial.device_counters.get_or_insert_default().read_bytes = value;
            }
        })?;
        spread(trials, self.write_operations_count, |trial, value| {
            if let Some(value) = value {
                let counters = trial.device_counters.get_or_insert_default();
                counters.write_operations_count = value;
            }
        })?;
        spread(trials, self.write_bytes, |trial, value| {
            if let Some(value) = value {
                trial.device_counters.get_or_insert_default().write_bytes = value;
            }
        })
    }
}

impl UntimedColumns {
    /// Returns `None` if no trial has a ramp and a drain.
    fn of(trials: &[Trial]) -> Option<Self> {
        let is_there = trials.iter().any(|trial| trial.untimed.is_some());
        is_there.then(|| Self {
            ramp_span_ns: column(trials, |t| t.untimed.map(|u| u.ramp_span_ns)),
            ramp_operations_count: column(trials, |t| t.untimed.map(|u| u.ramp_operations_count)),
            ramp_longest_ns: column(trials, |t| t.untimed.map(|u| u.ramp_longest_ns)),
            drain_span_ns: column(trials, |t| t.untimed.map(|u| u.drain_span_ns)),
            drain_longest_ns: column(trials, |t| t.untimed.map(|u| u.drain_longest_ns)),
        })
    }

    fn spread<E: Error>(self, trials: &mut [Trial]) -> Result<(), E> {
        spread(trials, self.ramp_span_ns, |trial, value| {
            if let Some(value) = value {
                trial.untimed.get_or_insert_default().ramp_span_ns = value;
            }
        })?;
        spread(trials, self.ramp_operations_count, |trial, value| {
            if let Some(value) = value {
                trial.untimed.get_or_insert_default().ramp_operations_count = value;
            }
        })?;
        spread(trials, self.ramp_longest_ns, |trial, value| {
            if let Some(value) = value {
                trial.untimed.get_or_insert_default().ramp_longest_ns = value;
            }
        })?;
        spread(trials, self.drain_span_ns, |trial, value| {
            if let Some(value) = value {
                trial.untimed.get_or_insert_default().drain_span_ns = value;
            }
        })?;
        spread(trials, self.drain_longest_ns, |trial, value| {
            if let Some(value) = value {
                trial.untimed.get_or_insert_default().drain_longest_ns = value;
            }
        })
    }
}

/// The index in the record's workloads; 0 is never written for one that is not there, see [`serialize`].
fn workload_number(trial: &Trial) -> u32 {
    trial.workload.number().unwrap_or_default()
}

/// A trial; only its number and pattern are known yet.
fn blank(id: u32, workload: u32) -> Trial {
    Trial {
        id,
        workload: SharedWorkload::numbered(workload),
        round_index: 0,
        layout: false,
        started_ns: 0,
        span_ns: 0,
        streams: Vec::new(),
        latency: LatencyHistogram {
            step_bits: USUAL_STEP_BITS,
            ..LatencyHistogram::default()
        },
        slice_span_ns: USUAL_SLICE_NS,
        slices: Vec::new(),
        device_counters: None,
        untimed_bytes: 0,
        untimed: None,
        written_bytes: 0,
        flush_span_ns: None,
        windows: Vec::new(),
        errors: Vec::new(),
        stopped_by: StopReason::Goal,
    }
}

impl TrialColumns {
    fn into_trials<E: Error>(self) -> Result<Vec<Trial>, E> {
        let numbered = (0_u32..).zip(self.workload);
        let mut trials: Vec<Trial> = numbered.map(|(id, workload)| blank(id, workload)).collect();
        let all = &mut trials[..];
        spread(all, self.id, |trial, value| trial.id = value)?;
        set(all, self.round_index, |trial, value| {
            trial.round_index = value;
        })?;
        for index in self.layout {
            let trial = usize::try_from(index).ok().and_then(|at| all.get_mut(at));
            trial
                .ok_or_else(|| E::custom(format!("no trial {index}")))?
                .layout = true;
        }
        set(all, self.started_ns, |trial, value| {
            trial.started_ns = value;
        })?;
        set(all, self.span_ns, |trial, value| trial.span_ns = value)?;
        self.streams.spread(all, self.streams_count)?;
        self.latency.spread(all)?;
        spread(all, self.slice_span_ns, |trial, value| {
            trial.slice_span_ns = value;
        })?;
        self.slices.spread(all)?;
        if let Some(counters) = self.device_counters {
            counters.spread(all)?;
        }
        set(all, self.untimed_bytes, |trial, value| {
            trial.untimed_bytes = value;
        })?;
        if let Some(untimed) = self.untimed {
            untimed.spread(all)?;
        }
        set(all, self.written_bytes, |trial, value| {
            trial.written_bytes = value;
        })?;
        spread(all, self.flush_span_ns, |trial, value| {
            trial.flush_span_ns = value;
        })?;
        spread(all, self.windows, |trial, value| trial.windows = value)?;
        spread(all, self.errors, |trial, value| trial.errors = value)?;
        spread(all, self.stopped_by, |trial, value| {
            trial.stopped_by = value;
        })?;
        Ok(trials)
    }
}

impl StreamColumns {
    fn spread<E: Error>(self, trials: &mut [Trial], counts: Vec<u32>) -> Result<(), E> {
        let count = self.bytes.len();
        for length in [
            self.operations_count.len(),
            self.read_operations_count.len(),
        ] {
            check_length(length, count, "one value for each stream")?;
        }
        let mut spans = self.span_ns.into_iter();
        if !spans.as_slice().is_empty() {
            check_length(spans.len(), count, "one value for each stream")?;
        }
        let mut all = self
            .bytes
            .into_iter()
            .zip(self.operations_count)
            .zip(self.read_operations_count);
        let mut add = |trial: &mut Trial, count: u32| {
            let span_ns = trial.span_ns;
            // The range first: it ends before an element of the next trial is taken.
            let streams =
                (0..count)
                    .zip(all.by_ref())
                    .map(|(_, ((bytes, operations_count), reads))| StreamTotals {
                        bytes,
                        operations_count,
                        read_operations_count: reads,
                        span_ns: spans.next().unwrap_or(span_ns),
                    });
            trial.streams = streams.collect();
        };
        let expected: u64 = match counts.is_empty() {
            true => trials.len() as u64,
            false => counts.iter().map(|count| u64::from(*count)).sum(),
        };
        if expected != count as u64 {
            return Err(E::custom("streams are missing"));
        }
        if counts.is_empty() {
            trials.iter_mut().for_each(|trial| add(trial, 1));
            return Ok(());
        }
        set(trials, counts, add)
    }
}

impl LatencyColumns {
    fn spread<E: Error>(self, trials: &mut [Trial]) -> Result<(), E> {
        spread(trials, self.step_bits, |trial, value| {
            trial.latency.step_bits = value;
        })?;
        set(trials, self.min_ns, |trial, value| {
            trial.latency.min_ns = value;
        })?;
        set(trials, self.max_ns, |trial, value| {
            trial.latency.max_ns = value;
        })?;
        set(trials, self.sum_ns, |trial, value| {
            trial.latency.sum_ns = value;
        })?;
        check_length(self.buckets.len(), trials.len(), "buckets of each trial")?;
        for (trial, runs) in trials.iter_mut().zip(self.buckets) {
            let read = buckets::of_runs(&runs);
            trial.latency.buckets = read.ok_or_else(|| E::custom("a bucket beyond the last"))?;
        }
        Ok(())
    }
}

/// Writes columns.
///
/// # Errors
/// If a workload is not one of the record, or an offset not that of a block.
pub(crate) fn serialize<S: Serializer>(trials: &[Trial], serializer: S) -> Result<S::Ok, S::Error> {
    use serde::ser::Error;
    for trial in trials {
        if trial.workload.number().is_none() {
            let id = trial.id;
            return Err(S::Error::custom(format!(
                "the workload of trial {id} is not shared"
            )));
        }
        let mut offsets = trial.slices.iter().filter_map(|slice| slice.3);
        if let Some(offset_bytes) = offsets.find(|offset| block_at(trial, *offset).is_none()) {
            let id = trial.id;
            let message = format!("in trial {id}, no block begins at byte {offset_bytes}");
            return Err(S::Error::custom(message));
        }
    }
    TrialColumns::from(trials).serialize(serializer)
}

/// Reads columns. Workloads and places are those of the record only after [`resolve`].
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Trial>, D::Error> {
    TrialColumns::deserialize(deserializer)?.into_trials()
}

/// Gives trials that were read their workloads, and the slices the offsets of their blocks.
///
/// # Errors
/// Number of the trial and of the workload, if `workloads` does not hold it.
pub(crate) fn resolve(trials: &mut [Trial], workloads: &[Arc<Workload>]) -> Result<(), (u32, u32)> {
    for trial in trials {
        let resolved = trial.workload.resolve(workloads);
        resolved.map_err(|number| (trial.id, number))?;
        let workload = &trial.workload;
        let (start_bytes, block_bytes) = (workload.manner.start_bytes, workload.block_bytes);
        for slice in &mut trial.slices {
            // A block beyond every device has no place.
            let place = slice.3.filter(|_| block_bytes > 0);
            let place = place.and_then(|block| block.checked_mul(block_bytes));
            slice.3 = place.and_then(|place| place.checked_add(start_bytes));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Origin, OriginKind, Record, Trial, parse_record, record_to_json};

    /// Trials with one, two and no streams, where one has everything that the others lack.
    fn rows() -> Vec<Trial> {
        let workload = json!({
            "id": "w", "read_share_percent": 0, "order": "sequential", "block_bytes": 4096,
            "queue_depth": 1, "span_bytes": 8192, "flush": "in_span", "payload": "zeros", "stop": {},
        });
        let stream = |bytes, operations: u64, span_ns: u64| json!({"bytes": bytes, "operations_count": operations, "read_operations_count": 1, "span_ns": span_ns});
        let trial = |id: u64, streams: Value, slices: Value| {
            json!({
                "id": id, "workload": workload, "round_index": id + 1, "started_ns": 10 * id, "span_ns": 9,
                "streams": streams,
                "latency": {
                    "step_bits": 7, "min_ns": 3, "max_ns": 5, "sum_ns": 8, "buckets": [-3, 1, 0, id + 1],
                },
                "slice_span_ns": 100_000_000, "slices": slices, "untimed_bytes": 4096, "written_bytes": id,
                "stopped_by": "goal",
            })
        };
        let mut rows = vec![
            trial(
                0,
                json!([stream(8192, 2, 9)]),
                json!([[4096, 1, 5, 0], [4096, 1, 3, null]]),
            ),
            trial(
                1,
                json!([stream(7, 2, 9), stream(1, 1, 8)]),
                json!([[8, 3, 5, 4096]]),
            ),
            trial(2, json!([]), json!([])),
        ];
        rows[1]["layout"] = json!(true);
        rows[1]["latency"]["step_bits"] = json!(5);
        rows[1]["stopped_by"] = json!("a_word");
        rows[1]["flush_span_ns"] = json!(6);
        rows[1]["errors"] = json!([{"offset_bytes": 1, "errno": 5, "at_ns": 2}]);
        rows[1]["windows"] = json!([{"window_bytes": 1, "windows_count": 2, "slowest": []}]);
        rows[2]["untimed"] = json!({
            "ramp_span_ns": 1, "ramp_operations_count": 2, "ramp_longest_ns": 3, "drain_span_ns": 4, "drain_longest_ns": 5,
        });
        rows[0]["device_counters"] = json!({
            "read_operations_count": 0, "read_bytes": 1, "write_operations_count": 2, "write_bytes": 3,
        });
        serde_json::from_value(Value::Array(rows)).unwrap()
    }

    fn document(trials: &Value) -> String {
        let mut document = serde_json::to_value(record(rows())).unwrap();
        document["trials"] = trials.clone();
        document.to_string()
    }

    fn record(trials: Vec<Trial>) -> Record {
        let mut record = Record::new(uuid::Uuid::nil(), Origin::of(OriginKind::Measured));
        record.trials = trials;
        record.share_workloads();
        record
    }

    fn columns(trials: Vec<Trial>) -> Value {
        let json = record_to_json(&record(trials)).unwrap();
        let json: Value = serde_json::from_str(&json).unwrap();
        json["trials"].clone()
    }

    #[test]
    fn columns_hold_what_rows_hold() {
        let read = rows();
        assert_eq!(read.len(), 3);
        let columns = columns(read.clone());
        assert_eq!(columns["id"], Value::Null);
        assert_eq!(columns["workload"], json!([0, 0, 0]));
        assert_eq!(columns["layout"], json!([1]));
        assert_eq!(columns["streams_count"], json!([1, 2, 0]));
        assert_eq!(columns["streams"]["bytes"], json!([8192, 7, 1]));
        assert_eq!(columns["streams"]["span_ns"], json!([9, 9, 8]));
        assert_eq!(
            columns["latency"]["buckets"],
            json!([[-3, 1, 0, 1], [-3, 1, 0, 2], [-3, 1, 0, 3]])
        );
        assert_eq!(columns["latency"]["step_bits"], json!([7, 5, 7]));
        // 8192 bytes are two operations of 4096; 8 bytes in 3 operations have no common size.
        assert_eq!(columns["slices"]["bytes"], json!([[], [8], []]));
        assert_eq!(
            columns["slices"]["slowest_block_index"],
            json!([[0, null], [1], []])
        );
        assert_eq!(
            columns["device_counters"]["write_bytes"],
            json!([3, null, null])
        );
        assert_eq!(columns["untimed"]["ramp_span_ns"], json!([null, null, 1]));
        assert_eq!(columns["stopped_by"], json!(["goal", "a_word", "goal"]));
        assert_eq!(parse_record(&document(&columns)).unwrap().trials, read);
    }

    #[test]
    fn a_column_of_defaults_is_missing() {
        let mut read = rows();
        read.truncate(1);
        let one = columns(read.clone());
        for missing in [
            "id",
            "layout",
            "streams_count",
            "untimed",
            "flush_span_ns",
            "windows",
            "errors",
            "slice_span_ns",
            "stopped_by",
        ] {
            assert_eq!(one[missing], Value::Null, "{missing}");
        }
        assert_eq!(one["slices"]["bytes"], Value::Null);
        assert_eq!(one["streams"]["span_ns"], Value::Null);
        assert_eq!(parse_record(&document(&one)).unwrap().trials, read);
        read[0].id = 7;
        let other = columns(read.clone());
        assert_eq!(other["id"], json!([7]));
        assert_eq!(parse_record(&document(&other)).unwrap().trials, read);
    }

    #[test]
    fn a_place_that_is_not_that_of_a_block_cannot_be_written() {
        for offset in [1, 4095, 4097] {
            let mut trials = rows();
            trials[0].slices[0].3 = Some(offset);
            assert!(record_to_json(&record(trials)).is_err(), "{offset}");
        }
        let mut trials = rows();
        trials[0].workload.manner.start_bytes = 512;
        trials[0].slices[0].3 = Some(512 + 7 * 4096);
        let columns = columns(trials);
        assert_eq!(
            columns["slices"]["slowest_block_index"][0],
            json!([7, null])
        );
    }

    #[test]
    fn a_block_beyond_every_device_has_no_place_and_the_record_can_be_written() {
        let mut far = columns(rows());
        far["slices"]["slowest_block_index"][0] = json!([9_007_199_254_740_991_u64, 1]);
        let read = parse_record(&document(&far)).unwrap();
        let places: Vec<Option<u64>> = read.trials[0].slices.iter().map(|slice| slice.3).collect();
        assert_eq!(places, [None, Some(4096)]);
        let written = record_to_json(&read).unwrap();
        assert_eq!(parse_record(&written).unwrap(), read);
    }

    #[test]
    fn columns_of_other_lengths_are_refused() {
        let good = columns(rows());
        let lists = |value: &Value| value.as_object().unwrap().clone();
        let mut places: Vec<String> = lists(&good).keys().map(|key| format!("/{key}")).collect();
        for group in ["streams", "latency", "slices", "device_counters", "untimed"] {
            // A list of trials, not a column.
            places.retain(|place| *place != format!("/{group}") && place != "/layout");
            places.extend(
                lists(&good[group])
                    .keys()
                    .map(|key| format!("/{group}/{key}")),
            );
        }
        assert!(places.len() >= 30, "{places:?}");
        for place in places {
            let mut wrong = good.clone();
            wrong
                .pointer_mut(&place)
                .unwrap()
                .as_array_mut()
                .unwrap()
                .pop();
            assert!(parse_record(&document(&wrong)).is_err(), "{place}");
        }
        for (place, value) in [
            (
                "/streams_count",
                json!([4_294_967_295_u32, 4_294_967_295_u32, 4]),
            ),
            ("/layout", json!([3])),
            ("/workload", json!([0, 1, 0])),
            ("/latency/buckets/0", json!([-5_000_000_000_i64, 1])),
            ("/slices/slowest_ns/0", json!([1])),
            ("/slices/bytes/1", json!([])),
        ] {
            let mut wrong = good.clone();
            *wrong.pointer_mut(place).unwrap() = value;
            assert!(parse_record(&document(&wrong)).is_err(), "{place}");
        }
    }
}
