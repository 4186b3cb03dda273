//! The evidence digest: the same for all copies of one measurement, whatever was changed around it.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::buckets;
use crate::{
    BlockCounts, DeviceInfo, Integrity, LatencyHistogram, Record, SurfacePart, Trial, Workload,
};

/// SHA-256, in hexadecimal digits, of what was measured: seed, sizes and registers of the devices, trials, and
/// results of integrity tests, as canonical JSON (RFC 8785) of integers and texts. Id, time, labels, host, metrics
/// and findings do not take part: records with one digest are copies of one measurement. `None` if nothing was
/// measured, as in imported and published records.
///
/// Source of the method: `docs/METHODOLOGY.md`, "Evidence digest".
#[must_use]
pub fn evidence_digest(record: &Record) -> Option<String> {
    if record.trials.is_empty() && record.integrity.is_none() && record.surface.is_empty() {
        return None;
    }
    let evidence = json!({
        "evidence": 1,
        "seed": record.seed,
        "devices": record.devices.iter().map(device).collect::<Vec<_>>(),
        "trials": record.trials.iter().map(trial).collect::<Vec<_>>(),
        "integrity": record.integrity.as_ref().map(integrity),
        "surface": record.surface.iter().map(part).collect::<Vec<_>>(),
    });
    // Keys are sorted and there is no space between tokens: canonical for integers and these names.
    let canonical = evidence.to_string();
    let digest = Sha256::digest(canonical.as_bytes());
    Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn device(device: &DeviceInfo) -> Value {
    json!({
        "size_bytes": device.size_bytes,
        "registers": device.card.as_ref().map(|card| &card.registers),
    })
}

fn trial(trial: &Trial) -> Value {
    let streams = trial.streams.iter().map(|stream| {
        json!([
            stream.bytes,
            stream.operations_count,
            stream.read_operations_count,
            stream.span_ns
        ])
    });
    json!({
        "workload": workload(&trial.workload),
        "round_index": trial.round_index,
        "started_ns": trial.started_ns,
        "span_ns": trial.span_ns,
        "streams": streams.collect::<Vec<_>>(),
        "latency": latency(&trial.latency),
        "slice_span_ns": trial.slice_span_ns,
        "slices": trial.slices.iter().map(|slice| json!([slice.0, slice.1, slice.2, slice.3])).collect::<Vec<_>>(),
        "flush_span_ns": trial.flush_span_ns,
    })
}

fn workload(workload: &Workload) -> Value {
    json!({
        "id": workload.id,
        "read_share_percent": workload.read_share_percent,
        "block_bytes": workload.block_bytes,
        "queue_depth": workload.queue_depth,
        "span_bytes": workload.span_bytes,
    })
}

fn latency(latency: &LatencyHistogram) -> Value {
    json!({
        "min_ns": latency.min_ns,
        "max_ns": latency.max_ns,
        "sum_ns": latency.sum_ns,
        "buckets": buckets::flat(&latency.buckets).collect::<Vec<_>>(),
    })
}

fn integrity(integrity: &Integrity) -> Value {
    json!({
        "test": integrity.test,
        "kind": integrity.kind,
        "size_bytes": integrity.size_bytes,
        "real_bytes": integrity.real_bytes,
        "blocks": integrity.blocks.as_ref().map(counts),
    })
}

fn counts(blocks: &BlockCounts) -> Value {
    json!([
        blocks.good_count,
        blocks.changed_count,
        blocks.wrapped_count,
        blocks.overwritten_count,
        blocks.lost_count,
        blocks.unreadable_count,
        blocks.refused_count
    ])
}

fn part(part: &SurfacePart) -> Value {
    json!([part.start_bytes, part.size_bytes, part.state])
}
