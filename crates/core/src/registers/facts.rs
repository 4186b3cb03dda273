//! Registers of a card as a record keeps them: without anything that identifies a single card.

use std::collections::BTreeMap;

use super::field::{Register, to_hex};
use super::{Registers, SdVersion};
use crate::{Card, CardFacts, CardKind, SerialKind};

/// The revision of `EXT_CSD` since which every eMMC discards.
const DISCARD_REVISION: u8 = 6;

impl Registers {
    /// Returns the card for a record. It contains no serial number, and no checksum from which the number could
    /// be derived; nor `EXT_CSD`, because much of it belongs to the manufacturer.
    #[must_use]
    pub fn card(&self) -> Card {
        Card {
            kind: self.kind,
            registers: self.texts(),
            decoded: self.facts(),
        }
    }

    /// The registers in hexadecimal digits, from which they can be read again.
    fn texts(&self) -> BTreeMap<String, String> {
        let cid = self.cid.map(|cid| to_hex(cid.without_serial().bytes()));
        let csd = self.csd.map(|csd| to_hex(csd.without_checksum().bytes()));
        let texts = [
            ("cid", cid),
            ("csd", csd),
            ("scr", self.scr.map(|scr| to_hex(scr.bytes()))),
            ("ssr", self.ssr.map(|ssr| to_hex(ssr.bytes()))),
            (
                "rev",
                self.ext_csd_revision.map(|revision| to_hex(&[revision])),
            ),
        ];
        let present = texts.into_iter();
        let present = present.filter_map(|(name, text)| Some((name.to_owned(), text?)));
        present.collect()
    }

    fn facts(&self) -> CardFacts {
        let Self {
            cid,
            csd: _,
            scr,
            ssr,
            ..
        } = self;
        let mut facts = CardFacts {
            manufacturer_id: cid.map(|cid| cid.manufacturer_id()),
            oem: cid.map(|cid| format!("{:04x}", cid.oem())),
            product: cid.and_then(|cid| cid.product()),
            revision: cid.and_then(|cid| cid.revision()),
            made: self.made().map(|month| month.to_string()),
            serial: cid.map(|cid| serial_kind(cid.serial().number())),
            capacity_bytes: self.capacity_bytes(),
            sd_version: scr
                .and_then(|scr| scr.sd_version())
                .as_ref()
                .map(SdVersion::to_string),
            checksum_fits: self.checksum_fits(),
            ..CardFacts::default()
        };
        if let Some(ssr) = ssr {
            facts.classes = ssr.classes();
            facts.allocation_unit_bytes = ssr.allocation_unit_bytes();
            facts.uhs_allocation_unit_bytes = ssr.uhs_allocation_unit_bytes();
            facts.video_allocation_unit_bytes = ssr.video_allocation_unit_bytes();
            facts.has_cache = Some(ssr.has_cache());
            facts.command_queue_count = Some(ssr.command_queue_count());
            facts.has_discard = Some(ssr.has_discard());
        }
        if self.kind == CardKind::Mmc {
            facts.has_cache = self.ext_csd.and_then(|ext_csd| ext_csd.has_cache);
            facts.command_queue_count = self.ext_csd.and_then(|e| e.command_queue_count);
            facts.has_discard = self.ext_csd_revision.map(|rev| rev >= DISCARD_REVISION);
        }
        facts
    }
}

/// Serial numbers below this are rare.
const LOW_SERIAL: u32 = 1 << 16;

fn serial_kind(serial: u32) -> SerialKind {
    match serial {
        0 => SerialKind::Zero,
        1..LOW_SERIAL => SerialKind::Low,
        LOW_SERIAL.. => SerialKind::Usual,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serial_numbers_are_zero_low_or_usual() {
        let kinds = [0, 1, 65_535, 65_536, u32::MAX].map(serial_kind);
        use SerialKind::{Low, Usual, Zero};
        assert_eq!(kinds, [Zero, Low, Low, Usual, Usual]);
    }
}
