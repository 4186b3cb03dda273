//! `cardmark generate`: man pages and completions, for packages.

use std::io;
use std::path::{Path, PathBuf};

use cardmark_session::file;
use clap::{Command, CommandFactory};
use clap_complete::{Generator, Shell};
use clap_mangen::Man;

use crate::args::{Arguments, GenerateArguments};
use crate::error::{CommandError, Exit};

/// Writes `man/*.1`, one page per command, and `completions/*` into a folder.
pub(crate) fn generate(arguments: &GenerateArguments) -> Result<Exit, CommandError> {
    write(arguments.folder.checked()?).map(|()| Exit::Done)
}

fn write(folder: &Path) -> Result<(), CommandError> {
    // The number alone: pages of all platforms are the same.
    let mut program = Arguments::command()
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true);
    program.build();

    let completions = made(folder.join("completions"))?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut program, "cardmark", &mut script);
        file::write(&completions.join(shell.file_name("cardmark")), &script)?;
    }

    let pages = made(folder.join("man"))?;
    let written = |name: &str, command: &Command| {
        let path = pages.join(name);
        let page = page(command).map_err(|error| failed(&path, &error))?;
        file::write(&path, &page)
    };
    written("cardmark.1", &program)?;
    for command in program.get_subcommands().filter(|it| !it.is_hide_set()) {
        written(&Man::new(command.clone()).get_filename(), command)?;
    }
    Ok(())
}

/// The folder, made where there is none.
fn made(folder: PathBuf) -> Result<PathBuf, CommandError> {
    file::folder(&folder)?;
    std::fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    Ok(folder)
}

fn failed(path: &Path, error: &io::Error) -> CommandError {
    let what = format!("cannot write to `{}`", path.display());
    CommandError::new(Exit::Trouble, what).because(error.to_string())
}

/// The man page of a command.
fn page(command: &Command) -> io::Result<Vec<u8>> {
    let man = Man::new(command.clone())
        .source(concat!("cardmark ", env!("CARGO_PKG_VERSION")))
        .manual("cardmark");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let help = command.get_after_help().map(ToString::to_string);
    if let Some(examples) = help
        .as_deref()
        .and_then(|it| it.strip_prefix("Examples:\n"))
    {
        page.extend(section("EXAMPLES", examples).into_bytes());
    }
    if command.get_name() != "cardmark" {
        page.extend(b".SH SEE ALSO\n\\fBcardmark\\fR(1)\n");
    }
    Ok(page)
}

/// A section of lines that keep their breaks.
fn section(heading: &str, text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    let text = text.replace('\'', "\\(aq").replace('`', "\\(ga");
    let lines: String = text
        .lines()
        .map(|line| format!("\\&{}\n", line.strip_prefix("  ").unwrap_or(line)))
        .collect();
    format!(".SH {heading}\n.nf\n{lines}.fi\n")
}
