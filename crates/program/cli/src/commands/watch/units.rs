//! Service and timer of systemd that repeat `cardmark watch`. The packages carry the same files, not enabled.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use cardmark_session::file::{self, Destination};
use cardmark_session::{Chosen, choose};
use clap::ValueEnum;

use crate::args::{WatchArguments, WatchFormat};
use crate::error::{CommandError, Exit};
use crate::terminal::print;

/// Folder of units that an administrator makes.
const FOLDER: &str = "/etc/systemd/system";
/// It is there if systemd runs the system.
const RUNNING: &str = "/run/systemd/system";
const SERVICE: &str = "cardmark-watch.service";
const TIMER: &str = "cardmark-watch.timer";
const SERVICE_TEXT: &str =
    include_str!("../../../../../../packaging/systemd/cardmark-watch.service");
const TIMER_TEXT: &str = include_str!("../../../../../../packaging/systemd/cardmark-watch.timer");
/// The line that the arguments change.
const COMMAND: &str = "ExecStart=/usr/bin/cardmark watch";

/// Writes both units for looks with these arguments, prints and starts them.
pub(super) fn install(arguments: &WatchArguments) -> Result<Exit, CommandError> {
    refuse_others("--install")?;
    let service = service(arguments)?;
    for (name, text) in [(SERVICE, service.as_str()), (TIMER, TIMER_TEXT)] {
        let path = Path::new(FOLDER).join(name);
        file::write(&path, text.as_bytes())
            .map_err(|error| error.hint("without systemd, let cron run `cardmark watch`"))?;
        print::data(&format!("# {}\n{text}\n", path.display()))?;
    }
    if !Path::new(RUNNING).is_dir() {
        print::notice(&format!(
            "systemd does not run here; later: `systemctl enable --now {TIMER}`"
        ));
        return Ok(Exit::Done);
    }
    systemctl(&["daemon-reload"])?;
    systemctl(&["enable", "--now", TIMER])?;
    systemctl(&["start", SERVICE])
        .map_err(|error| error.hint(format!("`journalctl -u {SERVICE}` shows the reason")))?;
    print::notice(
        "the first look is done, others follow each day; `sudo cardmark watch` shows the result",
    );
    Ok(Exit::Done)
}

/// Stops both units and removes their files.
pub(super) fn uninstall() -> Result<Exit, CommandError> {
    refuse_others("--uninstall")?;
    let paths = [SERVICE, TIMER].map(|name| Path::new(FOLDER).join(name));
    if !paths.iter().any(|path| path.symlink_metadata().is_ok()) {
        let what = format!("no service of `watch --install` in {FOLDER}");
        return Err(CommandError::new(Exit::Trouble, what));
    }
    let is_running = Path::new(RUNNING).is_dir();
    if is_running {
        systemctl(&["disable", "--now", TIMER])?;
    }
    for path in paths {
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                let what = format!("cannot remove `{}`", path.display());
                return Err(CommandError::new(Exit::Trouble, what).because(error.to_string()));
            }
            _ => print::notice(&format!("removed {}", path.display())),
        }
    }
    if is_running {
        systemctl(&["daemon-reload"])?;
    }
    Ok(Exit::Done)
}

fn refuse_others(option: &str) -> Result<(), CommandError> {
    match rustix::process::geteuid().is_root() {
        true => Ok(()),
        false => Err(
            CommandError::new(Exit::Refused, format!("only root may use `{option}`"))
                .hint(format!("sudo cardmark watch {option}")),
        ),
    }
}

fn systemctl(words: &[&str]) -> Result<(), CommandError> {
    let what = || format!("`systemctl {}` failed", words.join(" "));
    let done = Command::new("systemctl").args(words).output();
    match done {
        Ok(done) if done.status.success() => Ok(()),
        Ok(done) => {
            let said = String::from_utf8_lossy(&done.stderr);
            Err(CommandError::new(Exit::Trouble, what()).because(said.trim()))
        }
        Err(error) => Err(CommandError::new(Exit::Trouble, what()).because(error.to_string())),
    }
}

