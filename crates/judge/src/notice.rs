//! Findings about a record's device, reader, board and system, with advice for the situation. Pure: from the
//! record and the catalogue's facts.

mod bus;
mod card;
mod host;
mod link;

use cardmark_catalog::{BoardFacts, board};
use cardmark_core::{CardFacts, DeviceInfo, Finding, FindingKind, Queue, Record};

/// Replaces these findings in the record.
pub fn notice(record: &mut Record) {
    let situations: Vec<Finding> = situations(record)
        .iter()
        .flat_map(|situation| {
            [
                bus::findings(situation),
                card::findings(situation),
                link::findings(situation),
            ]
        })
        .flatten()
        .chain(host::findings(record))
        .collect();
    record.findings.retain(|finding| !is_noticed(finding.kind));
    for finding in situations {
        if !record.findings.contains(&finding) {
            record.findings.push(finding);
        }
    }
}

/// True if findings of this kind come from here and can be derived again from the record.
fn is_noticed(kind: FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::SlowBus
            | FindingKind::NoCommandQueue
            | FindingKind::NoCache
            | FindingKind::Overclocked
            | FindingKind::SlowUsb
            | FindingKind::NoUas
            | FindingKind::Misaligned
            | FindingKind::UnderVoltage
            | FindingKind::Powersave
            | FindingKind::Worn
            | FindingKind::SlowPcie
            | FindingKind::LabelMismatch
            | FindingKind::UnusualRegisters
            | FindingKind::ContradictingRegisters
            | FindingKind::HiddenRegisters
    )
}

/// A device in its environment.
struct Situation<'a> {
    record: &'a Record,
    device: &'a DeviceInfo,
    /// Capabilities of its board, if the catalogue contains it.
    board: Option<&'static BoardFacts>,
}

fn situations(record: &Record) -> Vec<Situation<'_>> {
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
    fn facts(&self) -> Option<&'a CardFacts> {
        Some(&self.device.card.as_ref()?.decoded)
    }

    fn queue(&self) -> Option<&'a Queue> {
        self.device.queue.as_ref()
    }

    /// True if the card claims this class.
    fn claims(&self, class: &str) -> bool {
        self.facts()
            .is_some_and(|facts| facts.classes.iter().any(|said| said == class))
    }

    /// Returns the name of the board for use in sentences.
    fn board_name(&self) -> &'a str {
        let said = self.record.board.as_ref().and_then(|b| b.model.as_deref());
        match self.board {
            Some(facts) => &facts.name,
            None => said.unwrap_or("this computer"),
        }
    }
}
