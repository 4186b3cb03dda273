//! Errors of a card, and errors that only its reader causes.

use cardmark_core::{Errno, StorageKind};
use cardmark_integrity::{
    Answer, BLOCK_BYTES, Content, Endure, EndureEnd, Extent, Held, Medium, Span, Surface, Trouble,
    Verify, judge,
};
use cardmark_sim::{Model, SimMedium};

use crate::support::{GEOMETRIES, blocks, content, probed, verify};

const EIO: Errno = Errno::IO;
const UNREADABLE: Held = Held::Unreadable { errno: EIO };
const REFUSED: Held = Held::Refused { errno: EIO };

/// A simulated card with more wrong about it than models have.
struct Scripted {
    medium: SimMedium,
    /// Behaviour of these blocks in place of normal reads and writes; refused ones return nothing either.
    bad: Vec<(Span, Held)>,
    /// Number of calls after which everything is answered with an error.
    calls_left: Option<u64>,
}

impl Scripted {
    fn new(model: &Model) -> Self {
        Self {
            medium: SimMedium::new(model, 1),
            bad: Vec::new(),
            calls_left: None,
        }
    }

    fn hangs(&mut self) -> bool {
        self.calls_left = self.calls_left.map(|left| left.saturating_sub(1));
        self.calls_left == Some(0)
    }

    /// Lays the behaviour of the bad blocks of a span over that of the others.
    fn overlaid(
        &self,
        span: Span,
        runs: &[Extent],
        bad: impl Fn(Held) -> Option<Held>,
    ) -> Vec<Extent> {
        let mut under = Surface::default();
        runs.iter().for_each(|run| under.push(*run));
        let mut surface = Surface::default();
        let mut at = span.start;
        for (place, held) in &self.bad {
            let part = Span::between(place.start.max(at), place.end().min(span.end()));
            let Some(held) = bad(*held).filter(|_| part.count > 0) else {
                continue;
            };
            under
                .within(Span::between(at, part.start))
                .for_each(|run| surface.push(run));
            surface.push(Extent::new(part, held));
            at = part.end();
        }
        under
            .within(Span::between(at, span.end()))
            .for_each(|run| surface.push(run));
        surface.runs().to_vec()
    }
}

impl Medium for Scripted {
    fn blocks_count(&self) -> u64 {
        self.medium.blocks_count()
    }

    fn grain_blocks(&self) -> u64 {
        self.medium.grain_blocks()
    }

    fn write(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        if self.hangs() {
            return Ok(Answer {
                span_ns: 0,
                runs: vec![Extent::new(span, REFUSED)],
            });
        }
        let answer = self.medium.write(span, content)?;
        let refused = |held| matches!(held, Held::Refused { .. }).then_some(held);
        Ok(Answer {
            runs: self.overlaid(span, &answer.runs, refused),
            ..answer
        })
    }

    fn read(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        if self.hangs() {
            return Ok(Answer {
                span_ns: 0,
                runs: vec![Extent::new(span, UNREADABLE)],
            });
        }
        let answer = self.medium.read(span, content)?;
        let given = |held| match held {
            Held::Refused { errno } => Some(Held::Unreadable { errno }),
            held => Some(held),
        };
        Ok(Answer {
            runs: self.overlaid(span, &answer.runs, given),
            ..answer
        })
    }

    fn flush(&mut self) -> Result<u64, Trouble> {
        self.hangs();
        self.medium.flush()
    }
}

fn honest() -> Model {
    Model::named("honest-1gb").unwrap()
}

fn verified(medium: &mut Scripted) -> Result<Verify, Trouble> {
    let mut verify = Verify::new(medium.blocks_count(), content(8));
    while !verify.is_done() {
        verify.advance(medium)?;
    }
    Ok(verify)
}

/// The end of a card of 1 GiB, in more than a step and in less than one.
fn ends() -> [Span; 2] {
    let all = blocks(1 << 30);
    [
        Span::between(blocks(300 << 20) + 8, all),
        Span::between(all - blocks(5 << 20), all),
    ]
}

#[test]
fn an_end_that_gives_errors_is_damage_and_no_fake() {
    for end in ends() {
        let mut medium = Scripted::new(&honest());
        medium.bad = vec![(end, UNREADABLE)];
        let verdict = verified(&mut medium).unwrap().verdict().unwrap();
        assert_eq!(verdict.kind, StorageKind::Damaged, "{verdict:?}");
        assert_eq!(verdict.real_blocks, end.start);
        assert_eq!(verdict.counts.unreadable_count, end.count);

        // Data hidden by errors may be lost, too: the verdict does not claim it.
        let silent = Span::new(end.start + 64, end.count / 2);
        medium = Scripted::new(&honest());
        medium.bad = vec![
            (Span::between(end.start, silent.start), UNREADABLE),
            (silent, Held::Foreign),
            (Span::between(silent.end(), end.end()), UNREADABLE),
        ];
        let verdict = verified(&mut medium).unwrap().verdict().unwrap();
        assert_eq!(verdict.kind, StorageKind::Damaged, "{verdict:?}");
        assert_eq!(verdict.real_blocks, end.start);
    }
}

