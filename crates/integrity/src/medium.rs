//! The port to storage.

use crate::{Content, Run, Span};

/// What came of writing or reading a span.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// How long it took, nanoseconds.
    pub span_ns: u64,
    /// What the blocks hold, by rising address and without gaps. Of writing: only what the storage
    /// refused ([`crate::Held::Refused`]).
    pub runs: Vec<Run>,
}

/// Why nothing more can be done. What a single block does is no trouble but an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The storage is gone, with the system's error number.
    Gone {
        /// The error number.
        errno: i32,
    },
    /// The storage gives nothing but errors any more: a reader that no longer answers looks like a card
    /// that is bad from some place on.
    OnlyErrors {
        /// The error number.
        errno: i32,
    },
    /// The filesystem that the blocks lie on takes no more, as it is full or read-only, which says nothing
    /// about the storage below.
    Filesystem {
        /// The error number.
        errno: i32,
    },
    /// What was to be kept for later cannot be kept, with the system's error number.
    NotKept {
        /// The error number.
        errno: i32,
    },
    /// The storage holds borrowed content of another session, and no undo log that is at hand covers it.
    Residue {
        /// The first block that holds it, of those that were about to be overwritten.
        block: u64,
    },
    /// Somebody asked to end.
    Stopped,
}

/// Storage of blocks of 512 bytes. Each call blocks until it is done.
pub trait Medium {
    /// How many blocks it says it has.
    fn blocks_count(&self) -> u64;

    /// It reads and writes multiples of so many blocks only, at multiples of so many.
    fn grain_blocks(&self) -> u64;

    /// Blocks that will be written soon: who has something to do before does it now, so that it takes no time
    /// between writes.
    ///
    /// # Errors
    /// When nothing more can be done.
    fn expect(&mut self, _spans: &[Span]) -> Result<(), Trouble> {
        Ok(())
    }

    /// Announces all blocks that a test may write from now on, so that an undo log can name them.
    ///
    /// # Errors
    /// When nothing more can be done.
    fn intend(&mut self, _spans: &[Span]) -> Result<(), Trouble> {
        Ok(())
    }

    /// Writes the content that belongs into these blocks.
    ///
    /// # Errors
    /// When nothing more can be done.
    fn write(&mut self, span: Span, content: Content) -> Result<Answer, Trouble>;

    /// Reads these blocks, past every cache of the computer, and compares them with that content.
    ///
    /// # Errors
    /// When nothing more can be done.
    fn read(&mut self, span: Span, content: Content) -> Result<Answer, Trouble>;

    /// Makes everything written durable, as far as the storage keeps its word. How long it took,
    /// nanoseconds.
    ///
    /// # Errors
    /// When nothing more can be done.
    fn flush(&mut self) -> Result<u64, Trouble>;
}

impl<M: Medium + ?Sized> Medium for &mut M {
    fn blocks_count(&self) -> u64 {
        (**self).blocks_count()
    }

    fn grain_blocks(&self) -> u64 {
        (**self).grain_blocks()
    }

    fn expect(&mut self, spans: &[Span]) -> Result<(), Trouble> {
        (**self).expect(spans)
    }

    fn intend(&mut self, spans: &[Span]) -> Result<(), Trouble> {
        (**self).intend(spans)
    }

    fn write(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        (**self).write(span, content)
    }

    fn read(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        (**self).read(span, content)
    }

    fn flush(&mut self) -> Result<u64, Trouble> {
        (**self).flush()
    }
}
