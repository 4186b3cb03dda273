use std::any::TypeId;
use std::collections::BTreeSet;

use clap::{Arg, CommandFactory, Parser};

use super::*;
use crate::args::Arguments;

#[path = "../../../tests/it/paths/samples.rs"]
mod samples;

/// Use of an argument that can hold a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// Read only.
    Read,
    /// Target of a test, behind the gate for devices.
    Target,
    /// Regular file that is written.
    File,
    /// Folder that is written into.
    Folder,
    /// Read; the folder beside it is written into.
    Campaign,
}

/// Each argument that can hold a path: command, argument, use.
const PATHS: [(&str, &str, Use); 27] = [
    ("run", "target", Use::Target),
    ("run", "json", Use::File),
    ("prepare", "device", Use::Target),
    ("probe", "device", Use::Target),
    ("probe", "save_to", Use::Folder),
    ("verify", "target", Use::Target),
    ("endure", "device", Use::Target),
    ("power-cut", "target", Use::Target),
    ("power-cut", "log", Use::File),
    ("anatomy", "device", Use::Target),
    ("anatomy", "save_to", Use::Folder),
    ("info", "target", Use::Target),
    ("watch", "targets", Use::Target),
    ("watch", "output", Use::File),
    ("show", "run", Use::Read),
    ("history", "card", Use::Read),
    ("compare", "base", Use::Read),
    ("compare", "others", Use::Read),
    ("import", "files", Use::Read),
    ("open", "stores", Use::Read),
    ("rank", "run", Use::Read),
    ("report", "runs", Use::Read),
    ("report", "output", Use::File),
    ("campaign", "file", Use::Campaign),
    ("submit", "export_secret", Use::File),
    ("submit", "import_secret", Use::Read),
    ("generate", "folder", Use::Folder),
];
/// Texts that are no paths, in any command.
const TEXTS: [&str; 21] = [
    "suite",
    "tier",
    "only",
    "device_serial",
    "claim",
    "require",
    "words",
    "metrics",
    "board",
    "across",
    "by",
    "host",
    "publication",
    "wanted",
    "chart",
    "title",
    "highlight",
    "keep",
    "answer",
    "product",
    "runs",
];

/// Returns whether the values of an argument have that type.
fn is_of<T: 'static>(argument: &Arg) -> bool {
    argument.get_value_parser().type_id() == TypeId::of::<T>()
}

/// Command and name of each argument that takes a text or a path.
fn arguments() -> Vec<(String, Arg)> {
    let program = Arguments::command();
    let commands = program.get_subcommands();
    let all = commands.flat_map(|command| {
        let name = command.get_name().to_owned();
        command
            .get_arguments()
            .map(move |argument| (name.clone(), argument.clone()))
    });
    let is_text = |argument: &Arg| {
        let is_plain = is_of::<String>(argument) || is_of::<OsString>(argument);
        let is_path = is_of::<PathBuf>(argument);
        is_plain || is_path || is_of::<WrittenFile>(argument) || is_of::<WrittenFolder>(argument)
    };
    all.filter(|(_, argument)| argument.get_action().takes_values() && is_text(argument))
        .collect()
}

/// A new argument that can hold a path fails here until its use is named; one that is written has to have a type that
/// checks it.
#[test]
fn the_use_of_each_path_is_known() {
    let mut known = 0;
    for (command, argument) in arguments() {
        let id = argument.get_id().as_str();
        let found = PATHS.iter().find(|row| (row.0, row.1) == (&command, id));
        known += usize::from(found.is_some());
        let is_right = match found.map(|row| row.2) {
            Some(Use::File) => is_of::<WrittenFile>(&argument),
            Some(Use::Folder) => is_of::<WrittenFolder>(&argument),
            Some(Use::Read | Use::Campaign | Use::Target) => {
                is_of::<String>(&argument) || is_of::<PathBuf>(&argument)
            }
            None => TEXTS.contains(&id) && is_of::<String>(&argument),
        };
        // Ids of runs may be called as files are elsewhere.
        let is_text = found.is_none() && (command == "label" || command == "submit");
        assert!(
            is_right || (is_text && id.starts_with("run")),
            "{command} {id}: {found:?}"
        );
    }
    assert_eq!(known, PATHS.len(), "a row names no argument");
}

#[test]
fn each_written_path_has_a_sample_for_the_test_of_the_program() {
    let is_written = |row: &&(&str, &str, Use)| matches!(row.2, Use::File | Use::Folder);
    let written = PATHS.iter().filter(is_written);
    let written: BTreeSet<_> = written
        .map(|row| (row.0, row.1, row.2 == Use::Folder))
        .collect();
    let samples = samples::SAMPLES.iter();
    let tested: BTreeSet<_> = samples
        .map(|sample| (sample.command, sample.argument, sample.is_folder))
        .collect();
    assert_eq!(written, tested);
    for sample in &samples::SAMPLES {
        let words = [&["cardmark"], sample.words].concat();
        assert!(Arguments::try_parse_from(&words).is_ok(), "{words:?}");
        let paths = words.iter().filter(|word| word.ends_with("PATH"));
        assert_eq!(paths.count(), 1, "{words:?}");
    }
}

/// `--json` is a flag in every command. A value follows only after `=`, so that a word behind it is what it would be without.
#[test]
fn json_takes_no_word_behind_it() {
    let program = Arguments::command();
    let mut count = 0;
    for command in program.get_subcommands() {
        let Some(json) = command
            .get_arguments()
            .find(|it| it.get_long() == Some("json"))
        else {
            continue;
        };
        count += 1;
        if json.get_action().takes_values() {
            assert!(json.is_require_equals_set(), "{}", command.get_name());
            assert_eq!(json.get_num_args().map(|range| range.min_values()), Some(0));
        }
    }
    assert!(count > 15, "{count}");
    let parsed = Arguments::try_parse_from(["cardmark", "run", "--json", "/dev/x"]).unwrap();
    let Some(crate::args::Command::Run(run)) = parsed.command else {
        panic!("{parsed:?}");
    };
    assert_eq!(run.target, "/dev/x");
    assert!(matches!(run.json, Some(None)));
    assert!(Arguments::try_parse_from(["cardmark", "run", ".", "--json", "x"]).is_err());
}
