//! The program `cardmark`: arguments, progress, wiring, exit codes.

mod args;
mod commands;
mod data;
mod error;
mod keeper;
mod measure;
mod print;
mod progress;
mod target;
mod watch;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Arguments;
use crate::error::Exit;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let exit = match commands::execute(arguments) {
        Ok(exit) => exit,
        Err(error) => {
            print::error(&error);
            error.exit
        }
    };
    ExitCode::from(exit.code())
}

/// Turns a panic into what it is: a bug, told as one, with exit code 5.
pub(crate) fn guard<T>(body: impl FnOnce() -> T + std::panic::UnwindSafe) -> Result<T, Exit> {
    std::panic::catch_unwind(body).map_err(|_| Exit::Bug)
}
