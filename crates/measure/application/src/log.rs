//! A log file: lines are appended, and each is made durable.

use std::fs::File;
use std::io::{Result, Write};
use std::path::Path;

use crate::content::Content;

/// An open log.
pub(crate) struct Log {
    file: File,
    bytes: u64,
}

impl Log {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let file = File::options().append(true).create_new(true).open(path)?;
        Ok(Self { file, bytes: 0 })
    }

    /// Appends a line of `bytes` at `offset`; an offset of 0 starts the log again.
    pub(crate) fn append(&mut self, offset: u64, bytes: u32, content: &mut Content) -> Result<()> {
        if offset == 0 {
            self.file.set_len(0)?;
            self.bytes = 0;
        }
        // One call, like loggers; a short write shows in the length.
        self.file.write_all(content.next(bytes as usize))?;
        self.bytes += u64::from(bytes);
        self.file.sync_all()
    }

    /// Describes the first inconsistency of the file.
    pub(crate) fn damage(&self) -> Option<String> {
        let held = self.file.metadata().map(|metadata| metadata.len());
        match held {
            Ok(held) if held == self.bytes => None,
            Ok(held) => Some(format!(
                "the log has {held} bytes instead of {}",
                self.bytes
            )),
            Err(error) => Some(format!("the log cannot be read: {error}")),
        }
    }
}
