//! Power cuts: acknowledged writes, torn writes, and places that were not being written.

use cardmark_core::Errno;
use cardmark_integrity::{
    Answer, BLOCK_BYTES, Confirming, Content, CutCheck, CutOutcome, CutPlan, CutStep, Extent, Held,
    Medium, PLACE_BLOCKS, PowerCut, Span, Trouble, WriteState, fill, look,
};
use cardmark_sim::{Model, SimMedium};

/// Storage in memory whose bytes a test can change. It stores everything at once.
struct Bytes {
    bytes: Vec<u8>,
    unreadable: Option<u64>,
}

impl Bytes {
    fn new(plan: &CutPlan) -> Self {
        let blocks = usize::try_from(plan.blocks_count()).unwrap();
        Self {
            bytes: vec![0; blocks * BLOCK_BYTES],
            unreadable: None,
        }
    }

    fn block(&mut self, block: u64) -> &mut [u8] {
        let start = usize::try_from(block).unwrap() * BLOCK_BYTES;
        &mut self.bytes[start..start + BLOCK_BYTES]
    }

    /// Puts the first `count` blocks of a write into its place.
    fn put(&mut self, plan: &CutPlan, number: u32, count: u64) {
        let span = plan.span(plan.place(number));
        for block in span.start..span.start + count {
            fill(plan.content(number), block, self.block(block));
        }
    }
}

impl Medium for Bytes {
    fn blocks_count(&self) -> u64 {
        (self.bytes.len() / BLOCK_BYTES) as u64
    }

    fn grain_blocks(&self) -> u64 {
        1
    }

    fn write(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        for block in span.start..span.end() {
            fill(content, block, self.block(block));
        }
        Ok(Answer::default())
    }

    fn read(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        let runs = (span.start..span.end()).map(|block| {
            let held = match self.unreadable == Some(block) {
                true => Held::Unreadable { errno: Errno::IO },
                false => {
                    let bytes = &*self.block(block);
                    look(content, block, bytes.try_into().unwrap())
                }
            };
            Extent::new(Span::new(block, 1), held)
        });
        Ok(Answer {
            span_ns: 0,
            runs: runs.collect(),
        })
    }

    fn flush(&mut self) -> Result<u64, Trouble> {
        Ok(0)
    }
}

impl Confirming for Bytes {
    fn confirm(&mut self) -> Result<(), Trouble> {
        Ok(())
    }
}

/// Storage after that number of acknowledged writes.
fn written(plan: &CutPlan, acknowledged: u32) -> Bytes {
    let mut bytes = Bytes::new(plan);
    let mut course = PowerCut::new(*plan);
    while course.acknowledged() < acknowledged {
        course.advance(&mut bytes).unwrap();
    }
    bytes
}

fn check(medium: &mut impl Medium, plan: &CutPlan, acknowledged: u32) -> CutOutcome {
    let mut check = CutCheck::new(*plan, acknowledged);
    while !check.is_done() {
        check.advance(medium).unwrap();
    }
    check.outcome().unwrap()
}

fn plan() -> CutPlan {
    CutPlan::new(11, 64, 1)
}

#[test]
fn storage_that_keeps_everything_has_lost_nothing() {
    for (acknowledged, checked) in [(1, 1), (40, 40), (64, 64), (500, 64)] {
        let found = check(&mut written(&plan(), acknowledged), &plan(), acknowledged);
        let expected = CutOutcome {
            acknowledged,
            checked,
            untouched: 64 - checked,
            blocks: found.blocks,
            ..CutOutcome::default()
        };
        assert_eq!(found, expected);
        assert_eq!(found.blocks.good_count, plan().blocks_count());
    }
}

#[test]
fn an_old_write_in_the_place_of_an_acknowledged_one_is_a_loss() {
    let mut bytes = written(&plan(), 200);
    // The writes before these to the same places.
    for number in [198, 200] {
        bytes.put(&plan(), number - 64, PLACE_BLOCKS);
    }
    let found = check(&mut bytes, &plan(), 200);
    let lost: Vec<_> = found
        .lost
        .iter()
        .map(|lost| (lost.number, lost.state))
        .collect();
    assert_eq!(lost, [(198, WriteState::Old), (200, WriteState::Old)]);
    assert_eq!((found.torn, found.collateral), (0, 0));
    assert_eq!(found.blocks.lost_count, 2 * PLACE_BLOCKS);
}

/// A cut in the middle of the write after the last acknowledged one.
#[test]
fn a_torn_write_that_was_not_acknowledged_is_no_loss() {
    for blocks in 0..=PLACE_BLOCKS {
        let mut bytes = written(&plan(), 200);
        bytes.put(&plan(), 201, blocks);
        let found = check(&mut bytes, &plan(), 200);
        assert_eq!(found.lost, [], "{blocks}");
        let is_whole = blocks == PLACE_BLOCKS;
        assert_eq!(found.unacknowledged, u32::from(is_whole), "{blocks}");
        let is_torn = blocks > 0 && !is_whole;
        assert_eq!(found.torn, u32::from(is_torn), "{blocks}");
    }
}

