//! The program under test.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use cardmark_core::{Record, is_statement, parse_run_file};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::Refusal;
use crate::WallClock;
use crate::install;

/// After this a program that has not ended is killed, and the test fails.
const LIMIT: Duration = Duration::from_secs(120);
/// Timeout for an expected line.
const PATIENCE: Duration = Duration::from_secs(60);
/// Interval of the checks for the end of a program.
const LOOK: Duration = Duration::from_millis(2);
/// Commands whose records are honest, however they end.
const MEASURING: [&str; 3] = ["run", "recover", "campaign"];

/// The program with a separate place for its results, and nothing else of the environment.
#[derive(Debug)]
pub struct Program {
    binary: PathBuf,
    home: TempDir,
    columns: u32,
    user: Option<u32>,
    refusal: Option<Refusal>,
    clock: Option<WallClock>,
    path: Option<PathBuf>,
    sudo_user: Option<&'static str>,
}

impl Program {
    /// The program at `binary`, with its results below `scratch`.
    #[must_use]
    pub fn new(binary: &str, scratch: &Path) -> Self {
        Self {
            binary: binary.into(),
            home: tempfile::tempdir_in(scratch).unwrap(),
            columns: 80,
            user: None,
            refusal: None,
            clock: None,
            path: None,
            sudo_user: None,
        }
    }

    /// Returns the program, started by that user with `sudo`.
    #[must_use]
    pub fn by_sudo_of(mut self, user: &'static str) -> Self {
        self.sudo_user = Some(user);
        self
    }

    /// Returns the program with this folder first in its path.
    #[must_use]
    pub fn with_path(mut self, folder: &Path) -> Self {
        self.path = Some(folder.to_owned());
        self
    }

    /// Returns the program on a terminal of that width.
    #[must_use]
    pub fn columns(mut self, columns: u32) -> Self {
        self.columns = columns;
        self
    }

    /// Returns the program as an ordinary user, who may read a copy of it and write its results.
    #[must_use]
    pub fn as_user(mut self, user: u32) -> Self {
        let binary = self.home.path().join("cardmark");
        install(&self.binary, &binary);
        self.binary = binary;
        if std::fs::metadata(self.home.path()).unwrap().uid() != user {
            chown(self.home.path(), Some(user), Some(user)).unwrap();
        }
        self.user = Some(user);
        self
    }

    /// Returns the program with that wall clock.
    #[must_use]
    pub fn clock(mut self, clock: &WallClock) -> Self {
        self.clock = Some(clock.clone());
        self
    }

    /// Returns the program with a system call refused to it.
    #[must_use]
    pub fn refused(mut self, refusal: Refusal) -> Self {
        self.refusal = Some(refusal);
        self
    }

    /// The file by which its runs take turns.
    pub fn lock_file(&self) -> PathBuf {
        self.home.path().join("lock")
    }

    /// The folder of its results.
    pub fn data(&self) -> PathBuf {
        self.home.path().join("share/cardmark")
    }

    /// The folder of the state between looks.
    pub fn states(&self) -> PathBuf {
        self.home.path().join("state")
    }

    /// Its database.
    pub fn database(&self) -> PathBuf {
        self.data().join("records.sqlite")
    }

