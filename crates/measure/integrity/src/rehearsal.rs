//! Blocks that a test writes on faultless storage.

use crate::restoring::add;
use crate::{Answer, Content, Extent, Held, Medium, Span, Trouble};

/// Returns the spans that `test` writes to storage of this size that keeps everything, by rising address. No
/// storage is touched.
pub fn rehearse<T>(
    blocks_count: u64,
    grain_blocks: u64,
    test: impl FnOnce(&mut dyn Medium) -> Result<T, Trouble>,
) -> Vec<Span> {
    let mut stage = Stage {
        blocks_count,
        grain_blocks,
        written: Vec::new(),
    };
    // Storage that keeps everything gives no trouble, and a test that ends early writes no more.
    let _ = test(&mut stage);
    stage.written
}

/// Storage that keeps everything, without storing it.
struct Stage {
    blocks_count: u64,
    grain_blocks: u64,
    written: Vec<Span>,
}

impl Medium for Stage {
    fn blocks_count(&self) -> u64 {
        self.blocks_count
    }

    fn grain_blocks(&self) -> u64 {
        self.grain_blocks
    }

    fn write(&mut self, span: Span, _content: Content) -> Result<Answer, Trouble> {
        add(&mut self.written, span);
        Ok(Answer::default())
    }

    fn read(&mut self, span: Span, _content: Content) -> Result<Answer, Trouble> {
        Ok(Answer {
            span_ns: 0,
            runs: vec![Extent::new(span, Held::Good)],
        })
    }

    fn flush(&mut self) -> Result<u64, Trouble> {
        Ok(0)
    }
}
