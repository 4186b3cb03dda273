//! Verdicts on the classes that a card's label, registers or product promise: from the figures of the class
//! suites, by the limits in the catalogue.

pub(crate) mod host;

pub(crate) use host::rate_doubt;

use std::collections::BTreeMap;

use cardmark_catalog::{Class, ClassFamily, class, classes, product};
use cardmark_core::{
    FindingKind, IntervalKind, Metric, Quantity, Record, Severity, Suite, Tier, Verdict,
    VerdictOutcome,
};

use cardmark_core::CLAIMS_LABEL;

use crate::REQUIRED_LABEL;

/// Uncertainty of one trial, or of the slowest window of one, beyond its own interval: the difference between
/// runs of a card.
pub(crate) const RUN_RATIO: f64 = 0.02;
/// Factor between the two limits of a video class, because its MB can also be read as 2²⁰ bytes (SD Physical
/// Layer, 3.4 and 4.13.4.3.1).
pub(crate) const BINARY_RATIO: f64 = 1.048_576;
/// Maximum size of SDHC cards, bytes. Larger ones are SDXC, whose classes require CMD20.
pub(crate) const SDHC_MOST_BYTES: u64 = 32 << 30;
/// Findings with which a figure may be lower than the card's own, and never higher.
const LOWERING: [FindingKind; 9] = [
    FindingKind::SharedDevice,
    FindingKind::Throttled,
    FindingKind::UnderVoltage,
    FindingKind::StolenTime,
    FindingKind::Powersave,
    FindingKind::BusErrors,
    FindingKind::SlowUsb,
    FindingKind::SlowPayload,
    FindingKind::Misaligned,
];
/// Findings with which it may be higher, and never lower.
const RAISING: [FindingKind; 1] = [FindingKind::CachedWrites];

/// A figure that a class requires.
pub(crate) struct Need {
    pub(crate) metric: &'static str,
    /// Its name, in plain words.
    pub(crate) words: &'static str,
    pub(crate) least: f64,
    pub(crate) quantity: Quantity,
    /// Factor of the limit in its other reading; 1: there is one reading.
    pub(crate) other_reading: f64,
}

/// Returns the families of classes that a suite measures. SD Express is included, so that a request for it
/// gets the answer that it cannot be tested here.
pub fn families(suite: &Suite) -> Vec<ClassFamily> {
    let has = |id: &str| suite.figures.iter().any(|figure| figure.id == id);
    let mut families = Vec::new();
    if has("app_rand_read") {
        families.push(ClassFamily::Application);
    }
    if has("class_worst_window") {
        families.extend([
            ClassFamily::Speed,
            ClassFamily::Uhs,
            ClassFamily::Video,
            ClassFamily::Express,
        ]);
    }
    families
}

/// Returns the verdicts on the claimed classes; if none of them is measured by the suite, on all that it
/// measures.
pub(crate) fn verdicts(record: &Record, suite: &Suite) -> Vec<Verdict> {
    let families = families(suite);
    let measured = || classes().iter().filter(|c| families.contains(&c.family));
    let claims = claims(record);
    let is_claimed = |class: &&Class| claims.contains_key(class.id.as_str());
    let claimed: Vec<&Class> = measured().filter(is_claimed).collect();
    let judged = if claimed.is_empty() {
        let can_be_tested = |class: &&Class| class.family != ClassFamily::Express;
        measured().filter(can_be_tested).collect()
    } else {
        claimed
    };
    judged
        .into_iter()
        .map(|class| verdict(record, suite, class, claims.get(class.id.as_str())))
        .collect()
}

/// Returns the tier of the suite that was run.
fn tier<'a>(record: &Record, suite: &'a Suite) -> Option<&'a Tier> {
    suite.tier(record.suite.as_ref()?.tier.as_ref()?)
}

