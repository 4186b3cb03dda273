//! Anatomy: the findings about the structure match the model.

use cardmark_core::{Anatomy, OpenUnits, UnitSource};
use cardmark_integrity::{AnatomyRequest, Medium, Restoring, anatomy, anatomy_bytes};
use cardmark_sim::{Model, SimMedium};

use crate::interrupted::{Log, kept, used};
use crate::support::content;

const MIB: u64 = 1 << 20;

fn request(seed: u64, with_writes: bool) -> AnatomyRequest {
    AnatomyRequest {
        seed,
        with_writes,
        asked_blocks: None,
        registers_blocks: None,
    }
}

fn looked(name: &str, seed: u64, with_writes: bool) -> Anatomy {
    let model = Model::named(name).unwrap();
    let mut medium = SimMedium::new(&model, seed);
    anatomy(&mut medium, &request(seed, with_writes), &mut |_| ())
        .unwrap()
        .0
}

#[test]
fn the_inside_of_a_model_is_found() {
    for (name, unit_bytes, more_us, least, most) in [
        ("units-16gb", 4 * MIB, 90.0, 5, 5),
        // Between 14 and 16 no number is tried.
        ("triple-64gb", 12 * MIB, 70.0, 14, 15),
    ] {
        let found = looked(name, 3, true);
        assert_eq!(found.boundary_bytes, Some(unit_bytes), "{name}");
        assert_eq!(
            (found.unit_bytes, found.unit_source),
            (unit_bytes, UnitSource::Measured)
        );
        let more_ns = found.boundary_more_ns.unwrap() as f64;
        assert!(
            (more_ns / 1e3 / more_us - 1.0).abs() < 0.2,
            "{name}: {more_ns}"
        );
        let open = OpenUnits {
            min_count: least,
            max_count: Some(most),
        };
        assert_eq!(found.open_units, Some(open), "{name}: {:?}", found.turns);
    }
}

#[test]
fn a_boundary_is_found_exactly_on_each_card() {
    for (name, unit_bytes) in [("units-16gb", 4 * MIB), ("triple-64gb", 12 * MIB)] {
        for seed in 0..60 {
            let found = looked(name, seed, false);
            assert_eq!(
                found.boundary_bytes,
                Some(unit_bytes),
                "{name}, seed {seed}"
            );
            assert_eq!(found.open_units, None);
        }
    }
}

#[test]
fn open_units_are_found_on_each_card() {
    for seed in 0..20 {
        let found = looked("units-16gb", seed, true).open_units.unwrap();
        assert_eq!(
            (found.min_count, found.max_count),
            (5, Some(5)),
            "seed {seed}"
        );
    }
}

#[test]
fn what_is_not_there_is_not_found() {
    for name in ["a1-32gb", "a2-64gb", "worn-32gb", "honest-1gb"] {
        for seed in 0..100 {
            let found = looked(name, seed, false);
            assert_eq!(found.boundary_bytes, None, "{name}, seed {seed}");
            assert_eq!(found.unit_source, UnitSource::Assumed);
        }
        for seed in 0..20 {
            let open = looked(name, seed, true).open_units.unwrap();
            assert_eq!(open.max_count, None, "{name}, seed {seed}");
        }
    }
}

#[test]
fn what_was_there_is_there_again_and_no_more_is_written_than_said() {
    let model = Model::named("honest-1gb").unwrap();
    let mut medium = used(&model, 2);
    let before = kept(&mut medium);
    let request = request(4, true);
    let said = anatomy_bytes(medium.blocks_count(), &request);
    let mut restoring = Restoring::new(medium, Log::default(), content(4));
    let (found, written_blocks) = anatomy(&mut restoring, &request, &mut |_| ()).unwrap();
    assert_eq!(found.turns.last().unwrap().units_count, 32);
    assert_eq!(restoring.restore(&mut |_, _| ()), Ok(0));
    let (mut medium, _) = restoring.into_parts();
    assert_eq!(kept(&mut medium), before);
    assert_eq!(written_blocks * 512, said);
}

#[test]
fn storage_that_is_too_small_tells_nothing() {
    let found = looked("honest-2mb", 1, true);
    assert_eq!(found.boundary_bytes, None);
    assert_eq!(found.open_units, None);
}
