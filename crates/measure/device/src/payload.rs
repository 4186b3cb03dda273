//! Written data: a pool of incompressible bytes, filled once, stamped before every write.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cardmark_core::{
    PAYLOAD_POOL_BYTES, Payload, ReadBack, STAMP_STRIDE_BYTES, fill_payload, stamp_payload,
};
use cardmark_engine::Op;

use crate::buffer::{AlignedBuffer, Part};
use crate::slot::Idle;

/// Number of measurements of the stamping speed; the best counts, so that other load on the processor does not
/// matter.
pub(crate) const RATE_WINDOWS: u32 = 5;
/// Duration of each measurement.
pub(crate) const RATE_SPAN: Duration = Duration::from_millis(4);
/// Block on which it is measured.
pub(crate) const RATE_BLOCK_BYTES: usize = 1 << 20;

/// The pool. Each slot owns a part of it and walks through that part block by block.
#[derive(Debug)]
pub(crate) struct PayloadPool {
    pool: Arc<AlignedBuffer>,
    /// Kind of content of the pool.
    kind: Payload,
    seed: u64,
    alignment_bytes: u32,
    block_bytes: usize,
    part_bytes: usize,
    /// Number of writes so far.
    generation: u64,
    /// For each 4 KiB from the object's start: the last write there. Empty if no read-back is planned.
    last: Vec<Last>,
    /// For each slot the 4 KiB blocks of its last write, as first and end.
    blocks: Vec<(usize, usize)>,
}

/// Last write to a block: the page of the pool in the lower 24 bits, the number of the write from 1 on above
/// them.
/// 0: unknown.
type Last = u64;
pub(crate) const PAGE_BITS: u32 = 24;

impl PayloadPool {
    /// A pool that is not filled yet.
    pub(crate) fn new(seed: u64, alignment_bytes: u32) -> Self {
        Self {
            pool: Arc::new(AlignedBuffer::empty()),
            kind: Payload::Incompressible,
            seed,
            alignment_bytes,
            block_bytes: 0,
            part_bytes: 0,
            generation: 0,
            last: Vec::new(),
            blocks: Vec::new(),
        }
    }

    /// Remembers the last write to each block in the first `bytes` of the object.
    pub(crate) fn keep_in_mind(&mut self, bytes: u64) {
        let pages = usize::try_from(bytes / STAMP_STRIDE_BYTES as u64).unwrap_or(0);
        self.last = vec![0; pages];
    }

    /// Returns whether it remembers writes.
    pub(crate) fn has_memory(&self) -> bool {
        !self.last.is_empty()
    }

    /// Notes a write that is about to begin. Of two writes in flight to one block either may be the last, so that
    /// its content counts as unknown; a slot's write counts as in flight until the slot is used again.
    #[inline]
    fn note(&mut self, slot: usize, offset: u64, bytes: usize, pool_place: usize) {
        let first = page_of(offset);
        let is_whole = (offset as usize | bytes | pool_place).is_multiple_of(STAMP_STRIDE_BYTES);
        let end = first.saturating_add(bytes.div_ceil(STAMP_STRIDE_BYTES));
        let page = pool_place / STAMP_STRIDE_BYTES;
        let end = end.min(self.last.len());
        let first = first.min(end);
        let others = self.blocks.iter().enumerate();
        let clashes = others
            .filter(|(other, _)| *other != slot)
            .any(|(_, &(begin, behind))| begin < end && first < behind);
        if let Some(blocks) = self.blocks.get_mut(slot) {
            *blocks = (first, end);
        }
        let is_known = is_whole && !clashes && self.kind.is_stamped();
        for (index, last) in self.last[first..end].iter_mut().enumerate() {
            *last = match is_known {
                true => (self.generation + 1) << PAGE_BITS | (page + index) as u64,
                false => 0,
            };
        }
    }

    /// Marks the content of a slot's last write as unknown, because the write failed.
    #[cold]
    pub(crate) fn forget(&mut self, slot: u32) {
        let blocks = self.blocks.get(slot as usize).copied();
        let (first, end) = blocks.unwrap_or_default();
        if let Some(last) = self.last.get_mut(first..end) {
            last.fill(0);
        }
    }

