//! Results of integrity tests in a record: does storage hold the data written to it?

use cardmark_cards::words;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest cache that a fake is assumed to hide lost data in, unless the user names another: 1 GiB, bytes.
pub const ASSUMED_CACHE_BYTES: u64 = 1 << 30;

words! {
    /// Kind of integrity test.
    pub enum IntegrityTest {
        /// A small part of the blocks.
        Probe,
        /// Every block.
        Verify,
        /// Every block, in repeated cycles.
        Endure,
        /// Every block that was written before a rest; reads only.
        Retention,
        /// Every block as it is, in two passes; reads only. A stretch of 1 MiB that differs between the passes counts as
        /// changed.
        Read,
        /// Blocks that the storage acknowledged before its power was cut, and all others of the same file.
        PowerCut,
    }

    /// Verdict on the storage.
    pub enum StorageKind {
        /// Every block that was read holds its data: the capacity is confirmed as far as the test reaches. This
        /// proves no brand. Earlier records call it `genuine`.
        #[serde(alias = "genuine")]
        Confirmed,
        /// Some blocks do not hold the data written to them, or cannot be read. This does not prove that the
        /// capacity is smaller than reported.
        Damaged,
        /// Data written beyond its real capacity is lost.
        Limbo,
        /// Data written beyond its real capacity overwrites data at lower addresses.
        Wraparound,
        /// Both: addresses repeat, and a part of each repetition is lost.
        Chain,
        /// It accepts no writes.
        ReadOnly,
        /// It reports that it has written, but places that were good keep the content they had before: worn out, not a
        /// false capacity.
        IgnoresWrites,
        /// No block holds the data written to it.
        Dead,
        /// Every block could be read, twice with the same content; of a test that only reads, which cannot tell whether the
        /// capacity is real.
        Readable,
        /// Everything that it had acknowledged was there after power cuts; of `power_cut`, as far as these show.
        Durable,
        /// Some of what it had acknowledged was not there after power cuts, or without one; of `power_cut`.
        LosesAcknowledged,
        /// Every block that was read holds its data, but the device below the target is not known, so that nothing is
        /// confirmed.
        UnknownDevice,
        /// The device disappeared, stopped answering or returned only errors, or its filesystem accepted no more data, before
        /// the test reached its end; a finding shows which. Nothing is known of the capacity.
        Unfinished,
    }
}

/// Number of blocks of 512 bytes in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BlockCounts {
    /// Blocks that hold the data written to them.
    pub good_count: u64,
    /// Blocks that hold their data with some bits changed.
    pub changed_count: u64,
    /// Blocks that hold data of a block further up, at the distance after which addresses repeat.
    pub wrapped_count: u64,
    /// Blocks that hold data of another block, otherwise.
    pub overwritten_count: u64,
    /// Blocks that hold older data, or nothing.
    pub lost_count: u64,
    /// Blocks that the storage fails to read.
    pub unreadable_count: u64,
    /// Blocks that the storage fails to write.
    pub refused_count: u64,
}

impl BlockCounts {
    /// Returns the number of blocks that do not hold the data written to them.
    pub fn bad_count(&self) -> u64 {
        self.changed_count
            + self.wrapped_count
            + self.overwritten_count
            + self.lost_count
            + self.unreadable_count
            + self.refused_count
    }
}

/// Result of the samples of a probe, and the amount of damage they would have detected. The population is all
/// extents of 1 MiB of the storage; an extent is bad if any of its blocks is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Sampling {
    /// Number of extents of 1 MiB that were written and read.
    pub samples_count: u64,
    /// Those of them with a bad block.
    pub bad_samples_count: u64,
    /// Blocks of the samples in each state.
    pub blocks: BlockCounts,
    /// Scattered damage: if at least this share of all extents is bad, at places drawn uniformly at random,
    /// the samples find a bad one with a probability of 99.9 %.
    pub caught_ratio: f64,
    /// Contiguous damage: if one region of at least this share of all extents is wholly bad, the samples find
    /// it with a probability of 99.9 %, at any position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caught_region_ratio: Option<f64>,
    /// Maximum size in bytes of a cache that takes all writes and still hides none of this damage. Absent in older
    /// records, in which it is that of the whole test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded_cache_bytes: Option<u64>,
}

/// Time at which storage under repeated writes reached a share of bad blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Milestone {
    /// The share; 0 is the first bad block.
    pub bad_ratio: f64,
    /// Number of cycles completed by then.
    pub cycles_count: u32,
    /// Amount written by then, bytes.
    pub written_bytes: u64,
}

words! {
    /// Order in which the blocks were written.
    pub enum WritePattern {
        /// By rising address.
        Sequential,
        /// In units of 64 KiB, each once, in an order drawn by the seed.
        Random,
    }

    /// Content of a block, in a map.
    #[derive(PartialOrd, Ord)]
    pub enum BlockState {
        /// Its own data.
        Good,
        /// Its own data with some bits changed.
        Changed,
        /// Data of another block.
        Overwritten,
        /// Older data, or nothing.
        Lost,
        /// The storage fails to read it.
        Unreadable,
        /// The storage failed to write it.
        Refused,
    }
}

