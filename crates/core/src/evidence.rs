//! The evidence digest: the same for all copies of one measurement, whatever was changed around it.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::trials::TrialColumns;
use crate::{
    Anatomy, BlockCounts, Integrity, OperationError, PlaceSpeed, Record, SurfacePart, Trial,
    Windows, Workload,
};

/// SHA-256, in hexadecimal digits, of the measurements: seed, trials, read-back, and results of tests of storage, as
/// canonical JSON (RFC 8785) of integers and texts. Id, time, labels, host, devices, metrics, findings and verdicts do
/// not take part: records with one digest are copies of one measurement. `None` without
/// measured times, as in imported and published records, and in those of probes: two cards can give equal ones.
///
/// Source of the method: `docs/RECORD.md`, "Evidence digest".
#[must_use]
pub fn evidence_digest(record: &Record) -> Option<String> {
    let test = record.integrity.as_ref();
    let is_timed_test = test.is_some_and(|test| !test.written.is_empty() || !test.read.is_empty());
    if record.trials.is_empty() && record.anatomy.is_none() && !is_timed_test {
        return None;
    }
    let evidence = json!({
        "evidence": 1,
        "seed": record.seed,
        "workloads": record.trials.iter().map(|trial| workload(&trial.workload)).collect::<Vec<_>>(),
        "trials": trials(&record.trials),
        "read_back": record.read_back.map(|back| json!([back.read_bytes, back.lost_bytes, back.first_lost_bytes])),
        "integrity": record.integrity.as_ref().map(integrity),
        "anatomy": record.anatomy.as_ref().map(anatomy),
        "surface": record.surface.iter().map(part).collect::<Vec<_>>(),
    });
    // Keys are sorted and there is no space between tokens: canonical for integers and these names.
    let canonical = evidence.to_string();
    let digest = Sha256::digest(canonical.as_bytes());
    Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Takes the named members out of an object, `null` for those that it does not have.
fn members(object: &mut Value, names: &[&str]) -> Value {
    let mut member = |name: &&str| {
        let value = object.get_mut(*name).map(Value::take);
        ((*name).to_owned(), value.unwrap_or_default())
    };
    Value::Object(names.iter().map(&mut member).collect::<Map<_, _>>())
}

/// Columns of the record that hold measured values.
fn trials(trials: &[Trial]) -> Option<Value> {
    if trials.is_empty() {
        return None;
    }
    // Integers and words have a form in JSON.
    let mut columns = serde_json::to_value(TrialColumns::from(trials)).unwrap_or_default();
    let names = [
        "round_index",
        "started_ns",
        "span_ns",
        "streams_count",
        "slice_span_ns",
        "flush_span_ns",
    ];
    let mut evidence = members(&mut columns, &names);
    let groups: [(&str, &[&str]); 3] = [
        (
            "streams",
            &[
                "bytes",
                "operations_count",
                "read_operations_count",
                "span_ns",
            ],
        ),
        (
            "latency",
            &["step_bits", "min_ns", "max_ns", "sum_ns", "buckets"],
        ),
        (
            "slices",
            &[
                "bytes",
                "operations_count",
                "slowest_ns",
                "slowest_block_index",
            ],
        ),
    ];
    for (group, names) in groups {
        let mut columns = columns.get_mut(group).map(Value::take).unwrap_or_default();
        evidence[group] = members(&mut columns, names);
    }
    evidence["windows"] = trials.iter().map(|trial| windows(&trial.windows)).collect();
    evidence["errors"] = trials.iter().map(|trial| errors(&trial.errors)).collect();
    Some(evidence)
}

fn windows(all: &[Windows]) -> Value {
    let slowest = |windows: &Windows| -> Value {
        let all = windows.slowest.iter();
        all.map(|one| json!([one.start_bytes, one.span_ns]))
            .collect()
    };
    let all = all.iter();
    all.map(|one| json!([one.window_bytes, one.windows_count, slowest(one)]))
        .collect()
}

fn errors(all: &[OperationError]) -> Value {
    let all = all.iter();
    all.map(|one| json!([one.offset_bytes, one.errno, one.at_ns]))
        .collect()
}

fn workload(workload: &Workload) -> Value {
    json!({
        "id": workload.id,
        "read_share_percent": workload.read_share_percent,
        "order": workload.order,
        "block_bytes": workload.block_bytes,
        "queue_depth": workload.queue_depth,
        "span_bytes": workload.span_bytes,
        "flush": workload.flush,
        "payload": workload.payload,
    })
}

fn integrity(integrity: &Integrity) -> Value {
    let sampling = integrity.sampling.as_ref();
    json!({
        "test": integrity.test,
        "from_bytes": integrity.from_bytes,
        "size_bytes": integrity.size_bytes,
        "real_bytes": integrity.real_bytes,
        "wrap_bytes": integrity.wrap_bytes,
        "map_cell_bytes": integrity.map_cell_bytes,
        "cycles_count": integrity.cycles_count,
        "rested_ms": integrity.rested_ms,
        "blocks": integrity.blocks.as_ref().map(counts),
        "sampling": sampling.map(|s| json!([s.samples_count, s.bad_samples_count])),
        "written": integrity.written.iter().map(speed).collect::<Vec<_>>(),
        "read": integrity.read.iter().map(speed).collect::<Vec<_>>(),
        "slow": integrity.slow.iter().map(speed).collect::<Vec<_>>(),
        "differing_bytes": integrity.differing_bytes,
        "pattern": integrity.pattern,
        "queue_depth": integrity.queue_depth,
        "discarded_bytes": integrity.discarded_bytes,
        "cuts_count": integrity.cuts_count,
        "acknowledged_count": integrity.acknowledged_count,
        "lost_acknowledged_count": integrity.lost_acknowledged_count,
        "collateral_count": integrity.collateral_count,
    })
}

fn speed(speed: &PlaceSpeed) -> Value {
    json!([speed.start_bytes, speed.size_bytes, speed.span_ns])
}

fn anatomy(anatomy: &Anatomy) -> Value {
    let boundaries = anatomy.boundaries.iter();
    let turns = anatomy.turns.iter();
    json!({
        "size_bytes": anatomy.size_bytes,
        "read_bytes": anatomy.read_bytes,
        "read_ns": anatomy.read_ns,
        "boundaries": boundaries
            .map(|b| json!([b.size_bytes, b.places_count, b.more_ns, b.error_ns]))
            .collect::<Vec<_>>(),
        "write_bytes": anatomy.write_bytes,
        "turns": turns
            .map(|t| json!([t.units_count, t.write_ns, t.min_ns, t.max_ns]))
            .collect::<Vec<_>>(),
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
    json!([
        part.start_bytes,
        part.size_bytes,
        part.state,
        part.written_to_bytes
    ])
}
