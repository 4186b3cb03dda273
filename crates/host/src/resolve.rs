//! Path from a target down to the disk.
//!
//! Never names a wrong disk: if the host cannot determine it for certain, the path ends there, a finding
//! reports that, and nothing is counted.

use std::io;
use std::path::{Path, PathBuf};

use cardmark_core::{DeviceInfo, Finding, Layer, TargetKind};

use crate::root::{FileKind, Root};
use crate::walk::Walk;

/// Devices below a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolution {
    /// Directory or device.
    pub kind: TargetKind,
    /// Major and minor number from `stat`: those of a device, or for a directory those of the device that holds
    /// it. To be compared with the object opened later.
    pub device_id: (u32, u32),
    /// From the target down to the disk.
    pub layers: Vec<Layer>,
    /// Type of the filesystem that holds the directory, such as `ext4`.
    pub filesystem: Option<String>,
    /// Options of mount and filesystem that bear on speed, such as `noatime` or `commit=30`;
    /// never paths or names.
    pub mount_options: Vec<String>,
    /// True if mount, filesystem or device are read-only.
    pub read_only: bool,
    /// The kernel's names of the block devices whose counters, summed, count each request once: the topmost
    /// ones. Empty if that is unknown.
    ///
    /// For btrfs with more than one device, all of them are counted; with mirrored data (RAID1, DUP) each byte
    /// is then written, and counted, once for each copy.
    pub counted: Vec<String>,
    /// The lowest block devices that are known: the disks, or a loop device whose file cannot be
    /// followed.
    pub disks: Vec<DeviceInfo>,
    /// True if data end up in memory (tmpfs, zram).
    pub memory_backed: bool,
    /// True if data go to another computer or to the host of a virtual machine.
    pub network: bool,
    /// Observations on the way.
    pub findings: Vec<Finding>,
}

/// Reason why a path is no target.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// It cannot be inspected.
    #[error("cannot inspect {}: {source}", path.display())]
    Unreadable {
        /// The path as given.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// It is neither a directory nor a block device.
    #[error("{} is neither a directory nor a block device", path.display())]
    WrongKind {
        /// The path as given.
        path: PathBuf,
    },
}

/// Returns the devices below a directory or a block device.
///
/// # Errors
/// If the path cannot be inspected, or is neither.
pub fn resolve(root: &Root, path: &Path) -> Result<Resolution, ResolveError> {
    let unreadable = |source| ResolveError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let stat = root.stat(path).map_err(unreadable)?;
    let mut walk = Walk::new(root);
    match stat.kind {
        FileKind::Directory => {
            let canonical = root.canonical(path).map_err(unreadable)?;
            walk.directory(&canonical, stat);
        }
        FileKind::Block(number) => {
            walk.device(number);
        }
        FileKind::File { .. } | FileKind::Other => {
            return Err(ResolveError::WrongKind {
                path: path.to_owned(),
            });
        }
    }
    Ok(walk.finish())
}
