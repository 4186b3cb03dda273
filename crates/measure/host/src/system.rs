//! The filesystems that the running system itself needs.

use std::path::Path;

use cardmark_core::TargetKind;

use crate::resolve::resolve;
use crate::root::Root;
use crate::walk::Resolution;

/// Directories of the running system: without room there, services fail. Not `/boot`, which nothing writes to while it
/// runs.
const DIRECTORIES: [&str; 8] = [
    "/", "/usr", "/etc", "/var", "/var/lib", "/var/log", "/home", "/root",
];

/// Returns whether a target is a directory on a filesystem that the running system needs.
#[must_use]
pub fn holds_system(root: &Root, target: &Resolution) -> bool {
    target.kind == TargetKind::Directory
        && DIRECTORIES.iter().any(|path| {
            // Parts of a btrfs filesystem have numbers of their own.
            let shares =
                |of: &Resolution| of.counted.iter().any(|name| target.counted.contains(name));
            let system = resolve(root, Path::new(path)).ok();
            system.is_some_and(|of| of.device_id == target.device_id || shares(&of))
        })
}
