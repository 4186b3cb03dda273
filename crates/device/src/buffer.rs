//! Memory that O_DIRECT accepts.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// Zeroed memory at an aligned address.
#[derive(Debug)]
pub(crate) struct AlignedBuffer {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the buffer owns its memory alone, as `Box<[u8]>` does.
unsafe impl Send for AlignedBuffer {}

impl AlignedBuffer {
    /// Allocates `bytes` bytes at a multiple of `alignment`; `None` if memory is insufficient.
    pub(crate) fn new(bytes: usize, alignment: usize) -> Option<Self> {
        let layout = Layout::from_size_align(bytes, alignment).ok()?;
        if bytes == 0 {
            return Some(Self {
                start: NonNull::dangling(),
                layout,
            });
        }
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        Some(Self {
            start: NonNull::new(start)?,
            layout,
        })
    }

    /// No memory.
    pub(crate) fn empty() -> Self {
        Self {
            start: NonNull::dangling(),
            layout: Layout::new::<()>(),
        }
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.layout.size()
    }

    /// The whole of it. Nothing may be in flight on it.
    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `start` is valid for `len` initialised bytes, borrowed through `&mut self`.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size()) }
    }

    /// Returns a part of it for the kernel or a worker; `None` if it does not lie inside.
    #[inline]
    pub(crate) fn stretch(&self, from: usize, bytes: usize) -> Option<Stretch> {
        if from.checked_add(bytes)? > self.len() {
            return None;
        }
        // SAFETY: `from` lies inside the allocation, as checked above.
        let start = unsafe { self.start.add(from) };
        Some(Stretch { start, bytes })
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: allocated in `new` with this layout, freed here alone.
            unsafe { dealloc(self.start.as_ptr(), self.layout) }
        }
    }
}

/// A part of an [`AlignedBuffer`] that one operation in flight uses. A back end holds the buffer
/// until the operation is done and gives no two operations in flight the same part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a stretch is an address and a length; who makes a slice of it promises that it is used
// by one thread at a time.
unsafe impl Send for Stretch {}

impl Stretch {
    /// Returns the start.
    #[cfg(target_pointer_width = "64")]
    #[inline]
    pub(crate) fn start(self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Returns the length in bytes.
    #[cfg(target_pointer_width = "64")]
    #[inline]
    pub(crate) fn len(self) -> usize {
        self.bytes
    }

    /// Returns the bytes.
    ///
    /// # Safety
    /// The buffer must be alive, and this part of it must not be used otherwise, for as long as the slice
    /// lives.
    #[inline]
    pub(crate) unsafe fn as_mut_slice<'a>(self) -> &'a mut [u8] {
        // SAFETY: valid for `bytes` initialised bytes by construction; alone by the caller's word.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }
}
