use std::collections::BTreeMap;
use std::sync::Arc;

use cardmark_catalog::{ProductKind, use_of, uses};
use cardmark_core::{OriginKind, Quantity, Subject};
use proptest::prelude::*;

use super::*;

mod estimates;

/// A day on which nothing is known to be sold, and one on which some products are.
const LATER: &str = "2035-11-28";
const TODAY: &str = "2026-11-28";

/// A published figure of this product on this board.
fn subject(product: &str, board: &str) -> Subject {
    Subject {
        product: Some(product.to_owned()),
        model: None,
        board: (!board.is_empty()).then(|| board.to_owned()),
        setting: None,
        origin: OriginKind::Published,
        publication: Some("magazine".to_owned()),
        card: None,
        context: Arc::default(),
    }
}

fn rate(subject: &Arc<Subject>, metric: &str, value: f64) -> Figure {
    Figure {
        subject: Arc::clone(subject),
        metric: metric.to_owned(),
        quantity: match metric.starts_with("seq") || metric.starts_with("agnostics_seq") {
            true => Quantity::ByteRate,
            false => Quantity::OperationRate,
        },
        value,
        runs_count: 1,
        cards_count: 1,
        year: Some(2024),
        is_uneven: false,
    }
}

/// Random reads and writes, and sequential reads of 40 MB/s.
fn card(subject: Subject, reads: f64, writes: f64) -> Vec<Figure> {
    let subject = Arc::new(subject);
    vec![
        rate(&subject, "rand_read_4k", reads),
        rate(&subject, "rand_write_4k", writes),
        rate(&subject, "seq_read_1m", 40e6),
    ]
}

fn question(board: Option<&str>) -> Question {
    let today = Day::parse(LATER).unwrap();
    Question::new(use_of("boot").unwrap(), board, today)
}

fn names(candidates: &[Candidate]) -> Vec<&str> {
    candidates.iter().map(|one| one.product.as_str()).collect()
}

const EVO: &str = "Samsung Evo 32 GB";
const ULTRA: &str = "SanDisk Ultra A1 32 GB";
const PI_4: &str = "Raspberry Pi 4 Model B";
const PI_3: &str = "Raspberry Pi 3 Model B";

#[test]
fn a_card_suits_if_its_class_is_met_and_the_other_needs_by_half() {
    let grade = |reads: f64, writes: f64, sequential: f64| {
        let mut figures = card(subject(EVO, PI_4), reads, writes);
        figures[2].value = sequential;
        let choice = recommend(&figures, &question(Some("Pi 4")));
        let lists = [&choice.first, &choice.may_suit, &choice.too_slow];
        let lists = lists.into_iter().flatten();
        lists.map(|one| one.grade).collect::<Vec<_>>()
    };
    assert_eq!(grade(1500.0, 500.0, 10e6), [Grade::Suits]);
    assert_eq!(grade(1499.0, 500.0, 10e6), [Grade::TooSlow]);
    assert_eq!(grade(1500.0, 499.0, 10e6), [Grade::TooSlow]);
    assert_eq!(grade(1500.0, 500.0, 9.9e6), [Grade::TooSlow]);
}

#[test]
fn without_a_figure_that_decides_a_product_is_beside_the_order() {
    let mut figures = card(subject(EVO, PI_4), 9000.0, 900.0);
    figures.remove(1);
    let choice = recommend(&figures, &question(Some("Pi 4")));
    assert!(choice.first.is_empty());
    assert_eq!(choice.beside[0].beside, Some(Beside::Rate));
    let figures = card(subject("Virtual disk 256 GB", PI_4), 9e5, 9e5);
    let choice = recommend(&figures, &question(Some("Pi 4")));
    assert!(choice.first.is_empty());
    assert_eq!(choice.beside[0].beside, Some(Beside::Kind));
}

