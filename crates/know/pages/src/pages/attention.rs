//! Cards and boards of a computer's own runs that need attention, the worst first: the answer of `cardmark list --bad`.

use cardmark_core::Record;
use cardmark_judge::{attention, cards_of};
use cardmark_report::document::Block;
use cardmark_report::{answer_of_attention, attention_blocks};

use crate::addresses;
use crate::frame::Page;

/// What needs attention.
#[derive(Clone, Debug, Default)]
pub struct Attention {
    /// The answer in a sentence, without full stop; `None` if nothing needs attention.
    pub sentence: Option<String>,
    blocks: Vec<Block>,
}

impl Attention {
    /// Looks for cards that need attention in these runs, which are in the order of storing.
    pub fn of(runs: &[Record]) -> Self {
        let cards = cards_of(runs);
        let rows = attention(&cards);
        let answer = answer_of_attention(&cards, &rows);
        if rows.is_empty() {
            return Self {
                sentence: None,
                blocks: answer.blocks(),
            };
        }
        let address = |run: &Record| Some(addresses::run(run.id));
        Self {
            sentence: Some(answer.sentence),
            blocks: attention_blocks(&cards, &rows, address),
        }
    }

    /// The page.
    pub fn page(&self) -> Page {
        let about = "Cards and boards that need attention, the worst first.";
        Page::new("Worst first", about, self.blocks.clone())
    }
}
