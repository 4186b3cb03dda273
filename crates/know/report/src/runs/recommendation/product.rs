//! The answer on one product: whether it suits a use, and by which rates.

use cardmark_judge::{Basis, Candidate, Grade, Met, asked_rate};

use super::{Recommended, band_words, measured, rate_cell, sold_words};
use crate::answer::{AnswerBlock, KeyFigure, Weight};
use crate::text::names::capitalised;
use crate::text::style::clean;
use crate::text::{on_boards, per_second};

impl Recommended<'_> {
    /// Returns the answer on one product by its name: whether it suits, the rates that decide, and where they were measured; `None` if
    /// the choice does not contain it.
    #[must_use]
    pub fn answer_on(&self, product: &str) -> Option<AnswerBlock> {
        let one = self.choice.of(product)?;
        let wanted = self.question.wanted;
        let asked = |met: &Met| {
            let need = wanted.needs.iter().find(|need| need.plain == met.plain)?;
            let rate = per_second(met.quantity, asked_rate(need));
            Some(format!("asked for: {rate}"))
        };
        let figure = |met: &Met| KeyFigure {
            id: met.metric.clone().unwrap_or_default(),
            name: match met.stand_in {
                Some(way) => format!("{}, {way}", met.plain),
                None => met.plain.clone(),
            },
            cells: vec![rate_cell(met)],
            word: asked(met).unwrap_or_default(),
        };
        let is_missing = |need: &&str| one.needs.iter().all(|met| met.plain != *need);
        let missing: Vec<&str> = wanted
            .needs
            .iter()
            .map(|need| need.plain.as_str())
            .filter(is_missing)
            .collect();
        let origin = [measured(one, self.choice), Some(sold_words(one))];
        let origin: Vec<String> = origin.into_iter().flatten().collect();
        Some(AnswerBlock {
            weight: match one.grade {
                Grade::TooSlow => Weight::Warning,
                _ => Weight::Plain,
            },
            sentence: self.sentence_on(one),
            more: vec![capitalised(&clean(&origin.join("; ")))],
            sides: vec![String::new()],
            figures: one.needs.iter().map(figure).collect(),
            open: (!missing.is_empty())
                .then(|| format!("Not measured: {}", missing.join(", ")))
                .into_iter()
                .collect(),
            ..AnswerBlock::default()
        })
    }

    fn sentence_on(&self, one: &Candidate) -> String {
        let (name, task) = (clean(&one.product), &self.question.wanted.title);
        let verdict = match one.grade {
            Grade::Suits => format!("{name} suits {task}"),
            Grade::MaySuit => format!("{name} may suit {task}"),
            Grade::TooSlow => format!("{name} is too slow for {task}"),
            Grade::Unknown => return format!("Cannot tell whether {name} suits {task}"),
        };
        let board = self.choice.board.as_ref().map(|board| board.name.as_str());
        let on = match (one.band, board) {
            (Some(band), _) if one.grade < Grade::TooSlow => format!(" on {}", band_words(band)),
            _ => match on_boards([board].into_iter()) {
                on if on.is_empty() => on,
                on => format!(" {on}"),
            },
        };
        let basis = match one.basis {
            Basis::Label => ", by the class on its label",
            Basis::Elsewhere if board.is_some() => ", as estimated from another board",
            _ => "",
        };
        let rough = if one.is_rough() { ", roughly" } else { "" };
        format!("{verdict}{on}{basis}{rough}")
    }
}

#[cfg(test)]
mod tests {
    use cardmark_catalog::{Use, use_of, uses};
    use cardmark_judge::{Day, Question, published_figures, recommend};

    use super::*;

    /// The answers on all products for a use, with their grades.
    fn answers(wanted: &'static Use, board: Option<&str>) -> Vec<(Grade, Option<AnswerBlock>)> {
        let today = Day::parse("2026-11-28").unwrap_or_default();
        let mut question = Question::new(wanted, board, today);
        question.wish.kinds = Some(Vec::new());
        let choice = recommend(published_figures(), &question);
        let recommended = Recommended {
            question: &question,
            choice: &choice,
        };
        let lists = [
            &choice.first,
            &choice.may_suit,
            &choice.too_slow,
            &choice.beside,
        ];
        let all = lists.into_iter().flatten();
        all.map(|one| (one.grade, recommended.answer_on(&one.product)))
            .collect()
    }

    #[test]
    fn the_answer_on_a_product_has_the_grade_of_the_choice() {
        for wanted in uses().iter().filter(|one| !one.needs.is_empty()) {
            for (grade, answer) in answers(wanted, None) {
                let begin = match grade {
                    Grade::Suits => " suits ",
                    Grade::MaySuit => " may suit ",
                    Grade::TooSlow => " is too slow for ",
                    Grade::Unknown => "Cannot tell whether ",
                };
                let sentence = answer.unwrap().sentence;
                assert!(sentence.contains(begin), "{sentence}");
                assert!(!sentence.ends_with('.'), "{sentence}");
            }
        }
    }

    #[test]
    fn the_figures_are_as_measured() {
        let all = answers(use_of("boot").unwrap(), Some("Pi 5"));
        let mut all = all.into_iter().filter_map(|(_, answer)| answer);
        let sentence = "Raspberry Pi 64 GB suits boot and desktop on a Raspberry Pi 5";
        let answer = all.find(|one| one.sentence == sentence).unwrap();
        let cells: Vec<&str> = answer
            .figures
            .iter()
            .map(|one| one.cells[0].as_str())
            .collect();
        assert!(cells.contains(&"7400/s"), "{cells:?}");
        assert!(answer.more[0].contains("in 2024"), "{:?}", answer.more);
    }
}
