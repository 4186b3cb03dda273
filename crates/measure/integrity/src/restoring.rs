//! Storage whose content is saved in an undo log before a test overwrites it, and restored afterwards.
//!
//! The log lies on another device and is durable before the first byte is overwritten. After an interruption a
//! block is restored only if it still holds content of the test: it may have been used otherwise since. Pieces
//! are restored from the last to the first. On storage whose addresses repeat, a block may have been written
//! under another address before it was saved under this one, and only that order restores the oldest content.
//! Restoring can be repeated at any time.
//!
//! By then, a reader may hold another card of the same size and with the same name, or a copy of the card from
//! before the session. Only content of the session identifies the storage, because its seed is random and new: it
//! is the id of the log. Former content identifies nothing, however much of it is there. Before the storage is
//! identified nothing is written, and only for identified storage the log is cleared, after everything is restored
//! and read back.
//!
//! The log may be damaged. After restoring an earlier session, all blocks that it may have overwritten are
//! read, and with a damaged log the whole storage. If any block still holds content of the session, the log
//! stays.
//!
//! The log may be lost. A session writes borrowed content, which is recognised without its seed, and writes it
//! to the first blocks before all others; they are restored last. A new session that finds such content of
//! another session does not begin. Before they are restored all other blocks are read back, so that an interruption
//! rarely leaves a log whose storage nothing identifies.

use std::ops::Range;

use crate::{Answer, Content, Extent, Held, Medium, Span, Trouble};

/// Blocks read at once when the storage is searched for content that was not restored: 16 MiB.
const SEARCHED_BLOCKS: u64 = 1 << 15;

/// Former content of blocks, to be restored. Two are equal if they are the same blocks with the same content.
pub trait Piece: PartialEq {
    /// Returns its position.
    fn span(&self) -> Span;
}

/// Storage whose content can be taken out and put back as it is.
pub trait Raw: Medium {
    /// Former content of blocks.
    type Piece: Piece;

    /// Reads the content of these blocks. Blocks that cannot be read have no content: they are restored as
    /// zeros.
    ///
    /// # Errors
    /// If the storage can no longer be used.
    fn take(&mut self, span: Span) -> Result<Vec<Self::Piece>, Trouble>;

    /// Writes back the former content of blocks; given a content, only if they now hold anything written with
    /// its seed, or cannot be read. Returns the number of blocks that hold something else afterwards, because
    /// the storage rejected them. It ignores requests to stop: the storage is restored first.
    ///
    /// # Errors
    /// If the test cannot continue.
    fn put(&mut self, piece: &Self::Piece, over: Option<Content>) -> Result<u64, Trouble>;

    /// Makes restored blocks durable.
    ///
    /// # Errors
    /// If the storage does not confirm it.
    fn settle(&mut self) -> Result<(), Trouble>;

    /// Reads these blocks and compares them with the content, as [`Medium::read`] does, but ignores requests to
    /// stop.
    ///
    /// # Errors
    /// If the test cannot continue.
    fn check(&mut self, span: Span, content: Content) -> Result<Vec<Extent>, Trouble>;

    /// The first block of the piece that holds borrowed content of another seed than this content has.
    fn residue(&self, piece: &Self::Piece, content: Content) -> Option<u64>;
}

/// Log of the former content of blocks.
pub trait UndoLog<P> {
    /// Durably names blocks that the session may write, as far as they are known in advance.
    ///
    /// # Errors
    /// When that cannot be done.
    fn plan(&mut self, spans: &[Span]) -> Result<(), Trouble>;

    /// Keeps a piece.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn keep(&mut self, piece: P) -> Result<(), Trouble>;

    /// Makes all saved pieces durable. These blocks may be written from now on; those of them that no piece
    /// covers cannot be read.
    ///
    /// # Errors
    /// If that fails.
    fn settle(&mut self, spans: &[Span]) -> Result<(), Trouble>;

    /// The blocks of the pieces that are kept and intact, in the order of keeping.
    fn spans(&self) -> Vec<Span>;

