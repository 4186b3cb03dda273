//! A test may be ended at any place and for any reason: after it is resumed it arrives at the same verdict, and
//! no block is lost.

use cardmark_core::Rng;
use cardmark_integrity::{
    Content, Endure, EndureEnd, Medium, Piece, Raw, Restoring, Span, Trouble, UndoLog, Verify,
    rehearse,
};
use cardmark_sim::{Model, Origin, SimMedium, SimPiece};

use crate::support::{GEOMETRIES, content, probed, verify};

/// Points at which a test is interrupted.
const POINTS: u64 = 200;

/// A log in memory in place of one on another device: settled content stays.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub(crate) pieces: Vec<SimPiece>,
    settled: usize,
    /// Blocks that were announced or settled.
    possible: Vec<Span>,
    /// True if it was opened again, so that it is an earlier session's.
    is_earlier: bool,
    pub(crate) is_damaged: bool,
}

impl Log {
    /// Returns the log as it is after a loss of power.
    fn after_power(mut self) -> Self {
        self.pieces.truncate(self.settled);
        self.opened()
    }

    /// The log as a later session finds it.
    fn opened(mut self) -> Self {
        self.is_earlier = true;
        self
    }
}

impl UndoLog<SimPiece> for Log {
    fn plan(&mut self, spans: &[Span]) -> Result<(), Trouble> {
        self.possible.extend(spans);
        Ok(())
    }

    fn keep(&mut self, piece: SimPiece) -> Result<(), Trouble> {
        assert!(piece.span().count > 0);
        self.pieces.push(piece);
        Ok(())
    }

    fn settle(&mut self, spans: &[Span]) -> Result<(), Trouble> {
        self.settled = self.pieces.len();
        self.possible.extend(spans);
        Ok(())
    }

    fn spans(&self) -> Vec<Span> {
        self.pieces.iter().map(Piece::span).collect()
    }

    fn piece(&mut self, number: usize) -> Result<SimPiece, Trouble> {
        Ok(self.pieces[number].clone())
    }

    fn possible(&self) -> &[Span] {
        if self.is_earlier { &self.possible } else { &[] }
    }

    fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    fn clear(&mut self) -> Result<(), Trouble> {
        *self = Self::default();
        Ok(())
    }
}

/// A card that somebody's data are on.
pub(crate) fn used(model: &Model, seed: u64) -> SimMedium {
    let mut medium = SimMedium::new(model, seed);
    let all = Span::new(0, medium.blocks_count());
    let theirs = Content {
        seed: 0xdead,
        round: 9,
    };
    for part in all.parts(1 << 17) {
        medium.write(part, theirs).unwrap();
    }
    medium.flush().unwrap();
    // State in which we receive it.
    medium.lose_power();
    medium
}

/// Returns the whole content of the card.
pub(crate) fn kept(medium: &mut SimMedium) -> Vec<(u64, Option<Origin>)> {
    let all = Span::new(0, medium.blocks_count());
    let mut joined: Vec<(u64, Option<Origin>)> = Vec::new();
    for (count, origin) in medium.origins(all) {
        let goes_on = joined
            .last()
            .is_some_and(|(held, last)| match (last, origin) {
                (Some(last), Some(next)) => {
                    last.content == next.content && last.block + held == next.block
                }
                (None, None) => true,
                _ => false,
            });
        match joined.last_mut() {
            Some((held, _)) if goes_on => *held += count,
            _ => joined.push((count, origin)),
        }
    }
    joined
}

/// The names of the cards that are interrupted.
const NAMES: [&str; 5] = [
    "honest-1gb",
    "limbo-32gb",
    "wrap-700mb",
    "chain-16gb",
    "cached-64gb",
];

