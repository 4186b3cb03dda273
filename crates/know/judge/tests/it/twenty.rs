//! Questions of forum users, answered from published figures alone. The right answers were found by hand in the sources.
//! Questions of endurance and of cards to avoid are elsewhere.

use std::collections::BTreeMap;

use cardmark_catalog::use_of;
use cardmark_judge::{
    Basis, Candidate, Choice, Day, Grade, Met, Price, Question, Tier, Wish, published_figures,
    recommend,
};

const GB: u64 = 1_000_000_000;

fn question(wanted: &str, board: Option<&str>) -> Question {
    let today = Day::parse("2026-11-28").unwrap();
    Question::new(use_of(wanted).unwrap(), board, today)
}

fn ask(wanted: &str, board: Option<&str>) -> Choice {
    recommend(published_figures(), &question(wanted, board))
}

fn index(list: &[Candidate], name: &str) -> usize {
    let names: Vec<&str> = list.iter().map(|one| one.product.as_str()).collect();
    let found = names.iter().position(|one| *one == name);
    found.unwrap_or_else(|| panic!("{name} is not in {names:?}"))
}

fn find<'a>(list: &'a [Candidate], name: &str) -> &'a Candidate {
    &list[index(list, name)]
}

/// Asserts that these are in the list in this order.
fn assert_before(list: &[Candidate], names: &[&str]) {
    let indices: Vec<usize> = names.iter().map(|name| index(list, name)).collect();
    assert!(indices.is_sorted(), "{names:?}: {indices:?}");
}

/// Asserts that nothing puts the two in order.
fn assert_no_order(list: &[Candidate], one: &str, other: &str) {
    let [one, other] = [one, other].map(|name| find(list, name).places.unwrap());
    assert!(
        one[0] <= other[1] && other[0] <= one[1],
        "{one:?} {other:?}"
    );
}

fn assert_not_named(list: &[Candidate], part: &str) {
    for one in list {
        assert!(!one.product.contains(part), "{}", one.product);
    }
}

fn need<'a>(one: &'a Candidate, plain: &str) -> &'a Met {
    one.needs.iter().find(|met| met.plain == plain).unwrap()
}

fn rounded(rate: f64) -> String {
    format!("{rate:.0}")
}

/// Low ends of random reads and writes, rounded down to tens.
fn low_ends(one: &Candidate) -> [String; 2] {
    ["random reads", "random writes"].map(|plain| {
        let low = need(one, plain).low.unwrap();
        format!("{:.0}", 10.0 * (low / 10.0).floor())
    })
}

/// Asserts that this is one of the first three, in the order of an estimate, with these low ends by its maker of random reads and writes.
fn assert_estimated(list: &[Candidate], name: &str, low: [&str; 2]) {
    let one = find(list, name);
    let expected = (Basis::Elsewhere, low.map(str::to_owned));
    assert_eq!((one.basis, low_ends(one)), expected, "{name}");
    assert!(index(list, name) < 3, "{name}");
}

const RASPBERRY_PI: [&str; 3] = [
    "Raspberry Pi 128 GB",
    "Raspberry Pi 64 GB",
    "Raspberry Pi 32 GB",
];

#[test]
fn question_1_which_card_for_a_pi_5() {
    let choice = ask("boot", Some("Pi 5"));
    let first = &choice.first;
    assert_no_order(first, "Raspberry Pi 128 GB", "Raspberry Pi 64 GB");
    for name in RASPBERRY_PI {
        let one = find(first, name);
        assert_eq!((one.sold.tier, one.sold.tested), (Tier::Sold, Some(2024)));
        assert_eq!(need(one, "random writes").queue, Some(true), "as installed");
        assert_eq!(one.counts(), [3, 1]);
    }
    assert_before(
        first,
        &[
            "Raspberry Pi 64 GB",
            "Raspberry Pi 32 GB",
            "Amazon Basics 64 GB",
            "Samsung Pro Plus 128 GB",
        ],
    );
    let measured = |name: &str, plain: &str| rounded(need(find(first, name), plain).measured);
    assert_eq!(measured("Raspberry Pi 128 GB", "random writes"), "3986");
    assert_eq!(measured("Raspberry Pi 64 GB", "random reads"), "7400");
    for name in [
        "SanDisk Extreme 64 GB",
        "SanDisk Extreme Pro 128 GB",
        "Amazon Basics 128 GB",
    ] {
        let one = find(first, name);
        assert_eq!(one.grade, Grade::Suits);
        assert_ne!(need(one, "random writes").queue, Some(true), "{name}");
    }
}

