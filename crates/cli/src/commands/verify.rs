//! `cardmark verify`.

use std::path::Path;
use std::sync::Arc;

use cardmark_core::{Record, StorageKind};
use cardmark_device::{Blocks, free_bytes};
use cardmark_engine::Pulse;
use cardmark_host::Resolution;
use cardmark_integrity::{BLOCK_BYTES, Content, Medium, Trouble, Verify};
use cardmark_report::text;
use cardmark_sim::{Model, SimMedium};

use super::keep_and_show;
use crate::args::VerifyArguments;
use crate::data::Data;
use crate::error::{CommandError, Exit};
use crate::gate::{Intent, permit_writing, refuse_used};
use crate::integrity::{
    Kept, TestFolder, Told, Traces, blocks_of, card_name, day_of, drive, drive_simulated,
    ended_early, head, of_verify, refuse_changed, seed, simulated_head, tell_anew, tests_folder,
    watched,
};
use crate::measure::limit_ns;
use crate::print;
use crate::target::{Chosen, choose};
use crate::whole_device::WholeDevice;

const WHOLE: &str = "a device is verified as a whole, or what is free in a directory";
/// Name of the test in what is remembered of it.
const NAME: &str = "verify";
/// Folder of the files in a directory that is verified.
const FOLDER: &str = "cardmark-verify";
/// Room left free on a filesystem, bytes: a full root filesystem harms a board.
const RESERVE_BYTES: u64 = 64 << 20;
/// What is used of a directory is a multiple of this, bytes.
const UNIT_BYTES: u64 = 1 << 20;

/// Writes and reads every block.
pub(crate) fn verify(arguments: &VerifyArguments) -> Result<Exit, CommandError> {
    let chosen = choose(&arguments.target)?;
    if let Chosen::Real { path, resolution } = &chosen {
        refuse_used(path, resolution)?;
    }
    let data = Data::from_environment()?;
    data.open()?;
    match chosen {
        Chosen::Simulated(model) => simulated(arguments, &model, &data),
        Chosen::Real { path, resolution } if path.is_dir() => {
            in_directory(arguments, &path, &resolution, &data)
        }
        Chosen::Real { path, resolution } => {
            let device = WholeDevice::of(&arguments.target, path, resolution, WHOLE)?;
            on_device(arguments, &device, &data)
        }
    }
}

fn simulated(
    arguments: &VerifyArguments,
    model: &Model,
    data: &Data,
) -> Result<Exit, CommandError> {
    let seed = seed(arguments.test.seed, true);
    let head = simulated_head(model, "Verify ", seed);
    let mut medium = SimMedium::new(model, seed);
    let mut test = Verify::new(medium.blocks_count(), Content { seed, round: 0 });
    drive_simulated(&mut test, &mut medium)
        .map_err(|trouble| ended_early(trouble, None, "it is the model's fault"))?;
    finish(head, &test, data, arguments.test.json)
}

/// Keeps and shows what a test found that came to its end.
fn finish(head: Record, test: &Verify, data: &Data, as_json: bool) -> Result<Exit, CommandError> {
    let verdict = test
        .verdict()
        .ok_or_else(|| CommandError::new(Exit::Bug, "the test has no verdict"))?;
    keep_and_show(&of_verify(head, test, &verdict), data, as_json)?;
    Ok(match verdict.kind {
        StorageKind::Confirmed => Exit::Done,
        _ => Exit::Bad,
    })
}

fn on_device(
    arguments: &VerifyArguments,
    device: &WholeDevice,
    data: &Data,
) -> Result<Exit, CommandError> {
    let size_bytes = device.info.size_bytes.unwrap_or(0);
    let blocks_count = size_bytes / BLOCK_BYTES as u64;
    let name = card_name(data, &device.info.name)?;
    let begun = begun(arguments, name.as_deref(), blocks_count, data)?;
    let written = begun
        .test
        .as_ref()
        .map_or(0, |(_, test)| test.written_blocks());
    let target = permit_writing(
        &device.path,
        &device.resolution,
        &arguments.test.consent,
        &Intent {
            what: "write to every block of a raw device",
            bytes_to_write: Some(size_bytes.saturating_sub(written * BLOCK_BYTES as u64)),
            puts_back: false,
        },
    )?;
    refuse_changed(device, name.as_deref(), &target, data)?;
    let pulse = Arc::new(Pulse::new());
    let mut blocks = blocks_of(target, &pulse)?;
    let session = Session {
        arguments,
        resolution: &device.resolution,
        data,
        pulse,
        seed: seed(arguments.test.seed, false),
        files: None,
    };
    session.work(begun, blocks_count, &mut blocks)
}

