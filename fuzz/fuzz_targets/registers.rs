//! Whatever the bits of a card's registers are: all of them can be read, each field is where the
//! table says, registers are all their fields, and no serial number gets out.
#![no_main]

use std::collections::BTreeMap;

use cardmark_cards::{
    Cid, Csd, EXT_CSD_BYTES, EmmcLife, ExtCsd, Register, Registers, Scr, Ssr, crc7,
};
use cardmark_core::CardKind;
use libfuzzer_sys::fuzz_target;

/// Names of the kernel's files, in the order of the lines of text in an input.
const NAMES: [&str; 6] = ["cid", "csd", "scr", "ssr", "rev", "ext_csd"];

/// The bytes of an input from its beginning; zeros where it is too short.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (now, later) = self.0.split_at(N.min(self.0.len()));
        self.0 = later;
        let mut bytes = [0; N];
        bytes[..now.len()].copy_from_slice(now);
        bytes
    }
}

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let [flags] = input.take();
    let kind = match flags & 1 {
        0 => CardKind::Sd,
        _ => CardKind::Mmc,
    };
    let is_sd = kind == CardKind::Sd;
    let [revision] = input.take();
    let value = u64::from_be_bytes(input.take());
    let registers = Registers {
        kind,
        cid: Some(Cid::new(kind, input.take())),
        csd: Some(Csd::new(kind, input.take())),
        scr: is_sd.then(|| Scr::new(input.take())),
        ssr: is_sd.then(|| Ssr::new(input.take())),
        ext_csd: None,
        ext_csd_revision: (!is_sd).then_some(revision),
    };
    look_through(&registers);
    no_serial(&registers, value);
    if let (Some(cid), Some(csd)) = (registers.cid, registers.csd) {
        fields_are_apart(cid, Cid::new(kind, [0; 16]), value);
        fields_are_apart(csd, Csd::new(kind, [0; 16]), value);
        assert!(crc7(cid.bytes()) < 128);
    }
    if let (Some(scr), Some(ssr)) = (registers.scr, registers.ssr) {
        fields_are_apart(scr, Scr::default(), value);
        fields_are_apart(ssr, Ssr::default(), value);
    }
    texts(kind, &String::from_utf8_lossy(input.0));
    if !is_sd {
        let mut bytes = [0; EXT_CSD_BYTES];
        let count = data.len().min(EXT_CSD_BYTES);
        bytes[EXT_CSD_BYTES - count..].copy_from_slice(&data[..count]);
        let life = ExtCsd::new(&bytes).life;
        assert!(
            life.used_percent()
                .is_none_or(|used| (10..=110).contains(&used))
        );
    }
});

/// Calls all that reads registers.
fn look_through(registers: &Registers) {
    let card = registers.card();
    // Read from texts, a blank SSR and the CID of an old card are left out.
    let read = Registers::from_hex(card.kind, &card.registers);
    assert_eq!(Registers::from_hex(card.kind, &read.card().registers), read);
    assert!(card.decoded.classes.len() <= 4);
    for field in registers.fields() {
        assert!(field.value.len() > 2 && !field.value.contains('?'));
        assert!(field.meaning.is_none_or(|words| !words.is_empty()));
    }
    if let Some(csd) = registers.csd {
        let unfixed = csd.unfixed_fields().unwrap_or_default();
        assert!(unfixed.iter().all(|name| csd.get(name).is_some()));
        assert!(csd.line_bits_per_s().is_none_or(|rate| rate <= 800_000_000));
        let eleventh = csd.command_classes().map(|bits| bits >> 11 & 1 == 1);
        assert_eq!(csd.has_command_class(11), eleventh);
        assert!(csd.capacity_class().is_none() || csd.command_classes().is_some());
    }
    if let Some(scr) = registers.scr {
        assert_eq!(scr.supports_command(23), bit_of(scr, 33));
        assert!(scr.security() < 8 && scr.bus_widths() < 16);
    }
    if let Some(ssr) = registers.ssr {
        assert_eq!(ssr.has_full_erase(), bit_of(ssr, 312));
        assert_eq!(
            Some(ssr.performance_move().into()),
            ssr.get("PERFORMANCE_MOVE")
        );
        assert_ne!(ssr.command_queue_count(), 1);
    }
}

/// Another serial number changes nothing that is printed or kept.
fn no_serial(registers: &Registers, value: u64) {
    let of_serial = |serial: u64| {
        // The checksum depends on the serial number, and is not shown here.
        let values = [("PSN", serial), ("CRC", 0), ("ALWAYS_1", 0)];
        let cid = registers.cid.and_then(|cid| cid.with(&values));
        assert!(cid.is_some());
        Registers {
            cid,
            scr: None,
            ssr: None,
            ..registers.clone()
        }
    };
    // Neither of them low, which is told.
    let usual = 1 << 31;
    let (one, other) = (of_serial(usual), of_serial(value & 0xffff_ffff | usual));
    assert_eq!(one.card(), other.card());
    assert_eq!(one.fields(), other.fields());
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
}

/// A blank register filled with all fields is the register. The input chooses one field, which is
/// where the table says, and can be set without the others.
fn fields_are_apart<R: Register>(register: R, blank: R, value: u64) {
    let table = register.table();
    let mut filled = blank;
    for field in table {
        if let Some(number) = register.value(field) {
            let number = [(field.name, number)];
            filled = filled.with(&number).expect("its own value");
        } else {
            let at = register.bytes().len() - usize::from(field.bits_count() / 8);
            filled.bytes_mut()[at..].copy_from_slice(&register.bytes()[at..]);
        }
    }
    assert_eq!(filled.bytes(), register.bytes());

    let field = &table[value as usize % table.len()];
    let Some(most) = field.most() else { return };
    let bits = (field.low..=field.high).rev();
    let truth = bits.fold(0, |sum, bit| sum << 1 | u64::from(bit_of(register, bit)));
    assert_eq!(register.value(field), Some(truth), "{}", field.name);

    let value = value.rotate_left(32) & most;
    let set = register.with(&[(field.name, value)]);
    let mut set = set.expect("a value that fits");
    assert_eq!(set.value(field), Some(value), "{}", field.name);
    // Bit by bit back again: nothing else has changed.
    for bit in field.low..=field.high {
        let at = set.bytes().len() - 1 - usize::from(bit / 8);
        let flipped = bit_of(set, bit) != bit_of(register, bit);
        set.bytes_mut()[at] ^= u8::from(flipped) << (bit % 8);
    }
    assert_eq!(set.bytes(), register.bytes(), "{}", field.name);
}

fn bit_of<R: Register>(register: R, bit: u16) -> bool {
    let bytes = register.bytes();
    bytes[bytes.len() - 1 - usize::from(bit / 8)] >> (bit % 8) & 1 == 1
}

/// Any text is a register or nothing.
fn texts(kind: CardKind, text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    let named = NAMES.iter().zip(&lines);
    let named: BTreeMap<String, String> = named
        .map(|(name, line)| ((*name).to_owned(), (*line).to_owned()))
        .collect();
    look_through(&Registers::from_hex(kind, &named));
    if let [life_time, pre_eol_info, ..] = lines[..] {
        let health = EmmcLife::from_texts(life_time, pre_eol_info).health();
        assert!(health.is_none_or(|health| health.warnings.len() <= 1));
    }
}