#[test]
fn verify_comes_to_the_same_verdict() {
    for name in NAMES {
        let truth = GEOMETRIES.iter().find(|truth| truth.name == name).unwrap();
        let model = truth.scaled_model();
        let whole = verify(&mut SimMedium::new(&model, 1), 8);
        let mut rng = Rng::new(17);
        for point in 0..POINTS {
            let mut medium = SimMedium::new(&model, 1);
            let mut verify = Verify::new(medium.blocks_count(), content(8));
            let mut saved = serde_json::to_string(&verify).unwrap();
            medium.stop_after(Some(1 + rng.below(12)));
            let stopped = loop {
                if verify.is_done() {
                    break Ok(());
                }
                if let Err(trouble) = verify.advance(&mut medium) {
                    break Err(trouble);
                }
                saved = serde_json::to_string(&verify).unwrap();
            };
            if stopped.is_ok() {
                continue;
            }
            if point % 2 == 0 {
                medium.lose_power();
            }
            medium.stop_after(None);
            let mut again: Verify = serde_json::from_str(&saved).unwrap();
            again.take_up();
            while !again.is_done() {
                again.advance(&mut medium).unwrap();
            }
            assert_eq!(again.verdict(), whole.verdict(), "{name}, point {point}");
            assert_eq!(again.surface(), whole.surface(), "{name}, point {point}");
        }
    }
}

#[test]
fn a_restoring_probe_comes_to_the_same_result_and_loses_no_block() {
    for name in NAMES {
        let truth = GEOMETRIES.iter().find(|truth| truth.name == name).unwrap();
        let model = truth.scaled_model();
        let mut untouched = used(&model, 1);
        let before = kept(&mut untouched);
        let whole = probed(&mut used(&model, 1), 3, truth.cache_blocks()).unwrap();
        let mut rng = Rng::new(5);
        for point in 0..POINTS {
            let mut medium = used(&model, 1);
            medium.stop_after(Some(1 + rng.below(4_000)));
            let mut restoring = Restoring::new(medium, Log::default(), content(3));
            let ended = probed(&mut restoring, 3, truth.cache_blocks())
                .and_then(|_| restoring.restore(&mut |_, _| ()));
            let (mut medium, log) = restoring.into_parts();
            if ended.is_ok() {
                continue;
            }
            let log = if point % 2 == 0 {
                medium.lose_power();
                log.after_power()
            } else {
                log.opened()
            };
            // Taken up again: everything back, perhaps interrupted again, and then from the beginning.
            medium.stop_after(Some(1 + rng.below(50)));
            let mut restoring = Restoring::new(medium, log, content(3));
            let again = restoring.restore(&mut |_, _| ());
            let (mut medium, log) = restoring.into_parts();
            medium.stop_after(None);
            let mut restoring = Restoring::new(medium, log, content(3));
            if again.is_err() {
                // Interrupted before the first write or after the last one, it is like a copy of itself.
                let left = restoring.restore(&mut |_, _| ()).unwrap();
                assert!(left == 0 || restoring.holds_kept() == Ok(true));
            }
            let (mut medium, _) = restoring.into_parts();
            medium.lose_power();
            assert_eq!(kept(&mut medium), before, "{name}, point {point}");
            let mut restoring = Restoring::new(medium, Log::default(), content(3));
            let found = probed(&mut restoring, 3, truth.cache_blocks()).unwrap();
            assert_eq!(restoring.restore(&mut |_, _| ()), Ok(0));
            let (mut medium, _) = restoring.into_parts();
            medium.lose_power();
            assert_eq!(kept(&mut medium), before, "{name}, point {point}");
            assert_eq!(
                (found.kind, found.real_blocks, found.wrap_blocks),
                (whole.kind, whole.real_blocks, whole.wrap_blocks),
                "{name}, point {point}"
            );
        }
    }
}

/// A card in use whose probe was interrupted, and the content saved by then.
fn interrupted(model: &Model) -> (SimMedium, Log) {
    let mut medium = used(model, 1);
    medium.stop_after(Some(60));
    let mut restoring = Restoring::new(medium, Log::default(), content(3));
    probed(&mut restoring, 3, 8192).unwrap_err();
    let (mut medium, log) = restoring.into_parts();
    medium.stop_after(None);
    (medium, log)
}

