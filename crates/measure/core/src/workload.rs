//! A workload: one I/O pattern.

use cardmark_cards::words;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{DatabaseJournal, Procedure};

words! {
    /// Order in which the blocks of the span are visited.
    pub enum Order {
        /// One block after the other; at the end of the span it starts again. A later trial continues at the end of
        /// the previous one.
        Sequential,
        /// Uniformly drawn, aligned to the block size, with replacement.
        Random,
        /// Every block once, in the order that iozone always takes.
        Permuted,
        /// One block after the other at one of 64 places spread over the span; each round takes another:
        /// see [`spread_place`].
        ///
        /// [`spread_place`]: crate::spread_place
        Spread,
    }

    /// Time at which written data is made durable.
    pub enum Flush {
        /// Never within a trial; once after it, outside the clock, and its time is recorded.
        AfterTrial,
        /// `fdatasync` after every write; both together are one operation with one latency.
        EachOperation,
        /// Once at the end of a trial, by `fsync`, inside its span, as the old tools do.
        InSpan,
    }

    /// Content of the written data.
    pub enum Payload {
        /// Seeded, incompressible, different in every 4 KiB block.
        Incompressible,
        /// Zeros, as dd and ddrescue read them from `/dev/zero`.
        Zeros,
        /// Content of iozone: eight bytes 0x5F at the start of every 4 KiB, otherwise zeros.
        Iozone,
    }

    /// Object that a workload works on.
    #[derive(Default)]
    pub enum Object {
        /// The target itself: our file in the directory, or the device.
        #[default]
        Target,
        /// The disk below the target; it is only read.
        Disk,
    }

    /// Access with or without the page cache.
    #[derive(Default)]
    pub enum Access {
        /// The page cache is bypassed (`O_DIRECT`).
        #[default]
        Direct,
        /// Operations go through it. Its content of the object is dropped before the trial.
        Cached,
    }

    /// State of the file before the clock starts. A device stays unchanged.
    #[derive(Default)]
    pub enum Start {
        /// As the previous workload left it.
        #[default]
        Kept,
        /// Truncated to nothing.
        Empty,
        /// Truncated to nothing, then its blocks reserved but not written (`fallocate`).
        Allocated,
        /// Truncated to nothing, then written once through the page cache and made durable.
        Written,
        /// Truncated to nothing; a device is asked to discard all its content, if it supports that.
        Erased,
    }

    /// Position of a workload's span on its object.
    #[derive(Default)]
    pub enum Region {
        /// At the object's start.
        #[default]
        Front,
        /// At a multiple of 4 KiB, drawn from the seed within the span of the last workload that lies at the front;
        /// if none does, on the whole object.
        Drawn,
        /// Like `Drawn`, at a multiple of the block size and of the windows.
        DrawnAligned,
        /// At the position of the workload before.
        Same,
    }
}

/// End of a trial: as soon as *both* minima are reached. With `most_bytes` it is exact work, and the minima do
/// not matter: it ends when this number of bytes has been moved, or after `longest_span_ns`, whichever comes
/// first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StopRule {
    /// Least span of the trial, nanoseconds.
    #[serde(default)]
    pub least_span_ns: u64,
    /// Least number of operations completed.
    #[serde(default)]
    pub least_operations_count: u64,
    /// The trial ends once this number of bytes has been submitted (exact work, as for the layout). 0 in a
    /// suite: the whole span.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_bytes: Option<u64>,
    /// Exact work ends with the first completion after this span, nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_span_ns: Option<u64>,
    /// Exact work also ends once both minima are reached and the rate has been steady for this time,
    /// nanoseconds. `most_bytes` may then exceed the span, which is passed more than once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_span_ns: Option<u64>,
    /// Number of bytes after which a trial without exact work ends even if the minima are not reached; its ramp
    /// ends after an eighth of it. This limits the wear of fast storage to the amount needed to measure it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap_bytes: Option<u64>,
    /// Minimum amount to write before the rate may count as settled; absent: the two minima alone, and the
    /// course is read as in suite `sustained` 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_written: Option<LeastWritten>,
    /// Exact work also ends once the rate has fallen again after a rest. The engine sets the rates and the
    /// limit of bytes from the previous workload that showed a cliff; without one it is skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refill: Option<Refill>,
}

/// Least amount of a long series of writes: the largest of `bytes`, `capacity_percent`, and the bytes written
/// in `span_ns`. After a cliff it is at least `cliff_percent` of the capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LeastWritten {
    /// Bytes on any target; the planner raises it to the share of the capacity.
    pub bytes: u64,
    /// Share of the capacity, percent.
    pub capacity_percent: u8,
    /// Share of the capacity after a cliff, percent: another cliff may follow.
    pub cliff_percent: u8,
    /// Time of writing, nanoseconds.
    pub span_ns: u64,
    /// Maximum number of bytes that a share or `span_ns` can demand.
    pub most_bytes: u64,
    /// Size of the storage, bytes; the planner sets it. 0: not known.
    #[serde(default)]
    pub capacity_bytes: u64,
}

