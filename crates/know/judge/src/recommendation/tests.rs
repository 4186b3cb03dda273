use std::collections::BTreeMap;
use std::sync::Arc;

use cardmark_catalog::{ProductKind, use_of};
use cardmark_core::{OriginKind, Quantity, Subject};

use super::*;

mod estimates;
mod generated;

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

fn lists(choice: &Choice) -> impl Iterator<Item = &Candidate> {
    let lists = [
        &choice.first,
        &choice.may_suit,
        &choice.too_slow,
        &choice.beside,
    ];
    lists.into_iter().flatten()
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
