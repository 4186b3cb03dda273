//! Cards that last, and cards to avoid.

use std::collections::BTreeSet;

use cardmark_catalog::{
    BrandKind, CapacityVerdict, Cycles, EnduranceKind, EndurancePromise, EnduranceSample,
    ProductKind, endurance_promises, endurance_samples, lines, publications, use_of,
};
use cardmark_core::{
    Board, Integrity, IntegrityTest, Metric, Origin, OriginKind, Quantity, Record, StorageKind,
    run_id_from_bytes,
};
use cardmark_judge::{
    AskedBoard, AvoidQuestion, AvoidReason, DASH_CAM_BYTES_PER_S, Day, Durable, DurableQuestion,
    Price, Tier, Warned, avoid, durable, stated_pair, tested_by_others, tier,
};
use jiff::civil::{Date, date};
use proptest::prelude::*;

const GB: u64 = 1_000_000_000;
const TB: u64 = 1000 * GB;
const TODAY: Date = date(2026, 11, 28);

fn dash_cam(gigabytes: u64, today: Date) -> DurableQuestion {
    DurableQuestion {
        capacity_bytes: gigabytes * GB,
        least_write_bytes_per_s: Some(DASH_CAM_BYTES_PER_S),
        today: today.into(),
    }
}

/// Places, names and volumes in TB.
fn order<'a>(found: &'a Durable<'_>) -> Vec<([usize; 2], &'a str, u64)> {
    let cards = found.ordered.iter();
    let in_tb = |bytes: u64| (bytes + TB / 2) / TB;
    cards
        .map(|card| (card.places, card.name.as_str(), in_tb(card.volume_bytes)))
        .collect()
}

fn warned(samples: &[EnduranceSample], board: Option<&str>, own: &[Record]) -> Vec<Warned> {
    let published = publications().iter().flat_map(|one| one.records());
    let records: Vec<Record> = published.chain(own.iter().cloned()).collect();
    let board = board.and_then(|name| AskedBoard::find(name, std::iter::empty()));
    let question = AvoidQuestion {
        wanted: use_of("boot").unwrap(),
        board: board.as_ref(),
        kinds: &[ProductKind::Microsd],
    };
    avoid(samples, lines(), &records, &question)
}

/// The cheapest of the priced cards, if its label is fast enough; whatever the order of the prices.
#[test]
fn the_cheapest_that_is_enough_has_a_price_and_a_class() {
    let price = |name: &str, price: &str| (name.to_owned(), Price::parse(price).unwrap());
    let mut found = durable(endurance_promises(), &dash_cam(128, TODAY));
    assert_eq!(found.cheapest(true), None);
    let mut prices = vec![
        price("PRO Endurance", "30"),
        price("SanDisk MAX Endurance 128 GB", "25"),
        price("SanDisk High Endurance", "15 EUR"),
    ];
    for _ in 0..prices.len() {
        prices.rotate_left(1);
        assert!(found.enter_prices(&prices).is_empty());
        let cheapest = found.cheapest(true).map(|card| card.name.as_str());
        assert_eq!(cheapest, Some("SanDisk High Endurance"));
    }
    let unknown = [
        price("Zeppelin", "1"),
        price("SanDisk MAX Endurance 32 GB", "2"),
    ];
    let none = |name: &str| (name.to_owned(), Vec::new());
    assert_eq!(
        found.enter_prices(&unknown),
        ["Zeppelin", "SanDisk MAX Endurance 32 GB"].map(none)
    );
    found.keep_within(&Price::parse("26").unwrap());
    let names: Vec<&str> = found
        .ordered
        .iter()
        .map(|card| card.name.as_str())
        .collect();
    assert!(
        !names.contains(&"Samsung PRO Endurance (2022)"),
        "{names:?}"
    );
    assert_eq!(
        (found.ordered[0].name.as_str(), found.ordered[0].places),
        ("SanDisk MAX Endurance", [1, 1])
    );
    // Amounts of two currencies are in no order.
    assert!(
        found
            .enter_prices(&[price("SanDisk MAX Endurance", "25 USD")])
            .is_empty()
    );
    assert_eq!(found.cheapest(true), None);
}

