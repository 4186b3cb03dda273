//! Verdicts on promised rates and capacities, and on the capacity that an integrity test found.

use cardmark_catalog::class;
use cardmark_core::{
    CAPACITY_RULE, CLAIMS_LABEL, Integrity, IntegrityTest, Quantity, Record, StorageKind, Verdict,
    VerdictOutcome, is_sold_as,
};

use crate::classes::{Need, rate_doubt, standing};

/// Units of promised rates, with their bytes a second; a rate is shown in the first that divides it.
const RATES: [(&str, u64); 3] = [
    ("MB/s", 1_000_000),
    ("MiB/s", 1 << 20),
    ("GB/s", 1_000_000_000),
];
/// Units of promised capacities, in the same way.
const CAPACITIES: [(&str, u64); 3] = [("TB", TB), ("GB", 1_000_000_000), ("MB", 1_000_000)];
/// Bytes of a terabyte.
const TB: u64 = 1_000_000_000_000;

/// A promise on a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promise {
    /// A class, by its id.
    Class(String),
    /// A sequential rate, bytes a second, of reading or writing.
    Rate(u64),
    /// A capacity, bytes.
    Capacity(u64),
}

impl Promise {
    /// Reads a promise such as `A1`, `130MB/s` or `64GB`, in capital or small letters.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(class) = class(&text.to_ascii_uppercase()) {
            return Some(Self::Class(class.id.clone()));
        }
        let bytes = |units: &[(&str, u64)]| {
            let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
            let is_unit = |(known, _): &&(&str, u64)| known.eq_ignore_ascii_case(unit.trim_start());
            let (_, factor) = units.iter().find(is_unit)?;
            let number: u64 = number.parse().ok().filter(|number| *number > 0)?;
            number.checked_mul(*factor)
        };
        bytes(&RATES)
            .map(Self::Rate)
            .or_else(|| bytes(&CAPACITIES).map(Self::Capacity))
    }
}

impl std::fmt::Display for Promise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Class(id) => f.write_str(id),
            Self::Rate(bytes) => f.write_str(&whole(*bytes, &RATES)),
            Self::Capacity(bytes) => f.write_str(&whole(*bytes, &CAPACITIES)),
        }
    }
}

/// A whole number and its unit, as [`Promise::parse`] reads them.
fn whole(bytes: u64, units: &[(&str, u64)]) -> String {
    let mut units = units.iter();
    let fitting = units.find(|(_, factor)| bytes.is_multiple_of(*factor));
    let (unit, factor) = fitting.copied().unwrap_or(("B", 1));
    format!("{}{unit}", bytes / factor)
}

/// The promises of the label.
pub(crate) fn promised(record: &Record) -> impl Iterator<Item = Promise> {
    let said = record.labels.get(CLAIMS_LABEL);
    let promises = said.into_iter().flat_map(|said| said.split_whitespace());
    promises.filter_map(Promise::parse)
}

/// A size that a device reports, smaller than the label promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallerThanClaimed {
    /// Capacity on the label, bytes.
    pub claimed_bytes: u64,
    /// Size that the device reports, bytes.
    pub reported_bytes: u64,
}

/// Returns the sizes if the only device of a record reports less than its label promises. No test is needed for that.
#[must_use]
pub fn smaller_than_claimed(record: &Record) -> Option<SmallerThanClaimed> {
    let [device] = record.devices.as_slice() else {
        return None;
    };
    let reported_bytes = device.size_bytes?;
    let short = promised(record).filter_map(|promise| match promise {
        Promise::Capacity(claimed_bytes) if is_short(reported_bytes, claimed_bytes) => {
            Some(claimed_bytes)
        }
        _ => None,
    });
    Some(SmallerThanClaimed {
        claimed_bytes: short.max()?,
        reported_bytes,
    })
}

fn is_short(reported_bytes: u64, claimed_bytes: u64) -> bool {
    reported_bytes < claimed_bytes && !is_sold_as(reported_bytes, claimed_bytes)
}

/// Returns the verdicts on the promised rates and capacities; with an integrity test also on the reported capacity.
pub(crate) fn verdicts(record: &Record) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> = promised(record)
        .filter_map(|promise| match promise {
            Promise::Class(_) => None,
            Promise::Rate(bytes) => rate(record, &promise, bytes),
            Promise::Capacity(bytes) => capacity(record, Some(bytes)),
        })
        .collect();
    if !verdicts.iter().any(|verdict| verdict.rule == CAPACITY_RULE) && record.integrity.is_some() {
        verdicts.extend(capacity(record, None));
    }
    verdicts
}

