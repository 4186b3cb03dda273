//! Places where a beginner could test: the mounted directories on real disks.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use cardmark_core::DeviceInfo;

use crate::block::BlockDevice;
use crate::mounts::{Mount, parse_mounts, visible_mount};
use crate::{Resolution, Root, resolve};

/// A directory that could be tested.
#[derive(Clone, Debug, PartialEq)]
pub struct MountedDirectory {
    /// Mount point of the filesystem.
    pub directory: PathBuf,
    /// Its type, such as `ext4`.
    pub filesystem: String,
    /// The kernel's name of the block device it lies on, such as `mmcblk0p2`.
    pub device: String,
    /// Size of that block device.
    pub size_bytes: Option<u64>,
    /// The disk below; the first one if there are several.
    pub disk: DeviceInfo,
    /// True if the disk is removable: the kernel reports it, or it is in a card slot or on USB.
    pub removable: bool,
    /// True if this user may write in the directory.
    pub writable: bool,
}

/// The mounted directories on disks, each filesystem once: removable ones first, then writable
/// ones, then by path. Directories in memory, on other computers, on unknown devices, and those
/// that the board boots from (`/boot` and below) are left out.
#[must_use]
pub fn mounted_directories(root: &Root) -> Vec<MountedDirectory> {
    let text = root.list("/proc/self/mountinfo").unwrap_or_default();
    let mounts = parse_mounts(&text);
    let mut candidates: Vec<&Mount> = mounts
        .iter()
        .filter(|mount| is_candidate(&mounts, mount))
        .collect();
    candidates.sort_by_key(|mount| (mount.point.as_os_str().len(), &mount.point));
    let mut places: Vec<MountedDirectory> = Vec::new();
    for mount in candidates {
        if let Ok(resolution) = resolve(root, &mount.point)
            && let Some(place) = place(root, &mount.point, resolution)
            && !places.iter().any(|other| other.device == place.device)
        {
            places.push(place);
        }
    }
    places.sort_by_key(|place| {
        (
            Reverse(place.removable),
            Reverse(place.writable),
            place.directory.clone(),
        )
    });
    places
}

/// Returns whether the filesystem is on a block device. Others are skipped, because access to them may wake an
/// automounter or wait for a server.
fn is_candidate(mounts: &[Mount], mount: &Mount) -> bool {
    let is_image = ["squashfs", "erofs", "iso9660", "udf", "cramfs"];
    let on_device = !mount.device.is_anonymous() || mount.filesystem == "btrfs";
    let is_root_overlay = mount.filesystem == "overlay" && mount.point == Path::new("/");
    (on_device || is_root_overlay)
        && !is_image.contains(&mount.filesystem.as_str())
        && !mount.point.starts_with("/boot")
        && visible_mount(mounts, &mount.point).is_some_and(|visible| visible.id == mount.id)
}

fn place(root: &Root, directory: &Path, resolution: Resolution) -> Option<MountedDirectory> {
    let device = resolution
        .layers
        .iter()
        .find_map(|layer| layer.device.clone())?;
    let disk = resolution.disks.into_iter().next()?;
    if resolution.memory_backed || resolution.network {
        return None;
    }
    Some(MountedDirectory {
        directory: directory.to_owned(),
        filesystem: resolution.filesystem?,
        size_bytes: BlockDevice::by_name(root, &device).and_then(|device| device.size_bytes()),
        removable: can_be_taken_out(root, &disk),
        writable: !resolution.read_only && root.may_write(directory),
        device,
        disk,
    })
}

fn can_be_taken_out(root: &Root, disk: &DeviceInfo) -> bool {
    disk.removable == Some(true)
        || disk.name.starts_with("mmcblk")
        || BlockDevice::by_name(root, &disk.name).is_some_and(|device| device.is_usb())
}
