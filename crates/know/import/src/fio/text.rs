//! The human output of fio, versions 2 and 3.
//!
//! Job by job; the sums over groups at its end are not read. Numbers are shortened to four
//! characters, by version 2 to six. A rate stands beside bytes and span, and mostly beside the
//! number of operations too: all must agree.

use super::figures::{self, Figures, Shown};
use super::job::{Direction, Job, TOOL};
use super::latency::Latencies;
use crate::reading::Found;
use crate::text::{Damage, Line, Words};

/// Forms of its lines.
const FORMS: [&str; 16] = [
    "read : IOPS={n}, BW={=} ({=})({n}/{n})",
    "write : IOPS={n}, BW={=} ({=})({n}/{n}); {n} zone resets",
    "write : IOPS={n}, BW={=} ({=})({n}/{n})",
    "mixed : IOPS={n}, BW={=} ({=})({n}/{n}); {n} zone resets",
    "mixed : IOPS={n}, BW={=} ({=})({n}/{n})",
    "read : io={n}, bw={}, iops={n}, runt={n}",
    "write : io={n}, bw={}, iops={n}, runt={n}",
    "READ: bw={n} ({n}), {n}-{n} ({n}-{n}), io={n} ({n}), run={n}-{n}",
    "WRITE: bw={n} ({n}), {n}-{n} ({n}-{n}), io={n} ({n}), run={n}-{n}",
    "READ: io={n}, aggrb={n}, minb={n}, maxb={n}, mint={n}, maxt={n}",
    "WRITE: io={n}, aggrb={n}, minb={n}, maxb={n}, mint={n}, maxt={n}",
    "READ: ",
    "WRITE: ",
    "Jobs: {n} (f={n}): [{!}[eta {t}]",
    "Jobs: {n} (f={n})",
    "{*}",
];

/// Beginnings of lines behind those of a job's directions.
const LAST: [&str; 3] = ["cpu ", "IO depths", "Run status group"];
/// Beginnings of further lines.
const FURTHER: [&str; 21] = [
    "slat (",
    "clat (",
    "lat (",
    "bw (",
    "slat percentiles (",
    "clat percentiles (",
    "lat percentiles (",
    "sync percentiles (",
    "cpu          :",
    "IO depths    :",
    "submit    :",
    "complete  :",
    "issued rwts:",
    "issued    :",
    "latency   :",
    "iops        :",
    "Run status group ",
    "READ: bw=",
    "WRITE: bw=",
    "READ: io=",
    "WRITE: io=",
];
/// Parts of further lines.
static PARTS: Words = Words::new(&[": (g=", "th=[", ": ios=", "Laying out IO file"]);
/// Beginnings of lines above the first job.
const FIRST: [&str; 3] = ["fio-", "Starting ", "Jobs: "];

/// Reads the jobs that are whole, in order. Of each other one, its first damaged line is noted; its
/// others are listed.
pub(crate) fn jobs(lines: &[Line], found: &mut Found) -> Vec<Job> {
    let mut output = Output::default();
    let mut of_job = Vec::new();
    for line in lines {
        let text = line.unquoted();
        // Each line of fio has one of these.
        if !text.contains([':', '(', '=', '-', ' ']) {
            continue;
        }
        let is_header = text.contains(": (groupid=");
        if is_header {
            output.close(&mut of_job, found);
        }
        match output.read(*line, text) {
            Err(damage) => {
                found.damaged(damage);
                output.lose();
            }
            Ok(()) if is_header || is_of_fio(text) => of_job.push(*line),
            Ok(()) => {}
        }
    }
    output.close(&mut of_job, found);
    output.jobs
}

fn is_of_fio(text: &str) -> bool {
    let starts = FURTHER.iter().chain(&FIRST);
    let mut starts = starts.filter(|start| text.starts_with(**start));
    starts.next().is_some()
        || PARTS.any(text)
        || matches!(figures::direction(text), Some((Some(_), _)))
}

#[derive(Default)]
struct Output<'a> {
    jobs: Vec<Job>,
    /// The job whose lines these are.
    header: Option<Header<'a>>,
    /// Index of its first direction in `jobs`.
    first: usize,
    /// Operations per second and spans of its directions.
    operations: Vec<(Shown, u64)>,
    /// True after the lines of its directions.
    is_over: bool,
    /// True while lines of latencies belong to the last direction.
    is_open: bool,
    /// True after a line that could not be read: further lines may be of any job, up to one that names it.
    is_lost: bool,
    latencies: Latencies,
}