#[test]
fn refused_blocks_are_not_written_and_show_no_rate() {
    for end in ends() {
        let mut medium = Scripted::new(&honest());
        medium.bad = vec![(end, REFUSED)];
        let test = verified(&mut medium).unwrap();
        assert_eq!(test.written_blocks(), end.start);
        let (written, _) = test.speeds();
        let rates = written
            .iter()
            .map(|speed| speed.span.count as f64 / speed.span_ns as f64);
        let (least, most) = rates.fold((f64::MAX, 0.0_f64), |(least, most), rate| {
            (least.min(rate), most.max(rate))
        });
        assert!(most < 2.0 * least, "{least} {most}");
        assert!(written.iter().all(|speed| speed.span.end() <= end.start));
    }
}

/// Also if nothing else was read before, and if enough blocks fail that the rest is no longer tried after
/// failures in a few places.
#[test]
fn what_gives_errors_says_nothing_about_what_is_behind() {
    for start in [0, blocks(256 << 20) - 8] {
        for held in [UNREADABLE, REFUSED] {
            let bad = Span::new(start, blocks(400 << 20));
            let mut medium = Scripted::new(&honest());
            medium.bad = vec![(bad, held)];
            let verdict = verified(&mut medium).unwrap().verdict().unwrap();
            assert_eq!(verdict.kind, StorageKind::Damaged, "{verdict:?}");
            assert_eq!(verdict.real_blocks, medium.blocks_count());
            assert_eq!(verdict.counts.bad_count(), bad.count);
        }
    }
}

#[test]
fn an_end_that_is_lost_without_a_word_is_a_fake() {
    for end in ends() {
        let spot = Span::new(end.start + 4096, 64);
        let mut medium = Scripted::new(&honest());
        medium.bad = vec![
            (Span::between(end.start, spot.start), Held::Foreign),
            (spot, UNREADABLE),
            (Span::between(spot.end(), end.end()), Held::Foreign),
        ];
        let verdict = verified(&mut medium).unwrap().verdict().unwrap();
        assert_eq!(verdict.kind, StorageKind::Limbo, "{verdict:?}");
        assert_eq!(verdict.real_blocks, end.start);
    }
}

#[test]
fn what_holds_its_own_content_is_there() {
    for held in [
        Held::Changed,
        // Data of an earlier round.
        Held::Other {
            block: 8192,
            round: 3,
        },
    ] {
        let mut surface = Surface::default();
        surface.push(Extent::new(Span::new(0, 8192), Held::Good));
        surface.push(Extent::new(Span::new(8192, 8192), held));
        let verdict = judge(&surface);
        assert_eq!(verdict.kind, StorageKind::Damaged);
        assert_eq!(verdict.real_blocks, 16_384);
    }
}

/// A reader that hangs answers every block with an error: the test ends without a verdict, and continues at the
/// first of these errors once the reader is back.
#[test]
fn a_reader_that_hangs_is_no_fault_of_the_card() {
    for name in ["honest-1gb", "limbo-32gb"] {
        let model = match name {
            "limbo-32gb" => Model::named(name).unwrap().scaled(16),
            _ => honest(),
        };
        let whole = verify(&mut SimMedium::new(&model, 1), 8);
        let mut medium = Scripted::new(&model);
        medium.calls_left = Some(u64::MAX);
        verified(&mut medium).unwrap();
        let calls = u64::MAX - medium.calls_left.unwrap();
        for call in 1..=calls {
            let mut medium = Scripted::new(&model);
            medium.calls_left = Some(call);
            let mut verify = Verify::new(medium.blocks_count(), content(8));
            let hung = loop {
                if let Err(trouble) = verify.advance(&mut medium) {
                    break trouble;
                }
                assert!(!verify.is_done(), "{name}, call {call}: {verify:?}");
            };
            assert_eq!(hung, Trouble::OnlyErrors { errno: EIO });
            medium.calls_left = None;
            verify.take_up();
            while !verify.is_done() {
                verify.advance(&mut medium).unwrap();
            }
            assert_eq!(verify.verdict(), whole.verdict(), "{name}, call {call}");
            assert_eq!(verify.surface(), whole.surface(), "{name}, call {call}");
        }
    }
}

