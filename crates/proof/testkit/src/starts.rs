//! Starting processes while other tests of this process have devices open.
//!
//! Between its beginning and its own program, a child holds a copy of every open file of this process: a job that looks for
//! users of its device in that moment finds one.

use std::io;
use std::process::{Child, Command};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

static STARTS: Mutex<Starts> = Mutex::new(Starts {
    starting: 0,
    looking: Vec::new(),
});
static CHANGED: Condvar = Condvar::new();

struct Starts {
    /// Threads that start a process, or wait for that.
    starting: usize,
    /// Threads that began a [`NoStarts`] that still exists.
    looking: Vec<ThreadId>,
}

fn starts() -> MutexGuard<'static, Starts> {
    STARTS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait(starts: MutexGuard<'static, Starts>) -> MutexGuard<'static, Starts> {
    CHANGED.wait(starts).unwrap_or_else(PoisonError::into_inner)
}

fn change(by: impl FnOnce(&mut Starts)) {
    by(&mut starts());
    CHANGED.notify_all();
}

/// While it exists, [`spawn`] waits. A thread that holds one starts no process.
#[derive(Debug)]
pub struct NoStarts(ThreadId);

impl NoStarts {
    /// Waits until every process that is being started has its own program.
    #[must_use]
    pub fn begin() -> Self {
        let mut starts = starts();
        while starts.starting > 0 {
            starts = wait(starts);
        }
        let thread = thread::current().id();
        starts.looking.push(thread);
        Self(thread)
    }
}

impl Drop for NoStarts {
    fn drop(&mut self) {
        change(|starts| {
            let own = starts.looking.iter().position(|thread| *thread == self.0);
            own.map(|own| starts.looking.swap_remove(own));
        });
    }
}

/// Starts a process when no test forbids it by [`NoStarts`].
///
/// # Errors
/// If it cannot be started.
///
/// # Panics
/// If this thread holds a [`NoStarts`]: it would wait for ever.
pub fn spawn(command: &mut Command) -> io::Result<Child> {
    let mut starts = starts();
    let is_looking = starts.looking.contains(&thread::current().id());
    assert!(!is_looking, "{command:?} would wait for its own thread");
    starts.starting += 1;
    while !starts.looking.is_empty() {
        starts = wait(starts);
    }
    drop(starts);
    // Returns once the child has its own program.
    let spawned = command.spawn();
    change(|starts| starts.starting -= 1);
    spawned
}
