//! The back end for real storage: picks by workload how operations reach the object.

use std::path::PathBuf;
use std::sync::Arc;

use cardmark_core::{Access, DeviceCounters, Order, Payload, ReadBack, Workload};
use cardmark_engine::{Backend, Done, Op, OpKind, Pulse};
use rustix::fs::Advice;
use rustix::io::Errno;

use crate::buffer::{AlignedBuffer, Part};
use crate::object::{IoResult, execute, flush, number};
use crate::objects::{Object, Objects};
use crate::payload::PayloadPool;
use crate::slot::Idle;
use crate::target::OpenTarget;
use crate::threads::Threads;
#[cfg(target_pointer_width = "64")]
use crate::uring::Uring;

/// Without O_DIRECT: number of written bytes after which they are made durable.
pub(crate) const BUFFERED_FLUSH_BYTES: u64 = 8 << 20;
/// Number of written operations after which they are made durable, at the latest: small blocks at random
/// positions are far slower.
pub(crate) const BUFFERED_FLUSH_OPERATIONS: u32 = 256;

/// Source of the counters of the device below.
pub type CountersSource = Box<dyn FnMut() -> Option<DeviceCounters>>;

/// Operations on an open file or device. Queue depth 1 uses plain system calls; higher depths use `io_uring`,
/// or threads if that is missing.
///
/// If O_DIRECT was refused (`is_direct` is false), writes go to the page cache. After every 8 MiB or 256
/// operations written in a trial, whichever comes first, [`Backend::reap`] then calls `fdatasync` before it
/// returns the operation; an error of the flush becomes that of the operation. The figures of buffered writing
/// therefore include these flushes, in the rate and in the latency of one operation in 256 or in 8 MiB. In
/// return the flush after the trial is bounded too: otherwise it could take minutes on a slow card, and the
/// device would seem to hang.
pub struct RealBackend {
    way: Submission,
    /// The slots of the workload that was prepared; `None`: busy.
    slots: Vec<Option<Box<Idle>>>,
    layout: Layout,
    /// At queue depth 1: the operation that `reap` executes.
    pending: Option<Op>,
    /// Slots whose operation could not be taken on.
    rejected: Vec<u32>,
    payload: PayloadPool,
    /// For reading back.
    compared: AlignedBuffer,
    objects: Objects,
    /// The objects of the workload that was prepared, one for each stream.
    used: Vec<Object>,
    /// True if buffered writes are made durable during the trial.
    flushes_within: bool,
    /// After a read at queue depth 1, one byte is touched in each stretch of this length; 0: none.
    touch_bytes: usize,
    seed: u64,
    memory_alignment_bytes: u32,
    counters: CountersSource,
    disk_counters: CountersSource,
    /// True if the prepared workload works on the disk below.
    is_on_disk: bool,
    force_threads: bool,
    used_threads: bool,
    refused: Option<cardmark_core::Errno>,
    payload_rate: Option<f64>,
    unflushed: Unflushed,
    pulse: Arc<Pulse>,
}

/// Amount written to the page cache since the last flush.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Unflushed {
    bytes: u64,
    operations: u32,
}

/// Memory of the slots.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Layout {
    slots_count: usize,
    block_bytes: usize,
    has_reads: bool,
    /// Content of the memory for writes.
    writes: Option<Payload>,
}

impl Layout {
    /// What a workload needs. What `now` has beyond it is kept, if the slots can stay: so a queue serves workloads
    /// that read and that write.
    fn new(workload: &Workload, block_bytes: usize, now: Self) -> Self {
        let slots_count = workload.in_flight_count() as usize;
        let stays = (slots_count, block_bytes) == (now.slots_count, now.block_bytes);
        let now = if stays { now } else { Self::default() };
        let writes = workload.writes().then_some(workload.payload);
        Self {
            slots_count,
            block_bytes,
            has_reads: now.has_reads || workload.reads() || workload.manner.lead_read,
            writes: writes.or(now.writes),
        }
    }
}

/// Path on which operations reach the object.
enum Submission {
    Sync,
    #[cfg(target_pointer_width = "64")]
    Uring(Box<Uring>),
    Threads(Threads),
}

