//! Reading the former content of blocks, and restoring it.

use cardmark_integrity::{
    BLOCK_BYTES, Content, Extent, Piece, Raw, Span, Surface, Trouble, is_borrowed_content,
};

use crate::object::number;

use super::{Blocks, REQUEST_BLOCKS, Storage, Work, length};

/// Former content of blocks of real storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlocksPiece {
    /// Position.
    pub(crate) span: Span,
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
}

impl Piece for BlocksPiece {
    fn span(&self) -> Span {
        self.span
    }
}

impl Raw for Blocks {
    type Piece = BlocksPiece;

    fn take(&mut self, span: Span) -> Result<Vec<BlocksPiece>, Trouble> {
        let mut pieces = Vec::new();
        self.storage.pulse.set_waiting(true);
        let taken = span
            .parts(REQUEST_BLOCKS)
            .try_for_each(|part| self.take_part(part, &mut pieces));
        self.storage.pulse.set_waiting(false);
        taken.map(|()| pieces)
    }

    fn put(&mut self, piece: &BlocksPiece, over: Option<Content>) -> Result<u64, Trouble> {
        let Some(buffer) = self.buffers.first_mut() else {
            return Ok(0);
        };
        self.storage.pulse.set_waiting(true);
        let put = self.storage.put(piece, over, buffer.bytes_mut());
        self.storage.pulse.set_waiting(false);
        put
    }

    fn settle(&mut self) -> Result<(), Trouble> {
        self.storage.pulse.set_waiting(true);
        let synced = self.storage.sync();
        self.storage.pulse.set_waiting(false);
        synced.map_err(|errno| {
            let not_kept = Trouble::NotKept {
                errno: number(errno),
            };
            self.storage.check(errno).err().unwrap_or(not_kept)
        })
    }

    fn check(&mut self, span: Span, content: Content) -> Result<Vec<Extent>, Trouble> {
        let Some(buffer) = self.buffers.first_mut() else {
            return Ok(Vec::new());
        };
        self.storage.pulse.set_waiting(true);
        if self.storage.is_buffered {
            self.storage.forget_cached();
        }
        let mut surface = Surface::default();
        let read = span.parts(REQUEST_BLOCKS).try_for_each(|part| {
            let work = Work::Read(content);
            self.storage
                .request(part, work, buffer.bytes_mut(), &mut surface)
        });
        self.storage.pulse.set_waiting(false);
        read.map(|()| surface.runs().to_vec())
    }

    fn residue(&self, piece: &BlocksPiece, content: Content) -> Option<u64> {
        let blocks = piece.bytes.as_chunks::<BLOCK_BYTES>().0;
        let is_residue =
            |bytes: &[u8; BLOCK_BYTES]| is_borrowed_content(bytes) && !content.has_written(bytes);
        let first = blocks.iter().position(is_residue)?;
        Some(piece.span.start + first as u64)
    }
}

impl Blocks {
    /// Reads the former content of blocks. A grain that cannot be read counts as zeros: the test will overwrite
    /// it, which often makes it readable, and its own content must not remain there.
    fn take_part(&mut self, span: Span, pieces: &mut Vec<BlocksPiece>) -> Result<(), Trouble> {
        if self.storage.pulse.is_stopped() {
            return Err(Trouble::Stopped);
        }
        let Some(buffer) = self.buffers.first_mut() else {
            return Ok(());
        };
        let bytes = &mut buffer.bytes_mut()[..length(span)];
        let Err(errno) = self.storage.read_whole(span, bytes) else {
            let bytes = bytes.to_vec();
            pieces.push(BlocksPiece { span, bytes });
            return Ok(());
        };
        self.storage.check(errno)?;
        if span.count <= self.storage.grain_blocks {
            let bytes = vec![0; length(span)];
            pieces.push(BlocksPiece { span, bytes });
            return Ok(());
        }
        let [low, high] = self.storage.halves(span);
        self.take_part(low, pieces)?;
        self.take_part(high, pieces)
    }
}

impl Storage {
    /// Writes back a piece, or those of its grains that hold content of a test; returns the number of rejected
    /// blocks.
    fn put(
        &self,
        piece: &BlocksPiece,
        over: Option<Content>,
        buffer: &mut [u8],
    ) -> Result<u64, Trouble> {
        let mut stretches = vec![piece.span];
        if let Some(content) = over {
            let mut now = Surface::default();
            self.request(piece.span, Work::Read(content), buffer, &mut now)?;
            stretches = self.ours(&now);
        }
        let mut refused_blocks = 0;
        for span in stretches {
            refused_blocks += self.put_stretch(piece, span, buffer)?;
        }
        Ok(refused_blocks)
    }

