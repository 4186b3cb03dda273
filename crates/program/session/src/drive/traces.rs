//! Traces of an interrupted test on a device.
//!
//! It may have been used since, or be another card of that size in the same reader, or a copy of the card from an
//! earlier moment of the test. A test that goes on there would take what others wrote for what the card has lost.

use cardmark_integrity::{Extent, Held, Medium, Span, Trouble, Verify};

/// Places that are looked at.
const LOOKS_COUNT: u64 = 64;

/// Remains of the data of a test, at some places spread over it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Traces {
    /// Places that hold anything of the test. Where the card repeats addresses or has changed some bits,
    /// that is so, too.
    ours_count: u64,
    /// Places that hold something else. Of a fake or broken card there are some, too.
    foreign_count: u64,
    /// Those of them that had held it when they were read before, or are the first: what uses a device
    /// from the start begins there.
    missing_count: u64,
    /// True if the place that was written last held content of the test, and holds something else now.
    lacks_last: bool,
}

impl Traces {
    /// Looks for them, after the test was taken up.
    ///
    /// # Errors
    /// If the device cannot be read.
    pub fn of(test: &Verify, medium: &mut dyn Medium) -> Result<Self, Trouble> {
        let mut traces = Self::default();
        for span in test.durable_places(medium, LOOKS_COUNT) {
            let runs = test.look(medium, span)?;
            let is_first = span.start == 0;
            traces.add(&runs, was_good(test, span).unwrap_or(is_first));
        }
        traces.lacks_last = test.lacks_last_written(medium)?;
        Ok(traces)
    }

    fn add(&mut self, runs: &[Extent], is_expected: bool) {
        // Unreadable blocks do not show who wrote them.
        if runs.iter().any(|run| run.bears_seed()) {
            self.ours_count += 1;
        } else if runs.iter().any(|run| run.held == Held::Foreign) {
            self.foreign_count += 1;
            self.missing_count += u64::from(is_expected);
        }
    }

    /// Returns whether nothing of the test is left.
    #[must_use]
    pub fn are_gone(&self) -> bool {
        self.ours_count == 0 && self.foreign_count > 0
    }

    /// Returns whether the last write of the test is gone: a copy of the card was made before it.
    #[must_use]
    pub fn lack_last(&self) -> bool {
        self.lacks_last
    }

    /// Returns whether something else has written there since.
    #[must_use]
    pub fn are_disturbed(&self) -> bool {
        self.are_gone() || self.lacks_last || self.missing_count > 0
    }
}

/// Returns whether these blocks were good when the test read them; `None` if it did not.
fn was_good(test: &Verify, span: Span) -> Option<bool> {
    let surface = test.surface();
    let is_read = span.end() <= surface.blocks_count();
    is_read.then(|| surface.within(span).all(|run| run.held == Held::Good))
}

#[cfg(test)]
mod tests {
    use cardmark_core::WritePattern;
    use cardmark_integrity::{Content, Endure, EndureEnd, Load, Pass};
    use cardmark_sim::{Model, SimMedium};

    use super::*;

    /// A verify of that card, stopped in its read pass.
    fn stopped(medium: &mut SimMedium) -> Verify {
        let mut test = Verify::new(medium.blocks_count(), Content { seed: 7, round: 0 });
        while test.place().0 != Pass::Read || test.place().1 == 0 {
            test.advance(medium).unwrap();
        }
        test.take_up();
        test
    }

    fn write(medium: &mut SimMedium, span: Span) {
        let theirs = Content { seed: 5, round: 2 };
        medium.write(span, theirs).unwrap();
        medium.flush().unwrap();
    }

    #[test]
    fn a_card_is_known_again_whatever_it_loses() {
        for name in [
            "honest-1gb",
            "limbo-32gb",
            "wrap-700mb",
            "chain-16gb",
            "rotten-64gb",
        ] {
            let model = Model::named(name).unwrap().scaled(4);
            let mut medium = SimMedium::new(&model, 1);
            let test = stopped(&mut medium);
            medium.lose_power();
            let traces = Traces::of(&test, &mut medium).unwrap();
            assert!(!traces.are_disturbed(), "{name}: {traces:?}");
        }
    }

