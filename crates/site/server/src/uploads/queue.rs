//! Uploads are read by processes of their own: the text of a stranger may keep a reader busy for ever, and a thread cannot be stopped.
//! The kernel ends a process that takes too much; all others wait in a queue that nothing else shares.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cardmark_share::Problem;
use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, prlimit, setpriority_process};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::http::problem::Refusal;
use crate::http::quota::{Charge, Quota};

/// Argument with which the program reads an upload.
pub(crate) const ARGUMENT: &str = "read-upload";
/// Uploads that are read or wait for it.
const MOST_WAITING: usize = 8;
/// Part of them that one address block may have: a quarter.
const MOST_WAITING_OF_BLOCK: usize = MOST_WAITING / 4;
/// Memory of a process, bytes of addresses.
pub(crate) const MOST_MEMORY: u64 = 512 << 20;
/// Longest answer of a process, bytes: a page shows a record of 16 MiB twice.
const MOST_ANSWER: u64 = 128 << 20;
/// Priority of a process: pages and submissions come first.
const NICE: i32 = 10;
/// Exit status of a program that panicked.
const PANICKED: i32 = 101;

/// The program that reads an upload, and its limits.
#[derive(Clone, Debug)]
pub struct UploadReader {
    /// Program; it gets the upload on standard input and answers on standard output.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Processor time for an upload, seconds.
    pub processor_s: u64,
    /// Longest time that it may take, on a computer that is busy with other work.
    pub patience: Duration,
}

impl Default for UploadReader {
    /// This program, whatever happened to its file since it was started.
    fn default() -> Self {
        Self {
            program: PathBuf::from("/proc/self/exe"),
            arguments: vec![ARGUMENT.to_owned()],
            processor_s: 2,
            patience: Duration::from_secs(20),
        }
    }
}

/// An upload, without its bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Upload {
    /// Product that the sender names.
    pub(crate) product: Option<String>,
    /// Board that the sender names.
    pub(crate) board: Option<String>,
}

/// Answer of a process.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ReadUpload {
    /// A page.
    Page(String),
    /// An error for the sender.
    Refused(Problem),
}

/// The queue of uploads.
#[derive(Debug)]
pub(crate) struct Uploads {
    reader: UploadReader,
    places: Arc<Quota>,
    turns: Arc<Semaphore>,
}

impl Uploads {
    /// Half of the processors may read at a time.
    pub(crate) fn new(reader: UploadReader) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            reader,
            places: Quota::new(MOST_WAITING),
            turns: Arc::new(Semaphore::new((processors / 2).max(1))),
        }
    }

    /// Refuses uploads that wait, since the site ends.
    pub(crate) fn close(&self) {
        self.turns.close();
    }

    /// Returns the page for an upload of an address block. The process ends with the caller.
    pub(crate) async fn read(
        &self,
        block: [u8; 16],
        upload: &Upload,
        bytes: &[u8],
    ) -> Result<String, Refusal> {
        let mut place = Charge::of(&self.places, block);
        if !place.take(1, MOST_WAITING_OF_BLOCK) {
            return Err(Refusal::busy());
        }
        let mut input = serde_json::to_vec(upload).map_err(|_| Refusal::failed())?;
        input.push(b'\n');
        input.extend(bytes);
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        let turn = turn.map_err(|_| Refusal::busy())?;
        let slot = Arc::new(Slot::default());
        let _killed_at_the_end = KillOnDrop(Arc::clone(&slot));
        let reader = self.reader.clone();
        let exchange = spawn_blocking(move || {
            // The turn lasts as long as the process, even without a caller.
            let _turn = turn;
            slot.exchange(&reader, &input)
        });
        let Ok(done) = timeout(self.reader.patience, exchange).await else {
            tracing::warn!("an upload was not read in time: the computer is busy");
            return Err(Refusal::busy());
        };
        match done {
            Ok(Ok((output, status))) => answer(&output, status, self.reader.processor_s),
            Ok(Err(error)) => {
                tracing::error!(%error, "the process that reads an upload cannot be started");
                Err(Refusal::failed())
            }
            Err(_) => Err(Refusal::failed()),
        }
    }
}

/// The page in the output of a process, or the reason for which there is none.
fn answer(output: &[u8], status: ExitStatus, processor_s: u64) -> Result<String, Refusal> {
    match serde_json::from_slice(output) {
        Ok(ReadUpload::Page(page)) => Ok(page),
        Ok(ReadUpload::Refused(problem)) => Err(problem.into()),
        Err(_) if matches!(status.code(), Some(0 | PANICKED)) => {
            tracing::error!(%status, "an upload was not read: this is a defect");
            Err(Refusal::failed())
        }
        Err(_) => {
            tracing::warn!(%status, "an upload took too much");
            Err(Refusal::too_costly(processor_s, MOST_MEMORY))
        }
    }
}

/// A process that is to start, runs, or ended.
#[derive(Debug, Default)]
struct Slot(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    child: Option<Child>,
    is_cancelled: bool,
}

struct KillOnDrop(Arc<Slot>);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_cancelled = true;
        if let Some(child) = &mut state.child {
            let _ = child.kill();
        }
    }
}

impl Slot {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the process, passes it the input, and returns its output and how it ended; blocks.
    fn exchange(
        &self,
        reader: &UploadReader,
        input: &[u8],
    ) -> std::io::Result<(Vec<u8>, ExitStatus)> {
        let mut command = Command::new(&reader.program);
        // No address or secret of the site is in its environment.
        command.args(&reader.arguments).env_clear();
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn()?;
        let limited = limit(&child, reader.processor_s);
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        {
            let mut state = self.state();
            if state.is_cancelled || limited.is_err() {
                let _ = child.kill();
            }
            state.child = Some(child);
        }
        if let Some(mut stdin) = stdin {
            // A process that ended reads nothing.
            let _ = stdin.write_all(input);
        }
        let mut output = Vec::new();
        if let Some(stdout) = stdout {
            let _ = stdout.take(MOST_ANSWER).read_to_end(&mut output);
        }
        let mut state = self.state();
        let child = state.child.as_mut();
        let child = child.ok_or(std::io::ErrorKind::NotFound)?;
        // Its output is complete; it has nothing left to do.
        let _ = child.kill();
        let status = child.wait()?;
        limited?;
        Ok((output, status))
    }
}

/// Limits a process: processor time, memory, no file after a crash, a lower priority.
fn limit(child: &Child, processor_s: u64) -> std::io::Result<()> {
    let Some(process) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
        return Err(std::io::ErrorKind::InvalidInput.into());
    };
    // One more second, after which no handler is asked.
    for (resource, current, maximum) in [
        (Resource::Cpu, processor_s, processor_s + 1),
        (Resource::As, MOST_MEMORY, MOST_MEMORY),
        (Resource::Core, 0, 0),
    ] {
        let limit = Rlimit {
            current: Some(current),
            maximum: Some(maximum),
        };
        match prlimit(Some(process), resource, limit) {
            Ok(_) | Err(Errno::SRCH) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // A process that is as important as the others still has its limits.
    let _ = setpriority_process(Some(process), NICE);
    Ok(())
}
