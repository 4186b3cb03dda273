//! Counters of the block layer.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Counters of the block layer, as differences over a trial or another time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DeviceCounters {
    /// Reads completed.
    pub read_operations_count: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes completed.
    pub write_operations_count: u64,
    /// Bytes written.
    pub write_bytes: u64,
}

impl DeviceCounters {
    /// Returns the differences since `before`; counters that went backwards count as 0.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            read_operations_count: self
                .read_operations_count
                .saturating_sub(before.read_operations_count),
            read_bytes: self.read_bytes.saturating_sub(before.read_bytes),
            write_operations_count: self
                .write_operations_count
                .saturating_sub(before.write_operations_count),
            write_bytes: self.write_bytes.saturating_sub(before.write_bytes),
        }
    }
}
