//! Checks of what the suite `sustained` claims about drawn courses.

use std::cell::RefCell;
use std::rc::Rc;

use cardmark_core::{FindingKind, MIB, Record, Rng, Suite, TargetKind};
use cardmark_engine::{Request, TargetRoom};
use cardmark_judge::{CameraBasis, answer};

use crate::LIMIT_NS;
use crate::claim::{Claim, Stretch, Truth};
use crate::course::run_on;
use crate::drawn::{Drawn, kind_name};

/// Maximum relative error of a rate, and the rounding of its text in MB/s.
const RIGHT: f64 = 0.05;
const ROUNDED_MB: f64 = 0.05;
/// Rounding of an amount in the text, bytes.
const ROUNDED_BYTES: f64 = 0.051e9;
/// Limits of a series that writes all of the storage: seconds, and bytes if the capacity is not known.
const LONGEST_S: f64 = 3600.0;
const UNKNOWN_BYTES: f64 = 128.0 * 1024.0 * 1024.0 * 1024.0;
/// Kinds of courses that decline without an end, and kinds that never fall.
const DECLINING: [&str; 2] = ["slow decline", "late decline"];
const LEVEL: [&str; 3] = ["flat", "stalls of up to 25 s", "a freeze in the last flush"];

/// How much is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// The suite's own rule.
    Usual,
    /// `--until-settled`.
    Whole,
    /// `--bytes`.
    Bytes(u64),
}

/// A target: its capacity, the part of it that is written, and the part that the program knows.
#[derive(Clone, Copy, Debug)]
struct Target {
    capacity_bytes: u64,
    room: TargetRoom,
}

impl Target {
    /// Draws a device, a file on a filesystem, or a file on storage of unknown size.
    fn drawn(seed: u64) -> Self {
        let mut rng = Rng::for_part(seed, "target", 0);
        let some = (1 << 30) + rng.below(3 << 30);
        let many = [
            8_000_000_000,
            16_000_000_000,
            32_000_000_000,
            63_999_836_160,
        ];
        let usual = many[usize::try_from(rng.below(4)).unwrap_or(0)];
        let file = |known: Option<u64>, free_bytes: u64| TargetRoom {
            kind: TargetKind::Directory,
            usable_bytes: free_bytes / 4,
            disk_bytes: known,
            ..TargetRoom::disk(TargetKind::Directory, 0)
        };
        let free_bytes = usual / 10 + rng.below(usual * 8 / 10);
        let (capacity_bytes, room) = match seed % 5 {
            0 => (some, TargetRoom::disk(TargetKind::Device, some)),
            1 => (usual, file(Some(usual), free_bytes)),
            2 => (usual, file(None, free_bytes)),
            _ => (usual, TargetRoom::disk(TargetKind::Device, usual)),
        };
        Self {
            capacity_bytes,
            room,
        }
    }
}

/// Result of one run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The claims, if there was a sentence.
    pub claim: Option<Claim>,
    /// Relative error of the slowest minute.
    pub minute_error: Option<f64>,
    /// Relative error of the rate over the bytes that it is claimed for.
    pub rate_error: f64,
    /// True if all of the storage was written.
    pub is_whole: bool,
    /// What was wrong.
    pub faults: Vec<String>,
}

