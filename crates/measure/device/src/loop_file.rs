//! The backing files of loop devices.

use std::mem::size_of;
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fstat, major, minor};
use rustix::ioctl::{Getter, Opcode, ioctl};

/// `LOOP_GET_STATUS64` of `linux/loop.h`; its number does not encode the size of the argument.
const LOOP_GET_STATUS64: Opcode = 0x4C05;
/// Major number of loop devices.
const LOOP_MAJOR: u32 = 7;

/// Identity of the file or device below a loop device, as the kernel sees it: independent of the path, which
/// may be renamed, deleted, or another file by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopFile {
    /// Number of the loop device: 3 for `loop3`.
    pub number: u32,
    /// Major and minor number of the device that holds the file, as `stat` shows them.
    pub device_id: (u32, u32),
    /// Inode number of the file.
    pub inode: u64,
    /// Major and minor number of the block device, if it stands on one instead of a file.
    pub block_id: Option<(u32, u32)>,
}

/// Returns the file or device below the loop device at `path`. `None` if `path` is no loop device, the device
/// has no file, or the user may not open it. Only reads.
#[must_use]
pub fn loop_file(path: &Path) -> Option<LoopFile> {
    let is_loop = |stat: &rustix::fs::Stat| {
        FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice
            && major(stat.st_rdev) == LOOP_MAJOR
    };
    // Before opening: opening a pipe waits, and opening some devices has an effect.
    if !is_loop(&rustix::fs::stat(path).ok()?) {
        return None;
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let fd = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    if !is_loop(&fstat(&fd).ok()?) {
        return None;
    }
    // SAFETY: for this opcode the kernel writes one `loop_info64`; every value of its bytes is a valid `LoopInfo`.
    let info = unsafe { ioctl(&fd, Getter::<LOOP_GET_STATUS64, LoopInfo>::new()) }.ok()?;
    let id = |raw: u64| (major(raw), minor(raw));
    Some(LoopFile {
        number: info.number,
        device_id: id(info.device),
        inode: info.inode,
        block_id: (info.rdevice != 0).then(|| id(info.rdevice)),
    })
}

/// `struct loop_info64` of `linux/loop.h`.
#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

const _: () = assert!(size_of::<LoopInfo>() == 232);

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use cardmark_testkit::{LoopDevice, needs};

    use super::*;

    #[test]
    fn the_backing_file_is_known_by_device_and_inode() {
        needs!(Root, LoopDevice);
        let file = tempfile::NamedTempFile::new_in("/var/tmp").unwrap();
        file.as_file().set_len(1 << 20).unwrap();
        let metadata = file.as_file().metadata().unwrap();
        let device = LoopDevice::attach(file.path(), false);
        let found = loop_file(device.path()).unwrap();
        let expected = (major(metadata.dev()), minor(metadata.dev()));
        assert_eq!(found.device_id, expected);
        assert_eq!(found.inode, metadata.ino());
        assert_eq!(found.block_id, None);
        assert!(device.path().ends_with(format!("loop{}", found.number)));
        // The kernel still knows a file that has no name.
        std::fs::remove_file(file.path()).unwrap();
        assert_eq!(loop_file(device.path()), Some(found));
        let above = LoopDevice::attach(device.path(), false);
        let on_device = loop_file(above.path()).unwrap();
        assert_eq!(on_device.block_id, Some((LOOP_MAJOR, found.number)));
    }

    #[test]
    fn anything_else_has_no_backing_file() {
        for path in ["/dev/null", "/", "/nowhere"] {
            assert_eq!(loop_file(Path::new(path)), None, "{path}");
        }
    }
}
