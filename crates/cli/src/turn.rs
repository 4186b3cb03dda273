//! One timed phase at a time on this host: runs on several devices share its processors and buses.

use std::fs::{File, Permissions, TryLockError};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cardmark_engine::Pulse;
use rustix::fs::OFlags;

use crate::print;

/// Where all users of a host can hold the same lock.
const FOLDERS: [&str; 2] = ["/run/lock", "/tmp"];
const FILE: &str = "cardmark.lock";
/// How often is looked whether it is free.
const LOOK: Duration = Duration::from_millis(20);
/// How long another run is waited for: longer than any trial but those of a few old tools. One whose
/// device hangs must not hold up all others for ever.
const PATIENCE: Duration = Duration::from_secs(600);

/// The right to measure now. Where no such file can be made, everybody has it.
#[derive(Debug)]
pub(crate) struct Turn {
    file: Option<File>,
    pulse: Arc<Pulse>,
    has_told: bool,
    patience: Duration,
}

impl Turn {
    /// A turn for a run with this sign of life.
    ///
    /// `CARDMARK_LOCK_FILE` names another file: for containers that share a machine and no folder
    /// of these.
    pub(crate) fn new(pulse: &Arc<Pulse>) -> Self {
        let named = std::env::var_os("CARDMARK_LOCK_FILE").filter(|name| !name.is_empty());
        let file = match named {
            Some(name) => open(Path::new(&name)),
            None => FOLDERS
                .iter()
                .find_map(|folder| open(&Path::new(folder).join(FILE))),
        };
        Self {
            file,
            pulse: Arc::clone(pulse),
            has_told: false,
            patience: PATIENCE,
        }
    }

    /// A turn that nobody has to wait for: what is simulated takes nothing from others.
    pub(crate) fn always(pulse: &Arc<Pulse>) -> Self {
        Self {
            file: None,
            pulse: Arc::clone(pulse),
            has_told: true,
            patience: PATIENCE,
        }
    }

    /// Waits until no other run measures, or the run is stopped.
    pub(crate) fn take(&mut self) {
        let Some(file) = &self.file else {
            return;
        };
        if !is_taken(file) {
            return;
        }
        if !self.has_told {
            self.has_told = true;
            print::notice("another run measures on this host: their trials take turns");
        }
        // It is not the device that is waited for.
        self.pulse.set_waiting(false);
        let since = Instant::now();
        while is_taken(file) && !self.pulse.is_stopped() {
            if since.elapsed() >= self.patience {
                print::notice("warning: the other run does not end its trial; going on beside it");
                // For all trials to come: it will not end before the next one either.
                self.file = None;
                break;
            }
            std::thread::sleep(LOOK);
        }
        self.pulse.set_waiting(true);
    }

    /// Lets others measure.
    pub(crate) fn give(&self) {
        if let Some(file) = &self.file {
            // Not held: nothing to be given.
            let _ = file.unlock();
        }
    }
}

/// Tries to lock. A file that cannot be locked at all keeps nobody waiting.
fn is_taken(file: &File) -> bool {
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Opens the file, or makes it. What belongs to another user can be locked without writing to it.
fn open(path: &Path) -> Option<File> {
    // Everybody may put something of that name there: a pipe must not keep us waiting.
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

/// In a folder where everybody may write, the name could be that of anything.
fn is_plain(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    fn turn(path: &Path) -> Turn {
        Turn {
            file: open(path),
            pulse: Arc::new(Pulse::new()),
            has_told: true,
            patience: PATIENCE,
        }
    }

    /// A file, and who holds it.
    fn taken() -> (tempfile::TempDir, PathBuf, Turn) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let mut first = turn(&path);
        first.take();
        (folder, path, first)
    }

    #[test]
    fn one_that_never_ends_is_waited_for_once() {
        let (_folder, path, _first) = taken();
        let mut second = Turn {
            patience: Duration::ZERO,
            ..turn(&path)
        };
        second.take();
        assert!(second.file.is_none(), "it would wait at every trial");
    }

    #[test]
    fn who_holds_it_keeps_the_other_waiting() {
        let (_folder, path, first) = taken();
        let second = turn(&path);
        assert!(is_taken(second.file.as_ref().unwrap()));
        first.give();
        assert!(!is_taken(second.file.as_ref().unwrap()));
    }

    #[test]
    fn a_run_that_is_stopped_waits_no_longer() {
        let (_folder, path, _first) = taken();
        let mut second = turn(&path);
        second.pulse.stop();
        second.take();
        assert!(is_taken(second.file.as_ref().unwrap()), "not taken from it");
    }

    /// Opening a pipe waits for somebody at its other end.
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
        let mut turn = Turn::always(&Arc::new(Pulse::new()));
        turn.take();
        turn.give();
        assert!(open(Path::new("/nonexistent/folder/file")).is_none());
    }
}