impl<'a> Output<'a> {
    fn read(&mut self, line: Line<'a>, text: &'a str) -> Result<(), Damage> {
        if text.is_empty() {
            return Ok(());
        }
        if let Some(header) = Header::parse(line, text)? {
            self.start(Some(header));
            return Ok(());
        }
        if self.is_lost {
            return Ok(());
        }
        let open = self.jobs.last_mut().filter(|_| self.is_open);
        if text.contains("th=[") {
            return self.latencies.row(line, text, open);
        }
        self.latencies.end_rows();
        if let Some((direction, figures)) = figures::direction(text) {
            self.is_open = false;
            // Trims have none.
            if let Some(direction) = direction {
                self.direction(line, direction, figures)?;
            }
        } else if let Some(rest) = text.strip_prefix("issued") {
            self.issued(line, rest)?;
            self.end();
        } else if LAST.iter().any(|start| text.starts_with(*start)) {
            self.end();
        } else {
            self.latencies.heading(line, text, open)?;
        }
        Ok(())
    }

    fn start(&mut self, header: Option<Header<'a>>) {
        self.header = header;
        self.first = self.jobs.len();
        self.operations.clear();
        self.is_over = false;
        self.is_open = false;
        self.is_lost = false;
    }

    /// Drops a job whose lines are not over, because one of them could not be read.
    fn lose(&mut self) {
        if !self.is_over {
            self.jobs.truncate(self.first);
        }
        self.is_lost = true;
    }

    /// Marks the lines up to here as those of a job, unless one of them could not be read. Lines
    /// above the first job belong to it.
    fn close(&self, lines: &mut Vec<Line>, found: &mut Found) {
        if self.is_lost {
            lines.clear();
        } else if self.header.is_some() || !self.jobs.is_empty() {
            found.understand_all(lines, &FORMS);
        }
    }

    fn end(&mut self) {
        self.is_over = true;
        self.is_open = false;
    }

    /// A line of figures. If the job's lines are over, or it has that direction already, the line
    /// that names another job is missing, unless the text names none.
    fn direction(&mut self, line: Line, direction: Direction, figures: &str) -> Result<(), Damage> {
        let mut of_job = self.jobs.iter().skip(self.first);
        let is_next = self.is_over || of_job.any(|job| job.direction == direction);
        if is_next && self.header.is_some() {
            return Err(line.damage(TOOL, "`NAME: (groupid=0, jobs=1): …` before this"));
        }
        if is_next {
            self.start(None);
        }
        let figures = Figures::parse(line, figures)?;
        self.operations.push((figures.operations, figures.span_ns));
        self.jobs.push(Job {
            line: line.number,
            run: 0,
            name: self.header.as_ref().map(|header| header.name.to_owned()),
            direction,
            bytes_per_s: figures.bytes_per_s,
            least_bytes_per_s: figures.least_bytes_per_s,
            printed: figures.printed,
            operations_per_s: figures.operations.value,
            errno: self.header.as_ref().map_or(0, |header| header.errno),
            percentiles_ns: [None; 2],
        });
        self.is_open = true;
        Ok(())
    }

    /// Operations issued: `rwts: total=1992,2104,0,0 short=…`, by version 2
    /// `: total=r=1992/w=2104/d=0, short=…`. Their number over the span is more precise than the
    /// IOPS, which are cut to whole ones.
    fn issued(&mut self, line: Line, text: &str) -> Result<(), Damage> {
        let Some((_, totals)) = text.split_once("total=") else {
            return Ok(());
        };
        let mut counts = totals.split([',', '/', ' ']).map(|count| {
            let count = count.trim_start_matches(['r', 'w', '=']);
            count.parse::<u64>().ok()
        });
        let (Some(Some(reads)), Some(Some(writes))) = (counts.next(), counts.next()) else {
            return Err(line.damage(TOOL, "numbers of reads and writes behind `total=`"));
        };
        let of_job = self.jobs.iter_mut().skip(self.first);
        for (job, (shown, span_ns)) in of_job.zip(&self.operations) {
            let count = match job.direction {
                Direction::Read => reads,
                Direction::Write => writes,
                Direction::Mixed => reads.saturating_add(writes),
            };
            let per_s = figures::per_s(count as f64, *span_ns);
            if !shown.may_be(per_s) {
                let expected = "numbers of operations that agree with the IOPS above";
                return Err(line.damage(TOOL, expected));
            }
            job.operations_per_s = per_s;
        }
        Ok(())
    }
}

/// The line that names a job.
struct Header<'a> {
    name: &'a str,
    errno: i64,
}

impl<'a> Header<'a> {
    /// Parses `NAME: (groupid=0, jobs=1): err= 0: pid=…`.
    fn parse(line: Line, text: &'a str) -> Result<Option<Self>, Damage> {
        let Some((name, rest)) = text.split_once(": (groupid=") else {
            return Ok(None);
        };
        let errno = || {
            let (group, rest) = rest.split_once(", jobs=")?;
            let (jobs_count, rest) = rest.split_once("): err=")?;
            let (errno, _) = rest.split_once([':', '('])?;
            group.parse::<u32>().ok()?;
            jobs_count.parse::<u32>().ok().filter(|&count| count > 0)?;
            errno.trim().parse().ok()
        };
        let error = || line.damage(TOOL, "`NAME: (groupid=0, jobs=1): err= 0: …`");
        let errno = errno().ok_or_else(error)?;
        Ok(Some(Self { name, errno }))
    }
}
