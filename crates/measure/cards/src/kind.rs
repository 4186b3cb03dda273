//! Families of cards.

use crate::words;

words! {
    /// Family of cards.
    pub enum CardKind {
        /// An SD card of any size.
        Sd,
        /// eMMC, or an old MMC card.
        Mmc,
    }
}
