//! Unfinished work of this user's store: what works on it, how long it needs, and how to stop it.

use std::fs::{File, TryLockError, read_dir, read_to_string};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cardmark_store::{Content, JournalError, unfinished};
use rustix::io::Errno;
use rustix::param::clock_ticks_per_second;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use rustix::time::{ClockId, clock_gettime};

use super::holder::Holder;
use super::lock::LockFile;
use super::note::{NOTE_BYTES, Note, now};
use super::{FILE, FOLDERS};
use crate::data::Data;
use crate::error::{CommandError, Exit};

/// Unfinished work.
#[derive(Debug)]
pub struct UnderWay {
    /// Its journal.
    pub content: Content,
    /// True if a process works on it.
    pub is_live: bool,
    /// That process, if the kernel shows it.
    pub process: Option<u32>,
    /// Time since the process started.
    pub worked: Option<Duration>,
    /// Time that the process expects to need for the rest.
    pub left: Option<Duration>,
}

impl UnderWay {
    /// Returns all unfinished work.
    ///
    /// # Errors
    /// If the directory of journals cannot be read.
    pub fn all(data: &Data) -> Result<Vec<Self>, JournalError> {
        let contents = unfinished(&data.journals)?;
        let of = |content| Self::of(content, data.lock_file.as_deref());
        Ok(contents.into_iter().map(of).collect())
    }

    fn of(content: Content, lock_file: Option<&Path>) -> Self {
        let file = File::open(&content.path).ok();
        let process = file.as_ref().and_then(Holder::of).map(|it| it.process);
        let is_locked = |file: &File| matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        Self {
            is_live: process.is_some() || file.as_ref().is_some_and(is_locked),
            process,
            worked: process.and_then(age),
            left: process.and_then(|process| left(process, lock_file)),
            content,
        }
    }

    /// Name of the work, for [`stop_work`].
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.content.path.file_stem()?.to_str()
    }
}

/// Stops the process that works on the journal of this name, as Ctrl-C does: at its next operation; what it measured is kept. A second
/// call ends it in the middle of its work.
///
/// # Errors
/// If no process of this user works on it.
pub fn stop_work(data: &Data, name: &str) -> Result<(), CommandError> {
    let refused = |why: &str| {
        CommandError::new(Exit::Refused, "cannot stop the work").because(why.to_owned())
    };
    // The name is compared, and never made part of a path.
    let all = unfinished(&data.journals)
        .map_err(|error| CommandError::from_error(Exit::Trouble, &error))?;
    let is_named = |content: &&Content| content.path.file_stem().is_some_and(|it| it == name);
    let path = all.iter().find(is_named).map(|content| &content.path);
    let path = path.ok_or_else(|| refused("there is no such work; it may have ended"))?;
    let holder = || Holder::of(&File::open(path).ok()?);
    let found = holder().ok_or_else(|| refused("no process works on it, or it cannot be seen"))?;
    let process = i32::try_from(found.process).ok().and_then(Pid::from_raw);
    let process = process.ok_or_else(|| refused("its process has no valid number"))?;
    let failed = |error: Errno| refused(&error.to_string());
    let handle = match pidfd_open(process, PidfdFlags::empty()) {
        // Linux before 5.3.
        Err(Errno::NOSYS) => return kill_process(process, Signal::INT).map_err(failed),
        handle => handle.map_err(failed)?,
    };
    // The number could be that of another process by now; the handle is not.
    if holder() != Some(found) {
        return Err(refused("its process has ended"));
    }
    pidfd_send_signal(handle, Signal::INT).map_err(failed)
}

/// Time since a process started.
fn age(process: u32) -> Option<Duration> {
    let stat = read_to_string(format!("/proc/{process}/stat")).ok()?;
    let time = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let since_boot = Duration::new(seconds, u32::try_from(time.tv_nsec).ok()?);
    Some(since_boot.saturating_sub(start_in(&stat, clock_ticks_per_second())?))
}

/// Time from the start of the system to that of a process (proc_pid_stat(5), field 22). The name of the program, field 2, may contain
/// spaces and brackets.
fn start_in(stat: &str, ticks_per_s: u64) -> Option<Duration> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let ticks: u64 = rest.split(' ').nth(19)?.parse().ok()?;
    Some(Duration::from_millis(
        ticks.saturating_mul(1000) / ticks_per_s.max(1),
    ))
}

