//! Workloads of trials. A record holds each workload once: its trials name it by number.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Flush, Manner, Order, Payload, Rounds, StopRule, Workload};

/// Stands for a workload until the record is read to its end.
static UNRESOLVED: LazyLock<Arc<Workload>> = LazyLock::new(|| {
    Arc::new(Workload {
        id: String::new(),
        read_share_percent: 0,
        order: Order::Sequential,
        block_bytes: 0,
        queue_depth: 0,
        span_bytes: 0,
        flush: Flush::AfterTrial,
        payload: Payload::Zeros,
        ramp_ns: 0,
        stop: StopRule::default(),
        latency_metrics: false,
        manner: Manner::default(),
        procedure: None,
        rounds: Rounds::default(),
    })
});

/// The workload of a trial. A record holds its number in `workloads`; a trial by itself, as in a journal, the workload.
#[derive(Clone, Debug)]
pub struct SharedWorkload {
    workload: Arc<Workload>,
    number: Option<u32>,
}

impl SharedWorkload {
    /// Names the workload by its number in `table`, to which it is added if it is not there.
    pub(crate) fn share(&mut self, table: &mut Vec<Arc<Workload>>) {
        let known = table.iter().rposition(|known| *known == self.workload);
        let number = known.unwrap_or_else(|| {
            table.push(Arc::clone(&self.workload));
            table.len() - 1
        });
        self.workload = Arc::clone(&table[number]);
        self.number = u32::try_from(number).ok();
    }

    /// The workload of this number, which [`Self::resolve`] finds.
    pub(crate) fn numbered(number: u32) -> Self {
        Self {
            workload: Arc::clone(&UNRESOLVED),
            number: Some(number),
        }
    }

    /// Its number in the record's `workloads`, if it is there.
    pub(crate) fn number(&self) -> Option<u32> {
        self.number
    }

    /// Takes the workload from `table` if it was read as a number; returns the number if it is not there.
    pub(crate) fn resolve(&mut self, table: &[Arc<Workload>]) -> Result<(), u32> {
        let Some(number) = self.number else {
            return Ok(());
        };
        let found = usize::try_from(number).ok().and_then(|at| table.get(at));
        self.workload = Arc::clone(found.ok_or(number)?);
        Ok(())
    }
}

impl From<Workload> for SharedWorkload {
    fn from(workload: Workload) -> Self {
        Self {
            workload: Arc::new(workload),
            number: None,
        }
    }
}

impl Deref for SharedWorkload {
    type Target = Workload;

    fn deref(&self) -> &Workload {
        &self.workload
    }
}

/// A changed workload is no longer that of the table.
impl DerefMut for SharedWorkload {
    fn deref_mut(&mut self) -> &mut Workload {
        self.number = None;
        Arc::make_mut(&mut self.workload)
    }
}

impl PartialEq for SharedWorkload {
    fn eq(&self, other: &Self) -> bool {
        self.workload == other.workload
    }
}

impl Serialize for SharedWorkload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.workload.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SharedWorkload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Workload::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{Origin, OriginKind, Record, Trial, parse_record, record_to_json};

    fn trial(id: u32, workload: &str) -> Trial {
        serde_json::from_value(json!({
            "id": id, "round_index": 0, "started_ns": 0, "span_ns": 9, "streams": [],
            "latency": {
                "step_bits": 7, "buckets": [], "min_ns": 0, "max_ns": 0, "sum_ns": 0,
            },
            "slice_span_ns": 100, "slices": [], "stopped_by": "goal",
            "workload": {
                "id": workload, "read_share_percent": 0, "order": "sequential", "block_bytes": 4096,
                "queue_depth": 1, "span_bytes": 8192, "flush": "in_span", "payload": "zeros",
                "stop": {},
            },
        }))
        .unwrap()
    }

    #[test]
    fn a_record_holds_each_workload_once_and_must_hold_it() {
        let mut record = Record::new(uuid::Uuid::nil(), Origin::of(OriginKind::Simulated));
        record.trials = vec![trial(0, "first"), trial(1, "second"), trial(2, "first")];
        let json = record_to_json(&record).unwrap();
        record.share_workloads();
        assert_eq!(record_to_json(&record).unwrap(), json);
        assert_eq!(json.matches("first").count(), 1, "{json}");
        let read = parse_record(&json).unwrap();
        assert_eq!(read, record);
        assert_eq!(read.trials[1].workload.id, "second");
        assert_eq!(record_to_json(&read).unwrap(), json);
        let error = parse_record(&json.replace("[0,1,0]", "[0,2,0]")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "trial 1 names workload 2, which the record does not hold"
        );
        let mut changed = read;
        changed.trials[2].workload.queue_depth = 2;
        assert_eq!(changed.trials[0].workload.queue_depth, 1);
        assert!(
            record_to_json(&changed)
                .unwrap()
                .contains("\"queue_depth\":2")
        );
    }
}
