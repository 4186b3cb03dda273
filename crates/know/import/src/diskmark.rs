//! Reports of CrystalDiskMark, versions 3 to 8, and of KDiskMark, versions 1.4 to 3.3.
//!
//! Both have lines like `SEQ 1MiB (Q= 8, T= 1): 94.1 MB/s [ 89.7 IOPS] < 89000.5 us>` in blocks
//! `[Read]`, `[Write]` and `[Mix]`. Until version 6 CrystalDiskMark has a line for each direction:
//! `Random Read 4KiB (Q= 32,T= 1) : 1.234 MB/s [ 301.3 IOPS]`, and prints no block size of
//! sequential tests.
//!
//! CrystalDiskMark's MB are 10⁶ bytes. Those of KDiskMark differ from the names in its report: up to 1.5.0
//! it divided fio's KiB per second by 1024, since 1.5.1 by 1000. Its reports have their version
//! since 1.6.0; in one without, operations times block size are taken.

use cardmark_core::{
    Finding, FindingKind, KIB, LatencyFigure, MIB, Metric, Printed, Quantity, Severity,
};

use crate::Imported;
use crate::number::{Number, plain_number_and_unit, whole};
use crate::reading::{BYTE_RATE_BLOCK_BYTES, Found, doubtful, printed, rate, size};
use crate::records::{name_warnings, put};
use crate::text::{Damage, Line};

const CRYSTAL: &str = "CrystalDiskMark";
const KDISKMARK: &str = "KDiskMark";

/// Bytes that an MB of KDiskMark may be.
const MEGABYTES: [f64; 3] = [1_000_000.0, KIBS_BYTES, 1_048_576.0];
/// A thousand KiB: its MB since 1.5.1.
const KIBS_BYTES: f64 = 1_024_000.0;
/// Versions of KDiskMark that print themselves, and the last whose source was looked at.
const FIRST_KNOWN: [u32; 3] = [1, 6, 0];
const LAST_KNOWN: [u32; 3] = [3, 3, 0];
/// The first that counts all threads.
const ALL_THREADS: [u32; 3] = [3, 3, 0];
/// Forms of the lines of a report.
const FORMS: [&str; 9] = [
    "{*}(Q={n}, T={n}): {} MB/s [{n} IOPS] < {n} us>",
    "Sequential {*} : {} MB/s [{n} IOPS]",
    "Random {*} : {} MB/s [{n} IOPS]",
    "Sequential {*} : {} MB/s",
    "Random {*} : {} MB/s",
    "[Mix] Read {n}%/Write {n}%",
    "* MB/s = {n} byte{-} [SATA{-} = {n} byte",
    "* KB = {n} bytes, KiB = {n} bytes",
    "{*}",
];
/// Beginnings of the other lines of a report.
const LINES: [&str; 10] = [
    "* MB/s =",
    "* KB =",
    "Flexible I/O Tester",
    "Profile",
    "Mode",
    "Test",
    "Date",
    "Time",
    "OS",
    "Target",
];

/// Reads the reports. A damaged line costs its whole report: it may be the heading of a block. A test that was not run is a line of zeros and is left out.
pub(crate) fn read(lines: &[Line], found: &mut Found) {
    let mut page = Page::default();
    for line in lines {
        let text = line.unquoted();
        if page.is_over(text) {
            std::mem::take(&mut page).end(found);
        }
        match page.read(*line, text) {
            Ok(true) => page.lines.push(*line),
            Ok(false) => {}
            Err(damage) => found.damaged_report(damage, &mut page.is_damaged),
        }
    }
    page.end(found);
}

/// Name and version of the program, if the line is the heading of a report.
fn heading(text: &str) -> Option<(&'static str, Option<[u32; 3]>)> {
    if text.starts_with(KDISKMARK) && text.contains("github.com/JonMagon/KDiskMark") {
        let version = text
            .split_once('(')
            .and_then(|(_, rest)| rest.split_once(')'));
        return Some((
            KDISKMARK,
            version.and_then(|(version, _)| parse_version(version)),
        ));
    }
    let rest = text.strip_prefix(CRYSTAL)?.trim_start();
    Some((CRYSTAL, parse_version(rest.split(' ').next()?)))
}

