//! The program `cardmark`: arguments, progress, wiring, exit codes.

mod args;
mod commands;
mod crosscheck;
mod data;
mod describe;
mod error;
mod fill_progress;
mod filling;
mod gate;
mod history;
mod keeper;
mod measure;
mod print;
mod progress;
mod target;
mod turn;
mod watch;

use std::process::ExitCode;
use std::thread::JoinHandle;

use clap::Parser;

use crate::args::Arguments;
use crate::error::{CommandError, Exit};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
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

/// Turns a panic into what it is: a bug, told as one, with exit code 5.
pub(crate) fn guard<T>(body: impl FnOnce() -> T + std::panic::UnwindSafe) -> Result<T, Exit> {
    std::panic::catch_unwind(body).map_err(|_| Exit::Bug)
}
