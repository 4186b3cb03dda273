//! Probe: geometry, caches, and its power to find isolated spots.

use cardmark_core::StorageKind;
use cardmark_integrity::{Medium, Probe, ProbeRequest, Restoring, Stage, probe, wanted_bytes};
use cardmark_sim::{Model, SimMedium};

use crate::interrupted::Log;
use crate::support::{GEOMETRIES, GIB, Truth, blocks, content, probed};

fn check(truth: &Truth, model: &Model, cache: u64, real: u64, module: Option<u64>) -> Probe {
    let mut medium = SimMedium::new(model, 5);
    let found = probed(&mut medium, 11, cache).unwrap();
    let name = truth.name;
    assert_eq!(found.kind, truth.kind, "{name}: {found:?}");
    assert_eq!(found.real_blocks, blocks(real), "{name}: {found:?}");
    assert_eq!(found.wrap_blocks, module.map(blocks), "{name}: {found:?}");
    found
}

#[test]
fn each_geometry_is_told_exactly_on_small_cards() {
    for truth in &GEOMETRIES {
        let real = truth.scaled(truth.real_bytes);
        let module = truth.wrap_bytes.map(|bytes| truth.scaled(bytes));
        check(
            truth,
            &truth.scaled_model(),
            truth.cache_blocks(),
            real,
            module,
        );
    }
}

#[test]
fn each_geometry_is_told_exactly_at_its_full_size() {
    for truth in &GEOMETRIES {
        let cache = match truth.name {
            "huge-cache-64gb" => blocks(4 * GIB),
            _ => blocks(GIB),
        };
        check(
            truth,
            &truth.model(),
            cache,
            truth.real_bytes,
            truth.wrap_bytes,
        );
    }
}

#[test]
fn a_fake_without_a_cache_is_found_by_less_than_a_mebibyte() {
    for name in [
        "limbo-32gb",
        "wrap-16gb",
        "chain-16gb",
        "wrap-700mb",
        "dead-1gb",
    ] {
        let truth = GEOMETRIES.iter().find(|truth| truth.name == name).unwrap();
        let found = check(
            truth,
            &truth.model(),
            blocks(GIB),
            truth.real_bytes,
            truth.wrap_bytes,
        );
        assert!(found.written_blocks < 2048, "{name}: {found:?}");
    }
}

#[test]
fn a_cache_larger_than_what_was_excluded_hides_a_fake() {
    let model = Model::named("huge-cache-64gb").unwrap();
    let found = probed(&mut SimMedium::new(&model, 1), 1, blocks(GIB)).unwrap();
    assert_eq!(found.kind, StorageKind::Confirmed);
    let excluded = found.excluded_cache_blocks.unwrap();
    assert!(
        excluded >= blocks(GIB) && excluded < blocks(4 * GIB),
        "{excluded}"
    );
}

/// A card with a share of its extents bad is caught as often as stated.
#[test]
fn single_spots_are_found_as_often_as_stated() {
    const CARDS: u64 = 400;
    // One spot fills an extent, so that shares of spots are shares of extents.
    for share in ["0.001", "0.003", "0.01"] {
        let text = format!(
            "name = \"t\"\nlike = \"a1-32gb\"\nsummary = \"t\"\nsource = \"t\"\ncapacity_bytes = {}\n\
             [flash]\ndamage = {{ kind = \"lost\", share = {share}, spot_bytes = 1048576 }}\n",
            64 * GIB
        );
        let model = Model::parse(&text).unwrap();
        let share: f64 = share.parse().unwrap();
        let mut caught = 0;
        let mut samples = 0;
        for seed in 0..CARDS {
            let found = probed(&mut SimMedium::new(&model, seed), seed, blocks(GIB)).unwrap();
            caught += u64::from(found.kind == StorageKind::Damaged);
            let damage = found.sampling.unwrap();
            samples = damage.samples_count;
            assert!(damage.caught_ratio <= 0.01, "{damage:?}");
        }
        // The samples alone, each bad with that probability; the sentinels catch some more.
        let missed = (1.0 - share).powi(i32::try_from(samples).unwrap());
        let expected = CARDS as f64 * (1.0 - missed);
        let deviation = (CARDS as f64 * missed * (1.0 - missed)).sqrt();
        let low = expected - 4.0 * deviation - 1.0;
        assert!(caught as f64 >= low, "{share}: {caught}, at least {low}");
    }
}

