//! Queue depths above 1 by `io_uring`.
//!
//! `submit` hands the entry to the kernel at once: if it waited until all completions are taken, the device
//! would run dry (a tenth of the rate of a fast one). `reap` takes an available completion; it calls the kernel
//! to wait only if none is available.

use std::fs::File;
use std::io::IoSlice;
use std::os::fd::{AsRawFd, RawFd};

use cardmark_engine::{Done, Op, OpKind};
use io_uring::squeue::{Entry, Flags};
use io_uring::{IoUring, opcode, types};
use rustix::io::Errno;

use crate::buffer::Stretch;

/// Marks the completion of the `fdatasync` linked to a write.
const SYNC_BIT: u64 = 1 << 32;
/// Index of the object among the registered files.
const FILE: types::Fixed = types::Fixed(0);

/// A place in flight.
#[derive(Clone, Copy)]
struct Slot {
    /// The operation in flight in it.
    job: Option<(Op, Stretch)>,
    /// Of a write with `fdatasync`: the write's result.
    written: i32,
}

/// One ring for one object.
pub(crate) struct Uring {
    ring: IoUring,
    fd: RawFd,
    slots: Vec<Slot>,
    in_flight: usize,
    /// Registered index of the buffers for reads and for writes.
    registered: [Option<u16>; 2],
    has_registered_file: bool,
    /// The ring itself failed: the error that all operations in flight get.
    broken: Option<i32>,
}

impl Uring {
    /// A ring for `queue_depth` operations on `file`, which must live as long. The two stretches
    /// hold all buffers for reads and all for writes.
    pub(crate) fn new(
        file: &File,
        queue_depth: u32,
        buffers: [Option<Stretch>; 2],
    ) -> Result<Self, i32> {
        // Twice: a write with `fdatasync` takes two entries.
        let ring = build(queue_depth.saturating_mul(2).max(2))?;
        let fd = file.as_raw_fd();
        let has_registered_file = ring.submitter().register_files(&[fd]).is_ok();
        let registered = register_buffers(&ring, buffers);
        let idle = Slot {
            job: None,
            written: 0,
        };
        Ok(Self {
            ring,
            fd,
            slots: vec![idle; queue_depth as usize],
            in_flight: 0,
            registered,
            has_registered_file,
            broken: None,
        })
    }

    /// Number of places in flight.
    pub(crate) fn queue_depth(&self) -> usize {
        self.slots.len()
    }

    /// Hands over an operation on this part of the registered buffers.
    #[inline]
    pub(crate) fn submit(&mut self, op: Op, stretch: Stretch) {
        let Some(slot) = self.slots.get_mut(op.slot as usize) else {
            return;
        };
        slot.job = Some((op, stretch));
        self.in_flight += 1;
        self.push(op, stretch);
        if self.broken.is_none()
            && let Err(error) = self.ring.submit()
        {
            self.entering_failed(&error);
        }
    }

    #[inline]
    fn push(&mut self, op: Op, stretch: Stretch) {
        let entry = if op.kind == OpKind::Sync {
            self.sync_entry(types::FsyncFlags::empty())
        } else {
            self.entry(op, stretch)
        };
        let entry = entry.user_data(u64::from(op.slot));
        if op.kind != OpKind::WriteSync {
            self.push_entries(&[entry]);
            return;
        }
        let sync = self.sync_entry(types::FsyncFlags::DATASYNC);
        let sync = sync.user_data(u64::from(op.slot) | SYNC_BIT);
        self.push_entries(&[entry.flags(Flags::IO_LINK), sync]);
    }

    /// The entry that makes the object durable.
    fn sync_entry(&self, flags: types::FsyncFlags) -> Entry {
        if self.has_registered_file {
            opcode::Fsync::new(FILE).flags(flags).build()
        } else {
            opcode::Fsync::new(types::Fd(self.fd)).flags(flags).build()
        }
    }

    /// The entry that reads or writes.
    #[inline]
    fn entry(&self, op: Op, stretch: Stretch) -> Entry {
        let start = stretch.start();
        // A stretch is as long as the operation, which counts in 32 bits.
        let bytes = op.bytes;
        let offset = op.offset;
        let is_read = op.kind == OpKind::Read;
        let registered = self.registered[usize::from(!is_read)];
        macro_rules! entry {
            ($fd:expr) => {
                match (is_read, registered) {
                    (true, Some(index)) => opcode::ReadFixed::new($fd, start, bytes, index)
                        .offset(offset)
                        .build(),
                    (true, None) => opcode::Read::new($fd, start, bytes).offset(offset).build(),
                    (false, Some(index)) => opcode::WriteFixed::new($fd, start, bytes, index)
                        .offset(offset)
                        .build(),
                    (false, None) => opcode::Write::new($fd, start, bytes).offset(offset).build(),
                }
            };
        }
        if self.has_registered_file {
            entry!(FILE)
        } else {
            entry!(types::Fd(self.fd))
        }
    }

    #[inline]
    fn push_entries(&mut self, entries: &[Entry]) {
        // SAFETY: file and buffers outlive the operation: the back end drops them after the ring,
        // and keeps them for ever where the ring cannot be drained.
        let pushed = unsafe { self.ring.submission().push_multiple(entries) };
        if pushed.is_err() {
            // Cannot be: there are two entries for each place in flight.
            self.broken = Some(Errno::NOBUFS.raw_os_error());
        }
    }