/// Time until the expected end of the job of this process, as it wrote it into the files that it locks in turns.
fn left(process: u32, lock_file: Option<&Path>) -> Option<Duration> {
    let usual = || FOLDERS.map(|folder| Path::new(folder).join(FILE)).to_vec();
    let files = lock_file.map_or_else(usual, |file| vec![file.to_owned()]);
    let ends = files.iter().flat_map(|file| beside(file));
    let ends = ends.filter_map(|file| end_of(&file, process));
    Some(ends.max()?.saturating_sub(now()))
}

/// The lock file of the host, and those of disks.
fn beside(file: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name().and_then(|it| it.to_str()))
    else {
        return Vec::new();
    };
    let entries = read_dir(folder).into_iter().flatten().flatten();
    let of_turns = entries.filter(|entry| {
        let found = entry.file_name();
        let found = found.to_str().unwrap_or_default();
        found.starts_with(name) && !found.ends_with(".next")
    });
    of_turns.map(|entry| entry.path()).collect()
}

/// Expected end of the job of this process, if the file has its note. Other users can write notes too, so that only files of this user
/// count.
fn end_of(file: &Path, process: u32) -> Option<Duration> {
    let lock = LockFile::existing(file).filter(LockFile::is_ours)?;
    let mut bytes = vec![0; NOTE_BYTES];
    let length = lock.file.read_at(&mut bytes, 0).ok()?;
    let text = std::str::from_utf8(bytes.get(..length)?).ok()?;
    Note::parse(text)
        .filter(|note| note.process == process)?
        .job_end()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use cardmark_store::{JobKind, Journal, JournalHead, Places};

    use super::super::claim::Claim;
    use super::super::note::Step;
    use super::*;

    #[test]
    fn the_start_of_a_process_is_behind_its_name() {
        let stat = "7 (a) b) (c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 12345 20";
        assert_eq!(start_in(stat, 100), Some(Duration::from_millis(123_450)));
        assert_eq!(start_in("7 (a) S 1 2", 100), None);
        let own = age(std::process::id()).unwrap();
        assert!(own < Duration::from_secs(3600), "{own:?}");
    }

    #[test]
    fn work_has_a_process_while_its_journal_is_held_and_a_time_left_from_its_note() {
        let folder = tempfile::tempdir().unwrap();
        let data = Data {
            places: Places {
                database: folder.path().join("records.sqlite"),
                journals: folder.path().join("journals"),
                tests: folder.path().join("tests"),
            },
            lock_file: Some(folder.path().join("lock")),
        };
        assert!(UnderWay::all(&data).unwrap().is_empty());
        let head = JournalHead {
            job: JobKind::Verify,
            target: "/mnt".to_owned(),
            labels: BTreeMap::new(),
        };
        let journal = Journal::create(&data.journals, "card-verify", &head, None).unwrap();
        let all = UnderWay::all(&data).unwrap();
        let [one] = &all[..] else {
            panic!("one job");
        };
        assert_eq!(one.name(), Some("card-verify"));
        assert!(one.is_live);
        assert_eq!(one.process, Some(std::process::id()));
        assert_eq!(one.left, None);

        let claim = Claim {
            job: "verify",
            target: "/mnt".to_owned(),
            disks: Vec::new(),
            is_timed: false,
        };
        let step = Step {
            step: None,
            job: Some(Duration::from_secs(100)),
        };
        let note = Note::of(&claim, now(), step).bytes();
        std::fs::write(folder.path().join("lock.sda"), note).unwrap();
        let left = UnderWay::all(&data).unwrap()[0].left.unwrap();
        assert!(left <= Duration::from_secs(100) && left > Duration::from_secs(60));
        // Another process, and a file that is not for notes.
        std::fs::write(
            folder.path().join("lock.sda"),
            "cardmark-lock 1 - 9 run /mnt",
        )
        .unwrap();
        std::fs::write(folder.path().join("lock.next"), "x").unwrap();
        assert_eq!(UnderWay::all(&data).unwrap()[0].left, None);

        drop(journal);
        let all = UnderWay::all(&data).unwrap();
        let [one] = &all[..] else {
            panic!("the journal stays");
        };
        assert!(!one.is_live && one.process.is_none());
    }

    #[test]
    fn only_work_of_the_store_can_be_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let data = Data {
            places: Places {
                database: folder.path().join("records.sqlite"),
                journals: folder.path().join("journals"),
                tests: folder.path().join("tests"),
            },
            lock_file: None,
        };
        let head = JournalHead {
            job: JobKind::Run,
            target: "/mnt".to_owned(),
            labels: BTreeMap::new(),
        };
        drop(Journal::create(&data.journals, "ended", &head, None).unwrap());
        for name in ["ended", "other", "../journals/ended", ""] {
            let error = stop_work(&data, name).unwrap_err();
            assert_eq!(error.exit, Exit::Refused, "{name}");
        }
    }
}
