//! Each run of a campaign is a process of its own: what hangs or fails there ends nothing here.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use cardmark_session::{CommandError, Exit, Voice};

const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];
/// Interval of checks for the end of the run.
const LOOK: Duration = Duration::from_millis(20);

/// Does the runs of a campaign.
pub(crate) trait Runs {
    /// Does the run with these words of a command line. What it prints as a result is not shown.
    fn run(&self, words: &[OsString]) -> Result<Exit, CommandError>;

    /// Exit for a signal since the last run began, also for one that came too late
    /// for that run.
    fn asked_to_end(&self) -> Option<Exit>;
}

/// Runs this program again, and waits for it.
pub(crate) struct Child {
    program: PathBuf,
    /// True while nothing runs: signals then have their default action.
    is_idle: Arc<AtomicBool>,
    /// The last signal that asked for the end.
    signal: Arc<AtomicUsize>,
    voice: &'static dyn Voice,
}

impl Child {
    /// Begins to heed signals.
    pub(crate) fn new(voice: &'static dyn Voice) -> Result<Self, CommandError> {
        let program = std::env::current_exe().map_err(|error| cannot_run(&error))?;
        let is_idle = Arc::new(AtomicBool::new(true));
        let signal = Arc::new(AtomicUsize::new(0));
        for number in SIGNALS {
            flag::register_conditional_default(number, Arc::clone(&is_idle))
                .map_err(|error| cannot_run(&error))?;
        }
        for number in SIGNALS {
            let value = usize::try_from(number).unwrap_or(0);
            flag::register_usize(number, Arc::clone(&signal), value)
                .map_err(|error| cannot_run(&error))?;
        }
        Ok(Self {
            program,
            is_idle,
            signal,
            voice,
        })
    }

    fn wait_for(&self, words: &[OsString]) -> Result<Exit, CommandError> {
        let mut command = Command::new(&self.program);
        let started = command.args(words).stdout(Stdio::null()).spawn();
        let mut child = started.map_err(|error| cannot_run(&error))?;
        let mut is_told = false;
        loop {
            if let Some(status) = child.try_wait().map_err(|error| cannot_run(&error))? {
                return Ok(self.exit_of(status));
            }
            // Ctrl-C reaches the run by itself, and a second one would end it at once. The others
            // are handed on.
            if !is_told && matches!(self.asked_to_end(), Some(Exit::Terminated)) {
                is_told = true;
                let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
                // It may have ended just now.
                let _ = id.map(|id| kill_process(id, Signal::TERM));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// The exit that stands for how a run ended.
    fn exit_of(&self, status: ExitStatus) -> Exit {
        match status.signal() {
            None => {}
            Some(SIGINT) => return Exit::Interrupted,
            Some(SIGTERM | SIGHUP) => return Exit::Terminated,
            Some(number) => {
                self.voice
                    .notice(&format!("the run was killed by signal {number}"));
                return Exit::Trouble;
            }
        }
        let is_it = |exit: &Exit| status.code() == Some(i32::from(exit.code()));
        Exit::ALL.into_iter().find(is_it).unwrap_or(Exit::Bug)
    }
}

impl Runs for Child {
    fn run(&self, words: &[OsString]) -> Result<Exit, CommandError> {
        self.signal.store(0, Ordering::Relaxed);
        self.is_idle.store(false, Ordering::Relaxed);
        let exit = self.wait_for(words);
        self.is_idle.store(true, Ordering::Relaxed);
        exit
    }

    fn asked_to_end(&self) -> Option<Exit> {
        match i32::try_from(self.signal.load(Ordering::Relaxed)) {
            Ok(SIGINT) => Some(Exit::Interrupted),
            Ok(SIGTERM | SIGHUP) => Some(Exit::Terminated),
            _ => None,
        }
    }
}

fn cannot_run(error: &std::io::Error) -> CommandError {
    CommandError::new(Exit::Trouble, "cannot start a run").because(error.to_string())
}
