//! How the situations come to be, and go again.

use std::fs::File;
use std::path::{Path, PathBuf};

use cardmark_testkit::{
    LoopDevice, Output, Program, Running, Undo, WriterWatch, install_script, make_ext4, run_tool,
};
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
        device.unwritten(|_| program.run(&arguments))
    }

    /// A device with a filesystem that writes nothing by itself later.
    pub(super) fn ext4(&self) -> LoopDevice {
        let device = self.device("card");
        make_ext4(device.path());
        device
    }

    pub(super) fn folder(&self) -> PathBuf {
        tempfile::tempdir_in(self.scratch.path()).unwrap().keep()
    }

    pub(super) fn mount(&self, device: &Path, options: &str) -> (Undo, PathBuf) {
        let point = self.folder();
        run_tool("mount", &["-o", options, text(device), text(&point)]);
        (Undo::mount(&point), point)
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
        device.unwritten(|_| self.unwatched(path, flags))
    }

    /// Runs on something whose counters say nothing; it must not be opened for writing.
    pub(super) fn unwatched(&self, path: &Path, flags: &[&str]) -> Output {
        let watch = WriterWatch::on(path);
        let output = self
            .program
            .run(&[&["run", text(path), QUICKEST], flags].concat());
        assert!(!watch.saw_writer(), "opened for writing: {output}");
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
        device.unwritten(|device| {
            let mut running = self.asked(device.path());
            running.write(typed);
            running.wait()
        })
    }
}
