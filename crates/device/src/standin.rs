//! Stands in for the safe opening for writing until that is there.

use std::path::Path;

use rustix::fs::{Mode, OFlags, major, minor};

use crate::error::OpenError;
use crate::target::OpenTarget;

/// Opens a block device for writing.
///
/// # Errors
/// When it cannot be opened.
pub fn open_device_for_writing(path: &Path) -> Result<OpenTarget, OpenError> {
    let read = crate::open_device_readonly(path)?;
    let fail = |errno| OpenError::of_device(path, errno);
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::EXCL | OFlags::DIRECT;
    let fd = rustix::fs::open(path, flags, Mode::empty()).map_err(fail)?;
    let device = rustix::fs::fstat(&fd).map_err(fail)?.st_rdev;
    Ok(OpenTarget {
        file: fd.into(),
        device_id: (major(device), minor(device)),
        ..read
    })
}