/// Part of the storage in which all blocks are in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SurfacePart {
    /// Start, bytes.
    pub start_bytes: u64,
    /// Length, bytes.
    pub size_bytes: u64,
    /// The state; in a coarse map, the worst one of any block.
    pub state: BlockState,
    /// Address that the content of the part was written to, bytes: elsewhere if it is that of other blocks, its own if
    /// it is that of an earlier cycle. Absent for other content, and in coarse maps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_to_bytes: Option<u64>,
}

/// Speed at which a stretch was written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PlaceSpeed {
    /// Start, bytes.
    pub start_bytes: u64,
    /// Length, bytes.
    pub size_bytes: u64,
    /// Time taken, nanoseconds.
    pub span_ns: u64,
}

/// Result of an integrity test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Integrity {
    /// Kind of test.
    pub test: IntegrityTest,
    /// The kind of storage, once the test is complete.
    pub kind: StorageKind,
    /// Size that the storage reports, or the size of the part that was tested, bytes.
    pub size_bytes: u64,
    /// Real capacity, from the beginning on, bytes: the last good sector of 512 bytes is this / 512 − 1.
    pub real_bytes: u64,
    /// True if no regular geometry explains what was kept and lost: `real_bytes` is then an upper bound of what can be
    /// relied on, not a boundary.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_irregular: bool,
    /// Time between the last write and the last reading in which the storage was left alone, milliseconds; absent
    /// without `--wait`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ms: Option<u64>,
    /// Longest time between writing a block and reading it, milliseconds; absent if it is not known, as after an
    /// interruption.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_within_ms: Option<u64>,
    /// Start on the device of the part that was tested, bytes: places in the map and of speeds count from there, and
    /// kind and counts are of that part. Absent if not only a part of a device was to be tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_bytes: Option<u64>,
    /// Distance after which addresses repeat, bytes; absent if they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrap_bytes: Option<u64>,
    /// Maximum size of a cache that hid the missing capacity, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_cache_bytes: Option<u64>,
    /// A cache of up to this size would not have hidden anything; of a probe of genuine or damaged
    /// storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded_cache_bytes: Option<u64>,
    /// Number of blocks in each state, if all blocks were checked; for `endure`, in the last cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<BlockCounts>,
    /// Size of the cells of the map, bytes, if all blocks were checked: 512 for an exact map. Kind, real capacity and
    /// counts follow from an exact map. Absent in older records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_cell_bytes: Option<u64>,
    /// Estimate of isolated bad spots, if only samples were checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
    /// Number of complete cycles; of `endure`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles_count: Option<u32>,
    /// Times at which shares of bad blocks were reached; of `endure`, also in a later retention check.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub milestones: Vec<Milestone>,
    /// Time since the storage was written; of a retention check, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rested_ms: Option<u64>,
    /// Blocks of 512 bytes that held their data before the rest and no longer do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faded_count: Option<u64>,
    /// Write speed by place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<PlaceSpeed>,
    /// Read speed by place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<PlaceSpeed>,
    /// Places that were slow in both passes of a test that only reads, with the time of the faster one; at most 1,024, the
    /// slowest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow: Vec<PlaceSpeed>,
    /// Bytes whose content differed between the passes of a test that only reads, on a device that was in use: they may
    /// have been written meanwhile, and count as good. Absent if it was not in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differing_bytes: Option<u64>,
    /// Order in which the blocks were written; of a `verify` under load. Absent without load: by rising address, in requests of
    /// 1 MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<WritePattern>,
    /// Maximum number of writes or reads in flight; of a `verify` under load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
    /// Bytes that were discarded and written again after every block had held its data; 0 if a block had not, so that
    /// nothing was discarded. Absent if no discard was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discarded_bytes: Option<u64>,
    /// Number of power cuts; of `power_cut`. This and the next three are sums over all cuts in the log of the test, while
    /// `blocks` is of the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cuts_count: Option<u32>,
    /// Number of writes that the storage had acknowledged before these cuts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged_count: Option<u64>,
    /// Number of acknowledged writes that were not there afterwards. Earlier writes to the same place cannot be checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_acknowledged_count: Option<u64>,
    /// Number of places of a write that had not been written since the file was made, and changed all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collateral_count: Option<u64>,
}

impl Integrity {
    /// Creates the result of a test, without the figures that only some tests have.
    pub fn new(test: IntegrityTest, kind: StorageKind, size_bytes: u64, real_bytes: u64) -> Self {
        Self {
            test,
            kind,
            size_bytes,
            real_bytes,
            is_irregular: false,
            waited_ms: None,
            read_within_ms: None,
            from_bytes: None,
            wrap_bytes: None,
            hidden_cache_bytes: None,
            excluded_cache_bytes: None,
            blocks: None,
            map_cell_bytes: None,
            sampling: None,
            cycles_count: None,
            milestones: Vec::new(),
            rested_ms: None,
            faded_count: None,
            written: Vec::new(),
            read: Vec::new(),
            slow: Vec::new(),
            differing_bytes: None,
            pattern: None,
            queue_depth: None,
            discarded_bytes: None,
            cuts_count: None,
            acknowledged_count: None,
            lost_acknowledged_count: None,
            collateral_count: None,
        }
    }
}
