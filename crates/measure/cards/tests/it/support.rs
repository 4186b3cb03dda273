//! Registers for tests.

use std::collections::BTreeMap;

use cardmark_cards::{CardKind, Registers, crc7};
use proptest::prelude::*;

/// Registers from pairs of name and digits.
pub(crate) fn registers(kind: CardKind, texts: &[(&str, &str)]) -> Registers {
    let pairs = texts.iter();
    let texts: BTreeMap<String, String> = pairs
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect();
    Registers::from_hex(kind, &texts)
}

/// Bytes as digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The register with the checksum that fits it.
pub(crate) fn checked(mut register: [u8; 16]) -> [u8; 16] {
    register[15] = crc7(&register[..15]) << 1 | 1;
    register
}

/// Any family of cards.
pub(crate) fn kinds() -> impl Strategy<Value = CardKind> {
    prop_oneof![Just(CardKind::Sd), Just(CardKind::Mmc)]
}

prop_compose! {
    /// Any bits in all registers that a host shows.
    pub(crate) fn any_registers()(
        kind in kinds(),
        cid: [u8; 16],
        csd: [u8; 16],
        scr: [u8; 8],
        ssr: [u8; 32],
        revision: u8,
    ) -> Registers {
        // All that is defined of an SSR is in its upper half; the rest is as often zero as not.
        let lower = if revision % 2 == 0 { [0; 32] } else { ssr };
        registers(kind, &[
            ("cid", &hex(&cid)),
            ("csd", &hex(&csd)),
            ("scr", &hex(&scr)),
            ("ssr", &(hex(&ssr) + &hex(&lower))),
            ("rev", &format!("{revision:#x}")),
        ])
    }
}
