//! The board that is asked for, and what its slot allows.

use cardmark_catalog::{BoardFacts, Known, board, board_name, boards, is_board, look_up};
use serde::Serialize;

/// Boards whose one slow core may limit a card before its slot does.
const SLOW_BOARDS: [&str; 4] = [
    "raspberry_pi_1",
    "raspberry_pi_zero",
    "raspberry_pi_zero_w",
    "raspberry_pi_cm1",
];

/// The board that is asked for; several if their slots are alike, such as all of `Pi 3`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AskedBoard {
    /// Its name in the catalogue, otherwise as asked.
    pub name: String,
    /// Highest rate of its card slot, bytes per second; `None` if unknown.
    pub slot_bytes_per_s: Option<u64>,
    /// True if its kernel uses the command queue of trusted cards only.
    pub has_trusted_queues: bool,
    /// True if its processor may be the limit.
    pub is_slow: bool,
    /// Its facts; none if the catalogue does not contain it.
    #[serde(skip)]
    pub(crate) known: Vec<&'static BoardFacts>,
}

impl AskedBoard {
    /// Finds a board by its name or a part of it, in the catalogue or else among the boards of figures.
    #[must_use]
    pub fn find<'a>(name: &str, mut measured: impl Iterator<Item = &'a str>) -> Option<Self> {
        let known = known_boards(name);
        if known.is_empty() {
            let wanted = board_name(name);
            let model = measured.find(|model| is_board(model, &wanted))?;
            return Some(Self {
                name: model.to_owned(),
                ..Self::slot(None)
            });
        }
        Some(Self {
            name: common_name(&known),
            slot_bytes_per_s: known.iter().map(|one| one.most_slot_bytes_per_s()).min(),
            has_trusted_queues: known.iter().all(|one| one.trusted_queues_since.is_some()),
            is_slow: known
                .iter()
                .all(|one| SLOW_BOARDS.contains(&one.id.as_str())),
            known,
        })
    }

    /// Any board with a slot of this rate, without a command queue.
    pub(super) fn slot(bytes_per_s: Option<u64>) -> Self {
        Self {
            name: String::new(),
            slot_bytes_per_s: bytes_per_s,
            has_trusted_queues: false,
            is_slow: false,
            known: Vec::new(),
        }
    }

    /// True if a board of this model is meant.
    pub(crate) fn is_it(&self, model: &str) -> bool {
        match board(model) {
            Some(one) if !self.known.is_empty() => self.known.contains(&one),
            _ => !self.name.is_empty() && model == self.name,
        }
    }
}

/// Slots of boards in the catalogue, the slowest first, bytes per second.
pub(super) fn slots() -> Vec<u64> {
    let mut slots: Vec<u64> = boards()
        .iter()
        .map(BoardFacts::most_slot_bytes_per_s)
        .filter(|slot| BANDS.contains(slot))
        .collect();
    slots.sort_unstable();
    slots.dedup();
    slots
}

/// Slots of the boards that most people have: high speed, DDR50, SDR104.
const BANDS: [u64; 3] = [25_000_000, 50_000_000, 100_000_000];

fn known_boards(name: &str) -> Vec<&'static BoardFacts> {
    if let Some(known) = board(name) {
        return vec![known];
    }
    let found = look_up(name);
    let boards = |rows: Vec<Known>| -> Vec<&'static BoardFacts> {
        let boards = rows.into_iter().filter_map(|row| match row {
            Known::Board(board) => Some(board),
            _ => None,
        });
        boards.collect()
    };
    let first = boards(found.found);
    match first.is_empty() {
        true => boards(found.similar),
        false => first,
    }
}

/// The words with which all names begin: `Raspberry Pi 3` of its models.
fn common_name(boards: &[&BoardFacts]) -> String {
    let Some((first, others)) = boards.split_first() else {
        return String::new();
    };
    let words: Vec<&str> = first.name.split(' ').collect();
    let is_common = |count: &usize| {
        let begin = words[..*count].join(" ");
        others.iter().all(|other| {
            let rest = other.name.strip_prefix(begin.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
    };
    let count = (1..=words.len()).rev().find(is_common);
    let common = words[..count.unwrap_or(words.len())].join(" ");
    common.trim_end_matches(" Model").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(name: &str) -> Option<AskedBoard> {
        AskedBoard::find(name, ["NanoPi M4"].into_iter())
    }

    #[test]
    fn a_board_is_found_by_the_names_of_people() {
        for (name, full, slot) in [
            ("Pi 5", "Raspberry Pi 5", Some(100)),
            ("zero 2 w", "Raspberry Pi Zero 2 W", Some(25)),
            ("Pi 4", "Raspberry Pi 4 Model B", Some(50)),
            (
                "Raspberry Pi 5 Model B Rev 1.0",
                "Raspberry Pi 5",
                Some(100),
            ),
            ("Pi 3", "Raspberry Pi 3", Some(25)),
            ("Pi Zero", "Raspberry Pi Zero", Some(25)),
            ("NanoPi M4", "NanoPi M4", None),
        ] {
            let found = find(name).unwrap();
            let slot = slot.map(|slot| slot * 1_000_000);
            assert_eq!((found.name.as_str(), found.slot_bytes_per_s), (full, slot));
        }
        assert_eq!(find("Amiga"), None);
        assert!(find("Pi 5").unwrap().has_trusted_queues);
        assert!(find("Pi Zero").unwrap().is_slow && !find("Pi 3").unwrap().is_slow);
    }

    #[test]
    fn a_longer_name_is_another_board() {
        let zero = find("Pi Zero").unwrap();
        assert!(zero.is_it("Raspberry Pi Zero Rev 1.3"));
        assert!(!zero.is_it("Raspberry Pi Zero 2 W"));
        let three = find("Pi 3").unwrap();
        assert!(three.is_it("Raspberry Pi 3 Model B+") && three.is_it("Raspberry Pi 3 Model B"));
        assert!(!three.is_it("Raspberry Pi Compute Module 3+") && !three.is_it("NanoPi M4"));
    }

    #[test]
    fn bands_are_those_of_known_boards() {
        assert_eq!(slots(), BANDS);
    }
}