    /// Returns a piece by its number, from 0 in the order of keeping.
    ///
    /// # Errors
    /// [`Trouble::NotKept`] if it can no longer be read.
    fn piece(&mut self, number: usize) -> Result<P, Trouble>;

    /// Blocks that an earlier session may have written, as far as any record still names them.
    fn possible(&self) -> &[Span];

    /// Returns whether the log of an earlier session lost anything that was durable.
    fn is_damaged(&self) -> bool;

    /// Forgets all of it.
    ///
    /// # Errors
    /// When that cannot be done.
    fn clear(&mut self) -> Result<(), Trouble>;
}

/// Storage, and the former content of its blocks.
#[derive(Debug)]
pub struct Restoring<M, L> {
    medium: M,
    log: L,
    /// Content that is written.
    content: Content,
    /// Number of pieces that an earlier session left.
    found_count: usize,
    /// True if the log is an earlier session's.
    is_earlier: bool,
    is_damaged: bool,
    /// True if the storage was identified as the one that these were taken from.
    is_known: bool,
    /// True if the first blocks hold borrowed content of this session.
    is_marked: bool,
    /// True if the test may continue when content of another session is found.
    accepts_residue: bool,
    /// Blocks that are kept, apart and by rising address.
    kept: Vec<Span>,
    /// Number of blocks that were put back.
    put_blocks: u64,
    /// Blocks that are not restored, apart and by rising address.
    unrestored: Vec<Span>,
    /// Blocks of an earlier session that hold neither its content nor the saved one, in whole pieces.
    changed: Vec<Span>,
}

impl<M: Raw, L: UndoLog<M::Piece>> Restoring<M, L> {
    /// Saves the content of blocks in `log` before they are written. All written content gets the seed of
    /// `content`, which must be new for each session.
    pub fn new(medium: M, log: L, content: Content) -> Self {
        let spans = log.spans();
        let mut kept = Vec::new();
        for &span in &spans {
            add(&mut kept, span);
        }
        Self {
            medium,
            content: content.borrowed(),
            found_count: spans.len(),
            is_earlier: !spans.is_empty() || !log.possible().is_empty() || log.is_damaged(),
            is_damaged: log.is_damaged(),
            is_known: spans.is_empty() && !log.is_damaged(),
            is_marked: false,
            accepts_residue: false,
            log,
            kept,
            put_blocks: 0,
            unrestored: Vec::new(),
            changed: Vec::new(),
        }
    }

    /// Continues where content of another session is found, and keeps and restores it like any other content.
    pub fn accept_residue(&mut self) {
        self.accepts_residue = true;
    }

