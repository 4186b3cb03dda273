//! The texts of a card's registers, as sysfs gives them.

use std::collections::BTreeMap;
use std::fmt;

use cardmark_core::CardKind;

use crate::Root;
use crate::block::BlockDevice;
use crate::slot::slot_of;

/// Files in sysfs of SD cards, of eMMC, or of both.
const NAMES: &[&str] = &[
    "type",
    "cid",
    "csd",
    "scr",
    "ssr",
    "ocr",
    "date",
    "name",
    "manfid",
    "oemid",
    "hwrev",
    "fwrev",
    "prv",
    "rev",
    "erase_size",
    "preferred_erase_size",
    "life_time",
    "pre_eol_info",
    "cmdq_en",
];

/// Characters of the longest text: 64 bytes of status in hexadecimal digits.
const MOST_CHARS: usize = 128;

/// The registers of an SD card or eMMC, as the kernel writes them. Holds the serial number: never
/// to be kept as it is.
#[derive(Clone, PartialEq, Eq)]
pub struct RegisterTexts {
    /// The card's family.
    pub kind: CardKind,
    /// Texts by the kernel's name, such as `cid` or `life_time`; only those that are there.
    pub texts: BTreeMap<String, String>,
}

/// Lists the names of the registers, without their content.
impl fmt::Debug for RegisterTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegisterTexts")
            .field("kind", &self.kind)
            .field("names", &self.texts.keys())
            .finish()
    }
}

/// Returns the registers of the card below the block device of that name; `None` if it is no card, or its
/// reader does not show them.
#[must_use]
pub fn register_texts(root: &Root, name: &str) -> Option<RegisterTexts> {
    let disk = BlockDevice::by_name(root, name)?.disk()?;
    slot_of(&disk)?;
    let kind = match disk.text("device/type")?.as_str() {
        "SD" | "SDcombo" => CardKind::Sd,
        "MMC" => CardKind::Mmc,
        _ => return None,
    };
    let is_plain = |text: &String| {
        let is_printable = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
        text.len() <= MOST_CHARS && text.bytes().all(is_printable)
    };
    let text = |name: &&str| {
        let text = disk.text(&format!("device/{name}")).filter(is_plain)?;
        Some(((*name).to_owned(), text))
    };
    let texts = NAMES.iter().filter_map(text).collect();
    Some(RegisterTexts { kind, texts })
}