/// Returns the deviations of the run from the standard.
pub(crate) fn deviations(record: &Record, suite: &Suite) -> Vec<String> {
    let mut deviations = tier(record, suite).map_or_else(Vec::new, |tier| tier.deviations.clone());
    let kept = record
        .findings
        .iter()
        .find(|finding| finding.kind == FindingKind::NotErased);
    deviations.extend(suite.deviations.iter().cloned());
    deviations.extend(kept.map(|finding| finding.detail.clone()));
    let has_application = families(suite).contains(&ClassFamily::Application);
    deviations.extend(host::deviations(record, has_application));
    deviations
}

/// Source of a class that is not claimed but judged on request.
const REQUEST: &str = "`--require`";

/// Returns the sources of the claim for each class.
pub(crate) fn claims(record: &Record) -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut claims: BTreeMap<&'static str, Vec<&'static str>> = BTreeMap::new();
    let mut add = |names: &mut dyn Iterator<Item = &str>, by: &'static str| {
        for class in names.filter_map(class) {
            let known = claims.entry(class.id.as_str()).or_default();
            if !known.contains(&by) {
                known.push(by);
            }
        }
    };
    if let Some(said) = record.labels.get(CLAIMS_LABEL) {
        add(&mut said.split(' '), "the label");
    }
    let cards = record.devices.iter().filter_map(|d| d.card.as_ref());
    let registers = cards.flat_map(|card| &card.decoded.classes);
    add(&mut registers.map(String::as_str), "the registers");
    let product = record.labels.get("product").and_then(|name| product(name));
    if let Some(product) = product {
        let names = product.claims.iter().map(String::as_str);
        add(&mut names.into_iter(), "the catalogue");
    }
    for class in record
        .labels
        .get(REQUIRED_LABEL)
        .iter()
        .flat_map(|said| said.split(' '))
    {
        if let Some(class) = cardmark_catalog::class(class) {
            claims
                .entry(class.id.as_str())
                .or_insert_with(|| vec![REQUEST]);
        }
    }
    claims
}

fn verdict(
    record: &Record,
    suite: &Suite,
    class: &Class,
    claimed_by: Option<&Vec<&str>>,
) -> Verdict {
    let needs = needs(class);
    let mut reasons: Vec<String> = Vec::new();
    reasons.extend(claimed_by.map(|by| match by.as_slice() {
        [REQUEST] => format!("required by {REQUEST}"),
        by => format!("claimed by {}", by.join(", ")),
    }));
    let outcome = match host::obstacle(record, class) {
        Some(obstacle) => {
            reasons.push(obstacle);
            VerdictOutcome::NotTestable
        }
        None => judged(record, suite, class, &needs, &mut reasons),
    };
    reasons.extend(troubles(record));
    Verdict {
        rule: class.id.clone(),
        outcome,
        score: None,
        reasons,
        metrics: needs.iter().map(|need| need.metric.to_owned()).collect(),
    }
}

fn judged(
    record: &Record,
    suite: &Suite,
    class: &Class,
    needs: &[Need],
    reasons: &mut Vec<String>,
) -> VerdictOutcome {
    let parts: Vec<(VerdictOutcome, String)> =
        needs.iter().map(|need| standing(record, need)).collect();
    let mut outcome = worst(&parts);
    reasons.extend(parts.into_iter().map(|(_, reason)| reason));
    if outcome == VerdictOutcome::Fail
        && let Some(doubt) = host::doubt(record, class)
    {
        reasons.push(doubt);
        outcome = VerdictOutcome::NotTestable;
    }
    if outcome == VerdictOutcome::Fail && is_indicative(record, class) {
        let reason = "indicative only: this class is promised for hosts that send CMD20, which Linux \
                      does not";
        reasons.push(reason.to_owned());
    }
    if outcome != VerdictOutcome::Fail && is_broken(record, suite, needs) {
        outcome = VerdictOutcome::NotTestable;
    }
    match outcome {
        VerdictOutcome::Pass if !tier(record, suite).is_some_and(|tier| tier.is_full) => {
            VerdictOutcome::LikelyPass
        }
        outcome => outcome,
    }
}