/// Parses `8.0.4` and `5.0.2`, and `3.0.1e`, whose letter is an edition.
fn parse_version(text: &str) -> Option<[u32; 3]> {
    let text = text.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let numbers: Option<Vec<u32>> = text.split('.').map(|part| part.parse().ok()).collect();
    numbers?.try_into().ok()
}

/// A block of the report.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Read,
    Write,
    /// Both at once. KDiskMark prints the means of both, weighted by their shares.
    Mix {
        read_percent: u32,
    },
}

/// A test, as its line begins. What the line does not print is none.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Test {
    is_random: bool,
    direction: Direction,
    block_bytes: Option<u64>,
    queue_depth: Option<u32>,
    threads_count: Option<u32>,
}

impl Test {
    fn id(&self, program: &str) -> String {
        let order = if self.is_random { "rand" } else { "seq" };
        let direction = match self.direction {
            Direction::Read => "read".to_owned(),
            Direction::Write => "write".to_owned(),
            Direction::Mix { read_percent } => format!("mix{read_percent}"),
        };
        let mut id = format!("{}_{order}_{direction}", program.to_ascii_lowercase());
        if let Some(bytes) = self.block_bytes {
            id += &format!("_{}", size(bytes));
        }
        for (letter, count) in [("q", self.queue_depth), ("t", self.threads_count)] {
            if let Some(count) = count {
                id += &format!("_{letter}{count}");
            }
        }
        id
    }
}

/// Known parts of a report.
#[derive(Default)]
struct Page<'a> {
    lines: Vec<Line<'a>>,
    program: Option<&'static str>,
    version: Option<[u32; 3]>,
    direction: Option<Direction>,
    /// The tests so far, also those that were not run.
    tests: Vec<Test>,
    /// Ids of figures whose unit is open.
    open: Vec<String>,
    metrics: Vec<Metric>,
    findings: Vec<Finding>,
    is_damaged: bool,
}

