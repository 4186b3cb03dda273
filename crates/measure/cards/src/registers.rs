//! All registers of one card.

use std::collections::BTreeMap;

use crate::field::{byte_from_hex, from_hex};
use crate::{CardKind, Cid, Csd, ExtCsd, Month, Scr, Ssr, checksum};

/// The registers of one card, as far as the host shows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registers {
    /// Family of cards, which decides how registers are laid out.
    pub kind: CardKind,
    /// Manufacturer and product.
    pub cid: Option<Cid>,
    /// Capacity and speed.
    pub csd: Option<Csd>,
    /// Of SD cards: which version of the specification it follows.
    pub scr: Option<Scr>,
    /// Of SD cards: which classes it claims.
    pub ssr: Option<Ssr>,
    /// Additional properties of eMMC.
    pub ext_csd: Option<ExtCsd>,
    /// For eMMC: revision of `EXT_CSD`, which the kernel also shows if the register itself is hidden.
    pub ext_csd_revision: Option<u8>,
}

impl Registers {
    /// Parses hexadecimal digits by name: `cid`, `csd`, `scr`, `ssr`, `ext_csd`, and `rev`, the revision of
    /// `EXT_CSD`, as in the kernel's files in the card's folder (`ext_csd` is in debugfs). Missing values, and
    /// those of another length or with other letters, are absent.
    ///
    /// An SSR of zeros is absent too: the kernel shows zeros when it could not read it. So is the CID of MMC
    /// cards before version 2.0, which has another layout.
    pub fn from_hex(kind: CardKind, texts: &BTreeMap<String, String>) -> Self {
        let text = |name: &str| texts.get(name).map_or("", String::as_str);
        let csd = from_hex(text("csd")).map(|bytes| Csd::new(kind, bytes));
        let is_old = csd.and_then(|csd| csd.mmc_version()).is_some_and(|v| v < 2);
        let cid = from_hex(text("cid")).filter(|_| !is_old);
        let cid = cid.map(|bytes| Cid::new(kind, bytes));
        let bare = Self {
            kind,
            cid,
            csd,
            scr: None,
            ssr: None,
            ext_csd: None,
            ext_csd_revision: None,
        };
        match kind {
            CardKind::Sd => Self {
                scr: from_hex(text("scr")).map(Scr::new),
                ssr: from_hex(text("ssr"))
                    .map(Ssr::new)
                    .filter(|ssr| !ssr.is_blank()),
                ..bare
            },
            CardKind::Mmc => {
                let ext_csd = from_hex(text("ext_csd")).map(|bytes| ExtCsd::new(&bytes));
                let revision = ext_csd.map(|ext_csd| ext_csd.revision);
                Self {
                    ext_csd,
                    ext_csd_revision: revision.or_else(|| byte_from_hex(text("rev"))),
                    ..bare
                }
            }
            CardKind::Other(_) => bare,
        }
    }

    /// Month of making.
    pub fn made(&self) -> Option<Month> {
        let version = self.csd.and_then(|csd| csd.mmc_version());
        // Cards before version 4 have no EXT_CSD.
        let without = version.filter(|version| *version < 4).map(|_| 0);
        self.cid?.made(self.ext_csd_revision.or(without))
    }

    /// Size of the area that users have, bytes.
    pub fn capacity_bytes(&self) -> Option<u64> {
        let extended = self.ext_csd.and_then(|ext_csd| ext_csd.capacity_bytes);
        extended.or_else(|| self.csd?.capacity_bytes())
    }

    /// Checks the checksums of CID and CSD; `None` if the host shows neither.
    pub fn checksum_fits(&self) -> Option<bool> {
        match (&self.cid, &self.csd) {
            (Some(cid), Some(csd)) => checksum::both_fit(&cid.bytes, &csd.bytes),
            (Some(cid), None) => checksum::fits(&cid.bytes),
            (None, csd) => checksum::fits(&csd.as_ref()?.bytes),
        }
    }
}