impl RealBackend {
    /// Creates a back end on `target`. `seed` determines the payload; `counters` reads the counters of the
    /// block layer below.
    #[must_use]
    pub fn new(target: impl Into<OpenTarget>, seed: u64, counters: CountersSource) -> Self {
        let target = target.into();
        let memory_alignment_bytes = target.memory_alignment_bytes;
        Self {
            way: Submission::Sync,
            slots: Vec::new(),
            layout: Layout::default(),
            pending: None,
            rejected: Vec::new(),
            payload: PayloadPool::new(seed, memory_alignment_bytes),
            compared: AlignedBuffer::empty(),
            used: Vec::new(),
            objects: Objects::new(target),
            flushes_within: false,
            touch_bytes: 0,
            seed,
            memory_alignment_bytes,
            counters,
            disk_counters: Box::new(|| None),
            is_on_disk: false,
            force_threads: false,
            used_threads: false,
            refused: None,
            payload_rate: None,
            unflushed: Unflushed::default(),
            pulse: Arc::default(),
        }
    }

    /// Returns this back end with threads in place of `io_uring`.
    #[must_use]
    pub fn force_threads(mut self) -> Self {
        self.force_threads = true;
        self
    }

    /// Returns this back end with a pulse that can stop it while it erases.
    #[must_use]
    pub fn with_pulse(mut self, pulse: Arc<Pulse>) -> Self {
        self.pulse = pulse;
        self
    }

    /// Returns this back end with a directory for the files of further streams.
    #[must_use]
    pub fn with_directory(mut self, directory: PathBuf) -> Self {
        self.objects.set_directory(directory);
        self
    }

    /// Returns this back end with the block device that it reads if a workload works on the disk below;
    /// `counters` reads that device's counters of the block layer.
    #[must_use]
    pub fn with_disk(mut self, disk: PathBuf, counters: CountersSource) -> Self {
        self.objects.set_disk(disk);
        self.disk_counters = counters;
        self
    }

    /// Returns this back end with a memory of its writes to the first `bytes` of the target, so that
    /// [`Backend::read_back`] can compare.
    #[must_use]
    pub fn keep_in_mind(mut self, bytes: u64) -> Self {
        self.payload.keep_in_mind(bytes);
        self
    }

    /// Returns whether threads replaced `io_uring` in any trial so far.
    #[must_use]
    pub fn used_threads(&self) -> bool {
        self.used_threads
    }

    /// Returns the system's error number if `io_uring` was refused. `None` if it was never requested, as on
    /// 32-bit machines.
    #[must_use]
    pub fn uring_refusal(&self) -> Option<cardmark_core::Errno> {
        self.refused
    }

    /// Returns whether O_DIRECT was accepted; if not, the page cache is in use.
    #[must_use]
    pub fn is_direct(&self) -> bool {
        self.objects.target().direct
    }

    /// Returns whether the device should have been erased before a trial but does not support it.
    #[must_use]
    pub fn kept_content(&self) -> bool {
        self.objects.kept_content()
    }

    /// Returns the speed of payload generation, measured once on blocks of 1 MiB, the best of five windows of 4
    /// ms; `None` if memory is insufficient.
    pub fn payload_rate_bytes_per_s(&mut self) -> Option<f64> {
        if self.payload_rate.is_none() {
            self.payload_rate = self.payload.measure_rate();
        }
        self.payload_rate
    }

    /// Takes an operation on: at queue depth 1 for `reap`, else for the queue; `None` if the prepared workload has
    /// no such slot, it is busy, or its memory is too small.
    #[inline]
    fn accept(&mut self, op: Op) -> Option<()> {
        let slot = self.slots.get_mut(op.slot as usize)?;
        let idle = slot.as_mut()?;
        match op.kind {
            OpKind::Read if op.bytes as usize > idle.reads.bytes_mut().len() => return None,
            OpKind::Read | OpKind::Sync => {}
            OpKind::Write | OpKind::WriteSync => self.payload.next(idle, &op)?,
        }
        match &mut self.way {
            Submission::Sync if self.pending.is_some() => return None,
            Submission::Sync => self.pending = Some(op),
            #[cfg(target_pointer_width = "64")]
            Submission::Uring(ring) => *slot = ring.submit(op, slot.take()?).err(),
            Submission::Threads(threads) => threads.submit(op, slot.take()?),
        }
        Some(())
    }