#[test]
fn question_2_what_the_queue_gains_a_card_on_a_pi_5() {
    let choice = ask("boot", Some("Pi 5"));
    let extreme = find(&choice.first, "SanDisk Extreme 64 GB");
    assert!((extreme.queue_gain.unwrap() - 2.6).abs() < 0.05);
    assert_eq!(rounded(need(extreme, "random writes").measured), "1147");
    assert_eq!(find(&choice.first, "Raspberry Pi 64 GB").queue_gain, None);
    let choice = ask("boot", Some("Pi 4"));
    assert!(choice.first.iter().all(|one| one.queue_gain.is_none()));
}

#[test]
fn question_3_from_128_gb_on() {
    let wish = Wish {
        capacity_bytes: Some(128 * GB),
        ..Wish::default()
    };
    let asked = Question {
        wish,
        ..question("boot", Some("Pi 5"))
    };
    let first = recommend(published_figures(), &asked).first;
    assert_eq!(index(&first, "Raspberry Pi 128 GB"), 0);
    assert_no_order(&first, "Amazon Basics 128 GB", "SanDisk Extreme Pro 128 GB");
    assert_before(&first, &["Amazon Basics 128 GB", "Samsung Pro Plus 128 GB"]);
    assert_before(
        &first,
        &["SanDisk Extreme Pro 128 GB", "Samsung Pro Plus 128 GB"],
    );
    assert!(first.iter().all(|one| one.capacity_bytes >= Some(128 * GB)));
}

#[test]
fn question_4_the_cheapest_that_is_enough() {
    let prices = [
        ("Amazon Basics 64 GB", "9"),
        ("Raspberry Pi 64 GB", "14"),
        ("SanDisk Extreme 64 GB", "12"),
    ];
    let prices = prices.map(|(name, price)| (name.to_owned(), Price::parse(price).unwrap()));
    let wish = Wish {
        prices: BTreeMap::from(prices),
        is_by_value: true,
        ..Wish::default()
    };
    let asked = Question {
        wish,
        ..question("boot", Some("Pi 5"))
    };
    let choice = recommend(published_figures(), &asked);
    let value = choice.value.unwrap();
    let cheapest = &choice.first[value.cheapest];
    assert_eq!(cheapest.product, "Amazon Basics 64 GB");
    assert_eq!(low_ends(cheapest), ["2380", "1240"]);
    let better = &choice.first[value.next_better.unwrap()];
    assert_eq!(better.product, "Raspberry Pi 64 GB");
}

#[test]
fn question_5_for_a_zero_2_w() {
    let choice = ask("boot", Some("Zero 2 W"));
    let first = &choice.first;
    assert_before(first, &RASPBERRY_PI[1..]);
    assert_estimated(first, "Raspberry Pi 64 GB", ["1500", "500"]);
    assert_estimated(first, "Raspberry Pi 128 GB", ["1500", "500"]);
    assert_estimated(first, "Raspberry Pi 32 GB", ["1500", "500"]);
    // Measured there, and below class A1.
    let endurance = find(&choice.too_slow, "Samsung PRO Endurance (2022) 64 GB");
    assert_eq!(endurance.basis, Basis::StandIn);
    // On the same slot of a Compute Module 3+ the Evo+ read 1,743 times per second, of a Pi 3 2,415 times.
    for (list, name) in [
        (first, "SanDisk Extreme Pro A1 32 GB"),
        (&choice.may_suit, "Samsung Evo+ 32 GB"),
    ] {
        assert_eq!(find(list, name).basis, Basis::SameSlot, "{name}");
    }
}

#[test]
fn questions_6_and_20_for_a_pi_4() {
    let choice = ask("boot", Some("Pi 4"));
    let first = &choice.first;
    assert_estimated(first, "Raspberry Pi 64 GB", ["3200", "1200"]);
    assert_estimated(first, "Raspberry Pi 32 GB", ["3200", "1200"]);
    for name in [
        "SanDisk Extreme Pro A1 32 GB",
        "Samsung Evo+ 32 GB",
        "SanDisk Ultra A1 64 GB",
    ] {
        assert_eq!(find(first, name).basis, Basis::Here, "{name}");
    }
    for name in [
        "PNY Elite 32 GB",
        "TeamGroup Micro 32 GB",
        "Silicon Power Elite 32 GB",
    ] {
        let one = find(&choice.may_suit, name);
        assert_eq!(one.sold.tested, Some(2026), "{name}");
    }
    // The name was used again: the card of 2017 is another one.
    let evo_plus = find(&choice.too_slow, "Samsung Evo Plus 32 GB");
    assert_eq!(rounded(need(evo_plus, "random writes").measured), "455");
}

