//! Forgeries of honest records, and what detects each: `forgeries FILE…`, with records that the program wrote. Without
//! the original, from the changed record alone; a last column shows what a kept original adds.
//! See `benchmarks/forgeries/run`.

#![allow(clippy::print_stdout, reason = "a program for the hand")]

use std::collections::BTreeSet;
use std::process::ExitCode;

use cardmark_benchmarks::ended;
use cardmark_core::{
    FindingKind, OriginKind, Record, Slice, Trial, evidence_digest, parse_record, record_to_json,
    run_id_from_bytes,
};
use cardmark_judge::derive_again;
use cardmark_stats::discrepancies;

/// A change of a record; the second record is another honest one. Returns false if it does not apply.
type Change = fn(&mut Record, &Record) -> bool;

/// A forgery: its name, whether the forger derives all figures again, and the change.
struct Forgery(&'static str, bool, Change);

fn main() -> ExitCode {
    ended(table())
}

fn table() -> Result<bool, String> {
    let mut honest = Vec::new();
    for file in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
        let record = parse_record(&text).map_err(|error| format!("{file}: {error}"))?;
        if !record.trials.is_empty() {
            honest.push((file, record));
        }
    }
    let mut accused = 0;
    for (file, record) in &honest {
        let found = detected(record.clone());
        if !found.is_empty() {
            accused += 1;
            println!(
                "accused: {file}: {found:?} {:?}",
                discrepancies(record).first()
            );
        }
    }
    let trials: usize = honest.iter().map(|(_, record)| record.trials.len()).sum();
    println!(
        "{} honest records with {trials} trials, {accused} accused\n",
        honest.len()
    );
    let bases: Vec<&Record> = honest
        .iter()
        .map(|(_, record)| record)
        .filter(is_base)
        .collect();
    println!(
        "{} records changed\n\n| Forgery | Detected by | Of |",
        bases.len()
    );
    println!("|---|---|---:|");
    let rows = FORGERIES.iter().map(|forgery| row(forgery, &bases));
    let detected = rows.filter(|&is_detected| is_detected).count();
    println!("\n{detected} of {} kinds detected", FORGERIES.len());
    Ok(accused == 0)
}

/// Whole runs of `quick`, of each kind of target.
fn is_base(record: &&Record) -> bool {
    let is_quick = record
        .suite
        .as_ref()
        .is_some_and(|suite| suite.name == "quick");
    is_quick && record.trials.len() > 60 && record.trials.iter().all(Trial::is_whole)
}

/// Prints the row of a forgery; returns true if it was detected in every record to which it applies.
fn row(Forgery(name, derives, change): &Forgery, bases: &[&Record]) -> bool {
    let (mut by, mut applied, mut found) = (BTreeSet::new(), 0, 0);
    let mut with_original = BTreeSet::new();
    for (index, base) in bases.iter().enumerate() {
        let other = bases[(index + 1) % bases.len()];
        let mut forged = (*base).clone();
        if !change(&mut forged, other) {
            continue;
        }
        forged.share_workloads();
        if *derives {
            let _ = derive_again(&mut forged);
            // The forger removes the accusation.
            forged
                .findings
                .retain(|one| one.kind != FindingKind::ContradictingTrials);
        }
        let Some(forged) = record_to_json(&forged)
            .ok()
            .and_then(|text| parse_record(&text).ok())
        else {
            continue;
        };
        applied += 1;
        with_original.extend(beside(base, &forged));
        let names = detected(forged);
        found += u32::from(!names.is_empty());
        by.extend(names);
    }
    let joined = |names: BTreeSet<&str>| names.into_iter().collect::<Vec<_>>().join(", ");
    let by = match (by.is_empty(), with_original.is_empty()) {
        (false, _) => joined(by),
        (true, false) => format!(
            "not from the record alone; {} beside the original",
            joined(with_original)
        ),
        (true, true) => "not".to_owned(),
    };
    println!("| {name} | {by} | {found}/{applied} |");
    applied > 0 && found == applied
}

/// What detects a change from the record alone.
fn detected(mut record: Record) -> BTreeSet<&'static str> {
    let mut names: BTreeSet<&str> = discrepancies(&record)
        .iter()
        .map(|one| match one.kind {
            cardmark_stats::DiscrepancyKind::Accounting => "accounting",
            cardmark_stats::DiscrepancyKind::Order => "order",
            cardmark_stats::DiscrepancyKind::Seed => "seed",
            cardmark_stats::DiscrepancyKind::Copy => "copy",
        })
        .collect();
    let own = FindingKind::ContradictingTrials.name();
    let is_other = |name: &String| *name != own;
    // The finding itself puts a warning on every metric.
    let is_clean = names.is_empty();
    if derive_again(&mut record)
        .iter()
        .any(|name| is_clean && is_other(name))
    {
        names.insert("re-derivation");
    }
    names
}

