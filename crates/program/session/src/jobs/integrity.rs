//! Tests of integrity: from a target to storage of blocks, watched over, with what has to be remembered,
//! to a record.

mod attempt;
mod earlier;
mod loan;
mod outcome;
mod test_folder;
mod undo;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cardmark_core::{Errno, MOST_INTEGER, Record, StorageKind, Target, TargetKind};
use cardmark_device::{Blocks, OpenTarget};
use cardmark_engine::Pulse;
use cardmark_host::{Resolution, Root, card_identity};
use cardmark_integrity::Trouble;
use cardmark_judge::{judge, notice, storage_kind, unstated};
use cardmark_report::text;
use cardmark_sim::Model;
use serde_json::Value;

pub(crate) use attempt::{Attempt, Saving};
pub use loan::LoanTerms;
pub(crate) use loan::{Loan, Work, lend};
pub(crate) use outcome::{of_endure, of_probe, of_reading, of_retention, of_verify};
pub(crate) use test_folder::TestFolder;

use crate::data::Data;
use crate::drive::session::Session;
use crate::drive::watch::Rescue;
use crate::error::{CommandError, Exit};
use crate::gate::consent::Consent;
use crate::gate::whole_device::{Tested, WholeDevice};
use crate::voice::Voice;

/// Seed of a test of a simulated card that was given none, so that the demo shows the same to everybody.
pub(crate) const DEMO_SEED: u64 = 1;

/// The requested seed, or a new one.
#[must_use]
pub fn seed(asked: Option<u64>, is_simulated: bool) -> u64 {
    let new = || match is_simulated {
        true => DEMO_SEED,
        false => uuid::Uuid::new_v4().as_u64_pair().1 & MOST_INTEGER,
    };
    asked.unwrap_or_else(new)
}

/// Request that all tests of integrity have in common.
pub struct TestRequest<'a> {
    /// Seed of places and content.
    pub seed: Option<u64>,
    /// Consent to writing a device.
    pub consent: &'a Consent,
    /// True to begin again, even if an interrupted test could continue.
    pub restart: bool,
}

impl TestRequest<'_> {
    pub(crate) fn new_seed(&self, is_simulated: bool) -> u64 {
        seed(self.seed, is_simulated)
    }

    pub(crate) fn seed(&self, tested: &Tested) -> u64 {
        self.new_seed(matches!(tested, Tested::Simulated(_)))
    }
}

/// Result of a test that came to its end.
pub struct TestResult {
    /// Its record.
    pub record: Record,
    /// Exit for its verdict.
    pub exit: Exit,
    /// Details of the verdict, the most important first.
    pub details: Vec<String>,
    /// Errors after its end: the record was not stored, or the device not restored.
    pub errors: Vec<CommandError>,
}

impl TestResult {
    /// Stores the record.
    pub(crate) fn keep(session: &Session<'_>, mut record: Record, exit: Exit) -> Self {
        let kind = storage_kind(&record);
        if let (Some(kind), Some(integrity)) = (kind, &mut record.integrity) {
            integrity.kind = kind;
        }
        // Nothing is wrong, but nothing is confirmed either.
        let exit = match kind {
            Some(StorageKind::UnknownDevice) => exit.or_worse(Exit::Trouble),
            _ => exit,
        };
        let kept = store(session.data, &mut record);
        Self {
            record,
            exit,
            details: Vec::new(),
            errors: kept.err().into_iter().collect(),
        }
    }

    pub(crate) fn with(mut self, error: Option<CommandError>) -> Self {
        self.errors.extend(error);
        self
    }

    /// Ends the job, once its record is stored.
    pub(crate) fn finish(
        self,
        end: impl FnOnce() -> Result<(), CommandError>,
    ) -> Result<Self, CommandError> {
        let ended = match self.errors.is_empty() {
            true => end().err(),
            false => None,
        };
        Ok(self.with(ended))
    }
}

/// Judges and stores a record.
fn store(data: &Data, record: &mut Record) -> Result<(), CommandError> {
    record.derived = judge(record, None);
    data.open()?.insert(&unstated(record))?;
    Ok(())
}

pub(crate) fn model_fault(trouble: Trouble) -> CommandError {
    let hint = match trouble {
        Trouble::NoAnswer { .. } => "the simulated card hung, as designed",
        _ => "the simulated card disconnected, as designed",
    };
    ended_early(trouble, None, hint)
}

pub(crate) fn no_verdict() -> CommandError {
    CommandError::new(Exit::Bug, "the test has no verdict")
}

/// The head of a record of a test of real storage.
pub(crate) fn head(
    resolution: &Resolution,
    data: &Data,
    seed: u64,
    tested_bytes: u64,
) -> Result<Record, CommandError> {
    let target = target(resolution.kind, tested_bytes);
    let mut record = crate::target::head::of_storage(resolution, data, seed, target)?;
    notice(&mut record);
    Ok(record)
}

/// The head of a record of a test of a simulated card; `asked` is the test, and all that was asked for.
pub(crate) fn simulated_head(model: &Model, asked: &Value, seed: u64) -> Record {
    let target = target(TargetKind::Sim, model.capacity_bytes());
    crate::target::head::of_model(model, seed, target, asked)
}

fn target(kind: TargetKind, tested_bytes: u64) -> Target {
    Target {
        span_bytes: tested_bytes,
        ..Target::of(kind)
    }
}

