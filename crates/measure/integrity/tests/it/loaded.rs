//! Verify under load: random order, several requests in flight, discards.

use cardmark_core::{StorageKind, WritePattern};
use cardmark_integrity::{Load, Medium, Pass, StorageVerdict, Trouble, Verify};
use cardmark_sim::{Model, SimMedium};

use crate::support::content;

fn load(pattern: WritePattern, queue_depth: u32, discards: bool) -> Load {
    Load {
        pattern,
        queue_depth,
        discards,
    }
}

fn model(name: &str) -> Model {
    Model::named(name).unwrap().scaled(16)
}

fn run(medium: &mut SimMedium, load: Option<Load>) -> Verify {
    let mut test = Verify::new(medium.blocks_count(), content(7)).under(load);
    while !test.is_done() {
        test.advance(medium).unwrap();
    }
    test
}

fn verdict(name: &str, seed: u64, load: Option<Load>) -> StorageVerdict {
    let mut medium = SimMedium::new(&model(name), seed);
    run(&mut medium, load).verdict().unwrap()
}

const SEQUENTIAL: WritePattern = WritePattern::Sequential;
const RANDOM: WritePattern = WritePattern::Random;

/// Each of them has one fault, which only some loads show.
#[test]
fn each_load_finds_the_card_that_breaks_under_it() {
    let loads = [
        load(SEQUENTIAL, 32, false),
        load(RANDOM, 1, false),
        load(SEQUENTIAL, 1, true),
    ];
    let all = load(RANDOM, 32, true);
    let faults = ["crossing-32gb", "forgetting-32gb", "spilling-32gb"];
    for (fault, name) in faults.into_iter().enumerate() {
        for seed in 0..5 {
            let plain = verdict(name, seed, None);
            assert_eq!(plain.kind, StorageKind::Confirmed, "{name}: {plain:?}");
            for (number, load) in loads.into_iter().enumerate() {
                let found = verdict(name, seed, Some(load));
                // The half that is written again is scattered, too.
                let is_scattered = (name, load.discards) == ("forgetting-32gb", true);
                let expected = match number == fault || is_scattered {
                    true => StorageKind::Damaged,
                    false => StorageKind::Confirmed,
                };
                assert_eq!(found.kind, expected, "{name}, {load:?}: {found:?}");
            }
            let found = verdict(name, seed, Some(all));
            assert_eq!(found.kind, StorageKind::Damaged, "{name}: {found:?}");
        }
    }
}

#[test]
fn the_damage_is_what_the_card_did() {
    let crossed = verdict("crossing-32gb", 1, Some(load(SEQUENTIAL, 8, false))).counts;
    assert_eq!(crossed.bad_count(), crossed.overwritten_count);
    let forgotten = verdict("forgetting-32gb", 1, Some(load(RANDOM, 1, false))).counts;
    assert_eq!(forgotten.bad_count(), forgotten.lost_count);
    assert!(
        forgotten.lost_count.is_multiple_of(128),
        "whole requests of 64 KiB"
    );
    let spilled = verdict("spilling-32gb", 1, Some(load(SEQUENTIAL, 1, true))).counts;
    assert_eq!(spilled.bad_count(), spilled.lost_count);
    assert!(spilled.lost_count.is_multiple_of(8), "stretches of 4 KiB");
}

#[test]
fn an_honest_card_passes_every_load() {
    for pattern in [SEQUENTIAL, RANDOM] {
        for queue_depth in [1, 2, 32] {
            for discards in [false, true] {
                let load = load(pattern, queue_depth, discards);
                let mut medium = SimMedium::new(&model("a1-32gb"), 3);
                let test = run(&mut medium, Some(load));
                let all = test.blocks_count();
                assert_eq!(
                    test.verdict().unwrap().kind,
                    StorageKind::Confirmed,
                    "{load:?}"
                );
                assert_eq!(test.surface().blocks_count(), all);
                let share = test.discarded_blocks() as f64 / all as f64;
                let is_half = (0.45..0.55).contains(&share);
                assert!(if discards { is_half } else { share == 0.0 }, "{share}");
                assert_eq!(test.written_blocks(), all + test.discarded_blocks());
            }
        }
    }
}

/// The capacity of a fake does not follow from blocks in random order; that data is lost does.
#[test]
fn fakes_and_bad_spots_are_never_confirmed() {
    for name in [
        "limbo-32gb",
        "wrap-16gb",
        "chain-16gb",
        "cached-64gb",
        "rotten-64gb",
    ] {
        let plain = verdict(name, 2, None);
        for pattern in [SEQUENTIAL, RANDOM] {
            let found = verdict(name, 2, Some(load(pattern, 4, true)));
            let expected = match pattern {
                SEQUENTIAL => plain.kind,
                _ => StorageKind::Damaged,
            };
            assert_eq!(found.kind, expected, "{name}, {pattern:?}: {found:?}");
        }
    }
}

#[test]
fn a_card_that_takes_no_more_writes_ends_the_test() {
    let all = SimMedium::new(&model("readonly-32gb"), 1).blocks_count();
    for pattern in [SEQUENTIAL, RANDOM] {
        let counts = verdict("readonly-32gb", 1, Some(load(pattern, 4, false))).counts;
        assert!(counts.refused_count > all / 10, "{counts:?}");
        assert_eq!(counts.good_count + counts.refused_count, all, "{counts:?}");
    }
}

/// Stopped in the middle of every pass, with and without a loss of power.
#[test]
fn an_interrupted_test_ends_as_if_it_had_not_been() {
    let load = load(RANDOM, 4, true);
    let whole = run(&mut SimMedium::new(&model("a1-32gb"), 3), Some(load));
    for is_power_lost in [false, true] {
        let mut medium = SimMedium::new(&model("a1-32gb"), 3);
        let mut test = Verify::new(medium.blocks_count(), content(7)).under(Some(load));
        let mut stopped = Vec::new();
        while !test.is_done() {
            assert!(
                stopped.len() < 1000,
                "it does not go on: {:?}",
                test.place()
            );
            // In the middle of a call.
            medium.stop_after(Some(1));
            assert_eq!(test.advance(&mut medium), Err(Trouble::Stopped));
            stopped.push(test.place().0);
            if is_power_lost {
                medium.lose_power();
            }
            let text = serde_json::to_string(&test).unwrap();
            test = serde_json::from_str(&text).unwrap();
            test.take_up();
            // More steps than there are between two flushes.
            medium.stop_after(None);
            for _ in 0..9 {
                test.advance(&mut medium).unwrap();
            }
        }
        for pass in [
            Pass::Write,
            Pass::Read,
            Pass::Discard,
            Pass::Rewrite,
            Pass::Check,
        ] {
            assert!(stopped.contains(&pass), "{pass:?}: {stopped:?}");
        }
        assert_eq!(test.surface(), whole.surface());
        assert_eq!(test.discarded_blocks(), whole.discarded_blocks());
        assert_eq!(test.verdict().unwrap().kind, StorageKind::Confirmed);
    }
}

/// Journals of earlier versions know no load, and those without load have the same content as before.
#[test]
fn a_test_without_load_is_kept_as_before() {
    let test = Verify::new(4096, content(7));
    let text = serde_json::to_string(&test).unwrap();
    assert!(
        !text.contains("load") && !text.contains("discarded"),
        "{text}"
    );
    assert_eq!(serde_json::from_str::<Verify>(&text).unwrap(), test);
}
