use cardmark_catalog::{boards, use_of, uses};
use cardmark_judge::{Day, published_figures, recommend};

use super::*;

/// Every use on every tenth board and those with a command queue, with and without other kinds of storage.
#[test]
fn the_sentence_names_only_products_that_may_be_first() {
    let today = Day::parse("2026-11-28").unwrap();
    let boards = boards().iter().enumerate();
    let boards = boards.filter(|(index, board)| index % 10 == 0 || board.command_queue.is_some());
    for (_, board) in boards {
        for wanted in uses().iter().filter(|one| !one.needs.is_empty()) {
            for kinds in [None, Some(Vec::new())] {
                let mut question = Question::new(wanted, Some(&board.name), today);
                question.wish.kinds = kinds;
                let choice = recommend(published_figures(), &question);
                for one in leaders(choice.best()) {
                    let start = one.places.map(|places| places[0]);
                    assert_eq!(start, Some(1), "{} {}", board.name, wanted.id);
                }
            }
        }
    }
}

#[test]
fn a_product_that_is_clearly_behind_is_not_named_with_the_first() {
    let today = Day::parse("2026-11-28").unwrap();
    let question = Question::new(use_of("boot").unwrap(), Some("Pi 5"), today);
    let mut choice = recommend(published_figures(), &question);
    assert_eq!(leaders(&choice.first).len(), 2);
    choice.first[1].places = Some([2, 3]);
    assert_eq!(leaders(&choice.first).len(), 1);
}
