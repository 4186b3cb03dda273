//! Messages of a job to the person who started it.

use crate::CommandError;

/// Receiver of messages and progress, such as a terminal. Messages may come from several threads.
pub trait Voice: Sync {
    /// Shows a line of text.
    fn notice(&self, text: &str);

    /// Shows an error with its causes and hints.
    fn error(&self, error: &CommandError);

    /// Begins to show the progress of work on `all_bytes` bytes, with `done_bytes` finished.
    fn progress(&self, done_bytes: u64, all_bytes: u64) -> Box<dyn Progress>;
}

/// Progress of one job; ends when it is dropped.
pub trait Progress {
    /// Shows the number of bytes that are done.
    fn show(&mut self, done_bytes: u64);

    /// Changes the expected number of bytes.
    fn expect(&mut self, all_bytes: u64);
}

/// Shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Voice for Silent {
    fn notice(&self, _text: &str) {}

    fn error(&self, _error: &CommandError) {}

    fn progress(&self, _done_bytes: u64, _all_bytes: u64) -> Box<dyn Progress> {
        Box::new(Self)
    }
}

impl Progress for Silent {
    fn show(&mut self, _done_bytes: u64) {}

    fn expect(&mut self, _all_bytes: u64) {}
}