    /// Waits for everything in flight, and gives the slots up.
    fn retire(&mut self) {
        self.way = Submission::Sync;
        self.pending = None;
        self.rejected.clear();
        self.slots.clear();
        self.layout = Layout::default();
    }

    /// Slots with this memory; `None` if there is not enough.
    fn make_slots(&mut self, layout: Layout) -> Option<Vec<Option<Box<Idle>>>> {
        let count = layout.slots_count;
        let block = layout.block_bytes;
        let none = || Part::divide(&mut Arc::new(AlignedBuffer::empty()), 0, count);
        let reads = if layout.has_reads {
            let bytes = block.checked_mul(count)?;
            let mut reads = AlignedBuffer::new(bytes, self.memory_alignment_bytes)?;
            // Touched now, so that no page is missing inside the clock.
            reads.bytes_mut().fill(1);
            Part::divide(&mut Arc::new(reads), block, count)
        } else {
            none()
        };
        let writes = match layout.writes {
            Some(payload) => self.payload.divide(payload, block, count),
            None => none(),
        };
        Some(Idle::slots(reads?, writes?))
    }

    /// Uses threads if there are several objects, as the old tools do; else `io_uring`.
    fn start_queue(&mut self) -> IoResult<()> {
        let [object] = self.used.as_slice() else {
            let files: Vec<_> = self.used.iter().map(|o| Arc::clone(&o.file)).collect();
            self.way = Submission::Threads(Threads::new(&files)?);
            return Ok(());
        };
        let file = &object.file;
        #[cfg(target_pointer_width = "64")]
        if !self.force_threads && self.refused.is_none() {
            match Uring::new(Arc::clone(file), &mut self.slots) {
                Ok(ring) => {
                    self.way = Submission::Uring(Box::new(ring));
                    return Ok(());
                }
                Err(errno) => self.refused = Some(errno),
            }
        }
        let files = vec![Arc::clone(file); self.slots.len()];
        self.way = Submission::Threads(Threads::new(&files)?);
        self.used_threads = true;
        Ok(())
    }

    /// Brings the objects of a workload into their initial state, and drops previously used objects if they are
    /// others. Returns the number of bytes written.
    fn ready_objects(&mut self, workload: &Workload) -> IoResult<u64> {
        let (ready, written_bytes) = self.objects.ready(workload, self.seed, &self.pulse)?;
        let same = |(one, other): (&Object, &Object)| Arc::ptr_eq(&one.file, &other.file);
        if ready.len() != self.used.len() || !ready.iter().zip(&self.used).all(same) {
            self.retire();
        }
        self.used = ready;
        Ok(written_bytes)
    }

    /// Empties the page cache of the objects, and keeps the kernel from reading ahead of random
    /// reads.
    fn drop_caches(&self, order: Order) -> IoResult<()> {
        let advice = match order {
            Order::Sequential | Order::Spread | Order::Other(_) => Advice::Normal,
            Order::Random | Order::Permuted => Advice::Random,
        };
        self.used
            .iter()
            .try_for_each(|object| object.drop_cache(advice))
    }

    fn is_usable(&self, workload: &Workload) -> bool {
        let is_direct = workload.manner.access == Access::Direct;
        let is_aligned = |object: &Object| {
            let alignment = object.alignment_bytes.max(1);
            !(is_direct && object.direct) || workload.block_bytes.is_multiple_of(alignment)
        };
        let is_countable = u32::try_from(workload.block_bytes).is_ok();
        let is_empty = workload.block_bytes == 0 || workload.in_flight_count() == 0;
        !is_empty && is_countable && self.used.iter().all(is_aligned)
    }
}

impl Backend for RealBackend {
    fn prepare(&mut self, workload: &Workload) -> IoResult<u64> {
        let invalid = number(Errno::INVAL);
        let block = usize::try_from(workload.block_bytes).map_err(|_| invalid)?;
        let written_bytes = self.ready_objects(workload)?;
        if !self.is_usable(workload) {
            return Err(invalid);
        }
        let layout = Layout::new(workload, block, self.layout);
        if layout != self.layout || self.slots.iter().any(Option::is_none) {
            self.retire();
            self.slots = self.make_slots(layout).ok_or(number(Errno::NOMEM))?;
            if layout.slots_count > 1 {
                self.start_queue()?;
            }
            self.layout = layout;
        }
        self.pending = None;
        self.rejected.clear();
        self.rejected.reserve(layout.slots_count);
        self.payload.begin_trial(&mut self.slots);
        self.is_on_disk = workload.manner.object == cardmark_core::Object::Disk;
        let is_cached = workload.manner.access == Access::Cached;
        let is_refused = self.used.iter().any(|object| !object.direct);
        self.flushes_within = is_refused && !is_cached;
        self.touch_bytes = usize::try_from(workload.manner.touch_bytes).map_err(|_| invalid)?;
        if (is_refused && workload.reads()) || is_cached {
            self.drop_caches(workload.order)?;
        }
        Ok(written_bytes)
    }