fn worst(parts: &[(VerdictOutcome, String)]) -> VerdictOutcome {
    let order = [
        VerdictOutcome::Fail,
        VerdictOutcome::NotTestable,
        VerdictOutcome::Borderline,
    ];
    let found = order
        .into_iter()
        .find(|wanted| parts.iter().any(|(outcome, _)| outcome == wanted));
    found.unwrap_or(VerdictOutcome::Pass)
}

/// Returns the requirements of a class: of the slowest window and of reading, or of random access.
fn needs(class: &Class) -> Vec<Need> {
    let bytes = |metric, words, other_reading| Need {
        metric,
        words,
        least: class.least_write_bytes_per_s as f64,
        quantity: Quantity::ByteRate,
        other_reading,
    };
    let operations = |metric, words, least: Option<u64>| Need {
        metric,
        words,
        least: least.unwrap_or(0) as f64,
        quantity: Quantity::OperationRate,
        other_reading: 1.0,
    };
    match class.family {
        ClassFamily::Application => {
            let [read, write] = if class.needs.is_empty() {
                [
                    ("app_rand_read", "random read"),
                    ("app_rand_write", "random write"),
                ]
            } else {
                [
                    ("app_rand_read_q32", "random read, 32 at once"),
                    ("app_rand_write_q32", "random write, 32 at once"),
                ]
            };
            vec![
                operations(read.0, read.1, class.least_read_operations_per_s),
                operations(write.0, write.1, class.least_write_operations_per_s),
                bytes("app_seq_write", "sequential write", 1.0),
            ]
        }
        ClassFamily::Video => vec![
            bytes(
                "class_worst_video_window",
                "slowest unit of writing",
                BINARY_RATIO,
            ),
            bytes(
                "class_worst_video_read",
                "slowest unit of reading",
                BINARY_RATIO,
            ),
        ],
        ClassFamily::Speed | ClassFamily::Uhs => vec![
            bytes("class_worst_window", "slowest window of writing", 1.0),
            bytes("class_rand_read", "random read of 512 KiB", 1.0),
        ],
        ClassFamily::Express => Vec::new(),
    }
}

/// A figure that a class requires, as it was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassFigure {
    /// Its name, in plain words, such as `random write`.
    pub words: &'static str,
    /// Quantity of both rates.
    pub quantity: Quantity,
    /// The measured rate.
    pub value: f64,
    /// The rate that the class requires.
    pub least: f64,
}

/// Returns the figures of a record that a class requires, as far as they were measured.
#[must_use]
pub fn class_figures(record: &Record, class: &Class) -> Vec<ClassFigure> {
    let figure = |need: Need| {
        let (value, ..) = range(record.metric(need.metric)?, need.quantity)?;
        Some(ClassFigure {
            words: need.words,
            quantity: need.quantity,
            value,
            least: need.least,
        })
    };
    needs(class).into_iter().filter_map(figure).collect()
}

/// Compares a figure with its limit and describes the result.
pub(crate) fn standing(record: &Record, need: &Need) -> (VerdictOutcome, String) {
    let Some(metric) = record.metric(need.metric) else {
        let reason = format!("{} was not measured", need.words);
        return (VerdictOutcome::NotTestable, reason);
    };
    let Some((value, low, high)) = range(metric, need.quantity) else {
        let reason = format!("{} has no rate of this kind", need.words);
        return (VerdictOutcome::NotTestable, reason);
    };
    if let Some(warning) = metric.voided_by() {
        let reason = format!("{} cannot be trusted: {warning}", need.words);
        return (VerdictOutcome::NotTestable, reason);
    }
    let outcome = if high < need.least {
        VerdictOutcome::Fail
    } else if low >= need.least * need.other_reading {
        VerdictOutcome::Pass
    } else {
        VerdictOutcome::Borderline
    };
    let is_other = need.other_reading > 1.0 && outcome == VerdictOutcome::Borderline;
    let other = if is_other {
        let least = figure(need, need.least * need.other_reading);
        format!(", {least} if MB means MiB")
    } else {
        String::new()
    };
    let (outcome, warned) = under_warnings(metric, outcome);
    let (unit, limit) = match need.quantity {
        Quantity::ByteRate => ("MB/s", need.least / 1e6),
        _ => ("IOPS", need.least),
    };
    let reason = format!(
        "{}: {} {unit} ({}–{}), needs {limit} {unit}{other}{warned}",
        need.words,
        figure(need, value),
        figure(need, low),
        figure(need, high),
    );
    (outcome, reason)
}

