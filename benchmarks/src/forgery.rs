//! Forgeries of honest records: changes that a person could make to a file.

use std::collections::BTreeMap;

use cardmark_core::{
    BlockState, DeviceInfo, FindingKind, OriginKind, ParseError, Record, Slice, StorageKind, Trial,
    parse_record, record_to_json, run_id_from_bytes,
};
use cardmark_judge::derive_again;

/// A change of a record; the second record is another honest one. Returns false if it does not apply.
type Change = fn(&mut Record, &Record) -> bool;

/// A forgery.
#[derive(Clone, Copy, Debug)]
pub struct Forgery {
    /// Its name.
    pub name: &'static str,
    /// True if the forger derives all figures again.
    derives: bool,
    change: Change,
}

impl Forgery {
    /// Returns the forged record as a file holds it, or an error if the result cannot be read; `None` if the forgery does not
    /// apply to the record. `other` is another honest one.
    #[must_use]
    pub fn of(&self, base: &Record, other: &Record) -> Option<Result<Record, ParseError>> {
        let mut forged = base.clone();
        if !(self.change)(&mut forged, other) {
            return None;
        }
        forged.share_workloads();
        if self.derives {
            let _ = derive_again(&mut forged);
            // The forger removes the accusation.
            forged
                .findings
                .retain(|one| one.kind != FindingKind::ContradictingTrials);
        }
        Some(parse_record(&record_to_json(&forged).ok()?))
    }
}

/// Returns whether a record is a whole run of `quick`: forgeries are changes of these.
pub fn is_base(record: &Record) -> bool {
    let is_quick = record
        .suite
        .as_ref()
        .is_some_and(|suite| suite.name == "quick");
    is_quick && record.trials.len() > 60 && record.trials.iter().all(Trial::is_whole)
}

/// Changes the last trial of a workload.
fn last(record: &mut Record, workload: &str, change: impl Fn(&mut Trial)) -> bool {
    let trial = record
        .trials
        .iter_mut()
        .rev()
        .find(|trial| trial.workload.id == workload);
    trial.map(change).is_some()
}

/// Changes all trials of a workload.
fn all(record: &mut Record, workload: &str, change: impl Fn(&mut Trial)) -> bool {
    let mut trials = record
        .trials
        .iter_mut()
        .filter(|trial| trial.workload.id == workload);
    trials.by_ref().map(change).count() > 0
}

const RANDOM: &str = "rand_read_4k";
const WRITE: &str = "rand_write_4k";
const DEEP: &str = "rand_read_4k_q32";
const SEQUENTIAL: &str = "seq_read_1m";

fn set_span(trial: &mut Trial, span_ns: u64) {
    trial.span_ns = span_ns;
    trial.streams[0].span_ns = span_ns;
}

fn double_counts(trial: &mut Trial) {
    trial.streams[0].operations_count *= 2;
    trial.streams[0].read_operations_count *= 2;
    trial.streams[0].bytes *= 2;
}

/// Doubles counts, histogram and slices.
fn double_all(trial: &mut Trial) {
    double_counts(trial);
    trial
        .latency
        .buckets
        .iter_mut()
        .for_each(|bucket| bucket.1 *= 2);
    for slice in &mut trial.slices {
        slice.0 *= 2;
        slice.1 *= 2;
    }
}

/// Halves all times of a trial, with slices of the usual span: pairs are merged.
fn halve_times(trial: &mut Trial) {
    set_span(trial, trial.span_ns / 2);
    halve_latencies(trial);
    trial.slices = trial.slices.chunks(2).map(merged).collect();
    for windows in &mut trial.windows {
        windows
            .slowest
            .iter_mut()
            .for_each(|window| window.span_ns /= 2);
    }
    if let Some(untimed) = &mut trial.untimed {
        untimed.ramp_longest_ns /= 2;
        untimed.drain_longest_ns /= 2;
    }
}

fn merged(pair: &[Slice]) -> Slice {
    let slowest = pair
        .iter()
        .max_by_key(|slice| slice.2)
        .copied()
        .unwrap_or_default();
    let bytes = pair.iter().map(|slice| slice.0).sum();
    Slice(
        bytes,
        pair.iter().map(|slice| slice.1).sum(),
        slowest.2,
        slowest.3,
    )
}

/// Halves latencies: one octave lower, which is 128 buckets.
fn halve_latencies(trial: &mut Trial) {
    let latency = &mut trial.latency;
    latency.min_ns /= 2;
    latency.max_ns /= 2;
    latency.sum_ns /= 2;
    latency
        .buckets
        .iter_mut()
        .for_each(|bucket| bucket.0 = bucket.0.saturating_sub(128));
    trial.slices.iter_mut().for_each(|slice| slice.2 /= 2);
}

