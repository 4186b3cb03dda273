//! Were the operating system and a device on all the time?

use crate::{Resolution, Root};

/// Returns the id that the kernel draws at each start.
#[must_use]
pub fn boot_id(root: &Root) -> Option<String> {
    root.line("/proc/sys/kernel/random/boot_id")
}

/// Returns the sequence numbers of the devices below a target, such as `17` or `9+3`. The kernel (since 5.15) gives a
/// device the next number when it appears, or when its medium changes. `None` if it shows none.
#[must_use]
pub fn device_numbers(root: &Root, resolution: &Resolution) -> Option<String> {
    let devices = resolution
        .layers
        .iter()
        .filter_map(|layer| layer.device.as_deref());
    let numbers: Vec<String> = devices
        .filter_map(|device| root.line(format!("/sys/block/{device}/diskseq")))
        .filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        .collect();
    (!numbers.is_empty()).then(|| numbers.join("+"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::resolve;

    #[test]
    fn a_device_that_appears_again_has_another_number() {
        let tree = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = tree.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("stat", "block 0:6 179:0 /dev/mmcblk0\n");
        write("proc/self/mountinfo", "");
        write("proc/sys/kernel/random/boot_id", "6a0e-77\n");
        write("sys/block/mmcblk0/dev", "179:0\n");
        write("sys/block/mmcblk0/size", "62521344\n");
        fs::create_dir_all(tree.path().join("sys/dev/block")).unwrap();
        let link = tree.path().join("sys/dev/block/179:0");
        std::os::unix::fs::symlink("../../block/mmcblk0", link).unwrap();
        let numbers = || {
            let root = Root::at(tree.path());
            let resolution = resolve(&root, "/dev/mmcblk0".as_ref()).unwrap();
            device_numbers(&root, &resolution)
        };
        assert_eq!(numbers(), None);
        write("sys/block/mmcblk0/diskseq", "17\n");
        assert_eq!(numbers().as_deref(), Some("17"));
        write("sys/block/mmcblk0/diskseq", "18\n");
        assert_eq!(numbers().as_deref(), Some("18"));
        let boot = boot_id(&Root::at(tree.path()));
        assert_eq!(boot.as_deref(), Some("6a0e-77"));
    }
}
