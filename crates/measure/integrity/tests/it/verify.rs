//! Verify: verdict, map and real capacity.

use cardmark_core::StorageKind;
use cardmark_integrity::{Extent, Held, Span, Surface};
use cardmark_sim::{Model, SimMedium};

use crate::support::{GEOMETRIES, Truth, blocks, verify, whole};

/// Returns the content that every block must have at the end, from the geometry alone.
fn expected(truth: &Truth, all: u64, real: u64, module: Option<u64>) -> Surface {
    let mut surface = Surface::default();
    let mut push = |start: u64, end: u64, held: Held| {
        surface.push(Extent::new(Span::between(start, end), held));
    };
    let Some(module) = module else {
        push(0, real, Held::Good);
        push(real, all, Held::Foreign);
        return surface;
    };
    assert!(truth.wrap_bytes.is_some());
    for start in (0..all).step_by(usize::try_from(module).unwrap()) {
        let end = all.min(start + module);
        let kept = end.min(start + real);
        // The last one that has this place.
        let last = start + (all - 1 - start) / module * module;
        let partly = start + (all - 1 - last) % module + 1;
        assert_eq!(partly, end.min(start + module), "whole modules only");
        if last == start {
            push(start, kept, Held::Good);
        } else {
            push(
                start,
                kept,
                Held::Other {
                    block: last,
                    round: 0,
                },
            );
        }
        push(kept, end, Held::Foreign);
    }
    surface
}

fn check(truth: &Truth, model: &Model, real: u64, module: Option<u64>) {
    let mut medium = SimMedium::new(model, 3);
    let verify = verify(&mut medium, 77);
    let verdict = verify.verdict().unwrap();
    let name = truth.name;
    assert_eq!(verdict.kind, truth.kind, "{name}: {verdict:?}");
    assert_eq!(verdict.real_blocks, blocks(real), "{name}");
    assert_eq!(verdict.wrap_blocks, module.map(blocks), "{name}");
    let all = blocks(model.capacity_bytes());
    let is_whole = module.is_none_or(|module| all.is_multiple_of(blocks(module)));
    if is_whole {
        let expected = expected(truth, all, blocks(real), module.map(blocks));
        assert_eq!(verify.surface().runs(), expected.runs(), "{name}");
    }
}

#[test]
fn each_geometry_is_told_exactly_on_small_cards() {
    for truth in &GEOMETRIES {
        let real = truth.scaled(truth.real_bytes);
        let module = truth.wrap_bytes.map(|bytes| truth.scaled(bytes));
        check(truth, &truth.scaled_model(), real, module);
    }
}

#[test]
fn each_geometry_is_told_exactly_at_its_full_size() {
    for truth in &GEOMETRIES {
        check(truth, &truth.model(), truth.real_bytes, truth.wrap_bytes);
    }
}

#[test]
fn bad_spots_are_found_to_the_block() {
    for (name, share) in [
        ("spotted-64gb", 0.0001),
        ("rotten-64gb", 0.01),
        ("unreadable-64gb", 0.002),
    ] {
        let model = Model::named(name).unwrap().scaled(256);
        let mut bad = 0;
        for seed in 0..20 {
            let mut medium = SimMedium::new(&model, seed);
            let verify = verify(&mut medium, seed);
            let verdict = verify.verdict().unwrap();
            let truth = whole(&mut medium, seed);
            assert_eq!(verify.surface(), &truth, "{name}, seed {seed}");
            assert_eq!(verdict.kind, StorageKind::Damaged, "{name}, seed {seed}");
            assert_eq!(verdict.real_blocks, blocks(model.capacity_bytes()));
            bad += verdict.counts.bad_count();
        }
        let found = bad as f64 / 20.0 / blocks(model.capacity_bytes()) as f64;
        assert!((0.7..1.4).contains(&(found / share)), "{name}: {found}");
    }
}

#[test]
fn each_kind_of_damage_is_called_what_it_is() {
    let counts = |name: &str| {
        let model = Model::named(name).unwrap().scaled(256);
        let verdict = verify(&mut SimMedium::new(&model, 1), 1).verdict().unwrap();
        verdict.counts
    };
    let lost = counts("spotted-64gb");
    assert_eq!(lost.bad_count(), lost.lost_count);
    let changed = counts("rotten-64gb");
    assert_eq!(changed.bad_count(), changed.changed_count);
    let unreadable = counts("unreadable-64gb");
    assert_eq!(unreadable.bad_count(), unreadable.unreadable_count);
    let flipped = counts("flipping-32gb");
    assert_eq!(flipped.bad_count(), flipped.changed_count);
    assert!(flipped.changed_count > 10, "{flipped:?}");
}

#[test]
fn storage_that_takes_no_more_writes_is_read_only() {
    let model = Model::named("readonly-32gb").unwrap().scaled(128);
    let mut medium = SimMedium::new(&model, 1);
    let verdict = verify(&mut medium, 1).verdict().unwrap();
    assert_eq!(verdict.kind, StorageKind::ReadOnly, "{verdict:?}");
    let taken = blocks(3_000_000_000 / 128 / 4096 * 4096 + 3_000_000_000 % 4096);
    assert_eq!(verdict.counts.good_count, taken);
    assert_eq!(
        verdict.counts.refused_count,
        blocks(model.capacity_bytes()) - taken
    );
}

#[test]
fn a_thousand_honest_cards_raise_no_alarm() {
    let model = Model::named("a1-32gb").unwrap().scaled(512);
    for seed in 0..1000 {
        let verdict = verify(&mut SimMedium::new(&model, seed), seed)
            .verdict()
            .unwrap();
        assert_eq!(verdict.kind, StorageKind::Confirmed, "seed {seed}");
    }
}

#[test]
fn an_earlier_test_with_another_seed_is_not_taken_for_this_one() {
    let model = Model::named("limbo-32gb").unwrap().scaled(128);
    let mut medium = SimMedium::new(&model, 1);
    verify(&mut medium, 5);
    let again = verify(&mut medium, 6).verdict().unwrap();
    assert_eq!(again.kind, StorageKind::Limbo);
    assert_eq!(
        again.counts.overwritten_count + again.counts.wrapped_count,
        0
    );
}
