//! Waiting for a turn.

use std::time::{Duration, Instant};

use cardmark_engine::Pulse;

use super::claim::Claim;
use super::lock::{Lock, LockFile};
use super::note::{Note, Step, now};

use super::holder::Holder;
use crate::voice::{Voice, Waits};

/// Interval between attempts.
const LOOK: Duration = Duration::from_millis(20);
/// Interval between two messages about a wait; also the shortest wait that is shown.
const SHOW: Duration = Duration::from_millis(500);
/// Time after which a holder counts as one that the kernel does not show, such as that of another container.
const UNKNOWN: Duration = Duration::from_secs(2);

/// A job that takes its turn.
pub(super) struct Waiting<'a> {
    pub(super) claim: &'a Claim,
    /// The step for which it takes the turn.
    pub(super) step: Step,
    pub(super) voice: &'static dyn Voice,
    pub(super) pulse: &'a Pulse,
    pub(super) began: Instant,
    /// Longest wait.
    pub(super) patience: Duration,
    pub(super) is_root: bool,
    pub(super) shown: &'a mut dyn Waits,
    /// When the last message was shown, if one was.
    pub(super) shown_at: Option<Instant>,
}

impl Waiting<'_> {
    /// Takes a lock, or ends because the job is stopped; returns whether to take this lock in the future, too.
    pub(super) fn take(&mut self, lock: &Lock) -> bool {
        let is_wanted =
            self.wait_for(&lock.next, None) && self.wait_for(&lock.now, Some(&lock.next));
        lock.next.give();
        is_wanted
    }

    /// Waits for one file; returns whether to wait for it in the future, too. Jobs that wait behind this one read
    /// from `queue`, which it holds, when it expects to have ended its step.
    fn wait_for(&mut self, file: &LockFile, queue: Option<&LockFile>) -> bool {
        let mut is_first = true;
        while file.is_taken() {
            if self.pulse.is_stopped() {
                return true;
            }
            if is_first && !self.is_worth_waiting(file) {
                return false;
            }
            is_first = false;
            if self.began.elapsed() >= self.patience {
                self.voice
                    .notice("warning: the other job does not end its step; continuing beside it");
                return false;
            }
            self.show(file, queue);
            std::thread::sleep(LOOK);
        }
        file.describe(&Note::of(self.claim, now(), self.step));
        true
    }

    /// Looks at the holder before the first wait for it.
    fn is_worth_waiting(&self, file: &LockFile) -> bool {
        self.pulse.set_waiting(false);
        let Some((Holder { process, user }, _)) = file.holder() else {
            return true;
        };
        if self.is_root && user != 0 {
            self.voice.notice(&format!(
                "warning: not waiting for process {process} of user {user}, which holds the lock of this host"
            ));
            return false;
        }
        true
    }

    fn show(&mut self, file: &LockFile, queue: Option<&LockFile>) {
        let passed = self.shown_at.unwrap_or(self.began).elapsed();
        if passed < SHOW {
            return;
        }
        let (holder, text) = file.holder().unzip();
        // It may just have given its turn back.
        if holder.is_none() && passed < UNKNOWN {
            return;
        }
        self.shown_at = Some(Instant::now());
        let now = now();
        let text = text.flatten();
        let note = text.as_deref().and_then(Note::parse);
        if let Some(queue) = queue {
            let start = note.as_ref().and_then(|note| note.step_end(now));
            queue.describe(&Note::of(self.claim, start.unwrap_or(now), self.step));
        }
        let text = match (note, holder) {
            (Some(note), _) => note.text(now),
            (None, Some(Holder { process, user })) => {
                format!("waits for process {process} of user {user}")
            }
            (None, None) => "waits for another job of this host".to_owned(),
        };
        self.shown.wait(&text);
    }

    /// Shows that the job goes on.
    pub(super) fn end(self) {
        let span = self.began.elapsed();
        if span >= LOOK {
            self.shown.waited(span);
        }
    }
}
