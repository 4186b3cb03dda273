//! Slices of trials in columns.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Serialize};

use crate::columns::{check_length, unless};
use crate::{Slice, Trial};

/// Slices of trials in columns: a list for each trial, with an element for each slice.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub(super) struct SliceColumns {
    /// Bytes moved; by default, and for a trial with an empty list, operations times the bytes per operation of the trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) bytes: Vec<Vec<u64>>,
    /// Operations completed.
    pub(super) operations_count: Vec<Vec<u64>>,
    /// Slowest latencies, nanoseconds.
    pub(super) slowest_ns: Vec<Vec<u64>>,
    /// Blocks of the slowest operations: their offset is `start_bytes` of the workload and this number of times its
    /// `block_bytes`.
    pub(super) slowest_block_index: Vec<Vec<Option<u64>>>,
}

/// Bytes of each operation of a trial, if they can be equal.
fn operation_bytes(trial: &Trial) -> Option<u64> {
    let (bytes, count) = (trial.bytes(), trial.operations_count());
    (count > 0 && bytes.is_multiple_of(count)).then(|| bytes / count)
}

/// Bytes of the slices of a trial; empty if they follow from their operations.
fn slice_bytes(trial: &Trial) -> Vec<u64> {
    let each = operation_bytes(trial);
    let follows = |slice: &Slice| {
        let bytes = each.and_then(|each| slice.1.checked_mul(each));
        bytes == Some(slice.0)
    };
    match trial.slices.iter().all(follows) {
        true => Vec::new(),
        false => trial.slices.iter().map(|slice| slice.0).collect(),
    }
}

impl From<&[Trial]> for SliceColumns {
    fn from(trials: &[Trial]) -> Self {
        let lists = |value: fn(&Slice) -> u64| {
            let list = |trial: &Trial| trial.slices.iter().map(value).collect();
            trials.iter().map(list).collect()
        };
        Self {
            bytes: unless(trials, slice_bytes, Vec::is_empty),
            operations_count: lists(|slice| slice.1),
            slowest_ns: lists(|slice| slice.2),
            slowest_block_index: trials.iter().map(slowest_blocks).collect(),
        }
    }
}

/// Returns the block that begins at the offset in the span of the trial's workload; `None` if none does.
pub(super) fn block_at(trial: &Trial, offset_bytes: u64) -> Option<u64> {
    let place = offset_bytes.checked_sub(trial.workload.manner.start_bytes)?;
    let block_bytes = trial.workload.block_bytes;
    let block = place.checked_div(block_bytes)?;
    (block * block_bytes == place).then_some(block)
}

fn slowest_blocks(trial: &Trial) -> Vec<Option<u64>> {
    let slices = trial.slices.iter();
    slices
        .map(|slice| {
            slice
                .3
                .and_then(|offset_bytes| block_at(trial, offset_bytes))
        })
        .collect()
}

impl SliceColumns {
    pub(super) fn spread<E: Error>(self, trials: &mut [Trial]) -> Result<(), E> {
        for length in [
            self.operations_count.len(),
            self.slowest_ns.len(),
            self.slowest_block_index.len(),
        ] {
            check_length(length, trials.len(), "slices of each trial")?;
        }
        let mut bytes = self.bytes.into_iter();
        if !bytes.as_slice().is_empty() {
            check_length(bytes.len(), trials.len(), "slices of each trial")?;
        }
        let columns = self
            .operations_count
            .into_iter()
            .zip(self.slowest_ns)
            .zip(self.slowest_block_index);
        for (trial, ((counts, slowest), offsets)) in trials.iter_mut().zip(columns) {
            let own = bytes.next().unwrap_or_default();
            for length in [slowest.len(), offsets.len()] {
                check_length(length, counts.len(), "one value for each slice")?;
            }
            if !own.is_empty() {
                check_length(own.len(), counts.len(), "one value for each slice")?;
            }
            let each = operation_bytes(trial);
            let mut own = own.into_iter();
            let slices = counts.into_iter().zip(slowest).zip(offsets);
            for ((count, slowest_ns), offset) in slices {
                let bytes = own
                    .next()
                    .or_else(|| each.and_then(|each| count.checked_mul(each)));
                let bytes = bytes.ok_or_else(|| E::custom("a slice without bytes"))?;
                trial.slices.push(Slice(bytes, count, slowest_ns, offset));
            }
        }
        Ok(())
    }
}