/// Copies what was measured from one trial into another one of the same workload.
fn copy_measured(from: &Trial, to: &mut Trial) {
    let own = (to.id, to.round_index, to.started_ns);
    *to = from.clone();
    (to.id, to.round_index, to.started_ns) = own;
}

/// Positions of the trials of a workload in the record.
fn places(record: &Record, workload: &str) -> Vec<usize> {
    let trials = record.trials.iter().enumerate();
    trials
        .filter(|(_, trial)| trial.workload.id == workload)
        .map(|(at, _)| at)
        .collect()
}

/// Position of the slowest trial of a workload.
fn slowest(record: &Record, workload: &str) -> Option<usize> {
    let rate = |&at: &usize| {
        record.trials[at].operations_count() * 1_000_000_000 / record.trials[at].span_ns.max(1)
    };
    places(record, workload).into_iter().min_by_key(rate)
}

fn renumber(record: &mut Record) {
    let mut rounds = BTreeMap::new();
    for (trial, id) in record.trials.iter_mut().zip(0..) {
        trial.id = id;
        let round = rounds.entry(trial.workload.id.clone()).or_insert(0);
        trial.round_index = *round;
        *round += 1;
    }
}

/// Removes the slowest operation of a trial everywhere; its time too if asked.
fn without_slowest(trial: &mut Trial, with_time: bool) {
    let removed_ns = trial.latency.max_ns;
    let block_bytes = trial.workload.block_bytes;
    let Some(bucket) = trial.latency.buckets.last_mut() else {
        return;
    };
    bucket.1 -= 1;
    trial.latency.buckets.retain(|bucket| bucket.1 > 0);
    trial.latency.sum_ns -= removed_ns;
    trial.streams[0].operations_count -= 1;
    trial.streams[0].read_operations_count =
        trial.streams[0].read_operations_count.saturating_sub(1);
    trial.streams[0].bytes -= block_bytes;
    if let Some(slice) = trial.slices.iter_mut().max_by_key(|slice| slice.2) {
        slice.0 -= block_bytes;
        slice.1 -= 1;
        slice.2 = 0;
    }
    let longest = trial.slices.iter().map(|slice| slice.2).max().unwrap_or(0);
    trial.latency.max_ns = longest;
    if with_time {
        set_span(trial, trial.span_ns - removed_ns);
    }
}

const fn of(name: &'static str, derives: bool, change: Change) -> Forgery {
    Forgery {
        name,
        derives,
        change,
    }
}

