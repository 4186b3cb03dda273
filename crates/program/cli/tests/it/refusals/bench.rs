//! How the situations come to be, and go again.

use std::fs::File;
use std::path::{Path, PathBuf};

use cardmark_testkit::{
    LoopDevice, Output, Program, Running, Undo, WriterWatch, install_script, run_tool,
};
use tempfile::TempDir;

use super::{ASKED, SIZE_BYTES};
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

    pub(super) fn device(&self, name: &str) -> LoopDevice {
        let path = self.scratch.path().join(name);
        File::create(&path).unwrap().set_len(SIZE_BYTES).unwrap();
        LoopDevice::attach(&path, false)
    }

    pub(super) fn folder(&self) -> PathBuf {
        tempfile::tempdir_in(self.scratch.path()).unwrap().keep()
    }

    pub(super) fn mount(&self, device: &Path) -> Undo {
        let point = self.folder();
        run_tool("mount", &["-o", "noatime", text(device), text(&point)]);
        Undo::mount(&point)
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

    /// Runs on the device, agreed to by flags.
    pub(super) fn attempt(&self, device: &LoopDevice) -> Output {
        let serial = format!("--device-serial={}", text(device.file()));
        self.with_flags(device, &["--yes", &serial])
    }

    /// Runs on the device, which must not be opened for writing.
    pub(super) fn with_flags(&self, device: &LoopDevice, flags: &[&str]) -> Output {
        let words = [&["run", text(device.path()), QUICKEST], flags].concat();
        device.unwritten(|_| {
            let watch = WriterWatch::on(device.path());
            let output = self.program.run(&words);
            assert!(!watch.saw_writer(), "opened for writing: {output}");
            output
        })
    }

    /// The program on a terminal, once it has asked.
    pub(super) fn asked(&self, path: &Path) -> Running {
        let words = ["run", text(path), QUICKEST];
        let running = self.program.start_on_terminal(&words);
        running.hear(ASKED);
        running
    }
}
