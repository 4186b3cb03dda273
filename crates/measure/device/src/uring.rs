//! Queue depths above 1 by `io_uring`.
//!
//! `submit` hands the entry to the kernel at once: if it waited until all completions are taken, the device
//! would run dry (a tenth of the rate of a fast one). `reap` takes an available completion; it calls the kernel
//! to wait only if none is available.

use std::fs::File;
use std::io::IoSliceMut;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use cardmark_engine::{Done, Op, OpKind};
use io_uring::squeue::{Entry, Flags};
use io_uring::{IoUring, opcode, types};
use rustix::io::Errno;

use crate::buffer::AlignedBuffer;
use crate::object::{IoResult, number};
use crate::slot::Idle;

/// Marks the completion of the `fdatasync` linked to a write.
const SYNC_BIT: u64 = 1 << 32;
/// Index of the object among the registered files.
const FILE: types::Fixed = types::Fixed(0);

/// A busy slot. It owns the memory that the kernel uses.
struct Busy {
    op: Op,
    idle: Box<Idle>,
    /// Of a write with `fdatasync`: the write's result.
    written: i32,
}

/// One ring for one object.
pub(crate) struct Uring {
    // Dropped before what it uses.
    ring: IoUring,
    file: Arc<File>,
    /// The busy slots, by number.
    slots: Vec<Option<Busy>>,
    registered: Registered,
    has_registered_file: bool,
    /// The ring itself failed: the error that all operations in flight get.
    broken: Option<cardmark_core::Errno>,
}

impl Uring {
    /// A ring on `file` for operations in these slots.
    pub(crate) fn new(file: Arc<File>, slots: &mut [Option<Box<Idle>>]) -> IoResult<Self> {
        let queue_depth = u32::try_from(slots.len()).unwrap_or(u32::MAX);
        // Twice: a write with `fdatasync` takes two entries.
        let ring = build(queue_depth.saturating_mul(2).max(2))?;
        let has_registered_file = ring.submitter().register_files(&[file.as_raw_fd()]).is_ok();
        let registered = register_buffers(&ring, slots);
        Ok(Self {
            ring,
            file,
            slots: slots.iter().map(|_| None).collect(),
            registered,
            has_registered_file,
            broken: None,
        })
    }

    /// Hands over an operation. A slot that is busy or of another ring is refused.
    #[inline]
    pub(crate) fn submit(&mut self, op: Op, mut idle: Box<Idle>) -> Result<(), Box<Idle>> {
        let number = idle.number;
        if !matches!(self.slots.get(number as usize), Some(None)) {
            return Err(idle);
        }
        self.push(op, number, idle.buffer(&op));
        self.slots[number as usize] = Some(Busy {
            op,
            idle,
            written: 0,
        });
        if self.broken.is_none()
            && let Err(error) = self.ring.submit()
        {
            self.entering_failed(&error);
        }
        Ok(())
    }

    /// Makes the entries of an operation, which `submit` hands to the kernel.
    #[inline]
    fn push(&mut self, op: Op, number: u32, buffer: &mut [u8]) {
        let entry = if op.kind == OpKind::Sync {
            self.sync_entry(types::FsyncFlags::empty())
        } else {
            self.entry(op, number, buffer)
        };
        let entry = entry.user_data(u64::from(number));
        if op.kind != OpKind::WriteSync {
            self.push_entries(&[entry]);
            return;
        }
        let sync = self.sync_entry(types::FsyncFlags::DATASYNC);
        let sync = sync.user_data(u64::from(number) | SYNC_BIT);
        self.push_entries(&[entry.flags(Flags::IO_LINK), sync]);
    }

    /// The entry that makes the object durable.
    fn sync_entry(&self, flags: types::FsyncFlags) -> Entry {
        if self.has_registered_file {
            opcode::Fsync::new(FILE).flags(flags).build()
        } else {
            opcode::Fsync::new(types::Fd(self.file.as_raw_fd()))
                .flags(flags)
                .build()
        }
    }

