//! The listing of runs.

use cardmark_core::{Integrity, IntegrityTest, Quantity, Record, StorageKind};
use cardmark_judge::{Fault, faults, smaller_than_claimed, storage_kind};

use crate::run::integrity::test_name;
use crate::run::summary::minute;
use crate::text::SHORT_ID;
use crate::text::style::{Style, clean};
use crate::text::table::{Column, Cut, Row, Table};
use crate::text::{MISSING, amount, figure, in_unit, unit, value};

/// Columns for a target below which the listing is stacked.
const LEAST_TARGET: usize = 8;

/// One run of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunLine {
    /// Id of the run; its beginning is shown.
    pub id: String,
    /// When it began, RFC 3339, where known.
    pub started_at: Option<String>,
    /// The suite, such as `quick 1`, or the test, where there is one.
    pub suite: Option<String>,
    /// Tested target in a few words.
    pub target: String,
    /// Verdict and the figures that matter most, as [`result_of`] makes them.
    pub result: String,
}

/// The suite of a record with its version, or else its test.
pub fn method_of(record: &Record) -> Option<String> {
    let suite = record.suite.as_ref();
    let suite = suite.map(|suite| format!("{} {}", suite.name, suite.version));
    let test = || Some(test_name(&record.integrity.as_ref()?.test).to_owned());
    let anatomy = || record.anatomy.as_ref().map(|_| "anatomy".to_owned());
    suite.or_else(test).or_else(anatomy)
}

/// Verdict of a test of capacity or endurance; of other runs what is wrong, and the figures that matter most.
pub fn result_of(record: &Record) -> String {
    let found = record.integrity.as_ref();
    if let Some(found) = found.filter(|found| found.kind != StorageKind::Unfinished) {
        let verdict = verdict(record, found);
        return match smaller_than_claimed(record) {
            Some(_) => format!("smaller than its label; {verdict}"),
            None => verdict,
        };
    }
    let mut parts: Vec<String> = faults(record).iter().map(fault).collect();
    if let (Some(unfinished), true) = (found, parts.is_empty()) {
        parts.push(storage(unfinished.kind));
    }
    let rates = record
        .metrics
        .iter()
        .filter(|metric| metric.quantity.is_rate());
    let rates: Vec<Rate> = rates
        .map(|metric| (metric.id.clone(), metric.value, metric.quantity))
        .collect();
    if !rates.is_empty() || parts.is_empty() {
        parts.push(headline(&rates));
    }
    parts.join("; ")
}

fn verdict(record: &Record, found: &Integrity) -> String {
    let kind = storage_kind(record).unwrap_or(found.kind);
    let is_false = matches!(
        found.kind,
        StorageKind::Limbo | StorageKind::Wraparound | StorageKind::Chain
    );
    if is_false && found.from_bytes.is_some() {
        return "DATA LOST in the part tested".to_owned();
    }
    match (kind, found.test) {
        (StorageKind::Confirmed, IntegrityTest::Endure | IntegrityTest::Retention) => {
            "intact".to_owned()
        }
        (StorageKind::Confirmed, _) if found.from_bytes.is_some() => {
            "no bad block in the part tested".to_owned()
        }
        (StorageKind::Confirmed, IntegrityTest::Probe) => "capacity confirmed (samples)".to_owned(),
        (StorageKind::Confirmed, _) => "capacity confirmed".to_owned(),
        (StorageKind::Limbo | StorageKind::Wraparound | StorageKind::Chain, _) => {
            let [real, all] = [found.real_bytes, found.size_bytes].map(amount);
            format!("FALSE CAPACITY: {real} of {all}")
        }
        (kind, _) => storage(kind),
    }
}

fn fault(fault: &Fault) -> String {
    match fault {
        Fault::Storage(kind) => storage(*kind),
        Fault::Finding(kind) => kind.name().replace('_', " ").to_uppercase(),
        Fault::Failed(rule) => format!("{}: fail", clean(rule)),
    }
}