impl Page<'_> {
    /// Returns whether the line belongs to the next report.
    fn is_over(&self, text: &str) -> bool {
        heading(text).is_some() || (self.direction.is_some() && text.starts_with("[Read]"))
    }

    /// Reads a line; returns whether it is one of the report.
    fn read(&mut self, line: Line, text: &str) -> Result<bool, Damage> {
        if let Some((program, version)) = heading(text) {
            self.program = Some(program);
            self.version = version;
        } else if let Some(direction) = self.block(line, text)? {
            self.direction = Some(direction);
        } else if let Some((head, figures)) = old_line(text) {
            self.program.get_or_insert(CRYSTAL);
            let test = old_test(head).ok_or_else(|| line.damage(CRYSTAL, OLD_EXPECTED))?;
            self.figures(line, test, figures, OLD_EXPECTED)?;
        } else if text.contains("(Q=") && text.contains("):") {
            let is_crystal = !text.starts_with("Sequential ") && !text.starts_with("Random ");
            let is_crystal = is_crystal || !text.contains(" KiB (") && !text.contains(" MiB (");
            let program = if is_crystal { CRYSTAL } else { KDISKMARK };
            let program = *self.program.get_or_insert(program);
            let direction = self.direction;
            let error = || line.damage(program, "`[Read]`, `[Write]` or `[Mix]` before this");
            let direction = direction.ok_or_else(error)?;
            let (test, figures) =
                test(text, direction).ok_or_else(|| line.damage(program, EXPECTED))?;
            self.figures(line, test, figures, EXPECTED)?;
        } else {
            let is_open = self.program.is_some();
            return Ok(is_open && LINES.iter().any(|start| text.starts_with(start)));
        }
        Ok(true)
    }

    /// Parses `[Read]`, `[Write]` or `[Mix] Read 70%/Write 30%`.
    fn block(&self, line: Line, text: &str) -> Result<Option<Direction>, Damage> {
        let Some(shares) = text.strip_prefix("[Mix]") else {
            return Ok(match text {
                "[Read]" => Some(Direction::Read),
                "[Write]" => Some(Direction::Write),
                _ => None,
            });
        };
        let shares = shares.trim().strip_prefix("Read ").and_then(|shares| {
            let (read, write) = shares.strip_suffix('%')?.split_once("%/Write ")?;
            Some((read.parse::<u32>().ok()?, write.parse::<u32>().ok()?))
        });
        // Neither is above a hundred if their sum is one.
        let shares = shares.filter(|(read, write)| read.checked_add(*write) == Some(100));
        let program = self.program.unwrap_or(KDISKMARK);
        let error = || line.damage(program, "shares such as `[Mix] Read 70%/Write 30%`");
        let (read_percent, _) = shares.ok_or_else(error)?;
        Ok(Some(Direction::Mix { read_percent }))
    }

    fn figures(
        &mut self,
        line: Line,
        test: Test,
        text: &str,
        expected: &'static str,
    ) -> Result<(), Damage> {
        let program = self.program.unwrap_or(KDISKMARK);
        // The heading of another block is missing.
        if self.tests.contains(&test) {
            return Err(line.damage(program, "`[Read]`, `[Write]` or `[Mix]` before this"));
        }
        self.tests.push(test);
        let is_whole = |figures: &Figures| expected == OLD_EXPECTED || figures.latency_ns.is_some();
        let figures = Figures::parse(text).filter(is_whole);
        let figures = figures.ok_or_else(|| line.damage(program, expected))?;
        if figures.are_zero() {
            return Ok(());
        }
        let version = self.known_version();
        let units: &[f64] = match (program, version) {
            (CRYSTAL, _) => &[1_000_000.0],
            (_, Some(_)) => &[KIBS_BYTES],
            (_, None) => &MEGABYTES,
        };
        if !units.iter().any(|unit| figures.agree(test, *unit)) {
            let expected = "MB/s of this version that agree with the IOPS and the block size";
            return Err(line.damage(program, expected));
        }
        let id = test.id(program);
        let metric = if program == CRYSTAL {
            figures.crystal(test, &id)
        } else {
            self.kdiskmark(&figures, test, &id, version)
        };
        self.metrics.push(metric);
        let lost = program == KDISKMARK && self.lost_threads(test, &id, version);
        if let Some(latency_ns) = figures.latency_ns.filter(|&ns| ns > 0 && !lost) {
            let metric = Metric::new(
                LatencyFigure::Mean.of(&id),
                Quantity::Span,
                latency_ns as f64,
            );
            self.metrics.push(metric);
        }
        Ok(())
    }

    /// The version of KDiskMark, if its units are known.
    fn known_version(&self) -> Option<[u32; 3]> {
        let known = FIRST_KNOWN..=LAST_KNOWN;
        self.version.filter(|version| known.contains(version))
    }

    fn kdiskmark(
        &mut self,
        figures: &Figures,
        test: Test,
        id: &str,
        version: Option<[u32; 3]>,
    ) -> Metric {
        let block = test.block_bytes.unwrap_or_default() as f64;
        let operations = figures.operations.map_or(0.0, |number| number.value);
        let mut shown = printed(KDISKMARK, figures.printed, None);
        let mut bytes_per_s = operations * block;
        if version.is_some() {
            bytes_per_s = figures.megabytes.value * KIBS_BYTES;
            shown = shown.map(|printed| Printed {
                meaning: Some(format!("{:.3} MB/s", printed.value * KIBS_BYTES / 1e6)),
                ..printed
            });
        } else {
            self.open.push(id.to_owned());
        }
        rate(
            id,
            operations,
            bytes_per_s,
            block < BYTE_RATE_BLOCK_BYTES,
            shown,
        )
    }

    /// Before 3.3.0 every second of several threads was not counted. Returns whether the mean
    /// latency is wrong for that: it is the sum of those counted over the number of all.
    fn lost_threads(&mut self, test: Test, id: &str, version: Option<[u32; 3]>) -> bool {
        let all = test.threads_count.unwrap_or(1);
        let detail = match version {
            Some(version) if version < ALL_THREADS && all > 1 => {
                let counted = all.div_ceil(2);
                format!("of {all} threads this version of KDiskMark counts {counted}")
            }
            None if all > 1 => {
                format!(
                    "before version 3.3 KDiskMark counts each second thread only, here of {all}"
                )
            }
            _ => return false,
        };
        self.findings.push(doubtful(detail).on(id));
        true
    }

    /// Adds the report, if it is whole.
    fn end(self, found: &mut Found) {
        if self.metrics.is_empty() || self.is_damaged {
            return;
        }
        for line in &self.lines {
            found.understand(*line, &FORMS);
        }
        let program = self.program.unwrap_or(KDISKMARK);
        let version = self.version.map_or(String::new(), |[major, minor, patch]| {
            format!(" {major}.{minor}.{patch}")
        });
        let mut one = Imported {
            tools: vec![format!("{program}{version}")],
            findings: self.findings,
            ..Imported::default()
        };
        for metric in self.metrics {
            put(&mut one, metric);
        }
        if !self.open.is_empty() {
            let detail = "the version of KDiskMark is unknown, and with it what its MB are: rates \
                          are its operations times the block size";
            let finding = Finding::new(FindingKind::AmbiguousUnit, Severity::Note, detail);
            let finding = self.open.into_iter().fold(finding, Finding::on);
            one.findings.push(finding);
        }
        name_warnings(&mut one.metrics, &one.findings);
        let first = self.lines.first().map_or(0, |line| line.number);
        found.report(first, one);
    }
}

