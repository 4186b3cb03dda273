//! The table of PiBenchmarks' `Storage.sh`, and the facts about board and drive before it.
//!
//! Not every unit in the table is that of its figure. Until the end of 2023 the script put `MB/s`
//! behind the figures of hdparm and dd whatever those had printed; since then it puts the unit of
//! hdparm's disk reads behind the cached reads too. Such a unit stays open, unless the text has the
//! line of hdparm or dd itself.

use std::collections::BTreeMap;

use cardmark_core::{
    Board, DeviceInfo, Finding, FindingKind, Host, KIB, MIB, Metric, Printed, Quantity, Severity,
};

use crate::hdparm::{right_unit, timing};
use crate::number::{digits, number_and_unit, unit_bytes, whole};
use crate::reading::{
    Found, byte_rate, doubtful, number_bits, operation_rate, operations, printed,
};
use crate::records::{name_warnings, put};
use crate::text::{Damage, Line, Words};
use crate::{Imported, dd};

const TOOL: &str = "PiBenchmarks";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Hdparm,
    HdparmCached,
    Dd,
    Fio,
    Iozone,
}

impl Test {
    fn metric_id(&self) -> String {
        format!("pibenchmarks_{}", self.id)
    }
}

/// A row of the table.
struct Test {
    category: &'static str,
    name: &'static str,
    kind: Kind,
    /// Its id, without `pibenchmarks_`.
    id: &'static str,
    /// Points of the score for each hundred of the number.
    weight: f64,
}

const fn row(name: &'static str, kind: Kind, id: &'static str, weight: f64) -> Test {
    let category = match kind {
        Kind::Hdparm | Kind::HdparmCached => "HDParm",
        Kind::Dd => "DD",
        Kind::Fio => "FIO",
        Kind::Iozone => "IOZone",
    };
    Test {
        category,
        name,
        kind,
        id,
        weight,
    }
}

static ROWS: [Test; 9] = [
    row("Disk Read", Kind::Hdparm, "hdparm_disk", 0.0),
    row("Cached Disk Read", Kind::HdparmCached, "hdparm_cached", 0.0),
    row("Disk Write", Kind::Dd, "dd", 1024.0),
    row("4k random read", Kind::Fio, "fio_rand_read", 4.0),
    row("4k random write", Kind::Fio, "fio_rand_write", 10.0),
    row("4k read", Kind::Iozone, "iozone_read", 1.0),
    row("4k write", Kind::Iozone, "iozone_write", 1.0),
    row("4k random read", Kind::Iozone, "iozone_random_read", 4.0),
    row("4k random write", Kind::Iozone, "iozone_random_write", 10.0),
];

/// Forms of rows, of figures above the table, and of other lines.
const FORMS: [&str; 17] = [
    "HDParm {-}Read {}",
    "DD Disk Write {}",
    "FIO {n} random {-} {} IOPS ({n} KB/s)",
    "FIO {n} random",
    "IOZone {n} {-} {} KB/s",
    "IOZone {n} ",
    "Score: {}",
    "HDParm: {} {-} HDParmCached: {}",
    "HDParm: {}",
    "DD Write Speed: {}",
    "FIO results - {n} RandWrite: {} IOPS ({n} KB/s) - {n} RandRead: {} IOPS ({n} KB/s)",
    "RandRead: {} - RandWrite: {} - Read: {} - Write: {}",
    "HDParm",
    "DD ",
    "FIO ",
    "RandRead: ",
    "{*}",
];
/// Parts of the script's other lines.
static PARTS: Words = Words::new(&[" trimmed on ", " has been detected as "]);
/// Beginnings of further ones.
const LINES: [&str; 14] = [
    "Enter a description of your storage",
    "Description: ",
    // From `bc`, of tests that failed.
    "(standard_in) ",
    "Board information: ",
    "MicroSD information: ",
    "Drive information: ",
    "MMC Type: ",
    "Clock speeds: ",
    "Card CSD status register",
    "Card SCR status register",
    "HDParm: ",
    "DD Write Speed: ",
    "FIO results - ",
    "RandRead: ",
];

