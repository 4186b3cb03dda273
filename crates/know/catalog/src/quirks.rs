//! Cards that kernels treat specially.

use std::sync::LazyLock;

use cardmark_core::{CardFacts, CardKind};
use serde::Deserialize;

use crate::facts::{Packed, embedded, lies_within, plain_name, unpacked};

static TEXT: LazyLock<&str> = LazyLock::new(|| unpacked(Packed::Quirks));

static ROWS: LazyLock<Vec<Quirk>> = LazyLock::new(|| embedded(&TEXT, "quirks"));

/// Origin of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kernel {
    /// Linux as its makers publish it; Raspberry Pi's has it too.
    Mainline,
    /// Only the kernel of Raspberry Pi.
    RaspberryPi,
}

/// Special treatment of a card by a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuirkEffect {
    /// The card's cache stays off.
    NoCache,
    /// The cache is flushed only after writes.
    RareFlush,
    /// The card is not warned before a power-off.
    NoPowerOffNotice,
    /// The command queue may be used by default.
    TrustedQueue,
    /// Blocks are released by erase, not by discard.
    NoDiscard,
    /// Blocks are not erased.
    NoErase,
    /// Blocks are not trimmed.
    NoTrim,
    /// Blocks are not erased or trimmed securely.
    NoSecureErase,
    /// Several blocks are written without announcing their number.
    NoBlockCount,
    /// The bus is not tuned in DDR50.
    NoDdr50Tuning,
    /// The card gets more time to answer reads.
    LongReads,
    /// Long operations are not interrupted for urgent ones.
    NoInterrupt,
    /// The date of manufacture is corrected.
    CorrectedDate,
    /// Secure erase gets a fixed time.
    FixedEraseTime,
    /// Erase uses the card's own command.
    OwnErase,
}

/// The earliest state of a card for a quirk: revision first, then month of manufacture.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardState {
    /// Revision of the product, such as `2.0`: two hexadecimal digits.
    pub revision: String,
    /// Month of manufacture, such as `2026-04`.
    #[serde(default)]
    pub made: String,
}

/// Special treatment of some cards by a kernel. All given properties must match.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quirk {
    /// Id of the row.
    pub id: String,
    /// Family of the card.
    pub kind: CardKind,
    /// Manufacturer's number.
    pub manufacturer_id: u8,
    /// OEM id, 4 hexadecimal digits.
    pub oem: Option<String>,
    /// Name of the product.
    pub name: Option<String>,
    /// First month of manufacture, such as `2019-01`.
    pub made_from: Option<String>,
    /// Last month of manufacture.
    pub made_until: Option<String>,
    /// The earliest state.
    pub at_least: Option<CardState>,
    /// Effects of the treatment.
    pub effects: Vec<QuirkEffect>,
    /// Origin of the kernel.
    pub kernel: Kernel,
    /// Version of the kernel whose sources contain it; it may be older.
    pub read_in: String,
    /// Reason, in words.
    pub detail: String,
    /// Advice.
    pub advice: Option<String>,
    /// Source of the row.
    pub source: String,
    /// Day on which the source was read.
    pub checked_on: String,
    /// Cards as displayed by the kernel, used by a test.
    pub vectors: Vec<String>,
}

/// Returns the quirks of a card, in the order of the file.
pub fn quirks(kind: CardKind, facts: &CardFacts) -> Vec<&'static Quirk> {
    ROWS.iter().filter(|row| row.fits(kind, facts)).collect()
}

impl Quirk {
    fn fits(&self, kind: CardKind, facts: &CardFacts) -> bool {
        let same = |wanted: &Option<String>, is: Option<&str>| {
            wanted
                .as_deref()
                .is_none_or(|wanted| is.is_some_and(|is| is.eq_ignore_ascii_case(wanted)))
        };
        self.kind == kind
            && facts.manufacturer_id == Some(self.manufacturer_id)
            && same(&self.oem, facts.oem.as_deref())
            && same(&self.name, facts.product.as_deref().map(plain_name))
            && lies_within(
                facts.made.as_deref(),
                self.made_from.as_deref(),
                self.made_until.as_deref(),
            )
            && self.is_reached_by(facts)
    }

    /// A card with unknown month counts as the oldest of its revision.
    fn is_reached_by(&self, facts: &CardFacts) -> bool {
        self.at_least.as_ref().is_none_or(|least| {
            facts.revision.as_ref().is_some_and(|revision| {
                let state = CardState {
                    revision: revision.to_ascii_lowercase(),
                    made: facts.made.clone().unwrap_or_default(),
                };
                state >= *least
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::checking::{Example, check_file};

    fn ids(text: &str) -> Vec<&'static str> {
        let example = Example::parse(text);
        quirks(example.kind, &example.facts)
            .into_iter()
            .map(|quirk| quirk.id.as_str())
            .collect()
    }

    /// Several quirks may match one card; each example leads to its row, and no two rows are equal.
    #[test]
    fn every_quirk_is_cited_and_found() {
        check_file::<Quirk>(&TEXT, "quirks");
        for row in ROWS.iter() {
            assert!(!row.effects.is_empty(), "{}", row.id);
            for vector in &row.vectors {
                let found = ids(vector);
                assert!(found.contains(&row.id.as_str()), "{vector}: {found:?}");
                let alike = ROWS.iter().filter(|other| {
                    found.contains(&other.id.as_str())
                        && (other.kernel, &other.effects) == (row.kernel, &row.effects)
                });
                assert_eq!(alike.count(), 1, "{vector}: two rows are equal");
            }
        }
    }

    #[test]
    fn dates_and_revisions_have_edges() {
        let canvas = "sd manfid=0x9f oemid=0x5449 name=SD64G rev=6.1 date=";
        assert!(ids(&format!("{canvas}12/2022")).contains(&"kingston-canvas-cache-pi"));
        assert!(!ids(&format!("{canvas}01/2023")).contains(&"kingston-canvas-cache-pi"));
        let transcend = "sd manfid=0x74 oemid=0x4a60 name=USD00 ";
        let trusted = ["transcend-queue"];
        assert_eq!(ids(&format!("{transcend}rev=2.0 date=04/2026")), trusted);
        assert_eq!(ids(&format!("{transcend}rev=2.1 date=01/2026")), trusted);
        assert!(ids(&format!("{transcend}rev=2.0 date=03/2026")).is_empty());
        assert!(ids(&format!("{transcend}date=04/2026")).is_empty());
    }

    #[test]
    fn the_other_family_is_not_meant() {
        let sandisk = "manfid=0x03 oemid=0x5344 name=SN64G rev=8.0 date=07/2021";
        assert_eq!(ids(&format!("sd {sandisk}")), ["sandisk-discard"]);
        assert!(ids(&format!("mmc {sandisk}")).is_empty());
    }
}
