//! A directory on a filesystem that misbehaves on demand.

use cardmark_core::Errno;
use std::path::Path;
use std::sync::Arc;

use fuser::{BackgroundSession, Config, MountOption, Session};
use tempfile::TempDir;

use crate::fuse_files::Files;
use crate::mount::unmount;
use crate::switches::Switches;
use crate::volatile::Syncs;

/// Threads of the filesystem: one that hangs must not keep the others.
const THREADS: usize = 4;

/// A directory on a FUSE filesystem, with switches for faults; unmounted on drop. It does not support nameless
/// files.
#[derive(Debug)]
pub struct FuseDir {
    session: Option<BackgroundSession>,
    point: TempDir,
    switches: Arc<Switches>,
}

impl FuseDir {
    /// Mounts one; data written to it is kept in a nameless file in `scratch`.
    #[must_use]
    pub fn mount(scratch: &Path) -> Self {
        Self::mount_with_threads(scratch, THREADS)
    }

    /// As [`Self::mount`], with this number of threads: the maximum number of operations that hang at once.
    #[must_use]
    pub fn mount_with_threads(scratch: &Path, threads_count: usize) -> Self {
        let point = tempfile::tempdir_in(scratch).unwrap();
        let switches = Arc::new(Switches::default());
        let files = Files::new(scratch, Arc::clone(&switches));
        let mut config = Config::default();
        // A card that is played, as by `cardmark-simfs`: behind other filesystems in user space the device is unknown.
        config.mount_options = vec![MountOption::FSName("cardmark-simfs".into())];
        config.n_threads = Some(threads_count);
        let session = Session::new(files, point.path(), &config).unwrap();
        let session = Some(session.spawn().unwrap());
        Self {
            session,
            point,
            switches,
        }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        self.point.path()
    }

    /// From now on a write that ends beyond this byte of its file fails with this error.
    pub fn fail_writes_beyond(&self, byte: u64, errno: Errno) {
        self.switches.set_write_limit(byte, errno);
    }

    /// From now on every sync fails with this error.
    pub fn fail_syncs(&self, errno: Errno) {
        self.switches.fail_syncs(errno);
    }

    /// Lets everything fail with this error after `operations_count` more reads, writes and syncs.
    pub fn fail_all_after(&self, operations_count: u64, errno: Errno) {
        self.switches.fail_after(operations_count, errno);
    }

    /// Leaves requests unanswered after `operations_count` more reads, writes and syncs.
    pub fn hang_after(&self, operations_count: u64) {
        self.switches.hang_after(operations_count);
    }

    /// Waits until an operation hangs.
    pub fn await_hanging(&self) {
        self.await_hanging_count(1);
    }

    /// Waits until this number of operations hang at once.
    pub fn await_hanging_count(&self, operations_count: usize) {
        self.switches.await_hanging(operations_count);
    }

    /// Keeps writes in a volatile cache from now on. After `syncs_count` syncs the next write cuts the power: half of it
    /// is stored, the cache is lost, and everything fails.
    pub fn cut_after_syncs(&self, syncs_count: u64, syncs: Syncs) {
        self.switches.volatile().begin(syncs, syncs_count);
    }

    /// Gives power again, without a volatile cache.
    pub fn restore_power(&self) {
        self.switches.volatile().restore();
    }

    /// Answers hanging operations and stops hanging.
    pub fn release(&self) {
        self.switches.release();
    }

    /// Names in the directory.
    pub fn names_count(&self) -> usize {
        self.switches.names_count()
    }

    /// Files that are there, with a name or without.
    pub fn files_count(&self) -> usize {
        self.switches.files_count()
    }

    /// Waits until no file is there any more: the kernel may close those of a program that has
    /// ended a moment later.
    pub fn await_empty(&self) {
        self.switches.await_empty();
    }
}

impl Drop for FuseDir {
    fn drop(&mut self) {
        self.switches.release();
        let is_free = unmount(self.point.path());
        if let Some(session) = self.session.take()
            && is_free
        {
            // The filesystem's threads have already reported their errors to the kernel.
            let _ = session.join();
        }
    }
}
