//! Messages about waits.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use cardmark_engine::{Event, Observer};

use crate::{Silent, Voice};

/// Receiver of messages about a wait.
pub trait Waits {
    /// Shows for whom the job waits and for about how long.
    fn wait(&mut self, text: &str);

    /// Ends a wait of this time, whether it was shown or not.
    fn waited(&mut self, span: Duration);
}

impl Waits for Silent {
    fn wait(&mut self, _text: &str) {}

    fn waited(&mut self, _span: Duration) {}
}

/// Progress that its job and its turn both change.
impl<T: Waits + ?Sized> Waits for Rc<RefCell<Box<T>>> {
    fn wait(&mut self, text: &str) {
        self.borrow_mut().wait(text);
    }

    fn waited(&mut self, span: Duration) {
        self.borrow_mut().waited(span);
    }
}

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
