//! Numbered writes until the power is cut.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cardmark_core::IntegrityTest;
use cardmark_device::{Blocks, free_bytes};
use cardmark_host::{Resolution, Root, boot_id, device_numbers};
use cardmark_integrity::{
    BLOCK_BYTES, CutBegin, CutEnd, CutPlan, CutStep, LogLine, PowerCut, Trouble,
};
use cardmark_report::text;
use serde::Serialize;

use super::log_file::{LogWriter, named, refuse_same_disk};
use super::request::{CutRequest, FOLDER};
use crate::drive::job::Job;
use crate::drive::session::Session;
use crate::drive::turn::Claim;
use crate::drive::watch::Rescue;
use crate::error::{CommandError, Exit};
use crate::gate::consent::quoted;
use crate::gate::file::Destination;
use crate::jobs::integrity::{Attempt, Hint, Saving, TestFolder, TestResult, ended_early, head};
use crate::target::describe::started_at;
use crate::voice::Voice;

/// Room left free on the filesystem, bytes.
const RESERVE_BYTES: u64 = 16 << 20;
/// Time in which the kernel removes a device that returned an error because it was pulled.
const REMOVAL: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(100);

/// End of the command.
pub enum CutDone {
    /// A simulated card was tested.
    Tested(Box<TestResult>),
    /// The writes ended; the check follows when the power is back.
    Written(Exit),
}

/// A log that the watch can write, too.
type SharedLog = Arc<Mutex<LogWriter>>;

/// Writes until the device disappears, the user ends it, or the time is over.
pub(super) fn write(
    session: &Session<'_>,
    name: &str,
    (path, resolution): (&Path, &Resolution),
    request: &CutRequest,
) -> Result<CutDone, CommandError> {
    let log = request.log.as_ref().ok_or_else(|| {
        CommandError::new(Exit::Usage, "no log of acknowledged writes is named")
            .hint("`--log FILE` names a file on another disk; `--log -` prints the log")
    })?;
    refuse_same_disk(session.voice, resolution, log)?;
    let plan = request.plan(false);
    let files = path.join(FOLDER);
    let size_bytes = plan.blocks_count() * BLOCK_BYTES as u64;
    let head = head(resolution, session.data, plan.seed(), size_bytes)?;
    let attempt = Attempt::new(&head, IntegrityTest::PowerCut);
    TestFolder::find(&files)?.remove()?;
    refuse_full(path, size_bytes)?;
    let folder = TestFolder::make(&files, plan.seed())?;
    let mut blocks = Blocks::in_folder(&files, plan.blocks_count(), Arc::clone(&session.pulse))
        .map_err(|error| CommandError::from_error(Exit::Trouble, &error))?;
    let writer = Arc::new(Mutex::new(LogWriter::open(log)?));
    let check = CheckCommand { name, log };
    session.voice.notice(&format!(
        "fills {} in `{}`, then writes 16 KiB at a time and notes each write that the card acknowledges",
        text::amount(size_bytes),
        files.display()
    ));
    let mut job = Writing {
        course: PowerCut::new(plan),
        log: Arc::clone(&writer),
        files,
        limit: request.limit,
        ready: None,
        session,
        check: check.line(),
    };
    let begin = begin_line(resolution, plan);
    lock(&writer)
        .append(&begin)
        .map_err(|trouble| ended_early(trouble, None, "name another log"))?;
    let hint = "when the device answers again, the same command begins again";
    let rescue = NoAnswer {
        log: Arc::clone(&writer),
        unready: attempt.saving(session, Hint { hint }),
    };
    let shown = Shown::of(resolution);
    let claim = Claim::untimed("power-cut", name, resolution);
    let drive = || session.drive(&claim, &mut job, &mut blocks, None);
    let (driven, signal) = session.watched(rescue, drive)?;
    let (is_ready, acknowledged) = (job.course.is_ready(), job.course.acknowledged());
    let end = match driven {
        Ok(()) => CutEnd::Done,
        Err(Trouble::Stopped) => CutEnd::Stopped,
        Err(Trouble::Gone { .. }) if is_ready => CutEnd::Gone,
        Err(Trouble::OnlyErrors { .. } | Trouble::Filesystem { .. }) if is_ready => {
            match shown.disappears() {
                true => CutEnd::Gone,
                false => CutEnd::Errors,
            }
        }
        Err(trouble) => {
            // Best effort: the card may be gone.
            let _ = folder.note_end();
            let error = ended_early(trouble, signal, "the same command begins again");
            let moved_bytes = session.pulse.moved_bytes();
            return Err(attempt.note(session, trouble, moved_bytes, error));
        }
    };
    // Both are best effort: the connection or the card may be gone, and one of the marks is enough.
    let _ = lock(&writer).end(end);
    if matches!(end, CutEnd::Done | CutEnd::Stopped) {
        let _ = folder.note_end();
    }
    session.voice.notice(&last_words(end, acknowledged, &check));
    Ok(CutDone::Written(signal.unwrap_or(Exit::Done)))
}

