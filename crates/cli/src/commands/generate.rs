//! `cardmark generate`: completions and man page, for packages.

use clap::CommandFactory;
use clap_complete::{Shell, generate as complete};

use crate::args::{Arguments, GenerateArguments, Generated};
use crate::error::{CommandError, Exit};
use crate::print;

/// Writes completions or the man page to standard output.
pub(crate) fn generate(arguments: &GenerateArguments) -> Result<Exit, CommandError> {
    let mut command = Arguments::command();
    let mut bytes = Vec::new();
    let shell = match arguments.what {
        Generated::Man => None,
        Generated::Bash => Some(Shell::Bash),
        Generated::Zsh => Some(Shell::Zsh),
        Generated::Fish => Some(Shell::Fish),
    };
    match shell {
        Some(shell) => complete(shell, &mut command, "cardmark", &mut bytes),
        None => clap_mangen::Man::new(command)
            .render(&mut bytes)
            .map_err(|error| {
                CommandError::new(Exit::Bug, "the man page cannot be made")
                    .because(error.to_string())
            })?,
    }
    print::data(&String::from_utf8_lossy(&bytes))?;
    Ok(Exit::Done)
}
