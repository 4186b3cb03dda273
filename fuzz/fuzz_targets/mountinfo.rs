//! No `/proc/self/mountinfo` makes the readers of the host panic, and no path enters the record.
#![no_main]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use cardmark_host::{Root, mounted_directories, resolve};
use libfuzzer_sys::fuzz_target;

/// A board with one card of two partitions and a USB disk, without its mounts.
static HOST: LazyLock<(PathBuf, Root)> = LazyLock::new(|| {
    let base = std::env::temp_dir().join(format!("cardmark-fuzz-{}", std::process::id()));
    let folder = |path: &str| {
        let path = base.join(path);
        fs::create_dir_all(&path).expect("a folder of the tree");
        path
    };
    folder("proc/self");
    let (numbers, names) = (folder("sys/dev/block"), folder("sys/class/block"));
    let file = |path: &Path, name: &str, text: &str| {
        fs::write(path.join(name), text).expect("a file of the tree");
    };
    let device = |path: &str, number: &str, partition: bool| {
        let device = folder(path);
        file(&device, "dev", number);
        file(&device, "size", "62521344");
        if partition {
            file(&device, "partition", "1");
        }
        let name = device.file_name().expect("a name").to_owned();
        symlink(&device, numbers.join(number)).expect("a link of the tree");
        symlink(&device, names.join(name)).expect("a link of the tree");
    };
    device("sys/devices/platform/mmc0/block/mmcblk0", "179:0", false);
    device(
        "sys/devices/platform/mmc0/block/mmcblk0/mmcblk0p1",
        "179:1",
        true,
    );
    device(
        "sys/devices/platform/mmc0/block/mmcblk0/mmcblk0p2",
        "179:2",
        true,
    );
    device("sys/devices/platform/usb1/1-1/block/sda", "8:0", false);
    let table = "directory 179:2 - /\ndirectory 0:30 - /home\ndirectory 8:0 - /mnt/a b\n\
        file 179:2 1048576 /disk.img\nblock 0:6 179:0 /dev/mmcblk0\n";
    file(&base, "stat", table);
    let root = Root::at(&base);
    (base, root)
});

fuzz_target!(|mounts: &[u8]| {
    let (base, root) = &*HOST;
    fs::write(base.join("proc/self/mountinfo"), mounts).expect("the file of mounts");
    for place in mounted_directories(root) {
        assert!(!place.device.contains('/'), "{}", place.device);
    }
    for path in ["/", "/home/pi", "/mnt/a b", "/dev/mmcblk0"] {
        let Ok(resolution) = resolve(root, Path::new(path)) else {
            continue;
        };
        for name in resolution
            .layers
            .iter()
            .filter_map(|layer| layer.device.as_ref())
        {
            assert!(!name.contains('/'), "{name}");
        }
    }
});