/// Returns the first line of a cycle.
fn begin_line(resolution: &Resolution, plan: CutPlan) -> LogLine {
    let root = Root::system();
    LogLine::Begin(CutBegin {
        plan,
        boot: boot_id(&root),
        disk: device_numbers(&root, resolution),
        at: started_at(),
    })
}

fn refuse_full(path: &Path, size_bytes: u64) -> Result<(), CommandError> {
    let free = free_bytes(path).map_err(|error| CommandError::from_error(Exit::Trouble, &error))?;
    if free >= size_bytes + RESERVE_BYTES {
        return Ok(());
    }
    let what = format!("not enough room in `{}`", path.display());
    Err(CommandError::new(Exit::Trouble, what)
        .because(format!("{} are free", text::amount(free)))
        .hint("free some room, or take less with `--size`"))
}

/// The command that checks.
struct CheckCommand<'a> {
    name: &'a str,
    log: &'a Destination,
}

impl CheckCommand<'_> {
    fn line(&self) -> String {
        let log = match self.log {
            Destination::File(_) => quoted(named(self.log)),
            _ => "FILE".to_owned(),
        };
        let target = quoted(Path::new(self.name));
        format!("cardmark power-cut {target} --log {log} --check")
    }
}

fn last_words(end: CutEnd, acknowledged: u32, check: &CheckCommand<'_>) -> String {
    let count = format!("{acknowledged} acknowledged writes");
    let then = format!("give it power again, mount it, then: {}", check.line());
    match end {
        CutEnd::Gone => format!("the device is gone after {count}; {then}"),
        CutEnd::Errors | CutEnd::NoAnswer => {
            format!("the device returns only errors after {count}; if its power was cut, {then}")
        }
        CutEnd::Stopped | CutEnd::Done => {
            format!("ended after {count} without a power cut: nothing can be checked")
        }
    }
}

fn lock(log: &SharedLog) -> MutexGuard<'_, LogWriter> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The writes as a job.
struct Writing<'a> {
    course: PowerCut,
    log: SharedLog,
    files: PathBuf,
    limit: Duration,
    /// Time at which the file was ready.
    ready: Option<Instant>,
    session: &'a Session<'a>,
    check: String,
}

impl Writing<'_> {
    /// Makes the file durable with all metadata, so that later writes need none.
    fn begin_writing(&mut self) -> Result<(), Trouble> {
        let synced = File::open(&self.files)
            .and_then(|folder| rustix::fs::syncfs(folder).map_err(Into::into));
        synced.map_err(|error| {
            let errno = cardmark_core::Errno(error.raw_os_error().unwrap_or(0));
            Trouble::Filesystem { errno }
        })?;
        let mut log = lock(&self.log);
        let at_ms = log.at_ms();
        log.append(&LogLine::Ready { at_ms })?;
        drop(log);
        self.ready = Some(Instant::now());
        self.session.voice.notice(
            "ready: cut the power now. Pull the card, or the plug of the whole board; Ctrl-C ends without a cut",
        );
        let text = format!(
            "when the power is back and the card is mounted: {}",
            self.check
        );
        self.session.voice.notice(&text);
        Ok(())
    }
}