fn in_directory(
    arguments: &VerifyArguments,
    path: &Path,
    resolution: &Resolution,
    data: &Data,
) -> Result<Exit, CommandError> {
    let files = path.join(FOLDER);
    let unusable = |error: &dyn std::error::Error| CommandError::from_error(Exit::Trouble, error);
    let name = directory_name(path, data)?;
    let mut begun = begun(arguments, Some(&name), 0, data)?;
    let kept = TestFolder::find(&files)?;
    if !kept.belongs_to(begun.test.as_ref().map(|(_, test)| test.content().seed)) {
        if begun.test.take().is_some() {
            print::notice("begins anew: the files of the interrupted test are gone");
        }
        // Of a test that nothing is remembered of: its content cannot be told from any other.
        kept.remove()?;
    }
    // Its lock with it.
    drop(kept);
    let free = free_bytes(path).map_err(|error| unusable(&error))?;
    let wanted = arguments.size.unwrap_or(u64::MAX);
    let usable = free.saturating_sub(RESERVE_BYTES).min(wanted) / UNIT_BYTES * UNIT_BYTES;
    let blocks_count = match &begun.test {
        Some((_, test)) => test.blocks_count(),
        None => usable / BLOCK_BYTES as u64,
    };
    if blocks_count == 0 {
        let what = format!("not enough room in `{}`", path.display());
        return Err(CommandError::new(Exit::Trouble, what)
            .because(format!("{} are free", text::amount(free)))
            .hint("free some room, or name a directory on another filesystem"));
    }
    let seed = begun.test.as_ref().map_or_else(
        || seed(arguments.test.seed, false),
        |(_, test)| test.content().seed,
    );
    let folder = TestFolder::make(&files, seed)?;
    let pulse = Arc::new(Pulse::new());
    let mut blocks = Blocks::in_folder(&files, blocks_count, Arc::clone(&pulse))
        .map_err(|error| unusable(&error))?;
    let session = Session {
        arguments,
        resolution,
        data,
        pulse,
        seed,
        files: Some(folder),
    };
    session.work(begun, blocks_count, &mut blocks)
}

/// A name for what is remembered of a test in that directory.
fn directory_name(path: &Path, data: &Data) -> Result<String, CommandError> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(path).map_err(|error| {
        CommandError::new(Exit::Trouble, format!("cannot read `{}`", path.display()))
            .because(error.to_string())
    })?;
    let identity = format!("directory {}:{}", metadata.dev(), metadata.ino());
    Ok(data.open()?.card_key(identity.as_bytes())?.name())
}

/// What was begun before, and where that is remembered.
struct Begun {
    /// None where the device could not be found again.
    place: Option<cardmark_store::Checkpoint>,
    test: Option<(Record, Verify)>,
}

/// What is remembered of a test of that card; of a device only if it has as many blocks.
fn begun(
    arguments: &VerifyArguments,
    name: Option<&str>,
    blocks_count: u64,
    data: &Data,
) -> Result<Begun, CommandError> {
    let Some(name) = name else {
        print::notice(
            "warning: the device says neither a CID nor a serial number: an interrupted test cannot be \
             taken up again",
        );
        return Ok(Begun {
            place: None,
            test: None,
        });
    };
    let place = Kept::place(&tests_folder(data)?, name, NAME)?;
    let test = match arguments.restart {
        true => None,
        false => Kept::load::<Verify>(&place)?,
    };
    let is_same = |test: &Verify| blocks_count == 0 || test.blocks_count() == blocks_count;
    Ok(Begun {
        place: Some(place),
        test: test.filter(|(_, test)| is_same(test)),
    })
}

/// A verify of real storage.
struct Session<'a> {
    arguments: &'a VerifyArguments,
    resolution: &'a Resolution,
    data: &'a Data,
    pulse: Arc<Pulse>,
    /// Of a new test.
    seed: u64,
    /// The folder of its files; none on a device.
    files: Option<TestFolder>,
}

impl Session<'_> {
    fn work(
        &self,
        begun: Begun,
        blocks_count: u64,
        blocks: &mut Blocks,
    ) -> Result<Exit, CommandError> {
        let fresh = self.new_test(blocks_count)?;
        let place = begun.place;
        let again = match place {
            Some(_) => "the same command goes on there",
            None => "the same command begins anew",
        };
        let hint =
            "what is known is kept; when the device answers again, the same command goes on there";
        let limit_ns = limit_ns(self.arguments.test.timeout);
        let (driven, signal) = watched(&self.pulse, limit_ns, Told { hint }, || {
            let begun = self.taken_up(begun.test, blocks)?;
            let (head, mut test) = begun.unwrap_or(fresh);
            let kept = place.map(|place| Kept::new(place, head.clone()));
            drive(&mut test, blocks, kept.as_ref(), &self.pulse)?;
            Ok((head, test, kept))
        })?;
        let (head, test, kept) = driven.map_err(|trouble| ended_early(trouble, signal, again))?;
        let exit = finish(head, &test, self.data, self.arguments.test.json)?;
        if let Some(files) = &self.files {
            files.remove()?;
        }
        kept.map_or(Ok(()), |kept| kept.forget())?;
        Ok(exit)
    }

    /// The test that was begun, if it can go on: what it wrote must still be there. Files of ours are named
    /// for it, a device may be another one.
    fn taken_up(
        &self,
        begun: Option<(Record, Verify)>,
        blocks: &mut Blocks,
    ) -> Result<Option<(Record, Verify)>, Trouble> {
        let Some((head, mut test)) = begun else {
            return Ok(None);
        };
        test.take_up();
        let is_at_stake = self.files.is_none() && !test.is_done();
        if is_at_stake && Traces::of(&test, blocks)?.are_disturbed() {
            tell_anew(&head, test.written_blocks() * BLOCK_BYTES as u64);
            return Ok(None);
        }
        tell_going_on(&head, &test);
        Ok(Some((head, test)))
    }

    fn new_test(&self, blocks_count: u64) -> Result<(Record, Verify), CommandError> {
        let seed = self.seed;
        let bytes = blocks_count * BLOCK_BYTES as u64;
        let head = head(self.resolution, self.data, seed, bytes)?;
        Ok((head, Verify::new(blocks_count, Content { seed, round: 0 })))
    }
}

fn tell_going_on(head: &Record, test: &Verify) {
    use crate::integrity::Long;
    let (moved, all) = test.moved_bytes();
    let day = day_of(head);
    let (moved, all) = (text::amount(moved), text::amount(all));
    print::notice(&format!(
        "goes on with the test of {day}: {moved} of {all} were written and read"
    ));
}
