//! A long job in steps.

use std::time::Duration;

use cardmark_integrity::Trouble;
use cardmark_store::JournalError;
use serde::Serialize;

/// A long job that can be interrupted after any step.
pub trait Job {
    /// Storage or tools that it works on.
    type Io: ?Sized;
    /// Reason for its early end.
    type Error: From<Interruption>;

    /// Shortest time between two states in the journal: writing one needs the journal's own storage.
    const KEEP_PAUSE: Duration = Duration::from_secs(10);

    /// Takes one step.
    ///
    /// # Errors
    /// If the job cannot continue.
    fn step(&mut self, io: &mut Self::Io) -> Result<(), Self::Error>;

    /// Looks at what the steps so far have left on the storage, so that a later process recognises it.
    ///
    /// # Errors
    /// If the job cannot continue.
    fn look_back(&mut self, _io: &mut Self::Io) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Takes all steps, without watch, journal or turns: for simulated storage.
    ///
    /// # Errors
    /// If the job cannot continue.
    fn run(&mut self, io: &mut Self::Io) -> Result<(), Self::Error> {
        while !self.is_done() {
            self.step(io)?;
        }
        Ok(())
    }

    /// Returns whether nothing is left to do.
    fn is_done(&self) -> bool;

    /// Bytes moved so far, and in all as far as is known.
    fn moved_bytes(&self) -> (u64, u64);

    /// State from which the job continues.
    fn state(&self) -> &impl Serialize;
}

/// Reason for an end that does not lie in the job.
#[derive(Debug)]
pub enum Interruption {
    /// A signal arrived.
    Stopped,
    /// The journal cannot be written.
    NotKept(JournalError),
}

impl From<Interruption> for Trouble {
    fn from(interruption: Interruption) -> Self {
        match interruption {
            Interruption::Stopped => Self::Stopped,
            Interruption::NotKept(error) => Self::NotKept {
                errno: error.errno(),
            },
        }
    }
}
