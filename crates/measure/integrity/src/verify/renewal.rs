//! Waiting before the last reading, and the question whether the storage still takes writes.

use super::{Pass, Verify};
use crate::answering::still_answers;
use crate::{Content, Held, Medium, Span, Trouble};

/// Time that the storage is left alone in one step, nanoseconds.
const REST_NS: u64 = 5_000_000_000;
/// Good places that are written again.
const RENEWED_COUNT: u64 = 16;

impl Verify {
    /// Returns the time that the storage was left alone before it was read; 0 if it was not.
    pub fn waited_ns(&self) -> u64 {
        self.waited_ns
    }

    /// Returns the longest time between writing a block and reading it, nanoseconds; `None` after an interruption.
    pub fn read_within_ns(&self) -> Option<u64> {
        let spans = self.written.iter().chain(&self.read);
        let moved_ns: u64 = spans.map(|speed| speed.span_ns).sum();
        (!self.was_interrupted).then_some(moved_ns.saturating_add(self.waited_ns))
    }

    pub(super) fn wait_on(&mut self, medium: &mut impl Medium) -> Result<(), Trouble> {
        let rest_ns = REST_NS.min(self.wait_ns.saturating_sub(self.waited_ns));
        medium.rest(rest_ns)?;
        self.waited_ns += rest_ns;
        if self.waited_ns >= self.wait_ns {
            self.begin(Pass::Read);
        }
        Ok(())
    }

    /// Returns whether losses may come from writes that the storage ignored.
    pub(super) fn may_ignore_writes(&self) -> bool {
        let runs = self.surface.runs();
        let is_lost = runs.iter().any(|run| run.is_lost() && !run.has_failed());
        let is_good = runs.iter().any(|run| run.held == Held::Good);
        self.pass != Pass::Renew && !self.is_reading_only && is_lost && is_good
    }

    /// Writes good places with new content. If most of them return what they held, the storage ignores writes: it is worn,
    /// and its losses prove no false capacity. The content of the test is restored afterwards.
    pub(super) fn renew(&mut self, medium: &mut impl Medium) -> Result<(), Trouble> {
        let places = self.good_places(medium.grain_blocks().max(1));
        let fresh = Content {
            round: self.content.round + 2,
            ..self.content
        };
        for &place in &places {
            medium.write(place, fresh)?;
        }
        medium.flush()?;
        let mut old_count = 0;
        for &place in &places {
            let answer = medium.read(place, fresh)?;
            if answer.runs.iter().any(|run| run.has_failed()) {
                self.look_whether_it_answers(medium, &answer)?;
            }
            let is_old = |held: &Held| {
                matches!(held, Held::Other { block, round }
                    if *block == place.start && *round != fresh.round)
            };
            old_count += usize::from(answer.runs.iter().all(|run| is_old(&run.held)));
        }
        for &place in &places {
            let answer = medium.write(place, self.content)?;
            if !answer.runs.is_empty() {
                self.look_whether_it_answers(medium, &answer)?;
            }
        }
        medium.flush()?;
        // A reader that hangs may have taken the last writes without an error.
        let given: Vec<u64> = places.iter().map(|place| place.start).collect();
        still_answers(medium, self.content, &given)?;
        self.ignores_writes = !places.is_empty() && 2 * old_count >= places.len();
        self.pass = Pass::Done;
        Ok(())
    }

    /// A few good places, one grain long, spread over all that are good.
    fn good_places(&self, grain: u64) -> Vec<Span> {
        let good = self
            .surface
            .runs()
            .iter()
            .filter(|run| run.held == Held::Good);
        let whole = |span: Span| {
            let first = span.start.div_ceil(grain) * grain;
            (
                first,
                (span.end() / grain * grain).saturating_sub(first) / grain,
            )
        };
        let stretches: Vec<(u64, u64)> = good.map(|run| whole(run.span)).collect();
        let all: u64 = stretches.iter().map(|(_, grains)| grains).sum();
        let count = RENEWED_COUNT.min(all);
        let mut places = Vec::new();
        let (mut before, mut index) = (0, 0);
        for (first, grains) in stretches {
            while index < count && all * index / count < before + grains {
                let place = first + (all * index / count - before) * grain;
                places.push(Span::new(place, grain));
                index += 1;
            }
            before += grains;
        }
        places
    }
}