const EXPECTED: &str = "`Sequential 1 MiB (Q= 8, T= 1): 508.897 MB/s [ 497.0 IOPS] < 13840.05 us>`";
const OLD_EXPECTED: &str = "`Random Read 4KiB (Q= 32,T= 1) : 1.234 MB/s [ 301.3 IOPS]`";

/// Parses `Sequential   1 MiB (Q=  8, T= 1):` or `RND    4KiB (Q= 32, T=16):`, and returns the text
/// behind it too.
fn test(text: &str, direction: Direction) -> Option<(Test, &str)> {
    let (head, rest) = text.split_once("(Q=")?;
    let (queue_depth, rest) = rest.split_once(", T=")?;
    let (threads_count, figures) = rest.split_once("):")?;
    let (order, block) = head.trim().split_once(' ')?;
    let test = Test {
        is_random: match order {
            "Sequential" | "SEQ" => false,
            "Random" | "RND" => true,
            _ => return None,
        },
        direction,
        block_bytes: Some(block_bytes(block)?),
        queue_depth: Some(queue_depth.trim().parse().ok()?),
        threads_count: Some(count(threads_count)?),
    };
    Some((test, figures))
}

/// Head and figures of a line until version 6: `Sequential Read :   92.123 MB/s`.
fn old_line(text: &str) -> Option<(&str, &str)> {
    let is_old = ["Sequential ", "Random "].iter().any(|order| {
        let rest = text.strip_prefix(order);
        rest.is_some_and(|rest| rest.starts_with("Read ") || rest.starts_with("Write "))
    });
    let (head, figures) = text.split_once(" :").filter(|_| is_old)?;
    figures.contains("MB/s").then_some((head.trim(), figures))
}