/// Whatever the capacity is, each card can be priced by its own name, and no price is that of two cards.
#[test]
fn a_price_is_of_one_card() {
    let price = Price::parse("10").unwrap();
    for gigabytes in [32, 64, 128, 256, 512] {
        let mut found = durable(endurance_promises(), &dash_cam(gigabytes, TODAY));
        let names: Vec<String> = found.ordered.iter().map(|card| card.name.clone()).collect();
        for name in &names {
            assert_eq!(found.enter_prices(&[(name.clone(), price.clone())]), []);
        }
        assert!(found.ordered.iter().all(|card| card.price.is_some()));
        for card in &mut found.ordered {
            card.price = None;
        }
        let of_all = "Endurance".to_owned();
        let named = names.iter().filter(|name| name.contains(&of_all)).cloned();
        let named: Vec<String> = named.collect();
        if named.len() > 1 {
            let unclear = found.enter_prices(&[(of_all.clone(), price.clone())]);
            assert_eq!(unclear, [(of_all, named)]);
            assert!(found.ordered.iter().all(|card| card.price.is_none()));
        }
    }
}

/// Row 8 of the twenty questions: a dash cam with 128 GB.
#[test]
fn a_dash_cam_gets_the_largest_volume_that_is_known_sold() {
    let found = durable(endurance_promises(), &dash_cam(128, TODAY));
    let expected = [
        ([1, 1], "Samsung PRO Endurance (2022)", 820),
        ([2, 2], "SanDisk MAX Endurance", 702),
        ([3, 4], "Kingston High Endurance", 117),
        ([3, 4], "SanDisk High Endurance", 117),
        ([5, 5], "ADATA High Endurance", 234),
        ([6, 6], "Lexar High-Endurance", 135),
    ];
    assert_eq!(order(&found), expected);
    let hours: Vec<Option<u64>> = found.ordered.iter().map(|one| one.video_hours()).collect();
    let equal_rate = [70_080, 60_000, 10_000, 10_000, 20_000, 11_538];
    assert_eq!(hours, equal_rate.map(Some));
    assert!(found.ordered.iter().all(|card| card.class.is_some()));
    let replaced: Vec<&str> = found.replaced.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(replaced, ["Samsung PRO Endurance (2018)"]);
    // Of the largest capacity of a line, or of no capacity.
    let beside: Vec<u64> = found
        .beside
        .iter()
        .filter_map(|one| one.volume_bytes)
        .collect();
    assert_eq!(beside, [12_670 * TB, 5500 * TB, 3840 * TB, 768 * TB]);
}

/// Row 9: exactly 32 GB.
#[test]
fn a_smaller_card_has_its_own_figures() {
    let found = durable(endurance_promises(), &dash_cam(32, TODAY));
    let expected = [
        ([1, 1], "Samsung PRO Endurance (2022)", 205),
        ([2, 2], "SanDisk MAX Endurance", 176),
        ([3, 3], "SanDisk High Endurance", 29),
    ];
    assert_eq!(order(&found), expected);
    let hours = found.ordered[0].video_hours();
    assert_eq!(
        (hours, found.ordered[0].fillings()),
        (Some(17_520), Some(6405))
    );
    // The labels of other capacities do not count.
    let classes = found.ordered.iter().map(|card| card.class.as_deref());
    assert_eq!(Vec::from_iter(classes), [None, Some("C10"), None]);
    let tested = tested_by_others(endurance_samples(), Some(32 * GB));
    let purple = tested
        .iter()
        .find(|one| one.product == "WD Purple 32 GB")
        .unwrap();
    let only = Cycles {
        at_least: 1366,
        at_most: Some(1366),
    };
    assert_eq!(purple.first_errors, [only]);
}

/// Row 10: 20,000 hours on one package and 10,000 on the other are the same volume.
#[test]
fn hours_are_compared_by_their_volume() {
    let found = durable(endurance_promises(), &dash_cam(128, TODAY));
    let of = |name: &str| found.ordered.iter().find(|one| one.name == name).unwrap();
    let (kingston, sandisk) = (of("Kingston High Endurance"), of("SanDisk High Endurance"));
    assert_eq!(
        (kingston.promise.hours, sandisk.promise.hours),
        (Some(20_000), Some(10_000))
    );
    assert_eq!(kingston.volume_bytes, sandisk.volume_bytes);
    assert_eq!(kingston.places, sandisk.places);
}

