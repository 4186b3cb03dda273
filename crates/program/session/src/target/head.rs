//! The head of a record: all that is known before anything is measured.

use cardmark_core::{
    METHOD, Origin, OriginKind, Record, Target, run_id_from_bytes, simulated_run_id,
};
use cardmark_host::{Resolution, Root};
use cardmark_sim::{Model, SIMULATION_REVISION, SimulatedCard};
use serde_json::{Value, json};

use crate::build;
use crate::data::Data;
use crate::error::CommandError;
use crate::target::describe::started_at;
use crate::target::{describe, history};

/// The head of a record of real storage.
pub(crate) fn of_storage(
    resolution: &Resolution,
    data: &Data,
    seed: u64,
    target: Target,
) -> Result<Record, CommandError> {
    let id = run_id_from_bytes(*uuid::Uuid::new_v4().as_bytes());
    let mut record = of(
        Record::new(id, Origin::of(OriginKind::Measured)),
        seed,
        target,
    );
    record.tool = Some(build::tool_with_build());
    record.started_at = started_at();
    let devices = history::devices(resolution, data)?;
    let root = Root::system();
    let others = describe::Others::start(&root, resolution);
    describe::real(&mut record, &root, resolution, devices);
    others.add_to(&mut record);
    Ok(record)
}

/// The head of a record of a simulated card. `asked` holds all parts of the request that decide its bytes.
pub(crate) fn of_model(model: &Model, seed: u64, target: Target, asked: &Value) -> Record {
    let name = model.name_on_board();
    // Not the program's version: other bytes mean another method, suite, model or revision.
    let identity = json!({
        "model": name,
        "content": model.content(),
        "seed": format!("{seed:016x}"),
        "asked": asked,
        "method": METHOD,
        "revision": SIMULATION_REVISION,
    });
    let id = simulated_run_id(&[&identity.to_string()]);
    let mut origin = Origin::of(OriginKind::Simulated);
    origin.source = Some(name);
    let mut record = of(Record::new(id, origin), seed, target);
    describe::simulated(&mut record, &SimulatedCard::new(model, seed));
    record
}

fn of(mut record: Record, seed: u64, target: Target) -> Record {
    record.method = Some(METHOD);
    record.tool = Some(build::tool());
    record.seed = Some(format!("{seed:016x}"));
    record.target = Some(target);
    record
}
