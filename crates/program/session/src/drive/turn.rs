//! Turns of the jobs of a host: two jobs on one disk exclude each other, and so do two jobs with timed steps, which
//! share processors and buses (ADR 0025).

mod claim;
mod first_wait;
mod holder;
mod lock;
mod note;
mod under_way;
mod waiting;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cardmark_engine::Pulse;
use rustix::process::getuid;

use crate::voice::{Voice, Waits};
pub use claim::Claim;
pub use first_wait::FirstWait;
use lock::{Lock, with_suffix};
pub use note::Step;
pub use under_way::{UnderWay, stop_work};
use waiting::Waiting;

/// Directories in which all users of a host can hold the same lock.
const FOLDERS: [&str; 2] = ["/run/lock", "/tmp"];
const FILE: &str = "cardmark.lock";
/// Time for which an untimed job keeps its turn over several steps, which may be of milliseconds: a timed job on the
/// same disk needs seconds for each of its own.
const SLICE: Duration = Duration::from_secs(1);
/// Longest wait for another job: longer than any trial but those of a few old tools. A device that hangs must
/// not hold up all other jobs for ever.
const PATIENCE: Duration = Duration::from_secs(600);

/// The right to use disk and host now. Every job has it if no lock file can be created.
pub struct Turn {
    /// Of the disks, and then of the host if steps are timed: all jobs take them in this order.
    locks: Vec<Lock>,
    claim: Option<Claim>,
    voice: &'static dyn Voice,
    pulse: Arc<Pulse>,
    /// When the turn was taken, while it is held.
    since: Option<Instant>,
    patience: Duration,
    /// Waits for no process of an ordinary user, who could otherwise delay root at will.
    is_root: bool,
}

impl Turn {
    /// A turn of this job, by locks at `file` or in the usual directories.
    #[must_use]
    pub fn new(
        voice: &'static dyn Voice,
        pulse: &Arc<Pulse>,
        claim: &Claim,
        file: Option<&Path>,
    ) -> Self {
        let locks = match file {
            Some(file) => locks_at(file, claim),
            None => FOLDERS
                .iter()
                .find_map(|folder| locks_at(&Path::new(folder).join(FILE), claim)),
        };
        Self {
            locks: locks.unwrap_or_default(),
            claim: Some(claim.clone()),
            ..Self::always(voice, pulse)
        }
    }

    /// A turn without waiting: a simulated card uses nothing that others need.
    #[must_use]
    pub fn always(voice: &'static dyn Voice, pulse: &Arc<Pulse>) -> Self {
        Self {
            locks: Vec::new(),
            claim: None,
            voice,
            pulse: Arc::clone(pulse),
            since: None,
            patience: PATIENCE,
            is_root: getuid().is_root(),
        }
    }

    /// Waits until no other job has this turn, or this one is stopped.
    pub fn take(&mut self, step: Step, shown: &mut dyn Waits) {
        let Some(claim) = self.claim.as_ref().filter(|_| self.since.is_none()) else {
            return;
        };
        // The wait is not for the device.
        let was_waiting = self.pulse.reading().1;
        let mut waiting = Waiting {
            claim,
            step,
            voice: self.voice,
            pulse: &self.pulse,
            began: Instant::now(),
            patience: self.patience,
            is_root: self.is_root,
            shown,
            shown_at: None,
        };
        // A lock given up is given up for all further steps: the other job will not end before the next one either.
        self.locks.retain(|lock| waiting.take(lock));
        waiting.end();
        self.pulse.set_waiting(was_waiting);
        self.since = Some(Instant::now());
    }

    /// Lets others have their turn after a step. An untimed job may keep it for its next step.
    pub fn give(&mut self) {
        let is_timed = self.claim.as_ref().is_none_or(|claim| claim.is_timed);
        if is_timed || self.since.is_none_or(|since| since.elapsed() >= SLICE) {
            self.leave();
        }
    }

    /// Lets others have their turn before a pause.
    pub fn leave(&mut self) {
        self.since = None;
        for lock in &self.locks {
            lock.now.give();
        }
    }
}

/// Opens the locks of a job; `None` if not all of them can be.
fn locks_at(path: &Path, claim: &Claim) -> Option<Vec<Lock>> {
    let of_disks = claim.disks.iter().map(|disk| with_suffix(path, disk));
    let of_host = claim.is_timed.then(|| PathBuf::from(path));
    let mut paths = of_disks.chain(of_host);
    paths.try_fold(Vec::new(), |mut locks, path| {
        locks.push(Lock::at(&path)?);
        Some(locks)
    })
}

#[cfg(test)]
mod tests;