/// The slower slot adds the time of 4 KiB to each operation; an estimate counts with 80 %.
#[test]
fn on_another_board_the_slot_is_taken_into_account() {
    let figures = card(subject(EVO, PI_4), 3000.0, 1000.0);
    let met = |board: &str, name: &str| {
        let choice = recommend(&figures, &question(Some(board)));
        let all = [&choice.first, &choice.may_suit, &choice.too_slow]
            .into_iter()
            .flatten();
        let needs = all.flat_map(|one| one.needs.clone());
        needs.into_iter().find(|met| met.name == name).unwrap()
    };
    let reads = met("Pi 3", "random read 4 KiB");
    assert_eq!(reads.basis, Basis::Elsewhere);
    let expected = 1.0 / (1.0 / 3000.0 + 4096.0 / 25e6);
    assert!((reads.value - expected).abs() < 1e-6 && reads.value < 2012.0);
    assert!((reads.low.unwrap() - 0.8 * expected).abs() < 1e-6);
    assert!(reads.high.unwrap() >= 3000.0 - 1e-6, "{reads:?}");
    let sequential = met("Pi 3", "sequential read");
    assert!((sequential.value - 0.9 * 25e6).abs() < 1e-3);
    // A faster slot may save the difference, but need not.
    let reads = met("Pi 5", "random read 4 KiB");
    assert!((reads.value - 3000.0).abs() < 1e-6);
    assert!((reads.low.unwrap() - 2400.0).abs() < 1e-6);
    assert!(reads.high.unwrap() > 3000.0);
    assert_eq!(met("Pi 4", "random read 4 KiB").basis, Basis::Here);
    assert_eq!(met("CM4", "random read 4 KiB").basis, Basis::SameSlot);
}

#[test]
fn another_method_stands_in_and_is_in_no_order_with_the_pattern() {
    let mut figures = card(subject(EVO, PI_4), 2500.0, 900.0);
    let other = Arc::new(subject(ULTRA, PI_4));
    figures.push(rate(&other, "agnostics_rand_read", 2500.0));
    figures.push(rate(&other, "agnostics_rand_write", 900.0));
    let choice = recommend(&figures, &question(Some("Pi 4")));
    assert_eq!(names(&choice.first), [EVO, ULTRA]);
    let places: Vec<_> = choice.first.iter().map(|one| one.places).collect();
    assert_eq!(places, [Some([1, 1]), Some([2, 2])]);
    assert_eq!(choice.first[1].basis, Basis::StandIn);
    let reads = &choice.first[1].needs[0];
    assert_eq!(reads.stand_in, Some("32 at once"));
    assert!((reads.low.unwrap() - 1.0 / (1.0 / 2500.0 + 160e-6)).abs() < 1e-6);
    // Measured 32 at once, 1,900 reads may be 1,457 one at a time.
    let last = figures.len() - 2;
    figures[last].value = 1900.0;
    let choice = recommend(&figures, &question(Some("Pi 4")));
    assert_eq!(names(&choice.may_suit), [ULTRA]);
}

/// Random reads with several in flight, and writes at half their rate.
fn with_queue(product: &str, board: &str, state: &str, reads: f64) -> Vec<Figure> {
    let mut one = subject(product, board);
    let context = [("command_queue", state), ("reader", "slot")];
    let context = context.map(|(name, value)| (name.to_owned(), value.to_owned()));
    one.context = Arc::new(BTreeMap::from(context));
    let one = Arc::new(one);
    vec![
        rate(&one, "agnostics_rand_read", reads),
        rate(&one, "agnostics_rand_write", reads / 2.0),
    ]
}

const PI_5: &str = "Raspberry Pi 5";

/// As installed, trusted cards work with the queue on, and others with the queue off.
#[test]
fn the_queue_counts_for_trusted_cards_on_boards_that_use_it() {
    let of = |product: &str, board: &str| {
        let figures = [
            with_queue(product, PI_5, "on", 7000.0),
            with_queue(product, PI_5, "off", 4000.0),
        ];
        let choice = recommend(&figures.concat(), &question(Some(board)));
        choice.first[0].needs[0].clone()
    };
    for (board, basis, least) in [
        ("Pi 5", Basis::StandIn, 1.0),
        ("Pi 500", Basis::SameSlot, 0.8),
    ] {
        let trusted = of("Raspberry Pi 64 GB", board);
        assert_eq!((trusted.queue, trusted.basis), (Some(true), basis));
        assert!((trusted.measured - 7000.0).abs() < 1e-6);
        // Its rate one at a time is known without the queue only.
        let off = 1.0 / (1.0 / 4000.0 + 160e-6);
        assert!((trusted.low.unwrap() - least * off).abs() < 1e-6);
    }
    for (product, board) in [
        ("Raspberry Pi 64 GB", "Pi 4"),
        ("SanDisk Extreme 64 GB", "Pi 5"),
        (EVO, "Pi 5"),
    ] {
        let met = of(product, board);
        assert!((met.measured - 4000.0).abs() < 1e-6, "{product}: {met:?}");
    }
    // Without a run with the queue off, its rate one at a time is unknown.
    let figures = with_queue("Raspberry Pi 64 GB", PI_5, "on", 7000.0);
    let choice = recommend(&figures, &question(Some("Pi 5")));
    assert!(choice.is_empty());
    assert_eq!(choice.beside[0].beside, Some(Beside::Rate));
}

