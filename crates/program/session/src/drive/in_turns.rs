//! Storage that is used in turns with the other jobs of this host.

use cardmark_integrity::{Answer, Content, Direction, Medium, Span, Trouble, Unit};

use crate::drive::turn::{Step, Turn};
use crate::voice::{Silent, Waits};

/// Storage whose operations take turns with the other jobs of this host.
pub struct InTurns<'a> {
    medium: &'a mut dyn Medium,
    turn: Turn,
    shown: Box<dyn Waits>,
}

impl<'a> InTurns<'a> {
    /// Storage that takes its turn around every operation.
    pub fn new(medium: &'a mut dyn Medium, turn: Turn) -> Self {
        Self {
            medium,
            turn,
            shown: Box::new(Silent),
        }
    }

    /// Shows waits there.
    pub fn show_waits(&mut self, shown: Box<dyn Waits>) {
        self.shown = shown;
    }

    fn in_turn<T>(&mut self, work: impl FnOnce(&mut dyn Medium) -> T) -> T {
        self.turn.take(Step::default(), &mut *self.shown);
        let worked = work(self.medium);
        self.turn.give();
        worked
    }
}

impl Medium for InTurns<'_> {
    fn blocks_count(&self) -> u64 {
        self.medium.blocks_count()
    }

    fn grain_blocks(&self) -> u64 {
        self.medium.grain_blocks()
    }

    fn expect(&mut self, spans: &[Span]) -> Result<(), Trouble> {
        self.in_turn(|medium| medium.expect(spans))
    }

    fn intend(&mut self, spans: &[Span]) -> Result<(), Trouble> {
        self.in_turn(|medium| medium.intend(spans))
    }

    fn write(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        self.in_turn(|medium| medium.write(span, content))
    }

    fn read(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        self.in_turn(|medium| medium.read(span, content))
    }

    fn transfer(
        &mut self,
        direction: Direction,
        units: &[Unit],
        depth: u32,
    ) -> Result<Answer, Trouble> {
        self.in_turn(|medium| medium.transfer(direction, units, depth))
    }

    fn discard_grain_blocks(&self) -> Option<u64> {
        self.medium.discard_grain_blocks()
    }

    fn discard(&mut self, span: Span) -> Result<bool, Trouble> {
        self.in_turn(|medium| medium.discard(span))
    }

    fn flush(&mut self) -> Result<u64, Trouble> {
        self.in_turn(|medium| medium.flush())
    }

    fn rest(&mut self, span_ns: u64) -> Result<(), Trouble> {
        self.turn.leave();
        self.medium.rest(span_ns)
    }
}
