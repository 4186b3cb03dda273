//! Inferences from one board to another and from several operations at once to one, each against published figures.

use cardmark_catalog::{boards, uses};

use super::*;
use crate::recommendation::evidence::{Set, gather};
use crate::recommendation::met::{BOARD_TIME_US, Case};

/// Number of pairs of figures on two boards, and of those whose second one is in the range of the first: at its low and high end.
fn pairs(wanted: &str) -> [usize; 3] {
    let wanted = use_of(wanted).unwrap();
    let [mut count, mut low_count, mut high_count] = [0; 3];
    for evidence in gather(published_figures(), wanted).products {
        let kind = evidence.known.map(|product| product.kind);
        let is_pattern =
            |set: &&Set| set.way.stand_in.is_none() && set.slot_bytes_per_s().is_some();
        let sets: Vec<&Set> = evidence.sets.iter().filter(is_pattern).collect();
        for (one, other) in sets
            .iter()
            .flat_map(|one| sets.iter().map(move |other| (one, other)))
        {
            let [here, there] = [one, other].map(|set| set.place.board.as_deref().unwrap());
            if kind != Some(ProductKind::Microsd) || one.metric != other.metric || here == there {
                continue;
            }
            let asked = AskedBoard::find(there, std::iter::empty()).unwrap();
            let case = Case {
                asked: &asked,
                kind,
                queue: None,
                lines: &[],
            };
            let [low, _, high] = case.range(one, wanted.needs[one.way.need].quantity);
            count += 1;
            low_count += usize::from(low <= other.value());
            high_count += usize::from(other.value() <= high);
        }
    }
    [count, low_count, high_count]
}

#[test]
fn rates_are_stated_for_known_boards() {
    let rates = cardmark_catalog::lines()
        .iter()
        .flat_map(|line| &line.rates);
    for rates in rates {
        assert!(
            boards().iter().any(|board| board.id == rates.board),
            "{rates:?}"
        );
    }
}

/// A new publication may show that the margins are too narrow.
#[test]
fn published_pairs_lie_within_the_estimates_for_the_other_board() {
    let of_uses = ["boot", "camera_trap"].map(pairs);
    let [count, low_count, high_count] =
        [0, 1, 2].map(|index| of_uses[0][index] + of_uses[1][index]);
    assert!(count >= 100, "{count}");
    assert!(low_count * 100 >= count * 95, "{low_count} of {count}");
    assert!(high_count * 100 >= count * 95, "{high_count} of {count}");
}

/// A Pi 5 figure 32 at once is no lower bound for one at a time on another board: only the label promises one.
#[test]
fn two_inferences_together_are_no_lower_bound() {
    let of = |product: &str, board: &str| {
        let figures = with_queue(product, PI_5, "off", 7000.0);
        let choice = recommend(&figures, &question(Some(board)));
        let mut all = choice.first.into_iter().chain(choice.may_suit);
        all.next().unwrap()
    };
    for board in ["Pi 4", "Pi 3", "Zero 2 W"] {
        let labelled = of("Raspberry Pi 64 GB", board);
        assert_eq!(
            (labelled.grade, labelled.basis),
            (Grade::Suits, Basis::Elsewhere)
        );
        let lows: Vec<_> = labelled
            .needs
            .iter()
            .map(|met| (met.low, met.is_promised))
            .collect();
        // Its maker states more for a Pi 4 than the class.
        let [reads, writes] = match board {
            "Pi 4" => [3200.0, 1200.0],
            _ => [1500.0, 500.0],
        };
        assert_eq!(lows, [(Some(reads), true), (Some(writes), true)]);
        let plain = of(EVO, board);
        assert_eq!(plain.grade, Grade::MaySuit);
        assert!(
            plain
                .needs
                .iter()
                .all(|met| met.low == Some(0.0) && !met.is_promised)
        );
    }
    let here = of("Raspberry Pi 64 GB", "Pi 5");
    assert!(
        here.needs
            .iter()
            .all(|met| met.low > Some(1500.0) && !met.is_promised)
    );
}

/// A figure without the state of the queue, from a board that may have used it, is none without a queue.
#[test]
fn an_unknown_queue_is_one() {
    let mut figures = with_queue("Raspberry Pi 64 GB", PI_5, "off", 7000.0);
    for figure in &mut figures {
        let mut subject = figure.subject.as_ref().clone();
        subject.context = Arc::default();
        figure.subject = Arc::new(subject);
    }
    let choice = recommend(&figures, &question(Some("Pi 5")));
    assert_eq!(choice.beside[0].beside, Some(Beside::Rate));
}

/// On every board and for every use: what two inferences would give is promised, or is no bound; and a fast card loses
/// at least the time of another host.
#[test]
fn no_published_figure_gives_a_bound_that_nothing_supports() {
    for board in boards() {
        for wanted in uses() {
            let asked = Question {
                wanted,
                ..question(Some(&board.name))
            };
            let choice = recommend(published_figures(), &asked);
            let estimated = |met: &&Met| {
                met.basis == Basis::Elsewhere && met.quantity == Quantity::OperationRate
            };
            let cards = |one: &&Candidate| one.kind == Some(ProductKind::Microsd);
            let needs = lists(&choice).filter(cards).flat_map(|one| &one.needs);
            for met in needs.filter(estimated) {
                let low = met.low.unwrap_or(0.0);
                match met.stand_in {
                    Some(_) => assert!(low <= 0.0 || met.is_promised, "{met:?}"),
                    None => assert!(
                        low <= 1.0 / (1.0 / met.value + 0.99 * BOARD_TIME_US / 1e6),
                        "{met:?}"
                    ),
                }
            }
        }
    }
}