impl LeastWritten {
    /// Returns the rule of a series that writes all of some storage, or for `span_ns`.
    pub fn whole(capacity_bytes: u64, most_bytes: u64, span_ns: u64) -> Self {
        Self {
            bytes: 0,
            capacity_percent: 100,
            cliff_percent: 100,
            span_ns,
            most_bytes,
            capacity_bytes,
        }
    }

    /// Returns whether the series writes all of the storage unless its time is up before.
    pub fn is_whole(&self) -> bool {
        self.capacity_percent >= 100
    }

    /// Returns whether enough was written for the rate to count as settled.
    pub fn is_reached(&self, at_ns: u64, bytes: u64) -> bool {
        bytes >= self.bytes && (at_ns >= self.span_ns || bytes >= self.most_bytes)
    }

    /// Returns the least number of bytes to write if a cliff was found.
    pub fn behind_cliff_bytes(&self) -> u64 {
        self.bytes.max(self.share_bytes(self.cliff_percent))
    }

    /// Returns this rule for storage of this size.
    #[must_use]
    pub fn for_capacity(mut self, capacity_bytes: u64) -> Self {
        self.capacity_bytes = capacity_bytes;
        self.bytes = self.bytes.max(self.share_bytes(self.capacity_percent));
        self
    }

    fn share_bytes(&self, percent: u8) -> u64 {
        (self.capacity_bytes / 100 * u64::from(percent)).min(self.most_bytes)
    }
}

/// The two rates that separate fast from slow writing after a rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Refill {
    /// Middle between the rates before and after the cliff, bytes per second; 0 in a suite.
    #[serde(default)]
    pub middle_bytes_per_s: u64,
}

/// The part of a trial's cap that its ramp may move.
const RAMP_SHARE: u64 = 8;

impl StopRule {
    /// Returns the number of bytes after which the ramp ends even if its time is not up.
    pub fn most_ramp_bytes(&self) -> u64 {
        self.cap_bytes.map_or(u64::MAX, |cap| cap / RAMP_SHARE)
    }

    /// Returns whether a trial of one stream ends now, after `operations_count` operations, `at_ns` after its
    /// start. It also ends when everything has been moved.
    #[inline(always)]
    pub fn ends(&self, at_ns: u64, operations_count: u64, queue_depth: u64) -> bool {
        match self.most_bytes {
            Some(_) => self.longest_span_ns.is_some_and(|longest| at_ns >= longest),
            // Whole turns of the queue: a device may complete a deep one in bursts, and a span that
            // begins behind one must end behind one.
            None => {
                self.has_least(at_ns, operations_count)
                    && operations_count.is_multiple_of(queue_depth)
            }
        }
    }
}

impl StopRule {
    /// Returns whether both minima are reached.
    #[inline(always)]
    pub fn has_least(&self, at_ns: u64, operations_count: u64) -> bool {
        at_ns >= self.least_span_ns && operations_count >= self.least_operations_count
    }
}

/// One I/O pattern on one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Workload {
    /// Name of the workload and of its rate metric, such as `rand_read_4k`.
    pub id: String,
    /// Share of reads among the operations, 0–100.
    pub read_share_percent: u8,
    /// Order of the blocks.
    pub order: Order,
    /// Size of one operation in bytes; a power of two of at least 512.
    pub block_bytes: u64,
    /// Operations in flight, 1–256.
    pub queue_depth: u32,
    /// Bytes of the object, from its start, in which offsets lie. 0 in a suite: the whole object.
    pub span_bytes: u64,
    /// Time at which written data is made durable.
    pub flush: Flush,
    /// Content of the written data.
    pub payload: Payload,
    /// Duration of the operations before the clock starts, nanoseconds.
    #[serde(default)]
    pub ramp_ns: u64,
    /// End of a trial.
    pub stop: StopRule,
    /// True if `<id>_p50`, `<id>_p99` and `<id>_max` are derived too.
    #[serde(default)]
    pub latency_metrics: bool,
    /// Deviations of an old tool from our way of measuring.
    #[serde(default, skip_serializing_if = "is_default")]
    pub manner: Manner,
    /// Application procedure of one operation; absent: one block of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub procedure: Option<Procedure>,
    /// Part it takes in the rounds of a suite.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rounds: Rounds,
}

