//! Simulated boards: the extra time of a slot for every request, and its maximum rate.

use cardmark_core::{Board, Bus, Reader, ReaderKind};
use serde_json::{Map, Value};

use crate::Model;
use crate::data::{BoardData, ModelData, broken_bridge};
use crate::error::ModelError;
use crate::library::Entry;
use crate::model::{content_of, from_table, table};

/// The boards that come with the program.
const EMBEDDED: [(&str, &str); 2] = [
    ("pi3", include_str!("../boards/pi3.toml")),
    ("pi4", include_str!("../boards/pi4.toml")),
];
/// Data lines between slot and card.
const LINES_COUNT: u32 = 4;

impl BoardData {
    fn of(table: Map<String, Value>) -> Result<Self, ModelError> {
        let data: Self = from_table(table)?;
        match broken_bridge(data.slot) {
            Some(what) => Err(ModelError::Invalid {
                name: data.name,
                what,
            }),
            None => Ok(data),
        }
    }

    /// As a record describes it.
    pub(crate) fn described(&self) -> Board {
        Board {
            model: Some(self.model.clone()),
            memory_bytes: Some(self.memory_bytes),
            cpu_count: Some(self.cpu_count),
            ..Board::default()
        }
    }

    /// Its slot, as a record describes it.
    pub(crate) fn reader(&self) -> Reader {
        let bus = Bus {
            mode: Some(self.mode),
            lines_count: Some(LINES_COUNT),
            clock_hz: Some(self.clock_hz),
            ..Bus::default()
        };
        Reader {
            kind: ReaderKind::Slot,
            driver: None,
            bus: Some(bus),
            usb: None,
            pcie: None,
            sata_bits_per_s: None,
        }
    }
}

/// The boards there are, in a fixed order.
pub fn boards() -> Vec<Entry> {
    let entry = |(name, text): (&'static str, &str)| Entry {
        name,
        // A test parses every board, so that the empty summary is never seen.
        summary: table(text)
            .and_then(BoardData::of)
            .map(|board| board.summary)
            .unwrap_or_default(),
    };
    EMBEDDED.into_iter().map(entry).collect()
}

impl Model {
    /// Returns a card of this model in the slot of a board, such as `pi4`: the slot adds to every request, and
    /// may be slower than the card.
    ///
    /// # Errors
    /// If the board is unknown (the message lists the known ones), or the model has its own reader.
    pub fn on_board(&self, name: &str) -> Result<Self, ModelError> {
        let found = EMBEDDED.iter().find(|(known, _)| *known == name);
        let (_, text) = found.ok_or_else(|| ModelError::UnknownBoard {
            name: name.to_owned(),
            known: EMBEDDED.map(|(known, _)| known).join(", "),
        })?;
        if self.data().bridge.is_some() {
            return Err(ModelError::Invalid {
                name: self.name().to_owned(),
                what: "comes in a USB reader, and that fits into no slot",
            });
        }
        let table = table(text)?;
        let content = format!("{}{}", self.content(), content_of(&table));
        let board = BoardData::of(table)?;
        let data = ModelData {
            bridge: Some(board.slot),
            board: Some(board),
            ..self.data().clone()
        };
        Ok(Self::resolved(data, content))
    }
}

#[cfg(test)]
mod tests {
    use cardmark_core::{Flush, Manner, Order, Payload, StopRule, Workload};

    use super::*;

    fn reads(order: Order, block_bytes: u64) -> Workload {
        Workload {
            id: "test".to_owned(),
            read_share_percent: 100,
            order,
            block_bytes,
            queue_depth: 1,
            span_bytes: 256 << 20,
            flush: Flush::AfterTrial,
            payload: Payload::Incompressible,
            ramp_ns: 0,
            stop: StopRule::default(),
            latency_metrics: true,
            manner: Manner::default(),
            procedure: None,
            rounds: cardmark_core::Rounds::default(),
        }
    }

    #[test]
    fn every_board_can_be_used() {
        let card = Model::named("a1-32gb").unwrap();
        for board in boards() {
            let model = card.on_board(board.name).unwrap();
            assert_eq!(model.board().unwrap().name, board.name);
            assert!(!board.summary.is_empty());
        }
        let error = card.on_board("pi9").unwrap_err().to_string();
        assert_eq!(error, "no simulated board `pi9`; available: pi3, pi4");
    }

    #[test]
    fn a_slot_holds_back_what_is_faster_and_adds_to_every_request() {
        let card = Model::named("a1-32gb").unwrap();
        let rate = |model: &Model, workload: &Workload| {
            model.truth(workload).unwrap().operations_per_s * workload.block_bytes as f64
        };
        let large = reads(Order::Sequential, 1 << 20);
        let on_pi3 = rate(&card.on_board("pi3").unwrap(), &large);
        assert!((22.0e6..22.9e6).contains(&on_pi3), "{on_pi3}");
        assert!(rate(&card, &large) > 80.0e6);
        let small = reads(Order::Random, 4096);
        let span_us = |model: &Model| 4096e6 / rate(model, &small);
        let more_us = span_us(&card.on_board("pi4").unwrap()) - span_us(&card);
        // 60 µs, and 4 KiB at 45 instead of 88 MB/s.
        assert!((more_us - 60.0 - 44.5).abs() < 1.0, "{more_us}");
    }

    #[test]
    fn a_reader_fits_into_no_slot() {
        let error = Model::named("usb2-32gb").unwrap().on_board("pi4");
        let told = error.unwrap_err().to_string();
        assert!(told.contains("USB reader"), "{told}");
    }
}
