//! A simulated card as a block device.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::LoopDevice;
use crate::mount::unmount;

/// After this the program is killed.
const LIMIT: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(5);
/// While the computer is too busy to play a card, it is tried again so often, with this pause.
const TRIES: u32 = 30;
const PAUSE: Duration = Duration::from_secs(3);
const TOO_BUSY: &str = "faster than this computer can play it";

/// A simulated card behind a loop device with direct I/O; removed when dropped.
///
/// It is a separate process: if it stopped answering, it could not be ended together with the test that waits
/// for it.
#[derive(Debug)]
pub struct SimCard {
    device: Option<LoopDevice>,
    player: Player,
}

/// `cardmark-simfs` under way, with its file mounted.
#[derive(Debug)]
struct Player {
    child: Child,
    point: TempDir,
}

impl SimCard {
    /// A card of that model, played by the program `cardmark-simfs` at `binary`, with its file
    /// mounted in `scratch`.
    #[must_use]
    pub fn start(binary: &str, model: &str, size_bytes: u64, scratch: &Path) -> Self {
        let player = Player::start(binary, model, size_bytes, scratch);
        let device = Some(LoopDevice::attach(&player.file(), true));
        Self { device, player }
    }

    /// The device.
    pub fn path(&self) -> &Path {
        self.device().path()
    }

    /// The loop device.
    pub fn device(&self) -> &LoopDevice {
        self.device.as_ref().unwrap()
    }

    /// The file below it.
    pub fn file(&self) -> PathBuf {
        self.player.file()
    }

    /// Lets go of the device only: the file can be unmounted then.
    pub fn detach(&mut self) {
        drop(self.device.take());
    }

    /// Sends a signal to the program.
    pub fn signal(&self, signal: Signal) {
        let _ = kill_process(Pid::from_child(&self.player.child), signal);
    }

    /// Waits for the program's end; its exit code.
    ///
    /// # Panics
    /// When it does not end, or was ended by a signal.
    pub fn wait(&mut self) -> i32 {
        assert!(self.player.has_ended(), "not ended within {LIMIT:?}");
        self.player.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for SimCard {
    fn drop(&mut self) {
        // Before the file below it goes.
        drop(self.device.take());
    }
}

impl Player {
    fn start(binary: &str, model: &str, size_bytes: u64, scratch: &Path) -> Self {
        let mut tries = 1;
        loop {
            match Self::try_start(binary, model, size_bytes, scratch) {
                Ok(player) => return player,
                Err(output) if tries < TRIES && output.contains(TOO_BUSY) => {
                    std::thread::sleep(PAUSE);
                }
                Err(output) => panic!("{binary} is not ready: {output}"),
            }
            tries += 1;
        }
    }

    /// Starts the program; the error is its output if it is not ready.
    fn try_start(
        binary: &str,
        model: &str,
        size_bytes: u64,
        scratch: &Path,
    ) -> Result<Self, String> {
        let point = tempfile::tempdir_in(scratch).unwrap();
        // In a separate session, so that it can raise its own priority.
        let mut command = Command::new("setsid");
        command.arg(binary).arg(model).arg(point.path());
        command.args(["--size", &size_bytes.to_string()]);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        // From here on it is ended in any case.
        let mut player = Self { child, point };
        let mut line = String::new();
        let out = player.child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        if line != "ready\n" {
            let mut err = player.child.stderr.take().unwrap();
            let _ = writeln!(line);
            let _ = err.read_to_string(&mut line);
            return Err(line);
        }
        Ok(player)
    }

    fn file(&self) -> PathBuf {
        self.point.path().join("card")
    }

    fn has_ended(&mut self) -> bool {
        let until = Instant::now() + LIMIT;
        loop {
            let has_ended = self.child.try_wait().is_ok_and(|status| status.is_some());
            if has_ended || Instant::now() > until {
                return has_ended;
            }
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
            if !self.has_ended() {
                eprintln!("rig: the simulated card does not end by itself");
                let _ = self.child.kill();
                let _ = self.child.wait();
            }
        }
        if is_mounted(self.point.path()) {
            unmount(self.point.path());
        }
    }
}

fn is_mounted(point: &Path) -> bool {
    let told = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    told.lines()
        .any(|line| line.split(' ').nth(1).map(Path::new) == Some(point))
}