/// All kinds of forgeries.
pub const FORGERIES: [Forgery; 47] = [
    of("value of a metric", false, |r, _| {
        r.metrics[0].value *= 2.0;
        true
    }),
    of("interval of a metric", false, |r, _| {
        r.metrics[0]
            .low
            .as_mut()
            .map(|low| *low = *low * 1.1 + 1.0)
            .is_some()
    }),
    of("warnings of metrics dropped", false, |r, _| {
        let had = r.metrics.iter().any(|metric| !metric.warnings.is_empty());
        r.metrics
            .iter_mut()
            .for_each(|metric| metric.warnings.clear());
        had
    }),
    of("metric added", false, |r, _| {
        let mut metric = r.metrics[0].clone();
        metric.id = "sqlite_tps".to_owned();
        r.metrics.push(metric);
        true
    }),
    of("metric dropped", false, |r, _| r.metrics.pop().is_some()),
    of("derived finding dropped", false, |r, _| {
        let at = r.findings.iter().position(|one| one.noticed_by.is_none());
        at.map(|at| r.findings.remove(at)).is_some()
    }),
    of("finding of the run dropped", false, |r, _| {
        let at = r.findings.iter().position(|one| one.noticed_by.is_some());
        at.map(|at| r.findings.remove(at)).is_some()
    }),
    of("counts doubled", true, |r, _| all(r, RANDOM, double_counts)),
    of("counts, histogram and slices doubled", true, |r, _| {
        all(r, RANDOM, double_all)
    }),
    of("the same at depth 32", true, |r, _| {
        all(r, DEEP, double_all)
    }),
    of("spans halved", true, |r, _| {
        all(r, RANDOM, |t| set_span(t, t.span_ns / 2))
    }),
    of("spans and sums halved", true, |r, _| {
        all(r, RANDOM, |t| {
            set_span(t, t.span_ns / 2);
            t.latency.sum_ns /= 2;
        })
    }),
    of("latencies halved", true, |r, _| {
        all(r, RANDOM, halve_latencies)
    }),
    of("spans, latencies and slices halved", true, |r, _| {
        all(r, RANDOM, halve_times)
    }),
    of("the same, sequential", true, |r, _| {
        all(r, SEQUENTIAL, halve_times)
    }),
    of("the same, and the rule of the end", true, |r, _| {
        all(r, RANDOM, |t| {
            halve_times(t);
            t.workload.stop.least_span_ns /= 2;
        })
    }),
    of("spans 1 ns shorter", true, |r, _| {
        all(r, RANDOM, |t| set_span(t, t.span_ns - 1))
    }),
    of("largest latency lowered", true, |r, _| {
        all(r, WRITE, |t| t.latency.max_ns -= 1)
    }),
    of("slowest operation removed", true, |r, _| {
        all(r, WRITE, |t| without_slowest(t, false))
    }),
    of(
        "slowest operations removed with their time",
        true,
        |r, _| all(r, WRITE, |t| without_slowest(t, true)),
    ),
    of("slowest trial dropped", true, |r, _| {
        slowest(r, WRITE).map(|at| r.trials.remove(at)).is_some()
    }),
    of("slowest trial dropped, others renumbered", true, |r, _| {
        let dropped = slowest(r, WRITE).map(|at| r.trials.remove(at)).is_some();
        renumber(r);
        dropped
    }),
    of("last trial dropped", true, |r, _| {
        let bytes = r.trials.pop().map_or(0, |trial| trial.written_bytes);
        r.written_bytes -= bytes;
        true
    }),
    of("other seed", true, |r, _| {
        r.seed = Some("00000000deadbeef".to_owned());
        true
    }),
    of("trial copied, random", true, |r, _| {
        let at = places(r, RANDOM);
        let from = r.trials[at[0]].clone();
        copy_measured(&from, &mut r.trials[at[1]]);
        true
    }),
    of("trial copied, sequential", true, |r, _| {
        let at = places(r, SEQUENTIAL);
        let from = r.trials[at[0]].clone();
        copy_measured(&from, &mut r.trials[at[1]]);
        true
    }),
    of("histogram copied", true, |r, _| {
        let at = places(r, DEEP);
        r.trials[at[1]].latency = r.trials[at[0]].latency.clone();
        true
    }),
    of("trials of another record", true, |r, other| {
        let (own, others) = (places(r, RANDOM), places(other, RANDOM));
        for (&to, &from) in own.iter().zip(&others) {
            copy_measured(&other.trials[from], &mut r.trials[to]);
        }
        r.seed != other.seed
    }),
    of("offsets of slowest operations changed", true, |r, _| {
        all(r, RANDOM, |t| {
            t.slices
                .iter_mut()
                .for_each(|slice| slice.3 = slice.3.map(|at| at ^ 4096));
        })
    }),
    of("rounds exchanged", true, |r, _| {
        let at = places(r, RANDOM);
        (r.trials[at[0]].round_index, r.trials[at[1]].round_index) = (1, 0);
        true
    }),
    of("one trial shifted in time", true, |r, _| {
        last(r, RANDOM, |t| t.started_ns -= 1_000_000_000)
    }),
    of("all trials shifted in time", true, |r, _| {
        r.trials
            .iter_mut()
            .for_each(|trial| trial.started_ns += 3_600_000_000_000);
        true
    }),
    of("queue depth relabelled", true, |r, _| {
        all(r, DEEP, |t| t.workload.queue_depth = 1)
    }),
    of("block size relabelled", true, |r, _| {
        all(r, RANDOM, |t| t.workload.block_bytes = 8192)
    }),
    of("counters not in sectors", true, |r, _| {
        last(r, RANDOM, |t| {
            t.device_counters
                .iter_mut()
                .for_each(|counters| counters.read_bytes += 1);
        })
    }),
    of("counters raised to the bytes requested", true, |r, _| {
        for trial in &mut r.trials {
            let bytes = trial.bytes() + trial.untimed_bytes;
            let Some(counters) = &mut trial.device_counters else {
                return false;
            };
            (counters.read_bytes, counters.write_bytes) = (bytes, 0);
        }
        true
    }),
    of("page cache labelled as direct", true, |r, _| {
        let Some(target) = &mut r.target else {
            return false;
        };
        target.direct = Some(true);
        let count = r.findings.len();
        r.findings.retain(|one| one.kind != FindingKind::Buffered);
        r.findings.len() < count
    }),
    of("flush after trials shortened", true, |r, _| {
        all(r, WRITE, |t| {
            t.flush_span_ns = t.flush_span_ns.map(|span| span / 10);
        })
    }),
    of("bytes written lowered", true, |r, _| {
        r.written_bytes /= 2;
        true
    }),
    of("other suite", false, |r, _| {
        let Some(suite) = &mut r.suite else {
            return false;
        };
        (suite.name, suite.version, suite.digest) = ("dramble".to_owned(), 1, None);
        true
    }),
    of(
        "unknown version of the suite, with other figures",
        false,
        |r, _| {
            r.metrics[0].value *= 2.0;
            r.suite.as_mut().map(|suite| suite.version = 99).is_some()
        },
    ),
    of("older method, with other figures", false, |r, _| {
        r.metrics[0].value *= 2.0;
        r.method = Some(1);
        true
    }),
    of(
        "older method, without ramps, with other figures",
        false,
        |r, _| {
            r.metrics[0].value *= 2.0;
            r.method = Some(1);
            r.trials.iter_mut().for_each(|trial| trial.untimed = None);
            true
        },
    ),
    of("size of the device", true, |r, _| {
        let device = r.devices.first_mut();
        device
            .and_then(|one| one.size_bytes.as_mut())
            .map(|size| *size *= 2)
            .is_some()
    }),
    of("simulated labelled as measured", true, |r, _| {
        let was = r.origin.kind;
        r.origin.kind = OriginKind::Measured;
        was == OriginKind::Simulated
    }),
    of("disk as a card of a Raspberry Pi 5", true, |r, _| {
        r.board.get_or_insert_default().model = Some("Raspberry Pi 5 Model B Rev 1.0".to_owned());
        r.devices = vec![DeviceInfo {
            name: "disk0".to_owned(),
            model: Some("SD32G".to_owned()),
            size_bytes: Some(31_914_983_424),
            ..DeviceInfo::default()
        }];
        let host = r.host.as_mut();
        host.map(|host| host.is_virtual = Some(false)).is_some()
            && r.origin.kind == OriginKind::Measured
    }),
    of("copy with another id and date", true, |r, _| {
        r.id = run_id_from_bytes([7; 16]);
        r.started_at = Some("2026-01-01T00:00:00Z".to_owned());
        true
    }),
];