    /// The entry that reads or writes.
    #[inline]
    fn entry(&self, op: Op, number: u32, buffer: &mut [u8]) -> Entry {
        let start = buffer.as_mut_ptr();
        // As long as the operation, which counts in 32 bits, or empty.
        let bytes = buffer.len() as u32;
        let offset = op.offset;
        let is_read = op.kind == OpKind::Read;
        let first = self.registered.first[usize::from(!is_read)];
        // The kernel registers at most 16384 buffers.
        let registered = first.map(|first| first + number as u16);
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
            entry!(types::Fd(self.file.as_raw_fd()))
        }
    }

    #[inline]
    fn push_entries(&mut self, entries: &[Entry]) {
        // SAFETY: the ring owns the file, and `slots` the memory of an operation until `complete` takes it out
        // after the last completion. If that never comes, `abandon` leaks the memory. `Drop` does one or the other.
        let pushed = unsafe { self.ring.submission().push_multiple(entries) };
        if pushed.is_err() {
            // Cannot be: there are two entries for each place in flight.
            self.broken = Some(number(Errno::NOBUFS));
        }
    }

    /// Waits for the next completion. A slot whose memory the kernel may still use is not given back.
    #[inline]
    pub(crate) fn reap(&mut self) -> (Done, Option<Box<Idle>>) {
        loop {
            let next = self.ring.completion().next();
            if let Some(completion) = next {
                if let Some((done, idle)) =
                    self.complete(completion.user_data(), completion.result())
                {
                    return (done, Some(idle));
                }
            } else if let Some(errno) = self.broken {
                return (self.abandon(errno), None);
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
        match Errno::from_io_error(error).unwrap_or(Errno::IO) {
            Errno::INTR => {}
            // The kernel has no memory for a request now, or wants completions taken first.
            Errno::AGAIN | Errno::BUSY => std::thread::yield_now(),
            errno => self.broken = Some(number(errno)),
        }
    }

    /// Processes a completion; `None` if its operation is not over yet.
    #[inline]
    fn complete(&mut self, user_data: u64, result: i32) -> Option<(Done, Box<Idle>)> {
        let number = (user_data & (SYNC_BIT - 1)) as u32;
        let slot = self.slots.get_mut(number as usize)?;
        let busy = slot.as_mut()?;
        let op = busy.op;
        let outcome = if op.kind != OpKind::WriteSync {
            result
        } else if user_data & SYNC_BIT == 0 {
            busy.written = result;
            return None;
        } else {
            // The kernel cancels the `fdatasync` of a failed or short write.
            let is_whole = u32::try_from(busy.written) == Ok(op.bytes);
            if result < 0 && is_whole {
                result
            } else {
                busy.written
            }
        };
        let idle = slot.take()?.idle;
        if outcome == -Errno::INTR.raw_os_error() {
            // Always accepted: its slot is free.
            let _ = self.submit(op, idle);
            return None;
        }
        let done = Done {
            slot: number,
            outcome: u32::try_from(outcome).map_err(|_| cardmark_core::Errno(-outcome)),
        };
        Some((done, idle))
    }

    /// The ring is broken: reports some operation in flight as failed. Its memory is never freed, because the
    /// kernel may still use it.
    #[cold]
    fn abandon(&mut self, errno: cardmark_core::Errno) -> Done {
        let busy = self.slots.iter_mut().find_map(Option::take);
        let slot = busy.as_ref().map_or(0, |busy| busy.idle.number);
        std::mem::forget(busy);
        Done {
            slot,
            outcome: Err(errno),
        }
    }

    #[cfg(test)]
    pub(crate) fn break_for_test(&mut self, errno: cardmark_core::Errno) {
        self.broken = Some(errno);
    }
}

impl Drop for Uring {
    /// Waits for everything in flight.
    fn drop(&mut self) {
        while self.slots.iter().any(Option::is_some) {
            self.reap();
        }
    }
}

/// Creates the ring with the savings that this kernel supports: completions are processed only on request
/// (Linux 6.1), or at least without interrupting us (5.19).
fn build(entries: u32) -> IoResult<IoUring> {
    let mut deferred = IoUring::builder();
    deferred.setup_single_issuer().setup_defer_taskrun();
    let mut cooperative = IoUring::builder();
    cooperative.setup_coop_taskrun();
    let mut errno = Errno::NOSYS;
    for builder in [deferred, cooperative, IoUring::builder()] {
        match builder.build(entries) {
            Ok(ring) => return Ok(ring),
            Err(error) => errno = Errno::from_io_error(&error).unwrap_or(errno),
        }
        if errno != Errno::INVAL {
            break;
        }
    }
    Err(number(errno))
}

/// Registered memory.
#[derive(Default)]
struct Registered {
    /// Index of the memory of slot 0, for reads and for writes.
    first: [Option<u16>; 2],
    /// Keeps the memory for the kernel.
    _memory: Vec<Arc<AlignedBuffer>>,
}

/// Registers the memory of the slots, which saves the kernel pinning its pages for every operation; a user's
/// limit on locked memory may refuse it, and then it goes without.
fn register_buffers(ring: &IoUring, slots: &mut [Option<Box<Idle>>]) -> Registered {
    let idle = slots.iter().flatten();
    let memory = idle.flat_map(|idle| [idle.reads.whole(), idle.writes.whole()]);
    let mut registered = Registered {
        first: [None; 2],
        _memory: memory.collect(),
    };
    let slices = slots.iter_mut().flatten().map(|idle| {
        let reads = IoSliceMut::new(idle.reads.bytes_mut());
        (reads, IoSliceMut::new(idle.writes.bytes_mut()))
    });
    let (reads, writes): (Vec<_>, Vec<_>) = slices.unzip();
    let mut all = Vec::new();
    for (first, slices) in registered.first.iter_mut().zip([reads, writes]) {
        if slices.iter().all(|slice| !slice.is_empty()) {
            *first = u16::try_from(all.len()).ok();
            all.extend(slices);
        }
    }
    // SAFETY: `IoSliceMut` is guaranteed to have the layout of `iovec`; and `Registered` keeps the memory until
    // the ring is gone.
    let result = unsafe {
        let vectors = std::slice::from_raw_parts(all.as_ptr().cast(), all.len());
        ring.submitter().register_buffers(vectors)
    };
    result.map(|()| registered).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;

    use cardmark_testkit::needs;

    use super::*;
    use crate::buffer::Part;

    const READ: Op = Op {
        kind: OpKind::Read,
        offset: 0,
        bytes: 512,
        slot: 0,
        stream: 0,
    };

    /// One slot, and its memory.
    fn slot() -> (Vec<Option<Box<Idle>>>, Arc<AlignedBuffer>) {
        let mut reads = Arc::new(AlignedBuffer::new(512, 512).unwrap());
        let part = |whole: &mut Arc<AlignedBuffer>, bytes| Part::divide(whole, bytes, 1).unwrap();
        let read_parts = part(&mut reads, 512);
        let none = part(&mut Arc::new(AlignedBuffer::empty()), 0);
        (Idle::slots(read_parts, none), reads)
    }

    /// A ring with an operation in flight, and the memory of that.
    fn busy_ring(file: File) -> (Uring, Arc<AlignedBuffer>) {
        let (mut slots, memory) = slot();
        let mut ring = Uring::new(Arc::new(file), &mut slots).unwrap();
        let idle = slots[0].take().unwrap();
        assert!(ring.submit(READ, idle).is_ok());
        (ring, memory)
    }

    #[test]
    fn a_ring_waits_for_its_operations_and_frees_their_memory() {
        needs!(IoUring);
        let (ring, mut memory) = busy_ring(tempfile::tempfile().unwrap());
        assert!(Arc::get_mut(&mut memory).is_none());
        drop(ring);
        assert!(Arc::get_mut(&mut memory).is_some());
    }

    #[test]
    fn memory_that_the_kernel_may_still_use_is_never_freed() {
        needs!(IoUring);
        for is_reaped in [false, true] {
            // A read from a pipe without a writer does not end.
            let (reader, _writer) = std::io::pipe().unwrap();
            let (mut ring, mut memory) = busy_ring(OwnedFd::from(reader).into());
            ring.break_for_test(number(Errno::IO));
            if is_reaped {
                let (done, idle) = ring.reap();
                assert_eq!(done.outcome, Err(number(Errno::IO)));
                assert!(idle.is_none());
            }
            drop(ring);
            assert!(Arc::get_mut(&mut memory).is_none());
        }
    }

    #[test]
    fn a_slot_of_another_ring_is_refused() {
        needs!(IoUring);
        let (mut ring, _memory) = busy_ring(tempfile::tempfile().unwrap());
        let (mut slots, _other) = slot();
        let other = slots[0].take().unwrap();
        let mut refused = ring.submit(READ, other).unwrap_err();
        refused.number = 7;
        assert!(ring.submit(READ, refused).is_err());
    }
}
