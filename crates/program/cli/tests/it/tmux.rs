//! What a command shows in a terminal (tmux).

use std::path::Path;
use std::process::{Command, Stdio};

use cardmark_testkit::Program;

use crate::common::BINARY;

/// Lines of the terminal: more than any screen here has.
const HEIGHT: &str = "400";

/// Content of a screen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Text alone.
    Plain,
    /// Text with escape sequences for colours (SGR).
    Coloured,
}

/// Returns the screen after a command in a folder, without empty lines at its end.
pub(crate) fn screen(
    program: &Program,
    folder: &Path,
    columns: u32,
    line: &str,
    style: Style,
) -> String {
    // A server of its own: the last one may still be about to end.
    let place = tempfile::tempdir_in(folder).unwrap();
    let socket = place.path().join("terminal");
    let tmux = |words: &[&str]| {
        let mut command = Command::new("tmux");
        let envs = program.command(&[]);
        let known = envs
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?)));
        command.env_clear().envs(known).env_remove("COLUMNS");
        command.env("LC_ALL", "C.UTF-8").env("TERM", "xterm");
        if style == Style::Coloured {
            command.env_remove("NO_COLOR");
        }
        command.current_dir(folder);
        command
            .args(["-u", "-f", "/dev/null", "-S"])
            .arg(&socket)
            .args(words);
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let bin = Path::new(&*BINARY).parent().unwrap().display();
    // The terminal stays until its screen was read.
    let script = format!(
        "PATH={bin}:$PATH; {line}\ntmux -S '{}' wait-for -S shown; exec sleep 600",
        socket.display()
    );
    let columns = columns.to_string();
    tmux(&[
        "new-session",
        "-d",
        "-x",
        &columns,
        "-y",
        HEIGHT,
        "/bin/sh",
        "-c",
        &script,
    ]);
    tmux(&["wait-for", "shown"]);
    let screen = match style {
        Style::Plain => tmux(&["capture-pane", "-p"]),
        Style::Coloured => tmux(&["capture-pane", "-e", "-p"]),
    };
    tmux(&["kill-server"]);
    let lines: Vec<&str> = screen.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
}
