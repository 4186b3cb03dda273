//! What can be tested here.

use std::ffi::OsString;
use std::path::PathBuf;

use cardmark_core::DeviceInfo;
use cardmark_host::{MountedDirectory, Root, block_devices, mounted_directories};
use cardmark_report::text;

/// Something that can be tested.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Target {
    /// A mounted directory; its disk can be named to test all of it.
    Directory {
        /// Its path.
        path: PathBuf,
        /// The device below, such as `/dev/sda`.
        disk: Option<String>,
    },
    /// A disk without a mounted filesystem, such as `/dev/sda`.
    Disk(String),
}

impl Target {
    /// The argument that names it.
    pub(super) fn argument(&self) -> OsString {
        match self {
            Self::Directory { path, .. } => path.clone().into_os_string(),
            Self::Disk(device) => device.into(),
        }
    }
}

/// The targets of this computer, with a line about each.
pub(super) fn targets(root: &Root) -> Vec<(Target, String)> {
    let places = mounted_directories(root);
    let of_place = |place: &MountedDirectory| {
        let target = Target::Directory {
            path: place.directory.clone(),
            disk: place.removable.then(|| format!("/dev/{}", place.disk.name)),
        };
        (target, of_directory(place))
    };
    let mut found: Vec<(Target, String)> = places.iter().map(of_place).collect();
    let is_free = |disk: &&DeviceInfo| places.iter().all(|place| place.disk.name != disk.name);
    for disk in block_devices(root).iter().filter(is_free) {
        // Of a loop device the person made it; everything else here is a disk that may be tested as a whole.
        let device = format!("/dev/{}", disk.name);
        let line = format!("{device}: {}", of_disk(disk));
        found.push((Target::Disk(device), line));
    }
    found
}

fn of_directory(place: &MountedDirectory) -> String {
    let size = place
        .size_bytes
        .map(|bytes| format!(", {}", text::capacity(bytes)));
    let model = place.disk.model.as_deref();
    let model = model.map(|model| format!(", {model}"));
    let removable = if place.removable { ", removable" } else { "" };
    let writable = if place.writable {
        ""
    } else {
        " (you may not write there)"
    };
    format!(
        "{}: {} on {}{}{}{removable}{writable}",
        place.directory.display(),
        place.filesystem,
        place.device,
        model.unwrap_or_default(),
        size.unwrap_or_default()
    )
}

fn of_disk(disk: &DeviceInfo) -> String {
    let model = disk.model.as_deref().map(str::to_owned);
    let size = disk.size_bytes.map(text::capacity);
    let known: Vec<String> = model.into_iter().chain(size).collect();
    format!("{}, not mounted", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_may_not_be_written_says_so() {
        let place = MountedDirectory {
            directory: "/media/card".into(),
            filesystem: "ext4".into(),
            device: "mmcblk0p2".into(),
            size_bytes: Some(31_900_000_000),
            disk: DeviceInfo::default(),
            removable: true,
            writable: false,
        };
        assert_eq!(
            of_directory(&place),
            "/media/card: ext4 on mmcblk0p2, 31.9 GB (29.7 GiB), removable (you may not write there)"
        );
    }
}