impl Job for Writing<'_> {
    type Io = Blocks;
    type Error = Trouble;

    fn step(&mut self, blocks: &mut Blocks) -> Result<(), Trouble> {
        match self.course.advance(blocks)? {
            CutStep::Filled => Ok(()),
            CutStep::Ready => self.begin_writing(),
            CutStep::Acknowledged(number) => {
                let mut log = lock(&self.log);
                let at_ms = log.at_ms();
                log.append(&LogLine::Acknowledged { number, at_ms })
            }
        }
    }

    fn is_done(&self) -> bool {
        let is_over = self
            .ready
            .is_some_and(|ready| ready.elapsed() >= self.limit);
        is_over || self.course.is_used_up()
    }

    fn moved_bytes(&self) -> (u64, u64) {
        let (filled, written) = self.course.written_blocks();
        let moved = (filled + written) * BLOCK_BYTES as u64;
        let share = self.ready.map_or(0.0, |ready| {
            ready.elapsed().as_secs_f64() / self.limit.as_secs_f64().max(1.0)
        });
        (moved, expected(moved, share))
    }

    // Nothing is kept: a cut ends the test, and each cycle begins with a new file.
    fn state(&self) -> &impl Serialize {
        &()
    }
}

/// Returns the amount expected at the end, if that share of the time has passed.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive estimate; the cast saturates"
)]
fn expected(moved: u64, share: f64) -> u64 {
    match share > 0.0 {
        true => (moved as f64 / share.min(1.0)) as u64,
        false => moved.saturating_mul(2),
    }
}

/// The place in which the kernel shows the device as long as it is present.
struct Shown(Option<PathBuf>);

impl Shown {
    fn of(resolution: &Resolution) -> Self {
        let (major, minor) = resolution.device_id;
        let path = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
        Self(path.exists().then_some(path))
    }

    /// Returns whether the device disappears now or soon.
    fn disappears(&self) -> bool {
        let Some(path) = &self.0 else {
            return false;
        };
        let since = Instant::now();
        while path.exists() && since.elapsed() < REMOVAL {
            std::thread::sleep(LOOK);
        }
        !path.exists()
    }
}

/// Notes in the log that the device does not answer; before its file is ready, that is no power cut.
struct NoAnswer {
    log: SharedLog,
    unready: Saving<Hint>,
}

impl Rescue for NoAnswer {
    const STOPPING: &'static str = "stopping after this write; this is no power cut";

    fn save(&self, voice: &dyn Voice, waited: Duration) {
        let is_ready = self.log.try_lock().map_or(true, |mut log| {
            let _ = log.end(CutEnd::NoAnswer);
            log.is_ready()
        });
        match is_ready {
            false => self.unready.save(voice, waited),
            true => voice.notice(
                "hint: if you have cut the power, give it back, mount the card, and repeat the command with `--check`",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use cardmark_core::{Origin, OriginKind, Record, run_id_from_bytes};
    use cardmark_store::Places;

    use super::*;
    use crate::data::Data;
    use crate::voice::Silent;

    /// Afterwards it may be the cut that the person was asked for.
    #[test]
    fn a_device_that_hangs_before_its_file_is_ready_leaves_a_record() {
        for (is_ready, records_count) in [(false, 1), (true, 0)] {
            let folder = tempfile::tempdir().unwrap();
            let path = |name: &str| folder.path().join(name);
            let data = Data {
                places: Places {
                    database: path("cardmark.db"),
                    journals: path("journals"),
                    tests: path("tests"),
                },
                lock_file: None,
            };
            let log = Destination::named(&path("cut.log")).unwrap();
            let mut writer = LogWriter::open(&log).unwrap();
            if is_ready {
                writer.append(&LogLine::Ready { at_ms: 1 }).unwrap();
            }
            let id = run_id_from_bytes([1; 16]);
            let head = Record::new(id, Origin::of(OriginKind::Measured));
            let session = Session::new(&Silent, &data, 60);
            let hint = Hint { hint: "again" };
            let rescue = NoAnswer {
                log: Arc::new(Mutex::new(writer)),
                unready: Attempt::new(&head, IntegrityTest::PowerCut).saving(&session, hint),
            };
            rescue.save(&Silent, Duration::from_secs(60));
            let kept = data.open().unwrap().select(&[]).unwrap();
            assert_eq!(kept.len(), records_count);
        }
    }
}
