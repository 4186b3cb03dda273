//! The test of all blocks as a job.

use cardmark_integrity::{BLOCK_BYTES, Medium, Trouble, Verify};
use serde::Serialize;

use crate::drive::job::Job;

impl Job for Verify {
    type Io = dyn Medium;
    type Error = Trouble;

    fn step(&mut self, mut medium: &mut Self::Io) -> Result<(), Trouble> {
        self.advance(&mut medium)
    }

    fn look_back(&mut self, medium: &mut Self::Io) -> Result<(), Trouble> {
        self.note_last_written(medium)
    }

    fn is_done(&self) -> bool {
        Self::is_done(self)
    }

    fn moved_bytes(&self) -> (u64, u64) {
        let (moved, all) = self.moved_blocks();
        let block = BLOCK_BYTES as u64;
        (moved * block, all * block)
    }

    fn state(&self) -> &impl Serialize {
        self
    }
}
