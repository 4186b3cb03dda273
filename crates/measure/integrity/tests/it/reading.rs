//! Reading storage twice: what is unreadable, different or slow. Nothing is written.

use std::collections::BTreeMap;

use cardmark_core::{Errno, StorageKind};
use cardmark_integrity::{
    Answer, Content, Contents, Extent, Held, Medium, Reading, Span, StorageVerdict, Trouble, Verify,
};
use cardmark_sim::{Model, SimMedium};

use crate::support::{content, verify};

/// Blocks of 1 MiB.
const UNIT: u64 = 2048;

fn read(medium: &mut impl Contents, scope: &Verify, is_in_use: bool) -> (Reading, StorageVerdict) {
    let mut test = Reading::new(scope, is_in_use);
    while !test.is_done() {
        test.advance(medium).unwrap();
    }
    let verdict = test.verdict().unwrap();
    let (moved, all) = test.moved_blocks();
    assert_eq!(moved, all);
    (test, verdict)
}

fn read_all(medium: &mut impl Contents, is_in_use: bool) -> (Reading, StorageVerdict) {
    let scope = Verify::new(medium.blocks_count(), content(1));
    read(medium, &scope, is_in_use)
}

fn card(name: &str, divisor: u64) -> SimMedium {
    SimMedium::new(&Model::named(name).unwrap().scaled(divisor), 3)
}

#[test]
fn a_good_card_is_readable_and_keeps_its_content() {
    let mut medium = card("honest-1gb", 4);
    verify(&mut medium, 7);
    let all = Span::new(0, medium.blocks_count());
    let before = medium.origins(all);
    let (test, verdict) = read_all(&mut medium, false);
    assert_eq!(verdict.kind, StorageKind::Readable);
    assert_eq!(verdict.counts.good_count, all.count);
    assert_eq!(test.excused_blocks(), None);
    assert_eq!(test.slow(), []);
    assert_eq!(medium.origins(all), before);
}

#[test]
fn the_unreadable_blocks_are_those_that_a_verify_finds() {
    let mut medium = card("unreadable-64gb", 64);
    let written = verify(&mut medium, 7).verdict().unwrap();
    let (_, verdict) = read_all(&mut medium, false);
    assert_eq!(verdict.kind, StorageKind::Damaged);
    assert_eq!(
        verdict.counts.unreadable_count,
        written.counts.unreadable_count
    );
    assert!(verdict.counts.unreadable_count > 0);
    assert_eq!(verdict.counts.changed_count, 0);
}

#[test]
fn content_that_changes_is_damage_unless_somebody_may_have_written_it() {
    let mut medium = card("flipping-32gb", 16);
    verify(&mut medium, 7);
    let (test, verdict) = read_all(&mut medium, false);
    assert_eq!(verdict.kind, StorageKind::Damaged);
    assert!(verdict.counts.changed_count >= UNIT);
    assert_eq!(
        test.surface().bad_blocks_count(),
        verdict.counts.bad_count()
    );
    let (test, verdict) = read_all(&mut medium, true);
    assert_eq!(verdict.kind, StorageKind::Readable);
    assert!(test.excused_blocks().unwrap() >= UNIT);
}

#[test]
fn a_part_is_read_alone() {
    let mut medium = Scripted::new(100 * UNIT);
    medium.unreadable = vec![Span::new(5 * UNIT, 8), Span::new(60 * UNIT + 16, 8)];
    let scope = Verify::of_part(Span::new(50 * UNIT, 25 * UNIT), content(1));
    let (test, verdict) = read(&mut medium, &scope, false);
    assert_eq!(verdict.counts.unreadable_count, 8);
    assert_eq!(verdict.real_blocks, 25 * UNIT);
    let surface = test.surface();
    let bad = surface.runs().iter().find(|run| run.has_failed());
    assert_eq!(bad.unwrap().span, Span::new(10 * UNIT + 16, 8));
    let read = medium.reads.keys().copied();
    assert!(
        read.into_iter()
            .all(|start| (50 * UNIT..75 * UNIT).contains(&start))
    );
}

#[test]
fn a_block_that_can_be_read_only_once_is_unreadable() {
    for pass in [1, 2] {
        let mut medium = Scripted::new(10 * UNIT + 16);
        medium.unreadable = vec![Span::new(3 * UNIT + 8, 8)];
        medium.fails_in = Some(pass);
        let (test, verdict) = read_all(&mut medium, false);
        assert_eq!(verdict.kind, StorageKind::Damaged, "{pass}");
        assert_eq!(verdict.counts.unreadable_count, 8, "{pass}");
        assert_eq!(verdict.counts.changed_count, 0, "{pass}");
        assert_eq!(test.surface().blocks_count(), 10 * UNIT + 16);
    }
}

#[test]
fn a_unit_that_differs_is_found_wherever_it_is() {
    let all = 10 * UNIT + 16;
    for (unit, blocks) in [(0, UNIT), (7, UNIT), (10, 16)] {
        let mut medium = Scripted::new(all);
        medium.changing = vec![unit * UNIT];
        let (test, verdict) = read_all(&mut medium, false);
        assert_eq!(verdict.counts.changed_count, blocks);
        let surface = test.surface();
        let bad = surface.runs().iter().find(|run| run.held == Held::Changed);
        assert_eq!(bad.unwrap().span, Span::new(unit * UNIT, blocks));
    }
}

