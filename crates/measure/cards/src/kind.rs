//! Families of cards.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::word::Word;

/// Family of cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CardKind {
    /// An SD card of any size.
    Sd,
    /// eMMC, or an old MMC card.
    Mmc,
    /// A word that this version does not know.
    #[serde(untagged)]
    Other(Word),
}
