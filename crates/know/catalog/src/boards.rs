//! Capabilities of boards for cards and disks.

use std::sync::LazyLock;

use cardmark_core::BusMode;
use serde::Deserialize;

use crate::facts::{Packed, embedded, unpacked};
use crate::similar::{nearest, words};
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
    /// Its boot from USB disks, if that is not possible or needs a setting.
    pub usb_boot: Option<UsbBoot>,
    /// True if its eMMC is soldered, without a socket for another.
    #[serde(default)]
    pub has_fixed_emmc: bool,
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

/// Spellings of `Raspberry Pi` at the start of a word.
const PI: [&str; 4] = ["raspberrypi", "raspberry", "raspi", "rpi"];

/// Units of memory sizes.
const UNITS: [&str; 4] = ["gb", "g", "gib", "mb"];

/// Letters of the shortest name.
const LEAST_LETTERS: usize = 2;

/// A board, and the spellings of its names.
type Spelled = (&'static BoardFacts, Vec<Vec<String>>);

static SPELLED: LazyLock<Vec<Spelled>> = LazyLock::new(|| {
    let spelled = |row: &'static BoardFacts| {
        let names = row.aliases.iter().chain(&row.vectors);
        let names = names.chain([&row.id, &row.name]);
        (row, names.map(|name| spelling(name)).collect())
    };
    ROWS.iter().map(spelled).collect()
});

/// Returns the boards with this name or revision code, or else those with a name that begins with these words, or else ends with
/// them. Ignores case, spaces, punctuation and sizes of memory; `RPi 4`, `pi4` and `Raspberry Pi 4 8GB` are `Pi 4`.
#[must_use]
pub fn boards_called(name: &str) -> Vec<&'static BoardFacts> {
    let wanted = spelling(name);
    let called = |is_it: &dyn Fn(&[String]) -> bool| -> Vec<&'static BoardFacts> {
        let rows = SPELLED
            .iter()
            .filter(|(_, names)| names.iter().any(|name| is_it(name)));
        rows.map(|(row, _)| *row).collect()
    };
    let own = key(&wanted);
    if wanted.concat().len() < LEAST_LETTERS || own.is_empty() {
        return Vec::new();
    }
    let mut found = called(&|known| key(known) == own);
    if found.is_empty() {
        found = ROWS.iter().filter(|row| row.has_code(name)).collect();
    }
    if found.is_empty() {
        found = called(&|known| without_pi(known).starts_with(without_pi(&wanted)));
    }
    // The end of `Orange Pi Zero 3` is no Raspberry Pi.
    if found.is_empty() && without_pi(&wanted).len() == wanted.len() {
        found = called(&|known| known.ends_with(&wanted));
    }
    found
}

/// True if both are names of one board, which the catalogue need not contain: of the second, the maker may be missing.
#[must_use]
pub fn is_same_name(model: &str, name: &str) -> bool {
    let (model, name) = (spelling(model), spelling(name));
    let is_end = without_pi(&name).len() == name.len() && model.ends_with(&name);
    !name.is_empty() && (key(&model) == key(&name) || is_end)
}

/// Words of a name without its revision and size of memory, with `pi` for `Raspberry Pi`.
fn spelling(name: &str) -> Vec<String> {
    let mut spelled: Vec<String> = Vec::new();
    for word in words(&board_name(name)) {
        let rest = PI.iter().find_map(|pi| word.strip_prefix(pi));
        let rest = rest.or_else(|| {
            word.strip_prefix("pi")
                .filter(|rest| rest.starts_with("zero"))
        });
        let is_sized = |last: &String| last.starts_with(|c: char| c.is_ascii_digit());
        match (word.as_str(), rest) {
            ("opi" | "orangepi", _) => spelled.extend(["orange", "pi"].map(str::to_owned)),
            ("pi", _) if spelled == ["pi"] => {}
            ("ram", _) => {}
            (_, Some(rest)) => {
                spelled.extend(["pi", rest].map(str::to_owned));
                spelled.retain(|word| !word.is_empty());
            }
            (unit, _) if UNITS.contains(&unit) && spelled.len() > 1 => {
                spelled.pop_if(|last| is_sized(last));
            }
            _ => spelled.push(word),
        }
    }
    spelled
}

