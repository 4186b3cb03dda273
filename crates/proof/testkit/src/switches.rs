//! Faults of the filesystem behind [`crate::FuseDir`], and their triggers.

use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use cardmark_core::Errno;

use crate::volatile::Volatile;

/// Maximum duration of a hanging operation, so that a failed test does not leave one behind.
const LONGEST: Duration = Duration::from_secs(100);
/// Time the kernel may take to close the files of a program that has ended.
const SOON: Duration = Duration::from_secs(10);

/// Faults, shared between the test and the filesystem.
#[derive(Debug, Default)]
pub(crate) struct Switches {
    state: Mutex<State>,
    volatile: Mutex<Volatile>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    write_limit: Option<(u64, Errno)>,
    fail_after: Option<(u64, Errno)>,
    sync_error: Option<Errno>,
    hang_after: Option<u64>,
    hanging_count: usize,
    names_count: usize,
    files_count: usize,
}

impl Switches {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Returns the volatile cache.
    pub(crate) fn volatile(&self) -> MutexGuard<'_, Volatile> {
        self.volatile.lock().unwrap()
    }

    pub(crate) fn set_write_limit(&self, byte: u64, errno: Errno) {
        self.state().write_limit = Some((byte, errno));
    }

    pub(crate) fn fail_after(&self, count: u64, errno: Errno) {
        self.state().fail_after = Some((count, errno));
    }

    pub(crate) fn fail_syncs(&self, errno: Errno) {
        self.state().sync_error = Some(errno);
    }

    pub(crate) fn hang_after(&self, count: u64) {
        self.state().hang_after = Some(count);
    }

    pub(crate) fn release(&self) {
        self.state().hang_after = None;
        self.changed.notify_all();
    }

    pub(crate) fn await_hanging(&self, count: usize) {
        let fewer = |state: &mut State| state.hanging_count < count;
        let (state, timeout) = self
            .changed
            .wait_timeout_while(self.state(), LONGEST, fewer)
            .unwrap();
        let hanging_count = state.hanging_count;
        drop(state);
        assert!(!timeout.timed_out(), "{hanging_count} operations hang");
    }

    pub(crate) fn names_count(&self) -> usize {
        self.state().names_count
    }

    pub(crate) fn files_count(&self) -> usize {
        self.state().files_count
    }

    pub(crate) fn await_empty(&self) {
        let some = |state: &mut State| state.files_count > 0;
        let state = self
            .changed
            .wait_timeout_while(self.state(), SOON, some)
            .unwrap();
        assert!(!state.1.timed_out(), "a file is left behind");
    }

    /// Sets the number of files, and how many of them have a name.
    pub(crate) fn set_counts(&self, files_count: usize, names_count: usize) {
        let mut state = self.state();
        (state.files_count, state.names_count) = (files_count, names_count);
        self.changed.notify_all();
    }

    /// Called by every sync: as [`Self::pass`].
    pub(crate) fn pass_sync(&self) -> Result<(), fuser::Errno> {
        self.pass(None)?;
        let error = self.state().sync_error;
        error.map_or(Ok(()), |errno| Err(fuse_errno(errno)))?;
        self.volatile().sync()
    }

    /// Called by every read, write (with the byte it ends at) and sync: counts, hangs, fails.
    pub(crate) fn pass(&self, ends_at: Option<u64>) -> Result<(), fuser::Errno> {
        let mut state = self.state();
        if let Some(left) = &mut state.hang_after {
            if *left == 0 {
                state.hanging_count += 1;
                self.changed.notify_all();
                let hangs = |state: &mut State| state.hang_after == Some(0);
                state = self
                    .changed
                    .wait_timeout_while(state, LONGEST, hangs)
                    .unwrap()
                    .0;
                state.hanging_count -= 1;
            } else {
                *left -= 1;
            }
        }
        if let Some((left, errno)) = &mut state.fail_after {
            if *left == 0 {
                return Err(fuse_errno(*errno));
            }
            *left -= 1;
        }
        match (state.write_limit, ends_at) {
            (Some((limit, errno)), Some(end)) if end > limit => Err(fuse_errno(errno)),
            _ => Ok(()),
        }
    }
}

fn fuse_errno(errno: Errno) -> fuser::Errno {
    fuser::Errno::from_i32(errno.0)
}
