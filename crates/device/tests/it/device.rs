//! A loop device as the block device.

use std::io::Write;

use cardmark_device::{RealBackend, open_device_readonly};
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
                Err(rustix::io::Errno::BADF.raw_os_error()),
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
