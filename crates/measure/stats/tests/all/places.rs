//! Places against a known order: products with a true rate each, measured once on one of six boards, with differences between
//! cards, boards, and products on a board that the rule does not know. Seeds are fixed; the bounds are far from the results.

use std::sync::Arc;

use cardmark_core::Rng;
use cardmark_stats::{KnownDeviation, KnownElsewhere, KnownSpread, Order, Place, Ranked};

use crate::support::normal;

const SAMPLE: f64 = 0.29;
const BOARD: f64 = 0.17;
const REPEAT: f64 = 0.066;

/// Shape of a difference, standard deviation 1.
#[derive(Clone, Copy, Debug)]
enum Tail {
    Normal,
    /// Student's t with three degrees of freedom.
    Heavy,
    /// One in ten is 3.5 times as large.
    Mixed,
}

impl Tail {
    fn draw(self, rng: &mut Rng) -> f64 {
        let one = normal(rng);
        match self {
            Self::Normal => one,
            Self::Heavy => {
                let squares: f64 = (0..3).map(|_| normal(rng).powi(2)).sum();
                one / squares.sqrt()
            }
            Self::Mixed if rng.unit() < 0.1 => one * 3.5 / 1.458,
            Self::Mixed => one / 1.458,
        }
    }
}

/// Pairs of products, those called clearly apart, and those called in the wrong order.
#[derive(Debug, Default)]
struct Counts {
    pairs: usize,
    told: usize,
    wrong: usize,
}

impl Counts {
    fn told_share(&self) -> f64 {
        self.told as f64 / self.pairs as f64
    }

    fn wrong_share(&self) -> f64 {
        self.wrong as f64 / self.told.max(1) as f64
    }
}

fn known(deviation: f64, degrees: u32) -> KnownDeviation {
    KnownDeviation { deviation, degrees }
}

fn figure(logarithm: f64, board: usize, elsewhere: KnownElsewhere) -> Ranked {
    Ranked {
        value: logarithm.exp(),
        runs_count: 1,
        cards_count: 1,
        card: None,
        place: Arc::new(Place {
            board: Some(format!("board {board}")),
            ..Place::default()
        }),
        spread: Some(KnownSpread {
            pooled: REPEAT,
            degrees: 46,
            typical: REPEAT,
            typical_degrees: 1,
        }),
        elsewhere: Some(elsewhere),
        method: "",
        between_methods: 0.0,
    }
}

/// Ranks fields of products whose true logarithms `truth` draws.
fn fields(
    fields_count: u32,
    products_count: usize,
    tail: Tail,
    elsewhere: KnownElsewhere,
    truth: impl Fn(&mut Rng, usize) -> f64,
) -> Counts {
    let mut counts = Counts::default();
    for field in 0..fields_count {
        let rng = &mut Rng::for_part(40, "places", field.into());
        let boards: Vec<f64> = (0..6).map(|_| 0.7 * BOARD * tail.draw(rng)).collect();
        let truths: Vec<f64> = (0..products_count).map(|index| truth(rng, index)).collect();
        let figures: Vec<Ranked> = truths
            .iter()
            .map(|truth| {
                let board = (rng.unit() * 6.0) as usize;
                let on_it = boards[board] + 0.7 * BOARD * tail.draw(rng);
                let measured = truth + SAMPLE * tail.draw(rng) + on_it + REPEAT * tail.draw(rng);
                figure(measured, board, elsewhere)
            })
            .collect();
        let order = Order::of(&figures);
        for one in 0..products_count {
            for other in (0..products_count).filter(|other| *other != one) {
                counts.pairs += usize::from(one < other);
                let is_told = order.is_clearly_above(one, other);
                counts.told += usize::from(is_told);
                counts.wrong += usize::from(is_told && truths[one] <= truths[other]);
            }
        }
    }
    counts
}

fn elsewhere() -> KnownElsewhere {
    KnownElsewhere {
        sample: known(SAMPLE, 19),
        board: known(BOARD, 31),
    }
}

#[test]
fn few_of_the_pairs_that_are_called_apart_are_reversed() {
    for tail in [Tail::Normal, Tail::Heavy, Tail::Mixed] {
        for (products_count, fields_count) in [(8, 300), (46, 12)] {
            for (deviation, least_told) in [(0.5, 0.1), (1.0, 0.4)] {
                let found = fields(fields_count, products_count, tail, elsewhere(), |rng, _| {
                    deviation * normal(rng)
                });
                let name = format!("{tail:?}, {products_count} products, {deviation}: {found:?}");
                assert!(found.wrong_share() <= 0.05, "{name}");
                assert!(found.told_share() >= least_told, "{name}");
            }
        }
    }
}

#[test]
fn of_equal_products_almost_none_are_called_apart() {
    for tail in [Tail::Normal, Tail::Heavy, Tail::Mixed] {
        for (products_count, fields_count) in [(8, 300), (46, 12)] {
            let found = fields(fields_count, products_count, tail, elsewhere(), |_, _| 0.0);
            let name = format!("{tail:?}, {products_count}: {found:?}");
            assert!(found.told_share() <= 0.03, "{name}");
        }
    }
}

#[test]
fn three_slow_products_among_equal_ones_are_found() {
    for tail in [Tail::Normal, Tail::Heavy, Tail::Mixed] {
        let slow = |_: &mut Rng, index: usize| if index < 3 { -2.0 } else { 0.0 };
        let found = fields(20, 46, tail, elsewhere(), slow);
        // 129 of 1,035 pairs differ.
        assert!(found.told_share() >= 0.05, "{tail:?}: {found:?}");
        assert!(found.wrong_share() <= 0.12, "{tail:?}: {found:?}");
    }
}