/// Part that a workload takes in the rounds of a suite. The default: in all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct Rounds {
    /// Not in the rounds: one trial after them.
    #[serde(skip_serializing_if = "is_default")]
    pub once: bool,
    /// Not in the rounds: a trial before the first round, another whenever this time has passed since the last
    /// one, and one after the rounds, nanoseconds; 0: none.
    #[serde(skip_serializing_if = "is_default")]
    pub every_ns: u64,
    /// The workload to compare with: if its rate is the same within 5 %, this one gets no further rounds after
    /// the least number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unless_equal_to: Option<String>,
    /// Bytes that all its trials may write, ramps and drains included; absent: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_bytes: Option<u64>,
    /// True if the run skips the workload when this user lacks the permission for it.
    #[serde(skip_serializing_if = "is_default")]
    pub optional: bool,
}

/// Deviations of an old tool or of a standard's procedure from our way of measuring. The default has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct Manner {
    /// Object that the workload works on.
    #[serde(skip_serializing_if = "is_default")]
    pub object: Object,
    /// Access with or without the page cache.
    #[serde(skip_serializing_if = "is_default")]
    pub access: Access,
    /// The state of the file before the clock starts.
    #[serde(skip_serializing_if = "is_default")]
    pub start: Start,
    /// Idle time before the clock starts, nanoseconds.
    #[serde(skip_serializing_if = "is_default")]
    pub rest_ns: u64,
    /// True if the first block is read once before the clock starts.
    #[serde(skip_serializing_if = "is_default")]
    pub lead_read: bool,
    /// After a read, inside the clock: one byte is touched in each stretch of this length, bytes; 0: none.
    #[serde(skip_serializing_if = "is_default")]
    pub touch_bytes: u64,
    /// Number of concurrent streams, each at queue depth 1 on its own object. The first to finish its span ends
    /// the counting for all (iozone's stone wall).
    #[serde(skip_serializing_if = "is_one")]
    pub streams_count: u32,
    /// Position of the span.
    #[serde(skip_serializing_if = "is_default")]
    pub region: Region,
    /// Position of the span as a number, bytes from the start of the object; the planner sets it.
    #[serde(skip_serializing_if = "is_default")]
    pub start_bytes: u64,
    /// Length of the stretches that are timed separately, in the order of the operations, bytes; 0: none.
    #[serde(skip_serializing_if = "is_default")]
    pub window_bytes: u64,
    /// Length of the separately timed stretches for the video classes, bytes; 0: none.
    #[serde(skip_serializing_if = "is_default")]
    pub video_window_bytes: u64,
}

impl Default for Manner {
    fn default() -> Self {
        Self {
            object: Object::Target,
            access: Access::Direct,
            start: Start::Kept,
            rest_ns: 0,
            lead_read: false,
            touch_bytes: 0,
            streams_count: 1,
            region: Region::Front,
            start_bytes: 0,
            window_bytes: 0,
            video_window_bytes: 0,
        }
    }
}

