//! A part of storage, as storage of its own.

use crate::{Answer, Content, Direction, Extent, Held, Medium, Span, Trouble, Unit};

/// Consecutive blocks of storage: the first of them is block 0 here. Blocks hold the content of their place on the whole
/// storage.
pub struct Part<'a, M> {
    medium: &'a mut M,
    blocks: Span,
}

impl<'a, M: Medium> Part<'a, M> {
    /// These blocks of that storage; they must be whole grains.
    pub fn new(medium: &'a mut M, blocks: Span) -> Self {
        Self { medium, blocks }
    }

    fn on_whole(&self, span: Span) -> Span {
        Span::new(self.blocks.start + span.start, span.count)
    }

    /// The same run, by its place in the part. Data of a block outside the part are older than the test, which writes
    /// only the part.
    fn in_part(&self, run: Extent) -> Extent {
        let start = self.blocks.start;
        let held = match run.held {
            Held::Other { block, round } if block >= start && block < self.blocks.end() => {
                Held::Other {
                    block: block - start,
                    round,
                }
            }
            Held::Other { .. } => Held::Foreign,
            held => held,
        };
        Extent::new(Span::new(run.span.start - start, run.span.count), held)
    }

    fn answer(&self, answer: Answer) -> Answer {
        let runs = answer.runs.into_iter().map(|run| self.in_part(run));
        Answer {
            runs: runs.collect(),
            ..answer
        }
    }
}

impl<M: Medium> Medium for Part<'_, M> {
    fn blocks_count(&self) -> u64 {
        self.blocks.count
    }

    fn grain_blocks(&self) -> u64 {
        self.medium.grain_blocks()
    }

    fn expect(&mut self, spans: &[Span]) -> Result<(), Trouble> {
        let spans: Vec<Span> = spans.iter().map(|span| self.on_whole(*span)).collect();
        self.medium.expect(&spans)
    }

    fn intend(&mut self, spans: &[Span]) -> Result<(), Trouble> {
        let spans: Vec<Span> = spans.iter().map(|span| self.on_whole(*span)).collect();
        self.medium.intend(&spans)
    }

    fn write(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        let answer = self.medium.write(self.on_whole(span), content)?;
        Ok(self.answer(answer))
    }

    fn read(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        let answer = self.medium.read(self.on_whole(span), content)?;
        Ok(self.answer(answer))
    }

    fn transfer(
        &mut self,
        direction: Direction,
        units: &[Unit],
        depth: u32,
    ) -> Result<Answer, Trouble> {
        let on_whole = |unit: &Unit| Unit {
            span: self.on_whole(unit.span),
            ..*unit
        };
        let units: Vec<Unit> = units.iter().map(on_whole).collect();
        let answer = self.medium.transfer(direction, &units, depth)?;
        Ok(self.answer(answer))
    }

    fn discard_grain_blocks(&self) -> Option<u64> {
        self.medium.discard_grain_blocks()
    }

    fn discard(&mut self, span: Span) -> Result<bool, Trouble> {
        self.medium.discard(self.on_whole(span))
    }

    fn flush(&mut self) -> Result<u64, Trouble> {
        self.medium.flush()
    }

    fn rest(&mut self, span_ns: u64) -> Result<(), Trouble> {
        self.medium.rest(span_ns)
    }
}
