//! Mounted filesystems on the disks of a target: can they be written, and which errors did they count.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cardmark_core::FilesystemLook;

use crate::block::{BlockDevice, name_of};
use crate::filesystems::device_name;
use crate::mounts::{Mount, parse_mounts, unescape};
use crate::root::{Root, names_in, number_of, text_of};
use crate::walk::Resolution;

/// Filesystems that are read-only for ever.
const NEVER_WRITABLE: [&str; 5] = ["squashfs", "iso9660", "erofs", "cramfs", "udf"];

/// Returns each filesystem once, in the order of the list of mounts. A mount of its root is preferred.
pub(super) fn filesystems(root: &Root, resolution: &Resolution) -> Vec<FilesystemLook> {
    let text = root.list("/proc/self/mountinfo").unwrap_or_default();
    let devices = devices(root, resolution);
    let stated = stated(root);
    let mounts = parse_mounts(&text);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for mount in &mounts {
        let Some(device) = device_of(root, mount).filter(|name| devices.contains(name)) else {
            continue;
        };
        if NEVER_WRITABLE.contains(&mount.filesystem.as_str()) || !seen.insert(device.clone()) {
            continue;
        }
        let same = mounts.iter().filter(|other| other.device == mount.device);
        let mut same = same.filter(|other| other.filesystem == mount.filesystem);
        let whole = same.find(|other| other.root == Path::new("/"));
        found.push(filesystem(root, whole.unwrap_or(mount), device, &stated));
    }
    found
}

/// The devices of the target: on the way down to the disks, the disks, and their partitions.
fn devices(root: &Root, resolution: &Resolution) -> BTreeSet<String> {
    let layers = resolution.layers.iter();
    let mut names: BTreeSet<String> = layers.filter_map(|layer| layer.device.clone()).collect();
    for disk in &resolution.disks {
        names.insert(disk.name.clone());
        let disk = BlockDevice::by_name(root, &disk.name);
        let parts = disk.iter().flat_map(BlockDevice::partitions);
        names.extend(parts.map(|part| part.name));
    }
    names
}

/// The device of a mount by its number; of btrfs, which has numbers of its own, by its source.
fn device_of(root: &Root, mount: &Mount) -> Option<String> {
    match mount.filesystem.as_str() {
        "btrfs" => device_name(root, &mount.source),
        _ if mount.device.is_anonymous() => None,
        _ => Some(BlockDevice::by_number(root, mount.device)?.name),
    }
}

fn filesystem(
    root: &Root,
    mount: &Mount,
    device: String,
    stated: &[(String, bool)],
) -> FilesystemLook {
    let is_stopped = mount.is_filesystem_stopped();
    let is_read_only = mount.is_filesystem_read_only();
    let point = mount.point.to_string_lossy().into_owned();
    let kind = mount.filesystem.clone();
    let driver = match kind.as_str() {
        "ext2" | "ext3" => "ext4",
        other => other,
    };
    let counts = root.path(format!("/sys/fs/{driver}/{device}"));
    let number = |name: &str| number_of(counts.join(name));
    let time = |name: &str| number(name).filter(|seconds| *seconds > 0);
    let kilobytes = number("lifetime_write_kbytes");
    FilesystemLook {
        id: filesystem_id(root, &device),
        is_read_only: is_read_only || is_stopped,
        is_stopped: is_stopped || (is_read_only && !mount.is_mounted_read_only()),
        stated_writable: stated
            .iter()
            .find(|(stated, _)| *stated == point)
            .map(|(_, is_writable)| *is_writable),
        errors_count: number("errors_count").or_else(|| btrfs_errors(root, &kind, &device)),
        first_error_s: time("first_error_time"),
        last_error_s: time("last_error_time"),
        lifetime_bytes: kilobytes.and_then(|kilobytes| kilobytes.checked_mul(1024)),
        device,
        kind,
        point,
    }
}

/// The name of the link to a device in `/dev/disk/by-uuid`.
fn filesystem_id(root: &Root, device: &str) -> Option<String> {
    let folder = root.path("/dev/disk/by-uuid");
    let leads =
        |id: &String| fs::read_link(folder.join(id)).is_ok_and(|link| name_of(&link) == device);
    names_in(&folder).into_iter().find(leads)
}

/// Sum of the errors that a btrfs filesystem counted on all its devices.
fn btrfs_errors(root: &Root, kind: &str, device: &str) -> Option<u64> {
    let pools = root.path("/sys/fs/btrfs");
    let mut pools = names_in(&pools).into_iter().map(|id| pools.join(id));
    let pool = pools.find(|pool| kind == "btrfs" && pool.join("devices").join(device).exists())?;
    let members = pool.join("devinfo");
    let texts = names_in(&members)
        .into_iter()
        .filter_map(|id| text_of(members.join(id).join("error_stats")));
    let mut sum = None;
    for text in texts {
        let numbers = text.lines().filter_map(|line| line.split_once(' '));
        let numbers = numbers.filter_map(|(_, count)| count.trim().parse::<u64>().ok());
        sum = Some(numbers.fold(sum.unwrap_or(0), u64::saturating_add));
    }
    sum
}

/// Mount points in `/etc/fstab`, and whether they are to be writable.
fn stated(root: &Root) -> Vec<(String, bool)> {
    let text = root.list("/etc/fstab").unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let stated = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let source = fields.next().filter(|field| !field.starts_with('#'))?;
        let (point, _, options) = (fields.next()?, fields.next()?, fields.next());
        let point = unescape(point.as_bytes()).to_string_lossy().into_owned();
        let mut options = options.unwrap_or_default().split(',');
        (source != "none").then(|| (point, !options.any(|option| option == "ro")))
    };
    text.lines().filter_map(stated).collect()
}
