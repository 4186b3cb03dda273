//! A directory as storage of blocks: files of 1 GiB.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cardmark_engine::Pulse;
use cardmark_integrity::{BLOCK_BYTES, Span};
use rustix::fs::{Mode, OFlags, major, minor};

use crate::blocks::{Blocks, Storage, shown_at};
use crate::error::OpenError;
use crate::target::{alignments, set_direct};

/// Size of a file, bytes.
const FILE_BYTES: u64 = 1 << 30;

impl Blocks {
    /// Blocks in files in that directory, which must exist; files that are there already are taken up.
    ///
    /// # Errors
    /// When files cannot be made there. No memory counts as that.
    pub fn in_folder(
        directory: &Path,
        blocks_count: u64,
        pulse: Arc<Pulse>,
    ) -> Result<Self, OpenError> {
        Self::of_files(
            directory,
            blocks_count,
            pulse,
            OFlags::RDWR | OFlags::CREATE,
        )
    }

    /// Blocks in files that are there, only to be read.
    ///
    /// # Errors
    /// When a file cannot be opened. No memory counts as that.
    pub fn in_folder_readonly(
        directory: &Path,
        blocks_count: u64,
        pulse: Arc<Pulse>,
    ) -> Result<Self, OpenError> {
        Self::of_files(directory, blocks_count, pulse, OFlags::RDONLY)
    }

    /// Returns the room that the files take, bytes.
    #[must_use]
    pub fn allocated_bytes(&self) -> u64 {
        let files = self.storage.files.iter();
        let allocated = files.map(|file| file.metadata().map_or(0, |data| data.blocks() * 512));
        allocated.sum()
    }

    /// Returns the number of blocks that the files hold.
    #[must_use]
    pub fn held_blocks(&self) -> u64 {
        let files = self.storage.files.iter();
        let lengths = files.map(|file| file.metadata().map_or(0, |data| data.len()));
        lengths.sum::<u64>() / BLOCK_BYTES as u64
    }

    /// Gives the room of the blocks from `blocks_count` on back to the filesystem, durably.
    ///
    /// # Errors
    /// If a file cannot be cut.
    pub fn shorten(&mut self, blocks_count: u64) -> std::io::Result<()> {
        let storage = &mut self.storage;
        storage.blocks_count = storage.blocks_count.min(blocks_count);
        for (number, file) in (0_u64..).zip(&storage.files) {
            let start = number * storage.file_blocks;
            let kept = storage.blocks_count.saturating_sub(start);
            let kept_bytes = Span::new(0, kept.min(storage.file_blocks)).bytes();
            if file.metadata()?.len() > kept_bytes {
                file.set_len(kept_bytes)?;
                file.sync_all()?;
            }
        }
        Ok(())
    }

    fn of_files(
        directory: &Path,
        blocks_count: u64,
        pulse: Arc<Pulse>,
        flags: OFlags,
    ) -> Result<Self, OpenError> {
        let file_blocks = FILE_BYTES / BLOCK_BYTES as u64;
        let numbers = 0..blocks_count.div_ceil(file_blocks);
        let files = numbers
            .map(|number| open(&directory.join(format!("{number:05}.blocks")), flags))
            .collect::<Result<Vec<(File, bool)>, rustix::io::Errno>>()
            .map_err(|errno| OpenError::of_directory(directory, errno))?;
        let is_buffered = files.iter().any(|(_, is_direct)| !is_direct);
        let files: Vec<File> = files.into_iter().map(|(file, _)| file).collect();
        let (memory, offset) = files.first().map_or((4096, 4096), alignments);
        let grain_bytes = Span::new(0, 8).bytes().max(u64::from(offset));
        let storage = Storage {
            shown: files.first().and_then(shown),
            files,
            file_blocks,
            blocks_count,
            grain_blocks: grain_bytes / BLOCK_BYTES as u64,
            is_buffered,
            is_on_filesystem: true,
            pulse,
        };
        Self::new(storage, memory)
            .ok_or_else(|| OpenError::of_directory(directory, rustix::io::Errno::NOMEM))
    }
}

/// Returns the directory in which the kernel shows the device of the file's filesystem; `None` if the
/// filesystem has no single device.
fn shown(file: &File) -> Option<PathBuf> {
    let device = rustix::fs::fstat(file).ok()?.st_dev;
    let path = shown_at(major(device), minor(device));
    path.exists().then_some(path)
}

/// The file, and whether it is open with O_DIRECT.
fn open(path: &Path, flags: OFlags) -> Result<(File, bool), rustix::io::Errno> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let fd = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?;
    let is_direct = set_direct(&fd);
    Ok((fd.into(), is_direct))
}
