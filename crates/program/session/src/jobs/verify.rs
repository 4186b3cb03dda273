//! Verification: every block is written and read.

pub(crate) mod reading;
mod room;
mod scope;
mod steps;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cardmark_core::{IntegrityTest, Record, StorageKind};
use cardmark_device::{Blocks, OpenError, can_discard, room as room_of};
use cardmark_host::{Resolution, Root, holds_system};
use cardmark_integrity::{BLOCK_BYTES, Content, Medium, Trouble, Verify};
use cardmark_report::text;
use cardmark_sim::{Model, SimMedium};
use cardmark_store::{JobKind, Journal};

use crate::data::unfinished::{Unfinished, finish, journal_name};
use crate::drive::job::{Interruption, Job};
use crate::drive::session::Session;
use crate::drive::traces::Traces;
use crate::drive::turn::Claim;
use crate::error::{CommandError, Exit};
use crate::gate::consent::{Intent, permit_writing, refuse_used};
use crate::gate::whole_device::WholeDevice;
use crate::jobs::integrity::{
    Attempt, Hint, TestFolder, TestRequest, TestResult, blocks_of, card_name, day_of, ended_early,
    head, model_fault, no_verdict, of_verify, path_name, refuse_changed, simulated_head, tell_anew,
};
use crate::jobs::measure::{open_error, refuse_file_limit};
use crate::target::choose::{Chosen, choose};
use crate::voice::Voice;

use room::{GivingWay, Guard, UNIT_BYTES};
pub use scope::{VerifyPart, VerifyScope};

const WHOLE: &str = "a device is verified as a whole, or what is free in a directory";
/// Folder of the files in a directory that is verified.
const FOLDER: &str = "cardmark-verify";
/// Largest file of a test, bytes.
const FILE_BYTES: u64 = 1 << 30;

/// Target of a verification.
pub enum VerifyTarget {
    /// A simulated card.
    Simulated(Box<Model>),
    /// A directory, whose free room is verified.
    Directory {
        /// Its path without symbolic links.
        path: PathBuf,
        /// Layers below.
        resolution: Box<Resolution>,
        /// True if the running system needs room on its filesystem.
        is_system: bool,
    },
    /// A device.
    Device(Box<WholeDevice>),
}

impl VerifyTarget {
    /// Resolves the name of a target.
    ///
    /// # Errors
    /// If it does not exist, is in use, or is a part of a device.
    pub fn named(name: &str) -> Result<Self, CommandError> {
        Ok(match choose(name)? {
            Chosen::Simulated(model) => Self::Simulated(model),
            Chosen::Real { path, resolution } => {
                refuse_used(&path, &resolution)?;
                match path.is_dir() {
                    true => Self::Directory {
                        is_system: holds_system(&Root::system(), &resolution),
                        path,
                        resolution,
                    },
                    false => {
                        Self::Device(Box::new(WholeDevice::of(name, path, resolution, WHOLE)?))
                    }
                }
            }
        })
    }
}

/// Writes and reads every block of a device or of a part of it, or of the free room of a directory. `name` is the target
/// as the user named it.
///
/// # Errors
/// If the target may not be written, or the test cannot reach its end.
pub fn verify(
    session: &Session<'_>,
    name: &str,
    target: &VerifyTarget,
    test: &TestRequest<'_>,
    scope: &VerifyScope,
) -> Result<TestResult, CommandError> {
    match target {
        VerifyTarget::Simulated(model) => simulated(session, model, test.new_seed(true), scope),
        VerifyTarget::Directory { .. } if scope.part.is_some() => {
            let what = format!("`{name}` is a directory: it has no part from `--from` to `--to`");
            Err(CommandError::new(Exit::Usage, what)
                .hint("name the block device, such as /dev/sda, or limit the room with `--size`"))
        }
        VerifyTarget::Directory { .. } if scope.load.is_some_and(|load| load.discards) => {
            let what = format!("`{name}` is a directory: `--discard` needs a whole device");
            Err(CommandError::new(Exit::Usage, what)
                .hint("name the block device, such as /dev/sda, or omit `--discard`"))
        }
        VerifyTarget::Directory { .. }
            if scope.most_bytes.is_some_and(|most| most < UNIT_BYTES) =>
        {
            let what = "`--size` is too small";
            Err(CommandError::new(Exit::Usage, what)
                .because("the least that is tested in a directory is 1 MiB"))
        }
        VerifyTarget::Directory {
            is_system: true, ..
        } if scope.load.is_some() => {
            let what = format!("`{name}` is on the filesystem of the running system");
            Err(CommandError::new(Exit::Usage, what)
                .because("under load a test cannot give way when others need room")
                .hint("omit `--pattern` and `--queue`, or test the card in another computer"))
        }
        VerifyTarget::Directory {
            path,
            resolution,
            is_system,
        } => in_directory(session, name, test, (path, resolution, *is_system), scope),
        VerifyTarget::Device(device) => on_device(session, name, test, device, scope),
    }
}

