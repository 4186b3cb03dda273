//! The surroundings of a job, which drive it step by step: watch, turns, progress, journal.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cardmark_engine::Pulse;
use cardmark_store::Journal;

use crate::data::Data;
use crate::drive::job::{Interruption, Job};
use crate::drive::turn::{Claim, Step, Turn};
use crate::drive::watch::{Rescue, Signals, Watch};
use crate::error::{CommandError, Exit};
use crate::voice::Voice;

/// Result of watched work, and the exit that stands for the signal that arrived.
pub type Driven<T> = (T, Option<Exit>);

/// Surroundings of a job.
#[derive(Clone)]
pub struct Session<'a> {
    /// Receiver of messages.
    pub voice: &'static dyn Voice,
    /// Places of store and journals.
    pub data: &'a Data,
    /// Sign of life of the device.
    pub pulse: Arc<Pulse>,
    /// Time without an answer after which the device counts as hanging.
    pub limit: Duration,
    /// Signals of the command that this job is a part of. Such a job shows no progress and keeps no journal of
    /// its own.
    pub signals: Option<&'a Signals>,
}

impl<'a> Session<'a> {
    /// Creates the surroundings of a job of its own. The device counts as hanging after `timeout_s` seconds.
    #[must_use]
    pub fn new(voice: &'static dyn Voice, data: &'a Data, timeout_s: u64) -> Self {
        Self {
            voice,
            data,
            pulse: Arc::new(Pulse::new()),
            limit: Duration::from_secs(timeout_s),
            signals: None,
        }
    }

    /// Returns the surroundings of work that needs no device: however long it computes, nothing hangs.
    #[must_use]
    pub fn without_limit(&self) -> Self {
        Self {
            limit: Duration::MAX,
            ..self.clone()
        }
    }

    /// Returns the limit in nanoseconds.
    pub(crate) fn limit_ns(&self) -> u64 {
        u64::try_from(self.limit.as_nanos()).unwrap_or(u64::MAX)
    }

    /// Returns the turns of a job.
    #[must_use]
    pub fn turn(&self, claim: &Claim) -> Turn {
        let file = self.data.lock_file.as_deref();
        Turn::new(self.voice, &self.pulse, claim, file)
    }

    /// Works under a watch.
    ///
    /// # Errors
    /// If the watch cannot be started.
    pub fn watched<T>(
        &self,
        rescue: impl Rescue,
        work: impl FnOnce() -> T,
    ) -> Result<Driven<T>, CommandError> {
        let pulse = Arc::clone(&self.pulse);
        let watch = match self.signals {
            Some(signals) => Watch::start_with(self.voice, pulse, self.limit, rescue, signals),
            None => Watch::start(self.voice, pulse, self.limit, rescue),
        };
        let watch = watch.map_err(|error| {
            CommandError::new(Exit::Trouble, "cannot watch over the device")
                .because(error.to_string())
        })?;
        let worked = work();
        Ok((worked, watch.end()))
    }

    /// Takes the steps of a job until its end; to be called inside [`Session::watched`]. Shows its progress,
    /// takes turns with other jobs as `claim` demands, and keeps its state in the journal, the last one always.
    ///
    /// # Errors
    /// Those of the job, or an [`Interruption`].
    pub fn drive<J: Job>(
        &self,
        claim: &Claim,
        job: &mut J,
        io: &mut J::Io,
        mut journal: Option<&mut Journal>,
    ) -> Result<(), J::Error> {
        let (moved_bytes, all_bytes) = job.moved_bytes();
        let mut progress = self.voice.progress(moved_bytes, all_bytes);
        let mut turn = self.turn(claim);
        let left = Left::from(moved_bytes);
        let mut kept_at = Instant::now();
        let mut ended = Ok(());
        while !job.is_done() && ended.is_ok() {
            turn.take(left.step(job.moved_bytes()), &mut *progress);
            ended = match self.pulse.is_stopped() {
                true => Err(Interruption::Stopped.into()),
                false => job.step(io).and_then(|()| match journal {
                    Some(_) => job.look_back(io),
                    None => Ok(()),
                }),
            };
            turn.give();
            let (moved_bytes, all_bytes) = job.moved_bytes();
            progress.expect(all_bytes);
            progress.show(moved_bytes);
            if kept_at.elapsed() >= J::KEEP_PAUSE && ended.is_ok() {
                keep(journal.as_deref_mut(), job)?;
                kept_at = Instant::now();
            }
        }
        drop(progress);
        keep(journal, job)?;
        ended
    }
}

/// Estimates the time that a job needs for the rest.
struct Left {
    since: Instant,
    moved_bytes: u64,
}

impl Left {
    /// Starts at this amount.
    fn from(moved_bytes: u64) -> Self {
        Self {
            since: Instant::now(),
            moved_bytes,
        }
    }

    /// The next step, when these bytes are moved, and in all.
    fn step(&self, (moved_bytes, all_bytes): (u64, u64)) -> Step {
        let moved = moved_bytes.saturating_sub(self.moved_bytes) as f64;
        let left = all_bytes.saturating_sub(moved_bytes) as f64;
        Step {
            step: None,
            job: Duration::try_from_secs_f64(self.since.elapsed().as_secs_f64() * left / moved)
                .ok(),
        }
    }
}

fn keep<J: Job>(journal: Option<&mut Journal>, job: &J) -> Result<(), J::Error> {
    match journal {
        Some(journal) => journal
            .state(job.state())
            .map_err(|error| Interruption::NotKept(error).into()),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use cardmark_store::Places;

    use super::*;
    use crate::voice::Silent;

    struct Nothing;

    impl Rescue for Nothing {
        const STOPPING: &'static str = "";

        fn save(&self, _voice: &dyn Voice, _waited: Duration) {}
    }

    /// With its limit the watch would end this process at its first look, after 100 ms.
    #[test]
    fn work_without_a_device_may_compute_for_longer_than_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let nowhere = folder.path().join("missing");
        let data = Data {
            places: Places {
                database: nowhere.clone(),
                journals: nowhere.clone(),
                tests: nowhere,
            },
            lock_file: None,
        };
        let session = Session::new(&Silent, &data, 0).without_limit();
        let worked = session.watched(Nothing, || {
            session.pulse.set_waiting(true);
            std::thread::sleep(Duration::from_secs(1));
            7
        });
        let (worked, signal) = worked.unwrap();
        assert_eq!((worked, signal), (7, None));
    }
}