/// Reads the tables, in order.
pub(crate) fn read(lines: &[Line], found: &mut Found) {
    let mut run = Run::default();
    let own = Own::of(lines);
    for line in lines {
        if run.is_over(*line) {
            std::mem::take(&mut run).end(&own, found);
        }
        match run.read(*line) {
            Ok(true) => run.lines.push(*line),
            Ok(false) => {}
            Err(damage) => found.damaged(damage),
        }
    }
    run.end(&own, found);
}

/// Figures in the tools' own lines, by their printed numbers; the first of each.
#[derive(Default)]
struct Own {
    /// Of hdparm, cached or not, in bytes per second, and their unit.
    timings: BTreeMap<(bool, u64), (f64, &'static str)>,
    /// Of dd, in bytes per second.
    copies: BTreeMap<u64, f64>,
}

impl Own {
    fn of(lines: &[Line]) -> Self {
        let mut own = Self::default();
        for timing in lines.iter().filter_map(|line| timing(*line).ok()?) {
            if let Some(bits) = number_bits(&timing.printed) {
                let rate = (timing.bytes_per_s, right_unit(&timing.printed));
                let key = (timing.is_cached, bits);
                own.timings.entry(key).or_insert(rate);
            }
        }
        for copy in dd::copies(lines).filter_map(|(_, copy)| copy.ok()?) {
            if let Some(bits) = number_bits(&copy.printed) {
                own.copies.entry(bits).or_insert(copy.bytes_per_s);
            }
        }
        own
    }
}

/// Known parts of a run.
#[derive(Default)]
struct Run<'a> {
    rows: Vec<Row<'a>>,
    /// Its other lines. Without a table they are listed.
    lines: Vec<Line<'a>>,
    score: Option<u64>,
    facts: Facts,
}

impl<'a> Run<'a> {
    /// Returns whether the line belongs to the next run: facts before a table, or a repeated row.
    fn is_over(&self, line: Line<'a>) -> bool {
        let is_again = |row: Row| self.rows.iter().any(|known| known.test.id == row.test.id);
        let is_heading = || {
            let words = line.text.split_whitespace();
            words.eq(["Category", "Test", "Result"])
        };
        let begins = || is_heading() || is_fact(line.text);
        !self.rows.is_empty() && (Row::find(line).is_some_and(is_again) || begins())
    }

    /// Reads a line; returns whether it is one of the script's, apart from rows.
    fn read(&mut self, line: Line<'a>) -> Result<bool, Damage> {
        let text = line.text.trim();
        if let Some(row) = Row::find(line) {
            self.rows.push(row);
            return Ok(false);
        }
        if let Some(score) = text.strip_prefix("Score:").map(str::trim) {
            if self.rows.is_empty() || score.is_empty() {
                return Ok(false);
            }
            let points = digits(score).ok_or_else(|| line.damage(TOOL, "a whole score"))?;
            self.score = Some(points);
            return Ok(true);
        }
        self.facts.look_at(text);
        let text = line.unquoted();
        Ok(LINES.iter().any(|begin| text.starts_with(begin)) || PARTS.any(text))
    }

    /// Adds the table, unless none of its rows could be read.
    fn end(mut self, own: &Own, found: &mut Found) {
        let prints_units = prints_units(&self.rows);
        let mut results = Vec::new();
        let mut is_damaged = false;
        for row in &self.rows {
            match row.read(prints_units) {
                Ok(result) => {
                    found.understand(row.line, &FORMS);
                    results.extend(result);
                }
                Err(damage) => {
                    is_damaged = true;
                    found.damaged(damage);
                }
            }
        }
        let first = self.rows.first().map(|row| row.line.number);
        if let Some(first) = first.filter(|_| !results.is_empty() || !is_damaged) {
            found.understand_all(&mut self.lines, &FORMS);
            found.report(first, self.report(&results, own));
        }
    }