fn simulated(
    session: &Session<'_>,
    model: &Model,
    seed: u64,
    scope: &VerifyScope,
) -> Result<TestResult, CommandError> {
    let mut medium = SimMedium::new(model, seed).with_limit(session.limit_ns());
    let mut test = scope.test(medium.blocks_count(), Content { seed, round: 0 })?;
    let mut head = simulated_head(model, &scope.asked("verify"), seed);
    if let Some(target) = &mut head.target {
        target.span_bytes = test.blocks_count() * BLOCK_BYTES as u64;
    }
    if let Err(trouble) = test.run(&mut medium) {
        let attempt = Attempt::of(&head, IntegrityTest::Verify, &test);
        let moved_bytes = medium.moved_bytes();
        return attempt.end(session, trouble, moved_bytes, model_fault(trouble));
    }
    keep(session, head, &test)
}

/// Keeps the result of a test that came to its end.
fn keep(session: &Session<'_>, head: Record, test: &Verify) -> Result<TestResult, CommandError> {
    let verdict = test.verdict().ok_or_else(no_verdict)?;
    let exit = match verdict.kind {
        StorageKind::Confirmed => Exit::Done,
        _ => Exit::Bad,
    };
    Ok(TestResult::keep(
        session,
        of_verify(head, test, &verdict),
        exit,
    ))
}

fn on_device(
    session: &Session<'_>,
    target: &str,
    test: &TestRequest<'_>,
    device: &WholeDevice,
    scope: &VerifyScope,
) -> Result<TestResult, CommandError> {
    let size_bytes = device.info.size_bytes.unwrap_or(0);
    let seed = test.new_seed(false);
    let content = Content { seed, round: 0 };
    let fresh = scope.test(size_bytes / BLOCK_BYTES as u64, content)?;
    if scope.load.is_some_and(|load| load.discards) && !can_discard(&device.info.name) {
        return Err(no_discard(target));
    }
    let all_bytes = fresh.blocks_to_write() * BLOCK_BYTES as u64;
    let part = scope
        .part
        .map_or_else(String::new, |part| format!(" {} of it", part.words()));
    let name = card_name(session.data, &device.info.name)?;
    let blocks = |test: &Verify| (test.part_start(), test.blocks_count());
    let begun = begun(session, test, name.as_deref(), scope, |test| {
        blocks(test) == blocks(&fresh)
    })?;
    let written = begun
        .test
        .as_ref()
        .map_or(0, |test| test.state.written_blocks());
    let opened = permit_writing(
        session.voice,
        &device.path,
        &device.resolution,
        test.consent,
        &Intent {
            what: &format!("write to every block of a raw device{part}"),
            bytes_to_write: Some(all_bytes.saturating_sub(written * BLOCK_BYTES as u64)),
            puts_back: false,
        },
    )?;
    refuse_changed(device, name.as_deref(), &opened, session.data)?;
    let blocks = blocks_of(opened, &session.pulse)?;
    refuse_buffered(target, &blocks, scope)?;
    let verify = RealVerify {
        target,
        resolution: &device.resolution,
        session,
        files: None,
    };
    verify.work(begun, fresh, None, blocks)
}