fn storage(kind: StorageKind) -> String {
    match kind {
        StorageKind::Confirmed => "capacity confirmed".to_owned(),
        StorageKind::Readable => "readable".to_owned(),
        StorageKind::Durable => "kept acknowledged writes".to_owned(),
        StorageKind::LosesAcknowledged => "LOSES ACKNOWLEDGED WRITES".to_owned(),
        StorageKind::Damaged => "DAMAGED".to_owned(),
        StorageKind::Limbo | StorageKind::Wraparound | StorageKind::Chain => {
            "FALSE CAPACITY".to_owned()
        }
        StorageKind::ReadOnly => "READ-ONLY".to_owned(),
        StorageKind::IgnoresWrites => "WORN OUT".to_owned(),
        StorageKind::Dead => "DEAD".to_owned(),
        StorageKind::UnknownDevice => "device not known".to_owned(),
        StorageKind::Unfinished => "NOT FINISHED".to_owned(),
        StorageKind::Other(word) => clean(&word),
    }
}

/// The figures that matter most, from rates (id, value, quantity): of `quick` reading/writing in
/// sequence, then at random; the first two rates, with their ids, of any other suite.
pub fn headline(rates: &[(String, f64, Quantity)]) -> String {
    let find = |id: &str| rates.iter().find(|(known, ..)| known == id);
    let pairs = [
        pair(find("seq_read_1m"), find("seq_write_1m")),
        pair(find("rand_read_4k"), find("rand_write_4k")),
    ];
    let mut parts: Vec<String> = pairs.into_iter().flatten().collect();
    if parts.is_empty() {
        let named = |(id, rate, quantity): &Rate| {
            let (id, rate) = (clean(id), value(id, *quantity, *rate));
            format!("{id} {rate}")
        };
        // A long write is as good as its slowest minute.
        let is_slowest = |rate: &&Rate| rate.0 == "slowest_60s_write";
        let others = rates.iter().filter(|rate| !is_slowest(rate));
        let first = rates.iter().filter(is_slowest).chain(others);
        parts.extend(first.take(2).map(named));
    }
    if parts.is_empty() {
        MISSING.to_owned()
    } else {
        parts.join(", ")
    }
}

type Rate = (String, f64, Quantity);

/// `94.1/23.4 MB/s`; nothing when both are missing.
fn pair(read: Option<&Rate>, write: Option<&Rate>) -> Option<String> {
    let (id, _, quantity) = read.or(write)?;
    let cell = |rate: Option<&Rate>| {
        rate.map_or(MISSING.to_owned(), |(_, value, quantity)| {
            figure(in_unit(*quantity, *value))
        })
    };
    let unit = unit(id, *quantity);
    Some(format!("{}/{} {unit}", cell(read), cell(write)))
}

/// Runs as a table at most `width` columns wide; stacked where columns do not fit.
pub fn list_table(runs: &[RunLine], width: usize, style: Style) -> String {
    if runs.is_empty() {
        return String::new();
    }
    let table = Table {
        columns: vec![
            Column::left("run"),
            Column::left("started (UTC)"),
            Column::left("suite").priority(1),
            Column::left("target").cut(Cut::First(LEAST_TARGET)),
            Column::left("result (read/write, random)"),
        ],
        rows: runs.iter().map(row).collect(),
    };
    table.lines(width.max(SHORT_ID), style).join("\n") + "\n"
}

/// Names and what belongs to them in two columns, or one below the other where there is little room.
pub fn name_table(rows: Vec<(String, String)>, width: usize) -> String {
    let row = |(name, about): (String, String)| {
        let cells = vec![name, about];
        Row::new(cells.clone()).stacked(cells)
    };
    let table = Table {
        columns: vec![Column::left(""), Column::left("")],
        rows: rows.into_iter().map(row).collect(),
    };
    let lines = table.lines(width, Style::Plain).into_iter();
    lines.map(|line| line + "\n").collect()
}

fn row(run: &RunLine) -> Row {
    let (id, started, suite) = (short_id(run), started(run), suite(run));
    let (target, result) = (clean(&run.target), clean(&run.result));
    let title = format!("{id}  {started}  {suite}");
    let stacked = vec![title, target.clone(), result.clone()];
    Row::new(vec![id, started, suite, target, result]).stacked(stacked)
}

fn short_id(run: &RunLine) -> String {
    clean(&run.id).chars().take(SHORT_ID).collect()
}

fn started(run: &RunLine) -> String {
    let shown = |text: &str| minute(text).unwrap_or_else(|| clean(text));
    run.started_at.as_deref().map_or(MISSING.to_owned(), shown)
}

fn suite(run: &RunLine) -> String {
    run.suite.as_deref().map_or(MISSING.to_owned(), clean)
}