#[test]
fn a_queue_alone_puts_no_slower_product_first() {
    const TRUSTED: &str = "Raspberry Pi 64 GB";
    for (on, other, expected) in [
        (7000.0, 4000.0, [TRUSTED, EVO]),
        (4500.0, 9000.0, [EVO, TRUSTED]),
    ] {
        let figures = [
            with_queue(TRUSTED, PI_5, "on", on),
            with_queue(TRUSTED, PI_5, "off", 4000.0),
            with_queue(EVO, PI_5, "off", other),
        ];
        let choice = recommend(&figures.concat(), &question(Some("Pi 5")));
        assert_eq!(names(&choice.first), expected);
        let places: Vec<_> = choice.first.iter().map(|one| one.places).collect();
        assert_eq!(places, [Some([1, 1]), Some([2, 2])]);
    }
}

#[test]
fn what_is_known_to_be_sold_comes_first_then_the_last_tested() {
    let with_year = |product: &str, year, factor: f64| {
        let mut figures = card(subject(product, PI_4), 2000.0 * factor, 800.0 * factor);
        for figure in &mut figures {
            figure.year = year;
        }
        figures
    };
    let figures = [
        with_year("Raspberry Pi 64 GB", Some(2024), 1.0),
        with_year(EVO, Some(2019), 3.0),
        with_year(ULTRA, Some(2022), 2.0),
        with_year("Sony U3 32 GB", None, 4.0),
    ]
    .concat();
    let today = Question {
        today: Day::parse(TODAY).unwrap(),
        ..question(Some("Pi 4"))
    };
    let choice = recommend(&figures, &today);
    let expected = ["Raspberry Pi 64 GB", ULTRA, EVO, "Sony U3 32 GB"];
    assert_eq!(names(&choice.first), expected);
    assert_eq!(choice.first[0].sold.tier, Tier::Sold);
    let choice = recommend(&figures, &question(Some("Pi 4")));
    assert_eq!(choice.first[0].sold.tier, Tier::Older);
}

#[test]
fn cards_count_once_and_places_are_kept_apart() {
    let sample = |product: &str, board: &str, card_id: &str, factor: f64| {
        let mut one = subject(product, board);
        one.card = Some(card_id.to_owned());
        card(one, 2000.0 * factor, 800.0 * factor)
    };
    let figures = [
        sample(EVO, PI_4, "1", 4.0),
        sample(EVO, PI_4, "1", 4.0),
        sample(EVO, PI_4, "2", 1.0),
        sample(EVO, PI_3, "1", 99.0),
    ]
    .concat();
    let choice = recommend(&figures, &question(Some("Pi 4")));
    let evo = &choice.first[0];
    assert!((evo.scarcest().unwrap().share() - 2.0).abs() < 1e-9);
    assert_eq!(evo.counts(), [3, 2]);
    assert_eq!(evo.sources(), ["magazine"]);
}

#[test]
fn simulated_overclocked_and_nameless_runs_recommend_nothing() {
    let mut simulated = subject(EVO, PI_4);
    simulated.origin = OriginKind::Simulated;
    let mut nameless = subject(EVO, PI_4);
    nameless.product = None;
    let mut overclocked = subject(ULTRA, PI_4);
    let bus = [("bus".to_owned(), "overclocked to 100 MHz".to_owned())];
    overclocked.context = Arc::new(BTreeMap::from(bus));
    let all = [simulated, nameless, overclocked].map(|one| card(one, 9e3, 9e3));
    let choice = recommend(&all.concat(), &question(Some("Pi 4")));
    assert!(choice.is_empty() && choice.beside.is_empty());
    assert_eq!(choice.left_out.simulated_runs_count, 1);
    assert_eq!(choice.left_out.nameless_runs_count, 1);
}