/// All times of a run halved, of its ramps and rests too, as if the card were twice as fast.
fn halve_run(record: &mut Record) {
    for trial in &mut record.trials {
        halve_times(trial);
        trial.started_ns /= 2;
        trial.flush_span_ns = trial.flush_span_ns.map(|span_ns| span_ns / 2);
        if let Some(untimed) = &mut trial.untimed {
            untimed.ramp_span_ns /= 2;
            untimed.drain_span_ns /= 2;
        }
        trial.workload.stop.least_span_ns /= 2;
        trial.workload.ramp_ns /= 2;
    }
}

/// Forgeries that concern a site: figures without their trials in the context of honest runs, and whole runs made up.
pub const OF_SITES: [Forgery; 6] = [
    of(
        "all times of the run halved, with all rules",
        true,
        |r, _| {
            halve_run(r);
            true
        },
    ),
    of("figures without trials", false, |r, _| {
        r.trials.clear();
        r.metrics.iter_mut().for_each(|one| one.trials.clear());
        true
    }),
    of(
        "other content of the suite, with other figures",
        false,
        |r, _| {
            r.metrics[0].value *= 2.0;
            let suite = r.suite.as_mut();
            suite
                .map(|suite| suite.digest = Some("0".repeat(64)))
                .is_some()
        },
    ),
    of("no method, with other figures", false, |r, _| {
        r.metrics[0].value *= 2.0;
        r.method = None;
        true
    }),
    of("no suite, with other figures", false, |r, _| {
        r.metrics[0].value *= 2.0;
        r.suite = None;
        true
    }),
    of("measured in a virtual machine", false, |r, _| {
        let host = r.host.as_mut();
        host.map(|host| host.is_virtual = Some(true)).is_some()
            && r.origin.kind == OriginKind::Measured
    }),
];

/// Forgeries of tests of storage.
pub const OF_TESTS: [Forgery; 5] = [
    of("kind of storage", false, |r, _| {
        r.integrity.as_mut().is_some_and(|test| {
            let was = std::mem::replace(&mut test.kind, StorageKind::Confirmed);
            was != StorageKind::Confirmed
        })
    }),
    of("kind of storage, with its verdict", true, |r, _| {
        r.integrity.as_mut().is_some_and(|test| {
            let was = std::mem::replace(&mut test.kind, StorageKind::Confirmed);
            test.real_bytes = test.size_bytes;
            was != StorageKind::Confirmed
        })
    }),
    of("map of the storage, with its verdict", true, |r, _| {
        let is_other = r.surface.len() > 1;
        r.surface.truncate(1);
        for part in &mut r.surface {
            (part.start_bytes, part.state) = (0, BlockState::Good);
            part.size_bytes = r.integrity.as_ref().map_or(0, |test| test.size_bytes);
            part.written_to_bytes = None;
        }
        is_other
    }),
    of("verdict dropped", false, |r, _| r.derived.take().is_some()),
    of("figures added", false, |r, other| {
        r.metrics.clone_from(&other.metrics);
        r.metrics.iter_mut().for_each(|one| one.trials.clear());
        r.integrity.is_some() && !r.metrics.is_empty()
    }),
];
