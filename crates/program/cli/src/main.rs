//! The program `cardmark`: arguments, progress, wiring, exit codes.

#![allow(
    rustdoc::bare_urls,
    reason = "doc comments of arguments are the texts of the help"
)]

mod args;
mod build;
mod commands;
mod error;
mod runs;
mod terminal;

use std::process::ExitCode;
use std::thread::JoinHandle;

use crate::args::Arguments;
use crate::error::{CommandError, Exit};
use crate::terminal::print;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(end_for_bug));
    build::build().set();
    if let Some(exit) = print::refuse_devices() {
        return ExitCode::from(exit.code());
    }
    let arguments = match Arguments::of_program(print::width()) {
        Ok(arguments) => arguments,
        Err(error) => {
            let status = print::arguments_error(&error);
            return ExitCode::from(u8::try_from(status).unwrap_or(2));
        }
    };
    // On a thread of its own: one that waits in the kernel for a device that does not answer takes
    // no signals, and the kernel hands them to the main thread first.
    let work = std::thread::Builder::new()
        .name("work".into())
        .spawn(move || work(arguments));
    let exit = match work.map(JoinHandle::join) {
        Ok(Ok(exit)) => exit,
        Ok(Err(_)) => Exit::Bug,
        Err(error) => {
            let made = CommandError::new(Exit::Trouble, "cannot start a thread");
            print::error(&made.because(error.to_string()));
            Exit::Trouble
        }
    };
    ExitCode::from(exit.code())
}

fn work(arguments: Arguments) -> Exit {
    match commands::execute(arguments) {
        Ok(exit) => exit,
        Err(error) => {
            print::error(&error);
            error.exit
        }
    }
}

/// A panic in any thread is a bug; it is reported, and the process ends.
#[allow(
    clippy::exit,
    reason = "a release has no unwinding that could end it elsewhere"
)]
fn end_for_bug(panic: &std::panic::PanicHookInfo<'_>) {
    let mut error = CommandError::new(Exit::Bug, "cardmark failed: this is a bug in the program")
        .because(panic.to_string());
    if has_journal() {
        error = error.hint("the trials that ended are in the journal: `cardmark recover`");
    }
    print::error(&error);
    std::process::exit(i32::from(Exit::Bug.code()));
}

/// Returns whether a run left its trials in a journal.
fn has_journal() -> bool {
    let data = cardmark_session::Data::from_environment().ok();
    let entries = data.and_then(|data| std::fs::read_dir(&data.journals).ok());
    entries.is_some_and(|mut entries| entries.next().is_some())
}
