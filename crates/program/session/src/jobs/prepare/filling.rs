//! Filling of a device as a job.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cardmark_device::{FillContent, FillError, Filler};
use cardmark_engine::Pulse;
use serde::Serialize;

use crate::drive::job::{Interruption, Job};
use crate::target::history::Prepared;

/// A device that is being filled.
pub struct Filling {
    state: Prepared,
    content: FillContent,
    pulse: Arc<Pulse>,
    from_bytes: u64,
    span: Duration,
}

/// Reason for the early end of a filling.
#[derive(Debug)]
pub enum FillingEnd {
    /// The device failed.
    Failed(FillError),
    /// A signal arrived, or the journal cannot be written.
    Interrupted(Interruption),
}

impl From<Interruption> for FillingEnd {
    fn from(interruption: Interruption) -> Self {
        Self::Interrupted(interruption)
    }
}

impl Filling {
    /// Continues a preparation from its durable part, or begins it. `None` if its seed cannot be read.
    #[must_use]
    pub fn new(state: Prepared, pulse: &Arc<Pulse>) -> Option<Self> {
        let preparation = &state.preparation;
        let content = FillContent {
            fill: preparation.fill,
            seed: preparation.seed_number()?,
        };
        Some(Self {
            content,
            pulse: Arc::clone(pulse),
            from_bytes: preparation.done_bytes,
            span: Duration::ZERO,
            state,
        })
    }

    /// Content of the device.
    #[must_use]
    pub fn content(&self) -> FillContent {
        self.content
    }

    /// The preparation as far as it got.
    #[must_use]
    pub fn prepared(&self) -> &Prepared {
        &self.state
    }

    /// Position at which this process began, bytes.
    #[must_use]
    pub fn from_bytes(&self) -> u64 {
        self.from_bytes
    }

    /// Time that this process spent on writing.
    #[must_use]
    pub fn span(&self) -> Duration {
        self.span
    }
}

impl Job for Filling {
    type Io = Filler;
    type Error = FillingEnd;

    const KEEP_PAUSE: Duration = Duration::from_secs(1);

    fn step(&mut self, filler: &mut Filler) -> Result<(), FillingEnd> {
        let started = Instant::now();
        let preparation = &mut self.state.preparation;
        if let Some(id) = self.state.mark {
            // Without the mark an interrupted fill begins again; errors that matter appear in the fill itself.
            let _ = filler.mark(id, preparation.fill, preparation.done_bytes);
        }
        let filled = filler.fill_stretch(self.content, preparation.done_bytes, &self.pulse);
        self.span += started.elapsed();
        preparation.done_bytes = filled.durable_bytes;
        filled
            .error
            .map_or(Ok(()), |error| Err(FillingEnd::Failed(error)))
    }

    fn is_done(&self) -> bool {
        self.state.preparation.done_bytes >= self.state.preparation.size_bytes
    }

    fn moved_bytes(&self) -> (u64, u64) {
        let preparation = &self.state.preparation;
        (preparation.done_bytes, preparation.size_bytes)
    }

    fn state(&self) -> &impl Serialize {
        &self.state
    }
}