    /// Writes back a part of a piece; if some of it is rejected, the rest is still written.
    fn put_stretch(
        &self,
        piece: &BlocksPiece,
        span: Span,
        buffer: &mut [u8],
    ) -> Result<u64, Trouble> {
        let from = length(Span::between(piece.span.start, span.start));
        let bytes = &mut buffer[..length(span)];
        bytes.copy_from_slice(&piece.bytes[from..from + bytes.len()]);
        let Err(errno) = self.write_whole(span, bytes) else {
            return Ok(0);
        };
        self.check(errno)?;
        if span.count <= self.grain_blocks {
            // A block that rejects writes may still hold its content.
            let held = self.read_whole(span, bytes);
            let is_there = held.is_ok() && *bytes == piece.bytes[from..from + bytes.len()];
            return Ok(if is_there { 0 } else { span.count });
        }
        let [low, high] = self.halves(span);
        let refused = self.put_stretch(piece, low, buffer)?;
        Ok(refused + self.put_stretch(piece, high, buffer)?)
    }

    /// Returns the stretches of whole grains that hold content of a test.
    fn ours(&self, now: &Surface) -> Vec<Span> {
        let grain = self.grain_blocks;
        let mut ours: Vec<Span> = Vec::new();
        for run in now.runs().iter().filter(|run| run.is_ours()) {
            // A test writes whole grains: one that holds some of it was written by it.
            let start = run.span.start / grain * grain;
            let end = run.span.end().div_ceil(grain) * grain;
            match ours.last_mut() {
                Some(last) if start <= last.end() => *last = Span::between(last.start, end),
                _ => ours.push(Span::between(start, end)),
            }
        }
        ours
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::FileExt;
    use std::sync::Arc;

    use cardmark_engine::Pulse;
    use cardmark_integrity::{Extent, Held, Medium};

    use super::*;

    const OURS: Content = Content { seed: 7, round: 0 };

    fn blocks(file: File) -> Blocks {
        let storage = Storage {
            files: vec![file],
            file_blocks: u64::MAX,
            blocks_count: 2048,
            grain_blocks: 4,
            is_buffered: true,
            is_on_filesystem: false,
            shown: None,
            pulse: Arc::new(Pulse::new()),
        };
        Blocks::new(storage, 512).unwrap()
    }

    #[test]
    fn a_block_that_cannot_be_read_is_zeros_and_hides_no_other() {
        // A file has no data behind its end.
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&[7; 1500 * 512], 0).unwrap();
        let pieces = blocks(file).take(Span::new(0, 2048)).unwrap();
        let mut end = 0;
        for piece in &pieces {
            assert_eq!(piece.span.start, end);
            end = piece.span.end();
        }
        assert_eq!(end, 2048);
        let bytes = pieces.iter().flat_map(|piece| &piece.bytes);
        assert_eq!(bytes.filter(|&&byte| byte == 7).count(), 1500 * 512);
    }

    #[test]
    fn what_somebody_else_wrote_since_is_not_overwritten() {
        let mut blocks = blocks(tempfile::tempfile().unwrap());
        let whole = Span::new(0, 2048);
        blocks.write(whole, Content { seed: 1, round: 0 }).unwrap();
        let before = blocks.take(whole).unwrap();
        blocks.write(Span::new(100, 900), OURS).unwrap();
        let theirs = Content { seed: 2, round: 0 };
        blocks.write(Span::new(400, 80), theirs).unwrap();
        for piece in &before {
            assert_eq!(blocks.put(piece, Some(OURS)), Ok(0));
        }
        let mut held = |span, content| blocks.read(span, content).unwrap().runs;
        let good = |span| vec![Extent::new(span, Held::Good)];
        let (low, high) = (Span::new(0, 400), Span::new(480, 1568));
        assert_eq!(held(low, Content { seed: 1, round: 0 }), good(low));
        assert_eq!(held(high, Content { seed: 1, round: 0 }), good(high));
        assert_eq!(held(Span::new(400, 80), theirs), good(Span::new(400, 80)));
    }
}