    /// Waits for the next completion.
    #[inline]
    pub(crate) fn reap(&mut self) -> Done {
        loop {
            let next = self.ring.completion().next();
            if let Some(completion) = next {
                if let Some(done) = self.complete(completion.user_data(), completion.result()) {
                    return done;
                }
            } else if let Some(errno) = self.broken {
                return self.abandon(errno);
            } else {
                self.enter();
            }
        }
    }

    /// Waits for a completion, and submits entries that the kernel rejected before.
    #[inline]
    fn enter(&mut self) {
        if let Err(error) = self.ring.submit_and_wait(1) {
            self.entering_failed(&error);
        }
    }

    #[cold]
    fn entering_failed(&mut self, error: &std::io::Error) {
        let errno = error.raw_os_error().unwrap_or(Errno::IO.raw_os_error());
        match Errno::from_raw_os_error(errno) {
            Errno::INTR => {}
            // The kernel has no memory for a request now, or wants completions taken first.
            Errno::AGAIN | Errno::BUSY => std::thread::yield_now(),
            _ => self.broken = Some(errno),
        }
    }

    /// Processes a completion; `None` if its operation is not over yet.
    #[inline]
    fn complete(&mut self, user_data: u64, result: i32) -> Option<Done> {
        let number = (user_data & (SYNC_BIT - 1)) as u32;
        let slot = self.slots.get_mut(number as usize)?;
        let (op, stretch) = slot.job?;
        let outcome = if op.kind != OpKind::WriteSync {
            result
        } else if user_data & SYNC_BIT == 0 {
            slot.written = result;
            return None;
        } else {
            // The kernel cancels the `fdatasync` of a failed or short write.
            let is_whole = u32::try_from(slot.written) == Ok(op.bytes);
            if result < 0 && is_whole {
                result
            } else {
                slot.written
            }
        };
        if outcome == -Errno::INTR.raw_os_error() {
            self.push(op, stretch);
            return None;
        }
        slot.job = None;
        self.in_flight -= 1;
        Some(Done {
            slot: number,
            outcome: u32::try_from(outcome).map_err(|_| -outcome),
        })
    }

    /// The ring is broken: reports some operation in flight as failed.
    #[cold]
    fn abandon(&mut self, errno: i32) -> Done {
        let found = self
            .slots
            .iter()
            .position(|slot| slot.job.is_some())
            .unwrap_or(0);
        if let Some(slot) = self.slots.get_mut(found) {
            slot.job = None;
        }
        self.in_flight = self.in_flight.saturating_sub(1);
        let slot = u32::try_from(found).unwrap_or(0);
        Done {
            slot,
            outcome: Err(errno),
        }
    }

    #[cfg(test)]
    pub(crate) fn break_for_test(&mut self, errno: i32) {
        self.broken = Some(errno);
    }

    /// Waits for everything in flight; whether the kernel has let go of the buffers.
    pub(crate) fn drain(&mut self) -> bool {
        while self.in_flight > 0 && self.broken.is_none() {
            self.reap();
        }
        self.broken.is_none()
    }
}

/// Creates the ring with the savings that this kernel supports: completions are processed only on request
/// (Linux 6.1), or at least without interrupting us (5.19).
fn build(entries: u32) -> Result<IoUring, i32> {
    let mut deferred = IoUring::builder();
    deferred.setup_single_issuer().setup_defer_taskrun();
    let mut cooperative = IoUring::builder();
    cooperative.setup_coop_taskrun();
    let mut errno = Errno::NOSYS.raw_os_error();
    for builder in [deferred, cooperative, IoUring::builder()] {
        match builder.build(entries) {
            Ok(ring) => return Ok(ring),
            Err(error) => errno = error.raw_os_error().unwrap_or(errno),
        }
        if errno != Errno::INVAL.raw_os_error() {
            break;
        }
    }
    Err(errno)
}

/// Registers the buffers, which saves the kernel pinning their pages for every operation; a
/// user's limit on locked memory may refuse it, and then it goes without.
fn register_buffers(ring: &IoUring, buffers: [Option<Stretch>; 2]) -> [Option<u16>; 2] {
    let mut indices = [None; 2];
    let mut slices: Vec<IoSlice<'_>> = Vec::new();
    let mut next = 0u16;
    for (index, stretch) in indices.iter_mut().zip(buffers) {
        let Some(stretch) = stretch else { continue };
        // SAFETY: the back end owns this memory and nothing is in flight on it yet; the slice is
        // only used for its address.
        let bytes: &[u8] = unsafe { stretch.as_mut_slice() };
        slices.push(IoSlice::new(bytes));
        *index = Some(next);
        next += 1;
    }
    // SAFETY: `IoSlice` is guaranteed to have the layout of `iovec`.
    let vectors = unsafe { std::slice::from_raw_parts(slices.as_ptr().cast(), slices.len()) };
    // SAFETY: the memory stays until the ring is gone: the back end drops it after the ring.
    let result = unsafe { ring.submitter().register_buffers(vectors) };
    if result.is_ok() { indices } else { [None; 2] }
}
