//! Revision codes of Raspberry Pi boards of the new style, with the meaning of their bits
//! (<https://github.com/raspberrypi/documentation/blob/0456a78c93ba57be2d9e95733df961069925555b/documentation/asciidoc/computers/raspberry-pi/revision-codes.adoc>).

use crate::boards::BoardFacts;

/// Beginning of the ids of Raspberry Pi boards.
const FAMILY: &str = "raspberry_pi_";
/// Set in codes of the new style.
const NEW_STYLE: u32 = 1 << 23;
/// Set in codes of the old style if the board was overvolted: `1000002` is `0002`.
const OVERVOLTED: u32 = 1 << 24;
/// The smallest memory, bytes; each step of its number doubles it.
const LEAST_MEMORY_BYTES: u64 = 256 << 20;

/// A processor of Raspberry Pi boards, in the order of their numbers in revision codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Processor {
    /// One core of 32 bits (ARM1176).
    Bcm2835,
    /// Four cores of 32 bits (Cortex-A7).
    Bcm2836,
    /// Four cores of 64 bits (Cortex-A53).
    Bcm2837,
    /// Four cores of 64 bits (Cortex-A72).
    Bcm2711,
    /// Four cores of 64 bits (Cortex-A76).
    Bcm2712,
}

/// A revision code of the new style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RevisionCode(u32);

impl RevisionCode {
    /// Parses a code, such as `c03114`; `None` for those of the old style, whose digits have no meaning of their own.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let code = u32::from_str_radix(text.trim(), 16).ok()?;
        (code & NEW_STYLE != 0).then_some(Self(code))
    }

    /// Memory of the board, bytes.
    #[must_use]
    pub fn memory_bytes(self) -> u64 {
        LEAST_MEMORY_BYTES << ((self.0 >> 20) & 0x7)
    }

    /// Processor; `None` for one that is not known here.
    #[must_use]
    pub fn processor(self) -> Option<Processor> {
        Some(match (self.0 >> 12) & 0xf {
            0 => Processor::Bcm2835,
            1 => Processor::Bcm2836,
            2 => Processor::Bcm2837,
            3 => Processor::Bcm2711,
            4 => Processor::Bcm2712,
            _ => return None,
        })
    }

    /// Number of the board's type.
    fn kind(self) -> u32 {
        (self.0 >> 4) & 0xff
    }
}

impl Processor {
    /// Number of cores.
    #[must_use]
    pub fn cores_count(self) -> u64 {
        match self {
            Self::Bcm2835 => 1,
            _ => 4,
        }
    }

    /// True if it runs programs of 64 bits.
    #[must_use]
    pub fn has_64_bits(self) -> bool {
        self >= Self::Bcm2837
    }

    /// True if it has memory pages of 16 KiB: `TGran16` of `ID_AA64MMFR0_EL1` in the Technical Reference Manuals of its cores.
    #[must_use]
    pub fn has_16_kib_pages(self) -> bool {
        self >= Self::Bcm2712
    }
}

impl BoardFacts {
    /// Returns true for boards of Raspberry Pi, whose facts are complete.
    #[must_use]
    pub fn is_raspberry_pi(&self) -> bool {
        self.id.starts_with(FAMILY)
    }

    fn known_codes(&self) -> impl Iterator<Item = RevisionCode> {
        let codes = self.revision_codes.iter();
        codes.filter_map(|code| RevisionCode::parse(code))
    }

    /// Returns true if a board with this revision code may be such a board: the code is known, or of the same type as one that is.
    #[must_use]
    pub fn may_have_code(&self, text: &str) -> bool {
        if let Some(code) = RevisionCode::parse(text) {
            return self.known_codes().any(|known| known.kind() == code.kind());
        }
        let number = |text: &str| u32::from_str_radix(text.trim(), 16).ok();
        let code = number(text).map(|code| code & !OVERVOLTED);
        code.is_some()
            && self
                .revision_codes
                .iter()
                .any(|known| number(known) == code)
    }

    /// Returns the most memory of its known versions, bytes; `None` if none is known.
    #[must_use]
    pub fn most_memory_bytes(&self) -> Option<u64> {
        self.known_codes().map(RevisionCode::memory_bytes).max()
    }

    /// Returns the newest processor of its known versions; `None` if none is known.
    #[must_use]
    pub fn newest_processor(&self) -> Option<Processor> {
        self.known_codes().filter_map(RevisionCode::processor).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boards::{board, boards};

    #[test]
    fn codes_mean_what_the_documentation_says() {
        for (text, gib_quarters, processor) in [
            ("900092", 2, Processor::Bcm2835),
            ("a01041", 4, Processor::Bcm2836),
            ("a02082", 4, Processor::Bcm2837),
            ("d03114", 32, Processor::Bcm2711),
            ("e04170", 64, Processor::Bcm2712),
        ] {
            let code = RevisionCode::parse(text).unwrap();
            assert_eq!(code.memory_bytes(), gib_quarters << 28, "{text}");
            assert_eq!(code.processor(), Some(processor), "{text}");
        }
        for old in ["0010", "000d", "", "no code"] {
            assert_eq!(RevisionCode::parse(old), None, "{old}");
        }
    }

    #[test]
    fn an_overvolted_board_is_the_same_board() {
        let old = board("Raspberry Pi Model B Rev 2").unwrap();
        for code in ["000e", "100000e", "000E"] {
            assert!(old.may_have_code(code), "{code}");
        }
        for code in ["", "0011", "1000011", "no code"] {
            assert!(!old.may_have_code(code), "{code}");
        }
    }

    /// The type in a code is that of one board only.
    #[test]
    fn each_code_belongs_to_its_board_alone() {
        for row in boards().iter().filter(|row| row.is_raspberry_pi()) {
            for code in &row.revision_codes {
                let others = boards().iter().filter(|other| other.may_have_code(code));
                let ids: Vec<&str> = others.map(|other| other.id.as_str()).collect();
                assert_eq!(ids, [row.id.as_str()], "{code}");
            }
        }
    }

    #[test]
    fn a_board_has_the_memory_and_processor_of_its_codes() {
        let pi_5 = board("Raspberry Pi 5 Model B Rev 1.0").unwrap();
        assert_eq!(pi_5.most_memory_bytes(), Some(16 << 30));
        assert_eq!(pi_5.newest_processor(), Some(Processor::Bcm2712));
        let zero = board("Raspberry Pi Zero Rev 1.3").unwrap();
        assert_eq!(zero.newest_processor(), Some(Processor::Bcm2835));
        let other = boards().iter().find(|row| !row.is_raspberry_pi()).unwrap();
        assert_eq!(
            (other.most_memory_bytes(), other.newest_processor()),
            (None, None)
        );
    }
}
