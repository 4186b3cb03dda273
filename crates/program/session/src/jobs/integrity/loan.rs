//! Tests that overwrite little of a device, and give it back as it was.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cardmark_core::DeviceInfo;
use cardmark_device::{BlocksPiece, FileLog, OpenTarget};
use cardmark_integrity::{BLOCK_BYTES, Medium, Raw, Span, Trouble};

use super::earlier::{borrow, restore_earlier};
use super::undo::{create_log, find_log, has_room, put_back, room_for_undo};
use super::{
    Attempt, Hint, TestResult, blocks_of, card_name, ended_early, refuse_changed, tests_folder,
};
use cardmark_report::text;
use cardmark_store::{JobKind, Journal};

use crate::data::Data;
use crate::data::unfinished::{finish, journal_name, unusable};
use crate::drive::in_turns::InTurns;
use crate::drive::session::Session;
use crate::drive::turn::Claim;
use crate::drive::watch::Rescue;
use crate::error::{CommandError, Exit};
use crate::gate::consent::{Consent, Intent, permit_writing};
use crate::gate::whole_device::WholeDevice;
use crate::voice::Voice;

/// Terms on which a device is lent.
#[derive(Clone, Debug, Default)]
pub struct LoanTerms {
    /// True if nothing is put back.
    pub destroy: bool,
    /// Folder of the undo log; by default beside the results.
    pub save_to: Option<PathBuf>,
    /// True to begin even if content of another test is found.
    pub keep_residue: bool,
}

/// A device that is lent to a test.
pub(crate) struct Loan {
    pub target: OpenTarget,
    /// Turns that it takes.
    pub claim: Claim,
    /// Place of the undo log; none if nothing is to be put back.
    pub log: Option<LogPlace>,
    /// True to begin even if content of another test is found.
    pub keeps_residue: bool,
    /// Size of what is overwritten at most, bytes.
    pub wanted_bytes: u64,
}

/// Place of an undo log, and of the journal that names it.
pub(crate) struct LogPlace {
    path: PathBuf,
    /// Name of the journal.
    name: String,
    job: JobKind,
    /// The device, as a path.
    device: String,
    /// Identity that the device reports. Other cards may report the same.
    identity: String,
}

impl LogPlace {
    /// Begins the journal, so that the log is found again wherever it is.
    fn begin(&self, data: &Data) -> Result<Journal, CommandError> {
        let begun = data.begin(&self.name, self.job, &self.device, None);
        let named = begun.and_then(|mut journal| journal.state(&self.path).map(|()| journal));
        named.map_err(|error| unusable(&error).hint("nothing was written to the device"))
    }
}

/// A test of a lent device.
pub(crate) struct Work<'a, T> {
    /// The blocks that it writes if nothing is wrong, given how many there are, and the grain; as far as they
    /// are known before it begins.
    pub plan: &'a dyn Fn(u64, u64) -> Vec<Span>,
    /// The test.
    pub look: &'a dyn Fn(&mut InTurns<'_>) -> Result<T, Trouble>,
    /// The test, if the device fails.
    pub attempt: Attempt,
}

/// End of a test of a lent device: its result, or the record of a device that failed.
pub(crate) type Ended<T> = Result<Worked<T>, Box<TestResult>>;

/// Result of a test that reached its end.
pub(crate) struct Worked<T> {
    /// The result.
    pub found: T,
    /// Number of bytes written to restore the device, or the error of that. The result
    /// counts then, too.
    pub put_back: Result<u64, CommandError>,
}

impl<T> Worked<T> {
    /// Number of bytes written to restore the device.
    pub(crate) fn put_back_bytes(&self) -> u64 {
        self.put_back.as_ref().copied().unwrap_or(0)
    }
}

const ANEW: &str = "the same command begins again";

impl Loan {
    /// A device that is only read.
    pub(crate) fn of_nothing(target: OpenTarget, claim: Claim) -> Self {
        Self {
            target,
            claim,
            log: None,
            keeps_residue: false,
            wanted_bytes: 0,
        }
    }

