//! A card described by its registers, without anything that identifies a single card.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::field::{Register, to_hex};
use crate::words;
use crate::{CardKind, Registers, SdVersion};

/// An SD card or eMMC as its registers describe it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Card {
    /// Family.
    pub kind: CardKind,
    /// The registers in hexadecimal digits, most significant byte first, by name: `cid`, `csd`,
    /// `scr`, `ssr`; of eMMC `rev`, the revision of its EXT_CSD. Serial number and checksums are zero.
    pub registers: BTreeMap<String, String>,
    /// Their decoded meaning.
    pub decoded: CardFacts,
}

words! {
    /// Kind of serial number of a card.
    pub enum SerialKind {
        /// Zero.
        Zero,
        /// Above zero, but below 65,536.
        Low,
        /// Like those of most cards.
        Usual,
    }
}

/// Decoded registers of a card. Values that the registers do not contain are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CardFacts {
    /// Number of the manufacturer: of SD-3C for SD cards, of JEDEC for eMMC, which differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manufacturer_id: Option<u8>,
    /// Two bytes of the brand's owner, 4 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oem: Option<String>,
    /// Name of the product, five or six characters; `?` replaces an unprintable one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// Revision of the product, such as `8.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Month of making, such as `2021-07`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
    /// Kind of serial number; the number itself is not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<SerialKind>,
    /// Size reported by the card, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_bytes: Option<u64>,
    /// Version of the SD specification, such as `6.xx`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd_version: Option<String>,
    /// The classes it claims, such as `C10`, `U3`, `V30`, `A2`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// Allocation unit, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation_unit_bytes: Option<u64>,
    /// Allocation unit at UHS speeds, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uhs_allocation_unit_bytes: Option<u64>,
    /// Allocation unit of the video classes, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub video_allocation_unit_bytes: Option<u64>,
    /// True if the card has a cache that the host can turn on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_cache: Option<bool>,
    /// Number of commands that its queue holds; 0: it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_queue_count: Option<u32>,
    /// True if the card offers discard in addition to erase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_discard: Option<bool>,
    /// True if a checksum shown by the host matches its register; absent if no host shows one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum_fits: Option<bool>,
}

/// The revision of `EXT_CSD` since which every eMMC discards.
const DISCARD_REVISION: u8 = 6;

impl Registers {
    /// Returns the description of the card. It contains no serial number, and no checksum from which the number could
    /// be derived; nor `EXT_CSD`, because much of it belongs to the manufacturer.
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