#[test]
fn a_place_is_slow_if_it_is_so_in_both_passes() {
    let mut medium = Scripted::new(100 * UNIT);
    for unit in [20, 21, 70] {
        medium.slow.insert(unit * UNIT, [40, 50]);
    }
    // A pause of the card or the host, at another place in each pass.
    medium.slow.insert(5 * UNIT, [900, 10]);
    medium.slow.insert(6 * UNIT, [10, 900]);
    // Twice as long as usual is not slow.
    medium.slow.insert(90 * UNIT, [20, 20]);
    let (test, verdict) = read_all(&mut medium, false);
    assert_eq!(verdict.kind, StorageKind::Readable);
    let slow = test.slow();
    let places: Vec<(u64, u64, u64)> = slow
        .iter()
        .map(|place| {
            (
                place.span.start / UNIT,
                place.span.count / UNIT,
                place.span_ns,
            )
        })
        .collect();
    assert_eq!(places, [(20, 2, 80), (70, 1, 40)]);
}

#[test]
fn the_slow_quarter_of_a_card_is_found() {
    let mut medium = card("patchy-32gb", 1);
    let (test, verdict) = read_all(&mut medium, false);
    assert_eq!(verdict.kind, StorageKind::Readable);
    let slow: u64 = test.slow().iter().map(|place| place.span.count).sum();
    let share = slow as f64 / medium.blocks_count() as f64;
    assert!((0.2..0.3).contains(&share), "{share}");
}

#[test]
fn a_reader_that_no_longer_answers_is_no_verdict() {
    let mut medium = Scripted::new(100 * UNIT);
    medium.unreadable = vec![Span::new(0, 100 * UNIT)];
    let scope = Verify::new(100 * UNIT, content(1));
    let mut test = Reading::new(&scope, false);
    let trouble = loop {
        match test.advance(&mut medium) {
            Ok(()) => assert!(!test.is_done()),
            Err(trouble) => break trouble,
        }
    };
    assert_eq!(trouble, Trouble::OnlyErrors { errno: Errno::IO });
}

/// Storage whose faults are listed.
struct Scripted {
    blocks_count: u64,
    unreadable: Vec<Span>,
    /// The only pass in which these are unreadable; both if none.
    fails_in: Option<u64>,
    /// First blocks of units that differ whenever they are read.
    changing: Vec<u64>,
    /// Times of units in each pass; others take 10.
    slow: BTreeMap<u64, [u64; 2]>,
    /// Number of times that the unit was read, by its first block.
    reads: BTreeMap<u64, u64>,
}

impl Scripted {
    fn new(blocks_count: u64) -> Self {
        Self {
            blocks_count,
            unreadable: Vec::new(),
            fails_in: None,
            changing: Vec::new(),
            slow: BTreeMap::new(),
            reads: BTreeMap::new(),
        }
    }
}

impl Contents for Scripted {
    fn digest(&mut self, span: Span) -> Result<(Answer, Option<u64>), Trouble> {
        let reads = self.reads.entry(span.start).or_default();
        *reads += 1;
        let pass = *reads;
        let fails = self.fails_in.is_none_or(|failing| failing == pass);
        let bad = self.unreadable.iter().filter(|_| fails);
        let mut runs = Vec::new();
        let mut start = span.start;
        for bad in bad.filter(|bad| bad.start < span.end() && bad.end() > span.start) {
            let from = bad.start.max(span.start);
            let to = bad.end().min(span.end());
            let held = Held::Unreadable { errno: Errno::IO };
            runs.push(Extent::new(Span::between(start, from), Held::Good));
            runs.push(Extent::new(Span::between(from, to), held));
            start = to;
        }
        runs.push(Extent::new(Span::between(start, span.end()), Held::Good));
        runs.retain(|run| run.span.count > 0);
        let is_whole = runs.iter().all(|run| !run.has_failed());
        let is_changing = self.changing.contains(&span.start);
        let digest = if is_changing { pass } else { 0 };
        let times = self.slow.get(&span.start).copied().unwrap_or([10, 10]);
        let answer = Answer {
            span_ns: times[usize::from(pass > 1)],
            runs,
        };
        Ok((answer, is_whole.then_some(digest)))
    }
}

/// A test that only reads uses none of the operations that end it here.
impl Medium for Scripted {
    fn blocks_count(&self) -> u64 {
        self.blocks_count
    }

    fn grain_blocks(&self) -> u64 {
        8
    }

    fn write(&mut self, _span: Span, _content: Content) -> Result<Answer, Trouble> {
        Err(Trouble::Stopped)
    }

    fn read(&mut self, _span: Span, _content: Content) -> Result<Answer, Trouble> {
        Err(Trouble::Stopped)
    }

    fn flush(&mut self) -> Result<u64, Trouble> {
        Err(Trouble::Stopped)
    }
}
