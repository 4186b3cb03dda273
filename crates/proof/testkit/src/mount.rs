//! Mounted filesystems.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::LoopDevice;
use crate::command::tool;

/// Times that a filesystem still in use is unmounted, and the pause between.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(100);

/// A mounted filesystem with a folder in it to be measured; unmounted on drop.
#[derive(Debug)]
pub struct Mount {
    point: TempDir,
    folder: PathBuf,
    device: Option<LoopDevice>,
    image: Option<PathBuf>,
}

impl Mount {
    /// An ext4 of that size in a file in `scratch`, behind a loop device with direct I/O.
    #[must_use]
    pub fn ext4(scratch: &Path, size_bytes: u64) -> Self {
        Self::ext4_with(scratch, size_bytes, "noatime", true)
    }

    /// Mounts ext4 without direct I/O below: data written once is in memory, and nearly as fast.
    #[must_use]
    pub fn ext4_in_memory(scratch: &Path, size_bytes: u64) -> Self {
        Self::ext4_with(scratch, size_bytes, "noatime", false)
    }

    /// Mounts ext4 with data in its journal: it accepts O_DIRECT and does not obey it.
    #[must_use]
    pub fn ext4_with_data_in_journal(scratch: &Path, size_bytes: u64) -> Self {
        Self::ext4_with(scratch, size_bytes, "noatime,data=journal", true)
    }

    /// A fresh ext4 on a device, which is the caller's and must outlive it.
    #[must_use]
    pub fn ext4_on(scratch: &Path, device: &Path) -> Self {
        make_ext4(device);
        Self::at(scratch, "ext4", device, "noatime", (None, None))
    }

    /// The ext4 that is on a device already, with its folder; the device must outlive it.
    #[must_use]
    pub fn again_on(scratch: &Path, device: &Path) -> Self {
        Self::at(scratch, "ext4", device, "noatime", (None, None))
    }

    fn ext4_with(scratch: &Path, size_bytes: u64, mount_options: &str, direct_io: bool) -> Self {
        let (image, file) = named(scratch, ".img");
        file.set_len(size_bytes).unwrap();
        make_ext4(&image);
        let device = LoopDevice::attach(&image, direct_io);
        let source = device.path().to_owned();
        Self::at(
            scratch,
            "ext4",
            &source,
            mount_options,
            (Some(device), Some(image)),
        )
    }

    /// A tmpfs of that size.
    #[must_use]
    pub fn tmpfs(scratch: &Path, size_bytes: u64) -> Self {
        let options = format!("size={size_bytes}");
        Self::at(
            scratch,
            "tmpfs",
            Path::new("cardmark-test"),
            &options,
            (None, None),
        )
    }

    fn at(
        scratch: &Path,
        kind: &str,
        source: &Path,
        options: &str,
        below: (Option<LoopDevice>, Option<PathBuf>),
    ) -> Self {
        let point = tempfile::tempdir_in(scratch).unwrap();
        let arguments = [
            "-t".as_ref(),
            kind.as_ref(),
            "-o".as_ref(),
            options.as_ref(),
            source.as_os_str(),
            point.path().as_os_str(),
        ];
        tool("mount", &arguments).unwrap();
        let folder = point.path().join("card");
        let (device, image) = below;
        let mount = Self {
            point,
            folder,
            device,
            image,
        };
        std::fs::create_dir_all(&mount.folder).unwrap();
        mount
    }

    /// The folder to be measured; empty at first.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the loop device below.
    pub fn device(&self) -> &LoopDevice {
        self.device.as_ref().unwrap()
    }

    /// Bytes that can still be written.
    pub fn free_bytes(&self) -> u64 {
        let stat = rustix::fs::statvfs(&self.folder).unwrap();
        stat.f_bavail * stat.f_frsize
    }

    /// Lets all that would be written wait until the value is dropped.
    #[must_use]
    pub fn freeze(&self) -> Frozen<'_> {
        let frozen = Frozen(self.point.path());
        tool("fsfreeze", &["--freeze".as_ref(), frozen.0.as_os_str()]).unwrap();
        frozen
    }

    /// Makes it read-only.
    pub fn make_read_only(&self) {
        let arguments = [
            "-o".as_ref(),
            "remount,ro".as_ref(),
            self.point.path().as_os_str(),
        ];
        tool("mount", &arguments).unwrap();
    }
}

/// A frozen filesystem.
#[derive(Debug)]
pub struct Frozen<'a>(&'a Path);

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        if let Err(error) = tool("fsfreeze", &["--unfreeze".as_ref(), self.0.as_os_str()]) {
            eprintln!("rig: {error}");
        }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        unmount(self.point.path());
        drop(self.device.take());
        if let Some(image) = &self.image {
            let _ = std::fs::remove_file(image);
        }
    }
}

/// Nothing is left for the kernel to write later, and nothing is kept for root.
fn make_ext4(target: &Path) {
    let lazy = "lazy_itable_init=0,lazy_journal_init=0";
    let options = ["-q", "-F", "-m", "0", "-E", lazy].map(AsRef::as_ref);
    let arguments = [&options[..], &[target.as_os_str()]].concat();
    tool("mkfs.ext4", &arguments).unwrap();
}

/// Unmounts the filesystem at that point, lazily if it is still in use. Returns whether it is unused now.
pub(crate) fn unmount(point: &Path) -> bool {
    let mut last = Ok(String::new());
    for _ in 0..TRIES {
        last = tool("umount", &[point]);
        if last.is_ok() {
            return true;
        }
        std::thread::sleep(PAUSE);
    }
    if let Err(error) = last {
        eprintln!("rig: {error}");
    }
    let _ = tool("umount", &["--lazy".as_ref(), point.as_os_str()]);
    false
}

/// A new file with a name.
fn named(scratch: &Path, suffix: &str) -> (PathBuf, File) {
    let file = tempfile::Builder::new()
        .suffix(suffix)
        .tempfile_in(scratch)
        .unwrap();
    let (file, path) = file.keep().unwrap();
    (path, file)
}