#[test]
fn question_7_for_a_pi_3() {
    let choice = ask("boot", Some("Pi 3"));
    for name in RASPBERRY_PI {
        assert!(index(&choice.first, name) < 3, "{name}");
    }
    for name in [
        "SanDisk Extreme Pro A1 32 GB",
        "Samsung Evo+ 32 GB",
        "SanDisk Extreme 16 GB",
        "Samsung Pro+ 32 GB",
    ] {
        assert_eq!(find(&choice.first, name).basis, Basis::Here, "{name}");
    }
}

#[test]
fn questions_11_and_12_home_assistant() {
    let advice = use_of("Home Assistant").unwrap().advice.as_deref();
    assert!(advice.is_some_and(|advice| advice.contains("--use endurance")));
    for board in ["Pi 5", "Pi 4"] {
        let choice = ask("Home Assistant", Some(board));
        assert!(choice.first.is_empty(), "no published synced writes");
        assert!(
            choice
                .lacks
                .iter()
                .any(|lack| lack.plain == "synced writes" && lack.is_anywhere)
        );
        for name in RASPBERRY_PI {
            assert!(index(&choice.may_suit, name) < 3, "{name}");
        }
    }
}

/// One database write a minute: any fast card will do.
#[test]
fn question_13_pi_hole_on_a_zero_2_w() {
    let choice = ask("pi-hole", Some("Zero 2 W"));
    for name in RASPBERRY_PI {
        assert!(index(&choice.first, name) < 3, "{name}");
    }
}

#[test]
fn question_14_a_camera_trap() {
    let choice = ask("camera trap", None);
    for name in RASPBERRY_PI {
        let one = find(&choice.first, name);
        assert!(one.band.unwrap().is_any, "{name}");
    }
    // Sold, and of a class that is enough.
    for name in [
        "SanDisk MAX Endurance",
        "SanDisk High Endurance",
        "Kioxia EXCERIA",
    ] {
        assert_eq!(find(&choice.first, name).basis, Basis::Label, "{name}");
    }
    assert!(
        use_of("camera trap")
            .unwrap()
            .advice
            .as_deref()
            .unwrap()
            .contains("U1")
    );
}

#[test]
fn question_15_retro_games_on_a_pi_4() {
    let choice = ask("retro games", Some("Pi 4"));
    assert!(index(&choice.first, "Raspberry Pi 64 GB") < 3);
    for name in ["Samsung Evo+ 32 GB", "SanDisk Extreme Pro A1 32 GB"] {
        find(&choice.first, name);
    }
    assert!(
        choice.first.len() > choice.too_slow.len(),
        "nearly all suit"
    );
}

#[test]
fn question_16_a_nas_on_a_pi_4() {
    let choice = ask("NAS", Some("Pi 4"));
    assert_eq!(choice.first[0].product, "Kingston SSD");
    assert_eq!(choice.first[0].basis, Basis::Here);
    let measured = |plain: &str| rounded(need(&choice.first[0], plain).measured);
    assert_eq!(measured("random writes"), "7221");
    assert_eq!(measured("random reads"), "5209");
    for list in [&choice.first, &choice.may_suit] {
        assert_not_named(list, "Raspberry Pi");
    }
    assert!(choice.left_out.other_kinds_count > 20);
}

#[test]
fn without_a_board_each_card_comes_with_the_boards_that_it_suits() {
    let choice = ask("boot", None);
    assert_eq!(choice.first[0].sold.tier, Tier::Sold);
    assert!(
        choice
            .first
            .iter()
            .all(|one| one.band.is_some() && one.places.is_none())
    );
    assert!(choice.first.iter().any(|one| one.band.unwrap().is_any));
}

/// A sale in 2026 is no evidence in 2028.
#[test]
fn facts_age() {
    let later = Question {
        today: Day::parse("2028-11-28").unwrap(),
        ..question("boot", Some("Pi 5"))
    };
    let choice = recommend(published_figures(), &later);
    assert!(choice.first.iter().all(|one| one.sold.tier != Tier::Sold));
    assert!(choice.sold_untested.is_empty() && !choice.first.is_empty());
}
