//! The platforms of the release files, and running a program for one of them here.

use std::path::Path;

use super::tools::output;
use crate::project::Error;

/// A platform with a release file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// Name on the command line.
    pub name: &'static str,
    pub triple: &'static str,
    /// Filters of xz that suit the instructions of the processor. Only filters that xz 5.2 (Debian 10 to 12) unpacks.
    pub xz_filters: &'static str,
    /// Emulator and its options, for processors other than this one.
    emulator: &'static [&'static str],
}

/// All platforms. `arm` is ARMv6 with VFPv2: every 32-bit Raspberry Pi, and all newer 32-bit ARM boards.
pub(super) const TARGETS: [Target; 4] = [
    Target {
        name: "x86_64",
        triple: "x86_64-unknown-linux-musl",
        xz_filters: "--x86 --lzma2=preset=9e",
        emulator: &["qemu-x86_64-static"],
    },
    Target {
        name: "aarch64",
        triple: "aarch64-unknown-linux-musl",
        xz_filters: "--lzma2=preset=9e,lc=2,lp=2",
        emulator: &["qemu-aarch64-static"],
    },
    Target {
        name: "arm",
        triple: "arm-unknown-linux-musleabihf",
        xz_filters: "--arm --lzma2=preset=9e,lc=2,lp=2",
        emulator: &["qemu-arm-static", "-cpu", "arm1176"],
    },
    Target {
        name: "riscv64",
        triple: "riscv64gc-unknown-linux-musl",
        xz_filters: "--lzma2=preset=9e,lc=3,lp=1",
        emulator: &["qemu-riscv64-static"],
    },
];

impl Target {
    /// Returns the target with that name or triple.
    pub(super) fn named(name: &str) -> Result<&'static Self, Error> {
        let found = TARGETS
            .iter()
            .find(|target| target.name == name || target.triple == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            format!("no target `{name}`; targets: {}", names.join(", ")).into()
        })
    }

    /// Runs the program, in its emulator if it is for another processor; returns what it prints.
    pub(super) fn run(&self, program: &Path, arguments: &[&str]) -> Result<String, Error> {
        let program = program.to_str().ok_or("folder name is not UTF-8")?;
        let mut words = Vec::new();
        if self.name != std::env::consts::ARCH {
            words.extend(self.emulator);
        }
        words.push(program);
        words.extend(arguments);
        output(words[0], &words[1..])
    }
}
