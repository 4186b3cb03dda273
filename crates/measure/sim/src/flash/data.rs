//! A model's flash as written in TOML.

use serde::Deserialize;

/// Size of a block, bytes.
pub(super) const BLOCK_BYTES: u64 = 512;

/// Faults of a card's storage.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FlashData {
    /// It reads and writes blocks of this size only.
    pub(crate) block_bytes: u64,
    /// Real size of the flash; absent: the reported size.
    pub(crate) real_bytes: Option<u64>,
    /// Distance after which addresses repeat, bytes; absent: they do not.
    pub(crate) wrap_bytes: Option<u64>,
    pub(crate) hidden_cache: Option<HiddenCacheData>,
    pub(crate) damage: Option<DamageData>,
    /// Probability that a block is returned with a bit changed, each time it is read.
    pub(crate) flipped_share: f64,
    /// Number of written bytes after which the card accepts no more writes.
    pub(crate) taken_bytes: Option<u64>,
    pub(crate) wear: Option<WearData>,
    pub(crate) fade: Option<FadeData>,
    /// Share of the writes with others in flight that store the data of the one before.
    pub(crate) crossed_share: f64,
    /// Share of the writes that do not continue the one before whose blocks keep their former content: the new entry of the
    /// mapping table is lost.
    pub(crate) unmapped_share: f64,
    /// Share of the discards that take 4 KiB behind their end as well.
    pub(crate) spilled_share: f64,
}

impl FlashData {
    /// Returns whether written data can be read at the same place.
    pub(crate) fn keeps_all(&self) -> bool {
        self.real_bytes.is_none()
            && self.wrap_bytes.is_none()
            && self.hidden_cache.is_none()
            && self.damage.is_none()
            && self.flipped_share == 0.0
            && self.taken_bytes.is_none()
            && self.wear.is_none()
            && [self.crossed_share, self.unmapped_share, self.spilled_share] == [0.0; 3]
    }
}

impl Default for FlashData {
    fn default() -> Self {
        Self {
            block_bytes: BLOCK_BYTES,
            real_bytes: None,
            wrap_bytes: None,
            hidden_cache: None,
            damage: None,
            flipped_share: 0.0,
            taken_bytes: None,
            wear: None,
            fade: None,
            crossed_share: 0.0,
            unmapped_share: 0.0,
            spilled_share: 0.0,
        }
    }
}

/// Memory that returns the data written last, although it has no flash behind it.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HiddenCacheData {
    pub(crate) bytes: u64,
    /// True if it keeps only data without flash behind it; false: it keeps the most recent data.
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

/// Effect of a bad spot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DamageKind {
    /// It keeps nothing.
    Lost,
    /// It returns its data with a bit changed.
    Changed,
    /// It returns nothing but an error.
    Unreadable,
}

/// Spots keep nothing any more once all flash was written often enough.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WearData {
    /// Number of cycles that the median spot lasts.
    pub(crate) cycles: f64,
    /// Standard deviation of the logarithm of that.
    pub(crate) deviation: f64,
    pub(crate) spot_bytes: u64,
}

/// Spots return their data with a bit changed once they were not written for long.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FadeData {
    /// Time that the median spot lasts, days.
    pub(crate) days: f64,
    /// Standard deviation of the logarithm of that.
    pub(crate) deviation: f64,
    pub(crate) spot_bytes: u64,
}