    /// Tests the device, and restores what was there. What an interrupted test left is restored first.
    pub(crate) fn work<T>(
        self,
        session: &Session<'_>,
        work: &Work<'_, T>,
    ) -> Result<Ended<T>, CommandError> {
        let end = |trouble: Trouble, signal: Option<Exit>| -> Result<Ended<T>, CommandError> {
            let error = ended_early(trouble, signal, ANEW);
            let moved_bytes = session.pulse.moved_bytes();
            let ended = work.attempt.end(session, trouble, moved_bytes, error)?;
            Ok(Err(Box::new(ended)))
        };
        let voice = session.voice;
        let mut blocks = blocks_of(self.target, &session.pulse)?;
        let mut look = |medium: &mut dyn Medium| {
            let turn = session.turn(&self.claim);
            (work.look)(&mut InTurns::new(medium, turn))
        };
        let Some(log) = self.log else {
            let hint = "when the device answers again, the same command begins again";
            let told = work.attempt.saving(session, Hint { hint });
            let (found, signal) = session.watched(told, || look(&mut blocks))?;
            return match found {
                Ok(found) => Ok(Ok(Worked {
                    found,
                    put_back: Ok(0),
                })),
                Err(trouble) => end(trouble, signal),
            };
        };
        let path = log.path.clone();
        let earlier = find_log(&path)?;
        let journal = log.begin(session.data)?;
        let lent = Lent { log: path.clone() };
        let lent = work.attempt.saving(session, lent);
        let through = ThroughLog {
            voice,
            path: &path,
            identity: &log.identity,
            keeps_residue: self.keeps_residue,
            wanted_bytes: self.wanted_bytes,
        };
        let (worked, signal) =
            session.watched(lent, || through.work(blocks, earlier, work.plan, &mut look))?;
        let (found, put_back, log) = worked.map_err(|error| CommandError {
            exit: error.exit.or_worse(signal.unwrap_or(Exit::Done)),
            ..error
        })?;
        if end_log(voice, log, &path) {
            finish(Some(journal))?;
        }
        match found {
            Ok(found) => Ok(Ok(Worked { found, put_back })),
            Err(trouble) => {
                if let Err(error) = &put_back {
                    voice.error(error);
                }
                end(trouble, signal)
            }
        }
    }
}

/// A test of a device through an undo log.
pub(super) struct ThroughLog<'a> {
    pub(super) voice: &'a dyn Voice,
    /// Path of the log.
    pub(super) path: &'a Path,
    /// Identity that the device reports. Other cards may report the same.
    pub(super) identity: &'a str,
    pub(super) keeps_residue: bool,
    /// Size of what is overwritten at most, bytes.
    pub(super) wanted_bytes: u64,
}

/// Result of a test, number of bytes restored after it, and its log.
type Through<T> = (Result<T, Trouble>, Result<u64, CommandError>, FileLog);

impl ThroughLog<'_> {
    /// Restores what earlier tests left on the device, tests it, and restores it. `earlier` is the log at the path.
    pub(super) fn work<M: Raw<Piece = BlocksPiece>, T>(
        &self,
        mut medium: M,
        earlier: Option<FileLog>,
        plan: &dyn Fn(u64, u64) -> Vec<Span>,
        look: &mut dyn FnMut(&mut dyn Medium) -> Result<T, Trouble>,
    ) -> Result<Through<T>, CommandError> {
        let (voice, path) = (self.voice, self.path);
        let is_left = is_left(path);
        medium = restore_earlier(voice, medium, earlier, (path, self.identity))?;
        if is_left {
            has_room(path, self.wanted_bytes)?;
        }
        let mut borrowed = borrow(medium, create_log(path, super::seed(None, false))?);
        if self.keeps_residue {
            borrowed.accept_residue();
        }
        let plan = plan(borrowed.blocks_count(), borrowed.grain_blocks());
        let found = match borrowed.intend(&plan) {
            Ok(()) => look(&mut borrowed),
            Err(trouble) => Err(trouble),
        };
        let back = match found {
            // There is nothing to put it back to.
            Err(Trouble::Gone { .. } | Trouble::OnlyErrors { .. } | Trouble::NoAnswer { .. }) => {
                Ok(())
            }
            _ => put_back(voice, &mut borrowed, path),
        };
        let bytes = borrowed.put_blocks() * BLOCK_BYTES as u64;
        Ok((found, back.map(|()| bytes), borrowed.into_parts().1))
    }
}

/// Returns whether earlier tests left a log at that path, or one that was set aside because its card was not here.
fn is_left(path: &Path) -> bool {
    FileLog::is_at(path) || FileLog::missing_at(path).is_ok_and(|asides| !asides.is_empty())
}

/// Messages about a lent device that does not answer, or whose test is interrupted.
struct Lent {
    log: PathBuf,
}

impl Rescue for Lent {
    const STOPPING: &'static str =
        "stopping at the next block; what was there is put back then, which may take a while";

    fn save(&self, voice: &dyn Voice, _waited: Duration) {
        voice.notice(&format!(
            "hint: what was overwritten is kept in `{}`; when the device answers again, the same command \
             puts it back",
            self.log.display()
        ));
    }

    fn last_words(&self) -> Option<String> {
        Some(format!(
            "ended before all was put back: what was overwritten is kept in `{}`; the same command puts it \
             back",
            self.log.display()
        ))
    }
}