/// The verdict on a rate: the faster of sequential reading and writing has to reach it. Packages say "up to".
fn rate(record: &Record, promise: &Promise, bytes_per_s: u64) -> Option<Verdict> {
    let value = |id: &str| record.metric(id)?.rate_bytes_per_s;
    let known = [
        ("seq_read_1m", "sequential read"),
        ("seq_write_1m", "sequential write"),
    ];
    let (_, metric, words) = known
        .into_iter()
        .filter_map(|(id, words)| Some((value(id)?, id, words)))
        .max_by(|one, other| one.0.total_cmp(&other.0))?;
    let need = Need {
        metric,
        words,
        least: bytes_per_s as f64,
        quantity: Quantity::ByteRate,
        other_reading: 1.0,
    };
    let (mut outcome, reason) = standing(record, &need);
    let mut reasons = vec!["claimed by the label".to_owned(), reason];
    if outcome == VerdictOutcome::Fail
        && let Some(doubt) = rate_doubt(record, bytes_per_s)
    {
        reasons.push(doubt);
        outcome = VerdictOutcome::NotTestable;
    }
    Some(Verdict {
        rule: promise.to_string(),
        outcome,
        score: None,
        reasons,
        metrics: vec![metric.to_owned()],
    })
}

/// The verdict on a capacity: what the device reports has to be what is sold under it, and to hold data.
fn capacity(record: &Record, claimed_bytes: Option<u64>) -> Option<Verdict> {
    let [device] = record.devices.as_slice() else {
        return None;
    };
    let reported_bytes = device.size_bytes?;
    let mut reasons = Vec::new();
    reasons.extend(claimed_bytes.map(|bytes| format!("the label claims {}", on_label(bytes))));
    reasons.push(format!("the device reports {}", bytes(reported_bytes)));
    let is_short = claimed_bytes.is_some_and(|claimed| is_short(reported_bytes, claimed));
    let (found, reason) = match &record.integrity {
        Some(integrity) => tested(integrity, reported_bytes),
        None => (
            VerdictOutcome::NotTestable,
            "whether it holds that much is not tested here: `cardmark probe` does".to_owned(),
        ),
    };
    reasons.push(reason);
    Some(Verdict {
        rule: CAPACITY_RULE.to_owned(),
        outcome: if is_short {
            VerdictOutcome::Fail
        } else {
            found
        },
        score: None,
        reasons,
        metrics: Vec::new(),
    })
}

fn tested(integrity: &Integrity, reported_bytes: u64) -> (VerdictOutcome, String) {
    let tested = bytes(integrity.size_bytes);
    let is_part = integrity.size_bytes < reported_bytes;
    match integrity.kind {
        _ if integrity.test == IntegrityTest::Read => (
            VerdictOutcome::NotTestable,
            "it was only read, which does not show how much it holds".to_owned(),
        ),
        _ if integrity.test == IntegrityTest::PowerCut => (
            VerdictOutcome::NotTestable,
            "only power cuts were tested, which does not show how much it holds".to_owned(),
        ),
        StorageKind::Confirmed if integrity.from_bytes.is_some() => (
            VerdictOutcome::NotTestable,
            format!("only {tested} of it were tested: they hold their data"),
        ),
        StorageKind::Confirmed if integrity.test == IntegrityTest::Probe => (
            VerdictOutcome::LikelyPass,
            format!("samples of {tested} hold their data"),
        ),
        StorageKind::Confirmed if is_part => (
            VerdictOutcome::LikelyPass,
            format!("{tested} of it were tested and hold their data"),
        ),
        StorageKind::Confirmed => (
            VerdictOutcome::Pass,
            format!("all of {tested} hold their data"),
        ),
        StorageKind::UnknownDevice => (
            VerdictOutcome::NotTestable,
            format!("{tested} hold their data, but on a device that is not known"),
        ),
        StorageKind::Unfinished => (
            VerdictOutcome::NotTestable,
            "the test did not reach its end".to_owned(),
        ),
        StorageKind::Limbo | StorageKind::Wraparound | StorageKind::Chain => (
            VerdictOutcome::Fail,
            format!("it holds {}", bytes(integrity.real_bytes)),
        ),
        _ => (
            VerdictOutcome::NotTestable,
            "it does not keep its data, which does not show how large it is".to_owned(),
        ),
    }
}

/// A size as exact as a label: `31.91 GB`.
fn bytes(bytes: u64) -> String {
    match bytes {
        TB.. => format!("{:.2} TB", bytes as f64 / 1e12),
        _ => format!("{:.2} GB", bytes as f64 / 1e9),
    }
}

/// A size as on a label: `64 GB`.
fn on_label(bytes: u64) -> String {
    match bytes {
        TB.. => format!("{} TB", bytes as f64 / 1e12),
        _ => format!("{} GB", bytes as f64 / 1e9),
    }
}
