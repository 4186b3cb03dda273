//! The kernel's log: its records, as `/dev/kmsg` gives them.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::mem;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};

use rustix::fs::{OFlags, makedev};

use crate::Root;

/// Bytes of a record at most; the kernel gives none that is longer.
const MOST_RECORD_BYTES: usize = 8192;
/// Maximum number of reads in one pass; a kernel keeps far less. The rest is left to the next pass.
const MOST_READS: usize = 65_536;
const MOST_LINES: usize = 4096;
const MOST_BYTES: usize = 8_388_608;
/// Size of the largest logs, in those of the usual limits: a kernel can be told to keep 16 MB.
const LARGE_LOGS: usize = 3;

/// A line that the kernel wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Its number; each line has the one after that of the line before.
    pub sequence: u64,
    /// When, after the board was started, microseconds.
    pub at_us: u64,
    /// Text of the line.
    pub text: String,
}

/// Access to the kernel's log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogAccess {
    /// It may.
    Readable,
    /// Only by root.
    NotPermitted,
    /// The log is missing, as in many containers.
    Absent,
}

/// Reads the kernel's log from the oldest stored line to the newest, then only new lines. Never waits for a
/// line.
#[derive(Debug)]
pub struct KernelLog {
    file: Option<File>,
    access: LogAccess,
    /// The beginning of a line whose end was not read yet.
    rest: Vec<u8>,
    /// True if the beginning of this line was too long; the whole line is skipped.
    is_overlong: bool,
}

impl KernelLog {
    /// Opens the log.
    #[must_use]
    pub fn open(root: &Root) -> Self {
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(flags.bits().cast_signed());
        let opened = options.open(root.path("/dev/kmsg"));
        let (file, access) = match opened {
            Ok(file) if is_log(&file) => (Some(file), LogAccess::Readable),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                (None, LogAccess::NotPermitted)
            }
            _ => (None, LogAccess::Absent),
        };
        Self {
            file,
            access,
            rest: Vec::new(),
            is_overlong: false,
        }
    }

    /// Returns whether it may be read.
    #[must_use]
    pub fn access(&self) -> LogAccess {
        self.access
    }

    /// Passes over all that is there.
    pub fn skip(&mut self) {
        drop(self.lines(&|_| false));
    }

    /// The lines since the last look whose text is wanted; at first, all that are kept.
    pub fn lines(&mut self, is_wanted: &dyn Fn(&str) -> bool) -> Vec<LogLine> {
        let mut lines = Vec::new();
        self.pass(1, &mut |record| {
            lines.extend(parse_record(record).filter(|line| is_wanted(&line.text)));
            lines.len() < MOST_LINES
        });
        lines
    }

    /// Passes on the number of each record from the oldest to the newest, and the line in it if the kernel wrote one.
    pub(crate) fn each(&mut self, give: &mut dyn FnMut(u64, Option<LogLine>)) {
        self.pass(LARGE_LOGS, &mut |record| {
            if let Some(sequence) = sequence_of(record) {
                give(sequence, parse_record(record));
            }
            true
        });
    }

    /// Passes on records as long as `give` wants more; at most `times` as many as usual.
    fn pass(&mut self, times: usize, give: &mut dyn FnMut(&str) -> bool) {
        let mut taken = 0;
        let mut buffer = vec![0; MOST_RECORD_BYTES];
        for _ in 0..times * MOST_READS {
            let Some(file) = self.file.as_mut() else {
                break;
            };
            let mut is_wanted = true;
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => {
                    taken += length;
                    self.take_in(buffer.get(..length).unwrap_or_default(), &mut |record| {
                        is_wanted &= give(record);
                    });
                }
                // Lines were overwritten before they were read; the next ones are there.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
            if taken >= times * MOST_BYTES || !is_wanted {
                break;
            }
        }
    }

    /// Passes whole lines on and keeps those that may be continued.
    fn take_in(&mut self, bytes: &[u8], give: &mut dyn FnMut(&str)) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.rest.extend(piece);
            self.is_overlong |= self.rest.len() > MOST_RECORD_BYTES;
            if self.is_overlong {
                self.rest.clear();
            }
            if piece.ends_with(b"\n") && !mem::take(&mut self.is_overlong) {
                give(&String::from_utf8_lossy(&mem::take(&mut self.rest)));
            }
        }
    }
}

/// Returns whether it is the kernel's own device, or a file in a fixture tree. Replacements in some containers,
/// such as a terminal, are no log.
fn is_log(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| {
        let file_type = metadata.file_type();
        file_type.is_file() || (file_type.is_char_device() && metadata.rdev() == makedev(1, 11))
    })
}

/// The second number of a record.
fn sequence_of(record: &str) -> Option<u64> {
    let (header, _) = record.split_once(';')?;
    header.split(',').nth(1)?.parse().ok()
}

/// Parses a record: `priority,sequence,microseconds,flags;text`. Continuation lines with the names of devices,
/// and lines that programs wrote into the log, are left out.
#[must_use]
pub fn parse_record(record: &str) -> Option<LogLine> {
    let (header, text) = record.split_once(';')?;
    let mut fields = header.split(',');
    let mut number = || fields.next()?.parse::<u64>().ok();
    let (priority, sequence, at_us) = (number()?, number()?, number()?);
    // The bits above the three of the priority name the writer; 0 is the kernel.
    (priority < 8).then(|| LogLine {
        sequence,
        at_us,
        text: text.trim_end().to_owned(),
    })
}

#[cfg(test)]
mod tests;
