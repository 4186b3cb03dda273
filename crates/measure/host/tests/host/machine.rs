//! The readers on the machine that runs the tests.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use cardmark_core::FindingKind;
use cardmark_host::{
    CounterReader, KernelLog, LogAccess, Root, block_devices, mounted_directories, read_board,
    read_host, resolve,
};
use cardmark_testkit::{LoopDevice, Mount, needs, run_as_nobody};

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
    assert_eq!(resolution.device_id, id(fs::metadata(".").unwrap().dev()));
    match names_by_number().get(mount[2]) {
        Some(name) => {
            assert_eq!(resolution.layers[1].device.as_ref(), Some(name));
            assert_eq!(resolution.counted, std::slice::from_ref(name));
            let mut counters = CounterReader::new(&Root::system(), &resolution.counted);
            assert!(counters.read().is_some());
        }
        None => assert!(
            finds(&resolution, FindingKind::UnknownDevice) || !resolution.counted.is_empty()
        ),
    }
}

#[test]
fn memory_of_this_machine_is_no_disk() {
    needs!(Root);
    let scratch = tempfile::tempdir().unwrap();
    let mount = Mount::tmpfs(scratch.path(), 1 << 20);
    let resolution = resolve(&Root::system(), mount.folder()).unwrap();
    assert_eq!(resolution.filesystem.as_deref(), Some("tmpfs"));
    assert!(resolution.memory_backed);
    crate::assert_unknown(&resolution);
    assert_eq!(
        resolution.device_id,
        id(fs::metadata(mount.folder()).unwrap().dev())
    );
    let around = resolve(&Root::system(), scratch.path()).unwrap();
    assert_ne!(around.device_id, resolution.device_id);
}

fn id(raw: u64) -> (u32, u32) {
    (rustix::fs::major(raw), rustix::fs::minor(raw))
}

#[test]
fn a_device_of_this_machine_has_its_own_number() {
    needs!(LoopDevice);
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(1 << 20).unwrap();
    let device = LoopDevice::attach(file.path(), false);
    let resolution = resolve(&Root::system(), device.path()).unwrap();
    let (major, minor) = resolution.device_id;
    assert_eq!(format!("{major}:{minor}"), device.number());
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

#[test]
fn a_log_that_only_root_may_read_says_so() {
    if rustix::process::geteuid().is_root() {
        return run_as_nobody("a_log_that_only_root_may_read_says_so");
    }
    let mut log = KernelLog::open(&Root::system());
    let is_restricted = fs::read_to_string("/proc/sys/kernel/dmesg_restrict");
    if is_restricted.is_ok_and(|text| text.trim() == "1") && Path::new("/dev/kmsg").exists() {
        assert_eq!(log.access(), LogAccess::NotPermitted);
        assert_eq!(log.lines(&|_| true), []);
    }
}
