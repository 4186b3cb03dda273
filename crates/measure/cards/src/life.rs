//! Life time data of an eMMC.

use crate::Health;
use crate::field::byte_from_hex;
use crate::words::entry;

/// The code of a life time that is over.
const EXCEEDED: u8 = 0x0b;
/// The width of a step of life time, percent.
const STEP_PERCENT: u32 = 10;

/// Life time of an eMMC, for its two types of memory cells. The manufacturer assigns the types to parts of the
/// device; a device with one type leaves the other undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmmcLife {
    /// Life time of type A used, percent: the upper end of a step of ten. 110: more than all.
    pub a_used_percent: Option<u32>,
    /// Life time of type B used, percent, in the same way.
    pub b_used_percent: Option<u32>,
    /// Use of spare blocks.
    pub pre_eol: Option<PreEol>,
}

/// Use of the spare blocks of an eMMC ("pre-EOL", before the end of life).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PreEol {
    /// Normal.
    Normal,
    /// Four of five are used.
    Warning,
    /// Nine of ten are used.
    Urgent,
}

impl EmmcLife {
    /// From the codes in `EXT_CSD`: bytes 268, 269 and 267. Codes not defined are left aside.
    pub fn from_codes(a: u8, b: u8, pre_eol: u8) -> Self {
        let stages = [
            None,
            Some(PreEol::Normal),
            Some(PreEol::Warning),
            Some(PreEol::Urgent),
        ];
        Self {
            a_used_percent: used_percent(a),
            b_used_percent: used_percent(b),
            pre_eol: entry(&stages, pre_eol.into()).flatten(),
        }
    }

    /// Parses the kernel's texts `life_time`, such as `0x01 0x02`, and `pre_eol_info`, such as `0x01`.
    /// Unreadable texts are skipped.
    pub fn from_texts(life_time: &str, pre_eol_info: &str) -> Self {
        let mut codes = life_time.split_ascii_whitespace().map(byte_from_hex);
        let (a, b, more) = (codes.next(), codes.next(), codes.next());
        let (a, b) = match more {
            None => (a.flatten(), b.flatten()),
            Some(_) => (None, None),
        };
        let pre_eol = byte_from_hex(pre_eol_info);
        Self::from_codes(
            a.unwrap_or_default(),
            b.unwrap_or_default(),
            pre_eol.unwrap_or_default(),
        )
    }

    /// Life time used of the type of cells that is worse off, percent.
    pub fn used_percent(&self) -> Option<u32> {
        self.a_used_percent.max(self.b_used_percent)
    }

    /// Returns the life time data for a record; `None` if the device reports none.
    pub fn health(&self) -> Option<Health> {
        let warning = match self.pre_eol {
            Some(PreEol::Warning) => Some("pre-EOL warning: 80 % of the spare blocks are used"),
            Some(PreEol::Urgent) => Some("pre-EOL urgent: 90 % of the spare blocks are used"),
            Some(PreEol::Normal) | None => None,
        };
        (*self != Self::default()).then(|| Health {
            used_percent: self.used_percent(),
            warnings: warning.map(str::to_owned).into_iter().collect(),
            ..Health::default()
        })
    }
}

/// Returns the upper end of the step for a code.
fn used_percent(code: u8) -> Option<u32> {
    (1..=EXCEEDED)
        .contains(&code)
        .then(|| u32::from(code) * STEP_PERCENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_s_texts_are_understood() {
        let life = EmmcLife::from_texts("0x01 0x0b\n", "0x02\n");
        let expected = EmmcLife {
            a_used_percent: Some(10),
            b_used_percent: Some(110),
            pre_eol: Some(PreEol::Warning),
        };
        assert_eq!(life, expected);
        assert_eq!(life.used_percent(), Some(110));
        let health = life.health().unwrap();
        assert_eq!(health.used_percent, Some(110));
        assert_eq!(health.warnings.len(), 1);
        // Linux up to 4.13 wrote `pre_eol_info` without `0x`.
        assert_eq!(
            EmmcLife::from_texts("0x00 0x0A", "03"),
            EmmcLife::from_codes(0, 10, 3)
        );
    }

    #[test]
    fn what_is_not_defined_says_nothing() {
        for (life_time, pre_eol) in [
            ("", ""),
            ("0x00 0x00", "0x00"),
            ("0x0c 0xff", "0x04"),
            ("0x01 0x02 0x03", "1 2"),
            ("+1 -2", "0x"),
            ("0x101 ten", "0x0x1"),
        ] {
            let life = EmmcLife::from_texts(life_time, pre_eol);
            assert_eq!(life, EmmcLife::default(), "{life_time:?} {pre_eol:?}");
            assert_eq!(life.health(), None);
        }
        let half = EmmcLife::from_texts("0x0c 0x05", "0x01");
        assert_eq!(half.used_percent(), Some(50));
        assert_eq!(half.health().unwrap().warnings, Vec::<String>::new());
    }
}