fn in_directory(
    session: &Session<'_>,
    target: &str,
    test: &TestRequest<'_>,
    (path, resolution, is_system): (&Path, &Resolution, bool),
    scope: &VerifyScope,
) -> Result<TestResult, CommandError> {
    if resolution.read_only {
        let path = path.to_owned();
        return Err(open_error(&OpenError::ReadOnly { path }));
    }
    let files = path.join(FOLDER);
    let unusable = |error: &dyn std::error::Error| CommandError::from_error(Exit::Trouble, error);
    let name = path_name(path, session.data)?;
    let mut begun = begun(session, test, Some(&name), scope, |_| true)?;
    let kept = TestFolder::find(&files)?;
    if !kept.belongs_to(begun.test.as_ref().map(|test| test.state.content().seed)) {
        if begun.test.take().is_some() {
            session
                .voice
                .notice("begins again: the files of the interrupted test are gone");
        }
        // Of a test without a journal: its content cannot be distinguished from any other.
        kept.remove()?;
    } else {
        // Its lock with it.
        drop(kept);
    }
    let room = room_of(path).map_err(|error| unusable(&error))?;
    let limit_bytes = scope.most_bytes.unwrap_or(u64::MAX);
    let usable = room::usable_bytes(room, is_system).min(limit_bytes / UNIT_BYTES * UNIT_BYTES);
    let blocks_count = match &begun.test {
        Some(test) => test.state.blocks_count(),
        None => usable / BLOCK_BYTES as u64,
    };
    if blocks_count == 0 {
        let what = format!("not enough room in `{}`", path.display());
        return Err(CommandError::new(Exit::Trouble, what)
            .because(format!(
                "{} are free, and {} of them are left to others",
                text::amount(room.free_bytes),
                text::amount(room::reserve_bytes(room, is_system))
            ))
            .hint("free some room, or name a directory on another filesystem"));
    }
    refuse_file_limit((blocks_count * BLOCK_BYTES as u64).min(FILE_BYTES))?;
    let seed = begun
        .test
        .as_ref()
        .map_or_else(|| test.new_seed(false), |test| test.state.content().seed);
    let folder = TestFolder::make(&files, seed)?;
    let blocks = Blocks::in_folder(&files, blocks_count, Arc::clone(&session.pulse))
        .map_err(|error| unusable(&error))?;
    if let Err(error) = refuse_buffered(target, &blocks, scope) {
        drop(blocks);
        folder.remove()?;
        return Err(error);
    }
    let guard = is_system.then(|| {
        let reserve_bytes = room::reserve_bytes(room, true);
        tell_system(session.voice, reserve_bytes);
        Guard::of(path, reserve_bytes, session.voice)
    });
    let verify = RealVerify {
        target,
        resolution,
        session,
        files: Some(folder),
    };
    let fresh = scope.asked_of(Verify::new(blocks_count, Content { seed, round: 0 }));
    verify.work(begun, fresh, guard, blocks)
}

/// Shows what a test on the filesystem of the running system leaves, and the better test.
fn tell_system(voice: &dyn Voice, reserve_bytes: u64) {
    voice.notice(&format!(
        "this is the filesystem of the running system: {} stay free, and the test gives way when others need more",
        text::amount(reserve_bytes)
    ));
    voice.notice(
        "hint: better test the card from another computer: `sudo cardmark probe DEVICE`, or `sudo cardmark verify \
         DEVICE`, which erases it",
    );
}

/// The error for a device that cannot discard.
fn no_discard(target: &str) -> CommandError {
    CommandError::new(
        Exit::Trouble,
        format!("`{target}` does not support discard"),
    )
    .because("the device, or its reader, does not announce the command to the kernel")
    .hint("most USB readers do not pass it on: use the slot of a board, or omit `--discard`")
    .hint("nothing was written")
}

/// Refuses a test under load of storage behind the page cache, which changes order and number of the requests.
fn refuse_buffered(target: &str, blocks: &Blocks, scope: &VerifyScope) -> Result<(), CommandError> {
    if scope.load.is_none() || !blocks.is_buffered() {
        return Ok(());
    }
    let what = format!("`{target}` does not support direct I/O");
    Err(CommandError::new(Exit::Trouble, what)
        .because("the kernel's cache would decide in which order the blocks are written")
        .hint("omit `--pattern`, `--queue` and `--discard`"))
}

/// An earlier verify of the same target.
struct Begun {
    /// Name of the journal; none if the device could not be recognised later.
    name: Option<String>,
    test: Option<Unfinished<Verify>>,
}

/// Returns the unfinished test of that card, if it is of the same blocks and under the same load.
fn begun(
    session: &Session<'_>,
    test: &TestRequest<'_>,
    card: Option<&str>,
    scope: &VerifyScope,
    is_of_same_blocks: impl Fn(&Verify) -> bool,
) -> Result<Begun, CommandError> {
    let Some(card) = card else {
        session.voice.notice(
            "warning: the device reports neither a CID nor a serial number: an interrupted test cannot be \
             taken up again",
        );
        return Ok(Begun {
            name: None,
            test: None,
        });
    };
    let name = journal_name(card, JobKind::Verify);
    let test = match test.restart {
        true => None,
        false => session.data.unfinished::<Verify>(&name)?,
    };
    let other = test.as_ref().and_then(|test| match &test.state {
        state if !is_of_same_blocks(state) => Some("of another part of the device"),
        state if state.load() != scope.load => {
            Some("with another `--pattern`, `--queue` or `--discard`")
        }
        _ => None,
    });
    if let Some(other) = other {
        session
            .voice
            .notice(&format!("begins again: the interrupted test is {other}"));
    }
    Ok(Begun {
        name: Some(name),
        test: test.filter(|_| other.is_none()),
    })
}

