//! The program `cardmark-simfs`: see the library.

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use cardmark_core::visible;
use cardmark_simfs::{Options, run};
use clap::Parser;

/// Mounts a simulated card: a file whose content is real and whose timing is the model's.
///
/// With a loop device on it (losetup --direct-io=on MOUNTPOINT/card) it is that card for any tool.
/// Prints `ready` once it is there, and ends when it is unmounted or by a signal.
#[derive(Debug, Parser)]
#[command(name = "cardmark-simfs", version, max_term_width = 100, after_help = EXIT_CODES)]
struct Arguments {
    /// Name of a model (`cardmark list models`), or a file NAME.toml with one
    model: String,
    /// Directory to mount on
    mountpoint: PathBuf,
    /// Draws everything that varies; the same seed is the same card
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Bytes of the card, a multiple of 512; by default the model's capacity
    #[arg(long, value_name = "BYTES")]
    size: Option<u64>,
}

const EXIT_CODES: &str = "\
Exit codes: 0 unmounted, or ended by a signal · 2 asked wrongly · 3 cannot be done here, or the \
model is faster than the way to it";

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return not_understood(&error),
    };
    let options = Options {
        model: arguments.model,
        mount_point: arguments.mountpoint,
        seed: arguments.seed,
        size_bytes: arguments.size,
    };
    let Err(error) = run(&options) else {
        return ExitCode::SUCCESS;
    };
    let mut err = std::io::stderr().lock();
    let _ = writeln!(err, "error: {}", visible(&error.to_string()));
    let mut cause = error.source();
    while let Some(source) = cause {
        let _ = writeln!(err, "cause: {source}");
        cause = source.source();
    }
    if let Some(hint) = error.hint() {
        let _ = writeln!(err, "hint: {hint}");
    }
    ExitCode::from(error.exit_code())
}

/// Shows the help, or an error with hidden characters of the arguments escaped.
fn not_understood(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // Without an output there is no reader.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = error.render().to_string();
    let _ = write!(std::io::stderr().lock(), "{}", visible(&text));
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}
