//! `cardmark probe`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cardmark_core::{IntegrityTest, StorageKind};
use cardmark_device::Blocks;
use cardmark_engine::Pulse;
use cardmark_integrity::{
    BLOCK_BYTES, Content, Medium, Probe, ProbeRequest, Progress, Restoring, Stage, Trouble,
    UndoLog, probe as look, wanted_bytes,
};
use cardmark_sim::{Model, SimMedium};

use super::keep_and_show;
use crate::args::ProbeArguments;
use crate::data::Data;
use crate::error::{CommandError, Exit};
use crate::fill_progress::FillProgress;
use crate::gate::permit_writing;
use crate::integrity::{
    Borrowed, card_name, ended_early, head, of_probe, open_log, put_back, room_for_undo, seed,
    simulated_head, tests_folder, watched,
};
use crate::measure::limit_ns;
use crate::print;
use crate::target::{Chosen, choose};
use crate::whole_device::WholeDevice;

const WHOLE: &str = "only a device as a whole has a capacity that can be a lie";
/// What single blocks take besides the samples, bytes.
const SENTINELS_BYTES: u64 = 2 << 20;

/// Finds out whether a device is a fake or broken.
pub(crate) fn probe(arguments: &ProbeArguments) -> Result<Exit, CommandError> {
    let data = Data::from_environment()?;
    data.open()?;
    match choose(&arguments.device)? {
        Chosen::Simulated(model) => simulated(arguments, &model, &data),
        Chosen::Real { path, resolution } => {
            let device = WholeDevice::of(&arguments.device, path, resolution, WHOLE)?;
            real(arguments, &device, &data)
        }
    }
}

fn request(arguments: &ProbeArguments, seed: u64) -> ProbeRequest {
    ProbeRequest {
        seed,
        cache_blocks: arguments.cache / BLOCK_BYTES as u64,
    }
}

fn simulated(arguments: &ProbeArguments, model: &Model, data: &Data) -> Result<Exit, CommandError> {
    let seed = seed(arguments.seed, true);
    let asked = format!("cache {}", arguments.cache);
    let head = simulated_head(model, IntegrityTest::Probe, seed, &asked);
    let mut medium = SimMedium::new(model, seed);
    let found = look(&mut medium, &request(arguments, seed), &mut |_| ());
    let found = found.map_err(|trouble| ended_early(trouble, None, "it is the model's fault"))?;
    let record = of_probe(head, &found, medium.blocks_count());
    keep_and_show(&record, data, arguments.json)?;
    Ok(exit_of(found.kind))
}

fn exit_of(kind: StorageKind) -> Exit {
    match kind {
        StorageKind::Genuine => Exit::Done,
        _ => Exit::Bad,
    }
}

/// A probe of a device.
struct Session<'a> {
    arguments: &'a ProbeArguments,
    request: ProbeRequest,
    pulse: Arc<Pulse>,
    /// Where what is overwritten is kept; none where nothing is to be put back.
    log: Option<PathBuf>,
}

fn real(
    arguments: &ProbeArguments,
    device: &WholeDevice,
    data: &Data,
) -> Result<Exit, CommandError> {
    let seed = seed(arguments.seed, false);
    let request = request(arguments, seed);
    let size_bytes = device.info.size_bytes.unwrap_or(0);
    let wanted = wanted_bytes(size_bytes / BLOCK_BYTES as u64, &request) + SENTINELS_BYTES;
    let log = match arguments.destroy {
        true => None,
        false => Some(log_path(arguments, device, data, wanted)?),
    };
    let what = match &log {
        Some(_) => {
            "write to small parts of a raw device, and to put back afterwards what was there"
        }
        None => "write to small parts of a raw device, and to leave them so",
    };
    let target = permit_writing(
        &device.path,
        &device.resolution,
        &arguments.consent,
        Some(wanted),
        what,
    )?;
    let head = head(&device.resolution, data, seed, target.size_bytes)?;
    let blocks_count = target.size_bytes / BLOCK_BYTES as u64;
    let pulse = Arc::new(Pulse::new());
    let blocks = Blocks::of_device(target, Arc::clone(&pulse))
        .ok_or_else(|| CommandError::new(Exit::Trouble, "there is no memory for the test"))?;
    let session = Session {
        arguments,
        request,
        pulse,
        log,
    };
    let (found, signal) = session.work(blocks)?;
    let found =
        found.map_err(|trouble| ended_early(trouble, signal, "the same command begins anew"))?;
    let record = of_probe(head, &found, blocks_count);
    keep_and_show(&record, data, arguments.json)?;
    Ok(exit_of(found.kind))
}