/// A few spots may escape, but are never mistaken for anything else.
#[test]
fn damage_is_not_taken_for_a_fake() {
    for (name, least) in [
        ("spotted-64gb", 95),
        ("rotten-64gb", 100),
        ("unreadable-64gb", 95),
    ] {
        let model = Model::named(name).unwrap().scaled(256);
        let mut found_count = 0;
        for seed in 0..100 {
            let found = probed(&mut SimMedium::new(&model, seed), seed, 8192).unwrap();
            assert!(
                matches!(found.kind, StorageKind::Damaged | StorageKind::Confirmed),
                "{name}, seed {seed}: {found:?}"
            );
            assert_eq!(found.real_blocks, blocks(model.capacity_bytes()));
            found_count += u32::from(found.kind == StorageKind::Damaged);
        }
        assert!(found_count >= least, "{name}: {found_count}");
    }
}

#[test]
fn storage_that_takes_no_writes_is_read_only() {
    let text = include_str!("../../../sim/models/readonly-32gb.toml").replace("3_000_000_000", "0");
    let model = Model::parse(&text).unwrap();
    let found = probed(&mut SimMedium::new(&model, 1), 1, blocks(GIB)).unwrap();
    assert_eq!(found.kind, StorageKind::ReadOnly);
}

/// Storage that accepts no writes keeps its content: nothing has to be restored.
#[test]
fn read_only_storage_is_given_back_as_it_is() {
    let text = include_str!("../../../sim/models/readonly-32gb.toml").replace("3_000_000_000", "0");
    let model = Model::parse(&text).unwrap();
    let medium = SimMedium::new(&model, 1);
    let mut restoring = Restoring::new(medium, Log::default(), content(1));
    let found = probed(&mut restoring, 1, blocks(GIB)).unwrap();
    assert_eq!(found.kind, StorageKind::ReadOnly);
    assert_eq!(restoring.restore(&mut |_, _| ()), Ok(0));
}

#[test]
fn a_thousand_honest_cards_raise_no_alarm() {
    for (name, divisor) in [("a1-32gb", 128), ("honest-1gb", 4)] {
        let model = Model::named(name).unwrap().scaled(divisor);
        for seed in 0..500 {
            let found = probed(&mut SimMedium::new(&model, seed), seed, 4096).unwrap();
            assert_eq!(
                found.kind,
                StorageKind::Confirmed,
                "{name}, seed {seed}: {found:?}"
            );
        }
    }
}

#[test]
fn an_honest_card_is_written_as_much_as_was_said() {
    let model = Model::named("a1-32gb").unwrap();
    let mut medium = SimMedium::new(&model, 1);
    let request = ProbeRequest {
        seed: 1,
        cache_blocks: blocks(GIB),
        wait_ns: 0,
    };
    let said = wanted_bytes(medium.blocks_count(), &request);
    let found = probed(&mut medium, 1, request.cache_blocks).unwrap();
    assert_eq!(found.kind, StorageKind::Confirmed);
    let written = found.written_blocks * 512;
    assert!(
        written >= said && written < said + (2 << 20),
        "{written}, {said}"
    );
    assert!(said < 2_300_000_000, "{said}");
    assert!(found.sampling.unwrap().caught_ratio <= 0.01);
}

#[test]
fn what_was_on_the_card_is_there_again_afterwards() {
    for truth in &GEOMETRIES {
        let model = truth.scaled_model();
        let mut medium = crate::interrupted::used(&model, 2);
        let before = crate::interrupted::kept(&mut medium);
        let mut restoring = Restoring::new(medium, Log::default(), content(4));
        let found = probed(&mut restoring, 4, truth.cache_blocks()).unwrap();
        assert_eq!(found.kind, truth.kind, "{}", truth.name);
        assert_eq!(restoring.restore(&mut |_, _| ()), Ok(0));
        let (mut medium, log) = restoring.into_parts();
        assert_eq!(log.pieces.len(), 0);
        // Content of a hidden cache is not on the card.
        medium.lose_power();
        assert_eq!(
            crate::interrupted::kept(&mut medium),
            before,
            "{}",
            truth.name
        );
    }
}

/// A search behind a cache writes more than the cache holds in each of its rounds.
#[test]
fn how_long_a_search_behind_a_cache_takes_is_told_from_its_begin_on() {
    let model = Model::named("huge-cache-64gb").unwrap();
    let request = ProbeRequest {
        seed: 11,
        cache_blocks: blocks(4 * GIB),
        wait_ns: 0,
    };
    let mut told = Vec::new();
    let mut medium = SimMedium::new(&model, 5);
    probe(&mut medium, &request, &mut |now| {
        if now.stage == Stage::Boundary {
            told.push(now);
        }
    })
    .unwrap();
    let all = told.last().unwrap().moved_blocks as f64;
    // The first report comes before anything is known of the search.
    for now in &told[1..] {
        let ratio = now.wanted_blocks as f64 / all;
        assert!((0.8..1.5).contains(&ratio), "{now:?} of {all}");
    }
}