/// What shows that two records are not one measurement, or are, if the original is kept.
fn beside(original: &Record, forged: &Record) -> Option<&'static str> {
    if original.id == forged.id {
        return Some("id");
    }
    (evidence_digest(original) == evidence_digest(forged)).then_some("evidence digest")
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
    let mut rounds = std::collections::BTreeMap::new();
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

const FORGERIES: [Forgery; 46] = [
    Forgery("value of a metric", false, |r, _| {
        r.metrics[0].value *= 2.0;
        true
    }),
    Forgery("interval of a metric", false, |r, _| {
        r.metrics[0]
            .low
            .as_mut()
            .map(|low| *low = *low * 1.1 + 1.0)
            .is_some()
    }),
    Forgery("warnings of metrics dropped", false, |r, _| {
        let had = r.metrics.iter().any(|metric| !metric.warnings.is_empty());
        r.metrics
            .iter_mut()
            .for_each(|metric| metric.warnings.clear());
        had
    }),
    Forgery("metric added", false, |r, _| {
        let mut metric = r.metrics[0].clone();
        metric.id = "sqlite_tps".to_owned();
        r.metrics.push(metric);
        true
    }),
    Forgery("metric dropped", false, |r, _| r.metrics.pop().is_some()),
    Forgery("derived finding dropped", false, |r, _| {
        let at = r.findings.iter().position(|one| one.noticed_by.is_none());
        at.map(|at| r.findings.remove(at)).is_some()
    }),
    Forgery("finding of the run dropped", false, |r, _| {
        let at = r.findings.iter().position(|one| one.noticed_by.is_some());
        at.map(|at| r.findings.remove(at)).is_some()
    }),
    Forgery("counts doubled", true, |r, _| all(r, RANDOM, double_counts)),
    Forgery("counts, histogram and slices doubled", true, |r, _| {
        all(r, RANDOM, double_all)
    }),
    Forgery("the same at depth 32", true, |r, _| {
        all(r, DEEP, double_all)
    }),
    Forgery("spans halved", true, |r, _| {
        all(r, RANDOM, |t| set_span(t, t.span_ns / 2))
    }),
    Forgery("spans and sums halved", true, |r, _| {
        all(r, RANDOM, |t| {
            set_span(t, t.span_ns / 2);
            t.latency.sum_ns /= 2;
        })
    }),
    Forgery("latencies halved", true, |r, _| {
        all(r, RANDOM, halve_latencies)
    }),
    Forgery("spans, latencies and slices halved", true, |r, _| {
        all(r, RANDOM, halve_times)
    }),
    Forgery("the same, sequential", true, |r, _| {
        all(r, SEQUENTIAL, halve_times)
    }),
    Forgery("the same, and the rule of the end", true, |r, _| {
        all(r, RANDOM, |t| {
            halve_times(t);
            t.workload.stop.least_span_ns /= 2;
        })
    }),
    Forgery("spans 1 ns shorter", true, |r, _| {
        all(r, RANDOM, |t| set_span(t, t.span_ns - 1))
    }),
    Forgery("largest latency lowered", true, |r, _| {
        all(r, WRITE, |t| t.latency.max_ns -= 1)
    }),
    Forgery("slowest operation removed", true, |r, _| {
        all(r, WRITE, |t| without_slowest(t, false))
    }),
    Forgery(
        "slowest operations removed with their time",
        true,
        |r, _| all(r, WRITE, |t| without_slowest(t, true)),
    ),
    Forgery("slowest trial dropped", true, |r, _| {
        slowest(r, WRITE).map(|at| r.trials.remove(at)).is_some()
    }),
    Forgery("slowest trial dropped, others renumbered", true, |r, _| {
        let dropped = slowest(r, WRITE).map(|at| r.trials.remove(at)).is_some();
        renumber(r);
        dropped
    }),
    Forgery("last trial dropped", true, |r, _| {
        let bytes = r.trials.pop().map_or(0, |trial| trial.written_bytes);
        r.written_bytes -= bytes;
        true
    }),
    Forgery("other seed", true, |r, _| {
        r.seed = Some("00000000deadbeef".to_owned());
        true
    }),
    Forgery("trial copied, random", true, |r, _| {
        let at = places(r, RANDOM);
        let from = r.trials[at[0]].clone();
        copy_measured(&from, &mut r.trials[at[1]]);
        true
    }),
    Forgery("trial copied, sequential", true, |r, _| {
        let at = places(r, SEQUENTIAL);
        let from = r.trials[at[0]].clone();
        copy_measured(&from, &mut r.trials[at[1]]);
        true
    }),
    Forgery("histogram copied", true, |r, _| {
        let at = places(r, DEEP);
        r.trials[at[1]].latency = r.trials[at[0]].latency.clone();
        true
    }),
    Forgery("trials of another record", true, |r, other| {
        let (own, others) = (places(r, RANDOM), places(other, RANDOM));
        for (&to, &from) in own.iter().zip(&others) {
            copy_measured(&other.trials[from], &mut r.trials[to]);
        }
        r.seed != other.seed
    }),
    Forgery("offsets of slowest operations changed", true, |r, _| {
        all(r, RANDOM, |t| {
            t.slices
                .iter_mut()
                .for_each(|slice| slice.3 = slice.3.map(|at| at ^ 4096));
        })
    }),
    Forgery("rounds exchanged", true, |r, _| {
        let at = places(r, RANDOM);
        (r.trials[at[0]].round_index, r.trials[at[1]].round_index) = (1, 0);
        true
    }),
    Forgery("one trial shifted in time", true, |r, _| {
        last(r, RANDOM, |t| t.started_ns -= 1_000_000_000)
    }),
    Forgery("all trials shifted in time", true, |r, _| {
        r.trials
            .iter_mut()
            .for_each(|trial| trial.started_ns += 3_600_000_000_000);
        true
    }),
    Forgery("queue depth relabelled", true, |r, _| {
        all(r, DEEP, |t| t.workload.queue_depth = 1)
    }),
    Forgery("block size relabelled", true, |r, _| {
        all(r, RANDOM, |t| t.workload.block_bytes = 8192)
    }),
    Forgery("counters not in sectors", true, |r, _| {
        last(r, RANDOM, |t| {
            t.device_counters
                .iter_mut()
                .for_each(|counters| counters.read_bytes += 1);
        })
    }),
    Forgery("counters raised to the bytes requested", true, |r, _| {
        for trial in &mut r.trials {
            let bytes = trial.bytes() + trial.untimed_bytes;
            let Some(counters) = &mut trial.device_counters else {
                return false;
            };
            (counters.read_bytes, counters.write_bytes) = (bytes, 0);
        }
        true
    }),
    Forgery("page cache labelled as direct", true, |r, _| {
        let Some(target) = &mut r.target else {
            return false;
        };
        target.direct = Some(true);
        let count = r.findings.len();
        r.findings.retain(|one| one.kind != FindingKind::Buffered);
        r.findings.len() < count
    }),
    Forgery("flush after trials shortened", true, |r, _| {
        all(r, WRITE, |t| {
            t.flush_span_ns = t.flush_span_ns.map(|span| span / 10);
        })
    }),
    Forgery("bytes written lowered", true, |r, _| {
        r.written_bytes /= 2;
        true
    }),
    Forgery("other suite", false, |r, _| {
        let Some(suite) = &mut r.suite else {
            return false;
        };
        (suite.name, suite.version, suite.digest) = ("dramble".to_owned(), 1, None);
        true
    }),
    Forgery(
        "unknown version of the suite, with other figures",
        false,
        |r, _| {
            r.metrics[0].value *= 2.0;
            r.suite.as_mut().map(|suite| suite.version = 99).is_some()
        },
    ),
    Forgery("older method, with other figures", false, |r, _| {
        r.metrics[0].value *= 2.0;
        r.method = Some(1);
        true
    }),
    Forgery(
        "older method, without ramps, with other figures",
        false,
        |r, _| {
            r.metrics[0].value *= 2.0;
            r.method = Some(1);
            r.trials.iter_mut().for_each(|trial| trial.untimed = None);
            true
        },
    ),
    Forgery("size of the device", true, |r, _| {
        let device = r.devices.first_mut();
        device
            .and_then(|one| one.size_bytes.as_mut())
            .map(|size| *size *= 2)
            .is_some()
    }),
    Forgery("simulated labelled as measured", true, |r, _| {
        let was = r.origin.kind;
        r.origin.kind = OriginKind::Measured;
        was == OriginKind::Simulated
    }),
    Forgery("copy with another id and date", true, |r, _| {
        r.id = run_id_from_bytes([7; 16]);
        r.started_at = Some("2026-01-01T00:00:00Z".to_owned());
        true
    }),
];
