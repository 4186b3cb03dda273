//! The port to storage.

use crate::{Content, Extent, Span, Surface};
use cardmark_core::Errno;

/// Result of writing or reading a span.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Time taken, nanoseconds.
    pub span_ns: u64,
    /// Content of the blocks, by rising address and without gaps. When writing: only blocks that the storage
    /// refused ([`crate::Held::Refused`]).
    pub runs: Vec<Extent>,
}

/// Reason why the test cannot continue. A failure of a single block is no trouble but an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The storage is gone, with the system's error number.
    Gone {
        /// The error number.
        errno: Errno,
    },
    /// The storage gives nothing but errors any more: a reader that no longer answers looks like a card
    /// that is bad from some place on.
    OnlyErrors {
        /// The error number.
        errno: Errno,
    },
    /// The filesystem that holds the blocks accepts no more data, because it is full or read-only. This is no
    /// verdict on the storage below.
    Filesystem {
        /// The error number.
        errno: Errno,
    },
    /// Data to be preserved for later cannot be preserved; with the system's error number.
    NotKept {
        /// The error number.
        errno: Errno,
    },
    /// The storage holds borrowed content of another session, and no undo log that is at hand covers it.
    Residue {
        /// The first block that holds it, of those that were about to be overwritten.
        block: u64,
    },
    /// The storage did not answer within the time limit.
    NoAnswer {
        /// The limit, nanoseconds.
        limit_ns: u64,
    },
    /// Somebody asked to end.
    Stopped,
}

/// Direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The content is written.
    Write,
    /// The blocks are read, past every cache of the computer, and compared with the content.
    Read,
}

/// Blocks of one request, and the content that belongs into them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The blocks.
    pub span: Span,
    /// The content.
    pub content: Content,
}

/// Storage of blocks of 512 bytes. Each call blocks until it is done.
pub trait Medium {
    /// Returns the number of blocks that it reports.
    fn blocks_count(&self) -> u64;

    /// Returns the grain: reads and writes must be multiples of this number of blocks, at multiples of it.
    fn grain_blocks(&self) -> u64;

    /// Announces blocks that will be written soon, so that preparatory work is done now and takes no time
    /// between writes.
    ///
    /// # Errors
    /// If the test cannot continue.
    fn expect(&mut self, _spans: &[Span]) -> Result<(), Trouble> {
        Ok(())
    }

    /// Announces all blocks that a test may write from now on, so that an undo log can name them.
    ///
    /// # Errors
    /// If the test cannot continue.
    fn intend(&mut self, _spans: &[Span]) -> Result<(), Trouble> {
        Ok(())
    }

    /// Writes the content that belongs into these blocks.
    ///
    /// # Errors
    /// If the test cannot continue.
    fn write(&mut self, span: Span, content: Content) -> Result<Answer, Trouble>;

    /// Reads these blocks, past every cache of the computer, and compares them with that content.
    ///
    /// # Errors
    /// If the test cannot continue.
    fn read(&mut self, span: Span, content: Content) -> Result<Answer, Trouble>;

    /// Writes or reads these units, which do not overlap, in this order, with up to `depth` requests in flight. Without an
    /// implementation of its own, storage takes one after the other.
    ///
    /// # Errors
    /// If the test cannot continue.
    fn transfer(
        &mut self,
        direction: Direction,
        units: &[Unit],
        _depth: u32,
    ) -> Result<Answer, Trouble> {
        let mut span_ns = 0;
        let mut runs = Vec::new();
        for unit in units {
            let answer = match direction {
                Direction::Write => self.write(unit.span, unit.content),
                Direction::Read => self.read(unit.span, unit.content),
            }?;
            span_ns += answer.span_ns;
            runs.extend(answer.runs);
        }
        Ok(Answer {
            span_ns,
            runs: Surface::of(runs).runs().to_vec(),
        })
    }

    /// Returns the number of blocks that discards should be multiples of; `None` if the storage cannot discard.
    fn discard_grain_blocks(&self) -> Option<u64> {
        None
    }

    /// Tells the storage that the content of these blocks is no longer needed. Returns false if it rejects that.
    ///
    /// # Errors
    /// If the test cannot continue.
    fn discard(&mut self, _span: Span) -> Result<bool, Trouble> {
        Ok(false)
    }

    /// Makes everything written durable, as far as the storage keeps its promise. Returns the time taken,
    /// nanoseconds.
    ///
    /// # Errors
    /// If the test cannot continue.
    fn flush(&mut self) -> Result<u64, Trouble>;

    /// Leaves the storage alone for this time, nanoseconds. Storage without a clock has nothing to wait for.
    ///
    /// # Errors
    /// If the test cannot continue.
    fn rest(&mut self, _span_ns: u64) -> Result<(), Trouble> {
        Ok(())
    }
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

    fn transfer(
        &mut self,
        direction: Direction,
        units: &[Unit],
        depth: u32,
    ) -> Result<Answer, Trouble> {
        (**self).transfer(direction, units, depth)
    }

    fn discard_grain_blocks(&self) -> Option<u64> {
        (**self).discard_grain_blocks()
    }

    fn discard(&mut self, span: Span) -> Result<bool, Trouble> {
        (**self).discard(span)
    }

    fn flush(&mut self) -> Result<u64, Trouble> {
        (**self).flush()
    }

    fn rest(&mut self, span_ns: u64) -> Result<(), Trouble> {
        (**self).rest(span_ns)
    }
}