#[test]
fn a_capacity_without_a_statement_gets_the_next_one() {
    let of = |gigabytes: u64| {
        let found = durable(endurance_promises(), &dash_cam(gigabytes, TODAY));
        (found.capacity_bytes / GB, found.ordered[0].name.clone())
    };
    assert_eq!(of(100).0, 128);
    assert_eq!(of(256).1, "Samsung PRO Endurance (2022)");
    assert_eq!(of(400).0, 512);
    // Larger than all.
    assert_eq!(
        of(2000),
        (1000, "Western Digital WD Purple QD101".to_owned())
    );
    // Only volumes stated directly.
    assert_eq!(of(8), (8, "Transcend USD230I".to_owned()));
}

/// Of 16 and of 64 GB, Transcend states more than its 60,000 cycles could hold.
#[test]
fn a_volume_above_the_cycles_of_the_same_card_has_no_place() {
    let of = |gigabytes: u64| {
        durable(
            endurance_promises(),
            &DurableQuestion {
                least_write_bytes_per_s: None,
                ..dash_cam(gigabytes, TODAY)
            },
        )
    };
    assert_eq!(of(2).ordered[0].name, "Transcend USD230I");
    assert_eq!(of(16).capacity_bytes, 32 * GB);
    let beside = of(64).beside;
    assert!(
        beside
            .iter()
            .any(|one| one.volume_bytes == Some(5800 * 1_000_000_000_000))
    );
}

/// Row 18: three cards of each, as ranges that overlap.
#[test]
fn tested_cards_are_a_range_and_no_mean() {
    let tested = tested_by_others(endurance_samples(), Some(32 * GB));
    let of = |name: &str| tested.iter().find(|one| one.product == name).unwrap();
    let least = |name: &str| -> Vec<(u64, bool)> {
        let cards = of(name).first_errors.iter();
        cards
            .map(|one| (one.at_least, one.at_most.is_some()))
            .collect()
    };
    let plus = [(1415, true), (13_876, false), (17_222, false)];
    assert_eq!(least("Samsung EVO Plus 32 GB"), plus);
    assert_eq!(
        least("SanDisk Ultra 32 GB"),
        [(395, true), (1583, true), (1905, true)]
    );
    assert_eq!(of("Samsung EVO Plus 32 GB").made, ["2020"]);
    assert_eq!(of("SanDisk Ultra 32 GB").made, ["2022", "2023"]);
}

/// Row 17: products to avoid.
#[test]
fn false_names_false_capacities_and_early_errors_are_named() {
    let warned = warned(endurance_samples(), None, &[]);
    let of = |is_wanted: fn(&AvoidReason) -> bool| -> Vec<&str> {
        let all = warned.iter().filter(|one| is_wanted(&one.reason));
        all.map(|one| one.name.as_str()).collect()
    };
    let fakes = [
        "\"Lenovo\" 128 GB",
        "\"Lenovo\" 2 TB",
        "\"Lenovo\" 256 GB",
        "\"Sansumg\" PRO Plus 2 TB",
        "\"Xiaomi\" 2 TB",
    ];
    assert_eq!(
        of(|one| matches!(one, AvoidReason::FalseCapacity { .. })),
        fakes
    );
    assert_eq!(of(|one| *one == AvoidReason::FalseName), ["\"Sony\" 32 GB"]);
    let early: Vec<(&str, usize, usize, u64)> = warned
        .iter()
        .filter_map(|one| match one.reason {
            AvoidReason::EarlyError {
                early_count,
                most_fillings,
            } => Some((
                one.name.as_str(),
                early_count,
                one.cards_count,
                most_fillings,
            )),
            _ => None,
        })
        .collect();
    let expected = [
        ("Bekit 8 GB", 1, 3, 0),
        ("Hiksemi NEO 8 GB", 1, 1, 3),
        ("Lexar Professional 1000x 64 GB", 2, 3, 0),
        ("QEEDNS 8 GB", 1, 3, 0),
    ];
    assert_eq!(early, expected);
    let registers: BTreeSet<&str> = warned
        .iter()
        .flat_map(|one| &one.registers)
        .map(|found| found.product.as_str())
        .collect();
    assert_eq!(Vec::from_iter(registers), ["APPSD", "SD16G", "asdfg"]);
    // The genuine Gigastone has the registers of the false Sony, at another capacity.
    for one in &warned {
        assert!(!["Samsung", "SanDisk", "Kingston", "Sony", "Lenovo"].contains(&one.name.as_str()));
        assert!(
            one.checked_on.is_some() && !one.sources.is_empty(),
            "{one:?}"
        );
    }
}

