//! The command line of the program: a help with its commands in groups, and suggestions for slips.

use std::ffi::OsString;

use cardmark_catalog::nearest;
use cardmark_report::wrap;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};
use clap::{Command, CommandFactory, FromArgMatches};

use crate::args::Arguments;

/// The groups and their commands, in the order of the help.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Measure", &["run", "campaign", "prepare"]),
    (
        "Test capacity and reliability",
        &["probe", "verify", "power-cut", "endure", "anatomy"],
    ),
    (
        "Look and understand",
        &["info", "watch", "fleet", "show", "list", "open", "explain"],
    ),
    (
        "Compare and choose",
        &["compare", "rank", "recommend", "history", "report"],
    ),
    ("Import and share", &["import", "export", "submit"]),
    ("Keep order", &["label", "recover"]),
];

/// Columns of the widest help.
const MOST_COLUMNS: usize = 100;

impl Arguments {
    /// Returns the arguments of the program; the help is for a terminal of this width.
    ///
    /// # Errors
    /// If there is no such command or argument, or if the help or the version is asked for.
    pub(crate) fn of_program(width: usize) -> Result<Self, clap::Error> {
        Self::parsed(std::env::args_os(), width)
    }

    fn parsed(
        words: impl IntoIterator<Item = OsString>,
        width: usize,
    ) -> Result<Self, clap::Error> {
        let mut command = with_groups(Self::command(), width);
        let matches = command
            .try_get_matches_from_mut(words)
            .map_err(|error| with_nearest(error, &command))?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

/// The error with the command that is most like the unknown one: clap suggests `rank` for `rnu`.
fn with_nearest(mut error: clap::Error, command: &Command) -> clap::Error {
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) {
        let names = command.get_subcommands().filter(|one| !one.is_hide_set());
        let near = nearest(word, names.map(Command::get_name));
        if let Some(near) = near.first() {
            let near = ContextValue::Strings(vec![(*near).to_owned()]);
            error.insert(ContextKind::SuggestedSubcommand, near);
        }
    }
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg)
        && word == "--label"
    {
        let tip = "`cardmark label last NAME=VALUE` adds a label to a result";
        let tip = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
        error.insert(ContextKind::Suggested, tip);
    }
    error
}

/// Returns the command with a help that lists its commands in groups, for a terminal of this width.
fn with_groups(command: Command, width: usize) -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}\nOptions:\n{{options}}{{after-help}}",
        listed(&command, width.min(MOST_COLUMNS))
    );
    command.help_template(template)
}

/// The commands with what they do.
fn listed(command: &Command, width: usize) -> String {
    let names = GROUPS.iter().flat_map(|(_, names)| *names);
    let column = names.map(|name| name.len()).max().unwrap_or(0) + 4;
    let mut lines = Vec::new();
    for (title, names) in GROUPS {
        lines.push(format!("{title}:"));
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let starts =
                std::iter::once(format!("  {name}")).chain(std::iter::repeat(String::new()));
            let texts = wrap(&about, width.saturating_sub(column), 0);
            let rows = starts.zip(texts);
            lines.extend(rows.map(|(start, text)| format!("{start:column$}{text}")));
        }
        lines.push(String::new());
    }
    let more = "`cardmark COMMAND --help` shows the options of a command.";
    lines.extend(wrap(more, width, 0));
    lines.push(String::new());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_command_is_in_one_group() {
        let command = Arguments::command();
        let shown = command.get_subcommands().filter(|one| !one.is_hide_set());
        let shown: BTreeSet<&str> = shown.map(Command::get_name).collect();
        let listed: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        let distinct: BTreeSet<&str> = listed.iter().copied().collect();
        assert_eq!(distinct.len(), listed.len(), "{listed:?}");
        assert_eq!(distinct, shown);
    }

    #[test]
    fn a_slip_in_a_command_is_understood() {
        for (word, meant) in [
            ("rnu", "run"),
            ("probee", "probe"),
            ("reccomend", "recommend"),
            ("hist", "history"),
        ] {
            let words = ["cardmark", word].map(OsString::from);
            let error = Arguments::parsed(words, 80).unwrap_err().to_string();
            assert!(error.contains(&format!("'{meant}'")), "{error}");
        }
    }

    #[test]
    fn a_label_of_a_test_is_added_afterwards() {
        for command in ["probe", "verify", "endure"] {
            let words = ["cardmark", command, "sim:a1-32gb", "--label", "use=nas"];
            let error = Arguments::parsed(words.map(OsString::from), 80).unwrap_err();
            let error = error.to_string();
            assert!(error.contains("tip: `cardmark label last"), "{error}");
            assert!(!error.contains("as a value"), "{error}");
        }
    }

    #[test]
    fn the_help_fits_the_terminal() {
        for width in [30, 40, 60, 80, 100, 200] {
            let listed = listed(&Arguments::command(), width.min(MOST_COLUMNS));
            for line in listed.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
            let help = with_groups(Arguments::command(), width)
                .render_help()
                .to_string();
            assert!(help.contains("Compare and choose:\n"), "{help}");
            assert!(help.contains("Usage: cardmark"), "{help}");
            assert!(
                help.contains("--version") && help.contains("Examples:"),
                "{help}"
            );
        }
    }
}