/// Between an interruption and the next probe somebody else may have used the card.
#[test]
fn what_others_wrote_after_an_interruption_stays() {
    let model = Model::named("honest-1gb").unwrap().scaled(16);
    let before = kept(&mut used(&model, 1));
    let (mut medium, log) = interrupted(&model);
    let theirs = Content { seed: 5, round: 2 };
    let overwritten: Vec<Span> = log.pieces.iter().map(Piece::span).step_by(2).collect();
    assert!(overwritten.len() > 4, "{}", overwritten.len());
    for &span in &overwritten {
        medium.write(span, theirs).unwrap();
    }
    let mut restoring = Restoring::new(medium, log, content(3));
    assert!(restoring.has_earlier());
    assert_eq!(restoring.restore(&mut |_, _| ()), Ok(0));
    // It is named, and the log stays: a loss of power spoils blocks as well.
    let changed: u64 = restoring.changed().iter().map(|span| span.count).sum();
    assert_eq!(
        changed,
        overwritten.iter().map(|span| span.count).sum::<u64>()
    );
    assert!(restoring.has_earlier());
    let (mut medium, log) = restoring.into_parts();
    assert!(!log.pieces.is_empty());
    let mut expected = used(&model, 1);
    assert_eq!(kept(&mut expected), before);
    for &span in &overwritten {
        expected.write(span, theirs).unwrap();
    }
    assert_eq!(kept(&mut medium), kept(&mut expected));
}

/// Cards that are blank, or hold copies of one image, differ in few places.
#[test]
fn a_card_that_holds_nearly_all_that_was_kept_is_another_one() {
    let model = Model::named("honest-1gb").unwrap().scaled(16);
    let (_, log) = interrupted(&model);
    let last = log.pieces.last().unwrap().span();
    let mut other = used(&model, 1);
    other.write(last, Content { seed: 5, round: 2 }).unwrap();
    let pieces_count = log.pieces.len();
    let mut restoring = Restoring::new(other, log, content(3));
    assert_eq!(restoring.knows_storage(), Ok(false));
    assert!(restoring.restore(&mut |_, _| ()).unwrap() > 0);
    assert_eq!(restoring.into_parts().1.pieces.len(), pieces_count);
}

/// Behind a reader that hides them, cards of one size have one name: the log of one is found with another.
#[test]
fn another_card_gets_nothing_and_what_is_kept_of_the_first_stays() {
    let model = Model::named("honest-1gb").unwrap().scaled(16);
    let before = kept(&mut used(&model, 1));
    let (mut first, log) = interrupted(&model);
    assert_ne!(kept(&mut first), before);
    let count = log.pieces.len();
    // Others' data; one has them in the same place as the first, as a first block may be the same on many cards.
    let theirs = Content { seed: 5, round: 2 };
    let mut log = log;
    for same_count in [0, 1] {
        let mut other = SimMedium::new(&model, 2);
        let all = Span::new(0, other.blocks_count());
        other.write(all, theirs).unwrap();
        for piece in &log.pieces[..same_count] {
            other.put(piece, None).unwrap();
        }
        let held = kept(&mut other);
        let mut restoring = Restoring::new(other, log, content(3));
        assert_eq!(restoring.knows_storage(), Ok(false));
        assert_ne!(restoring.restore(&mut |_, _| ()), Ok(0));
        assert_eq!(restoring.put_blocks(), 0);
        let (mut other, left) = restoring.into_parts();
        assert_eq!(kept(&mut other), held);
        assert_eq!(left.pieces.len(), count);
        log = left;
    }
    let mut restoring = Restoring::new(first, log, content(3));
    assert_eq!(restoring.restore(&mut |_, _| ()), Ok(0));
    let (mut first, log) = restoring.into_parts();
    assert_eq!(kept(&mut first), before);
    assert_eq!(log.pieces.len(), 0);
}

