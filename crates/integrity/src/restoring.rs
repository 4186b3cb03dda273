//! Storage that can be brought back into the state that it was in.
//!
//! Before blocks are written their content is kept, durably and elsewhere. After an interruption it goes back
//! only where blocks still hold what the test wrote: somebody else may have used the storage since, and
//! what they wrote must stay. Bringing it back goes
//! from the last that was kept to the first: on storage whose addresses repeat, a block may have
//! been written under another name before it was kept under this one, and only in that order does
//! the oldest content come to stand there in the end. It may be begun anew at any time.
//!
//! A reader may hold another card by then, of the same size and under the same name. So what an earlier session
//! kept goes back only to storage that holds something of that session; before that is seen nothing is written,
//! not even to blocks that cannot be read.

use crate::{Answer, Content, Medium, Span, Trouble};

/// Of an earlier session so many pieces, the oldest, are compared with what the storage holds. On storage whose
/// addresses repeat, later ones may be the test's own content, kept under another name.
const COMPARED_PIECES: usize = 64;

/// What blocks held, to be put back. Two are equal if they are the same blocks with the same content.
pub trait Piece: PartialEq {
    /// Where it belongs.
    fn span(&self) -> Span;
}

/// Storage whose content can be taken out and put back as it is.
pub trait Raw: Medium {
    /// What blocks held.
    type Piece: Piece;

    /// What these blocks hold. Only blocks that cannot be read are left out.
    ///
    /// # Errors
    /// When nothing more can be done.
    fn take(&mut self, span: Span) -> Result<Vec<Self::Piece>, Trouble>;

    /// Writes back what blocks held; with a content only where they hold anything now that was written
    /// with its seed, or cannot be read. How many blocks hold something else afterwards, because the
    /// storage did not take them. It does not heed that somebody asked to end: they get their storage back
    /// first.
    ///
    /// # Errors
    /// When nothing more can be done.
    fn put(&mut self, piece: &Self::Piece, over: Option<Content>) -> Result<u64, Trouble>;

    /// Makes durable what was put back.
    ///
    /// # Errors
    /// When the storage does not say that it is.
    fn settle(&mut self) -> Result<(), Trouble>;
}

/// Where what blocks held is kept.
pub trait UndoLog<P> {
    /// Keeps it.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn keep(&mut self, piece: P) -> Result<(), Trouble>;

    /// Sees to it that a loss of power cannot take away what is kept.
    ///
    /// # Errors
    /// When that cannot be done.
    fn settle(&mut self) -> Result<(), Trouble>;

    /// How many pieces are kept.
    fn count(&self) -> usize;

    /// The piece with that number, from 0 in the order of keeping.
    ///
    /// # Errors
    /// When it cannot be got back.
    fn piece(&mut self, number: usize) -> Result<P, Trouble>;

    /// Forgets all of it.
    ///
    /// # Errors
    /// When that cannot be done.
    fn clear(&mut self) -> Result<(), Trouble>;
}

/// Storage, and what its blocks held before they were written.
#[derive(Debug)]
pub struct Restoring<M, L> {
    medium: M,
    log: L,
    /// What is written over it.
    content: Content,
    /// How many pieces an earlier session has left.
    found_count: usize,
    /// Whether the storage was seen to be the one that these were taken from.
    is_known: bool,
    /// What is kept already, apart and by rising address.
    kept: Vec<Span>,
    /// How many blocks were put back.
    put_blocks: u64,
}

impl<M: Raw, L: UndoLog<M::Piece>> Restoring<M, L> {
    /// Keeps in that log what this storage's blocks held before that content was written.
    ///
    /// # Errors
    /// When what the log holds from an earlier time cannot be read.
    pub fn new(medium: M, mut log: L, content: Content) -> Result<Self, Trouble> {
        let mut kept = Vec::new();
        for number in 0..log.count() {
            add(&mut kept, log.piece(number)?.span());
        }
        Ok(Self {
            medium,
            content,
            found_count: log.count(),
            is_known: log.count() == 0,
            log,
            kept,
            put_blocks: 0,
        })
    }

