//! From a target and a request to a record: wiring of plan, back end, clock, sensors, observer.

mod applications;
pub(crate) mod describing;
mod erasing;
mod execution;
pub(crate) mod opening;
mod request;

use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::Arc;

use cardmark_core::{SuiteRef, TargetKind, TargetNeed};
use cardmark_engine::{Request, TargetRoom};
use cardmark_host::Resolution;
use cardmark_sim::{Model, SimulatedCard};
use serde_json::{Value, json};

pub use execution::Measured;
pub use opening::{device_bytes, disk_path, has_room};
pub(crate) use opening::{open_error, refuse_file_limit};
pub use request::Measurement;

use crate::error::CommandError;
use crate::target::choose::Chosen;
use crate::target::head;
use crate::voice::Silent;
use describing::{about_target, not_erased, of_run, target, threads};
use execution::{Run, add_late, on_host, real_header, same_device};
use opening::{open, plan};

/// Measures a target.
///
/// # Errors
/// If it cannot be opened or written, or the run cannot begin.
pub fn measure(job: &Measurement<'_>, target: &Chosen) -> Result<Measured, CommandError> {
    match target {
        Chosen::Simulated(model) => simulated(job, model),
        Chosen::Real { path, resolution } => real(job, path, resolution),
    }
}

/// Measures a simulated card. Board, clock and start time are simulated too.
fn simulated(job: &Measurement<'_>, model: &Model) -> Result<Measured, CommandError> {
    let card = SimulatedCard::new(model, job.request.seed);
    let place = TargetRoom::disk(TargetKind::Sim, card.capacity_bytes());
    let plan = plan(job, place)?;
    opening::tell_wear(job.session.voice, &plan, Some(card.capacity_bytes()));
    let (mut backend, mut clock, mut sensors) = card.ports();
    let target = target(TargetKind::Sim, &plan);
    let asked = asked(&plan.suite_ref, job.request);
    let head = head::of_model(model, plan.seed, target, &asked);
    let head = of_run(job, &plan, head);
    let mut run = Run::new(job, &plan, head, (Box::new(Silent), None))?;
    run.execute(&mut backend, &mut clock, &mut sensors)
}

/// The request as a part of the id of a simulated run.
fn asked(suite: &SuiteRef, request: &Request) -> Value {
    json!({
        "suite": suite.name,
        "version": suite.version,
        "only": suite.only,
        "tier": suite.tier,
        "limit_ns": request.limit_ns,
        "passes_count": request.passes_count,
        "most_bytes": request.most_bytes,
        "until_settled": request.until_settled,
        "read_only": request.read_only,
    })
}

/// Measures real storage: a file of ours in a directory, or a device.
fn real(
    job: &Measurement<'_>,
    path: &Path,
    resolution: &Resolution,
) -> Result<Measured, CommandError> {
    if job.suite.needs == TargetNeed::Filesystem {
        return applications::real(job, path, resolution);
    }
    let (plan, opened, room) = open(job, path, resolution)?;
    same_device(path, resolution, opened.device_id)?;
    let (direct, named, nocow) = (opened.direct, opened.named, opened.nocow);
    // Not dropped at the end: closing takes 256 MiB of blocks back, which may take long.
    let backend = opening::backend(path, resolution, opened, &plan);
    let mut backend = ManuallyDrop::new(backend.with_pulse(Arc::clone(&job.session.pulse)));
    let mut described = target(resolution.kind, &plan);
    described.free_bytes = room.map(|room| room.free_bytes);
    described.filesystem_bytes = room.map(|room| room.size_bytes);
    described.direct = Some(direct);
    described.nocow = nocow.then_some(true);
    described.named_file = Some(named);
    let writes_first = plan.layout.is_some() || plan.suite.is_preconditioned();
    described.payload_rate_bytes_per_s = writes_first
        .then(|| backend.payload_rate_bytes_per_s())
        .flatten();
    let about = about_target(direct, resolution.kind, writes_first);
    let header = real_header(job, &plan, resolution, described, about)?;
    // After the header, which has the preparation of the card until now.
    let erasing = erasing::begin_erasing(&plan, resolution, job.session.data)?;
    let mut measured = on_host(job, &plan, header, resolution, &mut *backend)?;
    let kept_content = not_erased(&backend);
    if let (Some(erasing), None) = (erasing, &kept_content) {
        erasing.finish(&measured.record)?;
    }
    let late = threads(&backend).into_iter().chain(kept_content);
    add_late(job, &mut measured, late.collect());
    match job.session.signals {
        Some(_) => drop(ManuallyDrop::into_inner(backend)),
        None => measured.device = Some(backend),
    }
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use cardmark_core::Target;

    use super::*;

    /// Each part of a request decides bytes of a simulated run.
    #[test]
    fn other_requests_have_other_ids() {
        let suite = SuiteRef {
            name: "quick".to_owned(),
            version: 2,
            digest: None,
            only: Vec::new(),
            tier: None,
        };
        let mut suites = vec![suite; 4];
        suites[1].version = 3;
        suites[2].only = vec!["rand_read_4k".to_owned()];
        suites[3].tier = Some("raw-full".to_owned());
        let mut requests = vec![Request::default(); 6];
        requests[1].read_only = true;
        requests[2].limit_ns = 1;
        requests[3].passes_count = Some(2);
        requests[4].most_bytes = Some(2);
        requests[5].until_settled = true;
        let of_suites = suites.iter().map(|suite| asked(suite, &requests[0]));
        let of_requests = requests.iter().map(|request| asked(&suites[0], request));
        let all: Vec<Value> = of_suites.chain(of_requests).collect();
        let mut ids = BTreeSet::new();
        for model in ["a1-32gb", "a2-64gb"] {
            let model = Model::named(model).unwrap();
            for (seed, asked) in [1, 2]
                .iter()
                .flat_map(|seed| all.iter().map(move |a| (*seed, a)))
            {
                let target = Target::of(TargetKind::Sim);
                ids.insert(head::of_model(&model, seed, target, asked).id);
            }
        }
        // The first suite with the first request is there twice.
        assert_eq!(ids.len(), 2 * 2 * (all.len() - 1));
    }
}
