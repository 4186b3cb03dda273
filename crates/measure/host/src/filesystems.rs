//! Filesystems between a directory and its block device.

use std::path::{Path, PathBuf};

use crate::block::BlockDevice;
use crate::mounts::Mount;
use crate::root::{FileKind, Root, Stat, names_in};

/// Returns the upper directory of an overlay.
///
/// The option names it as seen at the place of mounting, which may have been another tree of mounts, such as
/// that outside a container. It is accepted only if upper and work directory are both found, on one filesystem,
/// and the work directory is in use.
pub(crate) fn upper_directory(root: &Root, mount: &Mount) -> Option<(PathBuf, Stat)> {
    let directory = |path: &Path| {
        let path = path.is_absolute().then(|| root.canonical(path).ok())??;
        let stat = root.stat(&path).ok()?;
        (stat.kind == FileKind::Directory && stat.device != mount.device).then_some((path, stat))
    };
    let upper = directory(mount.option("upperdir")?)?;
    let work = directory(mount.option("workdir")?)?;
    let in_use = directory(&work.0.join("work")).is_some();
    (in_use && upper.1.device == work.1.device).then_some(upper)
}

/// Returns the kernel's names of all devices of the btrfs filesystem that was mounted from this source; none if
/// it cannot be distinguished from others.
pub(crate) fn btrfs_members(root: &Root, source: &Path) -> Vec<String> {
    let pools = root.path("/sys/fs/btrfs");
    let devices = names_in(&pools)
        .into_iter()
        .map(|id| pools.join(id).join("devices"));
    let mut pools: Vec<Vec<String>> = devices.map(names_in).collect();
    match device_name(root, source) {
        Some(name) => pools.retain(|names| names.contains(&name)),
        // A name such as /dev/root identifies nothing; only a single filesystem is unambiguous then.
        None => pools.retain(|names| !names.is_empty()),
    }
    if pools.len() == 1 {
        pools.swap_remove(0)
    } else {
        Vec::new()
    }
}

/// The kernel's name of the block device that a path means.
pub(crate) fn device_name(root: &Root, path: &Path) -> Option<String> {
    match root.stat(path).ok()?.kind {
        FileKind::Block(number) => Some(BlockDevice::by_number(root, number)?.name),
        _ => None,
    }
}

/// Returns whether files of this filesystem type are kept in memory.
pub(crate) fn is_memory(filesystem: &str) -> bool {
    MEMORY.contains(&filesystem)
}

/// Returns whether files of this filesystem type are kept by another computer.
pub(crate) fn is_remote(filesystem: &str) -> bool {
    REMOTE.contains(&filesystem)
}

/// Returns whether `cardmark-simfs` plays the card in this filesystem: what lies below is known.
pub(crate) fn is_simulated_card(mount: &Mount) -> bool {
    mount.filesystem.starts_with("fuse") && mount.source == Path::new("cardmark-simfs")
}

const MEMORY: &[&str] = &["tmpfs", "ramfs", "rootfs", "devtmpfs", "hugetlbfs"];

const REMOTE: &[&str] = &[
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "fuse.ceph",
    "fuse.curlftpfs",
    "fuse.davfs",
    "fuse.gcsfuse",
    "fuse.glusterfs",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.sshfs",
    "lustre",
    "nfs",
    "nfs4",
    "prl_fs",
    "smb2",
    "smb3",
    "smbfs",
    "vboxsf",
    "virtiofs",
];
