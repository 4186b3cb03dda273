//! SCR: version of the SD specification that a card follows, and optional features.

use std::fmt;

use crate::field::{Field, Register};
use crate::words::{word, yes_or_no};

const TABLE: &[Field] = &[
    Field::raw("SCR_STRUCTURE", 63, 60, "layout of this register"),
    Field::raw("SD_SPEC", 59, 56, "version of the SD specification"),
    Field::new(
        "DATA_STAT_AFTER_ERASE",
        55,
        55,
        "content of erased memory",
        |v| word(&["zeros", "ones"], v),
    ),
    Field::new("SD_SECURITY", 54, 52, "copy protection (CPRM)", |v| {
        word(&["none", "", "of SDSC", "of SDHC", "of SDXC"], v)
    }),
    Field::new("SD_BUS_WIDTHS", 51, 48, "data lines it can use", widths),
    Field::new("SD_SPEC3", 47, 47, "version 3.00 or later", yes_or_no),
    Field::new(
        "EX_SECURITY.RPMB",
        46,
        46,
        "replay protected memory",
        yes_or_no,
    ),
    Field::new("EX_SECURITY.TCG", 45, 45, "security of TCG", yes_or_no),
    Field::raw("EX_SECURITY", 44, 43, "data protection system"),
    Field::new("SD_SPEC4", 42, 42, "functions of version 4.00", yes_or_no),
    Field::raw("SD_SPECX", 41, 38, "version 5.00 or later"),
    Field::reserved("RESERVED_37", 37, 37),
    Field::new("CMD_SUPPORT", 36, 32, "optional commands", commands),
    Field::raw("MANUFACTURER", 31, 0, "the manufacturer's own"),
];

/// Optional commands by the bit of `CMD_SUPPORT` that announces them.
const COMMANDS: [(&[u32], &str); 5] = [
    (&[20], "CMD20"),
    (&[23], "CMD23"),
    (&[48, 49], "CMD48/49"),
    (&[58, 59], "CMD58/59"),
    (&[53, 54], "ACMD53/54"),
];

/// The SD configuration register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scr([u8; 8]);

impl Scr {
    /// From its bytes, the most significant first.
    pub fn new(bytes: [u8; 8]) -> Self {
        Self(bytes)
    }

    /// Returns the version of the SD specification; `None` if the combination is not defined.
    pub fn sd_version(&self) -> Option<SdVersion> {
        let names = [
            "SCR_STRUCTURE",
            "SD_SPEC",
            "SD_SPEC3",
            "SD_SPEC4",
            "SD_SPECX",
        ];
        match names.map(|name| self.get(name).unwrap_or_default()) {
            [0, 0, 0, 0, 0] => Some(SdVersion::V1_01),
            [0, 1, 0, 0, 0] => Some(SdVersion::V1_10),
            [0, 2, 0, 0, 0] => Some(SdVersion::V2),
            [0, 2, 1, 0, 0] => Some(SdVersion::V3),
            [0, 2, 1, 1, 0] => Some(SdVersion::V4),
            [0, 2, 1, _, 1] => Some(SdVersion::V5),
            [0, 2, 1, _, 2] => Some(SdVersion::V6),
            [0, 2, 1, _, 3] => Some(SdVersion::V7),
            [0, 2, 1, _, 4] => Some(SdVersion::V8),
            [0, 2, 1, _, 5] => Some(SdVersion::V9),
            _ => None,
        }
    }

    /// `SD_SECURITY` as it is: 0 none, 2 SDSC, 3 SDHC, 4 SDXC; others are not defined.
    pub fn security(&self) -> u8 {
        self.0[1] >> 4 & 0b111
    }

    /// `SD_BUS_WIDTHS` as it is: bit 0 for one data line, bit 2 for four.
    pub fn bus_widths(&self) -> u8 {
        self.0[1] & 0xf
    }

    /// Returns whether the card announces one of the optional commands: 20, 23, 48, 49, 58, 59, and 53 and 54
    /// after CMD55.
    pub fn supports_command(&self, number: u32) -> bool {
        let bits = self.get("CMD_SUPPORT").unwrap_or_default();
        let known = COMMANDS.iter().enumerate();
        known
            .filter(|(bit, _)| bits >> bit & 1 == 1)
            .any(|(_, (numbers, _))| numbers.contains(&number))
    }
}

impl Register for Scr {
    fn table(&self) -> &'static [Field] {
        TABLE
    }

    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

/// Version of the SD specification that a card follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SdVersion {
    /// 1.0 and 1.01.
    V1_01,
    /// 1.10.
    V1_10,
    /// 2.00: SDHC, speed classes.
    V2,
    /// 3.0x: SDXC, UHS-I.
    V3,
    /// 4.xx: UHS-II, extension registers.
    V4,
    /// 5.xx: video classes, A1, discard.
    V5,
    /// 6.xx: A2, command queue, cache.
    V6,
    /// 7.xx: SD Express, SDUC.
    V7,
    /// 8.xx: faster SD Express.
    V8,
    /// 9.xx: boot partitions, classes of SD Express.
    V9,
}

impl fmt::Display for SdVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1_01 => "1.01",
            Self::V1_10 => "1.10",
            Self::V2 => "2.00",
            Self::V3 => "3.0x",
            Self::V4 => "4.xx",
            Self::V5 => "5.xx",
            Self::V6 => "6.xx",
            Self::V7 => "7.xx",
            Self::V8 => "8.xx",
            Self::V9 => "9.xx",
        })
    }
}

fn widths(bits: u64) -> Option<String> {
    word(&["", "1 bit", "", "", "4 bit", "1 bit and 4 bit"], bits)
}

fn commands(bits: u64) -> Option<String> {
    if bits == 0 {
        return Some("none".to_owned());
    }
    let known = COMMANDS.iter().enumerate();
    let names = known.filter(|(bit, _)| bits >> bit & 1 == 1);
    let names: Vec<&str> = names.map(|(_, (_, name))| *name).collect();
    Some(names.join(", "))
}
