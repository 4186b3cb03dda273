//! Lines on standard error as the voice of a session.

use std::io::{IsTerminal, Write};
use std::sync::Arc;

use cardmark_core::visible;
use cardmark_engine::Pulse;
use cardmark_session::{CommandError, Progress, Silent, Trials, Voice};

/// Writes each message as a line to standard error, without colours, and shows no progress.
pub(crate) static PLAIN: Plain = Plain;

pub(crate) struct Plain;

impl Voice for Plain {
    fn notice(&self, text: &str) {
        // Without stderr there is no reader.
        let _ = writeln!(std::io::stderr().lock(), "{}", visible(text));
    }

    fn error(&self, error: &CommandError) {
        self.notice(&format!("error: {}", error.what));
        for cause in &error.causes {
            self.notice(&format!("cause: {cause}"));
        }
        for hint in &error.hints {
            self.notice(&format!("hint: {hint}"));
        }
    }

    fn progress(&self, _done_bytes: u64, _all_bytes: u64) -> Box<dyn Progress> {
        Box::new(Silent)
    }

    fn steps(&self) -> Box<dyn Progress> {
        Box::new(Silent)
    }

    fn trials(&self, _pulse: &Arc<Pulse>) -> Box<dyn Trials> {
        Box::new(Silent)
    }

    fn ask(&self, question: &str) -> Option<std::io::Result<String>> {
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            return None;
        }
        self.notice(question);
        let mut line = String::new();
        Some(std::io::stdin().read_line(&mut line).map(|_| line))
    }
}
