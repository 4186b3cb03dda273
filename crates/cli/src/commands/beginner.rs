//! `cardmark` alone: shows what is there, asks what to test, runs `quick`.

use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;

use cardmark_host::{MountedDirectory, Root, mounted_directories};
use cardmark_report::text;
use clap::Parser;

use crate::args::{Arguments, Command};
use crate::commands::run::run;
use crate::error::{CommandError, Exit};
use crate::print;

/// The beginner's path.
pub(crate) fn beginner() -> Result<Exit, CommandError> {
    let places = mounted_directories(&Root::system());
    print::notice(&menu(&places));
    if !std::io::stdin().is_terminal() {
        return Err(
            CommandError::new(Exit::Usage, "there is no terminal to ask what to test")
                .because("standard input is not a terminal")
                .hint("name the target: `cardmark run DIRECTORY`; `cardmark --help` shows more"),
        );
    }
    let stdin = std::io::stdin();
    match ask(&mut stdin.lock(), &places)? {
        Some(directory) => run_quick(&directory),
        None => Ok(Exit::Done),
    }
}

/// Targets as a numbered list.
fn menu(places: &[MountedDirectory]) -> String {
    let mut menu = String::from(
        "cardmark measures a card through a file of 256 MiB that is gone afterwards.\n\
         It takes about a minute and a half, and writes to that file again and again:\n\
         some hundred MB on a card, 4.29 GB at most.\n\nTargets found here:\n",
    );
    for (index, place) in places.iter().enumerate() {
        menu.push_str(&format!("  {}  {}\n", index + 1, describe(place)));
    }
    menu.push_str("  .  the directory you are in\n");
    menu
}

fn describe(place: &MountedDirectory) -> String {
    let size = place
        .size_bytes
        .map(|bytes| format!(", {}", text::capacity(bytes)));
    let removable = if place.removable { ", removable" } else { "" };
    let writable = if place.writable {
        ""
    } else {
        " (you may not write there)"
    };
    format!(
        "{}: {} on {}{}{removable}{writable}",
        place.directory.display(),
        place.filesystem,
        place.device,
        size.unwrap_or_default()
    )
}

/// Asks until the answer makes sense. `None`: the person wants nothing tested.
fn ask(
    input: &mut impl BufRead,
    places: &[MountedDirectory],
) -> Result<Option<PathBuf>, CommandError> {
    loop {
        print::notice("Target: a number, or `.`; Enter alone ends.");
        let mut line = String::new();
        let read = input.read_line(&mut line).map_err(|error| {
            CommandError::new(Exit::Trouble, "cannot read the answer").because(error.to_string())
        })?;
        let answer = line.trim();
        if read == 0 || answer.is_empty() {
            return Ok(None);
        }
        if answer == "." {
            return Ok(Some(PathBuf::from(".")));
        }
        let number: Option<usize> = answer.parse().ok();
        match number.and_then(|number| places.get(number.checked_sub(1)?)) {
            Some(place) => return Ok(Some(place.directory.clone())),
            None => print::notice(&format!("`{answer}` is not in the list")),
        }
    }
}

/// Runs the default suite, as `cardmark run DIRECTORY` would.
fn run_quick(directory: &std::path::Path) -> Result<Exit, CommandError> {
    let words = [
        "cardmark".into(),
        "run".into(),
        directory.as_os_str().to_owned(),
    ];
    match Arguments::try_parse_from(words).map(|arguments| arguments.command) {
        Ok(Some(Command::Run(arguments))) => run(&arguments),
        _ => Err(CommandError::new(
            Exit::Bug,
            "the directory cannot be named on a command line",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(directory: &str, writable: bool) -> MountedDirectory {
        MountedDirectory {
            directory: directory.into(),
            filesystem: "ext4".into(),
            device: "mmcblk0p2".into(),
            size_bytes: Some(31_900_000_000),
            disk: cardmark_core::DeviceInfo::default(),
            removable: true,
            writable,
        }
    }

    #[test]
    fn the_menu_tells_what_is_there_and_what_will_happen() {
        let menu = menu(&[place("/media/card", true), place("/mnt", false)]);
        assert!(
            menu.contains("  1  /media/card: ext4 on mmcblk0p2, 31.9 GB"),
            "{menu}"
        );
        assert!(menu.contains("(you may not write there)"), "{menu}");
        assert!(menu.contains("256 MiB"), "{menu}");
    }

    #[test]
    fn an_answer_is_asked_for_until_it_makes_sense() {
        let places = [place("/media/card", true)];
        let answer = |text: &str| ask(&mut text.as_bytes(), &places).unwrap();
        assert_eq!(answer("0\n7\nx\n1\n"), Some(PathBuf::from("/media/card")));
        assert_eq!(answer(".\n"), Some(PathBuf::from(".")));
        assert_eq!(answer("\n"), None);
        assert_eq!(answer(""), None);
    }
}