    #[inline]
    fn submit(&mut self, op: Op) {
        if self.flushes_within && op.kind == OpKind::Write {
            self.unflushed.bytes += u64::from(op.bytes);
            self.unflushed.operations += 1;
        }
        if self.accept(op).is_none() {
            self.rejected.push(op.slot);
        }
    }

    // Inlined by force, with the system call of queue depth 1: a call and a return around each system call
    // make the kernel's part 40 % slower on processors that mispredict returns after it (benchmarks/overhead/RESULTS.md).
    #[inline(always)]
    fn reap(&mut self) -> Done {
        let done = match self.pending.take() {
            Some(op) => self.execute_pending(op),
            None => self.reap_queued(),
        };
        if done.outcome.is_err() {
            self.payload.forget(done.slot);
        }
        if self.unflushed.is_due() {
            return self.flush_within(done);
        }
        done
    }

    fn flush(&mut self) -> IoResult<()> {
        self.unflushed = Unflushed::default();
        self.used.iter().try_for_each(|object| flush(&object.file))
    }

    fn read_back(&mut self, offset: u64, bytes: u64) -> IoResult<Option<ReadBack>> {
        if !self.payload.has_memory() {
            return Ok(None);
        }
        // They have the pool.
        self.retire();
        let bytes = usize::try_from(bytes).map_err(|_| number(Errno::INVAL))?;
        if self.compared.len() < bytes {
            let memory = AlignedBuffer::new(bytes, self.memory_alignment_bytes);
            self.compared = memory.ok_or(number(Errno::NOMEM))?;
        }
        let target = self.objects.target();
        if !target.direct {
            target.drop_cache(Advice::Random)?;
        }
        let read = &mut self.compared.bytes_mut()[..bytes];
        let moved = execute(&target.file, OpKind::Read, read, offset)?;
        // As for any operation, fewer bytes than requested are an error without number.
        let is_whole = moved as usize == bytes;
        is_whole
            .then(|| Some(self.payload.compare(offset, read)))
            .ok_or(cardmark_core::Errno::NONE)
    }

    fn counters(&mut self) -> Option<DeviceCounters> {
        if self.is_on_disk {
            (self.disk_counters)()
        } else {
            (self.counters)()
        }
    }
}

impl RealBackend {
    /// Executes the operation of queue depth 1.
    #[inline(always)]
    fn execute_pending(&mut self, op: Op) -> Done {
        let slot = self.slots.get_mut(op.slot as usize);
        let (Some(object), Some(Some(idle))) = (self.used.first(), slot) else {
            return rejection(op.slot);
        };
        let buffer = idle.buffer(&op);
        let outcome = execute(&object.file, op.kind, buffer, op.offset);
        if self.touch_bytes > 0 && op.kind == OpKind::Read {
            touch(buffer, self.touch_bytes);
        }
        Done {
            slot: op.slot,
            outcome,
        }
    }

    /// Waits for the next completion of a queue.
    fn reap_queued(&mut self) -> Done {
        if let Some(slot) = self.rejected.pop() {
            return rejection(slot);
        }
        let (done, idle) = match &mut self.way {
            Submission::Sync => (rejection(0), None),
            #[cfg(target_pointer_width = "64")]
            Submission::Uring(ring) => ring.reap(),
            Submission::Threads(threads) => threads.reap(),
        };
        if let Some(idle) = idle
            && let Some(slot) = self.slots.get_mut(idle.number as usize)
        {
            *slot = Some(idle);
        }
        done
    }

    /// Makes all written data durable, as a part of the operation that is done.
    #[cold]
    fn flush_within(&mut self, done: Done) -> Done {
        let outcome = self.flush().and(done.outcome);
        Done { outcome, ..done }
    }
}