/// A verify of real storage.
struct RealVerify<'a> {
    target: &'a str,
    resolution: &'a Resolution,
    session: &'a Session<'a>,
    /// The folder of its files; none on a device.
    files: Option<TestFolder>,
}

impl RealVerify<'_> {
    fn work(
        self,
        begun: Begun,
        fresh: Verify,
        guard: Option<Guard>,
        mut blocks: Blocks,
    ) -> Result<TestResult, CommandError> {
        let fresh = (self.new_head(&fresh)?, fresh);
        let again = match begun.name {
            Some(_) => "the same command goes on there; `--restart` begins again",
            None => "the same command begins again",
        };
        let hint =
            "what is known is kept; when the device answers again, the same command goes on there";
        let attempt = |head: &Record, test: &Verify| Attempt::of(head, IntegrityTest::Verify, test);
        let unbegun = attempt(&fresh.0, &fresh.1);
        let rescue = unbegun.saving(self.session, Hint { hint });
        let (driven, signal) = self.session.watched(rescue, || {
            let (mut journal, head, test) = match self.taken_up(begun.test, &mut blocks)? {
                Some((journal, head, test)) => (Some(journal), head, test),
                None => {
                    let (head, test) = fresh;
                    let job = JobKind::Verify;
                    let begin = |name: String| {
                        let begun = self
                            .session
                            .data
                            .begin(&name, job, self.target, Some(&head));
                        begun.map_err(Interruption::NotKept)
                    };
                    (begun.name.map(begin).transpose()?, head, test)
                }
            };
            let mut job = GivingWay { test, guard };
            job.take_up(&blocks);
            let claim = Claim::untimed("verify", self.target, self.resolution);
            let driven = self
                .session
                .drive(&claim, &mut job, &mut blocks, journal.as_mut());
            Ok((head, job.test, journal, driven))
        })?;
        let end = |attempt: Attempt, trouble| {
            let moved_bytes = self.session.pulse.moved_bytes();
            let error = ended_early(trouble, signal, again);
            attempt.end(self.session, trouble, moved_bytes, error)
        };
        let (mut head, test, journal, driven) = match driven {
            Ok(driven) => driven,
            Err(trouble) => return end(unbegun, trouble),
        };
        if let Some(target) = &mut head.target {
            target.span_bytes = test.blocks_count() * BLOCK_BYTES as u64;
        }
        if let Err(trouble) = driven {
            return end(attempt(&head, &test), trouble);
        }
        keep(self.session, head, &test)?.finish(|| {
            // Some filesystems keep the names of files that are open.
            drop(blocks);
            self.files.map_or(Ok(()), TestFolder::remove)?;
            finish(journal)
        })
    }

    /// The test that was begun, if it can go on: what it wrote must still be there. Files carry the seed of the test, but
    /// they may be on a copy of the card from an earlier moment; a device may be any other one.
    fn taken_up(
        &self,
        begun: Option<Unfinished<Verify>>,
        blocks: &mut Blocks,
    ) -> Result<Option<(Journal, Record, Verify)>, Trouble> {
        let Some((journal, head, mut test)) = begun.and_then(parts) else {
            return Ok(None);
        };
        test.take_up();
        let is_other = match (test.is_done(), &self.files) {
            (true, _) => false,
            (false, Some(_)) => test.lacks_last_written(blocks)?,
            (false, None) => Traces::of(&test, blocks)?.are_disturbed(),
        };
        if is_other {
            tell_anew(
                self.session.voice,
                &head,
                test.written_blocks() * BLOCK_BYTES as u64,
            );
            return Ok(None);
        }
        self.tell_going_on(&head, &test);
        Ok(Some((journal, head, test)))
    }

    fn new_head(&self, test: &Verify) -> Result<Record, CommandError> {
        let bytes = test.blocks_count() * BLOCK_BYTES as u64;
        let seed = test.content().seed;
        head(self.resolution, self.session.data, seed, bytes)
    }

    fn tell_going_on(&self, head: &Record, test: &Verify) {
        let (moved, all) = test.moved_bytes();
        let day = day_of(head);
        let (moved, all) = (text::amount(moved), text::amount(all));
        self.session.voice.notice(&format!(
            "continues the test of {day}: {moved} of {all} were written and read"
        ));
    }
}

/// The parts of a test that can continue: its record must be known.
fn parts(begun: Unfinished<Verify>) -> Option<(Journal, Record, Verify)> {
    Some((begun.journal, begun.record?, begun.state))
}
