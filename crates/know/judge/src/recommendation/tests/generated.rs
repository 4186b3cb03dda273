//! Rules that hold for all figures and questions.

use cardmark_catalog::uses;
use proptest::prelude::*;

use super::*;

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