    /// Everything in its folder of journals.
    pub fn journals(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.data().join("journals"));
        let paths = entries
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path());
        paths.collect()
    }

    /// A file of the test's own, beside the results.
    pub fn file(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Returns the command that runs the program with these arguments.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        self.set_up(&mut command);
        command.args(arguments);
        command
    }

    /// Runs it on a terminal, with these words typed.
    pub fn run_on_terminal(&self, typed: &str) -> Output {
        let mut running = self.start_on_terminal(&[]);
        running.write(typed);
        let output = running.wait();
        // On a terminal both are one.
        Output {
            stdout: output.stderr.clone(),
            ..output
        }
    }

    /// Starts it on a separate terminal. Its output there is collected as its standard error.
    #[must_use]
    pub fn start_on_terminal(&self, arguments: &[&str]) -> Running {
        let words = [&[self.binary.to_str().unwrap()], arguments].concat();
        let quoted: Vec<String> = words
            .iter()
            .map(|word| format!("'{}'", word.replace('\'', r"'\''")))
            .collect();
        let mut command = Command::new("sh");
        self.set_up(&mut command);
        command.env("SHELL", "/bin/sh");
        let script = "exec script --quiet --return --echo never --command \"$1\" /dev/null >&2";
        command.args(["-c", script, "sh", &quoted.join(" ")]);
        command.stdin(Stdio::piped());
        Running::start(command, None)
    }

    fn set_up(&self, command: &mut Command) {
        command
            .env_clear()
            .env("PATH", self.search_path())
            .env("HOME", self.home.path())
            .env("XDG_DATA_HOME", self.home.path().join("share"))
            .env("STATE_DIRECTORY", self.states())
            // Tests run beside each other; those of turns share a program.
            .env("CARDMARK_LOCK_FILE", self.lock_file())
            .env("NO_COLOR", "1")
            .env("LC_ALL", "C.UTF-8")
            .env("COLUMNS", self.columns.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(clock) = &self.clock {
            clock.give_to(command);
        }
        if let Some(user) = self.sudo_user {
            command.env("SUDO_USER", user);
        }
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
    }

    fn search_path(&self) -> std::ffi::OsString {
        let own = std::env::var_os("PATH").unwrap_or_default();
        let folders = self.path.iter().cloned().chain(std::env::split_paths(&own));
        std::env::join_paths(folders).unwrap()
    }

    /// Starts it.
    #[must_use]
    pub fn start(&self, arguments: &[&str]) -> Running {
        Running::start(self.command(arguments), self.refusal)
    }

    /// Starts it under another program, such as `strace`, given with its own arguments.
    #[must_use]
    pub fn start_under(&self, wrapper: &[impl AsRef<OsStr>], arguments: &[&str]) -> Running {
        let mut command = Command::new(&wrapper[0]);
        self.set_up(&mut command);
        command
            .args(&wrapper[1..])
            .arg(&self.binary)
            .args(arguments);
        Running::start(command, self.refusal)
    }

    /// Runs it to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.start(arguments).wait()
    }

    /// The last record in its store.
    #[must_use]
    pub fn last(&self) -> Record {
        let output = self.run(&["show", "last", "--json"]);
        assert_eq!(output.code, 0, "{output}");
        output.record()
    }

    /// Number of runs in its store.
    pub fn runs_count(&self) -> usize {
        let output = self.run(&["export"]);
        assert_eq!(output.code, 0, "{output}");
        let lines = output.stdout.lines();
        lines.filter(|line| !is_statement(line)).count()
    }
}

/// A program that starts another one and kills it when one of its threads enters its `number`th fsync or
/// `number`th fdatasync.
#[must_use]
pub fn killing_at_sync(number: u64) -> [String; 9] {
    let inject = format!("inject=fdatasync,fsync:signal=KILL:when={number}");
    let words = [
        "strace",
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        "trace=fdatasync,fsync",
        "-e",
    ];
    let mut words = words.into_iter().map(str::to_owned).chain([inject]);
    std::array::from_fn(|_| words.next().unwrap())
}

/// Output of a program and its exit state.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The exit code; 128 plus the signal's number if a signal ended it.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Output {
    /// The record on standard output.
    #[must_use]
    pub fn record(&self) -> Record {
        parse_run_file(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self}"))
    }
}

impl std::fmt::Display for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            code,
            stdout,
            stderr,
        } = self;
        write!(
            f,
            "exit code {code}\n--- stdout\n{stdout}\n--- stderr\n{stderr}"
        )
    }
}

/// A program under way; killed on drop.
#[derive(Debug)]
pub struct Running {
    child: Child,
    started: Instant,
    /// Whether it makes records: none of them contradicts itself.
    has_measured: bool,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: Arc<Heard>,
    listener: Option<JoinHandle<()>>,
    ended: Option<ExitStatus>,
}

#[derive(Debug, Default)]
struct Heard {
    text: Mutex<Vec<u8>>,
    more: Condvar,
}