    fn report(self, results: &[Figure], own: &Own) -> Imported {
        let mut one = self.facts.into_report();
        for figure in results {
            let test = figure.test;
            if let Some(metric) = figure.metric(own) {
                put(&mut one, metric);
                continue;
            }
            let detail = format!(
                "{} `{}` is left out: the script prints this unit whatever the tool printed, so that \
                 it may be a thousand times less",
                test.name, figure.printed
            );
            let finding = Finding::new(FindingKind::AmbiguousUnit, Severity::Note, detail);
            one.findings.push(finding.on(test.metric_id()));
        }
        // The present script prints the units of the tools.
        let is_of_today =
            |figure: &Figure| figure.test.kind == Kind::Hdparm && figure.bytes_per_s.is_some();
        if one.metrics.len() == ROWS.len() && results.iter().any(is_of_today) {
            one.suite = Some("pibenchmarks");
        }
        if let Some(score) = self.score {
            let metric = Metric::new("pibenchmarks_score", Quantity::Count, score as f64);
            one.metrics.push(metric);
            if recomputed_score(results).is_some_and(|own| own != score) {
                let detail = format!("the score {score} is not that of the rows above it");
                one.findings.push(doubtful(detail).on("pibenchmarks_score"));
            }
        }
        name_warnings(&mut one.metrics, &one.findings);
        one
    }
}

/// The score that the script would compute. It adds numbers, whatever their units. None if a row is
/// missing.
fn recomputed_score(results: &[Figure]) -> Option<u64> {
    let mut sum = 0.0;
    for test in ROWS.iter().filter(|test| test.weight > 0.0) {
        let result = results.iter().find(|result| result.test.id == test.id)?;
        sum += test.weight * result.number;
    }
    // Its hundredths are whole: rounded there, no float tips it below the next point.
    Some(whole(sum * 100.0)? / 10_000)
}

/// Returns whether the script prints the units of the tools: its rows of hdparm can be read and do not end
/// in the `MB/s` that hdparm never prints.
fn prints_units(rows: &[Row]) -> bool {
    let is_hdparm = |row: &&Row| matches!(row.test.kind, Kind::Hdparm | Kind::HdparmCached);
    let mut of_hdparm = rows.iter().filter(is_hdparm).peekable();
    of_hdparm.peek().is_some()
        && of_hdparm.all(|row| !row.result.ends_with("MB/s") && row.read(false).is_ok())
}

/// A row, its result as in the text.
#[derive(Clone, Copy)]
struct Row<'a> {
    line: Line<'a>,
    test: &'static Test,
    result: &'a str,
}

/// A result in the table.
struct Figure<'a> {
    test: &'static Test,
    printed: &'a str,
    number: f64,
    /// None if the unit is not that of the number.
    bytes_per_s: Option<f64>,
    operations_per_s: Option<f64>,
}

impl<'a> Row<'a> {
    fn find(line: Line<'a>) -> Option<Self> {
        let text = line.text.trim_start_matches(['>', '|', ' ', '\t']);
        ROWS.iter().find_map(|test| {
            let rest = behind_space(text.strip_prefix(test.category)?)?;
            let rest = rest.strip_prefix(test.name)?;
            let result = match rest {
                "" => rest,
                rest => behind_space(rest)?.trim_end(),
            };
            Some(Self { line, test, result })
        })
    }