fn without_pi(words: &[String]) -> &[String] {
    match words {
        [first, rest @ ..] if first == "pi" => rest,
        _ => words,
    }
}

/// Letters that two spellings of one name share.
fn key(words: &[String]) -> String {
    without_pi(words).concat().replace("model", "")
}

/// Returns the names of boards that are similar to this one, the most similar first.
#[must_use]
pub fn nearest_boards(name: &str) -> Vec<&'static str> {
    let names = boards()
        .iter()
        .flat_map(|board| board.aliases.iter().chain([&board.name]));
    nearest(name, names.map(String::as_str))
}

/// Limits of the boot from USB disks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsbBoot {
    /// Not possible.
    Never,
    /// After a setting, which a note describes.
    AfterSetting,
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
    fn has_code(&self, name: &str) -> bool {
        let mut codes = self.revision_codes.iter();
        codes.any(|code| code.eq_ignore_ascii_case(name.trim()))
    }

    /// True if this is one of its names or revision codes, in any spelling.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let wanted = spelling(name);
        let is_short = wanted.concat().len() < LEAST_LETTERS;
        let wanted = key(&wanted);
        let mut spelled = SPELLED.iter().filter(|(row, _)| row.id == self.id);
        let is_named = spelled.any(|(_, names)| names.iter().any(|known| key(known) == wanted));
        is_named && !is_short && !wanted.is_empty() || self.has_code(name)
    }

    /// Returns true if it has a socket for an eMMC module, as far as known.
    pub fn has_emmc_socket(&self) -> bool {
        !self.emmc_modes.is_empty() && !self.has_fixed_emmc
    }

    /// Returns the note on its boot from USB disks.
    pub fn usb_boot_note(&self) -> Option<&str> {
        let mut notes = self.notes.iter().map(String::as_str);
        notes.find(|note| note.contains("boot") && note.contains("USB disks"))
    }

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

    #[test]
    fn a_board_is_found_by_each_spelling_and_no_other() {
        for row in ROWS.iter() {
            for name in row.aliases.iter().chain([&row.name]) {
                let pi = name.strip_prefix("Raspberry ").unwrap_or(name);
                let short = pi.strip_prefix("Pi ").unwrap_or(pi);
                let mut spellings = vec![name.clone(), name.replace(' ', "")];
                if row.id.starts_with("raspberry") {
                    let before = [
                        "Raspberry Pi ",
                        "raspberrypi",
                        "rpi ",
                        "RPI",
                        "raspi ",
                        "Raspi-",
                    ];
                    spellings.extend(before.map(|before| format!("{before}{short}")));
                }
                for spelling in spellings {
                    for written in [
                        spelling.to_lowercase(),
                        spelling.to_uppercase(),
                        spelling.replace(' ', "-"),
                        format!("{spelling} 4GB"),
                        format!("{spelling} 16 GB RAM"),
                    ] {
                        assert_eq!(boards_called(&written), [row], "{written}");
                    }
                }
            }
        }
        for (name, id) in [
            ("Raspberry Pi Zero 2W", "raspberry_pi_zero_2_w"),
            ("Zero", "raspberry_pi_zero"),
            ("rpi 4b", "raspberry_pi_4b"),
            ("Raspberry Pi 4 4GB", "raspberry_pi_4b"),
            ("Pi4 8GB", "raspberry_pi_4b"),
            ("OPi5", "orange_pi_5"),
            ("BBB", "beaglebone"),
            ("Raspberry Pi 5 Model B Rev 1.0", "raspberry_pi_5"),
            ("N2", "odroid_n2"),
        ] {
            let found: Vec<&str> = boards_called(name)
                .iter()
                .map(|row| row.id.as_str())
                .collect();
            assert_eq!(found, [id], "{name}");
        }
        assert_eq!(boards_called("Odroid").len(), 3);
        assert_eq!(boards_called("Pi 3").len(), 3);
        for unknown in ["", "5", "Jetson Nano", "Raspberry Pi Zero 3", "NanoPi NEO"] {
            assert!(boards_called(unknown).is_empty(), "{unknown}");
        }
        assert!(is_same_name("FriendlyElec NanoPi M4", "nanopi-m4"));
        assert!(!is_same_name("NanoPi NEO4", "NanoPi NEO") && !is_same_name("NanoPi M4", "NanoPi"));
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
