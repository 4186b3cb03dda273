//! A translation layer as written in TOML.

use serde::Deserialize;

/// A translation layer as written in a model's file.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FtlData {
    /// Size of a page, bytes: 4, 8 or 16 KiB.
    pub page_bytes: u64,
    /// Pages of an erase block.
    pub block_pages: u32,
    /// Flash beyond the capacity, as a share of the capacity.
    pub spare_share: f64,
    /// Free blocks below which garbage is collected.
    pub reserve_blocks: u32,
    /// Blocks that can be written in turn, one for each area of the size of a block.
    pub open_units: usize,
    /// Size of the pseudo-SLC cache, bytes; 0: none.
    pub cache_bytes: u64,
    /// Logical bytes that one segment of the map covers.
    pub segment_bytes: u64,
    /// Segments in memory.
    pub segments_in_memory: usize,
    /// True if every page was written once, in order, before the run.
    pub is_filled: bool,
    /// Spans of flash work, microseconds a page, or a block for the erase.
    pub read_us: f64,
    /// As above.
    pub program_us: f64,
    /// Program of a page of the cache.
    pub cache_program_us: f64,
    /// As above.
    pub erase_us: f64,
    /// Going on in another open block.
    pub open_us: f64,
}

impl FtlData {
    /// The first rule that does not hold on a card of this capacity.
    pub(crate) fn broken_rule(&self, capacity_bytes: u64) -> Option<&'static str> {
        let is_page = [4096, 8192, 16_384].contains(&self.page_bytes);
        let pages = capacity_bytes / self.page_bytes.max(1);
        let is_size = pages.is_multiple_of(u64::from(self.block_pages.max(1))) && pages < 1 << 28;
        let spans = [
            self.read_us,
            self.program_us,
            self.cache_program_us,
            self.erase_us,
            self.open_us,
        ];
        let spare = (pages as f64 * self.spare_share) / f64::from(self.block_pages.max(1));
        let least = self.reserve_blocks as usize + self.open_units + 3;
        let holds = is_page
            && is_size
            && (8..=65_536).contains(&self.block_pages)
            && (0.0..=4.0).contains(&self.spare_share)
            && spare > least as f64
            && self.reserve_blocks >= 2
            && (1..=64).contains(&self.open_units)
            && self.cache_bytes <= capacity_bytes
            && self.segment_bytes.is_multiple_of(self.page_bytes)
            && self.segment_bytes > 0
            && self.segments_in_memory > 0
            && spans.iter().all(|us| (0.0..=1e7).contains(us));
        (!holds).then_some("a number of the translation layer is out of range")
    }
}
