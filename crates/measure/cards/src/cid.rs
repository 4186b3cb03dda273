//! CID: manufacturer, product and date of a card.

use std::fmt;

use crate::CardKind;
use crate::field::{Field, Register, to_hex};
use crate::words::{characters, revision, text, word};

/// Fields of an SD card's CID.
const SD: &[Field] = &[
    Field::raw("MID", 127, 120, "manufacturer, a number that SD-3C gives"),
    Field::new("OID", 119, 104, "owner of the brand", |v| text(v, 2)),
    Field::new("PNM", 103, 64, "name of the product", |v| text(v, 5)),
    Field::new("PRV", 63, 56, "revision of the product", revision),
    Field::raw("PSN", 55, 24, "serial number"),
    Field::reserved("RESERVED_20", 23, 20),
    Field::new("MDT", 19, 8, "month of making", |v| {
        sd_month(v).map(|month| month.to_string())
    }),
    Field::raw("CRC", 7, 1, "checksum"),
    Field::raw("ALWAYS_1", 0, 0, "end of the register"),
];

/// Fields of the CID of an eMMC, and of MMC cards since version 2.0.
const MMC: &[Field] = &[
    Field::raw("MID", 127, 120, "manufacturer, a number that JEDEC gives"),
    Field::reserved("RESERVED_114", 119, 114),
    Field::new("CBX", 113, 112, "type of package", |v| {
        word(
            &["removable card", "chip on a board", "chip upon another", ""],
            v,
        )
    }),
    Field::raw("OID", 111, 104, "owner of the brand"),
    Field::new("PNM", 103, 56, "name of the product", |v| text(v, 6)),
    Field::new("PRV", 55, 48, "revision of the product", revision),
    Field::raw("PSN", 47, 16, "serial number"),
    // The revision of EXT_CSD determines the year.
    Field::raw("MDT", 15, 8, "month of making"),
    Field::raw("CRC", 7, 1, "checksum"),
    Field::raw("ALWAYS_1", 0, 0, "end of the register"),
];

/// The card identification register. It holds a serial number: it cannot be serialised, and its debug output
/// omits that number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cid {
    kind: CardKind,
    pub(crate) bytes: [u8; 16],
}

impl Cid {
    /// From its bytes, the most significant first.
    pub fn new(kind: CardKind, bytes: [u8; 16]) -> Self {
        Self { kind, bytes }
    }

    /// The register without serial number and checksum.
    #[must_use]
    pub fn without_serial(self) -> Self {
        let zeros = [("PSN", 0), ("CRC", 0), ("ALWAYS_1", 0)];
        // Both layouts have these fields; a register of zeros cannot be misread.
        self.with(&zeros).unwrap_or(Self {
            bytes: [0; 16],
            ..self
        })
    }

    /// Number of the manufacturer: of SD-3C for SD cards, of JEDEC for eMMC.
    pub fn manufacturer_id(&self) -> u8 {
        self.bytes[0]
    }

    /// Returns the two bytes of the brand's owner. For eMMC the upper byte also contains the package type and
    /// is kept, as the kernel does.
    pub fn oem(&self) -> u16 {
        u16::from_be_bytes([self.bytes[1], self.bytes[2]])
    }

    /// Returns the name of the product; `?` replaces an unprintable character. `None`: it is empty.
    pub fn product(&self) -> Option<String> {
        match self.kind {
            CardKind::Sd => characters(&self.bytes[3..8]),
            CardKind::Mmc => characters(&self.bytes[3..9]),
            CardKind::Other(_) => None,
        }
    }

    /// Returns the revision of the product, such as `8.0`; `None` if it is not two decimal digits.
    pub fn revision(&self) -> Option<String> {
        self.get("PRV").and_then(revision)
    }

    /// Serial number.
    pub fn serial(&self) -> SerialNumber {
        let number = self.get("PSN").and_then(|value| u32::try_from(value).ok());
        SerialNumber(number.unwrap_or_default())
    }

    /// Returns the month of making. That of an eMMC needs the revision of its EXT_CSD, 0 if it has none.
    pub fn made(&self, ext_csd_revision: Option<u8>) -> Option<Month> {
        let code = self.get("MDT")?;
        match self.kind {
            CardKind::Sd => sd_month(code),
            CardKind::Mmc => Month::new(mmc_year(code & 0xf, ext_csd_revision?), code >> 4),
            CardKind::Other(_) => None,
        }
    }
}

impl Register for Cid {
    fn table(&self) -> &'static [Field] {
        match self.kind {
            CardKind::Sd => SD,
            CardKind::Mmc => MMC,
            CardKind::Other(_) => &[],
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl fmt::Debug for Cid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cid({})", to_hex(&self.without_serial().bytes))
    }
}

/// The serial number of a card. It cannot be serialised, and debugging does not print it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SerialNumber(u32);

impl SerialNumber {
    /// The number itself. It must not reach a record.
    pub fn number(self) -> u32 {
        self.0
    }
}

impl fmt::Debug for SerialNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SerialNumber(hidden)")
    }
}

/// A month of a year, shown as `2021-07`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month {
    /// Year.
    pub year: u16,
    /// Month, from 1 for January.
    pub month: u8,
}

impl Month {
    /// `None` if there is no such month.
    fn new(year: u64, month: u64) -> Option<Self> {
        let year = u16::try_from(year).ok()?;
        let month = u8::try_from(month).ok()?;
        (1..=12).contains(&month).then_some(Self { year, month })
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

/// The month of an SD card: eight bits of year after 2000, four of month.
fn sd_month(code: u64) -> Option<Month> {
    Month::new(2000 + (code >> 4), code & 0xf)
}

/// The year of an eMMC, which has four bits for it: 16 years from 1997; since version 4.41
/// (revision 5 of EXT_CSD) from 2010; since revision 9 from 2023.
fn mmc_year(code: u64, ext_csd_revision: u8) -> u64 {
    let first = match ext_csd_revision {
        0..=4 => 1997,
        5..=8 => 2010,
        9.. => 2023,
    };
    let year = 1997 + code;
    year + (first - year.min(first)).div_ceil(16) * 16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables in which Linux turns the code into years (`drivers/mmc/core/mmc.c`).
    #[test]
    fn years_of_emmc_roll_over_with_the_revision() {
        let old = [1997, 2009, 2010, 2012];
        for (revision, years) in [
            (0, old),
            (4, old),
            (5, [2013, 2025, 2010, 2012]),
            (8, [2013, 2025, 2010, 2012]),
            (9, [2029, 2025, 2026, 2028]),
            (255, [2029, 2025, 2026, 2028]),
        ] {
            let codes = [0, 12, 13, 15];
            assert_eq!(codes.map(|code| mmc_year(code, revision)), years);
        }
        assert_eq!([9, 10].map(|code| mmc_year(code, 9)), [2038, 2023]);
    }

    #[test]
    fn there_are_twelve_months() {
        assert_eq!(sd_month(0x157).unwrap().to_string(), "2021-07");
        assert_eq!(sd_month(0x150), None);
        assert_eq!(sd_month(0x15d), None);
    }

    #[test]
    fn debugging_does_not_print_the_serial_number() {
        for kind in [CardKind::Sd, CardKind::Mmc] {
            let cid = Cid::new(kind, [0xab; 16]).with(&[("PSN", 0xdead_beef)]);
            let cid = cid.unwrap();
            assert_eq!(cid.serial().number(), 0xdead_beef);
            let printed = format!("{cid:?} {:?}", cid.serial());
            assert!(!printed.contains("ea"), "{printed}");
        }
    }
}