/// Parses `Random Write 512KB`, `Random Read 4KB (QD=32)`, `Sequential Read (Q= 32,T= 1)`.
fn old_test(head: &str) -> Option<Test> {
    let (words, setting) = match head.split_once('(') {
        Some((words, setting)) => (words, setting.strip_suffix(')')?),
        None => (head, ""),
    };
    let mut words = words.split_whitespace();
    let is_random = words.next()? == "Random";
    let direction = match words.next()? {
        "Read" => Direction::Read,
        _ => Direction::Write,
    };
    let block_bytes = match words.next() {
        Some(block) => Some(block_bytes(block)?),
        None => None,
    };
    let mut test = Test {
        is_random,
        direction,
        block_bytes,
        queue_depth: None,
        threads_count: None,
    };
    for part in setting.split(',').filter(|part| !part.trim().is_empty()) {
        let (name, number) = part.split_once('=')?;
        let number = Some(count(number)?);
        match name.trim() {
            "Q" | "QD" => test.queue_depth = number,
            "T" => test.threads_count = number,
            _ => return None,
        }
    }
    (words.next().is_none() && block_bytes.is_some() == is_random).then_some(test)
}

/// Parses a number that is not zero.
fn count(text: &str) -> Option<u32> {
    text.trim().parse().ok().filter(|&count| count > 0)
}

/// Parses `1 MiB`, `4KiB` and `512KB`, whose unit is binary too.
fn block_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let size: u64 = text[..end].parse().ok().filter(|&size| size > 0)?;
    let unit = match text[end..].trim_start() {
        "KiB" | "KB" => KIB,
        "MiB" => MIB,
        "GiB" => 1024 * MIB,
        _ => return None,
    };
    size.checked_mul(unit)
}

/// The figures of a line.
struct Figures<'a> {
    megabytes: Number,
    printed: &'a str,
    operations: Option<Number>,
    latency_ns: Option<u64>,
}

impl<'a> Figures<'a> {
    /// Parses `508.897 MB/s [ 497.0 IOPS] < 13840.05 us>`; the latency, or both, may be missing.
    fn parse(text: &'a str) -> Option<Self> {
        let (printed, rest) = text.split_once('[').unwrap_or((text, ""));
        let (mut operations, mut latency_ns) = (None, None);
        if text.contains('[') {
            let (shown, rest) = rest.split_once("IOPS]")?;
            operations = Some(number(shown, "")?);
            if !rest.trim().is_empty() {
                let latency = rest.trim().strip_prefix('<')?.strip_suffix('>')?;
                latency_ns = Some(whole(number(latency, "us")?.value * 1000.0)?);
            }
        }
        Some(Self {
            megabytes: number(printed, "MB/s")?,
            printed: printed.trim(),
            operations,
            latency_ns,
        })
    }

    fn are_zero(&self) -> bool {
        self.megabytes.value == 0.0
            && self.operations.is_none_or(|number| number.value == 0.0)
            && self.latency_ns.is_none_or(|ns| ns == 0)
    }

    /// Returns whether MB/s and IOPS agree, with this number of bytes per MB.
    fn agree(&self, test: Test, megabyte: f64) -> bool {
        let (Some(operations), Some(block)) = (self.operations, test.block_bytes) else {
            return true;
        };
        let block = block as f64;
        let bytes_per_s = operations.value * block;
        // fio cuts what is below a KiB per second of each thread; KDiskMark keeps 24 bits.
        let threads = f64::from(test.threads_count.unwrap_or(1));
        let lost = KIB as f64 * threads + 1e-6 * bytes_per_s;
        let half_step = operations.half_step * block + lost;
        self.megabytes
            .agrees(bytes_per_s / megabyte, half_step / megabyte)
    }

    /// The metric of CrystalDiskMark. Without IOPS, operations follow from the block size.
    fn crystal(&self, test: Test, id: &str) -> Metric {
        let bytes_per_s = self.megabytes.value * 1e6;
        let block = test.block_bytes.map(|bytes| bytes as f64);
        let computed = block.map(|block| bytes_per_s / block);
        let operations = self.operations.map(|number| number.value).or(computed);
        let is_small = block.is_some_and(|block| block < BYTE_RATE_BLOCK_BYTES);
        let shown = printed(CRYSTAL, self.printed, None);
        rate(id, operations.unwrap_or(0.0), bytes_per_s, is_small, shown)
    }
}

/// A number in that unit.
fn number(text: &str, unit: &str) -> Option<Number> {
    let (number, printed) = plain_number_and_unit(text)?;
    (printed == unit).then_some(number)
}
