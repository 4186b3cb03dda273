//! The map of a record: the same verdict follows from it as from the blocks.

use cardmark_core::{
    BlockState, Errno, Integrity, IntegrityTest, MOST_ITEMS, Milestone, Origin, OriginKind, Record,
    StorageKind, SurfacePart, simulated_run_id,
};
use cardmark_integrity::{
    BLOCK_BYTES, Extent, Held, Map, Span, StorageVerdict, Surface, derive_again, judge,
};
use cardmark_sim::{Model, SimMedium};
use proptest::prelude::*;

const BLOCK: u64 = BLOCK_BYTES as u64;

/// Returns the record of a test that read these blocks and judged them in a wrong way.
fn record(test: IntegrityTest, surface: &Surface) -> Record {
    let map = Map::of(surface);
    Record {
        integrity: Some(Integrity {
            map_cell_bytes: Some(map.cell_bytes),
            ..Integrity::new(test, StorageKind::Dead, surface.blocks_count() * BLOCK, 0)
        }),
        surface: map.parts,
        ..Record::new(simulated_run_id(&["map"]), Origin::of(OriginKind::Measured))
    }
}

/// Returns what a block may hold, at `start`.
fn held(start: u64, what: u8, block: u64) -> Held {
    let errno = if block.is_multiple_of(2) {
        Errno::IO
    } else {
        Errno::NOSPC
    };
    match what {
        0..=3 => Held::Good,
        4 => Held::Changed,
        5 => Held::Foreign,
        6 => Held::Unreadable { errno },
        7 => Held::Refused { errno },
        8 => Held::Other {
            block: start,
            round: 0,
        },
        // A fake of 8192 blocks.
        9 | 10 => Held::Other {
            block: start + 8192,
            round: 0,
        },
        _ => Held::Other { block, round: 0 },
    }
}

fn surfaces() -> impl Strategy<Value = Surface> {
    let runs = prop::collection::vec((1..9000_u64, 0..12_u8, 0..100_000_u64), 1..40);
    runs.prop_map(|runs| {
        let mut surface = Surface::default();
        let mut start = 0;
        for (count, what, block) in runs {
            surface.push(Extent::new(
                Span::new(start, count),
                held(start, what, block),
            ));
            start += count;
        }
        surface
    })
}

fn of_verify(surface: &Surface) -> Option<StorageVerdict> {
    derive_again(&record(IntegrityTest::Verify, surface))
}

proptest! {
    #[test]
    fn a_map_has_the_verdict_of_its_blocks(surface in surfaces()) {
        prop_assert_eq!(of_verify(&surface), Some(judge(&surface)));
    }

    #[test]
    fn a_part_of_storage_is_no_fake_and_all_of_it_is_there(surface in surfaces()) {
        let mut record = record(IntegrityTest::Verify, &surface);
        record.integrity.as_mut().unwrap().from_bytes = Some(0);
        let verdict = derive_again(&record).unwrap();
        let kinds = [StorageKind::Confirmed, StorageKind::Damaged, StorageKind::ReadOnly];
        prop_assert!(kinds.contains(&verdict.kind), "{:?}", verdict.kind);
        prop_assert_eq!(verdict.kind == StorageKind::Confirmed, surface.bad_blocks_count() == 0);
        prop_assert_eq!(verdict.real_blocks, surface.blocks_count());
    }

    #[test]
    fn storage_that_was_only_read_is_readable_or_damaged(surface in surfaces()) {
        let verdict = derive_again(&record(IntegrityTest::Read, &surface)).unwrap();
        let is_good = surface.bad_blocks_count() == 0;
        let kind = if is_good { StorageKind::Readable } else { StorageKind::Damaged };
        prop_assert_eq!(verdict.kind, kind);
        prop_assert_eq!(verdict.real_blocks, surface.blocks_count());
    }

    #[test]
    fn storage_that_was_whole_in_an_earlier_cycle_is_no_fake(surface in surfaces()) {
        let mut record = record(IntegrityTest::Endure, &surface);
        let first = Milestone { bad_ratio: 0.0, cycles_count: 2, written_bytes: 0 };
        record.integrity.as_mut().unwrap().milestones = vec![first];
        let kind = derive_again(&record).unwrap().kind;
        let fakes = [StorageKind::Limbo, StorageKind::Wraparound, StorageKind::Chain];
        prop_assert!(!fakes.contains(&kind));
    }
}

#[test]
fn a_map_that_is_coarse_or_has_gaps_or_lacks_addresses_has_no_verdict() {
    let mut surface = Surface::default();
    surface.push(Extent::new(Span::new(0, 4096), Held::Good));
    surface.push(Extent::new(Span::new(4096, 4096), held(4096, 9, 0)));
    let exact = record(IntegrityTest::Verify, &surface);
    assert!(derive_again(&exact).is_some());
    let without = |change: &dyn Fn(&mut Integrity, &mut Vec<SurfacePart>)| {
        let mut record = exact.clone();
        change(record.integrity.as_mut().unwrap(), &mut record.surface);
        derive_again(&record)
    };
    assert_eq!(without(&|found, _| found.map_cell_bytes = None), None);
    assert_eq!(
        without(&|found, _| found.map_cell_bytes = Some(8 * BLOCK)),
        None
    );
    assert_eq!(without(&|found, _| found.size_bytes += BLOCK), None);
    assert_eq!(without(&|_, parts| parts[1].start_bytes += BLOCK), None);
    assert_eq!(without(&|_, parts| parts[1].size_bytes = u64::MAX), None);
    assert_eq!(without(&|_, parts| parts[1].size_bytes -= 1), None);
    assert_eq!(without(&|_, parts| parts[1].written_to_bytes = None), None);
    assert_eq!(without(&|_, parts| parts[1].state = BlockState::Lost), None);
}

/// More scattered damage than a record has room for: neighbours are merged, and no bad block is hidden.
#[test]
fn a_card_with_scattered_damage_fits_into_a_record() {
    let text = r#"
        name = "shattered"
        like = "a1-32gb"
        summary = "invented"
        source = "invented"
        capacity_bytes = 1_000_000_000
        [flash]
        damage = { kind = "changed", share = 0.3, spot_bytes = 4096 }
    "#;
    let mut medium = SimMedium::new(&Model::parse(text).unwrap(), 1);
    let test = crate::support::verify(&mut medium, 1);
    assert!(test.surface().runs().len() > 2 * MOST_ITEMS);
    let map = Map::of(test.surface());
    assert!(map.parts.len() <= MOST_ITEMS, "{}", map.parts.len());
    assert!(map.cell_bytes > BLOCK);
    let state = |start_bytes: u64| {
        let place = map
            .parts
            .partition_point(|part| part.start_bytes <= start_bytes);
        map.parts[place - 1].state
    };
    let mut end_bytes = 0;
    for part in &map.parts {
        assert_eq!(part.start_bytes, end_bytes);
        end_bytes += part.size_bytes;
    }
    assert_eq!(end_bytes, 1_000_000_000 / BLOCK * BLOCK);
    for run in test.surface().runs() {
        let is_bad = run.held != Held::Good;
        assert!(!is_bad || state(run.span.offset_bytes()) == BlockState::Changed);
    }
}
