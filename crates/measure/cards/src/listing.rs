//! Listing of every field of a card's registers.

use serde::Serialize;

use crate::field::{Field, Register, hex_value};
use crate::words::capacity;
use crate::{CardKind, Cid, Csd, Registers, Scr, Ssr};

/// Fields that identify a single card, or are not part of the content.
const HIDDEN: [&str; 3] = ["PSN", "CRC", "ALWAYS_1"];

/// A field of a card's registers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RegisterField {
    /// The register: `cid`, `csd`, `scr` or `ssr`.
    pub register: &'static str,
    /// Name of the field in the standard, such as `C_SIZE`.
    pub field: &'static str,
    /// Description of the field.
    pub about: &'static str,
    /// Its value, hexadecimal with `0x`.
    pub value: String,
    /// Meaning of the value, if the standard defines it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaning: Option<String>,
}

impl Registers {
    /// Returns all fields of the registers, without serial number and checksums. Reserved bits are listed only
    /// if they are not zero, as they should be.
    pub fn fields(&self) -> Vec<RegisterField> {
        let mut fields = Vec::new();
        if let Some(cid) = &self.cid {
            self.list("cid", cid, &mut fields);
        }
        if let Some(csd) = &self.csd {
            self.list("csd", csd, &mut fields);
        }
        if let Some(scr) = &self.scr {
            self.list("scr", scr, &mut fields);
        }
        if let Some(ssr) = &self.ssr {
            self.list("ssr", ssr, &mut fields);
        }
        fields
    }

    fn list(&self, name: &'static str, register: &impl Register, fields: &mut Vec<RegisterField>) {
        let shown = register.table().iter().filter(|field| {
            let is_unused = field.name.starts_with("RESERVED_");
            let is_idle = is_unused && register.value(field) == Some(0);
            !is_idle && !HIDDEN.contains(&field.name)
        });
        fields.extend(shown.map(|field| {
            RegisterField {
                register: name,
                field: field.name,
                about: field.about,
                value: format!("0x{}", hex_value(register.bytes(), field)),
                meaning: self
                    .joint_meaning(name, field)
                    .or_else(|| field.meaning(register.value(field)?)),
            }
        }));
    }

    /// Returns the meaning of a field in combination with others.
    fn joint_meaning(&self, register: &str, field: &Field) -> Option<String> {
        match (register, field.name) {
            ("csd", "C_SIZE") => self.csd?.capacity_bytes().map(capacity),
            ("scr", "SD_SPEC") => Some(format!("SD {}", self.scr?.sd_version()?)),
            ("cid", "MDT") if self.kind == CardKind::Mmc => Some(self.made()?.to_string()),
            _ => None,
        }
    }
}

/// Returns the tables of all layouts of all registers, for documentation.
pub fn register_tables() -> Vec<(&'static str, &'static [Field])> {
    let csd = |kind, first| Csd::new(kind, [first, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    vec![
        ("CID of SD", Cid::new(CardKind::Sd, [0; 16]).table()),
        ("CID of eMMC", Cid::new(CardKind::Mmc, [0; 16]).table()),
        ("CSD of SDSC", csd(CardKind::Sd, 0).table()),
        ("CSD of SDHC and SDXC", csd(CardKind::Sd, 0x40).table()),
        ("CSD of SDUC", csd(CardKind::Sd, 0x80).table()),
        ("CSD of eMMC", csd(CardKind::Mmc, 0).table()),
        ("SCR", Scr::default().table()),
        ("SSR", Ssr::default().table()),
    ]
}