    /// Returns none if the test failed: then a unit stands alone or behind a word.
    fn read(&self, prints_units: bool) -> Result<Option<Figure<'a>>, Damage> {
        let is_word = |c: char| c.is_alphabetic() || c == '(';
        let has_digit = self.result.contains(|c: char| c.is_ascii_digit());
        if self.result.is_empty() || self.result.starts_with(is_word) && !has_digit {
            return Ok(None);
        }
        let result = match self.test.kind {
            Kind::Hdparm | Kind::HdparmCached => self.hdparm()?,
            Kind::Dd => self.dd(prints_units)?,
            Kind::Fio => self.fio()?,
            Kind::Iozone => self.iozone()?,
        };
        Ok(Some(result))
    }

    fn hdparm(&self) -> Result<Figure<'a>, Damage> {
        let (number, unit) = self.number_and_unit()?;
        let unit_bytes = match (self.test.kind, unit) {
            (_, "MB/s") | (Kind::HdparmCached, "MB/sec" | "kB/sec" | "") => None,
            (_, "MB/sec") => Some(MIB as f64),
            (_, "kB/sec") => Some(KIB as f64),
            _ => return Err(self.damage("MB/sec, kB/sec or MB/s")),
        };
        Ok(self.figure(number, unit_bytes))
    }

    /// Only dd itself prints anything but `MB/s`.
    fn dd(&self, prints_units: bool) -> Result<Figure<'a>, Damage> {
        let (number, unit) = self.number_and_unit()?;
        let unit_bytes = unit.strip_suffix("/s").and_then(unit_bytes);
        let unit_bytes = unit_bytes.ok_or_else(|| self.damage("a rate such as `10.4 MB/s`"))?;
        let is_own = unit != "MB/s" || prints_units;
        Ok(self.figure(number, is_own.then_some(unit_bytes)))
    }

    /// Parses `2380 IOPS (9523 KB/s)`, both whole and of the same 4 KiB operations.
    fn fio(&self) -> Result<Figure<'a>, Damage> {
        let figures = self.result.split_once(" IOPS (").and_then(|(iops, rest)| {
            let kib = rest.strip_suffix(" KB/s)")?;
            Some((digits(iops)?, digits(kib)?))
        });
        let (iops, kib) = figures.ok_or_else(|| self.damage("`2380 IOPS (9523 KB/s)`"))?;
        if kib / 4 != iops {
            return Err(self.damage("figures that agree with each other"));
        }
        Ok(Figure {
            bytes_per_s: Some(kib as f64 * KIB as f64),
            operations_per_s: Some(iops as f64),
            ..self.figure(iops as f64, None)
        })
    }

    fn iozone(&self) -> Result<Figure<'a>, Damage> {
        let kib = self.result.strip_suffix(" KB/s").and_then(digits);
        let kib = kib.ok_or_else(|| self.damage("a whole number and `KB/s`"))?;
        Ok(self.figure(kib as f64, Some(KIB as f64)))
    }

    fn number_and_unit(&self) -> Result<(f64, &'a str), Damage> {
        let found = number_and_unit(self.result).map(|(number, unit)| (number.value, unit));
        found.ok_or_else(|| self.damage("a number and a unit"))
    }

    fn figure(&self, number: f64, unit_bytes: Option<f64>) -> Figure<'a> {
        Figure {
            test: self.test,
            printed: self.result,
            number,
            bytes_per_s: unit_bytes.map(|bytes| number * bytes),
            operations_per_s: None,
        }
    }

    fn damage(&self, expected: &'static str) -> Damage {
        self.line.damage(TOOL, expected)
    }
}

/// The text behind white space, which must be there.
fn behind_space(text: &str) -> Option<&str> {
    let rest = text.trim_start();
    (rest.len() < text.len()).then_some(rest)
}

impl Figure<'_> {
    /// Returns none if the unit stays open.
    fn metric(&self, own: &Own) -> Option<Metric> {
        let id = self.test.metric_id();
        let shown = |right: Option<&str>| printed(TOOL, self.printed, right);
        Some(match self.test.kind {
            Kind::Hdparm | Kind::HdparmCached => {
                let (bytes_per_s, right) = self.timing(own)?;
                byte_rate(id, bytes_per_s, shown(Some(right)))
            }
            Kind::Dd => byte_rate(id, self.copy(own)?, shown(None)),
            Kind::Fio => {
                let meaning = self.printed.replace("KB/s", "KiB/s");
                let printed = shown(None).map(|printed| Printed {
                    meaning: Some(meaning),
                    ..printed
                });
                operation_rate(id, self.operations_per_s?, self.bytes_per_s, printed)
            }
            Kind::Iozone => {
                let bytes_per_s = self.bytes_per_s?;
                Metric {
                    operations_per_s: operations(bytes_per_s, Some(4 * KIB)),
                    ..byte_rate(id, bytes_per_s, shown(Some("KiB/s")))
                }
            }
        })
    }

    /// hdparm's figure in bytes per second, and its unit: from the row, from hdparm's own line in
    /// the text, or from a number that hdparm prints in one unit only.
    fn timing(&self, own: &Own) -> Option<(f64, &'static str)> {
        if let Some(bytes_per_s) = self.bytes_per_s {
            return Some((bytes_per_s, right_unit(self.printed)));
        }
        let is_cached = self.test.kind == Kind::HdparmCached;
        if let Some(own) = own.timings.get(&(is_cached, self.number.to_bits())) {
            return Some(*own);
        }
        if self.number > KIB as f64 {
            Some((self.number * MIB as f64, "MiB/s"))
        } else if self.number < 1.0 {
            Some((self.number * KIB as f64, "KiB/s"))
        } else {
            None
        }
    }

    /// dd's figure in bytes per second: from the row, or from dd's own line in the text.
    fn copy(&self, own: &Own) -> Option<f64> {
        let printed = || own.copies.get(&self.number.to_bits()).copied();
        self.bytes_per_s.or_else(printed)
    }
}