    #[test]
    fn who_used_it_since_is_seen_and_so_is_another_card() {
        let model = Model::named("honest-1gb").unwrap().scaled(4);
        let mut medium = SimMedium::new(&model, 1);
        let test = stopped(&mut medium);
        // A partition table is as little as that.
        let first = Span::new(0, medium.grain_blocks());
        write(&mut medium, first);
        let traces = Traces::of(&test, &mut medium).unwrap();
        assert!(traces.are_disturbed() && !traces.are_gone(), "{traces:?}");
        let mut other = SimMedium::new(&model, 2);
        let all = Span::new(0, other.blocks_count());
        write(&mut other, all);
        assert!(Traces::of(&test, &mut other).unwrap().are_gone());
    }

    /// A test of this card after a number of steps, as a journal keeps it.
    fn after(model: &Model, load: Option<Load>, steps: usize) -> (SimMedium, Verify) {
        let mut medium = SimMedium::new(model, 1);
        let content = Content { seed: 7, round: 0 };
        let mut test = Verify::new(medium.blocks_count(), content).under(load);
        for _ in 0..steps {
            test.advance(&mut medium).unwrap();
            test.note_last_written(&mut medium).unwrap();
        }
        let kept = serde_json::to_string(&test).unwrap();
        let mut test: Verify = serde_json::from_str(&kept).unwrap();
        test.take_up();
        (medium, test)
    }

    /// The first half of a copy holds what the card holds: only the end of what was written distinguishes them.
    #[test]
    fn a_copy_from_an_earlier_moment_of_the_test_is_another_card() {
        let model = Model::named("honest-1gb").unwrap();
        let random = Load {
            pattern: WritePattern::Random,
            queue_depth: 4,
            discards: false,
        };
        for load in [None, Some(random)] {
            // 512 MiB are durable after 8 steps; the reading begins after 15 or 16.
            for steps in [9, 13, 17, 22] {
                let (mut medium, test) = after(&model, load, steps);
                let traces = Traces::of(&test, &mut medium).unwrap();
                assert!(!traces.are_disturbed(), "{load:?}, {steps}: {traces:?}");
                for earlier in [1, 4, 7] {
                    let (mut copy, _) = after(&model, load, earlier);
                    let traces = Traces::of(&test, &mut copy).unwrap();
                    assert!(traces.are_disturbed(), "{load:?}, {steps}, {earlier}");
                    assert!(!traces.are_gone());
                }
            }
        }
    }

    /// All of a copy from an earlier cycle holds content of the test.
    #[test]
    fn a_copy_from_an_earlier_cycle_is_another_card() {
        let model = Model::named("honest-1gb").unwrap().scaled(4);
        let end = EndureEnd {
            bad_share: 0.5,
            most_bytes: None,
            most_cycles: Some(9),
        };
        let after = |cycles: u32, steps: usize| {
            let mut medium = SimMedium::new(&model, 1);
            let mut test = Endure::new(medium.blocks_count(), 7, end);
            let mut left = steps;
            while test.cycles() < cycles || left > 0 {
                left -= usize::from(test.cycles() == cycles);
                test.advance(&mut medium).unwrap();
                test.note_last_written(&mut medium).unwrap();
            }
            test.take_up(end);
            (medium, test)
        };
        for (cycles, steps) in [(1, 1), (1, 6), (2, 1), (2, 5)] {
            let (mut medium, test) = after(cycles, steps);
            let traces = Traces::of(test.verify(), &mut medium).unwrap();
            assert!(!traces.are_disturbed(), "{cycles}, {steps}: {traces:?}");
            let (mut copy, _) = after(cycles - 1, 2);
            let traces = Traces::of(test.verify(), &mut copy).unwrap();
            assert!(traces.are_disturbed(), "{cycles}, {steps}");
        }
    }

    #[test]
    fn nothing_is_asked_of_a_test_that_has_nothing_durable() {
        let model = Model::named("honest-1gb").unwrap().scaled(4);
        let mut medium = SimMedium::new(&model, 1);
        let test = Verify::new(medium.blocks_count(), Content { seed: 7, round: 0 });
        let traces = Traces::of(&test, &mut medium).unwrap();
        assert!(!traces.are_disturbed());
    }
}