#[test]
fn uneven_runs_count_if_there_are_no_others() {
    let mut uneven = card(subject(EVO, PI_4), 9000.0, 9000.0);
    for figure in &mut uneven {
        figure.is_uneven = true;
    }
    let choice = recommend(&uneven, &question(Some("Pi 4")));
    assert!(choice.first[0].is_rough());
    uneven.extend(card(subject(EVO, PI_4), 2000.0, 800.0));
    let choice = recommend(&uneven, &question(Some("Pi 4")));
    assert!(!choice.first[0].is_rough());
    assert!((choice.first[0].needs[0].value - 2000.0).abs() < 1e-6);
}

#[test]
fn wishes_are_filters_that_count_what_they_leave_out() {
    let figures = [
        card(subject(EVO, PI_4), 3000.0, 1000.0),
        card(subject("SanDisk Ultra A1 64 GB", PI_4), 2000.0, 800.0),
        card(subject("Kingston SSD", PI_4), 9000.0, 9000.0),
    ]
    .concat();
    let with = |wish: Wish| {
        recommend(
            &figures,
            &Question {
                wish,
                ..question(Some("Pi 4"))
            },
        )
    };
    let choice = with(Wish::default());
    assert_eq!(names(&choice.first).len(), 2);
    assert_eq!(choice.left_out.other_kinds_count, 1);
    let choice = with(Wish {
        kinds: Some(Vec::new()),
        ..Wish::default()
    });
    assert_eq!(names(&choice.first)[0], "Kingston SSD");
    let choice = with(Wish {
        capacity_bytes: Some(64_000_000_000),
        ..Wish::default()
    });
    assert_eq!(names(&choice.first), ["SanDisk Ultra A1 64 GB"]);
    assert_eq!(choice.left_out.too_small_count, 1);
    let price = |text: &str| Price::parse(text).unwrap();
    let prices = BTreeMap::from([(EVO.to_owned(), price("20"))]);
    let choice = with(Wish {
        budget: Some(price("15")),
        prices,
        ..Wish::default()
    });
    // Without a price it stays.
    assert_eq!(names(&choice.first), ["SanDisk Ultra A1 64 GB"]);
    assert_eq!(choice.left_out.too_dear_count, 1);
}

#[test]
fn the_cheapest_that_is_enough_and_the_next_better() {
    let figures = [
        card(subject(EVO, PI_4), 4000.0, 2000.0),
        card(subject(ULTRA, PI_4), 2000.0, 800.0),
        card(subject("Sony U3 32 GB", PI_4), 400.0, 100.0),
    ]
    .concat();
    let with = |prices: &[(&str, &str)]| {
        let price = |(name, text): &(&str, &str)| ((*name).to_owned(), Price::parse(text).unwrap());
        let wish = Wish {
            prices: prices.iter().map(price).collect(),
            is_by_value: true,
            ..Wish::default()
        };
        let choice = recommend(
            &figures,
            &Question {
                wish,
                ..question(Some("Pi 4"))
            },
        );
        let value = choice.value?;
        let name = |index: usize| choice.first[index].product.clone();
        Some((
            name(value.cheapest),
            value.next_better.map(name),
            value.unpriced_count,
        ))
    };
    assert_eq!(with(&[]), None);
    let found = with(&[(ULTRA, "9"), (EVO, "14"), ("Sony U3 32 GB", "2")]);
    assert_eq!(found, Some((ULTRA.to_owned(), Some(EVO.to_owned()), 0)));
    let found = with(&[(EVO, "9"), (ULTRA, "14")]);
    assert_eq!(found, Some((EVO.to_owned(), None, 0)));
    let found = with(&[(ULTRA, "14")]);
    assert_eq!(found, Some((ULTRA.to_owned(), None, 1)));
}

#[test]
fn an_unknown_board_is_any_board() {
    let figures = card(subject(EVO, PI_3), 2400.0, 900.0);
    let unknown = recommend(&figures, &question(Some("Amiga")));
    assert!(unknown.is_board_unknown && unknown.board.is_none());
    let any = recommend(&figures, &question(None));
    assert_eq!(any.first, unknown.first);
    let band = any.first[0].band.unwrap();
    assert!(band.is_any && any.first[0].places.is_none());
}

