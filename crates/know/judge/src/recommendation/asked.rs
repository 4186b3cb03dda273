//! The board that is asked for, and what its slot allows.

use cardmark_catalog::{
    BoardFacts, ProductKind, UsbBoot, board, boards, boards_called, is_same_name,
};
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
    /// Its fastest USB port, bits per second; `None` if unknown.
    pub usb_bits_per_s: Option<u64>,
    /// Its facts; none if the catalogue does not contain it.
    #[serde(skip)]
    pub(crate) known: Vec<&'static BoardFacts>,
}

impl AskedBoard {
    /// Finds a board by its name, or by a part that it shares with boards of the same slot only, in the catalogue or else among the boards of figures.
    #[must_use]
    pub fn find<'a>(name: &str, mut measured: impl Iterator<Item = &'a str>) -> Option<Self> {
        let known = known_boards(name);
        if known.is_empty() {
            let model = measured.find(|model| is_same_name(model, name))?;
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
            usb_bits_per_s: slowest_usb(&known),
            known,
        })
    }

    /// Any board with a slot of this rate, without a command queue.
    pub(super) fn slot(bytes_per_s: Option<u64>) -> Self {
        let known = boards().iter();
        let known = known.filter(|one| Some(one.most_slot_bytes_per_s()) == bytes_per_s);
        let known = known.filter(|one| one.usb_bits_per_s.is_some());
        Self {
            name: String::new(),
            slot_bytes_per_s: bytes_per_s,
            has_trusted_queues: false,
            is_slow: false,
            usb_bits_per_s: slowest_usb(&known.collect::<Vec<_>>()),
            known: Vec::new(),
        }
    }

    /// True if a product of this kind is at a USB port of it.
    pub(super) fn is_at_usb(&self, kind: ProductKind) -> bool {
        match kind {
            ProductKind::Microsd | ProductKind::Sd | ProductKind::EmbeddedMmc => false,
            ProductKind::Nvme => self.known.iter().all(|one| one.pcie.is_none()),
            _ => true,
        }
    }

    /// True if it cannot boot from USB disks.
    pub(super) fn has_no_usb_boot(&self) -> bool {
        let is_never = |one: &&BoardFacts| one.usb_boot == Some(UsbBoot::Never);
        !self.known.is_empty() && self.known.iter().all(is_never)
    }

    /// Returns the setting without which it does not boot from a product of this kind.
    #[must_use]
    pub fn boot_setting(&self, kind: Option<ProductKind>) -> Option<&'static str> {
        kind.filter(|kind| self.is_at_usb(*kind))?;
        let mut known = self.known.iter();
        let found = known.find(|one| one.usb_boot == Some(UsbBoot::AfterSetting));
        found?.usb_boot_note()
    }

    /// True if a board of this model is meant.
    pub(crate) fn is_it(&self, model: &str) -> bool {
        match board(model) {
            Some(one) if !self.known.is_empty() => self.known.contains(&one),
            _ => !self.name.is_empty() && model == self.name,
        }
    }
}

/// The slowest of the fastest USB ports of these boards, if each is known.
fn slowest_usb(boards: &[&BoardFacts]) -> Option<u64> {
    let ports: Option<Vec<u64>> = boards.iter().map(|one| one.usb_bits_per_s).collect();
    ports?.into_iter().min()
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

/// The boards of a name; none if it is the beginning of several with different slots.
fn known_boards(name: &str) -> Vec<&'static BoardFacts> {
    let known = boards_called(name);
    let slots = || known.iter().map(|one| one.most_slot_bytes_per_s());
    match slots().min() == slots().max() {
        true => known,
        false => Vec::new(),
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
        AskedBoard::find(name, ["NanoPi M4", "NanoPi NEO4"].into_iter())
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
        for unknown in ["Amiga", "Odroid", "NanoPi", "NanoPi NEO", "Raspberry Pi"] {
            assert_eq!(find(unknown), None, "{unknown}");
        }
        assert_eq!(find("Zero"), find("Pi Zero"));
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