fn figure(need: &Need, value: f64) -> String {
    match need.quantity {
        Quantity::ByteRate => format!("{:.2}", value / 1e6),
        _ => format!("{value:.0}"),
    }
}

/// Limits an outcome by the warnings, and describes them: no fail if they may have lowered the figure, no
/// pass if they may have raised it.
fn under_warnings(metric: &Metric, outcome: VerdictOutcome) -> (VerdictOutcome, String) {
    if metric.warnings.is_empty() {
        return (outcome, String::new());
    }
    let all = metric.warnings.join(", ");
    let lowering = warned(metric, &LOWERING).join(", ");
    let raising = warned(metric, &RAISING).join(", ");
    match outcome {
        VerdictOutcome::Fail if !lowering.is_empty() => (
            VerdictOutcome::NotTestable,
            format!("; limited by {all}; no fail, as it may be too low under {lowering}"),
        ),
        VerdictOutcome::Pass if !raising.is_empty() => (
            VerdictOutcome::Borderline,
            format!("; limited by {all}; no pass, as it may be too high under {raising}"),
        ),
        _ => (outcome, format!("; limited by {all}")),
    }
}

/// Returns the value with its range from run to run.
fn range(metric: &Metric, quantity: Quantity) -> Option<(f64, f64, f64)> {
    let (value, low, high) = match quantity {
        Quantity::ByteRate => (
            metric.rate_bytes_per_s?,
            metric.rate_low_bytes_per_s,
            metric.rate_high_bytes_per_s,
        ),
        _ => (
            metric.operations_per_s?,
            metric.operations_low_per_s,
            metric.operations_high_per_s,
        ),
    };
    let (low, high) = (low.unwrap_or(value), high.unwrap_or(value));
    if metric.interval_kind == IntervalKind::BetweenRounds {
        return Some((value, low, high));
    }
    let between_runs = RUN_RATIO * value;
    Some((
        value,
        low.min(value - between_runs),
        high.max(value + between_runs),
    ))
}

/// Returns the metric's warnings of these kinds.
fn warned<'a>(metric: &'a Metric, kinds: &[FindingKind]) -> Vec<&'a str> {
    let is_one = |warning: &&str| kinds.iter().any(|kind| kind.name() == **warning);
    let all = metric.warnings.iter().map(String::as_str);
    all.filter(is_one).collect()
}

/// Returns the problems of the run.
fn troubles(record: &Record) -> Vec<String> {
    let errors = record
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error);
    let mut details: Vec<String> = errors.map(|finding| finding.detail.clone()).collect();
    details.dedup();
    details
}

/// True if there was an error in a workload of these figures.
fn is_broken(record: &Record, suite: &Suite, needs: &[Need]) -> bool {
    let is_of = |workload: &String| {
        let mut figures = suite.figures.iter().filter(|f| f.workload == *workload);
        figures.any(|figure| needs.iter().any(|need| need.metric == figure.id))
    };
    record.findings.iter().any(|finding| {
        finding.severity == Severity::Error
            && (finding.workloads.is_empty() || finding.workloads.iter().any(is_of))
    })
}

/// True if a fail would be certain only with a host that sends CMD20.
fn is_indicative(record: &Record, class: &Class) -> bool {
    let is_large = record.devices.iter().any(|device| {
        device
            .size_bytes
            .is_some_and(|bytes| bytes > SDHC_MOST_BYTES)
    });
    match class.family {
        ClassFamily::Video => true,
        ClassFamily::Speed | ClassFamily::Uhs => is_large,
        ClassFamily::Application | ClassFamily::Express => false,
    }
}
