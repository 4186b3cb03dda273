//! Starts the originals.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use cardmark_core::{MIB, fill_payload};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::{NamedTempFile, TempDir};

use crate::commands::Invocation;
use cardmark_session::Signals;
use cardmark_session::{CommandError, Exit};

/// Directories of programs for the administrator, which an ordinary user's path may not have.
const FURTHER_PLACES: [&str; 2] = ["/usr/sbin", "/sbin"];
/// Interval of checks for the end of an original.
const LOOK: Duration = Duration::from_millis(2);
/// Longest wait for an original that was ended: the kernel may hold it.
const PATIENCE: Duration = Duration::from_secs(5);
/// Lines of what a failing original printed that are repeated.
const TOLD_LINES: usize = 3;

/// Target of the original tools: disk, device and folder.
pub(crate) struct ToolTarget {
    /// The disk below, for hdparm.
    pub(crate) disk: Option<String>,
    /// The device and its size, where the target is one.
    pub(crate) device: Option<(String, u64)>,
    /// A directory of our own for their files.
    pub(crate) workshop: PathBuf,
}

/// Beginning of the names of workshops.
const PREFIX: &str = "cardmark-crosscheck-";

/// A directory of our own for the originals' files; it goes with all that is in it.
pub(crate) struct Workshop {
    directory: TempDir,
    signals: Signals,
    /// The directory, locked while its process lives.
    _lock: File,
}

/// Removes the workshops of this user in `parent` whose process was killed.
fn remove_left(parent: &Path) -> std::io::Result<()> {
    let own_user = rustix::process::getuid().as_raw();
    for entry in std::fs::read_dir(parent)? {
        let entry = entry?;
        let is_workshop = entry.file_name().to_string_lossy().starts_with(PREFIX);
        // Of the entry itself: a link is none.
        let found = entry.metadata();
        if !is_workshop || !found.is_ok_and(|found| found.is_dir() && found.uid() == own_user) {
            continue;
        }
        let directory = File::open(entry.path())?;
        if flock(&directory, FlockOperation::NonBlockingLockExclusive).is_ok() {
            std::fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

impl Workshop {
    /// Makes one inside `parent`. From now on signals end what is under way instead of the
    /// program, so that nothing remains.
    pub(crate) fn new(parent: &Path) -> Result<Self, CommandError> {
        let fail = |error: std::io::Error| {
            let what = format!("cannot make a directory in `{}`", parent.display());
            CommandError::new(Exit::Trouble, what).because(error.to_string())
        };
        let signals = Signals::heed().map_err(fail)?;
        remove_left(parent).map_err(fail)?;
        let directory = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir_in(parent)
            .map_err(fail)?;
        let lock = File::open(directory.path()).map_err(fail)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)
            .map_err(|errno| fail(errno.into()))?;
        Ok(Self {
            directory,
            signals,
            _lock: lock,
        })
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The signals that are heeded.
    pub(crate) fn signals(&self) -> &Signals {
        &self.signals
    }

    /// Removes what an original left, so that the next one starts alike.
    pub(crate) fn clear(&self) {
        for entry in std::fs::read_dir(self.path())
            .into_iter()
            .flatten()
            .flatten()
        {
            // Files that cannot be removed now go with the directory.
            let _ = std::fs::remove_file(entry.path());
        }
    }

    /// Writes a file that an original reads or overwrites.
    pub(crate) fn write(&self, path: &str, bytes: u64) -> Result<(), CommandError> {
        written(path, bytes).map_err(|error| {
            CommandError::new(Exit::Trouble, format!("cannot write `{path}`"))
                .because(error.to_string())
        })
    }

    /// Runs an original to its end: what it printed, and how long it took.
    pub(crate) fn run(&self, call: &Invocation) -> Result<(String, Duration), CommandError> {
        let fail = |error: std::io::Error| {
            CommandError::new(Exit::Trouble, format!("cannot run {}", call.program))
                .because(error.to_string())
        };
        let program = find_program(call.program).ok_or_else(|| missing(call))?;
        // Not in the workshop, which lies on the target.
        let output = NamedTempFile::new().map_err(fail)?;
        let mut command = Command::new(program);
        command
            .args(&call.arguments)
            .env("LC_ALL", "C")
            // A group of its own, that ends as a whole: some have children.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(output.reopen().map_err(fail)?)
            .stderr(output.reopen().map_err(fail)?);
        if let Some(directory) = &call.directory {
            command.current_dir(directory);
        }
        let started = Instant::now();
        let mut child = command.spawn().map_err(fail)?;
        let status = self.wait(&mut child, call.program)?;
        let wall = started.elapsed();
        let text = std::fs::read(output.path()).map_err(fail)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        if status.success() {
            Ok((text, wall))
        } else {
            Err(failed(call.program, &text))
        }
    }

    fn wait(&self, child: &mut Child, program: &str) -> Result<ExitStatus, CommandError> {
        let fail = |error: std::io::Error| {
            CommandError::new(Exit::Trouble, format!("cannot wait for {program}"))
                .because(error.to_string())
        };
        loop {
            if let Some(status) = child.try_wait().map_err(fail)? {
                return Ok(status);
            }
            if let Some(exit) = self.signals.exit() {
                return Err(end(child, program, exit));
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// Ends an original and all its children.
fn end(child: &mut Child, program: &str, exit: Exit) -> CommandError {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // A group that is gone already cannot be ended, which is what is wanted.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if !matches!(child.try_wait(), Ok(None)) {
            return CommandError::new(exit, "stopped");
        }
        std::thread::sleep(LOOK);
    }
    CommandError::new(exit, "stopped").because(format!(
        "the kernel still holds {program}: the device does not answer"
    ))
}

/// Explanation of an original that failed: its own messages, or else its last lines.
fn failed(program: &str, text: &str) -> CommandError {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let own = lines
        .iter()
        .filter(|line| line.starts_with(&format!("{program}: ")));
    let mut told: Vec<String> = own.map(|line| (*line).to_owned()).collect();
    if told.is_empty() {
        let last = lines.iter().rev().take(TOLD_LINES).rev();
        told = last.map(|line| (*line).to_owned()).collect();
    }
    told.truncate(TOLD_LINES);
    let mut error = CommandError::new(Exit::Trouble, format!("{program} failed"));
    error.causes = told;
    error
}

fn written(path: &str, bytes: u64) -> std::io::Result<()> {
    let mut piece = vec![0; usize::try_from(MIB).unwrap_or(0)];
    fill_payload(1, &mut piece);
    let mut file = std::fs::File::create(path)?;
    for _ in 0..bytes / MIB {
        file.write_all(&piece)?;
    }
    file.sync_all()
}

fn missing(call: &Invocation) -> CommandError {
    let what = format!("{} is not installed", call.program);
    CommandError::new(Exit::Trouble, what).hint(format!("Debian has it in `{}`", call.package))
}

/// Path of a program; `None` if it is not installed.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(FURTHER_PLACES.iter().map(PathBuf::from))
        .map(|directory| directory.join(name))
        .find(|candidate| candidate.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_original_is_told_in_its_own_words() {
        let text = "1+0 records in\ndd: error writing '/x': No space left on device\n\n0 copied\n";
        let own = failed("dd", text).causes;
        assert_eq!(own, ["dd: error writing '/x': No space left on device"]);
        let last = failed("iozone", "a\nb\nc\nd\n").causes;
        assert_eq!(last, ["b", "c", "d"]);
    }
}
