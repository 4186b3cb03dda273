use cardmark_catalog::boards;
use cardmark_core::{Board, Bus, Card, CardFacts, Reader};
use cardmark_samples::record;
use proptest::prelude::*;

use super::*;

/// A measured record without trials.
fn bare() -> Record {
    let mut record = record("run-measured-quick");
    record.trials.clear();
    record.devices.truncate(1);
    record
}

fn slot(mode: BusMode) -> Reader {
    Reader {
        kind: ReaderKind::Slot,
        driver: None,
        bus: Some(Bus {
            mode: Some(mode),
            ..Bus::default()
        }),
        usb: None,
        pcie: None,
        sata_bits_per_s: None,
    }
}

fn card() -> Card {
    Card {
        kind: CardKind::Sd,
        registers: std::collections::BTreeMap::new(),
        decoded: CardFacts::default(),
    }
}

/// Facts of a run on a Raspberry Pi that agree with its revision code.
#[derive(Clone, Debug)]
struct Honest {
    board: &'static BoardFacts,
    code: RevisionCode,
    text: &'static str,
    is_64: bool,
    has_large_pages: bool,
    mode: usize,
    used_memory: u64,
}

fn an_honest_one() -> impl Strategy<Value = Honest> {
    let all: Vec<(&BoardFacts, &str)> = boards()
        .iter()
        .filter(|row| row.is_raspberry_pi())
        .flat_map(|row| {
            row.revision_codes
                .iter()
                .map(move |code| (row, code.as_str()))
        })
        .filter(|(_, code)| RevisionCode::parse(code).is_some())
        .collect();
    let of_host = (any::<bool>(), any::<bool>(), any::<usize>(), 1..400_u64);
    (prop::sample::select(all), of_host).prop_map(|((board, text), of_host)| {
        let (is_64, has_large_pages, mode, used_mib) = of_host;
        let code = RevisionCode::parse(text).unwrap();
        Honest {
            board,
            code,
            text,
            is_64: is_64 && code.processor().unwrap().has_64_bits(),
            has_large_pages: has_large_pages && code.processor().unwrap().has_16_kib_pages(),
            mode,
            used_memory: used_mib << 20,
        }
    })
}

impl Honest {
    fn record(&self) -> Record {
        let mut record = bare();
        record.board = Some(Board {
            model: self.board.vectors.first().cloned(),
            revision: Some(self.text.to_owned()),
            memory_bytes: Some(self.code.memory_bytes().saturating_sub(self.used_memory)),
            cpu_count: Some(self.code.processor().unwrap().cores_count()),
            max_frequency_hz: None,
            power_warnings: Vec::new(),
            firmware: Vec::new(),
        });
        let (architecture, target) = match self.is_64 {
            true => ("aarch64", "aarch64-unknown-linux-musl"),
            false => ("arm", "arm-unknown-linux-musleabihf"),
        };
        let host = record.host.as_mut().unwrap();
        host.is_virtual = None;
        host.architecture = Some(architecture.to_owned());
        host.page_bytes = Some(if self.has_large_pages {
            PAGE_16_KIB
        } else {
            PAGE_BYTES
        });
        host.kernel = Some("6.12.34+rpt-rpi-v8".to_owned());
        record.tool.as_mut().unwrap().target = Some(target.to_owned());
        let device = &mut record.devices[0];
        let mode = self.board.bus_modes[self.mode % self.board.bus_modes.len()];
        device.reader = Some(slot(mode));
        device.card = Some(card());
        record
    }
}

proptest! {
    #[test]
    fn facts_of_one_board_agree(honest in an_honest_one()) {
        prop_assert_eq!(disagreements(&honest.record()), Some(Vec::new()));
    }

    /// Any one of these fields, taken from another computer, is noticed.
    #[test]
    fn a_field_of_another_computer_disagrees(honest in an_honest_one(), field in 0..8_u8) {
        let mut record = honest.record();
        let board = record.board.as_mut().unwrap();
        let host = record.host.as_mut().unwrap();
        let processor = honest.code.processor().unwrap();
        match field {
            0 => board.memory_bytes = Some(honest.code.memory_bytes() + 1),
            1 => board.cpu_count = Some(processor.cores_count() + 1),
            2 => {
                // A code that names another board.
                let mut others = boards().iter().filter(|row| row.is_raspberry_pi() && row.id != honest.board.id);
                let other = others.find_map(|row| row.revision_codes.first());
                board.revision = other.cloned();
            }
            3 => host.architecture = Some("x86_64".to_owned()),
            4 => record.tool.as_mut().unwrap().target = Some("x86_64-unknown-linux-gnu".to_owned()),
            5 if !processor.has_16_kib_pages() => host.page_bytes = Some(PAGE_16_KIB),
            6 if processor != Processor::Bcm2712 => {
                host.kernel = Some("6.12.34+rpt-rpi-2712".to_owned());
                host.page_bytes = Some(PAGE_16_KIB);
            }
            7 if !honest.board.bus_modes.contains(&BusMode::Sdr104) => {
                record.devices[0].reader = Some(slot(BusMode::Sdr104));
            }
            _ => record.devices[0].reader.as_mut().unwrap().kind = ReaderKind::Virtual,
        }
        prop_assert!(!disagreements(&record).unwrap().is_empty(), "{field}");
    }
}

/// The forgery of a run in a virtual machine: another board, device and host.
#[test]
fn a_raspberry_pi_5_is_no_virtual_machine_of_24_gib() {
    let mut record = bare();
    let board = record.board.as_mut().unwrap();
    board.model = Some("Raspberry Pi 5 Model B Rev 1.0".to_owned());
    record.host.as_mut().unwrap().is_virtual = Some(false);
    let found = disagreements(&record).unwrap().join("; ");
    for part in ["memory", "x86_64", "virtual machine"] {
        assert!(found.contains(part), "{part}: {found}");
    }
}

#[test]
fn a_board_newer_than_the_catalogue_contradicts_nothing() {
    let mut record = bare();
    record.board = Some(Board {
        model: Some("Raspberry Pi Compute Module 99 Rev 1.0".to_owned()),
        revision: Some("c05ff0".to_owned()),
        memory_bytes: Some(4 << 30),
        cpu_count: Some(8),
        ..Board::default()
    });
    record.devices.clear();
    let host = record.host.as_mut().unwrap();
    host.architecture = Some("aarch64".to_owned());
    record.tool.as_mut().unwrap().target = Some("aarch64-unknown-linux-musl".to_owned());
    assert_eq!(disagreements(&record), Some(Vec::new()));
}

#[test]
fn an_unknown_board_contradicts_nothing() {
    let mut record = bare();
    assert_eq!(disagreements(&record), None);
    record.board.as_mut().unwrap().model = Some("Some Board".to_owned());
    assert_eq!(disagreements(&record), None);
    record.host.as_mut().unwrap().page_bytes = Some(PAGE_16_KIB);
    assert_eq!(disagreements(&record).unwrap().len(), 1);
}
