//! Messages of a job to the person who started it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use cardmark_engine::{Event, Observer, Pulse};

use crate::error::CommandError;

/// Receiver of messages and progress, such as a terminal. Messages may come from several threads.
pub trait Voice: Sync {
    /// Shows a line of text.
    fn notice(&self, text: &str);

    /// Shows an error with its causes and hints.
    fn error(&self, error: &CommandError);

    /// Begins to show the progress of work on `all_bytes` bytes, with `done_bytes` finished.
    fn progress(&self, done_bytes: u64, all_bytes: u64) -> Box<dyn Progress>;

    /// Begins to show the progress of work in steps that take about the same time each.
    fn steps(&self) -> Box<dyn Progress>;

    /// Begins to show the progress of trials, whose operations `pulse` counts; ends when it is dropped.
    fn trials(&self, pulse: &Arc<Pulse>) -> Box<dyn Trials>;

    /// Asks a question and returns the line that was typed; `None` if there is no terminal to answer at.
    fn ask(&self, question: &str) -> Option<std::io::Result<String>>;
}

/// Receiver of messages about a wait.
pub trait Waits {
    /// Shows for whom the job waits and for about how long.
    fn wait(&mut self, text: &str);

    /// Ends a wait of this time, whether it was shown or not.
    fn waited(&mut self, span: Duration);
}

/// Progress of one job, in bytes or steps; ends when it is dropped.
pub trait Progress: Waits {
    /// Shows the amount that is done.
    fn show(&mut self, done: u64);

    /// Changes the expected amount.
    fn expect(&mut self, all: u64);

    /// Shows that a stage begins.
    fn stage(&mut self, name: &'static str);
}

/// Progress of trials; ends when it is dropped.
pub trait Trials: Observer + Waits {}

impl<T: Observer + Waits> Trials for T {}

/// Progress that its job and its turn both change.
impl<T: Waits + ?Sized> Waits for Rc<RefCell<Box<T>>> {
    fn wait(&mut self, text: &str) {
        self.borrow_mut().wait(text);
    }

    fn waited(&mut self, span: Duration) {
        self.borrow_mut().waited(span);
    }
}

/// Shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Waits for Silent {
    fn wait(&mut self, _text: &str) {}

    fn waited(&mut self, _span: Duration) {}
}

impl Voice for Silent {
    fn notice(&self, _text: &str) {}

    fn error(&self, _error: &CommandError) {}

    fn progress(&self, _done_bytes: u64, _all_bytes: u64) -> Box<dyn Progress> {
        Box::new(Self)
    }

    fn steps(&self) -> Box<dyn Progress> {
        Box::new(Self)
    }

    fn trials(&self, _pulse: &Arc<Pulse>) -> Box<dyn Trials> {
        Box::new(Self)
    }

    fn ask(&self, _question: &str) -> Option<std::io::Result<String>> {
        None
    }
}

impl Observer for Silent {
    fn event(&mut self, _event: &Event<'_>) {}
}

impl Progress for Silent {
    fn show(&mut self, _done: u64) {}

    fn expect(&mut self, _all: u64) {}

    fn stage(&mut self, _name: &'static str) {}
}