const BOARD: &str = "Board information: ";
const DRIVE: [&str; 3] = ["MicroSD information: ", "Drive information: ", "MMC Type: "];
/// Fields of the drive that become labels, and these labels.
const LABELS: [(&str, &str); 4] = [
    ("Manufacturer", "manufacturer"),
    ("Date Manufactured", "made"),
    ("Class", "class"),
    ("Size", "size"),
];
/// Fields that may follow a value: ` - Model: …`.
const FIELDS: [&str; 11] = [
    "Manufacturer",
    "Model",
    "Vendor",
    "Product",
    "HW Version",
    "FW Version",
    "Date Manufactured",
    "Class",
    "Size",
    "Architecture",
    "OS",
];
/// Longest value of a field, in characters.
const MOST_FIELD: usize = 80;

static FACTS: Words = Words::new(&[
    BOARD,
    " has been detected as ",
    DRIVE[0],
    DRIVE[1],
    DRIVE[2],
]);

/// Returns whether a line is about board or drive.
fn is_fact(text: &str) -> bool {
    FACTS.any(text)
}

/// Facts that the script read from registers and from the system. What the owner typed is not
/// among them.
#[derive(Default)]
struct Facts {
    model: Option<String>,
    architecture: Option<String>,
    system: Option<String>,
    drive_model: Option<String>,
    labels: BTreeMap<String, String>,
}

impl Facts {
    fn look_at(&mut self, text: &str) {
        if !text.contains(": ") {
            return;
        }
        if text.contains(BOARD) {
            self.model = field(text, "Model");
            self.architecture = field(text, "Architecture");
            self.system = field(text, "OS");
        } else if DRIVE.iter().any(|begin| text.contains(begin)) {
            self.drive_model = field(text, "Model");
            let labels = LABELS
                .iter()
                .filter_map(|(name, label)| Some(((*label).to_owned(), field(text, name)?)));
            self.labels = labels.collect();
            if let Some(kind) = field(text, "MMC Type") {
                self.labels.entry("class".to_owned()).or_insert(kind);
            }
        } else if let Some(class) = text.strip_prefix("Class: ").and_then(value) {
            // Older scripts: a line of its own.
            self.labels.insert("class".to_owned(), class);
        }
    }

    fn into_report(self) -> Imported {
        let host = Host {
            system: self.system,
            architecture: self.architecture,
            ..Host::default()
        };
        Imported {
            tools: vec![TOOL.to_owned()],
            board: self.model.map(|model| Board {
                model: Some(model),
                ..Board::default()
            }),
            host: (host != Host::default()).then_some(host),
            device: self.drive_model.map(|model| DeviceInfo {
                model: Some(model),
                ..DeviceInfo::default()
            }),
            labels: self.labels,
            ..Imported::default()
        }
    }
}

/// The value of a field, up to the next one.
fn field(text: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("{name}: "))?;
    let ends = FIELDS
        .iter()
        .filter_map(|next| rest.find(&format!("- {next}:")));
    value(&rest[..ends.min().unwrap_or(rest.len())])
}

/// A value of the characters that names of products and systems have.
fn value(text: &str) -> Option<String> {
    let text = text.trim();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " -_.,+/()".contains(c);
    let is_short = text.chars().count() <= MOST_FIELD;
    let is_value = text.starts_with(|c: char| c.is_ascii_alphanumeric()) && is_short;
    (is_value && text.chars().all(is_plain)).then(|| text.to_owned())
}