/// After the last block was restored a card is like every copy of it. The log stays until someone decides.
#[test]
fn a_card_or_copy_that_has_all_back_is_not_identified() {
    let model = Model::named("wrap-700mb").unwrap().scaled(64);
    let before = kept(&mut used(&model, 1));
    let mut restoring = Restoring::new(used(&model, 1), Log::default(), content(3));
    probed(&mut restoring, 3, 8192).unwrap();
    let (medium, log) = restoring.into_parts();
    let mut restoring = Restoring::new(medium, log.clone(), content(3));
    assert_eq!(restoring.restore(&mut |_, _| ()), Ok(0));
    let (medium, _) = restoring.into_parts();
    let mut restoring = Restoring::new(medium, log.opened(), content(3));
    assert_eq!(restoring.knows_storage(), Ok(false));
    assert_eq!(restoring.holds_kept(), Ok(true));
    assert_ne!(restoring.restore(&mut |_, _| ()), Ok(0));
    assert_eq!(restoring.put_blocks(), 0);
    let (mut medium, log) = restoring.into_parts();
    assert_eq!(kept(&mut medium), before);
    assert!(!log.pieces.is_empty());
}

/// One image on many cards: a copy holds all that the log of the first card has.
#[test]
fn the_log_of_a_card_is_not_cleared_with_its_copy() {
    let model = Model::named("honest-1gb").unwrap().scaled(16);
    let before = kept(&mut used(&model, 1));
    for calls in [2, 10, 60, 400] {
        let mut medium = used(&model, 1);
        medium.stop_after(Some(calls));
        let mut restoring = Restoring::new(medium, Log::default(), content(3));
        probed(&mut restoring, 3, 8192).unwrap_err();
        let (mut first, log) = restoring.into_parts();
        first.stop_after(None);
        assert_ne!(kept(&mut first), before, "{calls}");
        let log = log.opened();
        let mut restoring = Restoring::new(used(&model, 1), log.clone(), content(3));
        assert_eq!(restoring.knows_storage(), Ok(false), "{calls}");
        assert_ne!(restoring.restore(&mut |_, _| ()), Ok(0));
        let (_, left) = restoring.into_parts();
        assert_eq!(left.pieces.len(), log.pieces.len());
        let mut restoring = Restoring::new(first, left, content(3));
        assert_eq!(restoring.knows_storage(), Ok(true), "{calls}");
        assert_eq!(restoring.restore(&mut |_, _| ()), Ok(0));
        let (mut first, left) = restoring.into_parts();
        assert_eq!(kept(&mut first), before);
        assert!(left.pieces.is_empty(), "cleared after restoring");
    }
}

/// A damaged log may no longer name the blocks that identify its card.
#[test]
fn the_card_of_a_damaged_log_is_found_by_any_of_its_blocks() {
    let model = Model::named("honest-1gb").unwrap().scaled(16);
    let (mut medium, log) = interrupted(&model);
    for piece in &log.pieces {
        medium.put(piece, None).unwrap();
    }
    let left = Span::new(medium.blocks_count() / 2, 8);
    medium.write(left, content(3).borrowed()).unwrap();
    let mut undamaged = Restoring::new(medium, log.clone().opened(), content(3));
    assert_eq!(undamaged.knows_storage(), Ok(false));
    let (medium, _) = undamaged.into_parts();
    let (log, _) = without(log, |_| false);
    let mut restoring = Restoring::new(medium, log, content(3));
    assert_eq!(restoring.knows_storage(), Ok(true));
    assert_eq!(restoring.restore(&mut |_, _| ()), Ok(left.count));
    assert_eq!(restoring.unrestored(), [left]);
}

/// A log whose pieces with these numbers are lost, as a later session finds it.
fn without(mut log: Log, is_lost: impl Fn(usize) -> bool) -> (Log, Vec<Span>) {
    let pieces = std::mem::take(&mut log.pieces).into_iter().enumerate();
    let (lost, kept): (Vec<_>, Vec<_>) = pieces.partition(|(number, _)| is_lost(*number));
    log.pieces = kept.into_iter().map(|(_, piece)| piece).collect();
    log.is_damaged = true;
    let lost = lost.into_iter().map(|(_, piece)| piece.span());
    (log.opened(), lost.collect())
}

