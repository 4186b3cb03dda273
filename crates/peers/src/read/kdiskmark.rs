//! The report that KDiskMark copies and saves, versions 1.4 to 3.3. It has no other output: its
//! JSON is that of fio.
//!
//! Its MB/s are not what the report says they are. Up to 1.5.0 it divided fio's KiB a second by
//! 1024, since 1.5.1 by 1000. Reports tell their version since 1.6.0; in one that does not, the
//! unit stays open. Operations a second times block size are the same amount in any of them.

use cardmark_core::{KIB, MIB};

use super::number::{Number, plain_number_and_unit, whole};
use super::{Line, Rate, ReadError, lines};

const TOOL: &str = "KDiskMark";

/// Bytes that its MB may be.
const MEGABYTES: [f64; 3] = [1_000_000.0, KIBS_BYTES, 1_048_576.0];
/// A thousand KiB: its MB since 1.5.1.
const KIBS_BYTES: f64 = 1_024_000.0;
/// Versions that tell themselves, and the last whose source was looked at.
const FIRST_KNOWN: [u32; 3] = [1, 6, 0];
const LAST_KNOWN: [u32; 3] = [3, 3, 0];
/// The first that counts all threads.
const ALL_THREADS: [u32; 3] = [3, 3, 0];

/// A block of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KdiskmarkDirection {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Both at once. The figures are the means of those of reads and writes, weighted by their
    /// shares, not their sums.
    Mix {
        /// Share of the reads.
        read_percent: u32,
    },
}

/// A rate, whose unit hangs on the version.
#[derive(Clone, Debug, PartialEq)]
pub enum KdiskmarkRate {
    /// The version is known.
    Known(Rate),
    /// It is not; number and unit as in the text.
    Ambiguous(String),
}

/// A line of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct KdiskmarkReading {
    /// Number of its line, from 1.
    pub line: usize,
    /// The block it stands in.
    pub direction: KdiskmarkDirection,
    /// Whether in random order.
    pub is_random: bool,
    /// Block size, bytes.
    pub block_bytes: u64,
    /// Operations under way at once, of each thread.
    pub queue_depth: u32,
    /// Threads.
    pub threads_count: u32,
    /// Threads whose figures are in it: before 3.3.0 KDiskMark lost every second of several. None
    /// where the version is not known.
    pub counted_threads_count: Option<u32>,
    /// The rate of the threads counted.
    pub rate: KdiskmarkRate,
    /// Operations a second of the threads counted.
    pub operations_per_s: f64,
    /// Mean latency, nanoseconds: since 3.2.0 from the submission to the completion, before from
    /// the making of the operation. None where not all threads are known to be counted, as the sum
    /// of the counted ones was then divided by the number of all.
    pub latency_ns: Option<u64>,
}

/// A report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KdiskmarkReport {
    /// The version, where it is told.
    pub version: Option<String>,
    /// The tests that were run. The figures of the default profile are means of the loops, those of
    /// the others the best of them.
    pub readings: Vec<KdiskmarkReading>,
    /// The profile as in the text.
    pub profile: Option<String>,
    /// Size of the file, bytes.
    pub size_bytes: Option<u64>,
    /// Number of loops.
    pub loops_count: Option<u32>,
}

/// Reads the reports in a text, in order. A test that was not run is a line of zeros and is left
/// out.
///
/// # Errors
/// When there is none, or one is not whole, contradicts itself, or has the same test twice in a
/// block.
pub fn read_kdiskmark(text: &str) -> Result<Vec<KdiskmarkReport>, ReadError> {
    let mut reports = Vec::new();
    let mut page = Page::default();
    for line in lines(text) {
        let said = line.text.trim_start_matches(['>', '|', ' ', '\t']);
        if page.is_over(said) {
            reports.extend(std::mem::take(&mut page).end());
        }
        page.read(line, said.trim_end())?;
    }
    reports.extend(page.end());
    if reports.is_empty() {
        return Err(ReadError::Missing {
            tool: TOOL,
            expected: "`[Read]` and `Sequential 1 MiB (Q= 8, T= 1): … MB/s [ … IOPS] < … us>`",
        });
    }
    Ok(reports)
}

/// Whether a line is the report's first; it is with the version from 1.6.0.
fn is_heading(text: &str) -> bool {
    text.starts_with("KDiskMark") && text.contains("github.com/JonMagon/KDiskMark")
}

/// A test, as its line begins.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Test {
    is_random: bool,
    block_bytes: u64,
    queue_depth: u32,
    threads_count: u32,
}