/// A source names cards of at most 256, 512 and 32 GB.
#[test]
fn a_label_counts_for_capacities_of_its_line() {
    for (gigabytes, line, is_one) in [
        (256, "SanDisk MAX Endurance", true),
        (257, "SanDisk MAX Endurance", false),
        (512, "SanDisk High Endurance", true),
        (1000, "SanDisk High Endurance", false),
        (32, "Kioxia EXCERIA", true),
        (64, "Kioxia EXCERIA", false),
    ] {
        let mut asked = Question {
            wanted: use_of("camera trap").unwrap(),
            today: Day::parse(TODAY).unwrap(),
            ..question(Some("Pi 4"))
        };
        asked.wish.capacity_bytes = Some(gigabytes * 1_000_000_000);
        let choice = recommend(&[], &asked);
        let beside = choice.beside.iter().filter(|one| one.product == line);
        let reasons: Vec<_> = beside.map(|one| one.beside).collect();
        let is_first = names(&choice.first).contains(&line);
        let expected = match is_one {
            true => vec![],
            false => vec![Some(Beside::Capacity)],
        };
        assert_eq!((is_first, reasons), (is_one, expected), "{line}");
    }
}

const SSD: &str = "Kingston SSD";

fn of_kinds(
    figures: &[Figure],
    wanted: &str,
    board: Option<&str>,
    kinds: &[ProductKind],
) -> Choice {
    let mut asked = Question {
        wanted: use_of(wanted).unwrap(),
        ..question(board)
    };
    asked.wish.kinds = Some(kinds.to_vec());
    recommend(figures, &asked)
}

/// The rates of the publication `geerling-turing-pi`: 5209 and 7221 on a Pi 4, 2244 and 2540 at USB 2.
#[test]
fn usb_2_limits_what_was_measured_at_usb_3() {
    let mut figures = card(subject(SSD, PI_4), 5209.0, 7221.0);
    for board in [
        Some("Zero 2 W"),
        Some("Pi 3"),
        Some("Orange Pi Zero 3"),
        None,
    ] {
        let choice = of_kinds(&figures, "media", board, &[ProductKind::UsbSsd]);
        let all = [
            &choice.first,
            &choice.may_suit,
            &choice.too_slow,
            &choice.beside,
        ];
        assert_eq!(all.into_iter().flatten().count(), 1, "{board:?}");
        let choice = of_kinds(&figures, "boot", board, &[ProductKind::UsbSsd]);
        let ssd = lists(&choice).next().unwrap();
        let lows: Vec<f64> = ssd.needs.iter().filter_map(|met| met.low).collect();
        assert!(lows[0] < 2244.0 && lows[0] > 1800.0, "{lows:?}");
        assert!(lows[1] < 2540.0, "{lows:?}");
    }
    let choice = of_kinds(&figures, "boot", Some("Pi 5"), &[ProductKind::UsbSsd]);
    assert!((choice.first[0].needs[0].value - 5209.0).abs() < 1e-6);
    // A figure at USB 2 is nearer, and says nothing of more on USB 3 than it saves.
    figures.extend(card(
        subject(SSD, "Raspberry Pi Compute Module 3+"),
        2244.0,
        2540.0,
    ));
    let choice = of_kinds(&figures, "boot", Some("Zero 2 W"), &[ProductKind::UsbSsd]);
    assert!((choice.first[0].needs[0].value - 2244.0).abs() < 1e-6);
}

#[test]
fn nothing_at_usb_is_recommended_for_boot_where_a_board_cannot_boot_from_it() {
    let figures = card(subject(SSD, PI_4), 5209.0, 7221.0);
    for (wanted, board, count) in [
        ("boot", "Pi Zero", 1),
        ("boot", "Pi 1", 1),
        ("boot", "Zero 2 W", 0),
        ("boot", "Pi 3", 0),
        ("media", "Pi Zero", 0),
    ] {
        let choice = of_kinds(&figures, wanted, Some(board), &[]);
        assert_eq!(choice.left_out.no_boot_count, count, "{wanted} {board}");
        assert_eq!(lists(&choice).count(), 1 - count);
        let setting = choice
            .board
            .unwrap()
            .boot_setting(Some(ProductKind::UsbSsd));
        assert_eq!(setting.is_some(), board == "Pi 3");
    }
}

