//! Requirements of a test on the machine.

use std::path::Path;

use crate::command::{is_installed, tool};
use crate::{rate_cap, wall_clock};

/// Something that not every machine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// To be run by root.
    Root,
    /// FUSE, and the right to mount.
    Fuse,
    /// `io_uring`, which some kernels lack and some containers forbid.
    IoUring,
    /// Loop devices and `losetup`.
    LoopDevice,
    /// `mkfs.ext4` and the filesystem.
    Ext4,
    /// `mkfs.btrfs` and the filesystem.
    Btrfs,
    /// `mkfs.xfs` and the filesystem.
    Xfs,
    /// `mkswap` and `swapon`.
    Swap,
    /// `unshare`, for another tree of mounts.
    Unshare,
    /// The filesystem that lays one directory over another.
    Overlay,
    /// `bindfs`, which shows a directory through FUSE.
    Bindfs,
    /// `partx`, which informs the kernel of partitions.
    Partitions,
    /// `sfdisk`, which writes partition tables.
    Sfdisk,
    /// `blockdev`, which sets the flag against writing.
    BlockDev,
    /// Memory as block devices that can be added and taken away.
    Zram,
    /// Rate caps of the root group of blkio.
    Blkio,
    /// `script`, for a terminal.
    Script,
    /// `tmux`, for a terminal whose screen can be read.
    Tmux,
    /// libfaketime, for a wall clock that steps.
    WallClock,
    /// `fsfreeze`, which lets all that would be written wait.
    Freeze,
    /// `strace`, and the right to trace.
    Strace,
    /// `python3`, to map a file into memory.
    Python,
    /// `hdparm`.
    Hdparm,
    /// `iozone`.
    Iozone,
    /// `jq`.
    Jq,
    /// `openssl`, for certificates and a server with TLS.
    Openssl,
    /// Python's `jsonschema`.
    JsonSchema,
    /// `promtool`, which checks files for Prometheus.
    Promtool,
    /// `systemd-analyze`.
    SystemdAnalyze,
}

impl Need {
    fn is_met(self) -> bool {
        let is_root = rustix::process::geteuid().is_root();
        match self {
            Self::Root => is_root,
            Self::Fuse => is_root && Path::new("/dev/fuse").exists(),
            Self::IoUring => is_io_uring_allowed(),
            Self::LoopDevice => {
                is_root && Path::new("/dev/loop-control").exists() && is_installed("losetup")
            }
            Self::Ext4 => is_root && is_installed("mkfs.ext4") && knows("ext4"),
            Self::Btrfs => is_root && is_installed("mkfs.btrfs") && knows("btrfs"),
            Self::Xfs => is_root && is_installed("mkfs.xfs") && knows("xfs"),
            Self::Swap => is_root && is_installed("mkswap") && Path::new("/proc/swaps").exists(),
            Self::Unshare => is_root && is_installed("unshare"),
            Self::Overlay => is_root && knows("overlay"),
            Self::Bindfs => is_root && is_installed("bindfs"),
            Self::Partitions => is_root && is_installed("partx"),
            Self::Sfdisk => is_installed("sfdisk"),
            Self::BlockDev => is_root && is_installed("blockdev"),
            Self::Zram => is_root && Path::new("/sys/class/zram-control/hot_add").exists(),
            Self::Blkio => is_root && rate_cap::is_offered(),
            Self::Script => is_installed("script"),
            Self::Tmux => is_installed("tmux"),
            Self::WallClock => wall_clock::library().is_some(),
            Self::Freeze => is_root && is_installed("fsfreeze"),
            Self::Strace => tool("strace", &["-qq", "-e", "trace=none", "true"]).is_ok(),
            Self::Python => is_installed("python3"),
            Self::Hdparm => is_installed("hdparm"),
            Self::Iozone => is_installed("iozone"),
            Self::Jq => is_installed("jq"),
            Self::Openssl => is_installed("openssl"),
            Self::Promtool => is_installed("promtool"),
            Self::SystemdAnalyze => is_installed("systemd-analyze"),
            Self::JsonSchema => tool("python3", &["-c", "import jsonschema"]).is_ok(),
        }
    }
}

/// A filter of system calls, as in most containers, counts as a prohibition.
fn is_io_uring_allowed() -> bool {
    let disabled = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    disabled.is_ok_and(|value| value.trim() == "0")
        && status.lines().any(|line| line == "Seccomp:\t0")
}

fn knows(filesystem: &str) -> bool {
    let known = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    known
        .lines()
        .any(|line| line.trim_start_matches("nodev").trim() == filesystem)
}

/// Returns whether all needs are met. Unmet ones are printed, and the test is to be skipped; with
/// `CARDMARK_REQUIRE=all` that is a failure.
pub fn are_met(needs: &[Need]) -> bool {
    let missing: Vec<Need> = needs
        .iter()
        .copied()
        .filter(|need| !need.is_met())
        .collect();
    if missing.is_empty() {
        return true;
    }
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("test");
    let required = std::env::var("CARDMARK_REQUIRE").is_ok_and(|value| value == "all");
    assert!(
        !required,
        "{test} needs {missing:?} and CARDMARK_REQUIRE=all"
    );
    // Not by a macro of the test harness, which keeps the output of tests that pass to itself.
    let line = format!("skip: {test} needs {missing:?}\n");
    let _ = rustix::io::write(rustix::stdio::stderr(), line.as_bytes());
    false
}

/// Ends the test here, as a skip, where something is missing: `needs!(Root, LoopDevice)`.
#[macro_export]
macro_rules! needs {
    ($($need:ident),+ $(,)?) => {
        if !$crate::are_met(&[$($crate::Need::$need),+]) {
            return;
        }
    };
}
