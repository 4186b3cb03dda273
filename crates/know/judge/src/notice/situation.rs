//! A device in its environment.

use cardmark_catalog::{BoardFacts, board};
use cardmark_core::{CardFacts, DeviceInfo, Queue, Record};

/// A device in its environment.
pub(super) struct Situation<'a> {
    pub(super) record: &'a Record,
    pub(super) device: &'a DeviceInfo,
    /// Capabilities of its board, if the catalogue contains it.
    pub(super) board: Option<&'static BoardFacts>,
}

pub(super) fn situations(record: &Record) -> Vec<Situation<'_>> {
    let model = record
        .board
        .as_ref()
        .and_then(|board| board.model.as_deref());
    let board = model.and_then(board);
    let situation = |device| Situation {
        record,
        device,
        board,
    };
    record.devices.iter().map(situation).collect()
}

impl<'a> Situation<'a> {
    /// Returns the content of the card's registers.
    pub(super) fn facts(&self) -> Option<&'a CardFacts> {
        Some(&self.device.card.as_ref()?.decoded)
    }

    pub(super) fn queue(&self) -> Option<&'a Queue> {
        self.device.queue.as_ref()
    }

    /// True if the card claims this class.
    pub(super) fn claims(&self, class: &str) -> bool {
        self.facts()
            .is_some_and(|facts| facts.classes.iter().any(|said| said == class))
    }

    /// Returns the name of the board for use in sentences.
    pub(super) fn board_name(&self) -> &'a str {
        let said = self.record.board.as_ref().and_then(|b| b.model.as_deref());
        match self.board {
            Some(facts) => &facts.name,
            None => said.unwrap_or("this computer"),
        }
    }
}
