//! Cards that kernels treat specially.

use std::sync::LazyLock;

use cardmark_core::{CardFacts, CardKind};
use serde::Deserialize;

use crate::facts::{embedded, lies_within, plain_name};

const TEXT: &str = include_str!("../facts/quirks.toml");

static ROWS: LazyLock<Vec<Quirk>> = LazyLock::new(|| embedded(TEXT, "quirks"));

/// Whose kernel it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kernel {
    /// Linux as its makers publish it; Raspberry Pi's has it too.
    Mainline,
    /// Raspberry Pi's, and none else.
    RaspberryPi,
}

/// What a kernel does differently with a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuirkEffect {
    /// The card's cache stays off.
    NoCache,
    /// The cache is flushed only after something was written.
    RareFlush,
    /// The card is not told before its power goes.
    NoPowerOffNotice,
    /// The command queue may be used without being asked for.
    TrustedQueue,
    /// Blocks are given back by erase, not by discard.
    NoDiscard,
    /// Blocks are not erased.
    NoErase,
    /// Blocks are not trimmed.
    NoTrim,
    /// Blocks are not erased or trimmed securely.
    NoSecureErase,
    /// Several blocks are written without saying before how many.
    NoBlockCount,
    /// The bus is not tuned in DDR50.
    NoDdr50Tuning,
    /// The card is given longer to answer reads.
    LongReads,
    /// Long operations are not interrupted for urgent ones.
    NoInterrupt,
    /// The date of making is corrected.
    CorrectedDate,
    /// Erasing securely is given a fixed time.
    FixedEraseTime,
    /// Erasing is asked for in the card's own way.
    OwnErase,
}

/// The state of a card from which on a quirk holds: revision first, then month of making.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardState {
    /// Revision of the product, such as `2.0`: two hexadecimal digits.
    pub revision: String,
    /// Month of making, such as `2026-04`.
    #[serde(default)]
    pub made: String,
}

/// What a kernel does differently with some cards. All that is given must fit.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quirk {
    /// Name of the row.
    pub id: String,
    /// Family of the card.
    pub kind: CardKind,
    /// Number of its manufacturer.
    pub manufacturer_id: u8,
    /// OEM id, 4 hexadecimal digits.
    #[serde(default)]
    pub oem: Option<String>,
    /// Name of the product.
    #[serde(default)]
    pub name: Option<String>,
    /// First month of making, such as `2019-01`.
    #[serde(default)]
    pub made_from: Option<String>,
    /// Last month of making.
    #[serde(default)]
    pub made_until: Option<String>,
    /// The earliest state.
    #[serde(default)]
    pub at_least: Option<CardState>,
    /// What the kernel does.
    pub effects: Vec<QuirkEffect>,
    /// Whose kernel.
    pub kernel: Kernel,
    /// Version of the kernel in whose sources it was read; it may have come earlier.
    pub read_in: String,
    /// Why, in words.
    pub detail: String,
    /// What to do about it.
    #[serde(default)]
    pub advice: Option<String>,
    /// Where it is from.
    pub source: String,
    /// The day it was read there.
    pub checked_on: String,
    /// Cards as the kernel shows them, which a test looks up.
    pub vectors: Vec<String>,
}

/// The quirks of a card, in the order of the file.
#[must_use]
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

    /// A card whose month is not known counts as the oldest of its revision.
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

    /// Several may fit one card; each example leads to its row, and no two rows say the same.
    #[test]
    fn every_quirk_is_cited_and_found() {
        check_file::<Quirk>(TEXT, "quirks");
        for row in ROWS.iter() {
            assert!(!row.effects.is_empty(), "{}", row.id);
            for vector in &row.vectors {
                let found = ids(vector);
                assert!(found.contains(&row.id.as_str()), "{vector}: {found:?}");
                let alike = ROWS.iter().filter(|other| {
                    found.contains(&other.id.as_str())
                        && (other.kernel, &other.effects) == (row.kernel, &row.effects)
                });
                assert_eq!(alike.count(), 1, "{vector}: two rows say the same");
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