/// Name for files about the card that is the disk of that name; none if the card reports neither
/// its CID nor a serial number, so that it cannot be found again.
pub fn card_name(data: &Data, disk: &str) -> Result<Option<String>, CommandError> {
    let Some(identity) = card_identity(&Root::system(), disk) else {
        return Ok(None);
    };
    Ok(Some(data.open()?.card_key(&identity.history)?.name()))
}

/// Refuses a device that was opened and is not the one that was looked at before: a card may be changed
/// meanwhile, and the kernel may notice only when it is opened.
pub(crate) fn refuse_changed(
    device: &WholeDevice,
    name: Option<&str>,
    target: &OpenTarget,
    data: &Data,
) -> Result<(), CommandError> {
    let is_as_large = device.info.size_bytes == Some(target.size_bytes);
    if is_as_large && card_name(data, &device.info.name)?.as_deref() == name {
        return Ok(());
    }
    let what = format!("`{}` changed while it was looked at", device.path.display());
    Err(CommandError::new(Exit::Refused, what)
        .because("another card is there now than before")
        .hint("nothing was written; the same command again is about the one that is there now"))
}

/// The day of a record's beginning in UTC, `2026-12-22`.
pub(crate) fn day_of(head: &Record) -> &str {
    let started = head.started_at.as_deref().unwrap_or_default();
    started.split('T').next().unwrap_or_default()
}

/// Shows why a test does not continue.
pub(crate) fn tell_anew(voice: &dyn Voice, head: &Record, written_bytes: u64) {
    let (written, day) = (text::amount(written_bytes), day_of(head));
    voice.notice(&format!(
        "begins again: {written} were written by the test of {day}, but the device holds something else now"
    ));
}

/// The blocks of a device that is open.
pub(crate) fn blocks_of(target: OpenTarget, pulse: &Arc<Pulse>) -> Result<Blocks, CommandError> {
    Blocks::of_device(target, Arc::clone(pulse))
        .ok_or_else(|| CommandError::new(Exit::Trouble, "there is no memory for the test"))
}

/// A name for journals of work on that file or directory, or of a device node.
pub fn path_name(path: &Path, data: &Data) -> Result<String, CommandError> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(path).map_err(|error| {
        CommandError::new(Exit::Trouble, format!("cannot read `{}`", path.display()))
            .because(error.to_string())
    })?;
    let identity = format!("directory {}:{}", metadata.dev(), metadata.ino());
    Ok(data.open()?.card_key(identity.as_bytes())?.name())
}

/// Advice for a device that does not answer: the state is in the journal.
pub(crate) struct Hint {
    /// The advice.
    pub hint: &'static str,
}

impl Rescue for Hint {
    const STOPPING: &'static str = "stopping at the next block; what is known is kept";

    fn save(&self, voice: &dyn Voice, _waited: Duration) {
        voice.notice(&format!("hint: {}", self.hint));
    }
}

/// Advice for a device that fails.
const REINSERT: &str = "take it out and put it in again, or try another reader; if it fails again, copy what it still \
                        returns and replace it";

/// Error of a test that ended early.
pub(crate) fn ended_early(trouble: Trouble, signal: Option<Exit>, hint: &str) -> CommandError {
    let system = |errno: Errno| std::io::Error::from_raw_os_error(errno.0).to_string();
    let made = match trouble {
        Trouble::Stopped => {
            CommandError::new(signal.unwrap_or(Exit::Trouble), "the test was stopped")
        }
        Trouble::Gone { errno } => CommandError::new(Exit::Trouble, "the device is gone")
            .because(system(errno))
            .hint(REINSERT),
        Trouble::NoAnswer { limit_ns } => {
            let seconds = limit_ns / 1_000_000_000;
            let what = format!("the device has not answered for {seconds} s");
            CommandError::new(Exit::Trouble, what)
                .hint(REINSERT)
                .hint("a larger `--timeout` waits longer")
        }
        Trouble::OnlyErrors { errno } => CommandError::new(
            Exit::Trouble,
            "the device returns only errors; this is no verdict on its blocks",
        )
        .because(system(errno))
        .hint(REINSERT),
        Trouble::Filesystem { errno } => {
            CommandError::new(Exit::Trouble, "a write to the filesystem failed")
                .because(system(errno))
                .hint(filesystem_hint(errno))
        }
        Trouble::Residue { block } => return undo::residue(block),
        Trouble::NotKept { errno } => {
            CommandError::new(Exit::Trouble, "what has to be remembered cannot be kept")
                .because(system(errno))
        }
    };
    made.hint(hint)
}

/// Advice for a filesystem that accepts no more data.
fn filesystem_hint(errno: Errno) -> &'static str {
    match errno.is_no_space() {
        true => "free some room, or take less with `--size`",
        false => {
            "`sudo dmesg` shows the errors that the kernel met; `sudo cardmark probe DEVICE` tests the device itself"
        }
    }
}

/// The folder of what long tests have to remember, made where there is none.
pub(crate) fn tests_folder(data: &Data) -> Result<PathBuf, CommandError> {
    std::fs::create_dir_all(&data.tests).map_err(|error| {
        let what = format!("cannot make the folder `{}`", data.tests.display());
        CommandError::new(Exit::Trouble, what).because(error.to_string())
    })?;
    Ok(data.tests.clone())
}