/// What is known of a report.
#[derive(Default)]
struct Page {
    report: KdiskmarkReport,
    /// The version in numbers, if it is one that is known.
    version: Option<[u32; 3]>,
    direction: Option<KdiskmarkDirection>,
    /// The tests of the block so far.
    tests: Vec<Test>,
}

impl Page {
    /// Whether the line belongs to the next report.
    fn is_over(&self, text: &str) -> bool {
        is_heading(text) || (self.direction.is_some() && text.starts_with("[Read]"))
    }

    fn end(self) -> Option<KdiskmarkReport> {
        (!self.report.readings.is_empty()).then_some(self.report)
    }

    fn read(&mut self, line: Line, text: &str) -> Result<(), ReadError> {
        if is_heading(text) {
            self.version(text);
        } else if let Some(direction) = direction(line, text)? {
            self.direction = Some(direction);
            self.tests.clear();
        } else if text.contains("(Q=") {
            let expected =
                "`Sequential 1 MiB (Q= 8, T= 1): 508.897 MB/s [ 497.0 IOPS] < 13840.05 us>`";
            let (test, figures) = test(text).ok_or_else(|| line.error(TOOL, expected))?;
            let direction = self.open(line, test)?;
            let figures = Figures::parse(figures).ok_or_else(|| line.error(TOOL, expected))?;
            let reading = self.reading(line, direction, test, &figures)?;
            self.report.readings.extend(reading);
        } else if self.direction.is_some() {
            self.setting(line, text)?;
        }
        Ok(())
    }

    fn version(&mut self, text: &str) {
        let version = text
            .split_once('(')
            .and_then(|(_, rest)| rest.split_once(')'));
        let Some((version, _)) = version else {
            return;
        };
        self.report.version = Some(version.to_owned());
        let numbers: Option<Vec<u32>> = version.split('.').map(|part| part.parse().ok()).collect();
        if let Some(&[major, minor, patch]) = numbers.as_deref() {
            let version = [major, minor, patch];
            let is_known = (FIRST_KNOWN..=LAST_KNOWN).contains(&version);
            self.version = is_known.then_some(version);
        }
    }

    /// The block that a test stands in. That the test is there already means that the heading of
    /// another block is missing.
    fn open(&mut self, line: Line, test: Test) -> Result<KdiskmarkDirection, ReadError> {
        let direction = self.direction.filter(|_| !self.tests.contains(&test));
        self.tests.push(test);
        direction.ok_or_else(|| line.error(TOOL, "`[Read]`, `[Write]` or `[Mix]` before this"))
    }

    fn reading(
        &self,
        line: Line,
        direction: KdiskmarkDirection,
        test: Test,
        figures: &Figures,
    ) -> Result<Option<KdiskmarkReading>, ReadError> {
        if figures.are_zero() {
            return Ok(None);
        }
        let units: &[f64] = match self.version {
            Some(_) => &[KIBS_BYTES],
            None => &MEGABYTES,
        };
        if !units.iter().any(|unit| figures.agree(test, *unit)) {
            let expected = "MB/s of this version that agree with the IOPS and the block size";
            return Err(line.error(TOOL, expected));
        }
        let counted_threads_count = self.version.map(|version| match test.threads_count {
            count if version < ALL_THREADS => count.div_ceil(2),
            count => count,
        });
        let all_are_counted =
            test.threads_count == 1 || counted_threads_count == Some(test.threads_count);
        let printed = figures.printed.to_owned();
        Ok(Some(KdiskmarkReading {
            line: line.number,
            direction,
            is_random: test.is_random,
            block_bytes: test.block_bytes,
            queue_depth: test.queue_depth,
            threads_count: test.threads_count,
            counted_threads_count,
            rate: match self.version {
                Some(_) => KdiskmarkRate::Known(Rate {
                    bytes_per_s: figures.megabytes.value * KIBS_BYTES,
                    printed,
                }),
                None => KdiskmarkRate::Ambiguous(printed),
            },
            operations_per_s: figures.operations.value,
            latency_ns: Some(figures.latency_ns).filter(|_| all_are_counted),
        }))
    }

    /// What stands below the blocks.
    fn setting(&mut self, line: Line, text: &str) -> Result<(), ReadError> {
        if let Some(profile) = text.strip_prefix("Profile:") {
            self.report.profile = Some(profile.trim().to_owned());
        } else if let Some(settings) = text.strip_prefix("Test:")
            && settings.contains("(x")
        {
            let known = size_and_loops(settings);
            let expected = "a size and a number of loops: `Test: 1 GiB (x5)`";
            let (size, loops) = known.ok_or_else(|| line.error(TOOL, expected))?;
            self.report.size_bytes = Some(size);
            self.report.loops_count = Some(loops);
        }
        Ok(())
    }
}