#[test]
fn a_broken_queue_counts_on_boards_that_use_it() {
    let broken = |board: Option<&str>| -> Vec<String> {
        let all = warned(endurance_samples(), board, &[]).into_iter();
        all.filter(|one| matches!(one.reason, AvoidReason::BrokenQueue { .. }))
            .map(|one| one.name)
            .collect()
    };
    for board in ["Pi 5", "Raspberry Pi 5", "Raspberry Pi 5 Model B Rev 1.0"] {
        assert_eq!(
            broken(Some(board)),
            ["Samsung PRO Plus (MB-MD*SA)"],
            "{board}"
        );
    }
    for board in [None, Some("Pi 4"), Some("Amiga")] {
        assert_eq!(broken(board), <[&str; 0]>::default(), "{board:?}");
    }
}

#[test]
fn a_product_is_too_slow_where_others_are_not() {
    let slow = |board: Option<&str>| -> Vec<Warned> {
        let all = warned(&[], board, &[]).into_iter();
        all.filter(|one| matches!(one.reason, AvoidReason::TooSlow { .. }))
            .collect()
    };
    let anywhere = slow(None);
    assert!(!anywhere.is_empty());
    for one in anywhere.iter().chain(&slow(Some("Pi 4"))) {
        let AvoidReason::TooSlow { value, asked, .. } = &one.reason else {
            panic!("{one:?}");
        };
        assert!(2.0 * value < *asked, "{one:?}");
    }
    let names: Vec<&str> = anywhere.iter().map(|one| one.name.as_str()).collect();
    for good in [
        "Raspberry Pi 64 GB",
        "Samsung Evo+ 32 GB",
        "SanDisk Extreme 64 GB",
    ] {
        assert!(!names.contains(&good), "{good}: {names:?}");
    }
}

#[test]
fn a_board_and_a_method_at_their_limit_are_no_fault_of_a_product() {
    let run = |product: &str, board: &str, writes: f64| {
        let id = format!("run with {writes}");
        let mut record = own(product, &id, StorageKind::Confirmed, OriginKind::Published);
        record.board = Some(Board {
            model: Some(board.to_owned()),
            ..Board::default()
        });
        record.metrics = vec![Metric::new(
            "rand_write_4k",
            Quantity::OperationRate,
            writes,
        )];
        record
    };
    let question = AvoidQuestion {
        wanted: use_of("boot").unwrap(),
        board: None,
        kinds: &[],
    };
    let (pi_4, pi_5) = ("Raspberry Pi 4 Model B", "Raspberry Pi 5");
    let slow = || run("Samsung Evo 32 GB", pi_4, 20.0);
    for (other, expected) in [
        (run("Raspberry Pi 64 GB", pi_4, 600.0), 1),
        (run("Raspberry Pi 64 GB", pi_4, 400.0), 0),
        (run("Raspberry Pi 64 GB", pi_5, 600.0), 0),
        // Its best run counts.
        (run("Samsung Evo 32 GB", pi_4, 600.0), 0),
    ] {
        let found = avoid(&[], &[], &[slow(), other], &question);
        assert_eq!(found.len(), expected, "{found:?}");
    }
}

/// A complete test of an own card.
fn own(product: &str, day: &str, kind: StorageKind, origin: OriginKind) -> Record {
    let id: Vec<u8> = format!("{product}{day}{kind:?}").into_bytes();
    let mut bytes = [0; 16];
    for (index, byte) in id.iter().enumerate() {
        bytes[index % 16] ^= byte.rotate_left(u32::try_from(index % 8).unwrap());
    }
    let mut record = Record::new(run_id_from_bytes(bytes), Origin::of(origin));
    record
        .labels
        .insert("product".to_owned(), product.to_owned());
    record.started_at = Some(format!("{day}T10:00:00Z"));
    record.integrity = Some(Integrity::new(IntegrityTest::Probe, kind, 32 * GB, 2 * GB));
    record
}