/// Removes a log with nothing to restore; returns whether nothing is left to restore.
fn end_log(voice: &dyn Voice, log: FileLog, path: &Path) -> bool {
    let is_empty = log.is_empty();
    if !is_empty {
        voice.notice(&format!(
            "what was overwritten is kept in `{}`; the same command puts it back",
            path.display()
        ));
    } else if let Err(error) = log.remove_if_empty() {
        voice.notice(&format!(
            "warning: cannot remove `{}`: {error}",
            path.display()
        ));
    }
    is_empty
}

/// Lends a device to a test that writes at most `wanted_bytes`, after consent.
pub(crate) fn lend(
    session: &Session<'_>,
    terms: &LoanTerms,
    consent: &Consent,
    device: &WholeDevice,
    (job, wanted_bytes): (JobKind, u64),
) -> Result<Loan, CommandError> {
    let (voice, data) = (session.voice, session.data);
    let name = card_name(data, &device.info.name)?;
    let path = log_path(session, terms, device, name.as_deref(), wanted_bytes)?;
    let log = match (path, &name) {
        (Some(path), Some(name)) => {
            if !terms.keep_residue {
                refuse_other_log(&path, name, data)?;
            }
            Some(place(path, name, job, device))
        }
        _ => None,
    };
    let what = match &log {
        Some(_) => {
            "write to small parts of a raw device, and to put back afterwards what was there"
        }
        None => "write to small parts of a raw device, and to leave them so",
    };
    let intent = Intent {
        what,
        // All of it is written twice where it is put back.
        bytes_to_write: Some(match log.is_some() {
            true => 2 * wanted_bytes,
            false => wanted_bytes,
        }),
        puts_back: log.is_some(),
    };
    let target = permit_writing(voice, &device.path, &device.resolution, consent, &intent)?;
    refuse_changed(device, name.as_deref(), &target, data)?;
    let path = device.path.display().to_string();
    let claim = match job {
        JobKind::Anatomy => Claim::timed("anatomy", &path, &device.resolution),
        _ => Claim::untimed("probe", &path, &device.resolution),
    };
    Ok(Loan {
        target,
        claim,
        log,
        keeps_residue: terms.keep_residue,
        wanted_bytes,
    })
}

/// Refuses a card whose interrupted test has its undo log elsewhere.
fn refuse_other_log(path: &Path, card: &str, data: &Data) -> Result<(), CommandError> {
    for job in [JobKind::Probe, JobKind::Anatomy] {
        let Some(left) = data.last_state::<PathBuf>(&journal_name(card, job)) else {
            continue;
        };
        if left != path && FileLog::is_at(&left) {
            let folder = left.parent().unwrap_or(&left).display().to_string();
            let what = "an interrupted test of this card has not been undone";
            return Err(CommandError::new(Exit::Refused, what)
                .because(format!("what it overwrote is kept in `{}`", left.display()))
                .hint(format!("`--save-to {folder}` puts it back first"))
                .hint("`--keep-residue` begins nevertheless")
                .hint("nothing was written"));
        }
    }
    Ok(())
}

fn place(path: PathBuf, card: &str, job: JobKind, device: &WholeDevice) -> LogPlace {
    LogPlace {
        path,
        name: journal_name(card, job),
        job,
        device: device.path.display().to_string(),
        identity: identity_of(&device.info),
    }
}

/// Size and model, as the device reports them.
fn identity_of(device: &DeviceInfo) -> String {
    let size = device.size_bytes.map(text::amount);
    let parts: Vec<String> = size.into_iter().chain(device.model.clone()).collect();
    match parts.is_empty() {
        true => device.name.clone(),
        false => parts.join(", "),
    }
}

/// Path of the undo log, if one can be kept; none if nothing is to be restored.
fn log_path(
    session: &Session<'_>,
    terms: &LoanTerms,
    device: &WholeDevice,
    name: Option<&str>,
    wanted_bytes: u64,
) -> Result<Option<PathBuf>, CommandError> {
    if terms.destroy {
        return Ok(None);
    }
    let folder = match &terms.save_to {
        Some(folder) => folder.clone(),
        None => tests_folder(session.data)?,
    };
    let Some(name) = name else {
        return Err(CommandError::new(
            Exit::Refused,
            "what is overwritten could not be put back after an interruption",
        )
        .because(
            "the device reports neither a CID nor a serial number, so it could not be recognised",
        )
        .hint("`--destroy` keeps nothing: what is on the device is lost")
        .hint("nothing was written"));
    };
    let log = folder.join(format!("{name}.undo"));
    // The log of an earlier test is restored first, which frees its room.
    let wanted_bytes = (!is_left(&log)).then_some(wanted_bytes);
    room_for_undo(session.voice, &folder, &device.resolution, wanted_bytes)?;
    Ok(Some(log))
}
