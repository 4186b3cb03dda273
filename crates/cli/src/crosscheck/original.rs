//! Starts the originals.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cardmark_core::{MIB, fill_payload};
use cardmark_peers::Invocation;

use crate::error::{CommandError, Exit};

/// Where programs for the administrator lie, which an ordinary user's path may not have.
const FURTHER_PLACES: [&str; 2] = ["/usr/sbin", "/sbin"];
/// How often it is looked whether an original has ended.
const LOOK: Duration = Duration::from_millis(2);
/// Lines of what a failing original printed that are repeated.
const TOLD_LINES: usize = 3;

/// Where originals work.
pub(crate) struct Place {
    /// The disk below, for hdparm.
    pub(crate) disk: Option<String>,
    /// The device and the bytes of it that are worked on, where the target is one.
    pub(crate) device: Option<(String, u64)>,
    /// A directory of our own for their files.
    pub(crate) workshop: PathBuf,
}

/// A directory of our own for the originals' files; it goes with all that is in it.
pub(crate) struct Workshop {
    directory: tempfile::TempDir,
    signal: Arc<AtomicUsize>,
}

impl Workshop {
    /// Makes one inside `parent`. From now on signals end what is under way instead of the
    /// program, so that nothing remains.
    pub(crate) fn new(parent: &Path) -> Result<Self, CommandError> {
        let fail = |error: std::io::Error| {
            let what = format!("cannot make a directory in `{}`", parent.display());
            CommandError::new(Exit::Trouble, what).because(error.to_string())
        };
        let signal = Arc::new(AtomicUsize::new(0));
        for (number, exit) in SIGNALS {
            let _ = exit;
            let value = usize::try_from(number).unwrap_or(0);
            signal_hook::flag::register_usize(number, Arc::clone(&signal), value).map_err(fail)?;
        }
        let directory = tempfile::Builder::new()
            .prefix("cardmark-crosscheck-")
            .tempdir_in(parent)
            .map_err(fail)?;
        Ok(Self { directory, signal })
    }

    /// The directory.
    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Whether a signal came, and how the program is to end for it.
    pub(crate) fn signalled(&self) -> Option<Exit> {
        let number = self.signal.load(Ordering::Relaxed);
        let known = SIGNALS
            .iter()
            .find(|(known, _)| usize::try_from(*known) == Ok(number));
        known.map(|(_, exit)| *exit)
    }

    /// Removes what an original left, so that the next one starts alike.
    pub(crate) fn clear(&self, kept: Option<&str>) {
        let Ok(entries) = std::fs::read_dir(self.path()) else {
            return;
        };
        for entry in entries.flatten() {
            if kept.is_none_or(|kept| entry.path() != Path::new(kept)) {
                // What cannot be removed now goes with the directory.
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    /// Writes a file that an original reads or overwrites, unless it is there.
    pub(crate) fn write(&self, path: &str, bytes: u64) -> Result<(), CommandError> {
        if Path::new(path).exists() {
            return Ok(());
        }
        written(path, bytes).map_err(|error| {
            CommandError::new(Exit::Trouble, format!("cannot write `{path}`"))
                .because(error.to_string())
        })
    }

    /// Runs an original to its end: what it printed, and how long it took.
    pub(crate) fn run(&self, call: &Invocation) -> Result<(String, Duration), CommandError> {
        let program = find_program(call.program).ok_or_else(|| missing(call))?;
        let fail = |error: std::io::Error| {
            CommandError::new(Exit::Trouble, format!("cannot run {}", call.program))
                .because(error.to_string())
        };
        let (output, output_path) = self.file("output").map_err(fail)?;
        let both = output.try_clone().map_err(fail)?;
        let mut command = Command::new(program);
        command
            .args(&call.arguments)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(both);
        if let Some(directory) = &call.directory {
            command.current_dir(directory);
        }
        let started = Instant::now();
        let mut child = command.spawn().map_err(fail)?;
        let status = loop {
            if let Some(status) = child.try_wait().map_err(fail)? {
                break status;
            }
            if let Some(exit) = self.signalled() {
                // One that is gone already cannot be ended, which is what is wanted.
                let _ = child.kill();
                let _ = child.wait();
                return Err(CommandError::new(exit, "stopped"));
            }
            std::thread::sleep(LOOK);
        };
        let wall = started.elapsed();
        let text = std::fs::read(&output_path).map_err(fail)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        if status.success() {
            return Ok((text, wall));
        }
        let last: Vec<&str> = text
            .lines()
            .rev()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let mut error = CommandError::new(Exit::Trouble, format!("{} failed", call.program));
        error.causes = last
            .iter()
            .take(TOLD_LINES)
            .rev()
            .map(|line| line.trim().to_owned())
            .collect();
        Err(error)
    }

    /// A file outside of the workshop, which lies on the target, for what is printed.
    fn file(&self, name: &str) -> std::io::Result<(File, PathBuf)> {
        let directory = std::env::temp_dir();
        let path = directory.join(format!("cardmark-{}-{name}", std::process::id()));
        Ok((File::create(&path)?, path))
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        let path = std::env::temp_dir().join(format!("cardmark-{}-output", std::process::id()));
        let _ = std::fs::remove_file(path);
    }
}

/// Signals that end a crosscheck, and how.
const SIGNALS: [(i32, Exit); 3] = [
    (signal_hook::consts::SIGINT, Exit::Interrupted),
    (signal_hook::consts::SIGTERM, Exit::Terminated),
    (signal_hook::consts::SIGHUP, Exit::Terminated),
];

fn written(path: &str, bytes: u64) -> std::io::Result<()> {
    let mut piece = vec![0; usize::try_from(MIB).unwrap_or(0)];
    fill_payload(1, &mut piece);
    let mut file = File::create(path)?;
    for _ in 0..bytes / MIB {
        file.write_all(&piece)?;
    }
    file.sync_all()
}

fn missing(call: &Invocation) -> CommandError {
    let what = format!("{} is not installed", call.program);
    CommandError::new(Exit::Trouble, what).hint(format!("Debian has it in `{}`", call.package))
}

/// Where a program lies; `None` where it is not installed.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(FURTHER_PLACES.iter().map(PathBuf::from))
        .map(|directory| directory.join(name))
        .find(|candidate| candidate.is_file())
}