#[test]
fn a_write_under_way_may_leave_anything_in_its_place() {
    let span = plan().span(plan().place(201));
    for is_unreadable in [false, true] {
        let mut bytes = written(&plan(), 200);
        bytes.put(&plan(), 201, 5);
        match is_unreadable {
            true => bytes.unreadable = Some(span.start + 5),
            false => bytes.block(span.start + 5).fill(0xff),
        }
        let found = check(&mut bytes, &plan(), 200);
        assert_eq!((found.lost.len(), found.torn), (0, 1));
    }
}

/// Without this rule, a write before the last acknowledged one could hide behind one under way.
#[test]
fn a_place_that_holds_only_an_old_write_is_a_loss_even_if_it_was_being_written() {
    let mut bytes = written(&plan(), 200);
    bytes.put(&plan(), 201 - 128, PLACE_BLOCKS);
    let found = check(&mut bytes, &plan(), 200);
    let expected = [(201 - 64, WriteState::Old)];
    let lost: Vec<_> = found
        .lost
        .iter()
        .map(|lost| (lost.number, lost.state))
        .collect();
    assert_eq!((lost.as_slice(), found.torn), (&expected[..], 0));
}

/// Damages what was written, from this block on.
type Damage = fn(&mut Bytes, u64);

#[test]
fn torn_changed_foreign_and_unreadable_acknowledged_writes_are_lost() {
    let first = |number: u32| plan().span(plan().place(number)).start;
    let cases: [(Damage, WriteState); 4] = [
        (|bytes, block| bytes.block(block).fill(0), WriteState::Torn),
        (
            |bytes, block| bytes.block(block)[77] ^= 1,
            WriteState::Changed,
        ),
        (
            |bytes, block| {
                (block..block + PLACE_BLOCKS).for_each(|block| bytes.block(block).fill(0));
            },
            WriteState::Foreign,
        ),
        (
            |bytes, block| bytes.unreadable = Some(block),
            WriteState::Unreadable,
        ),
    ];
    for (damage, expected) in cases {
        let mut bytes = written(&plan(), 200);
        damage(&mut bytes, first(190));
        let found = check(&mut bytes, &plan(), 200);
        let lost: Vec<_> = found
            .lost
            .iter()
            .map(|lost| (lost.number, lost.state))
            .collect();
        assert_eq!(lost, [(190, expected)]);
    }
}

#[test]
fn places_that_were_never_written_show_collateral_damage() {
    let mut bytes = written(&plan(), 10);
    // Write 30 was never made: the card cannot have been writing there.
    let block = plan().span(plan().place(30)).start;
    bytes.block(block + 3).fill(0);
    let found = check(&mut bytes, &plan(), 10);
    assert_eq!((found.lost.len(), found.torn, found.collateral), (0, 0, 1));
    assert_eq!(found.untouched, 54);
}

/// The end of the log may be lost on its way: then the storage shows how far the writes went.
#[test]
fn a_log_that_lags_accuses_no_card() {
    let mut bytes = written(&plan(), 230);
    bytes.put(&plan(), 231, 9);
    let found = check(&mut bytes, &plan(), 200);
    assert_eq!(found.lost, []);
    assert_eq!((found.unacknowledged, found.torn), (30, 1));
}

#[test]
fn all_writes_of_a_batch_may_be_under_way() {
    let plan = CutPlan::new(5, 64, 8);
    let mut bytes = written(&plan, 80);
    (81..=88).for_each(|number| bytes.put(&plan, number, 11));
    let found = check(&mut bytes, &plan, 80);
    assert_eq!((found.lost.len(), found.torn), (0, 8));
}

/// Writes on a simulated card until its power fails in the middle of a call; returns the acknowledged writes.
fn cut(medium: &mut SimMedium, plan: &CutPlan, calls: u64) -> u32 {
    let mut course = PowerCut::new(*plan);
    while !matches!(course.advance(medium), Ok(CutStep::Ready)) {}
    medium.stop_after(Some(calls));
    let trouble = loop {
        if let Err(trouble) = course.advance(medium) {
            break trouble;
        }
    };
    assert_eq!(trouble, Trouble::Stopped);
    medium.lose_power();
    medium.stop_after(None);
    course.acknowledged()
}

#[test]
fn only_a_card_that_lies_loses_what_it_acknowledged() {
    let (mut torn, mut losing) = (0, 0);
    for seed in 1..=60 {
        let plan = CutPlan::new(seed, 256, 1);
        for name in ["a1-32gb", "lying-32gb"] {
            let mut medium = SimMedium::new(&Model::named(name).unwrap(), seed);
            let acknowledged = cut(&mut medium, &plan, 1_000 + seed);
            assert_eq!(u64::from(acknowledged), (999 + seed) / 2);
            let found = check(&mut medium, &plan, acknowledged);
            assert_eq!(found.collateral, 0, "{name} {seed}");
            if name == "a1-32gb" {
                assert_eq!(found.lost, [], "{name} {seed}");
                torn += found.torn;
            } else {
                losing += u32::from(!found.lost.is_empty());
            }
        }
    }
    // Half of the cuts are in a write, and half of these leave a part of it.
    assert!(torn > 0);
    assert_eq!(losing, 60);
}
