//! A loop device as the block device.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use cardmark_device::{RealBackend, open_device_readonly};
use cardmark_engine::{Backend, Op, OpKind};

use crate::support::{BLOCK, has, workload};

/// A loop device that is taken down again.
struct Loop(PathBuf);

impl Loop {
    fn on(file: &std::path::Path) -> Option<Self> {
        let made = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(file)
            .output()
            .ok()?;
        let name = String::from_utf8(made.stdout).ok()?;
        made.status.success().then(|| Self(name.trim().into()))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup")
            .arg("--detach")
            .arg(&self.0)
            .status();
    }
}

#[test]
fn a_device_is_read_and_never_written() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&vec![7; 1 << 20]).unwrap();
    let device = Loop::on(file.path());
    if !has("root and a loop device", device.is_some()) {
        return;
    }
    let device = device.unwrap();
    let target = open_device_readonly(&device.0).unwrap();
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
                Err(rustix::io::Errno::BADF.raw_os_error()),
            ),
        ] {
            backend.submit(Op {
                kind,
                offset,
                bytes: BLOCK,
                slot: 0,
            });
            assert_eq!(backend.reap().outcome, outcome, "{kind:?} at {offset}");
        }
    }
    assert_eq!(backend.flush(), Ok(()));
}