    /// Whether this is the storage that the pieces of an earlier session were taken from. It holds something that
    /// was written over them; or, where nothing was written yet or all is back and only the log was not cleared,
    /// most of what was kept first. Another card holds neither.
    ///
    /// # Errors
    /// When it cannot be looked at.
    pub fn knows_storage(&mut self) -> Result<bool, Trouble> {
        self.is_known = self.is_known || self.holds_ours()? || self.holds_kept()?;
        Ok(self.is_known)
    }

    fn holds_ours(&mut self) -> Result<bool, Trouble> {
        for number in 0..self.found_count {
            let span = self.log.piece(number)?.span();
            let answer = self.medium.read(span, self.content)?;
            if answer.runs.iter().any(|run| run.bears_seed()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Most of it: single blocks are the same on many cards, such as the first one.
    fn holds_kept(&mut self) -> Result<bool, Trouble> {
        let compared_count = self.found_count.min(COMPARED_PIECES);
        let mut same_count = 0;
        for number in 0..compared_count {
            let piece = self.log.piece(number)?;
            let now = self.medium.take(piece.span())?;
            same_count += usize::from(now == [piece]);
        }
        Ok(2 * same_count > compared_count)
    }

    /// Brings everything back that is kept, and tells how many pieces of how many that were. How many
    /// blocks the storage did not take; where that is none, what is kept is forgotten. Storage that is not known
    /// gets and so takes none.
    ///
    /// # Errors
    /// When it cannot be brought back; all that is kept stays kept then.
    pub fn restore(&mut self, tell: &mut dyn FnMut(usize, usize)) -> Result<u64, Trouble> {
        if !self.knows_storage()? {
            return Ok(self.kept_blocks());
        }
        let count = self.log.count();
        let mut refused_blocks = 0;
        for number in (0..count).rev() {
            let piece = self.log.piece(number)?;
            // In this session nobody else has had the storage.
            let over = (number < self.found_count).then_some(self.content);
            refused_blocks += self.medium.put(&piece, over)?;
            self.put_blocks += piece.span().count;
            tell(count - number, count);
        }
        self.medium.settle()?;
        if refused_blocks == 0 {
            self.kept.clear();
            self.found_count = 0;
            self.log.clear()?;
        }
        Ok(refused_blocks)
    }

    /// Whether an earlier session has left something that is not brought back.
    #[must_use]
    pub fn has_earlier(&self) -> bool {
        self.found_count > 0
    }

    /// Of how many blocks it is kept what they held.
    #[must_use]
    pub fn kept_blocks(&self) -> u64 {
        self.kept.iter().map(|span| span.count).sum()
    }

    /// How many blocks were put back.
    #[must_use]
    pub fn put_blocks(&self) -> u64 {
        self.put_blocks
    }

    /// The storage and the log.
    pub fn into_parts(self) -> (M, L) {
        (self.medium, self.log)
    }

    fn keep(&mut self, spans: &[Span]) -> Result<(), Trouble> {
        let mut is_new = false;
        for &span in spans {
            for missing in missing(&self.kept, span) {
                for piece in self.medium.take(missing)? {
                    self.log.keep(piece)?;
                }
                // Also what could not be read: there is nothing to be brought back.
                add(&mut self.kept, missing);
                is_new = true;
            }
        }
        match is_new {
            true => self.log.settle(),
            false => Ok(()),
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
        self.keep(spans)
    }

    fn write(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        self.keep(&[span])?;
        self.medium.write(span, content)
    }

    fn read(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        self.medium.read(span, content)
    }

    fn flush(&mut self) -> Result<u64, Trouble> {
        self.medium.flush()
    }
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
fn add(kept: &mut Vec<Span>, span: Span) {
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
