//! Objects that a back end works on: the target, further files beside it, the disk below.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cardmark_core::{Access, Start, Workload, fill_payload};
use cardmark_engine::Pulse;
use rustix::fs::{Advice, FallocateFlags, FileType, OFlags, SeekFrom};
use rustix::io::{Errno, retry_on_intr};

use crate::fill::{FillError, discard_all};
use crate::object::{IoResult, make_durable, number};
use crate::target::{OpenTarget, TestFile, open_device_readonly};

/// Size of one write when a file is written before the clock starts.
const WRITTEN_PIECE_BYTES: usize = 1 << 20;

/// An open object and how it may be used.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub(crate) file: Arc<File>,
    /// True if O_DIRECT was accepted.
    pub(crate) direct: bool,
    pub(crate) alignment_bytes: u64,
    /// True if it is one of our files, which may be truncated; false for a device.
    is_file: bool,
    /// True if it should have been erased and could not be.
    kept_content: Arc<AtomicBool>,
}

impl Object {
    fn new(target: OpenTarget) -> Self {
        let is_file = rustix::fs::fstat(&target.file)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
        Self {
            direct: target.direct,
            alignment_bytes: u64::from(target.alignment_bytes),
            file: Arc::new(target.file),
            kept_content: Arc::default(),
            is_file,
        }
    }

    /// Switches O_DIRECT on or off as the workload wants it, as far as it was accepted at all.
    fn set_access(&self, access: Access) -> IoResult<()> {
        if !self.direct {
            return Ok(());
        }
        let flags = rustix::fs::fcntl_getfl(&self.file).map_err(number)?;
        let mut wanted = flags;
        wanted.set(OFlags::DIRECT, access == Access::Direct);
        if wanted != flags {
            rustix::fs::fcntl_setfl(&self.file, wanted).map_err(number)?;
        }
        Ok(())
    }

    /// Brings a test file into the workload's initial state, durably; returns the number of bytes written.
    fn bring_to(&self, start: Start, span_bytes: u64, seed: u64, pulse: &Pulse) -> IoResult<u64> {
        if start == Start::Erased && !self.is_file {
            return self.erase(pulse).map(|()| 0);
        }
        if start == Start::Kept || !self.is_file {
            return Ok(0);
        }
        rustix::fs::ftruncate(&self.file, 0).map_err(number)?;
        if matches!(start, Start::Allocated | Start::Written) {
            allocate(&self.file, span_bytes)?;
        }
        let mut written_bytes = 0;
        if start == Start::Written {
            write_through_cache(&self.file, span_bytes, seed)?;
            written_bytes = span_bytes;
        }
        make_durable(&self.file)?;
        Ok(written_bytes)
    }

    /// Discards the whole content of a device. If the device does not support this, its content remains, and
    /// that is recorded.
    fn erase(&self, pulse: &Pulse) -> IoResult<()> {
        let end_bytes = rustix::fs::seek(&*self.file, SeekFrom::End(0)).map_err(number)?;
        match discard_all(&self.file, end_bytes, pulse) {
            Err(FillError::NoDiscard) => self.kept_content.store(true, Ordering::Relaxed),
            Err(FillError::Operation { source, .. }) => {
                return Err(cardmark_core::Errno::of(&source));
            }
            Ok(()) => {}
        }
        Ok(())
    }

    /// Empties the page cache of the object, and announces the access pattern of the reads.
    pub(crate) fn drop_cache(&self, advice: Advice) -> IoResult<()> {
        make_durable(&self.file)?;
        let advise = |advice| rustix::fs::fadvise(&self.file, 0, None, advice).map_err(number);
        advise(Advice::DontNeed)?;
        advise(advice)
    }
}

/// Empties the page cache of the block device at this path, so that the next reads reach the device itself.
///
/// # Errors
/// If this user may not read it.
pub fn empty_page_cache(path: &Path) -> std::io::Result<()> {
    let file = File::open(path)?;
    rustix::fs::fsync(&file)?;
    rustix::fs::fadvise(&file, 0, None, Advice::DontNeed)?;
    Ok(())
}