/// Where what is overwritten is kept, if it can be.
fn log_path(
    arguments: &ProbeArguments,
    device: &WholeDevice,
    data: &Data,
    wanted: u64,
) -> Result<PathBuf, CommandError> {
    let folder = match &arguments.save_to {
        Some(folder) => folder.clone(),
        None => tests_folder(data)?,
    };
    let Some(name) = card_name(data, &device.info.name)? else {
        return Err(CommandError::new(
            Exit::Refused,
            "what the probe overwrites could not be put back after an interruption",
        )
        .because("the device says neither a CID nor a serial number: it could not be found again")
        .hint("`--destroy` keeps nothing: what is on the device is lost")
        .hint("nothing was written"));
    };
    room_for_undo(&folder, &device.resolution, wanted)?;
    Ok(folder.join(format!("{name}.undo")))
}

type Worked = (Result<Probe, Trouble>, Option<Exit>);

impl Session<'_> {
    fn work(&self, mut blocks: Blocks) -> Result<Worked, CommandError> {
        let limit_ns = limit_ns(self.arguments.timeout);
        let Some(path) = &self.log else {
            let hint = "when the device answers again, the same command begins anew".to_owned();
            return watched(&self.pulse, limit_ns, hint, || self.look(&mut blocks));
        };
        let mut borrowed = self.borrow(blocks, path)?;
        let hint = format!(
            "what was overwritten is kept in `{}`; when the device answers again, the same command puts \
             it back",
            path.display()
        );
        let (worked, signal) = watched(&self.pulse, limit_ns, hint, || {
            if borrowed.has_earlier() {
                print::notice("an earlier probe was interrupted: first puts back what was there");
                put_back(&mut borrowed, path)?;
                borrowed = self.borrow(borrowed.into_parts().0, path)?;
            }
            let found = self.look(&mut borrowed);
            let is_gone = matches!(found, Err(Trouble::Gone { .. }));
            if !is_gone {
                put_back(&mut borrowed, path)?;
            }
            Ok::<_, CommandError>((found, borrowed.into_parts().1))
        })?;
        let (found, log) = worked?;
        if log.count() > 0 {
            print::notice(&format!(
                "what was overwritten is kept in `{}`; the same command puts it back",
                path.display()
            ));
        } else if let Err(error) = log.remove_if_empty() {
            print::notice(&format!(
                "warning: cannot remove `{}`: {error}",
                path.display()
            ));
        }
        Ok((found, signal))
    }

    /// The device, with the log of what is overwritten, perhaps an earlier probe's.
    fn borrow(&self, blocks: Blocks, path: &Path) -> Result<Borrowed, CommandError> {
        let log = open_log(path, self.request.seed)?;
        let seed = log.seed();
        Restoring::new(blocks, log, Content { seed, round: 0 })
            .map_err(|trouble| ended_early(trouble, None, "the log of an earlier probe is damaged"))
    }

    fn look(&self, medium: &mut impl Medium) -> Result<Probe, Trouble> {
        let mut progress = FillProgress::for_stderr(0, 0);
        let mut stage = None;
        let found = look(medium, &self.request, &mut |now: Progress| {
            progress.expect(now.wanted_blocks * BLOCK_BYTES as u64);
            if stage != Some(now.stage) {
                stage = Some(now.stage);
                progress.notice(told(now.stage));
            }
            progress.show(now.moved_blocks * BLOCK_BYTES as u64);
        });
        progress.end();
        found
    }
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
