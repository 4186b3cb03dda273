//! Privacy of records: nothing in them may identify a single card of a product.

use std::collections::BTreeMap;

use cardmark_cards::{CardKind, Cid, Register, Registers};
use proptest::prelude::*;

use crate::support::{any_registers, checked, hex, kinds, registers};

/// The bytes of a CID that differ between cards of one product.
fn serial_bytes(kind: CardKind) -> std::ops::Range<usize> {
    match kind {
        CardKind::Sd => 9..13,
        CardKind::Mmc => 10..14,
        CardKind::Other(_) => 0..0,
    }
}

/// All that can be printed or serialised of registers.
fn all_texts(registers: &Registers) -> String {
    let card = serde_json::to_string(&registers.card()).unwrap();
    let fields = serde_json::to_string(&registers.fields()).unwrap();
    format!("{card}\n{fields}\n{registers:?}\n{:?}", registers.card())
}

proptest! {
    /// Two cards that differ only in their serial numbers, neither of them low, cannot be distinguished.
    #[test]
    fn no_digit_of_a_serial_number_gets_out(
        kind in kinds(),
        cid: [u8; 16],
        csd: [u8; 16],
        serials: [[u8; 4]; 2],
        is_shown: bool,
    ) {
        let texts = serials.map(|mut serial| {
            serial[0] |= 1;
            let mut cid = cid;
            cid[serial_bytes(kind)].copy_from_slice(&serial);
            cid = checked(cid);
            // A checksum of 0, or one equal to the last byte of a CSD that does not fit, looks like one
            // that the host does not show: use another serial number.
            while cid[15] == 1 || cid[15] == csd[15] && csd != checked(csd) {
                let last = serial_bytes(kind).end - 1;
                cid[last] = cid[last].wrapping_add(1);
                cid = checked(cid);
            }
            if !is_shown {
                cid[15] = 0;
            }
            let registers = registers(kind, &[
                ("cid", &hex(&cid)),
                ("csd", &hex(&csd)),
                ("rev", "0x8"),
            ]);
            all_texts(&registers)
        });
        prop_assert_eq!(&texts[0], &texts[1]);
    }

    /// If the host ends both registers with one constant, it does not matter whether it is by chance
    /// the checksum of a CID.
    #[test]
    fn a_host_s_constant_says_nothing_about_a_serial_number(
        kind in kinds(),
        cid: [u8; 16],
        csd: [u8; 16],
        serial: [u8; 4],
    ) {
        let mut fitting = cid;
        fitting[serial_bytes(kind)].copy_from_slice(&serial);
        fitting[serial_bytes(kind).start] |= 1;
        fitting = checked(fitting);
        let constant = fitting[15];
        let mut csd = csd;
        csd[15] = constant;
        prop_assume!(csd != checked(csd));
        let mut other = fitting;
        // Any one bit changes the checksum.
        other[serial_bytes(kind).end - 1] ^= 1;
        let texts = [fitting, other].map(|cid| {
            let cid = hex(&cid);
            all_texts(&registers(kind, &[("cid", &cid), ("csd", &hex(&csd)), ("rev", "0x8")]))
        });
        prop_assert_eq!(&texts[0], &texts[1]);
    }

    /// All else of a CID stays.
    #[test]
    fn only_the_serial_number_and_the_checksum_are_taken_out(kind in kinds(), bytes: [u8; 16]) {
        let cid = Cid::new(kind, bytes).without_serial();
        let taken = serial_bytes(kind);
        for (at, byte) in bytes.iter().enumerate() {
            let expected = if taken.contains(&at) || at == 15 { 0 } else { *byte };
            prop_assert_eq!(cid.bytes()[at], expected);
        }
    }

    /// The digits in a record are enough to read it again.
    #[test]
    fn a_record_s_registers_can_be_read_again(registers in any_registers()) {
        let card = registers.card();
        let again = Registers::from_hex(card.kind, &card.registers);
        let mut expected = card.decoded.clone();
        // A record no longer contains checksum and serial number.
        expected.checksum_fits = None;
        expected.serial = again.card().decoded.serial;
        prop_assert_eq!(again.card().decoded, expected);
        prop_assert_eq!(again.card().registers, card.registers);
        prop_assert_eq!(again.fields(), registers.fields());
    }

    /// Names are shown as they are, or as `?`.
    #[test]
    fn a_product_can_be_printed(registers in any_registers()) {
        let facts = registers.card().decoded;
        for text in [facts.product, facts.oem, facts.revision, facts.made] {
            let text = text.unwrap_or_default();
            prop_assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        }
        for field in registers.fields() {
            let words = field.meaning.unwrap_or_default();
            prop_assert!(!words.chars().any(char::is_control));
            prop_assert!(!["PSN", "CRC"].contains(&field.field));
        }
    }

    #[test]
    fn any_text_is_a_register_or_nothing(
        kind in kinds(),
        texts in proptest::collection::btree_map("cid|csd|scr|ssr|rev|ext_csd", ".*", 0..6),
    ) {
        let registers = Registers::from_hex(kind, &texts);
        let is_hex = |text: &String| text.trim().chars().all(|c| c.is_ascii_hexdigit());
        let has = |name: &str, length| {
            texts.get(name).is_some_and(|text| text.trim().len() == length && is_hex(text))
        };
        prop_assert_eq!(registers.csd.is_some(), has("csd", 32));
        prop_assert_eq!(registers.scr.is_some(), kind == CardKind::Sd && has("scr", 16));
        let _ = all_texts(&registers);
    }
}

#[test]
fn texts_that_are_no_register_are_left_aside() {
    let good = "035344534e363447867e650771016b8d";
    let cid = |text: &str| registers(CardKind::Sd, &[("cid", text)]).cid;
    assert!(cid(good).is_some());
    assert_eq!(cid(&good.to_uppercase()), cid(good));
    assert_eq!(cid(&format!(" {good}\n")), cid(good));
    for wrong in [
        "",
        &good[1..],
        &good.replace('4', "g"),
        &good.replace("03", "+3"),
        &good.replace("4534", "é34"),
        &format!("{good}00"),
    ] {
        assert_eq!(cid(wrong), None, "{wrong}");
    }
    let of_zeros = "0".repeat(128);
    assert_eq!(registers(CardKind::Sd, &[("ssr", &of_zeros)]).ssr, None);
    // An eMMC has neither of these.
    let emmc = [("scr", "0245848700000000"), ("ssr", &"1".repeat(128))];
    let emmc = registers(CardKind::Mmc, &emmc);
    assert_eq!((emmc.scr, emmc.ssr), (None, None));
    assert_eq!(emmc.card().registers, BTreeMap::new());
}