/// Reserves the blocks of the file if the filesystem supports it; else only sets its size.
fn allocate(file: &File, bytes: u64) -> IoResult<()> {
    match retry_on_intr(|| rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes)) {
        Ok(()) => Ok(()),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => rustix::fs::ftruncate(file, bytes).map_err(number),
        Err(other) => Err(number(other)),
    }
}

fn write_through_cache(file: &File, bytes: u64, seed: u64) -> IoResult<()> {
    let mut piece = vec![0; WRITTEN_PIECE_BYTES];
    fill_payload(seed, &mut piece);
    let mut at = 0;
    while at < bytes {
        let rest = usize::try_from(bytes - at).unwrap_or(usize::MAX);
        let most = rest.min(piece.len());
        let moved = retry_on_intr(|| rustix::io::pwrite(file, &piece[..most], at));
        at += moved.map_err(number)? as u64;
    }
    Ok(())
}

/// All objects of a run.
#[derive(Debug)]
pub(crate) struct Objects {
    target: Object,
    /// Directory for further files, for streams.
    directory: Option<PathBuf>,
    /// The files of the second stream and further ones.
    more: Vec<Object>,
    disk_path: Option<PathBuf>,
    disk: Option<Object>,
}

impl Objects {
    pub(crate) fn new(target: OpenTarget) -> Self {
        Self {
            target: Object::new(target),
            directory: None,
            more: Vec::new(),
            disk_path: None,
            disk: None,
        }
    }

    pub(crate) fn set_directory(&mut self, directory: PathBuf) {
        self.directory = Some(directory);
    }

    pub(crate) fn set_disk(&mut self, path: PathBuf) {
        self.disk_path = Some(path);
    }

    /// The target.
    pub(crate) fn target(&self) -> &Object {
        &self.target
    }

    /// Returns whether the target should have been erased and could not be.
    pub(crate) fn kept_content(&self) -> bool {
        self.target.kept_content.load(Ordering::Relaxed)
    }

    /// The objects of this workload, one for each stream, in the state in which it starts; and the
    /// bytes written for that.
    pub(crate) fn ready(
        &mut self,
        workload: &Workload,
        seed: u64,
        pulse: &Pulse,
    ) -> IoResult<(Vec<Object>, u64)> {
        let mut written_bytes = 0;
        let objects = match workload.manner.object {
            cardmark_core::Object::Target => self.streams(workload.manner.streams_count)?,
            cardmark_core::Object::Disk => vec![self.disk()?],
            cardmark_core::Object::Other(_) => return Err(cardmark_core::Errno::INVAL),
        };
        for object in &objects {
            // Through the page cache the state is reached sooner, and the flags are set after.
            if workload.manner.start != Start::Kept {
                object.set_access(Access::Cached)?;
                written_bytes +=
                    object.bring_to(workload.manner.start, workload.span_bytes, seed, pulse)?;
                object.drop_cache(Advice::Normal)?;
            }
            object.set_access(workload.manner.access)?;
        }
        Ok((objects, written_bytes))
    }

    fn streams(&mut self, count: u32) -> IoResult<Vec<Object>> {
        while self.more.len() + 1 < count as usize {
            let directory = self.directory.as_ref().ok_or(number(Errno::INVAL))?;
            let file = TestFile::create(directory, 0).map_err(|error| error.errno())?;
            self.more.push(Object::new(file.into()));
        }
        let more = self.more.iter().take(count.saturating_sub(1) as usize);
        Ok(std::iter::once(&self.target).chain(more).cloned().collect())
    }

    fn disk(&mut self) -> IoResult<Object> {
        if let Some(disk) = &self.disk {
            return Ok(disk.clone());
        }
        let path = self.disk_path.as_ref().ok_or(number(Errno::NXIO))?;
        let opened = open_device_readonly(path).map_err(|error| error.errno())?;
        Ok(self.disk.insert(Object::new(opened)).clone())
    }
}
