//! Tables are whole, and fields can be set and read without touching others.

use cardmark_cards::{CardKind, Cid, Csd, Field, Register, Scr, Ssr, register_tables};
use proptest::prelude::*;

use crate::support::kinds;

/// Every bit belongs to exactly one field.
fn is_whole(table: &[Field], bits: u16) -> bool {
    let mut next = bits;
    for field in table {
        if field.high + 1 != next || field.low > field.high {
            return false;
        }
        next = field.low;
    }
    next == 0
}

#[test]
fn every_bit_belongs_to_one_field() {
    for (name, table) in register_tables() {
        let bits = match &name[..3] {
            "SCR" => 64,
            "SSR" => 512,
            _ => 128,
        };
        assert!(is_whole(table, bits), "{name}");
        for field in table {
            let namesakes = table.iter().filter(|other| other.name == field.name);
            assert_eq!(namesakes.count(), 1, "{name}: {}", field.name);
            assert!(!field.about.is_empty() && field.bits_count() > 0);
        }
    }
    let undefined = Csd::new(CardKind::Sd, [0xff; 16]);
    assert!(is_whole(undefined.table(), 128));
}

#[test]
fn bits_are_counted_from_the_end() {
    let mut bytes = [0; 16];
    bytes[15] = 0x03;
    bytes[0] = 0x74;
    let cid = Cid::new(CardKind::Sd, bytes);
    assert_eq!((cid.get("ALWAYS_1"), cid.get("CRC")), (Some(1), Some(1)));
    assert_eq!(cid.get("MID"), Some(0x74));
    assert_eq!(cid.get("C_SIZE"), None);
    assert_eq!(Ssr::default().get("MANUFACTURER"), None);
}

/// Setting a field is read back, changes no other bit, and setting it back restores all.
fn sets_only_itself<R: Register>(register: R, value: u64) {
    let table = register.table();
    for field in table {
        let Some(most) = field.most() else { continue };
        let before = register.get(field.name).unwrap();
        let value = value & most;
        let changed = register.with(&[(field.name, value)]).unwrap();
        // The layout of a CSD depends on its first field.
        if field.name != "CSD_STRUCTURE" {
            for other in table {
                let expected = match other.name {
                    name if name == field.name => Some(value),
                    name => register.get(name),
                };
                assert_eq!(changed.get(other.name), expected, "{}", other.name);
            }
        }
        assert_eq!(changed.get(field.name), Some(value));
        let restored = changed.with(&[(field.name, before)]).unwrap();
        assert_eq!(restored.bytes(), register.bytes());
        if most < u64::MAX {
            assert!(register.with(&[(field.name, most + 1)]).is_none());
        }
    }
    assert!(register.with(&[("NO_SUCH_FIELD", 0)]).is_none());
}

/// A blank register filled with the values of all fields is the same register.
fn is_all_its_fields<R: Register>(register: R, blank: R) {
    let fields = register.table().iter();
    let values: Vec<_> = fields
        .filter_map(|field| Some((field.name, register.get(field.name)?)))
        .collect();
    let mut encoded = blank.with(&values).unwrap();
    // Fields wider than 64 bits have no number.
    if let Some(wide) = register.table().iter().find(|field| field.most().is_none()) {
        let count = usize::from(wide.bits_count() / 8);
        let at = register.bytes().len() - count;
        encoded.bytes_mut()[at..].copy_from_slice(&register.bytes()[at..]);
    }
    assert_eq!(encoded.bytes(), register.bytes());
}

proptest! {
    #[test]
    fn fields_of_a_cid_are_apart(kind in kinds(), bytes: [u8; 16], value: u64) {
        let cid = Cid::new(kind, bytes);
        sets_only_itself(cid, value);
        is_all_its_fields(cid, Cid::new(kind, [0; 16]));
    }

    #[test]
    fn fields_of_a_csd_are_apart(kind in kinds(), bytes: [u8; 16], value: u64) {
        let csd = Csd::new(kind, bytes);
        sets_only_itself(csd, value);
        is_all_its_fields(csd, Csd::new(kind, [0; 16]));
    }

    #[test]
    fn fields_of_an_scr_are_apart(bytes: [u8; 8], value: u64) {
        sets_only_itself(Scr::new(bytes), value);
        is_all_its_fields(Scr::new(bytes), Scr::default());
    }

    #[test]
    fn fields_of_an_ssr_are_apart(upper: [u8; 32], lower: [u8; 32], value: u64) {
        let mut bytes = [0; 64];
        bytes[..32].copy_from_slice(&upper);
        bytes[32..].copy_from_slice(&lower);
        sets_only_itself(Ssr::new(bytes), value);
        is_all_its_fields(Ssr::new(bytes), Ssr::default());
    }
}
