//! A log: lines added at the end of a file, each made durable.

use std::fs::File;
use std::io::{Result, Write};
use std::path::Path;

use crate::content::Content;

/// A log under way.
pub(crate) struct Log {
    file: File,
    bytes: u64,
}

impl Log {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let file = File::options().append(true).create_new(true).open(path)?;
        Ok(Self { file, bytes: 0 })
    }

    /// Adds a line of so many bytes that begins at `offset`; at 0 the log is begun anew.
    pub(crate) fn append(&mut self, offset: u64, bytes: u32, content: &mut Content) -> Result<()> {
        if offset == 0 {
            self.file.set_len(0)?;
            self.bytes = 0;
        }
        // One call, as loggers do; what is written short shows in the length.
        self.file.write_all(content.next(bytes as usize))?;
        self.bytes += u64::from(bytes);
        self.file.sync_all()
    }

    /// What is wrong with the file.
    pub(crate) fn damage(&self) -> Option<String> {
        let held = self.file.metadata().map(|metadata| metadata.len());
        match held {
            Ok(held) if held == self.bytes => None,
            Ok(held) => Some(format!("the log has {held} bytes, not {}", self.bytes)),
            Err(error) => Some(format!("the log cannot be read: {error}")),
        }
    }
}