    /// Compares data read from `offset` on with the last write there. Nothing is known of it while slots have
    /// parts of the pool.
    pub(crate) fn compare(&mut self, offset: u64, read: &[u8]) -> ReadBack {
        let mut found = ReadBack::default();
        let Some(pool) = Arc::get_mut(&mut self.pool) else {
            return found;
        };
        let first = page_of(offset);
        let mut wanted = [0_u8; STAMP_STRIDE_BYTES];
        for (index, page) in read.chunks_exact(STAMP_STRIDE_BYTES).enumerate() {
            let Some(&last) = self
                .last
                .get(first.saturating_add(index))
                .filter(|last| **last != 0)
            else {
                continue;
            };
            let here = offset + (index * STAMP_STRIDE_BYTES) as u64;
            let from = (last & ((1 << PAGE_BITS) - 1)) as usize * STAMP_STRIDE_BYTES;
            wanted.copy_from_slice(&pool.bytes_mut()[from..from + STAMP_STRIDE_BYTES]);
            stamp_payload(&mut wanted, here, (last >> PAGE_BITS) - 1);
            found.read_bytes += STAMP_STRIDE_BYTES as u64;
            if wanted != page {
                found.lost_bytes += STAMP_STRIDE_BYTES as u64;
                found.first_lost_bytes.get_or_insert(here);
            }
        }
        found
    }

    /// Divides the pool among `queue_depth` slots; fills it at first use and where content of another kind is
    /// wanted. A pool that slots still have parts of is replaced. `None`: no memory.
    pub(crate) fn divide(
        &mut self,
        kind: Payload,
        block_bytes: usize,
        queue_depth: usize,
    ) -> Option<Vec<Part>> {
        let bytes = PAYLOAD_POOL_BYTES.max(block_bytes.checked_mul(queue_depth)?);
        let is_free = Arc::get_mut(&mut self.pool).is_some();
        let is_large_enough = self.pool.len() >= bytes;
        if !is_free || !is_large_enough {
            self.pool = Arc::new(AlignedBuffer::new(bytes, self.alignment_bytes)?);
        }
        if !is_free || !is_large_enough || self.kind != kind {
            self.kind = kind;
            kind.fill(self.seed, Arc::get_mut(&mut self.pool)?.bytes_mut());
        }
        let part_bytes = self.pool.len() / queue_depth;
        self.block_bytes = block_bytes;
        self.part_bytes = part_bytes - part_bytes % block_bytes;
        self.blocks = vec![(0, 0); queue_depth];
        Part::divide(&mut self.pool, self.part_bytes, queue_depth)
    }

    /// Lets all slots begin at the start of their memory; nothing is in flight.
    pub(crate) fn begin_trial(&mut self, slots: &mut [Option<Box<Idle>>]) {
        self.blocks.fill((0, 0));
        for idle in slots.iter_mut().flatten() {
            idle.next = 0;
        }
    }

    /// Prepares a fresh block in the memory of this slot, stamped with its address and the number of the write.
    /// `None` if there is no such memory.
    #[inline]
    pub(crate) fn next(&mut self, idle: &mut Idle, op: &Op) -> Option<()> {
        let bytes = op.bytes as usize;
        if bytes > self.block_bytes {
            return None;
        }
        let part = idle.writes.bytes_mut();
        let start = idle.next;
        let block = part.get_mut(start..start + bytes)?;
        if self.kind.is_stamped() {
            stamp_payload(block, op.offset, self.generation);
        }
        idle.start = start;
        idle.next = start + self.block_bytes;
        if idle.next >= self.part_bytes {
            idle.next = 0;
        }
        if !self.last.is_empty() {
            let slot = idle.number as usize;
            self.note(slot, op.offset, bytes, slot * self.part_bytes + start);
        }
        self.generation += 1;
        Some(())
    }

    /// Returns the bytes per second at which blocks of 1 MiB are stamped: the best of a few short windows.
    /// Measured on separate memory.
    pub(crate) fn measure_rate(&self) -> Option<f64> {
        let mut memory = AlignedBuffer::new(PAYLOAD_POOL_BYTES, self.alignment_bytes)?;
        fill_payload(self.seed, memory.bytes_mut());
        (0..RATE_WINDOWS)
            .map(|_| stamping_rate(memory.bytes_mut()))
            .max_by(f64::total_cmp)
    }
}

/// Returns the number of the 4 KiB block at `offset`. On 32-bit machines the offset may be larger than an address.
#[inline]
fn page_of(offset: u64) -> usize {
    usize::try_from(offset / STAMP_STRIDE_BYTES as u64).unwrap_or(usize::MAX)
}

/// Bytes per second, over one window.
fn stamping_rate(memory: &mut [u8]) -> f64 {
    let start = Instant::now();
    let mut blocks_count = 0;
    loop {
        for block in memory.chunks_mut(RATE_BLOCK_BYTES) {
            stamp_payload(std::hint::black_box(block), blocks_count, blocks_count);
            blocks_count += 1;
        }
        let span = start.elapsed();
        if span >= RATE_SPAN {
            return blocks_count as f64 * RATE_BLOCK_BYTES as f64 / span.as_secs_f64();
        }
    }
}
