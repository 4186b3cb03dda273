//! Blocks with their place.

/// Destination or source of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockPlace {
    /// Slots from that one on.
    At(u64),
    /// A slot, but a bit of each block is changed on the way out.
    Changed(u64),
    /// Nowhere: written data is lost, and zeros are read.
    Nowhere,
    /// The card returns an error instead.
    Unreadable,
    /// The card does not take them.
    Refused,
}

/// Consecutive blocks, with their destination or source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The first block.
    pub start: u64,
    /// Number of blocks.
    pub count: u64,
    /// Their destination or source.
    pub place: BlockPlace,
}