#[test]
fn a_damaged_log_restores_what_it_has_and_names_all_else() {
    let model = Model::named("honest-1gb").unwrap().scaled(16);
    let before = kept(&mut used(&model, 1));
    for step in [1, 2, 7] {
        let (medium, log) = interrupted(&model);
        let (log, lost) = without(log, |number| number % step == 0);
        let pieces_count = log.pieces.len();
        let mut restoring = Restoring::new(medium, log, content(3));
        assert!(restoring.has_earlier() && restoring.is_damaged());
        let lost_blocks: u64 = lost.iter().map(|span| span.count).sum();
        let left = restoring.restore(&mut |_, _| ()).unwrap();
        // The last of them may not have been overwritten yet.
        assert!(left <= lost_blocks && left + 2048 > lost_blocks, "{left}");
        let is_lost = |block| {
            lost.iter()
                .any(|span| (span.start..span.end()).contains(&block))
        };
        let unrestored = restoring.unrestored().to_vec();
        for span in &unrestored {
            assert!((span.start..span.end()).all(is_lost), "{span:?}");
        }
        assert_eq!(unrestored.iter().map(|span| span.count).sum::<u64>(), left);
        let (mut medium, log) = restoring.into_parts();
        assert_eq!(log.pieces.len(), pieces_count, "it is kept");
        // Nothing but the unrestored blocks differs.
        let mut expected = used(&model, 1);
        for &span in &unrestored {
            expected.write(span, content(3).borrowed()).unwrap();
        }
        assert_eq!(kept(&mut medium), kept(&mut expected));
        assert_ne!(kept(&mut medium), before);
    }
}

/// The end of a log may be lost without a trace: the blocks that the test planned to write are read, too.
#[test]
fn blocks_that_only_the_plan_names_are_found() {
    let model = Model::named("honest-1gb").unwrap().scaled(16);
    let mut medium = used(&model, 1);
    let plan = rehearse(medium.blocks_count(), medium.grain_blocks(), |medium| {
        probed(&mut { medium }, 3, 8192)
    });
    medium.stop_after(Some(400));
    let mut restoring = Restoring::new(medium, Log::default(), content(3));
    restoring.intend(&plan).unwrap();
    probed(&mut restoring, 3, 8192).unwrap_err();
    let (mut medium, mut log) = restoring.into_parts();
    medium.stop_after(None);
    log.pieces.truncate(20);
    log.possible = plan;
    let mut restoring = Restoring::new(medium, log.opened(), content(3));
    assert!(!restoring.is_damaged());
    assert!(restoring.restore(&mut |_, _| ()).unwrap() > 0);
    assert!(!restoring.unrestored().is_empty());
    assert_eq!(restoring.log().pieces.len(), 20, "it is kept");
}

/// The blocks that a test writes on faultless storage are known in advance.
#[test]
fn a_rehearsal_names_what_a_probe_writes() {
    for name in ["honest-1gb", "a1-32gb"] {
        let truth = GEOMETRIES.iter().find(|truth| truth.name == name).unwrap();
        let mut medium = used(&truth.scaled_model(), 1);
        let plan = rehearse(medium.blocks_count(), medium.grain_blocks(), |medium| {
            probed(&mut { medium }, 3, truth.cache_blocks())
        });
        let before = kept(&mut medium);
        probed(&mut medium, 3, truth.cache_blocks()).unwrap();
        assert_ne!(kept(&mut medium), before);
        // Nothing else has changed.
        let mut expected = used(&truth.scaled_model(), 1);
        for span in plan {
            medium.write(span, content(4)).unwrap();
            expected.write(span, content(4)).unwrap();
        }
        assert_eq!(kept(&mut medium), kept(&mut expected), "{name}");
    }
}