#[test]
fn own_fakes_lead_until_a_later_test_of_that_card() {
    use OriginKind::{Measured, Simulated};
    use StorageKind::{Confirmed, Damaged, Limbo};
    let fakes = |own: &[Record]| -> Vec<String> {
        let all = warned(&[], None, own).into_iter();
        let is_own = |one: &Warned| matches!(one.reason, AvoidReason::OwnFake { .. });
        all.filter(is_own).map(|one| one.name).collect()
    };
    let bad = own("No name", "2026-10-01", Limbo, Measured);
    assert_eq!(fakes(std::slice::from_ref(&bad)), ["No name"]);
    let later = own("No name", "2026-10-02", Confirmed, Measured);
    let other = own("Other", "2026-10-03", Confirmed, Measured);
    let none: [&str; 0] = [];
    assert_eq!(fakes(&[later.clone(), bad.clone()]), none);
    assert_eq!(fakes(&[other, bad.clone(), bad]), ["No name"]);
    let simulated = own("Simulated", "2026-10-01", Limbo, Simulated);
    let damaged = own("Damaged", "2026-10-01", Damaged, Measured);
    assert_eq!(fakes(&[simulated, damaged, later]), none);
}

fn promise(
    (maker, kind): (usize, usize),
    gigabytes: u64,
    (hours, megabits): (u64, u64),
) -> EndurancePromise {
    let kind_of = [
        EnduranceKind::Hours,
        EnduranceKind::Volume,
        EnduranceKind::Cycles,
    ];
    let is_video = kind == 0 || kind == 3;
    let volume = hours * 3600 * megabits * 1_000_000 / 8;
    EndurancePromise {
        id: format!("made_{maker}_{gigabytes}_{kind}_{hours}_{megabits}"),
        maker: format!("Maker {maker}"),
        name: "Card".to_owned(),
        line: None,
        generation: None,
        capacity_bytes: Some(gigabytes * GB),
        part_number: None,
        kind: kind_of[kind % 3],
        volume_bytes: (kind % 3 != 2 && kind != 3).then_some(volume),
        up_to: kind == 4,
        hours: is_video.then_some(hours),
        bits_per_s: (kind == 0).then_some(megabits * 1_000_000),
        bit_rate_from: None,
        cycles: (kind == 2).then_some(3000),
        conditions: None,
        warranty_years: None,
        classes: Vec::new(),
        source: "https://example.org".to_owned(),
        document: None,
        checked_on: "2026-11-28".to_owned(),
    }
}

/// Kind 3 has hours without a bit rate, kind 4 a volume of the largest capacity.
fn made() -> impl Strategy<Value = Vec<EndurancePromise>> {
    let one = (
        (0_usize..4, 0_usize..5),
        prop::sample::select(vec![16_u64, 32, 64, 128, 256]),
        (
            prop::sample::select(vec![1000_u64, 5000, 20_000]),
            prop::sample::select(vec![13_u64, 26]),
        ),
    );
    let one = one.prop_map(|(kind, size, hours)| promise(kind, size, hours));
    prop::collection::vec(one, 0..12)
}

fn asked() -> impl Strategy<Value = u64> {
    prop::sample::select(vec![8_u64, 16, 32, 48, 64, 128, 256, 1000, 4000])
}

/// The whole answer as text.
fn as_json(found: &Durable<'_>) -> String {
    serde_json::to_string(found).unwrap()
}

fn sample(kind: BrandKind, name: usize, number: u32, cycles: Option<u64>) -> EnduranceSample {
    let product = match kind {
        BrandKind::KnockOff => format!("\"Brand {name}\" 64GB"),
        _ => format!("Brand {name} 64GB"),
    };
    EnduranceSample {
        product,
        brand: kind,
        sample: number,
        capacity_bytes: 64 * GB,
        holds_bytes: None,
        verdict: (kind == BrandKind::KnockOff && name == 0).then_some(CapacityVerdict::Fake),
        made: None,
        first_error: Some(Cycles {
            at_least: cycles.unwrap_or(5),
            at_most: cycles,
        }),
        failed: None,
        registers: None,
        source: "https://example.org".to_owned(),
        checked_on: "2026-11-28".to_owned(),
    }
}

