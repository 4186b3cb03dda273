//! Answers of `cardmark recommend` on boards and products.

use std::sync::Arc;

use cardmark_catalog::{Use, use_of, uses};
use cardmark_judge::{Candidate, Choice, Day, Figure, Question};
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::{AnswerBlock, Recommended, capitalised, grade_words, rate_cell};

use crate::addresses;
use crate::pages::choice::{FIRST_USE, choice, of_page};

/// The answer for booting from a card on a board of the catalogue, or on any.
pub(super) fn on_board(
    figures: &Arc<Vec<Figure>>,
    board: Option<&'static str>,
    today: Day,
) -> Vec<Block> {
    let Some(wanted) = use_of(FIRST_USE) else {
        return Vec::new();
    };
    let question = Question::new(wanted, board, today);
    let choice = choice(figures, &question, board);
    let recommended = Recommended {
        question: &question,
        choice: &choice,
    };
    of_page(recommended.answer().blocks())
}

/// The choice among products of all kinds for a use on any board, and its question.
fn of_all_kinds(
    figures: &Arc<Vec<Figure>>,
    wanted: &'static Use,
    today: Day,
) -> (Question, Arc<Choice>) {
    let mut question = Question::new(wanted, None, today);
    question.wish.kinds = Some(Vec::new());
    let choice = choice(figures, &question, None);
    (question, choice)
}

/// The answer on a product by its name; `None` without figures of it.
pub(super) fn on_product(
    figures: &Arc<Vec<Figure>>,
    name: &str,
    today: Day,
) -> Option<AnswerBlock> {
    let (question, choice) = of_all_kinds(figures, use_of(FIRST_USE)?, today);
    let recommended = Recommended {
        question: &question,
        choice: &choice,
    };
    recommended.answer_on(name)
}

/// The verdict on a product for the first use; `None` without figures of it.
pub(super) fn verdict_on(figures: &Arc<Vec<Figure>>, name: &str, today: Day) -> Option<String> {
    let (_, choice) = of_all_kinds(figures, use_of(FIRST_USE)?, today);
    choice.of(name).map(grade_words)
}

/// Whether a product suits each use that is a matter of rates; `None` without figures of it.
pub(super) fn uses_of_product(figures: &Arc<Vec<Figure>>, name: &str, today: Day) -> Option<Block> {
    let row = |wanted: &'static Use| {
        let (_, choice) = of_all_kinds(figures, wanted, today);
        let one = choice.of(name)?;
        let scarcest = Candidate::scarcest(one);
        let cells = vec![
            capitalised(&wanted.title),
            grade_words(one),
            scarcest.map_or_else(String::new, |met| met.plain.clone()),
            scarcest.map_or_else(String::new, rate_cell),
        ];
        Some(Row::new(cells).linked(addresses::choice(wanted)))
    };
    let rated = uses().iter().filter(|wanted| !wanted.needs.is_empty());
    let rows: Vec<Row> = rated.filter_map(row).collect();
    (!rows.is_empty()).then(|| Block::Table {
        caption: "The rate that limits it".to_owned(),
        table: Table {
            columns: vec![
                Column::left("use"),
                Column::left("verdict"),
                Column::left("limited by"),
                Column::right("its rate"),
            ],
            rows,
        },
    })
}