impl Unflushed {
    #[inline]
    fn is_due(self) -> bool {
        self.bytes >= BUFFERED_FLUSH_BYTES || self.operations >= BUFFERED_FLUSH_OPERATIONS
    }
}

/// Touches one byte in every `stride` bytes, as hdparm does to be sure that all of the data has arrived.
fn touch(buffer: &mut [u8], stride: usize) {
    for byte in buffer.iter_mut().step_by(stride) {
        *byte = std::hint::black_box(*byte) & 1;
    }
}

/// Returns the result of an operation outside the prepared workload.
#[cold]
fn rejection(slot: u32) -> Done {
    Done {
        slot,
        outcome: Err(number(Errno::INVAL)),
    }
}

impl std::fmt::Debug for RealBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RealBackend")
            .field("objects", &self.objects)
            .field("queue_depth", &self.slots.len())
            .field("used_threads", &self.used_threads)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    use crate::TestFile;
    use cardmark_core::{Flush, Manner, Payload, StopRule};
    #[cfg(target_pointer_width = "64")]
    use cardmark_testkit::needs;

    fn workload(read_share_percent: u8, queue_depth: u32) -> Workload {
        Workload {
            id: "test".to_owned(),
            read_share_percent,
            order: Order::Random,
            block_bytes: 4096,
            queue_depth,
            span_bytes: 1 << 20,
            flush: Flush::AfterTrial,
            payload: Payload::Incompressible,
            ramp_ns: 0,
            stop: StopRule::default(),
            latency_metrics: false,
            manner: Manner::default(),
            procedure: None,
            rounds: cardmark_core::Rounds::default(),
        }
    }

    fn on_readonly_file() -> RealBackend {
        let path = tempfile::NamedTempFile::new().unwrap();
        let target = OpenTarget {
            file: File::open(path.path()).unwrap(),
            direct: false,
            named: false,
            nocow: false,
            alignment_bytes: 512,
            memory_alignment_bytes: 512,
            size_bytes: 1 << 20,
            device_id: (0, 0),
        };
        RealBackend::new(target, 1, Box::new(|| None))
    }

    /// Writes one block after the other; the most that waited for a flush after one was done.
    fn most_unflushed(direct: bool, block: u64, depth: u32, kind: OpKind) -> Unflushed {
        let target = TestFile::create(&std::env::temp_dir(), 0).unwrap();
        let mut backend = RealBackend::new(target, 1, Box::new(|| None));
        let mut writing = workload(0, depth);
        writing.block_bytes = block;
        backend.prepare(&writing).unwrap();
        // Only a setting: how the file is open does not matter here.
        backend.flushes_within = !direct;
        let mut most = Unflushed::default();
        for number in 0..300 {
            backend.submit(Op {
                kind,
                offset: number * block % (1 << 20),
                bytes: u32::try_from(block).unwrap(),
                slot: 0,
                stream: 0,
            });
            assert_eq!(backend.reap().outcome.map(u64::from), Ok(block));
            most.bytes = most.bytes.max(backend.unflushed.bytes);
            most.operations = most.operations.max(backend.unflushed.operations);
        }
        backend.flush().unwrap();
        assert_eq!(backend.unflushed, Unflushed::default());
        most
    }

    #[test]
    fn buffered_writes_are_flushed_on_the_way() {
        let unflushed = |bytes, operations| Unflushed { bytes, operations };
        for depth in [1, 4] {
            let most = |direct, block, kind| most_unflushed(direct, block, depth, kind);
            assert_eq!(most(false, 4096, OpKind::Write), unflushed(255 << 12, 255));
            assert_eq!(most(false, 1 << 17, OpKind::Write), unflushed(63 << 17, 63));
            assert_eq!(most(false, 4096, OpKind::WriteSync), unflushed(0, 0));
            assert_eq!(most(true, 4096, OpKind::Write), unflushed(0, 0));
        }
    }

    #[test]
    fn a_flush_on_the_way_that_fails_is_the_error_of_the_operation() {
        let mut backend = on_readonly_file();
        backend.prepare(&workload(50, 1)).unwrap();
        // Nothing can be made durable in a pipe.
        let (reader, _writer) = std::io::pipe().unwrap();
        backend.used[0].file = Arc::new(File::from(std::os::fd::OwnedFd::from(reader)));
        let done = Done {
            slot: 3,
            outcome: Ok(4096),
        };
        let outcome = Err(number(Errno::INVAL));
        assert_eq!(backend.flush_within(done), Done { slot: 3, outcome });
        let outcome = Err(number(Errno::IO));
        let mut backend = on_readonly_file();
        assert_eq!(
            backend.flush_within(Done { slot: 3, outcome }).outcome,
            outcome
        );
    }

    #[test]
    fn an_error_of_the_system_is_an_outcome() {
        for depth in [1, 4] {
            for threads in [false, true] {
                for kind in [OpKind::Write, OpKind::WriteSync] {
                    let mut backend = on_readonly_file();
                    backend.force_threads = threads;
                    backend.prepare(&workload(0, depth)).unwrap();
                    backend.submit(Op {
                        kind,
                        offset: 0,
                        bytes: 4096,
                        slot: 0,
                        stream: 0,
                    });
                    let expected = Err(number(Errno::BADF));
                    assert_eq!(
                        backend.reap(),
                        Done {
                            slot: 0,
                            outcome: expected
                        }
                    );
                }
            }
        }
    }

    #[test]
    fn an_operation_outside_the_workload_is_refused_not_executed() {
        for depth in [1, 4] {
            let mut backend = on_readonly_file();
            backend.submit(Op {
                kind: OpKind::Read,
                offset: 0,
                bytes: 512,
                slot: 0,
                stream: 0,
            });
            assert_eq!(backend.reap().outcome, Err(number(Errno::INVAL)));
            backend.prepare(&workload(100, depth)).unwrap();
            for (bytes, slot) in [(8192, 0), (4096, depth), (4096, 900)] {
                backend.submit(Op {
                    kind: OpKind::Read,
                    offset: 0,
                    bytes,
                    slot,
                    stream: 0,
                });
                assert_eq!(backend.reap().outcome, Err(number(Errno::INVAL)));
            }
            backend.submit(Op {
                kind: OpKind::Write,
                offset: 0,
                bytes: 4096,
                slot: 0,
                stream: 0,
            });
            assert_eq!(
                backend.reap().outcome,
                Err(number(Errno::INVAL)),
                "no payload prepared"
            );
        }
    }

    #[test]
    fn a_busy_slot_takes_no_second_operation() {
        for (depth, threads) in [(1, false), (4, false), (4, true)] {
            let mut backend = on_readonly_file();
            backend.force_threads = threads;
            backend.prepare(&workload(100, depth)).unwrap();
            let read = Op {
                kind: OpKind::Read,
                offset: 0,
                bytes: 4096,
                slot: depth - 1,
                stream: 0,
            };
            backend.submit(read);
            backend.submit(read);
            let mut outcomes = [backend.reap(), backend.reap()].map(|done| done.outcome);
            outcomes.sort_unstable();
            assert_eq!(
                outcomes,
                [Ok(0), Err(number(Errno::INVAL))],
                "depth {depth}"
            );
            backend.submit(read);
            assert_eq!(backend.reap().outcome, Ok(0), "free again");
        }
    }

    #[cfg(target_pointer_width = "64")]
    #[test]
    fn a_broken_ring_fails_what_is_in_flight() {
        needs!(IoUring);
        let mut backend = on_readonly_file();
        backend.prepare(&workload(100, 2)).unwrap();
        let Submission::Uring(ring) = &mut backend.way else {
            panic!("threads in place of io_uring");
        };
        ring.break_for_test(number(Errno::IO));
        for slot in 0..2 {
            backend.submit(Op {
                kind: OpKind::Read,
                offset: 0,
                bytes: 4096,
                slot,
                stream: 0,
            });
        }
        let mut slots = [backend.reap(), backend.reap()].map(|done| (done.slot, done.outcome));
        slots.sort_unstable();
        assert_eq!(slots, [0, 1].map(|slot| (slot, Err(number(Errno::IO)))));
        backend.prepare(&workload(100, 2)).unwrap();
        backend.submit(Op {
            kind: OpKind::Read,
            offset: 0,
            bytes: 4096,
            slot: 1,
            stream: 0,
        });
        assert_eq!(
            backend.reap(),
            Done {
                slot: 1,
                outcome: Ok(0)
            }
        );
    }
}
