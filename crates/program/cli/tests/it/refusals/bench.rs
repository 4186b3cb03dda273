//! How the situations come to be, and go again.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use cardmark_testkit::{LoopDevice, Output, Program, Running, install_script};
use rustix::fs::inotify;
use tempfile::TempDir;

use super::{ASKED, SIZE_BYTES, TO_TYPE};
use crate::common::{BINARY, QUICKEST, program, scratch, text};

/// Everything one row needs.
pub(super) struct Bench {
    pub(super) scratch: TempDir,
    pub(super) program: Program,
}

impl Bench {
    pub(super) fn new() -> Self {
        let scratch = scratch();
        let program = program(&scratch);
        Self { scratch, program }
    }

    /// A file that a device can stand on.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        let path = self.scratch.path().join(name);
        File::create(&path).unwrap().set_len(SIZE_BYTES).unwrap();
        path
    }

    pub(super) fn device(&self, name: &str) -> LoopDevice {
        LoopDevice::attach(&self.file(name), false)
    }

    /// Runs on the device, agreed to by flags, by way of another command.
    pub(super) fn attempt_in(&self, wrapper: &str, device: &LoopDevice) -> Output {
        let script = self.scratch.path().join("wrapper");
        install_script(&format!("exec {wrapper} {} \"$@\"", *BINARY), &script);
        let program = Program::new(text(&script), self.scratch.path());
        let serial = format!("--device-serial={}", text(device.file()));
        let arguments = ["run", text(device.path()), QUICKEST, "--yes", &serial];
        self.unwritten(device, |_| program.run(&arguments))
    }

    /// A device with a filesystem that writes nothing by itself later.
    pub(super) fn ext4(&self) -> LoopDevice {
        let device = self.device("card");
        self.make_ext4(device.path());
        device
    }

    pub(super) fn make_ext4(&self, device: &Path) {
        let lazy = "lazy_itable_init=0";
        tool(
            "mkfs.ext4",
            &["-q", "-F", "-O", "^has_journal", "-E", lazy, text(device)],
        );
    }

    pub(super) fn folder(&self) -> PathBuf {
        tempfile::tempdir_in(self.scratch.path()).unwrap().keep()
    }

    pub(super) fn mount(&self, device: &Path, options: &str) -> (Undo, PathBuf) {
        let point = self.folder();
        tool("mount", &["-o", options, text(device), text(&point)]);
        (Undo::mount(&point), point)
    }

    /// The disk below `/`; its plain name in `/dev`.
    pub(super) fn root_disk(&self) -> PathBuf {
        let system = cardmark_host::Root::system();
        let resolution = cardmark_host::resolve(&system, Path::new("/")).unwrap();
        let disk = resolution.disks.first().expect("the disk below / is known");
        Path::new("/dev").join(&disk.name)
    }

    /// Runs on the device, agreed to by flags.
    pub(super) fn attempt(&self, device: &LoopDevice) -> Output {
        self.with_serial(device, device.path(), device.file())
    }

    fn with_serial(&self, device: &LoopDevice, path: &Path, file: &Path) -> Output {
        let serial = format!("--device-serial={}", text(file));
        self.with_flags(device, path, &["--yes", &serial])
    }

    pub(super) fn with_flags(&self, device: &LoopDevice, path: &Path, flags: &[&str]) -> Output {
        self.unwritten(device, |_| self.unwatched(path, flags))
    }

    /// Runs on something whose counters say nothing; it must not be opened for writing.
    pub(super) fn unwatched(&self, path: &Path, flags: &[&str]) -> Output {
        let watch = Watch::on(path);
        let output = self
            .program
            .run(&[&["run", text(path), QUICKEST], flags].concat());
        assert!(!watch.saw_writer(), "opened for writing: {output}");
        output
    }

    /// Does this, and looks that nothing was written to the device meanwhile.
    pub(super) fn unwritten(
        &self,
        device: &LoopDevice,
        act: impl FnOnce(&LoopDevice) -> Output,
    ) -> Output {
        tool("blockdev", &["--flushbufs", text(device.path())]);
        let before = written(device);
        let output = act(device);
        assert_eq!(written(device), before, "{output}");
        output
    }

    /// The program on a terminal, once it has asked.
    pub(super) fn asked(&self, path: &Path) -> Running {
        let running = self
            .program
            .start_on_terminal(&["run", text(path), QUICKEST]);
        running.hear(ASKED);
        running
    }

    /// Types what was asked for.
    pub(super) fn answer(&self, mut running: Running) -> Output {
        let question = running.heard();
        let (_, rest) = question.split_once(TO_TYPE).unwrap();
        running.write(rest.lines().next().unwrap());
        running.write("\n");
        running.wait()
    }

    /// Types something else.
    pub(super) fn typed(&self, device: &LoopDevice, typed: &str) -> Output {
        self.unwritten(device, |device| {
            let mut running = self.asked(device.path());
            running.write(typed);
            running.wait()
        })
    }
}

/// Operations and sectors that the kernel has counted as written to the device.
pub(super) fn written(device: &LoopDevice) -> (u64, u64) {
    let name = device.path().file_name().unwrap();
    let stat = Path::new("/sys/block").join(name).join("stat");
    let stat = std::fs::read_to_string(stat).unwrap();
    let fields: Vec<u64> = stat
        .split_whitespace()
        .map(|field| field.parse().unwrap())
        .collect();
    (fields[4], fields[6])
}

/// Returns whether somebody who could write has closed a file.
pub(super) struct Watch(rustix::fd::OwnedFd);

impl Watch {
    pub(super) fn on(path: &Path) -> Self {
        let flags = inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC;
        let fd = inotify::init(flags).unwrap();
        let path = CString::new(text(path)).unwrap();
        inotify::add_watch(&fd, path, inotify::WatchFlags::CLOSE_WRITE).unwrap();
        Self(fd)
    }

    pub(super) fn saw_writer(&self) -> bool {
        let mut buffer = [0; 1024];
        rustix::io::read(&self.0, &mut buffer).is_ok_and(|count| count > 0)
    }
}

#[track_caller]
pub(super) fn tool<A: AsRef<OsStr>>(name: &str, arguments: &[A]) {
    let output = Command::new(name).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {said}");
}

/// Ends a mount for certain.
const UNMOUNT: &str = "{ umount \"$0\" 2>/dev/null || umount --lazy \"$0\"; }";

/// A tool that is run when the test is over, also after a panic.
pub(super) struct Undo(Option<(String, Vec<String>)>);

impl Undo {
    pub(super) fn new(name: &str, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|&argument| argument.to_owned());
        Self(Some((name.to_owned(), arguments.collect())))
    }

    /// Unmounts what is mounted here. A device that is detached a moment later, because somebody looks at it, keeps a
    /// mount busy: it goes once the device does.
    pub(super) fn mount(point: &Path) -> Self {
        Self::new("sh", &["-c", UNMOUNT, text(point)])
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        if let Some((name, arguments)) = self.0.take() {
            let ended = Command::new(&name).args(&arguments).status();
            if !ended.is_ok_and(|status| status.success()) {
                eprintln!("rig: {name} {arguments:?} failed");
            }
        }
    }
}
