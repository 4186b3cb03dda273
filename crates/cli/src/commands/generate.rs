//! `cardmark generate`: man pages and completions, for packages.

use std::fs;
use std::io;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate_to};
use clap_mangen::Man;

use crate::args::{Arguments, GenerateArguments};
use crate::error::{CommandError, Exit};

/// Writes `man/*.1`, one page per command, and `completions/*` into a folder.
pub(crate) fn generate(arguments: &GenerateArguments) -> Result<Exit, CommandError> {
    match write(&arguments.folder) {
        Ok(()) => Ok(Exit::Done),
        Err(error) => Err(CommandError::new(
            Exit::Trouble,
            format!("cannot write to `{}`", arguments.folder.display()),
        )
        .because(error.to_string())),
    }
}

fn write(folder: &Path) -> io::Result<()> {
    // The number alone: pages of all platforms are the same.
    let mut program = Arguments::command()
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true);
    program.build();

    let completions = folder.join("completions");
    fs::create_dir_all(&completions)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        generate_to(shell, &mut program, "cardmark", &completions)?;
    }

    let pages = folder.join("man");
    fs::create_dir_all(&pages)?;
    fs::write(pages.join("cardmark.1"), page(&program)?)?;
    for command in program.get_subcommands().filter(|it| !it.is_hide_set()) {
        let man = Man::new(command.clone());
        fs::write(pages.join(man.get_filename()), page(command)?)?;
    }
    Ok(())
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