fn made_samples() -> impl Strategy<Value = Vec<EnduranceSample>> {
    let kinds = vec![BrandKind::Name, BrandKind::Off, BrandKind::KnockOff];
    let cycles = prop::option::of(prop::sample::select(vec![0_u64, 9, 10, 2000]));
    let one = (prop::sample::select(kinds), 0_usize..3, 1_u32..4, cycles);
    let one = one.prop_map(|(kind, name, number, cycles)| sample(kind, name, number, cycles));
    prop::collection::vec(one, 0..10).prop_map(|all| {
        // A source has each sample once.
        let mut seen = BTreeSet::new();
        let is_new = |one: &EnduranceSample| seen.insert((one.product.clone(), one.sample));
        let mut all = all;
        let mut is_new = is_new;
        all.retain(|one| is_new(one));
        all
    })
}

proptest! {
    #[test]
    fn the_order_is_that_of_the_statements_at_one_capacity(
        made in made(),
        is_real in any::<bool>(),
        gigabytes in asked(),
        days in 0_i32..2000,
    ) {
        let mut promises = made;
        promises.extend(endurance_promises().iter().filter(|_| is_real).cloned());
        let today = TODAY + jiff::Span::new().days(days);
        let found = durable(&promises, &dash_cam(gigabytes, today));
        let most = |one: &EndurancePromise| {
            let same = promises.iter().filter(|other| (&other.maker, &other.name) == (&one.maker, &one.name));
            let same = same.filter(|other| other.capacity_bytes == one.capacity_bytes);
            same.filter_map(|other| Some(u64::from(other.cycles?) * other.capacity_bytes?)).min()
        };
        let is_comparable = |one: &EndurancePromise| {
            let volume = one.volume_bytes.filter(|_| !one.up_to);
            volume.is_some_and(|volume| most(one).is_none_or(|most| volume <= most))
        };
        let stated: BTreeSet<Option<u64>> = promises.iter().filter(|one| is_comparable(one)).map(|one| one.capacity_bytes).collect();
        prop_assert_eq!(found.ordered.is_empty(), stated.is_empty());
        if stated.contains(&Some(gigabytes * GB)) {
            prop_assert_eq!(found.capacity_bytes, gigabytes * GB);
        }
        let mut kinds = BTreeSet::new();
        for card in found.ordered.iter().chain(&found.replaced) {
            // A volume of another capacity, or of the largest one, is never used.
            prop_assert_eq!(card.promise.capacity_bytes, Some(found.capacity_bytes));
            prop_assert_eq!(card.promise.volume_bytes, Some(card.volume_bytes));
            prop_assert!(is_comparable(card.promise));
            kinds.insert(format!("{:?}", card.promise.kind));
        }
        prop_assert!(kinds.len() <= 1);
        for pair in found.ordered.windows(2) {
            let key = |index: usize| (pair[index].tier, std::cmp::Reverse(pair[index].volume_bytes));
            prop_assert!(key(0) <= key(1));
            prop_assert_eq!(key(0) == key(1), pair[0].places == pair[1].places);
        }
        let names: BTreeSet<&str> = found.ordered.iter().map(|one| one.name.as_str()).collect();
        prop_assert_eq!(names.len(), found.ordered.len());
        let is_of_size = |one: &&EndurancePromise| one.capacity_bytes.is_none_or(|bytes| bytes == found.capacity_bytes);
        for one in promises.iter().filter(is_of_size).filter(|one| one.volume_bytes.is_some() && !is_comparable(one)) {
            prop_assert!(found.beside.iter().any(|beside| beside.id == one.id), "{}", one.id);
        }
    }

    #[test]
    fn order_and_repetition_of_statements_do_not_matter(
        (made, shuffled) in made().prop_flat_map(|made| {
            let mut twice = made.clone();
            twice.extend(made.iter().take(3).cloned());
            twice.extend(endurance_promises().iter().cloned());
            (Just(made), Just(twice).prop_shuffle())
        }),
        gigabytes in asked(),
    ) {
        let mut promises = made;
        promises.extend(endurance_promises().iter().cloned());
        let question = dash_cam(gigabytes, TODAY);
        let (plain, other) = (durable(&promises, &question), durable(&shuffled, &question));
        prop_assert_eq!(as_json(&plain), as_json(&other));
    }

    /// Half the bit rate for twice the hours is the same card.
    #[test]
    fn bit_rates_do_not_change_places(hours in 1_u64..50_000, megabits in 1_u64..60) {
        let promises = [
            promise((0, 0), 128, (2 * hours, megabits)),
            promise((1, 0), 128, (hours, 2 * megabits)),
        ];
        let found = durable(&promises, &dash_cam(128, TODAY));
        prop_assert_eq!(found.ordered.len(), 2);
        prop_assert!(found.ordered.iter().all(|one| one.places == [1, 2]));
        prop_assert_eq!(found.ordered[0].video_hours(), found.ordered[1].video_hours());
    }

    #[test]
    fn time_makes_no_sale_surer(first in 0_i32..1500, later in 0_i32..1500) {
        let day = |days: i32| Day::from(TODAY + jiff::Span::new().days(days));
        for line in lines() {
            prop_assert!(tier(line, day(first)) <= tier(line, day(first + later)));
        }
    }

    #[test]
    fn only_false_names_and_early_errors_are_avoided(
        (samples, shuffled) in made_samples().prop_flat_map(|all| {
            let mut twice = all.clone();
            twice.extend(all.iter().take(3).cloned());
            (Just(all), Just(twice).prop_shuffle())
        }),
    ) {
        let question = AvoidQuestion { wanted: use_of("boot").unwrap(), board: None, kinds: &[] };
        let found = avoid(&samples, lines(), &[], &question);
        prop_assert_eq!(&found, &avoid(&shuffled, lines(), &[], &question));
        let is_early = |one: &EnduranceSample| one.first_error.is_some_and(|error| error.at_most.is_some_and(|most| most < 10));
        for one in &found {
            let cards: Vec<&EnduranceSample> = samples.iter().filter(|card| card.name() == one.name).collect();
            // A product of one capacity, with all its cards: never a brand.
            prop_assert!(one.name.ends_with(" 64 GB"));
            prop_assert_eq!(one.cards_count, cards.len());
            match one.reason {
                AvoidReason::EarlyError { early_count, .. } => {
                    prop_assert_eq!(early_count, cards.iter().filter(|card| is_early(card)).count());
                    prop_assert!(early_count > 0 && !one.name.contains('"'));
                }
                _ => prop_assert!(one.name.starts_with('"')),
            }
        }
        for card in &samples {
            let is_named = found.iter().any(|one| one.name == card.name());
            prop_assert!(is_named || !(is_early(card) || card.brand == BrandKind::KnockOff));
        }
    }
}