/// Runs the suite on a drawn course and compares its claims with the writes.
///
/// # Errors
/// If the suite cannot be planned.
pub fn outcome(kind: usize, seed: u64, amount: Amount, suite: &Suite) -> Result<Outcome, String> {
    let target = Target::drawn(seed);
    let course = Drawn::new(kind, seed, target.capacity_bytes);
    let course = Rc::new(RefCell::new(course));
    let request = Request {
        seed,
        limit_ns: LIMIT_NS,
        most_bytes: match amount {
            Amount::Bytes(bytes) => Some(bytes),
            Amount::Usual | Amount::Whole => None,
        },
        until_settled: amount == Amount::Whole,
        ..Request::default()
    };
    let record = run_on(&course, suite, &request, target.room)?;
    let course = course.borrow();
    let trial = record.trials.first().ok_or("no trial")?;
    let count = usize::try_from(trial.operations_count()).map_err(|error| error.to_string())?;
    let flushed_s = course.flushes_s.first().copied().unwrap_or(0.0);
    let truth = Truth::new(&course.writes[..count], flushed_s);
    let mut found = compared(&record, &truth, &target);
    if amount == Amount::Whole {
        whole_faults(kind_name(kind), &truth, &target, &mut found);
    }
    let has_false_fall = LEVEL.contains(&kind_name(kind))
        && found.claim.as_ref().is_some_and(|claim| claim.is_falling);
    if has_false_fall {
        found.faults.push("called falling".to_owned());
    }
    Ok(found)
}

fn compared(record: &Record, truth: &Truth<'_>, target: &Target) -> Outcome {
    let mut outcome = Outcome {
        claim: None,
        minute_error: None,
        rate_error: 0.0,
        is_whole: truth.places_bytes() + MIB as f64 > target.capacity_bytes as f64,
        faults: Vec::new(),
    };
    let mut findings = record.findings.iter();
    let found = findings.find(|finding| finding.kind == FindingKind::WrittenPart);
    let Some(claim) = found.and_then(|finding| Claim::read(&finding.detail)) else {
        // A trial without a full slice has no rate.
        if truth.span_s().1 - truth.span_s().0 > 0.2 {
            outcome.faults.push(format!("no claim: {found:?}"));
        }
        return outcome;
    };
    amount_faults(&claim, truth, target, &mut outcome);
    rate_faults(&claim, truth, &mut outcome);
    minute_faults(record, &claim, truth, &mut outcome);
    outcome.claim = Some(claim);
    outcome
}

/// No claim beyond what was written.
fn amount_faults(claim: &Claim, truth: &Truth<'_>, target: &Target, outcome: &mut Outcome) {
    let places = truth.places_bytes();
    let percent = claim.percent.unwrap_or(0.0);
    let rules = [
        (
            (claim.written_bytes - truth.bytes()).abs() <= ROUNDED_BYTES,
            "another amount",
        ),
        (
            claim
                .same_bytes
                .map_or(truth.bytes() <= places + 1.0, |same| {
                    (same - places).abs() <= ROUNDED_BYTES
                }),
            "other places",
        ),
        (
            percent / 100.0 * target.capacity_bytes as f64 <= places + MIB as f64,
            "too large a share",
        ),
        (
            claim.percent.is_none() || target.room.disk_bytes.is_some(),
            "a share of an unknown capacity",
        ),
        (
            claim.is_limited || outcome.is_whole,
            "no word of what was not written",
        ),
    ];
    let broken = rules.iter().filter(|(holds, _)| !holds);
    let broken = broken.map(|(_, fault)| format!("{fault}: {claim:?}, {places} bytes at places"));
    outcome.faults.extend(broken);
}

/// The rate is that of the bytes that it is claimed for.
fn rate_faults(claim: &Claim, truth: &Truth<'_>, outcome: &mut Outcome) {
    let (begin_s, end_s) = truth.span_s();
    let rate = match claim.of {
        Stretch::Last(bytes) if bytes > truth.bytes() + ROUNDED_BYTES => f64::NAN,
        Stretch::Last(bytes) => truth.rate_of_last(bytes.min(truth.bytes())),
        Stretch::Minute => truth.rate((end_s - 60.0).max(begin_s), end_s),
        Stretch::All => truth.rate(begin_s, end_s),
    };
    outcome.rate_error = claim.rate / rate - 1.0;
    let is_right = (claim.rate - rate).abs() <= RIGHT * rate + ROUNDED_MB;
    if !is_right {
        outcome.faults.push(format!("rate {rate}: {claim:?}"));
    }
}