#[test]
fn emmc_is_only_for_boards_with_a_place_for_it() {
    const SOLDERED: &str = "Raspberry Pi CM3+ 8 GB";
    const PLUGGED: &str = "FriendlyELEC eMMC 8 GB";
    let figures = [
        card(
            subject(SOLDERED, "Raspberry Pi Compute Module 3+"),
            2274.0,
            2327.0,
        ),
        card(subject(PLUGGED, "NanoPi M4"), 5000.0, 2200.0),
    ]
    .concat();
    for (board, expected) in [
        (Some("Pi 4"), vec![]),
        (Some("CM4"), vec![]),
        (Some("CM5"), vec![]),
        (Some("CM3+"), vec![SOLDERED]),
        (Some("ODROID N2"), vec![PLUGGED]),
        (Some("NanoPi M4"), vec![PLUGGED]),
        (None, vec![PLUGGED]),
    ] {
        let choice = of_kinds(&figures, "boot", board, &[ProductKind::EmbeddedMmc]);
        let found: Vec<&str> = lists(&choice).map(|one| one.product.as_str()).collect();
        assert_eq!(found, expected, "{board:?}");
        assert_eq!(choice.left_out.no_socket_count, 2 - expected.len());
    }
}

/// 18.9 MB/s on a Zero 2 W may be less than 15 MB/s on another board, as an estimate of a stand-in.
#[test]
fn any_board_is_the_worst_of_all_slots() {
    let of = |rate_of: f64, board: Option<&str>| {
        let one = Arc::new(subject(EVO, "Raspberry Pi Zero 2 W"));
        let figures = [rate(&one, "agnostics_seq_write", rate_of)];
        let choice = of_kinds(&figures, "camera", board, &[ProductKind::Microsd]);
        lists(&choice).next().unwrap().clone()
    };
    assert_eq!(of(18.9e6, Some("Zero 2 W")).grade, Grade::Suits);
    for board in [Some("Pi 4"), None] {
        let found = of(18.9e6, board);
        assert_eq!(found.grade, Grade::MaySuit, "{board:?}");
        assert!(found.needs[0].basis >= Basis::SameSlot, "{board:?}");
    }
    assert!(of(18.9e6, None).band.unwrap().is_any);
}

#[test]
fn a_line_of_known_smaller_sizes_is_not_named() {
    let named = |gigabytes: Option<u64>| {
        let mut asked = Question {
            today: Day::parse(TODAY).unwrap(),
            ..question(Some("Pi 4"))
        };
        asked.wish.capacity_bytes = gigabytes.map(|gigabytes| gigabytes * 1_000_000_000);
        recommend(&[], &asked).sold_untested
    };
    let (all, large) = (named(None), named(Some(100_000)));
    assert!(large.len() < all.len() && large.iter().all(|line| all.contains(line)));
}

#[test]
fn with_a_budget_a_known_price_leads() {
    let figures = [
        card(subject(EVO, PI_4), 4000.0, 2000.0),
        card(subject(ULTRA, PI_4), 2000.0, 800.0),
    ]
    .concat();
    let mut asked = question(Some("Pi 4"));
    let price = |text: &str| Price::parse(text).unwrap();
    asked.wish.prices = BTreeMap::from([(ULTRA.to_owned(), price("9"))]);
    assert_eq!(names(&recommend(&figures, &asked).first), [EVO, ULTRA]);
    asked.wish.budget = Some(price("15"));
    assert_eq!(names(&recommend(&figures, &asked).first), [ULTRA, EVO]);
}

#[test]
fn sale_orders_within_a_kind_only() {
    let figures = [
        card(subject("Raspberry Pi 64 GB", PI_5), 3000.0, 1000.0),
        card(subject(ULTRA, PI_5), 4000.0, 2000.0),
        card(subject(SSD, PI_4), 5209.0, 7221.0),
    ]
    .concat();
    let mut asked = Question {
        today: Day::parse(TODAY).unwrap(),
        ..question(Some("Pi 4"))
    };
    asked.wish.kinds = Some(Vec::new());
    let choice = recommend(&figures, &asked);
    assert_eq!(names(&choice.first), [SSD, "Raspberry Pi 64 GB", ULTRA]);
    let places: Vec<_> = choice.first.iter().map(|one| one.places).collect();
    assert_eq!(places, [Some([1, 1]), Some([1, 1]), Some([2, 2])]);
}

