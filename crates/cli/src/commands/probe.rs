//! `cardmark probe`.

use cardmark_core::StorageKind;
use cardmark_integrity::{
    BLOCK_BYTES, Medium, Probe, ProbeRequest, Progress, Stage, Trouble, probe as look, rehearse,
    wanted_bytes,
};
use cardmark_sim::{Model, SimMedium};
use cardmark_store::JobKind;

use super::keep_and_show;
use crate::args::ProbeArguments;
use crate::error::{CommandError, Exit};
use crate::fill_progress::FillProgress;
use crate::integrity::{Work, ended_early, head, lend, of_probe, seed, simulated_head};
use crate::whole_device::{Tested, WholeDevice};
use cardmark_session::{Data, Progress as _};

const WHOLE: &str = "only a device as a whole has a capacity that can be a lie";
/// Room for single blocks beside the samples, bytes.
const SENTINELS_BYTES: u64 = 2 << 20;

/// Finds out whether a device is a fake or broken.
pub(crate) fn probe(arguments: &ProbeArguments) -> Result<Exit, CommandError> {
    let tested = Tested::to_write(&arguments.device, WHOLE)?;
    let data = Data::from_environment()?;
    data.open()?;
    match tested {
        Tested::Simulated(model) => simulated(arguments, &model, &data),
        Tested::Device(device) => real(arguments, &device, &data),
    }
}

fn request(arguments: &ProbeArguments, seed: u64) -> ProbeRequest {
    ProbeRequest {
        seed,
        cache_blocks: arguments.cache / BLOCK_BYTES as u64,
    }
}

fn simulated(arguments: &ProbeArguments, model: &Model, data: &Data) -> Result<Exit, CommandError> {
    let seed = seed(arguments.test.seed, true);
    let asked = format!("Probe cache {}", arguments.cache);
    let head = simulated_head(model, &asked, seed);
    let mut medium = SimMedium::new(model, seed);
    let found = look(&mut medium, &request(arguments, seed), &mut |_| ());
    let found = found.map_err(|trouble| ended_early(trouble, None, "it is the model's fault"))?;
    let record = of_probe(head, &found, medium.blocks_count());
    keep_and_show(&record, data, arguments.test.json)?;
    Ok(exit_of(found.kind))
}

fn exit_of(kind: StorageKind) -> Exit {
    match kind {
        StorageKind::Confirmed => Exit::Done,
        _ => Exit::Bad,
    }
}

fn real(
    arguments: &ProbeArguments,
    device: &WholeDevice,
    data: &Data,
) -> Result<Exit, CommandError> {
    let seed = seed(arguments.test.seed, false);
    let request = request(arguments, seed);
    let size_bytes = device.info.size_bytes.unwrap_or(0);
    let wanted = wanted_bytes(size_bytes / BLOCK_BYTES as u64, &request) + SENTINELS_BYTES;
    let consent = &arguments.test.consent;
    let loan = lend(
        &arguments.loan,
        consent,
        device,
        data,
        (JobKind::Probe, wanted),
    )?;
    let tested_bytes = loan.target.size_bytes;
    let head = head(&device.resolution, data, seed, tested_bytes)?;
    let work = Work {
        plan: &|blocks_count, grain_blocks| {
            rehearse(blocks_count, grain_blocks, |mut medium| {
                look(&mut medium, &request, &mut |_| ())
            })
        },
        look: &|medium| shown(medium, &request),
    };
    let worked = loan.work(data, arguments.test.timeout, &work)?;
    let mut record = of_probe(head, &worked.found, tested_bytes / BLOCK_BYTES as u64);
    record.bytes_written += worked.put_back_bytes();
    let exit = exit_of(worked.found.kind);
    let kept = keep_and_show(&record, data, arguments.test.json);
    worked.restored(kept.map(|()| exit))
}

/// Probes the card and shows the progress.
fn shown(mut medium: &mut dyn Medium, request: &ProbeRequest) -> Result<Probe, Trouble> {
    let mut bar = FillProgress::for_stderr(0, 0);
    let mut stage = None;
    let found = look(&mut medium, request, &mut |now: Progress| {
        bar.expect(now.wanted_blocks * BLOCK_BYTES as u64);
        if stage != Some(now.stage) {
            stage = Some(now.stage);
            bar.notice(told(now.stage));
        }
        bar.show(now.moved_blocks * BLOCK_BYTES as u64);
    });
    drop(bar);
    found
}

fn told(stage: Stage) -> &'static str {
    match stage {
        Stage::Sentinels => "writes and reads single blocks",
        Stage::Repetition => "looks for addresses that repeat",
        Stage::Samples => "writes samples",
        Stage::Displacing => "writes more than a cache holds",
        Stage::Reading => "reads the samples",
        Stage::Boundary => "seeks where what is kept ends",
    }
}
