use super::*;

fn on(board: &str, conditions: &[(&'static str, &str)]) -> Arc<Place> {
    let board = (!board.is_empty()).then(|| board.to_owned());
    let conditions = conditions.iter();
    Arc::new(Place {
        board,
        conditions: conditions
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect(),
    })
}

fn ranked(value: f64, runs_count: usize, pooled: Option<f64>) -> Ranked {
    let spread = pooled.map(|pooled| KnownSpread {
        pooled,
        degrees: 1_000,
        typical: pooled,
        typical_degrees: 1,
    });
    Ranked {
        value,
        runs_count,
        cards_count: 1,
        card: None,
        place: on("Raspberry Pi 4 Model B", &[]),
        spread,
        elsewhere: Some(KnownElsewhere::NONE),
        method: "",
        between_methods: 0.1,
    }
}

#[test]
fn figures_closer_than_repeats_differ_share_places() {
    // At 5 % two single runs differ clearly above a factor of exp(1.96 · 0.05 · √2) = 1.149.
    let figures = [150.0, 110.0, 100.0, 88.0, 40.0].map(|value| ranked(value, 1, Some(0.05)));
    let expected = [1..=1, 2..=3, 2..=4, 3..=4, 5..=5];
    assert_eq!(possible_places(&figures), expected);
}

#[test]
fn more_runs_separate_what_single_runs_do_not() {
    let of = |runs| [110.0, 100.0].map(|value| ranked(value, runs, Some(0.05)));
    assert_eq!(possible_places(&of(1)), [1..=2, 1..=2]);
    assert_eq!(possible_places(&of(3)), [1..=1, 2..=2]);
}

/// At 5 % for repeats and 10 % for methods: exp(1.96 · √(0.05² + 0.05² + 0.1²)) = 1.27.
#[test]
fn two_methods_differ_further_whatever_the_number_of_runs() {
    let other = |value: f64, runs| Ranked {
        method: "iozone",
        ..ranked(value, runs, Some(0.05))
    };
    let places =
        |high: f64, runs| possible_places(&[ranked(high, runs, Some(0.05)), other(100.0, runs)]);
    assert_eq!(places(126.0, 1), [1..=2, 1..=2]);
    assert_eq!(places(129.0, 1), [1..=1, 2..=2]);
    assert_eq!(places(120.0, 10_000), [1..=2, 1..=2]);
    let alike = [other(126.0, 1), other(100.0, 1)];
    assert_eq!(possible_places(&alike), [1..=1, 2..=2]);
}

#[test]
fn an_unknown_spread_separates_nothing() {
    let figures = [
        ranked(900.0, 5, None),
        ranked(100.0, 1, Some(0.05)),
        ranked(50.0, 1, Some(0.05)),
    ];
    assert_eq!(possible_places(&figures), [1..=3, 1..=2, 2..=3]);
    assert!(possible_places(&[]).is_empty());
}

/// Two figures with 20 % between cards and 30 % between boards; the first is higher by this factor.
fn two(factor: f64, change: impl Fn(&mut Ranked, usize)) -> [RangeInclusive<usize>; 2] {
    let known = |deviation| KnownDeviation {
        deviation,
        degrees: 1_000,
    };
    let mut figures = [factor, 1.0].map(|value| Ranked {
        elsewhere: Some(KnownElsewhere {
            sample: known(0.2),
            board: known(0.3),
        }),
        ..ranked(value, 1, Some(0.05))
    });
    for (index, figure) in figures.iter_mut().enumerate() {
        change(figure, index);
    }
    let places = possible_places(&figures);
    [places[0].clone(), places[1].clone()]
}

const APART: [RangeInclusive<usize>; 2] = [1..=1, 2..=2];
const SHARED: [RangeInclusive<usize>; 2] = [1..=2, 1..=2];

/// exp(2.07 · √2 · √(0.05² + 0.2²)) = 1.83 on one board, with 0.3² 2.90 across boards.
#[test]
fn another_card_and_another_board_differ_further() {
    assert_eq!(two(1.75, |_, _| ()), SHARED);
    assert_eq!(two(1.90, |_, _| ()), APART);
    let boards = |figure: &mut Ranked, index| figure.place = on(["Pi 4", "Pi 3"][index], &[]);
    assert_eq!(two(2.7, boards), SHARED);
    assert_eq!(two(3.1, boards), APART);
}

/// Ten cards leave the board and the repeats; the same card leaves the repeats only.
#[test]
fn more_cards_narrow_the_range_and_one_card_is_itself() {
    let cards = |figure: &mut Ranked, _| figure.cards_count = 10;
    assert_eq!(two(1.35, cards), APART);
    let same = |figure: &mut Ranked, _| figure.card = Some(Arc::from("0a1b2c"));
    assert_eq!(two(1.2, same), APART);
    let others = |figure: &mut Ranked, index| figure.card = Some(Arc::from(["1", "2"][index]));
    assert_eq!(two(1.2, others), SHARED);
}

#[test]
fn a_board_is_the_same_if_it_is_known_and_no_known_condition_differs() {
    let at = |one: Arc<Place>, other: Arc<Place>| {
        let both = [one, other];
        two(1.9, move |figure, index| {
            figure.place = Arc::clone(&both[index]);
        })
    };
    assert_eq!(at(on("", &[]), on("", &[])), SHARED, "unknown boards");
    let slot = || on("Pi 4", &[("reader", "reader slot"), ("bus", "bus ddr50")]);
    assert_eq!(at(slot(), on("Pi 4", &[])), APART, "unknown conditions");
    assert_eq!(at(slot(), on("Pi 4", &[("reader", "reader usb")])), SHARED);
    assert_eq!(at(slot(), on("Pi 5", &[("bus", "bus ddr50")])), SHARED);
}

#[test]
fn a_close_field_needs_larger_differences_and_equal_figures_are_not_apart() {
    let clear = |others: &[f64]| {
        let values = [1.16, 1.0].iter().chain(others);
        let figures: Vec<Ranked> = values.map(|value| ranked(*value, 1, Some(0.05))).collect();
        Order::of(&figures).is_clearly_above(0, 1)
    };
    assert!(clear(&[2.0, 4.0, 8.0]));
    assert!(!clear(&[1.06, 1.07, 1.08, 1.09, 1.1]));
    let equal = vec![ranked(5.0, 1, Some(0.05)); 4];
    assert_eq!(possible_places(&equal), vec![1..=4; 4]);
    // One far from equal ones is apart nevertheless.
    let mut far = equal;
    far.push(ranked(1.0, 1, Some(0.05)));
    assert_eq!(possible_places(&far)[4], 5..=5);
}