const PRODUCTS: [&str; 10] = [
    EVO,
    ULTRA,
    "Raspberry Pi 64 GB",
    "Amazon Basics 64 GB",
    "SanDisk Extreme 64 GB",
    "Samsung Pro Plus 128 GB",
    "Samsung Pro Endurance 64 GB",
    "Kingston SSD",
    "FriendlyELEC eMMC 8 GB",
    "Mine",
];
const BOARDS: [&str; 6] = [
    "",
    "Raspberry Pi 5",
    PI_4,
    PI_3,
    "NanoPi M4",
    "Raspberry Pi Zero 2 W",
];
const METRICS: [&str; 8] = [
    "rand_read_4k",
    "rand_write_4k",
    "seq_read_1m",
    "seq_write_1m",
    "agnostics_rand_read",
    "agnostics_rand_write",
    "agnostics_seq_read",
    "sync_write_4k",
];

prop_compose! {
    fn any_figure()(
        product in 0..PRODUCTS.len(),
        board in 0..BOARDS.len(),
        metric in 0..METRICS.len(),
        queue in 0..3usize,
        logarithm in 2.0..10.0f64,
        year in proptest::option::of(2015..2027u16),
        is_own in any::<bool>(),
        is_in_reader in any::<bool>(),
        is_uneven in any::<bool>(),
    ) -> Figure {
        let mut one = subject(PRODUCTS[product], BOARDS[board]);
        let queue = ["unknown", "on", "off"][queue];
        let reader = if is_in_reader { "usb" } else { "slot" };
        let context = [("command_queue", queue), ("reader", reader)];
        let context = context.map(|(name, value)| (name.to_owned(), value.to_owned()));
        one.context = Arc::new(BTreeMap::from(context));
        if is_own {
            one.origin = OriginKind::Measured;
            one.publication = None;
        }
        let metric = METRICS[metric];
        let factor = if metric.contains("seq") { 8000.0 } else { 1.0 };
        let value = factor * logarithm.exp();
        Figure { year, is_uneven, ..rate(&Arc::new(one), metric, value) }
    }
}

prop_compose! {
    fn any_question()(
        wanted in 0..uses().len(),
        board in 0..8usize,
        capacity in proptest::option::of(1..256u64),
        kinds in 0..3usize,
        is_by_value in any::<bool>(),
        prices in proptest::collection::vec((0..PRODUCTS.len(), 1..50u32), 0..6),
    ) -> Question {
        let board = [None, Some("Pi 5"), Some("Pi 4"), Some("Pi 3"), Some("NanoPi M4"), Some("Zero 2 W"), Some("Amiga"), Some("Pi 1")][board];
        let price = |(product, amount): (usize, u32)| {
            (PRODUCTS[product].to_owned(), Price::parse(&amount.to_string()).unwrap())
        };
        Question {
            wanted: &uses()[wanted],
            wish: Wish {
                capacity_bytes: capacity.map(|gigabytes| gigabytes * 1_000_000_000),
                kinds: [None, Some(Vec::new()), Some(vec![ProductKind::UsbSsd])][kinds].clone(),
                prices: prices.into_iter().map(price).collect(),
                is_by_value,
                budget: None,
            },
            today: Day::parse(TODAY).unwrap(),
            ..question(board)
        }
    }
}

fn figures() -> impl Strategy<Value = Vec<Figure>> {
    proptest::collection::vec(any_figure(), 0..40)
}

