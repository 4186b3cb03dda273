//! Memory that O_DIRECT accepts.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

/// Buffers start at a multiple of at least this, bytes: a page.
pub(crate) const LEAST_ALIGNMENT_BYTES: u32 = 4096;

/// Zeroed memory at an aligned address.
pub(crate) struct AlignedBuffer {
    /// Longer than the buffer, and never resized: the heap decides where it starts.
    memory: Vec<u8>,
    /// Start of the buffer in it.
    start: usize,
    bytes: usize,
}

impl AlignedBuffer {
    /// Allocates `bytes` bytes at a multiple of `alignment_bytes`, a power of two, and of a page; `None` if
    /// memory is insufficient.
    pub(crate) fn new(bytes: usize, alignment_bytes: u32) -> Option<Self> {
        let alignment = alignment_bytes.max(LEAST_ALIGNMENT_BYTES) as usize;
        let all_bytes = bytes.checked_add(alignment)?;
        let mut memory = Vec::new();
        memory.try_reserve_exact(all_bytes).ok()?;
        memory.resize(all_bytes, 0);
        let address = memory.as_ptr().addr();
        Some(Self {
            start: address.next_multiple_of(alignment) - address,
            memory,
            bytes,
        })
    }

    /// No memory.
    pub(crate) fn empty() -> Self {
        Self {
            memory: Vec::new(),
            start: 0,
            bytes: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.bytes]
    }
}

impl fmt::Debug for AlignedBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AlignedBuffer({} bytes)", self.bytes)
    }
}

/// A stretch of a shared buffer. No two parts overlap, and while one exists, the buffer cannot be used as a
/// whole; so a part is used by its owner alone, on any thread or in the kernel.
pub(crate) struct Part {
    bytes: NonNull<[u8]>,
    /// Keeps the memory.
    #[cfg_attr(
        not(target_pointer_width = "64"),
        expect(dead_code, reason = "only io_uring asks for it")
    )]
    whole: Arc<AlignedBuffer>,
}

// SAFETY: a part is the only way to its bytes, as `Box<[u8]>` is.
unsafe impl Send for Part {}

impl Part {
    /// Divides a buffer into `count` parts of `bytes` bytes. `None` if parts of it exist, or if it is shorter.
    pub(crate) fn divide(
        whole: &mut Arc<AlignedBuffer>,
        bytes: usize,
        count: usize,
    ) -> Option<Vec<Self>> {
        let mut rest = Arc::get_mut(whole)?.bytes_mut();
        let mut stretches = Vec::with_capacity(count);
        for _ in 0..count {
            let (stretch, behind) = rest.split_at_mut_checked(bytes)?;
            stretches.push(NonNull::from(stretch));
            rest = behind;
        }
        let part = |bytes| Self {
            bytes,
            whole: Arc::clone(whole),
        };
        Some(stretches.into_iter().map(part).collect())
    }

    /// The buffer that it is a part of.
    #[cfg(target_pointer_width = "64")]
    pub(crate) fn whole(&self) -> Arc<AlignedBuffer> {
        Arc::clone(&self.whole)
    }

    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `divide` made it of a stretch of `whole`, which lives as long as this part. `Arc::get_mut`
        // allows no access to the buffer and no second division until all its parts are gone.
        unsafe { self.bytes.as_mut() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_aligned_and_zeroed() {
        for alignment in [1, 512, 4096, 65536] {
            let mut buffer = AlignedBuffer::new(3 * 512, alignment).unwrap();
            assert_eq!(buffer.bytes_mut(), [0; 3 * 512]);
            let least = alignment.max(LEAST_ALIGNMENT_BYTES) as usize;
            assert!(buffer.bytes_mut().as_ptr().addr().is_multiple_of(least));
        }
        assert!(AlignedBuffer::new(usize::MAX, 512).is_none());
        assert!(AlignedBuffer::new(isize::MAX as usize, 512).is_none());
        assert!(AlignedBuffer::empty().bytes_mut().is_empty());
    }

    #[test]
    fn parts_do_not_overlap_and_lock_the_whole() {
        let mut whole = Arc::new(AlignedBuffer::new(1000, 512).unwrap());
        let mut parts = Part::divide(&mut whole, 300, 3).unwrap();
        assert!(Part::divide(&mut whole, 300, 3).is_none());
        assert!(Arc::get_mut(&mut whole).is_none());
        for (number, part) in (1..).zip(&mut parts) {
            part.bytes_mut().fill(number);
        }
        let lengths: Vec<usize> = parts
            .iter_mut()
            .map(|part| part.bytes_mut().len())
            .collect();
        assert_eq!(lengths, [300; 3]);
        drop(parts);
        let bytes = Arc::get_mut(&mut whole).unwrap().bytes_mut();
        for (third, number) in bytes.chunks(300).zip([1, 2, 3, 0]) {
            assert!(third.iter().all(|&byte| byte == number));
        }
    }

    #[test]
    fn a_buffer_is_not_divided_beyond_its_end() {
        let mut whole = Arc::new(AlignedBuffer::new(1000, 512).unwrap());
        assert!(Part::divide(&mut whole, 300, 4).is_none());
        assert_eq!(
            Part::divide(&mut whole, 250, 4).map(|parts| parts.len()),
            Some(4)
        );
        assert_eq!(
            Part::divide(&mut whole, 0, 2).map(|parts| parts.len()),
            Some(2)
        );
    }

    #[test]
    fn threads_work_on_parts_at_the_same_time() {
        let mut whole = Arc::new(AlignedBuffer::new(4 * 64, 512).unwrap());
        let parts = Part::divide(&mut whole, 64, 4).unwrap();
        std::thread::scope(|scope| {
            for (number, mut part) in (1..).zip(parts) {
                scope.spawn(move || part.bytes_mut().fill(number));
            }
        });
        let bytes = Arc::get_mut(&mut whole).unwrap().bytes_mut();
        let sums: Vec<u32> = bytes
            .chunks(64)
            .map(|part| part.iter().map(|&byte| u32::from(byte)).sum())
            .collect();
        assert_eq!(sums, [64, 128, 192, 256]);
    }

    #[test]
    fn a_part_keeps_the_memory() {
        let mut whole = Arc::new(AlignedBuffer::new(64, 512).unwrap());
        let mut part = Part::divide(&mut whole, 64, 1).unwrap().remove(0);
        drop(whole);
        part.bytes_mut().fill(7);
        assert_eq!(part.bytes_mut(), [7; 64]);
    }
}
