//! The log of acknowledged writes as a file or standard output, and its place.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::Instant;

use cardmark_host::{Resolution, Root, resolve};
use cardmark_integrity::{CutEnd, LogLine, Trouble};

use crate::error::{CommandError, Exit};
use crate::gate::file::Destination;
use crate::voice::Voice;

/// A log that is being written.
pub(super) struct LogWriter {
    file: File,
    /// False for a pipe, which cannot be synced.
    is_synced: bool,
    /// True once it has the line that the file is ready.
    is_ready: bool,
    begun: Instant,
}

impl LogWriter {
    /// Opens a log; a new cycle is appended.
    pub(super) fn open(log: &Destination) -> Result<Self, CommandError> {
        let opened = match log {
            Destination::Output => Self::output(rustix::stdio::stdout()),
            Destination::Error => Self::output(rustix::stdio::stderr()),
            Destination::Nothing => return Err(kept_nowhere()),
            Destination::File(place) => Self::file(place.append()?, place.path()),
        };
        opened.map_err(|error| unusable(log, &error))
    }

    fn output(output: BorrowedFd<'_>) -> io::Result<Self> {
        let file = File::from(output.try_clone_to_owned()?);
        let mut log = Self {
            is_synced: file.metadata()?.is_file(),
            file,
            is_ready: false,
            begun: Instant::now(),
        };
        // What the output is appended to may end in the middle of a line.
        log.file.write_all(b"\n")?;
        Ok(log)
    }

    fn file(mut file: File, path: &Path) -> io::Result<Self> {
        if file.metadata()?.len() > 0 {
            let mut last = [0];
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                file.write_all(b"\n")?;
            }
        }
        file.sync_all()?;
        File::open(folder_of(path))?.sync_all()?;
        Ok(Self {
            file,
            is_synced: true,
            is_ready: false,
            begun: Instant::now(),
        })
    }

    /// Returns the time since the log was opened, milliseconds.
    pub(super) fn at_ms(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns whether a power cut may come now: the file is ready.
    pub(super) fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Appends a line, and syncs it.
    pub(super) fn append(&mut self, line: &LogLine) -> Result<(), Trouble> {
        self.is_ready |= matches!(line, LogLine::Ready { .. });
        let written = self.file.write_all(line.text().as_bytes());
        let synced = written.and_then(|()| match self.is_synced {
            true => self.file.sync_data(),
            false => Ok(()),
        });
        synced.map_err(|error| {
            let errno = cardmark_core::Errno(error.raw_os_error().unwrap_or(0));
            Trouble::NotKept { errno }
        })
    }

    /// Notes the end.
    pub(super) fn end(&mut self, end: CutEnd) -> Result<(), Trouble> {
        let at_ms = self.at_ms();
        self.append(&LogLine::End { end, at_ms })
    }
}

/// Returns the text of a log; that of standard output comes from standard input.
pub(super) fn read(log: &Destination) -> Result<String, CommandError> {
    let mut bytes = Vec::new();
    let read = match log {
        Destination::Output | Destination::Error => io::stdin().read_to_end(&mut bytes),
        Destination::Nothing => return Err(kept_nowhere()),
        Destination::File(place) => {
            File::open(place.path()).and_then(|mut file| file.read_to_end(&mut bytes))
        }
    };
    read.map_err(|error| unusable(log, &error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Refuses a log on the card itself: it would be lost, or broken, together with what it is about.
pub(super) fn refuse_same_disk(
    voice: &dyn Voice,
    target: &Resolution,
    log: &Destination,
) -> Result<(), CommandError> {
    if *log == Destination::Nothing {
        return Err(kept_nowhere());
    }
    let Some(folder) = place_of(log) else {
        // A pipe: whoever reads it keeps it.
        return Ok(());
    };
    let found = folder
        .canonicalize()
        .ok()
        .and_then(|folder| resolve(&Root::system(), &folder).ok());
    let names = |resolution: &Resolution| -> Vec<String> {
        let disks = resolution.disks.iter();
        disks.map(|disk| disk.name.clone()).collect()
    };
    let Some(found) = found else {
        voice.notice(UNKNOWN);
        return Ok(());
    };
    let (of_target, of_log) = (names(target), names(&found));
    let is_same =
        target.device_id == found.device_id || of_target.iter().any(|name| of_log.contains(name));
    if is_same {
        let what = format!(
            "the log `{}` would be on the card itself",
            named(log).display()
        );
        return Err(CommandError::new(Exit::Refused, what)
            .because("the log must survive the power cut")
            .hint(
                "name a file on another disk, or keep the log on another computer with `--log -`",
            ));
    }
    if found.memory_backed {
        voice.notice(
            "warning: the log is in memory: cut the power of the card only, not that of this computer",
        );
    } else if !found.network && (of_target.is_empty() || of_log.is_empty()) {
        voice.notice(UNKNOWN);
    }
    Ok(())
}

const UNKNOWN: &str =
    "warning: cannot tell which disks the card and the log are on; the log must not be on the card";

/// The folder of a log; `None` for a pipe or a terminal.
fn place_of(log: &Destination) -> Option<PathBuf> {
    let output = match log {
        Destination::File(place) => return Some(folder_of(place.path()).to_owned()),
        Destination::Error => "/proc/self/fd/2",
        Destination::Output | Destination::Nothing => "/proc/self/fd/1",
    };
    let shown = std::fs::read_link(output).ok()?;
    let is_file = shown.metadata().is_ok_and(|metadata| metadata.is_file());
    is_file.then(|| folder_of(&shown).to_owned())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => path,
    }
}

/// Name of a log for messages and commands.
pub(super) fn named(log: &Destination) -> &Path {
    match log {
        Destination::File(place) => place.named(),
        _ => Path::new("-"),
    }
}

fn kept_nowhere() -> CommandError {
    CommandError::new(Exit::Usage, "/dev/null keeps no log of acknowledged writes")
        .hint("name a file on another disk, or keep the log on another computer with `--log -`")
}

fn unusable(log: &Destination, error: &io::Error) -> CommandError {
    let what = format!("cannot use the log `{}`", named(log).display());
    CommandError::new(Exit::Trouble, what).because(error.to_string())
}
