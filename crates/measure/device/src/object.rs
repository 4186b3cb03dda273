//! One operation on the open object by plain system calls.

use std::fs::File;

use cardmark_engine::OpKind;
use rustix::io::{Errno, pread, pwrite, retry_on_intr};

/// Result with the error number that the ports carry.
pub(crate) type IoResult<T> = Result<T, cardmark_core::Errno>;

/// Executes an operation on `buffer`; returns the bytes moved, or the system's error number. A transfer of
/// fewer bytes than requested is a result, and is not retried.
// By force for the reason at `RealBackend::reap`.
#[inline(always)]
pub(crate) fn execute(file: &File, kind: OpKind, buffer: &mut [u8], offset: u64) -> IoResult<u32> {
    let moved = match kind {
        OpKind::Read => retry_on_intr(|| pread(file, &mut *buffer, offset)),
        OpKind::Write => retry_on_intr(|| pwrite(file, buffer, offset)),
        OpKind::WriteSync => retry_on_intr(|| pwrite(file, buffer, offset)).and_then(|moved| {
            retry_on_intr(|| rustix::fs::fdatasync(file))?;
            Ok(moved)
        }),
        OpKind::Sync => retry_on_intr(|| rustix::fs::fsync(file)).map(|()| 0),
    };
    match moved {
        // A block is at most 4 GiB, as `Op::bytes` is.
        Ok(bytes) => Ok(u32::try_from(bytes).unwrap_or(u32::MAX)),
        Err(errno) => Err(number(errno)),
    }
}

/// Makes everything written durable, with all that is known of the file.
pub(crate) fn make_durable(file: &File) -> IoResult<()> {
    retry_on_intr(|| rustix::fs::fsync(file)).map_err(number)
}

/// Makes everything written durable.
pub(crate) fn flush(file: &File) -> IoResult<()> {
    retry_on_intr(|| rustix::fs::fdatasync(file)).map_err(number)
}

/// The error number that results carry.
pub(crate) fn number(errno: Errno) -> cardmark_core::Errno {
    cardmark_core::Errno(errno.raw_os_error())
}

/// The same of an error of the standard library; `otherwise` if it is not the system's.
pub(crate) fn number_of(error: &std::io::Error, otherwise: Errno) -> cardmark_core::Errno {
    number(Errno::from_io_error(error).unwrap_or(otherwise))
}
