//! CSD: size of a card, and parameters of its operation.

use crate::CardKind;
use crate::csd_fields::{MMC, SD_UNDEFINED, SD_V1, SD_V2, SD_V3, line_bits_per_s};
use crate::field::{Field, Register};
use crate::words::KIB;

/// The least `C_SIZE` of SDXC; lower values are SDHC.
const SDXC_LEAST_C_SIZE: u64 = 0xffff;
/// `C_SIZE` of an eMMC with its size in `EXT_CSD` instead.
const MMC_C_SIZE_ELSEWHERE: u64 = 0xfff;
/// Size of one step of `C_SIZE` since structure 1 of SD.
const C_SIZE_BYTES: u64 = 512 * KIB;

/// Fields that structures 1 and 2 of SD fix, and their values.
const FIXED: [(&str, u64); 13] = [
    ("TAAC", 0x0e),
    ("NSAC", 0),
    ("READ_BL_LEN", 9),
    ("READ_BL_PARTIAL", 0),
    ("WRITE_BLK_MISALIGN", 0),
    ("READ_BLK_MISALIGN", 0),
    ("ERASE_BLK_EN", 1),
    ("SECTOR_SIZE", 0x7f),
    ("WP_GRP_SIZE", 0),
    ("WP_GRP_ENABLE", 0),
    ("R2W_FACTOR", 2),
    ("WRITE_BL_LEN", 9),
    ("WRITE_BL_PARTIAL", 0),
];

/// The card-specific data register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Csd {
    kind: CardKind,
    pub(crate) bytes: [u8; 16],
}

/// The families of SD cards by capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CapacityClass {
    /// Up to 2 GiB.
    Sdsc,
    /// Up to 32 GiB.
    Sdhc,
    /// Up to 2 TiB.
    Sdxc,
    /// Up to 128 TiB.
    Sduc,
}

impl Csd {
    /// From its bytes, the most significant first.
    pub fn new(kind: CardKind, bytes: [u8; 16]) -> Self {
        Self { kind, bytes }
    }

    /// `CSD_STRUCTURE`: of SD cards 0, 1 and 2 are defined.
    pub fn structure(&self) -> u8 {
        self.bytes[0] >> 6
    }

    /// The register without its checksum, which not every host shows.
    #[must_use]
    pub fn without_checksum(mut self) -> Self {
        self.bytes[15] = 0;
        self
    }

    /// Returns the size of the user area in bytes. `None` if the register does not contain it, as for eMMC
    /// above 2 GiB.
    pub fn capacity_bytes(&self) -> Option<u64> {
        let c_size = self.get("C_SIZE")?;
        match (self.kind, self.structure()) {
            (CardKind::Sd, 0) => self.small_capacity_bytes(c_size, 9),
            (CardKind::Sd, _) => Some((c_size + 1) * C_SIZE_BYTES),
            (CardKind::Mmc, _) if c_size == MMC_C_SIZE_ELSEWHERE => None,
            (CardKind::Mmc, _) => self.small_capacity_bytes(c_size, 0),
            (CardKind::Other(_), _) => None,
        }
    }

    /// The capacity from size, multiplier and block length, whose power of two must be defined.
    fn small_capacity_bytes(&self, c_size: u64, least_power: u64) -> Option<u64> {
        let power = self.get("READ_BL_LEN")?;
        let is_defined = (least_power..=11).contains(&power);
        is_defined.then_some((c_size + 1) << (self.get("C_SIZE_MULT")? + 2) << power)
    }

    /// The family of an SD card.
    pub fn capacity_class(&self) -> Option<CapacityClass> {
        match (self.kind, self.structure()) {
            (CardKind::Sd, 0) => Some(CapacityClass::Sdsc),
            (CardKind::Sd, 1) if self.get("C_SIZE")? < SDXC_LEAST_C_SIZE => {
                Some(CapacityClass::Sdhc)
            }
            (CardKind::Sd, 1) => Some(CapacityClass::Sdxc),
            (CardKind::Sd, 2) => Some(CapacityClass::Sduc),
            _ => None,
        }
    }

    /// `CCC`: bit by bit the classes of commands that it knows.
    pub fn command_classes(&self) -> Option<u16> {
        self.get("CCC").and_then(|bits| u16::try_from(bits).ok())
    }

    /// Returns whether the card supports a class of commands; there are twelve classes.
    pub fn has_command_class(&self, class: u32) -> Option<bool> {
        let bits = self.command_classes()?;
        (class < 12).then_some(bits >> class & 1 == 1)
    }

    /// Returns `TRAN_SPEED`: maximum bits a second on each data line; `None` for undefined codes. The kernel
    /// shows the value from before it chose a faster mode.
    pub fn line_bits_per_s(&self) -> Option<u64> {
        line_bits_per_s(self.kind, self.get("TRAN_SPEED")?)
    }

    /// `SPEC_VERS` of MMC: 4 for 4.x and later. `None`: an SD card.
    pub fn mmc_version(&self) -> Option<u8> {
        self.get("SPEC_VERS").and_then(|v| u8::try_from(v).ok())
    }

    /// Names of the fields that SDHC, SDXC and SDUC fix and that have another value here. `None`:
    /// nothing is fixed for this card.
    pub fn unfixed_fields(&self) -> Option<Vec<&'static str>> {
        if self.capacity_class()? == CapacityClass::Sdsc {
            return None;
        }
        let others = FIXED
            .iter()
            .filter(|(name, value)| self.get(name) != Some(*value));
        Some(others.map(|(name, _)| *name).collect())
    }
}

impl Register for Csd {
    fn table(&self) -> &'static [Field] {
        match (self.kind, self.structure()) {
            (CardKind::Sd, 0) => SD_V1,
            (CardKind::Sd, 1) => SD_V2,
            (CardKind::Sd, 2) => SD_V3,
            (CardKind::Sd, _) => SD_UNDEFINED,
            (CardKind::Mmc, _) => MMC,
            (CardKind::Other(_), _) => &[],
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}
