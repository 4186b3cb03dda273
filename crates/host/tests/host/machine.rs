//! The readers on the machine that runs the tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use cardmark_core::FindingKind;
use cardmark_host::{
    Root, block_devices, mounted_directories, read_board, read_counters, read_host, resolve,
};

use crate::finds;

/// Names of block devices by number, straight from the kernel's own list.
fn names_by_number() -> BTreeMap<String, String> {
    let names = fs::read_dir("/sys/class/block")
        .into_iter()
        .flatten()
        .flatten();
    names
        .filter_map(|entry| {
            let number = fs::read_to_string(entry.path().join("dev")).ok()?;
            Some((
                number.trim().to_owned(),
                entry.file_name().into_string().ok()?,
            ))
        })
        .collect()
}

#[test]
fn this_directory_lies_on_the_device_that_its_mount_names() {
    let resolution = resolve(&Root::system(), Path::new(".")).unwrap();
    let here = fs::canonicalize(".").unwrap();
    let text = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mount = text
        .lines()
        .map(|line| line.split(' ').collect::<Vec<_>>())
        .filter(|fields| here.starts_with(fields[4]))
        .max_by_key(|fields| fields[4].len())
        .unwrap();
    let filesystem = mount
        .iter()
        .skip_while(|field| **field != "-")
        .nth(1)
        .copied();
    assert_eq!(resolution.filesystem.as_deref(), filesystem);
    match names_by_number().get(mount[2]) {
        Some(name) => {
            assert_eq!(resolution.layers[1].device.as_ref(), Some(name));
            assert_eq!(resolution.counted, std::slice::from_ref(name));
            assert!(read_counters(&Root::system(), &resolution.counted).is_some());
        }
        None => assert!(
            finds(&resolution, FindingKind::UnknownDevice) || !resolution.counted.is_empty()
        ),
    }
}

#[test]
fn memory_of_this_machine_is_no_disk() {
    let Ok(resolution) = resolve(&Root::system(), Path::new("/dev/shm")) else {
        println!("skipped: there is no /dev/shm here");
        return;
    };
    if resolution.filesystem.as_deref() == Some("tmpfs") {
        assert!(resolution.memory_backed);
        crate::assert_unknown(&resolution);
    }
}

#[test]
fn every_reader_runs_here() {
    let root = Root::system();
    assert!(read_board(&root).memory_bytes.is_some());
    assert!(read_board(&root).cpu_count.is_some());
    assert!(read_host(&root).kernel.is_some());
    for device in block_devices(&root) {
        assert!(device.size_bytes.is_some_and(|size| size > 0));
    }
    for place in mounted_directories(&root) {
        assert!(place.directory.is_dir());
        assert!(!place.disk.name.is_empty());
    }
}