/// `[Read]`, `[Write]` or `[Mix] Read 70%/Write 30%`.
fn direction(line: Line, text: &str) -> Result<Option<KdiskmarkDirection>, ReadError> {
    let Some(shares) = text.strip_prefix("[Mix]") else {
        return Ok(match text {
            "[Read]" => Some(KdiskmarkDirection::Read),
            "[Write]" => Some(KdiskmarkDirection::Write),
            _ => None,
        });
    };
    let shares = shares.trim().strip_prefix("Read ").and_then(|shares| {
        let (read, write) = shares.strip_suffix('%')?.split_once("%/Write ")?;
        Some((read.parse::<u32>().ok()?, write.parse::<u32>().ok()?))
    });
    // Neither is above a hundred where their sum is one.
    let shares = shares.filter(|(read, write)| read.checked_add(*write) == Some(100));
    let (read_percent, _) =
        shares.ok_or_else(|| line.error(TOOL, "shares such as `[Mix] Read 70%/Write 30%`"))?;
    Ok(Some(KdiskmarkDirection::Mix { read_percent }))
}

/// `Sequential   1 MiB (Q=  8, T= 1):`, and what stands behind it.
fn test(text: &str) -> Option<(Test, &str)> {
    let (head, rest) = text.split_once("(Q=")?;
    let (queue_depth, rest) = rest.split_once(", T=")?;
    let (threads_count, figures) = rest.split_once("):")?;
    let mut words = head.split_whitespace();
    let is_random = match words.next()? {
        "Sequential" => false,
        "Random" => true,
        _ => return None,
    };
    let size: u64 = words.next()?.parse().ok()?;
    let block_bytes = size.checked_mul(unit_bytes(words.next()?)?)?;
    let test = Test {
        is_random,
        block_bytes,
        queue_depth: queue_depth.trim().parse().ok()?,
        threads_count: threads_count.trim().parse().ok()?,
    };
    let is_whole = words.next().is_none() && test.threads_count > 0 && block_bytes > 0;
    is_whole.then_some((test, figures))
}

/// The figures of a line.
struct Figures<'a> {
    megabytes: Number,
    printed: &'a str,
    operations: Number,
    latency_ns: u64,
}

impl<'a> Figures<'a> {
    /// `508.897 MB/s [ 497.0 IOPS] < 13840.05 us>`.
    fn parse(text: &'a str) -> Option<Self> {
        let (printed, rest) = text.split_once('[')?;
        let (operations, rest) = rest.split_once("IOPS]")?;
        let latency = rest.trim().strip_prefix('<')?.strip_suffix('>')?;
        Some(Self {
            megabytes: number(printed, "MB/s")?,
            printed: printed.trim(),
            operations: number(operations, "")?,
            latency_ns: whole(number(latency, "us")?.value * 1000.0)?,
        })
    }

    fn are_zero(&self) -> bool {
        self.megabytes.value == 0.0 && self.operations.value == 0.0 && self.latency_ns == 0
    }

    /// Whether MB/s and IOPS are the same amount, with this many bytes to the MB.
    fn agree(&self, test: Test, megabyte: f64) -> bool {
        let block = test.block_bytes as f64;
        let bytes_per_s = self.operations.value * block;
        // Of each thread fio cuts what is below a KiB a second; KDiskMark keeps 24 bits.
        let lost = KIB as f64 * f64::from(test.threads_count) + 1e-6 * bytes_per_s;
        let half_step = self.operations.half_step * block + lost;
        self.megabytes
            .agrees(bytes_per_s / megabyte, half_step / megabyte)
    }
}

/// A number in that unit.
fn number(text: &str, unit: &str) -> Option<Number> {
    let (number, printed) = plain_number_and_unit(text)?;
    (printed == unit).then_some(number)
}

/// `1 GiB (x5)`, and intervals that are not read.
fn size_and_loops(text: &str) -> Option<(u64, u32)> {
    let (size, rest) = text.split_once("(x")?;
    let (loops, _) = rest.split_once(')')?;
    let (size, unit) = size.trim().split_once(' ')?;
    let size: u64 = size.parse().ok()?;
    let bytes = size.checked_mul(unit_bytes(unit)?)?;
    Some((bytes, loops.parse().ok()?))
}

fn unit_bytes(unit: &str) -> Option<u64> {
    match unit {
        "KiB" => Some(KIB),
        "MiB" => Some(MIB),
        "GiB" => Some(1024 * MIB),
        _ => None,
    }
}