impl Manner {
    /// Returns the sizes of the timed windows, bytes.
    pub fn windows_bytes(&self) -> impl Iterator<Item = u64> + use<> {
        let sizes = [self.window_bytes, self.video_window_bytes];
        sizes.into_iter().filter(|&bytes| bytes > 0)
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_one(value: &u32) -> bool {
    *value == 1
}

impl Workload {
    /// Returns whether this version knows every word of it, and so can run it.
    pub fn is_known(&self) -> bool {
        let manner = &self.manner;
        let has_other_word = matches!(self.order, Order::Other(_))
            || matches!(self.flush, Flush::Other(_))
            || matches!(self.payload, Payload::Other(_))
            || matches!(manner.object, Object::Other(_))
            || matches!(manner.access, Access::Other(_))
            || matches!(manner.start, Start::Other(_))
            || matches!(manner.region, Region::Other(_));
        let has_other_procedure = match &self.procedure {
            Some(Procedure::Transaction { journal, .. }) => {
                matches!(journal, DatabaseJournal::Other(_))
            }
            Some(Procedure::Other(_)) => true,
            _ => false,
        };
        !has_other_word && !has_other_procedure
    }

    /// Returns whether any operation writes.
    pub fn writes(&self) -> bool {
        self.read_share_percent < 100
    }

    /// Returns whether any operation reads.
    pub fn reads(&self) -> bool {
        self.read_share_percent > 0
    }

    /// Returns the number of operations in flight at once, over all streams.
    pub fn in_flight_count(&self) -> u32 {
        self.queue_depth.saturating_mul(self.manner.streams_count)
    }

    /// Returns the number of things that one operation consists of, such as the files of a package; mostly one.
    pub fn parts_count(&self) -> u64 {
        self.procedure.as_ref().map_or(1, Procedure::parts_count)
    }

    /// Returns the bytes that a trial moves over all streams, if its rule fixes them and its rate does not
    /// decide.
    pub fn exact_bytes(&self) -> Option<u64> {
        let is_exact = self.stop.settled_span_ns.is_none() && self.stop.refill.is_none();
        let bytes = self.stop.most_bytes.filter(|_| is_exact)?;
        Some(bytes * u64::from(self.manner.streams_count))
    }

    /// Returns the number of whole blocks in the span.
    pub fn blocks_count(&self) -> u64 {
        self.span_bytes / self.block_bytes.max(1)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{Origin, OriginKind, Record, Trial, parse_record, record_to_json};

    fn plain() -> Value {
        json!({
            "id": "seq_write", "read_share_percent": 0, "order": "sequential",
            "block_bytes": 4096, "queue_depth": 1, "span_bytes": 8192, "flush": "in_span",
            "payload": "iozone", "ramp_ns": 0,
            "stop": { "least_span_ns": 0, "least_operations_count": 0, "most_bytes": 8192 },
            "latency_metrics": false,
        })
    }

    #[test]
    fn our_own_way_is_not_written_down() {
        let workload: Workload = serde_json::from_value(plain()).unwrap();
        assert_eq!(workload.manner, Manner::default());
        assert_eq!(workload.in_flight_count(), 1);
        assert_eq!(serde_json::to_value(&workload).unwrap(), plain());
    }

    #[test]
    fn of_a_manner_only_what_differs_is_written_down() {
        for (name, value) in [
            ("object", json!("disk")),
            ("access", json!("cached")),
            ("start", json!("empty")),
            ("start", json!("allocated")),
            ("start", json!("written")),
            ("rest_ns", json!(2_000_000_000_u64)),
            ("lead_read", json!(true)),
            ("touch_bytes", json!(512)),
            ("streams_count", json!(4)),
            ("start", json!("erased")),
            ("region", json!("drawn_aligned")),
            ("start_bytes", json!(4096)),
            ("window_bytes", json!(4_194_304)),
            ("video_window_bytes", json!(8_388_608)),
        ] {
            let mut text = plain();
            text["manner"] = json!({ name: value });
            let workload: Workload = serde_json::from_value(text.clone()).unwrap();
            assert_ne!(workload.manner, Manner::default(), "{name}");
            assert_eq!(serde_json::to_value(&workload).unwrap(), text);
        }
    }

    #[test]
    fn a_record_keeps_the_manner_of_its_trials() {
        let mut text = plain();
        text["manner"] = json!({ "access": "cached", "streams_count": 3, "rest_ns": 7 });
        let totals = json!({
            "bytes": 8192, "operations_count": 2, "span_ns": 9, "read_operations_count": 0,
        });
        let latency = json!({
            "step_bits": 7, "buckets": [], "min_ns": 0, "max_ns": 0, "sum_ns": 0,
        });
        let trial: Trial = serde_json::from_value(json!({
            "id": 0, "workload": text, "round_index": 0, "started_ns": 0, "span_ns": 9,
            "streams": [totals, totals, totals], "latency": latency, "slice_span_ns": 100,
            "slices": [], "stopped_by": "goal",
        }))
        .unwrap();
        let mut record = Record::new(uuid::Uuid::nil(), Origin::of(OriginKind::Measured));
        record.trials = vec![trial];
        record.share_workloads();
        let json = record_to_json(&record).unwrap();
        assert_eq!(parse_record(&json).unwrap(), record);
        assert!(json.contains(r#""manner":{"access":"cached","rest_ns":7,"streams_count":3}"#));
    }

    #[test]
    fn minima_or_exact_work_end_a_trial() {
        let minima = StopRule {
            least_span_ns: 100,
            least_operations_count: 6,
            ..StopRule::default()
        };
        for (at_ns, count, depth, ends) in [
            (99, 9, 1, false),
            (100, 5, 1, false),
            (100, 6, 1, true),
            (100, 6, 4, false),
            (200, 8, 4, true),
        ] {
            assert_eq!(
                minima.ends(at_ns, count, depth),
                ends,
                "{at_ns} {count} {depth}"
            );
        }
        let exact = StopRule {
            most_bytes: Some(1 << 20),
            ..minima
        };
        assert!(
            !exact.ends(1000, 1000, 1),
            "all bytes are moved, however long it takes"
        );
        let cut = StopRule {
            longest_span_ns: Some(500),
            ..exact
        };
        assert!(!cut.ends(499, 1000, 1));
        assert!(cut.ends(500, 1, 4));
    }
}
