//! What tests of integrity say in a record: does storage hold what is written to it?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which test it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntegrityTest {
    /// A small part of the blocks.
    Probe,
    /// Every block.
    Verify,
    /// Every block, again and again.
    Endure,
    /// Every block that was written before a rest, read only.
    Retention,
}

/// What kind of storage it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StorageKind {
    /// Every block that was read holds what was written to it: the capacity is confirmed as far as the test
    /// reaches. This proves no brand. Earlier records call it `genuine`.
    #[serde(alias = "genuine")]
    Confirmed,
    /// Some blocks do not hold what was written, or cannot be read; that it has less than it says is not
    /// shown.
    Damaged,
    /// What is written beyond its real capacity is lost.
    Limbo,
    /// What is written beyond its real capacity overwrites what stands below.
    Wraparound,
    /// Both: addresses repeat, and of each repetition a part is lost.
    Chain,
    /// It takes no writes.
    ReadOnly,
    /// No block holds what was written to it.
    Dead,
}

/// How many blocks of 512 bytes are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockCounts {
    /// They hold what was written to them.
    pub good_count: u64,
    /// The same with some bits changed.
    pub changed_count: u64,
    /// What was written to a block further up, by so much that addresses repeat.
    pub wrapped_count: u64,
    /// What was written to another block, otherwise.
    pub overwritten_count: u64,
    /// What was there before, or nothing.
    pub lost_count: u64,
    /// The storage does not give them out.
    pub unreadable_count: u64,
    /// The storage did not take them.
    pub refused_count: u64,
}

impl BlockCounts {
    /// Blocks that do not hold what was written to them.
    #[must_use]
    pub fn bad_count(&self) -> u64 {
        self.changed_count
            + self.wrapped_count
            + self.overwritten_count
            + self.lost_count
            + self.unreadable_count
            + self.refused_count
    }
}

/// What the samples of a probe found, and how much damage they would have found. The population is all
/// extents of 1 MiB of the storage; an extent is bad if any of its blocks is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Contiguous damage: if one region of at least this share of all extents is wholly bad, wherever it
    /// lies, the samples find it with a probability of 99.9 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caught_region_ratio: Option<f64>,
}

/// When storage that is written again and again reached a share of bad blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Milestone {
    /// The share; 0 is the first bad block.
    pub bad_ratio: f64,
    /// After how many cycles.
    pub cycles_count: u32,
    /// How much had been written by then, bytes.
    pub written_bytes: u64,
}

/// What a block holds, in a map.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum BlockState {
    /// What was written to it.
    Good,
    /// The same with some bits changed.
    Changed,
    /// What was written to another block.
    Overwritten,
    /// What was there before, or nothing.
    Lost,
    /// The storage does not give it out.
    Unreadable,
    /// The storage did not take it.
    Refused,
}

/// A part of the storage, all blocks of which are in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SurfacePart {
    /// Where it begins, bytes.
    pub start_bytes: u64,
    /// How long it is, bytes.
    pub size_bytes: u64,
    /// The state; where the map is coarse, the worst one of any block.
    pub state: BlockState,
}

/// How fast a stretch was written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlaceSpeed {
    /// Where it begins, bytes.
    pub start_bytes: u64,
    /// How long it is, bytes.
    pub size_bytes: u64,
    /// How long it took.
    pub span_ns: u64,
}

/// What a test of integrity found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Integrity {
    /// Which test.
    pub test: IntegrityTest,
    /// The kind of storage, once the test came to its end.
    pub kind: StorageKind,
    /// How much the storage says it has, or how much of it was tested.
    pub size_bytes: u64,
    /// How much there is, from the beginning on.
    pub real_bytes: u64,
    /// After how much addresses repeat, where they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module_bytes: Option<u64>,
    /// A cache of at most this size hid what is missing, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_cache_bytes: Option<u64>,
    /// A cache of up to this size would not have hidden anything; of a probe of genuine or damaged
    /// storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded_cache_bytes: Option<u64>,
    /// How many blocks are in which state, where all were looked at; of `endure` in the last cycle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<BlockCounts>,
    /// What samples say of single bad spots, where only samples were looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
    /// Cycles that were whole; of `endure`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles_count: Option<u32>,
    /// When shares of bad blocks were reached; of `endure`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub milestones: Vec<Milestone>,
    /// How long the storage lay about since it was written; of a retention check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rested_ns: Option<u64>,
    /// Blocks of 512 bytes that held what was written to them before that and do not now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faded_count: Option<u64>,
    /// How fast the storage was written, by place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<PlaceSpeed>,
    /// How fast it was read, by place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<PlaceSpeed>,
}