/// Even if the reader recovers before it is noticed, no fake is reported.
#[test]
fn a_cycle_that_held_everything_proves_what_is_there() {
    let end = EndureEnd {
        bad_share: 0.0,
        most_bytes: None,
        most_cycles: Some(5),
    };
    let tail = ends()[0];
    for (bad_from, kind) in [(3, StorageKind::Damaged), (0, StorageKind::Limbo)] {
        let mut medium = Scripted::new(&honest());
        let mut endure = Endure::new(medium.blocks_count(), 4, end);
        while !endure.is_done() {
            if endure.cycles() >= bad_from {
                medium.bad = vec![(tail, Held::Foreign)];
            }
            endure.advance(&mut medium).unwrap();
        }
        let verdict = endure.verdict().unwrap();
        assert_eq!(verdict.kind, kind);
        assert_eq!(verdict.real_blocks, tail.start);
        assert_eq!(verdict.counts.lost_count, tail.count);
        let mut again = endure.verify().again();
        while !again.is_done() {
            again.advance(&mut medium).unwrap();
        }
        assert_eq!(endure.verdict_of(&again).unwrap().kind, kind);
    }
}

#[test]
fn a_probe_names_what_is_there_before_an_end_that_gives_errors() {
    let model = honest();
    for end in ends() {
        for held in [UNREADABLE, REFUSED] {
            let mut medium = Scripted::new(&model);
            medium.bad = vec![(end, held)];
            let found = probed(&mut medium, 3, 8192).unwrap();
            assert_eq!(found.kind, StorageKind::Damaged, "{found:?}");
            // Of a short end single places are seen only.
            let is_long = end.count > blocks(64 << 20);
            let real_blocks = if is_long {
                end.start
            } else {
                found.real_blocks
            };
            assert_eq!(found.real_blocks, real_blocks, "{found:?}");
        }
        let mut medium = Scripted::new(&model);
        medium.bad = vec![(end, Held::Foreign)];
        let found = probed(&mut medium, 3, 8192).unwrap();
        if end.count > blocks(64 << 20) {
            assert_eq!(found.kind, StorageKind::Limbo, "{found:?}");
            assert_eq!(found.real_blocks, end.start);
        }
    }
}

/// A reader may hang at any moment of a probe: the probe then reports nothing, or the truth.
#[test]
fn a_probe_blames_no_card_for_its_reader() {
    for name in [
        "honest-1gb",
        "limbo-32gb",
        "wrap-700mb",
        "chain-16gb",
        "cached-64gb",
    ] {
        let truth = GEOMETRIES.iter().find(|truth| truth.name == name).unwrap();
        let model = truth.scaled_model();
        let mut medium = Scripted::new(&model);
        medium.calls_left = Some(u64::MAX);
        let whole = probed(&mut medium, 3, truth.cache_blocks()).unwrap();
        let calls = u64::MAX - medium.calls_left.unwrap();
        for call in (1..=calls).step_by(7) {
            let mut medium = Scripted::new(&model);
            medium.calls_left = Some(call);
            match probed(&mut medium, 3, truth.cache_blocks()) {
                Ok(found) => {
                    let said = (found.kind, found.real_blocks, found.wrap_blocks);
                    let is_true = (whole.kind, whole.real_blocks, whole.wrap_blocks);
                    assert_eq!(said, is_true, "{name}, call {call} of {calls}");
                }
                Err(trouble) => assert_eq!(trouble, Trouble::OnlyErrors { errno: EIO }),
            }
        }
    }
}

/// Two of the first places that a probe checks are bad, and nothing else: they are not the end of the storage.
#[test]
fn single_spots_at_the_end_are_damage_and_no_fake() {
    let model = honest();
    let all = model.capacity_bytes() / BLOCK_BYTES as u64;
    // They are the ends of 32 equal parts of the space behind the very first places.
    let behind = 513;
    let places = [31, 32].map(|part| behind + (all - behind) * part / 32 - 1);
    for held in [Held::Foreign, UNREADABLE] {
        let mut medium = Scripted::new(&model);
        medium.bad = places.map(|start| (Span::new(start, 1), held)).to_vec();
        let found = probed(&mut medium, 3, 8192).unwrap();
        assert_eq!(found.kind, StorageKind::Damaged, "{found:?}");
        assert_eq!(found.real_blocks, all);
        assert!(found.sampling.is_some(), "went on: {found:?}");
        assert!(found.excluded_cache_blocks.is_some());
    }
}