/// The service that looks with these arguments.
fn service(arguments: &WatchArguments) -> Result<String, CommandError> {
    let failed = |error: std::io::Error| {
        let what = "cannot find the path of this program";
        CommandError::new(Exit::Trouble, what).because(error.to_string())
    };
    let program = std::env::current_exe().map_err(failed)?;
    note_if_replaceable(&program);
    let mut words = vec![quoted(program.as_os_str())?, "watch".to_owned()];
    for target in &arguments.targets {
        if matches!(choose(target)?, Chosen::Simulated(_)) {
            let what = "simulated cards cannot be watched";
            return Err(CommandError::new(Exit::Usage, what));
        }
        words.push(quoted(absolute(target.as_ref())?.as_os_str())?);
    }
    if let Some(product) = &arguments.product {
        words.extend(["--product".to_owned(), quoted(product.as_ref())?]);
    }
    if arguments.format != WatchFormat::Text
        && let Some(name) = arguments.format.to_possible_value()
    {
        words.extend(["--format".to_owned(), name.get_name().to_owned()]);
    }
    let mut more = String::new();
    if let Some(output) = &arguments.output
        && let Destination::File(place) = output.destination()?
    {
        let path = absolute(place.named())?;
        words.extend(["--output".to_owned(), quoted(path.as_os_str())?]);
        let folder = path.parent().unwrap_or(Path::new("/"));
        // There `$` has no meaning.
        let folder = quoted(folder.as_os_str())?.replace("$$", "$");
        more = format!("\nReadWritePaths={folder}");
    }
    let command = format!("ExecStart={}{more}", words.join(" "));
    Ok(SERVICE_TEXT.replacen(COMMAND, &command, 1))
}

/// Warns if somebody else could replace the program that root will run each day.
fn note_if_replaceable(program: &Path) {
    let is_of_root = |path: &Path| {
        path.symlink_metadata().is_ok_and(|found| {
            // In a folder with this bit, only its owner can replace a file.
            let is_sticky = found.is_dir() && found.mode() & 0o1000 != 0;
            found.uid() == 0 && (is_sticky || found.mode() & 0o002 == 0)
        })
    };
    if let Some(path) = program.ancestors().find(|path| !is_of_root(path)) {
        print::notice(&format!(
            "warning: root will run `{}` each day, and other users than root can change `{}`; better: copy the program to \
             /usr/local/bin and install the service from there",
            program.display(),
            path.display()
        ));
    }
}

fn absolute(path: &Path) -> Result<PathBuf, CommandError> {
    std::path::absolute(path).map_err(|error| {
        let what = format!("cannot find `{}`", path.display());
        CommandError::new(Exit::Trouble, what).because(error.to_string())
    })
}

/// A word of a unit file.
fn quoted(word: &OsStr) -> Result<String, CommandError> {
    let text = word
        .to_str()
        .filter(|text| !text.contains(char::is_control));
    let text = text.ok_or_else(|| {
        let what = format!("`{}` cannot be a word of a service", word.display());
        CommandError::new(Exit::Usage, what).because("it holds hidden characters")
    })?;
    let text = text.replace('%', "%%").replace('$', "$$");
    let is_plain = |c: char| c.is_alphanumeric() || "/._-:+@%$".contains(c);
    Ok(match text.chars().all(is_plain) && !text.is_empty() {
        true => text,
        false => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_service_mean_themselves() {
        for (word, expected) in [
            ("/usr/bin/cardmark", "/usr/bin/cardmark"),
            ("/mnt/a card", "\"/mnt/a card\""),
            ("100%", "100%%"),
            ("$HOME", "$$HOME"),
            ("a\"b\\", "\"a\\\"b\\\\\""),
            ("", "\"\""),
        ] {
            assert_eq!(quoted(word.as_ref()).ok().as_deref(), Some(expected));
        }
        assert!(quoted("a\nExecStart=b".as_ref()).is_err());
    }

    #[test]
    fn the_service_has_the_line_that_arguments_change() {
        let lines = SERVICE_TEXT.lines().filter(|line| *line == COMMAND);
        assert_eq!(lines.count(), 1);
    }
}
