//! The terminal as the voice of a session.

pub(crate) mod ascii;
mod fill_progress;
pub(crate) mod print;
pub(crate) mod progress;
pub(crate) mod shell;

use std::io::IsTerminal;
use std::sync::Arc;

use cardmark_engine::Pulse;
use cardmark_session::{Progress, Trials, Voice};

use crate::error::CommandError;
use crate::terminal::fill_progress::{FillProgress, Unit};
use crate::terminal::progress::TrialProgress;

/// The terminal, or whatever stands in its place, as the voice of a session.
pub(crate) static TERMINAL: Terminal = Terminal;

pub(crate) struct Terminal;

impl Voice for Terminal {
    fn notice(&self, text: &str) {
        print::notice(text);
    }

    fn error(&self, problem: &CommandError) {
        print::error(problem);
    }

    fn progress(&self, done_bytes: u64, all_bytes: u64) -> Box<dyn Progress> {
        Box::new(FillProgress::for_stderr(Unit::Bytes, done_bytes, all_bytes))
    }

    fn steps(&self) -> Box<dyn Progress> {
        Box::new(FillProgress::for_stderr(Unit::Steps, 0, 0))
    }

    fn trials(&self, pulse: &Arc<Pulse>) -> Box<dyn Trials> {
        Box::new(TrialProgress::for_stderr(pulse))
    }

    fn ask(&self, question: &str) -> Option<std::io::Result<String>> {
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            return None;
        }
        print::notice(question);
        let mut line = String::new();
        Some(std::io::stdin().read_line(&mut line).map(|_| line))
    }
}
