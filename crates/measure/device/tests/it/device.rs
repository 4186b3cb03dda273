//! A loop device as the block device.

use std::io::Write;

use cardmark_core::Errno;
use cardmark_device::{
    OpenError, RealBackend, claim_device, open_device_for_writing, open_device_readonly,
};
use cardmark_engine::{Backend, Op, OpKind};
use cardmark_testkit::{LoopDevice, needs};

use crate::support::{BLOCK, workload};

#[test]
fn a_device_is_read_and_never_written() {
    needs!(LoopDevice);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&vec![7; 1 << 20]).unwrap();
    let device = LoopDevice::attach(file.path(), false);
    let target = open_device_readonly(device.path()).unwrap();
    let (major, minor) = target.device_id;
    assert_eq!(format!("{major}:{minor}"), device.number());
    assert_eq!(target.size_bytes, 1 << 20);
    assert!(target.direct);
    let mut backend = RealBackend::new(target, 1, Box::new(|| None));
    for depth in [1, 8] {
        backend.prepare(&workload(50, depth)).unwrap();
        for (kind, offset, outcome) in [
            (OpKind::Read, 0, Ok(BLOCK)),
            (OpKind::Read, 1 << 20, Ok(0)),
            (
                OpKind::Write,
                0,
                Err(Errno(rustix::io::Errno::BADF.raw_os_error())),
            ),
        ] {
            backend.submit(Op {
                kind,
                offset,
                bytes: BLOCK,
                slot: 0,
                stream: 0,
            });
            assert_eq!(backend.reap().outcome, outcome, "{kind:?} at {offset}");
        }
    }
    assert_eq!(backend.flush(), Ok(()));
}

/// A device on a file of 1 MiB, which is gone with the device.
fn device() -> (tempfile::NamedTempFile, LoopDevice) {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(1 << 20).unwrap();
    let device = LoopDevice::attach(file.path(), false);
    (file, device)
}

#[test]
fn a_device_that_is_opened_for_writing_is_ours_alone() {
    needs!(LoopDevice);
    let (file, device) = device();
    assert_eq!(
        claim_device(device.path()).unwrap(),
        open_device_readonly(device.path()).unwrap().device_id
    );
    let target = open_device_for_writing(device.path()).unwrap();
    assert!(target.direct);
    assert_eq!(target.size_bytes, 1 << 20);
    for error in [
        open_device_for_writing(device.path()).unwrap_err(),
        claim_device(device.path()).unwrap_err(),
    ] {
        assert!(matches!(error, OpenError::Busy { .. }), "{error:?}");
    }
    let mut backend = RealBackend::new(target, 1, Box::new(|| None));
    backend.prepare(&workload(0, 1)).unwrap();
    backend.submit(Op {
        kind: OpKind::Write,
        offset: 8192,
        bytes: BLOCK,
        slot: 0,
        stream: 0,
    });
    assert_eq!(backend.reap().outcome, Ok(BLOCK));
    assert_eq!(backend.flush(), Ok(()));
    drop(backend);
    // The kernel ends a queue later, and children of other tests hold what is open until they start their program.
    let is_free = || open_device_for_writing(device.path()).is_ok();
    let is_free = (0..6_000).any(|_| {
        is_free() || {
            std::thread::sleep(std::time::Duration::from_millis(10));
            false
        }
    });
    assert!(is_free);
    drop(device);
    let bytes = std::fs::read(file.path()).unwrap();
    let written: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] != 0).collect();
    assert!(written.len() > 4000, "{}", written.len());
    assert!(written.iter().all(|at| (8192..8192 + 4096).contains(at)));
}

#[test]
fn a_write_protected_device_is_told_from_a_missing_right() {
    needs!(LoopDevice);
    let (_file, device) = device();
    let set = |flag: &str| {
        let mut command = std::process::Command::new("blockdev");
        assert!(
            command
                .arg(flag)
                .arg(device.path())
                .status()
                .unwrap()
                .success()
        );
    };
    set("--setro");
    let error = open_device_for_writing(device.path()).unwrap_err();
    assert!(
        matches!(&error, OpenError::WriteProtected { path } if path == device.path()),
        "{error:?}"
    );
    set("--setrw");
    assert!(open_device_for_writing(device.path()).is_ok());
}

#[test]
fn only_block_devices_are_opened_for_writing() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for path in [std::path::Path::new("/dev/null"), file.path()] {
        for error in [
            open_device_for_writing(path).unwrap_err(),
            claim_device(path).unwrap_err(),
        ] {
            assert!(
                matches!(error, OpenError::NotBlockDevice { .. }),
                "{error:?}"
            );
        }
    }
}
