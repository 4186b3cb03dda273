//! Capabilities of boards for cards and disks.

use std::sync::LazyLock;

use cardmark_core::BusMode;
use serde::Deserialize;

use crate::facts::{Packed, embedded, unpacked};
use crate::similar::nearest;
use crate::sources::{Availability, FactSource};

pub(crate) static TEXT: LazyLock<&str> = LazyLock::new(|| unpacked(Packed::Boards));

static ROWS: LazyLock<Vec<BoardFacts>> = LazyLock::new(|| embedded(&TEXT, "boards"));

/// Capabilities of a board. Values without a source are absent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardFacts {
    /// Stable id of the row, `a-z0-9_`.
    pub id: String,
    /// Common name.
    pub name: String,
    /// Common spellings.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Revision codes, as in `/proc/cpuinfo`; new ones may be in use.
    #[serde(default)]
    pub revision_codes: Vec<String>,
    /// Year in which it was first sold.
    pub year: Option<u16>,
    /// State in the shops.
    #[serde(default)]
    pub availability: Availability,
    /// Month until which its maker has promised to make it, at least, such as `2030-01`.
    pub production_until: Option<String>,
    /// Beginnings of its model in the device tree, in whole words.
    pub models: Vec<String>,
    /// Bus modes of its card slot.
    pub bus_modes: Vec<BusMode>,
    /// Highest clock of the card slot, hertz.
    pub most_clock_hz: u64,
    /// Number of data lines of the card slot.
    pub lines_count: u32,
    /// Instructions for overclocking its card slot; absent: not possible.
    pub overclock: Option<String>,
    /// Instructions for turning on the command queue of SD cards; absent: not possible.
    pub command_queue: Option<String>,
    /// Month since which only cards that its kernel trusts have their command queue on by default; absent: no such rule.
    #[serde(default)]
    pub trusted_queues_since: Option<String>,
    /// Bus modes for eMMC, on it or in a socket.
    #[serde(default)]
    pub emmc_modes: Vec<BusMode>,
    /// Its fastest USB port, bits per second.
    pub usb_bits_per_s: Option<u64>,
    /// Its PCI Express link for disks.
    pub pcie: Option<BoardPcie>,
    /// Further notes.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Source of the name and of the slot.
    pub source: String,
    /// Sources of the other facts.
    #[serde(default)]
    pub sources: Vec<FactSource>,
    /// Day on which the source was read.
    pub checked_on: String,
    /// Models, used by a test.
    pub vectors: Vec<String>,
}

/// Returns the names of boards that are similar to this one, the most similar first.
#[must_use]
pub fn nearest_boards(name: &str) -> Vec<&'static str> {
    let names = boards()
        .iter()
        .flat_map(|board| board.aliases.iter().chain([&board.name]));
    nearest(name, names.map(String::as_str))
}

/// The PCI Express link of a board.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardPcie {
    /// Supported transfers per second and lane, in millions; absent: unknown.
    pub megatransfers_per_s: Option<u64>,
    /// Lanes.
    pub lanes_count: u64,
    /// Instructions for turning it on or making it faster.
    pub note: Option<String>,
}

impl BoardFacts {
    /// Returns the highest rate of the card slot in its fastest mode, bytes per second, before protocol overhead.
    pub fn most_slot_bytes_per_s(&self) -> u64 {
        let of_mode = |mode: &BusMode| {
            let (most_hz, edges_count) = match mode {
                BusMode::Legacy | BusMode::Sdr12 => (25_000_000, 1),
                BusMode::HighSpeed | BusMode::Sdr25 => (50_000_000, 1),
                BusMode::Sdr50 => (100_000_000, 1),
                BusMode::Ddr50 => (50_000_000, 2),
                BusMode::Sdr104 => (208_000_000, 1),
                _ => (0, 1),
            };
            self.most_clock_hz.min(most_hz) * edges_count * u64::from(self.lines_count) / 8
        };
        self.bus_modes.iter().map(of_mode).max().unwrap_or(0)
    }
}

/// Returns all known boards, in the order of the file.
pub fn boards() -> &'static [BoardFacts] {
    &ROWS
}

