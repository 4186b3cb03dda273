//! Messages about waits.

use std::time::Duration;

use cardmark_engine::{Event, Observer};

use crate::voice::{Voice, Waits};

/// Shows the first wait of a job without progress of its own.
pub struct FirstWait {
    voice: &'static dyn Voice,
    is_told: bool,
}

impl FirstWait {
    /// Shows it to this voice.
    #[must_use]
    pub fn new(voice: &'static dyn Voice) -> Self {
        Self {
            voice,
            is_told: false,
        }
    }
}

impl Waits for FirstWait {
    fn wait(&mut self, text: &str) {
        if !self.is_told {
            self.is_told = true;
            self.voice.notice(text);
        }
    }

    fn waited(&mut self, _span: Duration) {}
}

impl Observer for FirstWait {
    fn event(&mut self, _event: &Event<'_>) {}
}