fn lists(choice: &Choice) -> impl Iterator<Item = &Candidate> {
    let lists = [
        &choice.first,
        &choice.may_suit,
        &choice.too_slow,
        &choice.beside,
    ];
    lists.into_iter().flatten()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_the_figures_changes_nothing(
        all in figures(),
        question in any_question(),
        turn in 0..40usize,
    ) {
        let found = recommend(&all, &question);
        let mut turned = all.clone();
        turned.rotate_left(turn.min(all.len()));
        turned.reverse();
        prop_assert_eq!(recommend(&turned, &question), found);
    }

    #[test]
    fn every_product_with_a_figure_of_the_use_is_in_one_list_or_counted(
        all in figures(),
        question in any_question(),
    ) {
        let choice = recommend(&all, &question);
        let metrics = metrics_of_use(question.wanted);
        let figures = all.iter().filter(|one| metrics.contains(one.metric.as_str()));
        let mut products: Vec<&str> = figures.filter_map(|one| one.subject.product.as_deref()).collect();
        products.sort_unstable();
        products.dedup();
        let listed: Vec<&str> = lists(&choice).map(|one| one.product.as_str()).collect();
        let kept = products.iter().filter(|name| listed.contains(name)).count();
        let left_out = choice.left_out;
        let unfit_count = left_out.no_boot_count + left_out.no_socket_count;
        let counted = left_out.other_kinds_count + left_out.too_small_count + unfit_count;
        prop_assert_eq!(kept + counted, products.len(), "{:?} of {:?}", listed, products);
        let mut once = listed.clone();
        once.sort_unstable();
        once.dedup();
        prop_assert_eq!(once.len(), listed.len());
    }

    #[test]
    fn only_the_kinds_that_are_asked_for_have_places(all in figures(), question in any_question()) {
        let choice = recommend(&all, &question);
        let kinds = question.kinds();
        for one in choice.first.iter().chain(&choice.may_suit).filter(|_| !kinds.is_empty()) {
            prop_assert!(one.kind.is_some_and(|kind| kinds.contains(&kind)), "{:?}", one);
        }
    }

    /// Several operations in flight, and one at a time, are never in one order.
    #[test]
    fn figures_of_different_methods_share_no_places(
        cards in proptest::collection::vec((any::<bool>(), 1.0..3.0f64), 7),
        board in proptest::sample::select(vec!["Pi 4", "Pi 3", "Pi 5"]),
    ) {
        let figures = PRODUCTS.iter().zip(cards).flat_map(|(product, (is_deep, factor))| match is_deep {
            true => with_queue(product, PI_4, "off", 4000.0 * factor),
            false => card(subject(product, PI_4), 3000.0 * factor, 1000.0 * factor),
        });
        let choice = recommend(&figures.collect::<Vec<_>>(), &question(Some(board)));
        let lists = [&choice.first, &choice.may_suit];
        prop_assert_eq!(lists[0].len() + lists[1].len(), 7);
        let ways = |one: &Candidate| -> Vec<Option<&str>> {
            let deciding = one.needs.iter().filter(|met| met.is_deciding);
            deciding.map(|met| met.stand_in).collect()
        };
        for list in lists {
            for (index, one) in list.iter().enumerate() {
                for other in list[index + 1..].iter().filter(|other| ways(one) != ways(other)) {
                    prop_assert!(one.places.unwrap()[1] < other.places.unwrap()[0], "{:?} {:?}", one, other);
                }
            }
        }
    }

    #[test]
    fn a_product_that_is_twice_as_fast_never_falls(
        all in figures(),
        question in any_question(),
        product in 0..PRODUCTS.len(),
    ) {
        let name = PRODUCTS[product];
        let place = |choice: &Choice| {
            let graded = [&choice.first, &choice.may_suit, &choice.too_slow].into_iter().flatten();
            graded.map(|one| one.product.clone()).position(|one| one == name)
        };
        let before = place(&recommend(&all, &question));
        let mut faster = all.clone();
        for figure in faster.iter_mut().filter(|one| one.subject.product.as_deref() == Some(name)) {
            figure.value *= 2.0;
        }
        let after = place(&recommend(&faster, &question));
        prop_assert!(after <= before, "{:?} {:?}", before, after);
    }

    #[test]
    fn a_later_day_only_lowers_a_product(all in figures(), question in any_question(), later in 2027..2032u32) {
        let tiers = |question: &Question| -> BTreeMap<String, Tier> {
            let choice = recommend(&all, question);
            lists(&choice).map(|one| (one.product.clone(), one.sold.tier)).collect()
        };
        let now = tiers(&question);
        let day = Day::parse(&format!("{later}-11-28")).unwrap();
        let then = tiers(&Question { today: day, ..question });
        for (product, tier) in then {
            prop_assert!(now.get(&product).is_none_or(|before| *before <= tier), "{}", product);
        }
    }

    #[test]
    fn a_dearer_product_never_becomes_the_cheapest(
        all in figures(),
        question in any_question(),
        product in 0..PRODUCTS.len(),
    ) {
        let name = PRODUCTS[product];
        let is_cheapest = |question: &Question| {
            let choice = recommend(&all, question);
            choice.value.is_some_and(|value| choice.first[value.cheapest].product == name)
        };
        let mut dearer = question.clone();
        if let Some(price) = dearer.wish.prices.get_mut(name) {
            price.amount *= 1.5;
        }
        prop_assert!(is_cheapest(&question) || !is_cheapest(&dearer));
    }
}