/// Returns the board of a model, as named in the device tree. The longest matching beginning applies.
pub fn board(model: &str) -> Option<&'static BoardFacts> {
    let model = model.trim_end_matches(['\0', '\n', ' ']);
    ROWS.iter()
        .flat_map(|row| row.models.iter().map(move |prefix| (prefix, row)))
        .filter(|(prefix, _)| begins(model, prefix))
        .max_by_key(|(prefix, _)| prefix.len())
        .map(|(_, row)| row)
}

/// Returns the model without its revision, with `+` for the word at the end: `Raspberry Pi 3 Model B Plus Rev 1.3` is
/// `Raspberry Pi 3 Model B+`.
pub fn board_name(model: &str) -> String {
    let model = model.trim_end_matches(['\0', '\n', ' ']);
    let (name, revision) = model.rsplit_once(" Rev ").unwrap_or((model, ""));
    let is_revision = revision.chars().all(|c| c.is_ascii_digit() || c == '.');
    let name = if is_revision { name } else { model };
    match name.strip_suffix(" Plus") {
        Some(name) => format!("{name}+"),
        None => name.to_owned(),
    }
}

/// True if the model begins with these words: `Raspberry Pi 5` does not match `Raspberry Pi 500`.
fn begins(model: &str, words: &str) -> bool {
    model
        .strip_prefix(words)
        .is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::checking::check_file;

    #[test]
    fn a_revision_is_not_part_of_the_name() {
        for (model, name) in [
            ("Raspberry Pi 4 Model B Rev 1.4", "Raspberry Pi 4 Model B"),
            (
                "Raspberry Pi 3 Model B Plus Rev 1.3",
                "Raspberry Pi 3 Model B+",
            ),
            ("Raspberry Pi 3 Model B+", "Raspberry Pi 3 Model B+"),
            ("Board Rev A", "Board Rev A"),
            ("NanoPi M4", "NanoPi M4"),
        ] {
            assert_eq!(board_name(model), name);
        }
    }

    #[test]
    fn every_board_is_cited_and_found() {
        check_file::<BoardFacts>(&TEXT, "boards");
        for row in ROWS.iter() {
            for vector in &row.vectors {
                assert_eq!(board(vector).map(|b| &b.id), Some(&row.id), "{vector}");
            }
            // Each beginning must be used by one of the examples.
            for words in &row.models {
                assert!(
                    row.vectors.iter().any(|vector| begins(vector, words)),
                    "{words}: no example begins so"
                );
            }
            assert!(row.bus_modes.contains(&BusMode::Legacy));
        }
    }

    /// Published figures with the queue on are not what such a board does as installed.
    #[test]
    fn boards_with_a_command_queue_use_that_of_trusted_cards_only() {
        for row in ROWS.iter() {
            let since = row.trusted_queues_since.as_deref();
            let expected = row.command_queue.as_ref().map(|_| "2025-01");
            assert_eq!(since, expected, "{}", row.id);
        }
        assert!(
            board("Raspberry Pi 5 Model B Rev 1.0").is_some_and(|row| row.command_queue.is_some())
        );
    }

    #[test]
    fn a_beginning_is_whole_words_and_the_longest_wins() {
        let id = |model: &str| board(model).map(|row| row.id.as_str());
        assert_eq!(id("Raspberry Pi 5 Model B Rev 1.0"), Some("raspberry_pi_5"));
        assert_eq!(id("Raspberry Pi 500 Rev 1.0\0"), Some("raspberry_pi_500"));
        assert_eq!(
            id("Raspberry Pi 3 Model B Plus Rev 1.3"),
            Some("raspberry_pi_3b_plus")
        );
        assert_eq!(
            id("Raspberry Pi 3 Model B Rev 1.2"),
            Some("raspberry_pi_3b")
        );
        assert_eq!(
            id("Raspberry Pi Zero 2 W Rev 1.0"),
            Some("raspberry_pi_zero_2_w")
        );
        assert_eq!(id("Raspberry Pi 55"), None);
        assert_eq!(id(""), None);
    }
}