    /// Returns whether this is the storage that the pieces of an earlier session were taken from: it holds some content
    /// of that session. If pieces of the log are lost, it is searched everywhere, because the log may no longer name
    /// all blocks. A log without any piece fits any storage.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn knows_storage(&mut self) -> Result<bool, Trouble> {
        let kept = self.log.spans();
        self.is_known = self.is_known || self.hold_ours(&kept)?;
        if !self.is_known {
            let possible = self.log.possible().to_vec();
            self.is_known = self.hold_ours(&possible)?;
        }
        if !self.is_known && self.is_damaged {
            let all = self.all_blocks();
            self.is_known = self.hold_ours(&[all])?;
        }
        Ok(self.is_known)
    }

    fn all_blocks(&self) -> Span {
        let grain = self.medium.grain_blocks().max(1);
        Span::new(0, self.medium.blocks_count() / grain * grain)
    }

    fn hold_ours(&mut self, spans: &[Span]) -> Result<bool, Trouble> {
        for &span in spans {
            for part in span.parts(SEARCHED_BLOCKS) {
                let answer = self.medium.read(part, self.content)?;
                if answer.runs.iter().any(|run| run.bears_seed()) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Returns whether all logged content is present. That is so on the card of the session before its first write and
    /// after its last, and on every copy of it: it identifies nothing.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn holds_kept(&mut self) -> Result<bool, Trouble> {
        let mut is_any = false;
        for number in 0..self.found_count {
            let Some(piece) = self.foreign(number)? else {
                continue;
            };
            is_any = true;
            if self.medium.take(piece.span())? != [piece] {
                return Ok(false);
            }
        }
        Ok(is_any)
    }

    /// The piece with that number, if it is intact and none of the session's own content: where addresses repeat,
    /// that was kept under another address.
    fn foreign(&mut self, number: usize) -> Result<Option<M::Piece>, Trouble> {
        let other = Content {
            seed: !self.content.seed,
            ..self.content
        };
        let piece = self.intact(number)?;
        Ok(piece.filter(|piece| self.medium.residue(piece, other).is_none()))
    }

    /// The piece with that number, if the log can still read it.
    fn intact(&mut self, number: usize) -> Result<Option<M::Piece>, Trouble> {
        match self.log.piece(number) {
            Ok(piece) => Ok(Some(piece)),
            Err(Trouble::NotKept { .. }) => {
                self.is_damaged = true;
                Ok(None)
            }
            Err(trouble) => Err(trouble),
        }
    }

    /// Restores every piece that is intact, and calls `tell` with the number of finished pieces and the total.
    /// Returns the number of blocks that are not restored: the storage rejected them, or they still hold
    /// content of the session when they are read afterwards. If there are none, the log is undamaged, and
    /// nothing else was changed since an earlier session, the log is cleared. Unknown storage is not written.
    ///
    /// # Errors
    /// If the storage can no longer be used; the log stays unchanged.
    pub fn restore(&mut self, tell: &mut dyn FnMut(usize, usize)) -> Result<u64, Trouble> {
        if !self.knows_storage()? {
            return Ok(self.kept_blocks());
        }
        let marks = self.marks();
        let count = self.log.spans().len();
        let all = 2 * count;
        let mut refused_blocks = 0;
        for number in (marks.len()..count).rev() {
            refused_blocks += self.put_piece(number)?;
            tell(count - number, all);
        }
        self.medium.settle()?;
        self.search_unrestored(&mut |done, parts| tell(count + done * count / parts, all))?;
        self.changed.clear();
        self.search_changed(marks.len()..count)?;
        for number in (0..marks.len()).rev() {
            refused_blocks += self.put_piece(number)?;
        }
        self.medium.settle()?;
        self.search_again(&marks)?;
        self.search_changed(0..marks.len())?;
        let unrestored_blocks = refused_blocks.max(count_blocks(&self.unrestored));
        if unrestored_blocks == 0 && !self.is_damaged && self.changed.is_empty() {
            self.kept.clear();
            self.found_count = 0;
            self.is_earlier = false;
            self.log.clear()?;
        }
        Ok(unrestored_blocks)
    }

    /// The pieces of the first blocks, which were saved before all others.
    fn marks(&self) -> Vec<Span> {
        let first = self.first_blocks();
        let spans = self.log.spans().into_iter();
        spans.take_while(|span| span.end() <= first.end()).collect()
    }

    /// Writes back a piece, if it is intact. Returns the number of blocks that the storage rejected.
    fn put_piece(&mut self, number: usize) -> Result<u64, Trouble> {
        let Some(piece) = self.intact(number)? else {
            return Ok(0);
        };
        // During this session the storage was used by no other program.
        let over = self.is_earlier.then_some(self.content);
        self.put_blocks += piece.span().count;
        self.medium.put(&piece, over)
    }

    /// Reads blocks that may have been overwritten, with a damaged log all blocks, and notes those that hold
    /// content of the session. Calls the callback with the number of finished parts and the total.
    fn search_unrestored(&mut self, tell: &mut dyn FnMut(usize, usize)) -> Result<(), Trouble> {
        self.unrestored.clear();
        let mut spans = self.kept.clone();
        for &span in self.log.possible() {
            add(&mut spans, span);
        }
        if self.is_damaged {
            spans = vec![self.all_blocks()];
        }
        let parts = spans.iter().flat_map(|span| span.parts(SEARCHED_BLOCKS));
        let parts: Vec<Span> = parts.collect();
        for (done, &part) in (1..).zip(&parts) {
            self.search(part)?;
            tell(done, parts.len());
        }
        Ok(())
    }

    /// Reads the blocks that held content of the session, and these, once more. Where addresses repeat, content in one
    /// block disappears when another is restored.
    fn search_again(&mut self, marks: &[Span]) -> Result<(), Trouble> {
        let mut spans = std::mem::take(&mut self.unrestored);
        for &span in marks {
            add(&mut spans, span);
        }
        for part in spans.iter().flat_map(|span| span.parts(SEARCHED_BLOCKS)) {
            self.search(part)?;
        }
        Ok(())
    }

    fn search(&mut self, part: Span) -> Result<(), Trouble> {
        let runs = self.medium.check(part, self.content)?;
        for run in runs.iter().filter(|run| run.bears_seed()) {
            add(&mut self.unrestored, run.span);
        }
        Ok(())
    }

    /// Compares the saved content of an earlier session with the present one. A block that differs, and does
    /// not hold content of the session, was written by another program since, or damaged when power was lost.
    fn search_changed(&mut self, numbers: Range<usize>) -> Result<(), Trouble> {
        if !self.is_earlier {
            return Ok(());
        }
        for number in numbers {
            if let Some(piece) = self.foreign(number)? {
                let span = piece.span();
                if self.medium.take(span)? != [piece] {
                    add(&mut self.changed, span);
                }
            }
        }
        Ok(())
    }

    /// Returns whether an earlier session left a log.
    pub fn has_earlier(&self) -> bool {
        self.is_earlier
    }

    /// Returns whether pieces of the log are lost.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    /// Blocks that hold content of the session after the last [`Self::restore`], apart and by rising address.
    pub fn unrestored(&self) -> &[Span] {
        &self.unrestored
    }

    /// Returns the stretches in which blocks hold neither content of an earlier session nor the saved one,
    /// after the last [`Self::restore`]. They were not changed.
    pub fn changed(&self) -> &[Span] {
        &self.changed
    }

    /// Number of blocks whose earlier content is kept.
    pub fn kept_blocks(&self) -> u64 {
        count_blocks(&self.kept)
    }

    /// Number of blocks that were put back.
    pub fn put_blocks(&self) -> u64 {
        self.put_blocks
    }

    /// The log.
    pub fn log(&self) -> &L {
        &self.log
    }

    /// The storage and the log.
    pub fn into_parts(self) -> (M, L) {
        (self.medium, self.log)
    }

    /// Content of a test, as this session writes it.
    fn ours(&self, content: Content) -> Content {
        Content {
            seed: self.content.seed,
            ..content.borrowed()
        }
    }

    fn first_blocks(&self) -> Span {
        let all_blocks = self.medium.blocks_count().max(1);
        Span::new(0, self.medium.grain_blocks().clamp(1, all_blocks))
    }

    /// Writes to the first blocks before all others: whoever looks there sees that a session began.
    fn mark(&mut self) -> Result<(), Trouble> {
        let first = self.first_blocks();
        if self.is_marked || self.medium.blocks_count() == 0 {
            return Ok(());
        }
        self.keep(&[first])?;
        self.medium.write(first, self.content)?;
        self.medium.flush()?;
        self.is_marked = true;
        Ok(())
    }

    fn keep(&mut self, spans: &[Span]) -> Result<(), Trouble> {
        let mut added = Vec::new();
        for &span in spans {
            for missing in missing(&self.kept, span) {
                for piece in self.medium.take(missing)? {
                    let residue = self.medium.residue(&piece, self.content);
                    match residue.filter(|_| !self.accepts_residue) {
                        Some(block) => return Err(Trouble::Residue { block }),
                        None => self.log.keep(piece)?,
                    }
                }
                // Blocks that the storage leaves out count as kept: they have no content to restore.
                add(&mut self.kept, missing);
                added.push(missing);
            }
        }
        match added.is_empty() {
            true => Ok(()),
            false => self.log.settle(&added),
        }
    }
}

impl<M: Raw, L: UndoLog<M::Piece>> Medium for Restoring<M, L> {
    fn blocks_count(&self) -> u64 {
        self.medium.blocks_count()
    }

    fn grain_blocks(&self) -> u64 {
        self.medium.grain_blocks()
    }

    fn expect(&mut self, spans: &[Span]) -> Result<(), Trouble> {
        self.mark()?;
        self.keep(spans)
    }

    fn intend(&mut self, spans: &[Span]) -> Result<(), Trouble> {
        let mut planned = Vec::new();
        for &span in spans {
            add(&mut planned, span);
        }
        self.log.plan(&planned)
    }

    fn write(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        self.mark()?;
        self.keep(&[span])?;
        self.medium.write(span, self.ours(content))
    }

    fn read(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        let mut answer = self.medium.read(span, self.ours(content))?;
        for run in &mut answer.runs {
            *run = as_asked(*run);
        }
        Ok(answer)
    }

    fn flush(&mut self) -> Result<u64, Trouble> {
        self.medium.flush()
    }

    fn rest(&mut self, span_ns: u64) -> Result<(), Trouble> {
        self.medium.rest(span_ns)
    }
}

/// The run with the round that the test knows.
fn as_asked(run: Extent) -> Extent {
    match run.held {
        Held::Other { block, round } => {
            let round = Content { seed: 0, round }.plain_round();
            Extent::new(run.span, Held::Other { block, round })
        }
        _ => run,
    }
}

fn count_blocks(spans: &[Span]) -> u64 {
    spans.iter().map(|span| span.count).sum()
}

/// The parts of `span` that none of these has.
fn missing(kept: &[Span], span: Span) -> Vec<Span> {
    let first = kept.partition_point(|known| known.end() <= span.start);
    let mut parts = Vec::new();
    let mut start = span.start;
    for known in kept[first..]
        .iter()
        .take_while(|known| known.start < span.end())
    {
        if start < known.start {
            parts.push(Span::between(start, known.start));
        }
        start = start.max(known.end());
    }
    if start < span.end() {
        parts.push(Span::between(start, span.end()));
    }
    parts
}

/// Adds a span to spans that are apart; those that it touches become one.
pub(crate) fn add(kept: &mut Vec<Span>, span: Span) {
    let first = kept.partition_point(|known| known.end() < span.start);
    let behind = kept.partition_point(|known| known.start <= span.end());
    let joined = kept[first..behind].iter().fold(span, |all, known| {
        Span::between(all.start.min(known.start), all.end().max(known.end()))
    });
    kept.splice(first..behind, [joined]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(parts: &[(u64, u64)]) -> Vec<Span> {
        parts.iter().map(|&(a, b)| Span::between(a, b)).collect()
    }

    #[test]
    fn only_what_is_not_kept_yet_is_missing() {
        let kept = spans(&[(10, 20), (30, 40)]);
        let of = |a, b| missing(&kept, Span::between(a, b));
        assert_eq!(of(0, 50), spans(&[(0, 10), (20, 30), (40, 50)]));
        assert_eq!(of(12, 18), []);
        assert_eq!(of(15, 35), spans(&[(20, 30)]));
        assert_eq!(of(20, 30), spans(&[(20, 30)]));
        assert_eq!(of(50, 60), spans(&[(50, 60)]));
    }

    #[test]
    fn spans_that_touch_become_one() {
        let mut kept = Vec::new();
        for (a, b) in [(10, 20), (30, 40), (50, 60), (20, 30), (45, 46)] {
            add(&mut kept, Span::between(a, b));
        }
        assert_eq!(kept, spans(&[(10, 40), (45, 46), (50, 60)]));
        add(&mut kept, Span::between(0, 100));
        assert_eq!(kept, spans(&[(0, 100)]));
    }
}
