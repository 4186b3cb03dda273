//! A model's flash as written in TOML.

use serde::Deserialize;

use super::BLOCK_BYTES;

/// What is wrong with where a card keeps things.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FlashData {
    /// It reads and writes blocks of this size only.
    pub(crate) block_bytes: u64,
    /// How much flash there really is; absent: as much as the card says.
    pub(crate) real_bytes: Option<u64>,
    /// After so many bytes addresses repeat; absent: they do not.
    pub(crate) module_bytes: Option<u64>,
    pub(crate) hidden_cache: Option<HiddenCacheData>,
    pub(crate) damage: Option<DamageData>,
    /// Probability that a block is given out with a bit changed, each time it is read.
    pub(crate) flipped_share: f64,
    /// After so many bytes the card takes no more writes.
    pub(crate) taken_bytes: Option<u64>,
    pub(crate) wear: Option<WearData>,
    pub(crate) fade: Option<FadeData>,
}

impl FlashData {
    /// Whether what is written can be read where it was written.
    pub(crate) fn keeps_all(&self) -> bool {
        self.real_bytes.is_none()
            && self.module_bytes.is_none()
            && self.hidden_cache.is_none()
            && self.damage.is_none()
            && self.flipped_share == 0.0
            && self.taken_bytes.is_none()
            && self.wear.is_none()
    }
}

impl Default for FlashData {
    fn default() -> Self {
        Self {
            block_bytes: BLOCK_BYTES,
            real_bytes: None,
            module_bytes: None,
            hidden_cache: None,
            damage: None,
            flipped_share: 0.0,
            taken_bytes: None,
            wear: None,
            fade: None,
        }
    }
}

/// Memory that gives out what was written last, although there is no flash for it.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HiddenCacheData {
    pub(crate) bytes: u64,
    /// Whether it keeps only what there is no flash for; else it keeps the last of all that is written.
    pub(crate) strict: bool,
}

/// Spots of the flash that are bad from the beginning, at random places.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DamageData {
    pub(crate) kind: DamageKind,
    pub(crate) share: f64,
    pub(crate) spot_bytes: u64,
}

/// What a bad spot does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DamageKind {
    /// It keeps nothing.
    Lost,
    /// It gives out what it should with a bit changed.
    Changed,
    /// It gives out nothing but an error.
    Unreadable,
}

/// Spots keep nothing any more once all flash was written often enough.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WearData {
    /// How often the median spot lasts.
    pub(crate) cycles: f64,
    /// Standard deviation of the logarithm of that.
    pub(crate) deviation: f64,
    pub(crate) spot_bytes: u64,
}

/// Spots give out what they should with a bit changed once they were not written for long.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FadeData {
    /// How long the median spot lasts, days.
    pub(crate) days: f64,
    /// Standard deviation of the logarithm of that.
    pub(crate) deviation: f64,
    pub(crate) spot_bytes: u64,
}
