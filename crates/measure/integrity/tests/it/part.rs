//! Verify of a part of storage: only that part is written and judged.

use cardmark_core::StorageKind;
use cardmark_integrity::{BLOCK_BYTES, Held, Medium, Span, StorageVerdict, Verify};
use cardmark_sim::{Model, SimMedium};

use crate::support::{blocks, content};

const MIB: u64 = 1 << 20;

fn medium(name: &str, divisor: u64) -> SimMedium {
    SimMedium::new(&Model::named(name).unwrap().scaled(divisor), 3)
}

fn verified(medium: &mut SimMedium, part: Span) -> (Verify, StorageVerdict) {
    let mut test = Verify::of_part(part, content(5));
    while !test.is_done() {
        test.advance(medium).unwrap();
    }
    let verdict = test.verdict().unwrap();
    (test, verdict)
}

#[test]
fn only_the_part_is_written_and_judged() {
    let mut medium = medium("honest-1gb", 1);
    let part = Span::new(blocks(300 * MIB), blocks(100 * MIB));
    let (test, verdict) = verified(&mut medium, part);
    assert_eq!(verdict.kind, StorageKind::Confirmed);
    assert_eq!(verdict.counts.good_count, part.count);
    assert_eq!(test.written_blocks(), part.count);
    assert_eq!(test.part_start(), Some(part.start));
    let end = medium.blocks_count();
    for outside in [Span::new(0, part.start), Span::between(part.end(), end)] {
        let held = medium.origins(outside);
        assert!(held.iter().all(|(_, origin)| origin.is_none()));
    }
    // Blocks hold the content of their place on the whole card.
    let whole = medium.read(part, content(5)).unwrap().runs;
    assert!(whole.iter().all(|run| run.held == Held::Good), "{whole:?}");
}

/// What is missing in a part does not show how large the whole is.
#[test]
fn a_part_of_a_fake_is_damaged_and_no_more() {
    for (name, divisor, from_percent) in [
        ("limbo-32gb", 16, 50),
        ("limbo-32gb", 16, 4),
        ("wrap-16gb", 16, 0),
        ("chain-16gb", 16, 25),
        ("dead-1gb", 1, 50),
    ] {
        let mut medium = medium(name, divisor);
        let all = medium.blocks_count();
        let unit = MIB / BLOCK_BYTES as u64;
        let start = all * from_percent / 100 / unit * unit;
        let part = Span::new(start, all / 2 / unit * unit);
        let (test, verdict) = verified(&mut medium, part);
        assert_eq!(verdict.kind, StorageKind::Damaged, "{name}");
        assert_eq!(verdict.real_blocks, part.count, "{name}");
        assert_eq!(verdict.wrap_blocks, None, "{name}");
        assert!(verdict.counts.bad_count() > 0, "{name}");
        assert_eq!(test.surface().blocks_count(), part.count, "{name}");
    }
}

/// The places of the map count from the start of the part, as does the address that displaced data were written to.
#[test]
fn displaced_data_keep_their_distance_in_a_part() {
    let mut medium = medium("wrap-16gb", 16);
    let module = blocks(2 * 1024 * MIB / 16);
    let part = Span::new(module / 2, 2 * module);
    let (test, _) = verified(&mut medium, part);
    let first = test.surface().runs()[0];
    assert_eq!(first.span, Span::new(0, module));
    assert_eq!(first.shift(), Some(module.cast_signed()));
}

#[test]
fn the_state_of_a_part_survives_and_one_without_a_part_is_read() {
    let mut medium = medium("honest-1gb", 1);
    let part = Span::new(blocks(256 * MIB), blocks(256 * MIB));
    let mut test = Verify::of_part(part, content(5));
    for _ in 0..6 {
        test.advance(&mut medium).unwrap();
    }
    let state = serde_json::to_string(&test).unwrap();
    let mut again: Verify = serde_json::from_str(&state).unwrap();
    assert_eq!(again, test);
    again.take_up();
    while !again.is_done() {
        again.advance(&mut medium).unwrap();
    }
    assert_eq!(again.verdict().unwrap().kind, StorageKind::Confirmed);
    let whole = serde_json::to_string(&Verify::new(8, content(5))).unwrap();
    assert!(!whole.contains("part_start"), "{whole}");
    let whole: Verify = serde_json::from_str(&whole).unwrap();
    assert_eq!(whole.part_start(), None);
}