impl Running {
    fn start(mut command: Command, refusal: Option<Refusal>) -> Self {
        let started = Instant::now();
        let has_measured = command
            .get_args()
            .any(|word| MEASURING.iter().any(|name| word == *name));
        // A refusal applies to the requesting thread, so it gets a separate thread.
        let mut child = match refusal {
            None => command.spawn(),
            Some(refusal) => std::thread::spawn(move || {
                refusal.apply_to_thread();
                command.spawn()
            })
            .join()
            .unwrap(),
        }
        .unwrap();
        let mut out = child.stdout.take().unwrap();
        let stdout = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = out.read_to_end(&mut bytes);
            bytes
        });
        let mut err = child.stderr.take().unwrap();
        let heard = Arc::new(Heard::default());
        let told = Arc::clone(&heard);
        let listener = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = err.read(&mut bytes) {
                told.text.lock().unwrap().extend_from_slice(&bytes[..count]);
                told.more.notify_all();
            }
        });
        Self {
            child,
            started,
            has_measured,
            stdout: Some(stdout),
            stderr: heard,
            listener: Some(listener),
            ended: None,
        }
    }

    /// When it was started.
    #[must_use]
    pub fn started(&self) -> Instant {
        self.started
    }

    /// Waits until it has written that to standard error.
    pub fn hear(&self, text: &str) {
        let wanted = text.as_bytes();
        let until = Instant::now() + PATIENCE;
        let mut heard = self.stderr.text.lock().unwrap();
        while !heard.windows(wanted.len()).any(|part| part == wanted) {
            let left = until.saturating_duration_since(Instant::now());
            let told = String::from_utf8_lossy(&heard).into_owned();
            assert!(!left.is_zero(), "`{text}` was not printed in time: {told}");
            (heard, _) = self.stderr.more.wait_timeout(heard, left).unwrap();
        }
    }

    /// Returns its standard error so far.
    pub fn heard(&self) -> String {
        String::from_utf8_lossy(&self.stderr.text.lock().unwrap()).into_owned()
    }

    /// Types that on its terminal.
    pub fn write(&mut self, typed: &str) {
        let input = self.child.stdin.as_mut().unwrap();
        std::io::Write::write_all(input, typed.as_bytes()).unwrap();
    }

    /// Waits until the program has this file open.
    ///
    /// # Panics
    /// If it ends before.
    pub fn await_open(&self, path: &Path) {
        let is_it = |entry: &Path| std::fs::read_link(entry).is_ok_and(|link| link == path);
        self.await_process(|| self.entries("fd").iter().any(|entry| is_it(entry)));
    }

    /// Waits until this file exists.
    pub fn await_file(&self, path: &Path) {
        self.await_process(|| path.exists());
    }

    /// Waits until no thread of the program has this name.
    pub fn await_end_of_thread(&self, name: &str) {
        let is_it = |thread: &Path| {
            let found = std::fs::read_to_string(thread.join("comm"));
            found.is_ok_and(|found| found.trim_end() == name)
        };
        self.await_process(|| !self.entries("task").iter().any(|thread| is_it(thread)));
    }

    /// Entries of a folder of its process in `/proc`.
    fn entries(&self, folder: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(format!("/proc/{}/{folder}", self.child.id())).unwrap();
        entries.flatten().map(|entry| entry.path()).collect()
    }

    fn await_process(&self, has_come: impl Fn() -> bool) {
        let until = Instant::now() + PATIENCE;
        while !has_come() {
            assert!(Instant::now() < until, "not in time: {}", self.heard());
            sleep(LOOK);
        }
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        // A program that has just ended needs no signal.
        let _ = kill_process(pid, signal);
    }

    /// Returns whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.ended = self.ended.or_else(|| self.child.try_wait().unwrap());
        self.ended.is_some()
    }

    /// Waits for its end.
    pub fn wait(mut self) -> Output {
        let until = Instant::now() + LIMIT;
        while !self.has_ended() {
            if Instant::now() > until {
                let _ = self.child.kill();
                panic!("not ended within {LIMIT:?}: {}", self.heard());
            }
            sleep(LOOK);
        }
        let status = self.ended.unwrap();
        let stdout = self.stdout.take().unwrap().join().unwrap();
        self.listener.take().unwrap().join().unwrap();
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        let output = Output {
            code: status.code().unwrap_or_else(|| 128 + signal.unwrap_or(0)),
            stdout: String::from_utf8_lossy(&stdout).into_owned(),
            stderr: self.heard(),
        };
        let is_accused = [&output.stdout, &output.stderr]
            .iter()
            .any(|text| text.contains("contradicts itself"));
        assert!(
            !(self.has_measured && is_accused),
            "an honest record is called contradictory: {output}"
        );
        output
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.ended.is_none() && !self.has_ended() {
            let _ = self.child.kill();
            // One that hangs in the kernel ends only when its rig is dropped.
            let until = Instant::now() + Duration::from_secs(1);
            while !self.has_ended() && Instant::now() < until {
                sleep(LOOK);
            }
        }
    }
}
