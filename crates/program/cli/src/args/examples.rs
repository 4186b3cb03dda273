//! Examples for the help of each command.

/// A section for each command, the first for the program, and in it each command line above its meaning.
const EXAMPLES: &str = include_str!("examples.txt");

/// The names of the commands that have examples, and the text of each.
fn sections() -> impl Iterator<Item = (&'static str, &'static str)> {
    EXAMPLES
        .split("\n\n")
        .filter_map(|section| section.strip_prefix('[')?.split_once("]\n"))
}

/// Text about the examples of that command, for the end of its help.
pub(super) fn examples(command: &str) -> String {
    let found = sections().find(|(name, _)| *name == command);
    let lines = found.map_or("", |(_, lines)| lines.trim_end());
    format!("Examples:\n{lines}\n")
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::args::Arguments;

    /// Words of a command line, as the shell has them.
    fn words(line: &str) -> Vec<String> {
        let line = line
            .rsplit("| ")
            .next()
            .unwrap()
            .trim_start_matches("sudo ");
        let line = line.split(" > ").next().unwrap();
        let script = format!("printf '%s\\n' {line}");
        let output = std::process::Command::new("sh")
            .args(["-c", &script])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn each_command_has_examples_that_it_accepts() {
        for command in Arguments::command()
            .get_subcommands()
            .filter(|it| !it.is_hide_set())
        {
            let name = command.get_name();
            assert!(sections().any(|(known, _)| known == name), "{name}");
            let help = command.get_after_help().unwrap().to_string();
            assert_eq!(help, examples(name), "{name}");
        }
        let lines: Vec<&str> = sections().flat_map(|(_, lines)| lines.lines()).collect();
        let commands = lines
            .iter()
            .filter_map(|line| line.strip_prefix("  "))
            .filter(|line| !line.starts_with(' '));
        assert_eq!(commands.clone().count() * 2, lines.len());
        for line in commands {
            let words = words(line);
            let models = words.iter().filter_map(|word| word.strip_prefix("sim:"));
            for model in models {
                assert!(cardmark_sim::Model::named(model).is_ok(), "{line}");
            }
            let parsed = Arguments::try_parse_from(words);
            assert!(parsed.is_ok(), "{line}: {parsed:?}");
        }
    }

    #[test]
    fn an_example_fits_into_a_line_of_the_help() {
        for (name, _) in sections() {
            for line in examples(name).lines() {
                assert!(line.chars().count() <= 80, "{line}");
            }
        }
    }
}
