//! One timed step at a time on this host: jobs on several devices share its processors and buses.

use std::fs::{File, Permissions, TryLockError};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cardmark_engine::Pulse;
use rustix::fs::OFlags;
use rustix::process::getuid;

use crate::Voice;
use crate::holder::Holder;

/// Directories in which all users of a host can hold the same lock.
const FOLDERS: [&str; 2] = ["/run/lock", "/tmp"];
const FILE: &str = "cardmark.lock";
/// Interval between attempts.
const LOOK: Duration = Duration::from_millis(20);
/// Longest wait for another job: longer than any trial but those of a few old tools. A device that hangs must
/// not hold up all other jobs for ever.
const PATIENCE: Duration = Duration::from_secs(600);

/// The right to use the host now. Everybody has it if no such file can be created.
pub struct Turn {
    locks: Option<Locks>,
    voice: &'static dyn Voice,
    pulse: Arc<Pulse>,
    has_told: bool,
    patience: Duration,
    /// Waits for no process of an ordinary user, who could otherwise delay root at will.
    is_root: bool,
}

/// Two locks, so that turns alternate: who waits holds `next`, and who has just given its turn back must get
/// `next` before `now`.
#[derive(Debug)]
struct Locks {
    now: File,
    next: File,
}

impl Locks {
    fn at(path: &Path) -> Option<Self> {
        let mut next = path.as_os_str().to_owned();
        next.push(".next");
        Some(Self {
            now: open(path)?,
            next: open(&PathBuf::from(next))?,
        })
    }
}

impl Turn {
    /// A turn of a job with this pulse.
    ///
    /// `CARDMARK_LOCK_FILE` names another file: for containers that share a machine, but none of the usual
    /// directories.
    #[must_use]
    pub fn new(voice: &'static dyn Voice, pulse: &Arc<Pulse>) -> Self {
        let named = std::env::var_os("CARDMARK_LOCK_FILE").filter(|name| !name.is_empty());
        let locks = match named {
            Some(name) => Locks::at(Path::new(&name)),
            None => FOLDERS
                .iter()
                .find_map(|folder| Locks::at(&Path::new(folder).join(FILE))),
        };
        Self {
            locks,
            ..Self::always(voice, pulse)
        }
    }

    /// A turn without waiting: a simulated card uses nothing that others need.
    #[must_use]
    pub fn always(voice: &'static dyn Voice, pulse: &Arc<Pulse>) -> Self {
        Self {
            locks: None,
            voice,
            pulse: Arc::clone(pulse),
            has_told: false,
            patience: PATIENCE,
            is_root: getuid().is_root(),
        }
    }

    /// Waits until no other job has its turn, or this one is stopped.
    pub fn take(&mut self) {
        let Some(locks) = self.locks.take() else {
            return;
        };
        // The wait is not for the device.
        let was_waiting = self.pulse.reading().1;
        let is_mine = self.wait_for(&locks.next) && self.wait_for(&locks.now);
        // Not held: nothing to give back.
        let _ = locks.next.unlock();
        self.pulse.set_waiting(was_waiting);
        // Given up for all further steps: the other job will not end before the next one either.
        self.locks = is_mine.then_some(locks);
    }

    /// Lets others have their turn.
    pub fn give(&self) {
        if let Some(locks) = &self.locks {
            // Not held: nothing to give back.
            let _ = locks.now.unlock();
        }
    }

    /// Waits for one lock; returns whether to wait for it in the future, too.
    fn wait_for(&mut self, file: &File) -> bool {
        if !is_taken(file) {
            return true;
        }
        let holder = Holder::of(file);
        if self.is_root
            && let Some(holder) = &holder
            && holder.user != 0
        {
            self.voice.notice(&format!(
                "warning: not waiting for process {} of user {}, which holds the lock of this host",
                holder.process, holder.user
            ));
            return false;
        }
        if !self.has_told {
            self.has_told = true;
            self.voice.notice(&waiting(holder.as_ref()));
        }
        self.pulse.set_waiting(false);
        let since = Instant::now();
        while is_taken(file) && !self.pulse.is_stopped() {
            if since.elapsed() >= self.patience {
                self.voice
                    .notice("warning: the other job does not end its step; continuing beside it");
                return false;
            }
            std::thread::sleep(LOOK);
        }
        true
    }
}

fn waiting(holder: Option<&Holder>) -> String {
    let who = match holder {
        Some(Holder { process, user }) => format!("process {process} of user {user}"),
        None => "another process".to_owned(),
    };
    format!("{who} measures on this host, too: the jobs take turns")
}

