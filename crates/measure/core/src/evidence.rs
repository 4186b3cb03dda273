//! The evidence digest: the same for all copies of one measurement, whatever was changed around it.

use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::trials::{Measured, TrialColumns};
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
pub fn evidence_digest(record: &Record) -> Option<String> {
    let test = record.integrity.as_ref();
    let is_timed_test = test.is_some_and(|test| !test.written.is_empty() || !test.read.is_empty());
    if record.trials.is_empty() && record.anatomy.is_none() && !is_timed_test {
        return None;
    }
    let columns = TrialColumns::from(record.trials.as_slice());
    let lists = |list: fn(&Trial) -> Value| record.trials.iter().map(list).collect::<Vec<_>>();
    let windows = lists(|trial| windows(&trial.windows));
    let errors = lists(|trial| errors(&trial.errors));
    let evidence = Evidence {
        anatomy: record.anatomy.as_ref().map(anatomy),
        evidence: 1,
        integrity: test.map(integrity),
        read_back: record
            .read_back
            .map(|back| json!([back.read_bytes, back.lost_bytes, back.first_lost_bytes])),
        seed: record.seed.as_deref(),
        surface: record.surface.iter().map(part).collect(),
        trials: (!record.trials.is_empty()).then(|| columns.measured(windows, errors)),
        workloads: record
            .trials
            .iter()
            .map(|trial| workload(&trial.workload))
            .collect(),
    };
    let canonical = serde_json::to_string(&evidence).ok()?;
    let digest = Sha256::digest(canonical.as_bytes());
    Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The canonical form: members are in the order of their names, and there is no space between tokens; all numbers are integers.
#[derive(Serialize)]
struct Evidence<'a> {
    anatomy: Option<Value>,
    evidence: u32,
    integrity: Option<Value>,
    read_back: Option<Value>,
    seed: Option<&'a str>,
    surface: Vec<Value>,
    trials: Option<Measured<'a>>,
    workloads: Vec<Value>,
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
