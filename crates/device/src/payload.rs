//! Written data: a pool of incompressible bytes, filled once, stamped before every write.

use std::time::{Duration, Instant};

use cardmark_core::{
    PAYLOAD_POOL_BYTES, Payload, ReadBack, STAMP_STRIDE_BYTES, fill_payload, stamp_payload,
};

use crate::buffer::{AlignedBuffer, Stretch};

/// Number of measurements of the stamping speed; the best counts, so that other load on the processor does not
/// matter.
const RATE_WINDOWS: u32 = 5;
/// Duration of each measurement.
const RATE_SPAN: Duration = Duration::from_millis(4);
/// Block on which it is measured.
const RATE_BLOCK_BYTES: usize = 1 << 20;

/// The pool. Each place in flight owns a part of it and walks through that part block by block,
/// so that an operation in flight is never stamped over.
#[derive(Debug)]
pub(crate) struct PayloadPool {
    pool: AlignedBuffer,
    /// Kind of content of the pool.
    kind: Payload,
    seed: u64,
    alignment: usize,
    block_bytes: usize,
    part_bytes: usize,
    /// Start of the next write of each slot, within its part.
    cursors: Vec<usize>,
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
const PAGE_BITS: u32 = 24;

impl PayloadPool {
    /// A pool that is not filled yet.
    pub(crate) fn new(seed: u64, alignment: usize) -> Self {
        Self {
            pool: AlignedBuffer::empty(),
            kind: Payload::Incompressible,
            seed,
            alignment,
            block_bytes: 0,
            part_bytes: 0,
            cursors: Vec::new(),
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
        let first = usize::try_from(offset).unwrap_or(usize::MAX) / STAMP_STRIDE_BYTES;
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

    /// Compares data read from `offset` on with the last write there.
    pub(crate) fn compare(&mut self, offset: u64, read: &[u8]) -> ReadBack {
        let mut found = ReadBack::default();
        let first = usize::try_from(offset).unwrap_or(usize::MAX) / STAMP_STRIDE_BYTES;
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
            wanted.copy_from_slice(&self.pool.bytes_mut()[from..from + STAMP_STRIDE_BYTES]);
            stamp_payload(&mut wanted, here, (last >> PAGE_BITS) - 1);
            found.read_bytes += STAMP_STRIDE_BYTES as u64;
            if wanted != page {
                found.lost_bytes += STAMP_STRIDE_BYTES as u64;
                found.first_lost_bytes.get_or_insert(here);
            }
        }
        found
    }

    /// Returns whether the pool would have to move for this queue. Nothing may be in flight then.
    pub(crate) fn must_grow(&self, block_bytes: usize, queue_depth: usize) -> bool {
        self.pool.len() < pool_bytes(block_bytes, queue_depth)
    }

    /// Divides the pool among `queue_depth` slots; fills it at first use and where content of
    /// another kind is wanted. Nothing may be in flight. `None`: no memory.
    pub(crate) fn prepare(
        &mut self,
        kind: Payload,
        block_bytes: usize,
        queue_depth: usize,
    ) -> Option<()> {
        let must_grow = self.must_grow(block_bytes, queue_depth);
        if must_grow {
            let bytes = pool_bytes(block_bytes, queue_depth);
            self.pool = AlignedBuffer::new(bytes, self.alignment)?;
        }
        if must_grow || self.kind != kind {
            self.kind = kind;
            kind.fill(self.seed, self.pool.bytes_mut());
        }
        let part = self.pool.len() / queue_depth.max(1);
        self.block_bytes = block_bytes;
        self.part_bytes = part - part % block_bytes.max(1);
        self.cursors.clear();
        self.cursors.resize(queue_depth, 0);
        self.blocks.clear();
        self.blocks.resize(queue_depth, (0, 0));
        Some(())
    }

    /// All of the memory, for registration.
    #[cfg(target_pointer_width = "64")]
    pub(crate) fn all(&self) -> Option<Stretch> {
        (self.pool.len() > 0)
            .then(|| self.pool.stretch(0, self.pool.len()))
            .flatten()
    }

    /// Gives the memory up without freeing it: the kernel may still use it.
    #[cfg(target_pointer_width = "64")]
    pub(crate) fn leak(&mut self) {
        std::mem::forget(std::mem::replace(&mut self.pool, AlignedBuffer::empty()));
    }

    /// A fresh block for this slot, stamped with its address and the number of the write.
    #[inline]
    pub(crate) fn next(&mut self, slot: u32, offset: u64, bytes: u32) -> Option<Stretch> {
        let bytes = bytes as usize;
        if bytes > self.block_bytes {
            return None;
        }
        let slot = slot as usize;
        let cursor = self.cursors.get_mut(slot)?;
        let pool_place = slot * self.part_bytes + *cursor;
        let stretch = self.pool.stretch(pool_place, bytes)?;
        *cursor += self.block_bytes;
        if *cursor >= self.part_bytes {
            *cursor = 0;
        }
        if self.kind.is_stamped() {
            // SAFETY: the pool is alive; parts do not overlap, and the slot is free, so that nothing
            // in flight uses this one.
            let block = unsafe { stretch.as_mut_slice() };
            stamp_payload(block, offset, self.generation);
        }
        if !self.last.is_empty() {
            self.note(slot, offset, bytes, pool_place);
        }
        self.generation += 1;
        Some(stretch)
    }

    /// Returns the bytes per second at which blocks of 1 MiB are stamped: the best of a few short windows.
    /// Measured on separate memory.
    pub(crate) fn measure_rate(&self) -> Option<f64> {
        let mut memory = AlignedBuffer::new(PAYLOAD_POOL_BYTES, self.alignment)?;
        fill_payload(self.seed, memory.bytes_mut());
        (0..RATE_WINDOWS)
            .map(|_| stamping_rate(memory.bytes_mut()))
            .max_by(f64::total_cmp)
    }
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

/// Returns the size of the pool: the usual one, or the size that a large queue of large blocks needs.
fn pool_bytes(block_bytes: usize, queue_depth: usize) -> usize {
    PAYLOAD_POOL_BYTES.max(block_bytes.saturating_mul(queue_depth))
}