/// Tries to lock. Nothing waits for a file that cannot be locked at all.
fn is_taken(file: &File) -> bool {
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Opens the file, or creates it. A file of another user can be locked without writing to it.
fn open(path: &Path) -> Option<File> {
    // Everybody may put something with that name there: a pipe must not keep us waiting.
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let existing = || {
        let opened = File::options().read(true).custom_flags(flags).open(path);
        opened.ok().filter(is_plain)
    };
    let new = || {
        let mut options = File::options();
        let made = options.read(true).write(true).create_new(true).open(path);
        let made = made.ok()?;
        // Whatever the user's mask is: who cannot read it cannot wait for us.
        let _ = made.set_permissions(Permissions::from_mode(0o644));
        Some(made)
    };
    existing().or_else(new).or_else(existing)
}

/// Returns whether it is a regular file: in a directory that everybody may write, the name could be anything.
fn is_plain(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;
    use crate::voice::Silent;

    fn turn(path: &Path) -> Turn {
        Turn {
            locks: Locks::at(path),
            ..Turn::always(&Silent, &Arc::new(Pulse::new()))
        }
    }

    /// A file, and a turn that holds it.
    fn taken() -> (tempfile::TempDir, PathBuf, Turn) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let mut first = turn(&path);
        first.take();
        (folder, path, first)
    }

    fn holds(turn: &Turn, path: &Path) -> bool {
        let other = Locks::at(path).unwrap();
        turn.locks.is_some() && is_taken(&other.now)
    }

    #[test]
    fn a_job_that_never_ends_is_waited_for_once() {
        let (_folder, path, _first) = taken();
        let mut second = Turn {
            patience: Duration::ZERO,
            ..turn(&path)
        };
        second.take();
        assert!(second.locks.is_none(), "it would wait at every step");
    }

    #[test]
    fn a_turn_is_given_back() {
        let (_folder, path, first) = taken();
        assert!(holds(&first, &path));
        first.give();
        assert!(!holds(&first, &path));
    }

    #[test]
    fn a_job_that_is_stopped_waits_no_longer() {
        let (_folder, path, _first) = taken();
        let mut second = turn(&path);
        second.pulse.stop();
        second.take();
        assert!(second.locks.is_some());
    }

    /// Without the second lock the job that gives its turn back takes it again at once, and the other one waits
    /// until the end.
    #[test]
    fn two_jobs_alternate() {
        let (_folder, path, mut first) = taken();
        let (steps_count, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut second = turn(&path);
                for _ in 0..3 {
                    second.take();
                    steps_count.fetch_add(1, Ordering::Relaxed);
                    second.give();
                }
                is_over.store(true, Ordering::Relaxed);
            });
            // Ends only because the other one gets its turns.
            while !is_over.load(Ordering::Relaxed) {
                first.give();
                first.take();
            }
        });
        assert_eq!(steps_count.into_inner(), 3);
    }

    #[test]
    fn root_waits_for_no_ordinary_user_and_says_so() {
        let holder = Holder {
            process: 7,
            user: 1000,
        };
        let expected = "process 7 of user 1000 measures on this host, too: the jobs take turns";
        assert_eq!(waiting(Some(&holder)), expected);
        let (_folder, path, first) = taken();
        let mut second = Turn {
            is_root: true,
            ..turn(&path)
        };
        // Whoever runs this test holds it: root waits for root.
        let is_own = getuid().is_root();
        second.pulse.stop();
        second.take();
        assert_eq!(second.locks.is_some(), is_own);
        drop(first);
    }

    /// Opening a pipe waits for a process at its other end.
    #[test]
    fn a_pipe_or_a_link_of_that_name_keeps_nobody_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, link) = (folder.path().join("pipe"), folder.path().join("link"));
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR, 0).unwrap();
        std::os::unix::fs::symlink(folder.path().join("theirs"), &link).unwrap();
        assert!(open(&pipe).is_none() && open(&link).is_none());
        let plain = folder.path().join("plain");
        let mode = open(&plain)
            .unwrap()
            .metadata()
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o644);
    }

    #[test]
    fn without_a_file_nobody_waits() {
        let mut turn = Turn::always(&Silent, &Arc::new(Pulse::new()));
        turn.take();
        turn.give();
        assert!(open(Path::new("/nonexistent/folder/file")).is_none());
    }
}