#[test]
fn a_sale_is_fresh_for_a_year() {
    let of = |id: &str, today: Date| {
        let line = lines().iter().find(|line| line.id == id);
        tier(line.unwrap(), today.into())
    };
    let pro = "samsung_pro_endurance_2022";
    assert_eq!(of(pro, TODAY), Tier::Sold);
    assert_eq!(of(pro, date(2027, 1, 16)), Tier::Sold);
    assert_eq!(of(pro, date(2027, 1, 17)), Tier::Recent);
    assert_eq!(of("samsung_pro_endurance_2018", TODAY), Tier::Older);
    // A day to come is no evidence.
    assert_eq!(of(pro, date(2026, 1, 15)), Tier::Recent);
    // A year counts from its first day.
    assert_eq!(
        of("kingston_canvas_select_plus_gen3", date(2027, 1, 1)),
        Tier::Sold
    );
    assert_eq!(
        of("kingston_canvas_select_plus_gen3", date(2027, 1, 2)),
        Tier::Older
    );
}

#[test]
fn two_lines_are_stated_at_one_capacity() {
    let of = |names: [&str; 2]| {
        let pair = stated_pair(endurance_promises(), names)?;
        let volumes = pair.volumes_bytes.map(|bytes| (bytes + TB / 2) / TB);
        Some((pair.names, volumes, pair.capacity_bytes / GB))
    };
    let names = ["Samsung PRO Endurance (2022)", "SanDisk MAX Endurance"].map(str::to_owned);
    assert_eq!(
        of(["Samsung Pro Endurance", "SanDisk Max Endurance"]),
        Some((names, [820, 702], 128))
    );
    let (_, volumes, size) = of(["SanDisk High Endurance", "Max Endurance 64gb"]).unwrap();
    assert_eq!((volumes, size), ([59, 351], 64));
    for names in [
        ["High Endurance", "SanDisk MAX Endurance"],
        [
            "SanDisk High Endurance 32 GB",
            "SanDisk MAX Endurance 64 GB",
        ],
        ["SanDisk MAX Endurance", "SanDisk MAX Endurance"],
        ["SanDisk Extreme", "SanDisk MAX Endurance"],
    ] {
        assert_eq!(of(names), None, "{names:?}");
    }
}