/// Content of an interrupted test whose log is elsewhere.
#[test]
fn content_of_another_session_stops_a_test_before_it_writes() {
    let model = Model::named("honest-1gb").unwrap().scaled(16);
    let (mut medium, log) = interrupted(&model);
    let before = kept(&mut medium);
    let mut restoring = Restoring::new(medium, Log::default(), content(4));
    assert_eq!(
        probed(&mut restoring, 4, 8192),
        Err(Trouble::Residue { block: 0 })
    );
    assert_eq!(restoring.restore(&mut |_, _| ()), Ok(0));
    let (mut medium, _) = restoring.into_parts();
    assert_eq!(kept(&mut medium), before, "nothing was written");
    let mut restoring = Restoring::new(medium, Log::default(), content(4));
    restoring.accept_residue();
    probed(&mut restoring, 4, 8192).unwrap();
    assert_eq!(restoring.restore(&mut |_, _| ()), Ok(0));
    let (mut medium, _) = restoring.into_parts();
    assert_eq!(kept(&mut medium), before, "it is put back");
    // With its log all is restored.
    let mut restoring = Restoring::new(medium, log.opened(), content(3));
    assert_eq!(restoring.restore(&mut |_, _| ()), Ok(0));
    let (mut medium, _) = restoring.into_parts();
    assert_eq!(kept(&mut medium), kept(&mut used(&model, 1)));
}

/// On fakes, too, a restored probe leaves nothing that another one would mistake for content without a log; nor
/// does a verify.
#[test]
fn a_restored_card_and_one_that_was_verified_can_be_probed_again() {
    for truth in &GEOMETRIES {
        let mut medium = used(&truth.scaled_model(), 2);
        for seed in 4..7 {
            let mut restoring = Restoring::new(medium, Log::default(), content(seed));
            let found = probed(&mut restoring, seed, truth.cache_blocks());
            assert_eq!(
                found.map(|found| found.kind),
                Ok(truth.kind),
                "{}",
                truth.name
            );
            assert_eq!(restoring.restore(&mut |_, _| ()), Ok(0), "{}", truth.name);
            medium = restoring.into_parts().0;
        }
        verify(&mut medium, 8);
        let mut restoring = Restoring::new(medium, Log::default(), content(9));
        probed(&mut restoring, 9, truth.cache_blocks()).unwrap();
    }
}

#[test]
fn endure_reaches_the_same_milestones() {
    let model = Model::named("wearing-1gb").unwrap().scaled(16);
    let end = EndureEnd {
        bad_share: 0.1,
        most_bytes: None,
        most_cycles: Some(200),
    };
    let run = |endure: &mut Endure, medium: &mut SimMedium| {
        while !endure.is_done() {
            endure.advance(medium)?;
        }
        Ok::<(), Trouble>(())
    };
    let mut whole = Endure::new(blocks_of(&model), 6, end);
    run(&mut whole, &mut SimMedium::new(&model, 1)).unwrap();
    let mut rng = Rng::new(23);
    for point in 0..POINTS {
        let mut medium = SimMedium::new(&model, 1);
        let mut endure = Endure::new(medium.blocks_count(), 6, end);
        let mut saved = serde_json::to_string(&endure).unwrap();
        medium.stop_after(Some(1 + rng.below(300)));
        while let Ok(()) = endure.advance(&mut medium) {
            saved = serde_json::to_string(&endure).unwrap();
            if endure.is_done() {
                break;
            }
        }
        if point % 2 == 0 {
            medium.lose_power();
        }
        medium.stop_after(None);
        let mut again: Endure = serde_json::from_str(&saved).unwrap();
        again.take_up(end);
        run(&mut again, &mut medium).unwrap();
        // Data written twice wears twice: a cycle may be missing at the end.
        assert!(
            again.cycles().abs_diff(whole.cycles()) <= 1,
            "point {point}"
        );
        assert_eq!(
            again.milestones().len(),
            whole.milestones().len(),
            "point {point}"
        );
    }
}

fn blocks_of(model: &Model) -> u64 {
    crate::support::blocks(model.capacity_bytes())
}