/// The slowest minute is right, and cameras are judged by it.
fn minute_faults(record: &Record, claim: &Claim, truth: &Truth<'_>, outcome: &mut Outcome) {
    let metric = record.metric("slowest_60s_write");
    let minute = truth.slowest_minute();
    let found = metric.map(|metric| metric.value / 1e6);
    outcome.minute_error = minute.zip(found).map(|(truth, found)| found / truth - 1.0);
    let is_right = match minute.zip(found) {
        Some((truth, found)) => (found - truth).abs() <= RIGHT * truth,
        None => minute.is_none() && found.is_none(),
    };
    let is_shown = match (claim.slowest, found) {
        (Some(shown), Some(found)) => (shown - found).abs() <= 0.51 && shown <= found + 0.51,
        (shown, found) => shown.is_none() && found.is_none(),
    };
    let camera = answer(record).and_then(|answer| answer.camera);
    let is_relied_on = match (metric, camera) {
        (Some(metric), Some(camera)) => {
            camera.basis == CameraBasis::SlowestMinute && camera.bytes_per_s <= metric.value
        }
        (metric, camera) => metric.is_none() && camera.is_none(),
    };
    for (holds, fault) in [
        (is_right, "slowest minute"),
        (is_shown, "another slowest minute in the sentence"),
        (is_relied_on, "cameras are not judged by it"),
    ] {
        if !holds {
            let said = format!("{fault}: {found:?}, truth {minute:?}: {claim:?}");
            outcome.faults.push(said);
        }
    }
}

/// All was written, or for an hour; a decline is not called steady.
fn whole_faults(kind: &str, truth: &Truth<'_>, target: &Target, outcome: &mut Outcome) {
    let (begin_s, end_s) = truth.span_s();
    let span_s = end_s - begin_s;
    let most = match target.room.disk_bytes {
        Some(_) => target.capacity_bytes as f64,
        None => UNKNOWN_BYTES,
    };
    let is_over = truth.bytes() > most - MIB as f64 || span_s >= LONGEST_S;
    if !is_over || truth.bytes() > most {
        let bytes = truth.bytes();
        outcome
            .faults
            .push(format!("ended after {bytes} bytes, {span_s} s"));
    }
    let at = |share: f64| begin_s + share * span_s;
    let fall = |from: f64, middle: f64, to: f64| {
        1.0 - truth.rate(at(middle), at(to)) / truth.rate(at(from), at(middle))
    };
    let is_declining = fall(0.0, 0.5, 1.0) >= 0.12 && fall(0.5, 0.75, 1.0) >= 0.035;
    let is_called = outcome.claim.as_ref().is_some_and(|claim| claim.is_falling);
    if DECLINING.contains(&kind) && is_declining && !is_called {
        let fault = format!("not called falling: {:?}", outcome.claim);
        outcome.faults.push(fault);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "helpers of tests")]
mod tests {
    use super::*;
    use crate::drawn::KINDS_COUNT;

    /// Each kind of course on one kind of target, in turn, with the usual amount, with all of it, and with few bytes.
    #[test]
    fn no_claim_goes_beyond_what_was_written_and_the_slowest_minute_is_right() {
        let suite = cardmark_catalog::suite("sustained", None).unwrap();
        let mut sentences = [0; 3];
        for kind in 0..KINDS_COUNT {
            let seed = kind as u64;
            let few = 100_000_000 + 137_000_000 * (seed % 7);
            for amount in [Amount::Usual, Amount::Whole, Amount::Bytes(few)] {
                let found = outcome(kind, seed, amount, &suite).unwrap();
                let said = format!("{}, {amount:?}: {:?}", kind_name(kind), found.faults);
                assert!(found.faults.is_empty(), "{said}");
                match found.claim.map(|claim| claim.of) {
                    Some(Stretch::Last(_)) => sentences[0] += 1,
                    Some(Stretch::Minute) => sentences[1] += 1,
                    Some(Stretch::All) => sentences[2] += 1,
                    None => {}
                }
            }
        }
        assert!(sentences.iter().all(|&count| count >= 5), "{sentences:?}");
    }
}
