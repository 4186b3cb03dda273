//! `cardmark info`.

use cardmark_cards::{RegisterField, Registers};
use cardmark_core::{
    Context, METHOD, Origin, OriginKind, Record, Target, TargetKind, run_id_from_bytes,
};
use cardmark_host::{Resolution, Root, register_texts};
use cardmark_judge::{judge, notice};
use cardmark_report::identity;
use cardmark_sim::{Model, SimulatedCard};
use serde_json::json;

use crate::args::InfoArguments;
use crate::error::{CommandError, Exit};
use crate::runs::labels::labels;
use crate::terminal::print;
use cardmark_session::describe::{self, hidden};
use cardmark_session::{Chosen, choose};

/// Describes a target. Nothing is written, not even to the store.
pub(crate) fn info(arguments: &InfoArguments) -> Result<Exit, CommandError> {
    let root = Root::system();
    let mut record = match choose(&arguments.target)? {
        Chosen::Simulated(model) => simulated(&model),
        Chosen::Real { resolution, .. } => {
            let others = describe::Others::start(&root, &resolution);
            let mut record = real(&root, &resolution);
            others.add_to(&mut record);
            record
        }
    };
    record.labels = labels(&[], &arguments.claim).into_iter().collect();
    notice(&mut record);
    record.derived = judge(&record, None);
    let hidden = hidden(&record, &root);
    let text = if arguments.json {
        as_json(&root, &record, &hidden)?
    } else {
        identity(&record, &hidden, print::width(), print::style())
    };
    print::output(arguments.json, &text)?;
    Ok(Exit::Done)
}

/// The head of a record of this target.
fn real(root: &Root, resolution: &Resolution) -> Record {
    let mut record = empty(OriginKind::Measured, resolution.kind);
    describe::real(&mut record, root, resolution, resolution.disks.clone());
    record
}

fn simulated(model: &Model) -> Record {
    let mut record = empty(OriginKind::Simulated, TargetKind::Sim);
    describe::simulated(&mut record, &SimulatedCard::new(model, 0));
    record
}

fn empty(origin: OriginKind, kind: TargetKind) -> Record {
    let mut record = Record::new(run_id_from_bytes([0; 16]), Origin::of(origin));
    record.method = Some(METHOD);
    record.target = Some(Target::of(kind));
    record
}

/// Each field of the registers of the card that a device is on.
fn register_fields(root: &Root, name: &str) -> Vec<RegisterField> {
    let texts = register_texts(root, name);
    texts.map_or_else(Vec::new, |found| {
        Registers::from_hex(found.kind, &found.texts).fields()
    })
}

/// All that is known: what a record would hold, and each field of the registers.
fn as_json(root: &Root, record: &Record, hidden: &[&str]) -> Result<String, CommandError> {
    let fields: Vec<_> = record
        .devices
        .iter()
        .map(|device| json!({"device": device.name, "fields": register_fields(root, &device.name)}))
        .collect();
    let value = json!({
        "target": record.target,
        "devices": record.devices,
        "board": record.board,
        "host": record.host,
        "context": Context::of(record),
        "labels": record.labels,
        "findings": record.findings,
        "derived": record.derived,
        "registers": fields,
        "hidden": hidden,
    });
    print::pretty(&value)
}

#[cfg(test)]
mod tests;
